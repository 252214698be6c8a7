//! Time as the model keeps it: whole seconds since 1970 in four bytes.

use std::num::NonZeroU32;

/// Whole seconds since 1970-01-01T00:00:00Z, never 0: `Option<Time>` takes four bytes too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(NonZeroU32);

impl Time {
    /// 1970-01-01T00:00:01Z.
    pub(super) const FIRST: Self = Self(NonZeroU32::MIN);

    /// `None` for 0 and for what does not fit into 32 bits (before 1970, after 2106).
    pub fn from_unix(seconds: i64) -> Option<Self> {
        u32::try_from(seconds).ok().and_then(NonZeroU32::new).map(Self)
    }

    /// Seconds since 1970.
    pub fn unix(self) -> i64 {
        i64::from(self.0.get())
    }

    /// Reads `2026-05-04T10:12:00Z`, with or without a fraction, with `Z` or an offset. `None` where the text is no time.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text.as_bytes())
    }

    /// The same from bytes.
    pub(super) fn read(b: &[u8]) -> Option<Self> {
        if b.len() < 20 || b[4] != b'-' || b[7] != b'-' || !matches!(b[10], b'T' | b't' | b' ') || b[13] != b':' || b[16] != b':' {
            return None;
        }
        let days = days_from_civil(number(&b[0..4])?, number(&b[5..7])?, number(&b[8..10])?)?;
        let (hour, minute, second) = (number(&b[11..13])?, number(&b[14..16])?, number(&b[17..19])?);
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let fraction = b[19..].iter().take_while(|c| **c == b'.' || c.is_ascii_digit()).count();
        Self::from_unix(days * 86_400 + hour * 3600 + minute * 60 + second - offset(&b[19 + fraction..])?)
    }

    /// `2026-05-04T10:12:00Z`.
    pub fn rfc3339(self) -> String {
        let (days, rest) = (self.unix().div_euclid(86_400), self.unix().rem_euclid(86_400));
        let (y, m, d) = civil_from_days(days);
        format!("{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
    }

    /// This time moved by `seconds`; stays where it is if the result cannot be kept.
    #[must_use]
    pub fn plus(self, seconds: i64) -> Self {
        Self::from_unix(self.unix() + seconds).unwrap_or(self)
    }

    /// Seconds from `earlier` to this time; negative if it is later.
    pub fn since(self, earlier: Self) -> i64 {
        self.unix() - earlier.unix()
    }
}

impl std::fmt::Debug for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |n, c| c.is_ascii_digit().then(|| n * 10 + i64::from(c - b'0')))
}

fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let seconds = number(&[*h1, *h2])? * 3600 + number(&[*m1, *m2])? * 60;
            Some(if *sign == b'+' { seconds } else { -seconds })
        }
        _ => None,
    }
}

/// Days since 1970 of a date in the Gregorian calendar (Howard Hinnant's algorithm). `None` for a month or day out of range.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let y = if month <= 2 { year - 1 } else { year };
    let (era, yoe) = (y.div_euclid(400), y.rem_euclid(400));
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468)
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let (era, doe) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["1970-01-01T00:00:01Z", "2000-02-29T23:59:59Z", "2026-05-04T10:12:00Z", "2100-03-01T00:00:00Z"] {
            assert_eq!(Time::parse(text).map(Time::rfc3339).as_deref(), Some(text));
        }
    }

    #[test]
    fn fractions_are_cut_and_offsets_are_applied() {
        let utc = Time::parse("2026-05-04T10:12:00Z");
        assert_eq!(Time::parse("2026-05-04T10:12:00.123456Z"), utc);
        assert_eq!(Time::parse("2026-05-04T12:12:00+02:00"), utc);
    }

    #[test]
    fn what_is_no_time_is_absent() {
        for text in [
            "",
            "now",
            "2026-13-04T10:12:00Z",
            "2026-05-04T25:12:00Z",
            "1969-12-31T23:59:59Z",
            "2026-05-04T10:12:00",
            "2026-05-04T10:12:00ü",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
