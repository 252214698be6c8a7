//! How a tag is written and recognised.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use super::Redactor;

/// Hexadecimal digits in a tag: 60 bits of the HMAC.
const DIGITS: usize = 15;
const OPEN: &str = "‹redacted:";
const CLOSE: &str = "›";
/// In `data` of a Secret a value must be base64. This spelling is: 24 characters of its alphabet, so that `kubectl
/// describe` and every typed client still read the object.
const OPEN_BASE64: &str = "redacted/";

/// `‹redacted:0123456789abcde›`.
pub(super) fn in_text(redactor: &Redactor, value: &str) -> String {
    format!("{OPEN}{}{CLOSE}", digest(redactor, value.as_bytes()))
}

/// `redacted/0123456789abcde`, the same digits as [`in_text`] gives for the decoded value.
pub(super) fn in_base64(redactor: &Redactor, encoded: &str) -> String {
    let digest = match decode_base64(encoded) {
        Some(value) => digest(redactor, &value),
        None => digest(redactor, encoded.as_bytes()),
    };
    format!("{OPEN_BASE64}{digest}")
}

/// How many bytes of this text are a tag that starts it.
pub(super) fn starts(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(OPEN)?;
    let digits = rest.get(..DIGITS)?;
    let closed = rest.get(DIGITS..)?.starts_with(CLOSE);
    (closed && is_digest(digits)).then_some(OPEN.len() + DIGITS + CLOSE.len())
}

/// Whether this text is a tag and nothing else.
pub(super) fn is(text: &str) -> bool {
    starts(text) == Some(text.len())
}

/// Whether this text is a tag as it stands in `data` of a Secret.
pub(super) fn is_base64(text: &str) -> bool {
    text.strip_prefix(OPEN_BASE64).is_some_and(|digits| digits.len() == DIGITS && is_digest(digits))
}

/// The text with every tag in it as if there was only one.
pub fn hide(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = [OPEN, OPEN_BASE64].iter().filter_map(|open| rest.find(open)).min() {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let open = if rest.starts_with(OPEN) { OPEN } else { OPEN_BASE64 };
        out.push_str(open);
        rest = &rest[open.len()..];
        if rest.get(..DIGITS).is_some_and(is_digest) {
            out.push('…');
            rest = &rest[DIGITS..];
        }
    }
    out + rest
}

fn is_digest(digits: &str) -> bool {
    digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn digest(redactor: &Redactor, value: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mac = hmac::sign(&redactor.key, value);
    mac.as_ref().iter().flat_map(|byte| [byte >> 4, byte & 15]).take(DIGITS).map(|nibble| char::from(HEX[usize::from(nibble)])).collect()
}

/// Standard base64 as the API server writes it; line breaks are skipped, as Go does.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    STANDARD.decode(text).ok()
}
