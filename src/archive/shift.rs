//! Moves every time in a recording by one shift, so that what was written for a fixed epoch happens now.

use crate::model::Time;

/// How many bytes `2026-05-04T10:12:00` has.
const LENGTH: usize = 19;

/// Moves all times in these bytes, in place: the text keeps its length. Fractions of seconds stay as they are.
pub(super) fn shift(bytes: &mut [u8], seconds: i64) {
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'T', &bytes[from..]) {
        let middle = from + found;
        from = middle + 1;
        let Some(start) = middle.checked_sub(10) else { continue };
        let Some(text) = bytes.get(start..start + LENGTH + 1).filter(|text| is_time(text)) else { continue };
        let seconds_only = String::from_utf8_lossy(&text[..LENGTH]).into_owned() + "Z";
        if let Some(time) = Time::parse(&seconds_only) {
            let moved = time.plus(seconds).rfc3339();
            bytes[start..start + LENGTH].copy_from_slice(&moved.as_bytes()[..LENGTH]);
        }
    }
}

/// Digits and signs where a time has them, and `Z` or a fraction behind.
fn is_time(text: &[u8]) -> bool {
    let pattern = b"0000-00-00T00:00:00";
    let fits = |(byte, wanted): (&u8, &u8)| if *wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    text.iter().zip(pattern).all(fits) && matches!(text[LENGTH], b'Z' | b'.')
}

#[cfg(test)]
mod tests {
    use super::shift;

    #[test]
    fn times_move_and_everything_else_stays() {
        let mut text = br#"{"at":"2026-05-04T23:59:58Z","renewTime":"2026-05-04T12:00:00.123456Z","a":"T","b":"2026-05-04T1","c":"x2026-05-04T12:00:00+02"}"#.to_vec();
        shift(&mut text, 3);
        let moved = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(
            moved,
            r#"{"at":"2026-05-05T00:00:01Z","renewTime":"2026-05-04T12:00:03.123456Z","a":"T","b":"2026-05-04T1","c":"x2026-05-04T12:00:00+02"}"#
        );
    }
}
