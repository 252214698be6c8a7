//! The tolerant pull reader of JSON for kinds that come by the thousand. It takes what the caller asks for and steps over the rest;
//! it allocates nothing but for strings with escapes, never panics and never fails: input that is no JSON makes it unsound.
//!
//! What is read is checked like JSON; what is stepped over is matched for quotes and brackets only. A key that comes twice is
//! given twice: callers let the last one win, as Go does.

use std::borrow::Cow;

use super::Time;

/// A place in JSON. After each call it stands behind what the call took; the next value may be read or stepped over.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Nothing of the innermost object or list was taken yet: no comma is due.
    fresh: bool,
    sound: bool,
}

/// The largest whole number that every JSON reader keeps exactly (RFC 8259, 6).
const EXACT: u64 = 1 << 53;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self::at(bytes, 0)
    }

    /// Begins at a value in the middle of JSON.
    pub(super) fn at(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, at: position, fresh: true, sound: true }
    }

    /// Whether everything so far was JSON. Nothing may be kept of an object that was not read soundly to its end.
    pub(super) fn is_sound(&self) -> bool {
        self.sound
    }

    /// Where what was read ends, if all of it was JSON.
    pub(super) fn sound_end(&self) -> Option<usize> {
        self.sound.then_some(self.at)
    }

    /// The first byte of the next value; 0 where there is none.
    pub(super) fn peek(&mut self) -> u8 {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Where the next value begins.
    pub(super) fn position(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Goes on behind a value that was recognised without reading it.
    pub(super) fn go_on_at(&mut self, position: usize) {
        self.at = position;
    }

    /// What was read since a position.
    pub(super) fn since(&self, position: usize) -> &'a [u8] {
        self.bytes.get(position..self.at).unwrap_or_default()
    }

    /// Enters an object; any other value is stepped over.
    pub(super) fn object(&mut self) -> bool {
        self.enter(b'{')
    }

    /// Enters a list; any other value is stepped over.
    pub(super) fn list(&mut self) -> bool {
        self.enter(b'[')
    }

    /// The next key of the object, whose value must be taken or stepped over; `None` leaves the object.
    pub(super) fn key(&mut self) -> Option<Cow<'a, [u8]>> {
        if !self.more(b'}') {
            return None;
        }
        let key = if self.peek() == b'"' { self.quoted() } else { self.broken() };
        if self.peek() != b':' {
            return self.broken();
        }
        self.at += 1;
        key
    }

    /// Whether the list has one more element, which must be taken or stepped over; `false` leaves the list.
    pub(super) fn item(&mut self) -> bool {
        self.more(b']')
    }

    /// A string as bytes, not checked for UTF-8; any other value is stepped over.
    pub(super) fn raw(&mut self) -> Option<Cow<'a, [u8]>> {
        if self.peek() == b'"' {
            return self.quoted();
        }
        self.skip();
        None
    }

    /// A string; any other value is stepped over. What is not UTF-8 in it becomes U+FFFD.
    pub(super) fn str(&mut self) -> Option<Cow<'a, str>> {
        Some(text(self.raw()?))
    }

    /// A string without escapes, as it stands in the input, with its position there; any other value is stepped over.
    pub(super) fn plain(&mut self) -> Option<(usize, &'a [u8])> {
        let start = self.position() + 1;
        match self.raw()? {
            Cow::Borrowed(bytes) => Some((start, bytes)),
            Cow::Owned(_) => None,
        }
    }

    /// A time in a string; any other value is stepped over.
    pub(super) fn time(&mut self) -> Option<Time> {
        Time::read(&self.raw()?)
    }

    /// A whole number of the size that JSON keeps exactly; any other value is stepped over. So sums of a few of them never overflow.
    pub(super) fn int(&mut self) -> Option<i64> {
        let negative = self.peek() == b'-';
        let start = self.at + usize::from(negative);
        let digits = self.bytes.get(start..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        let end = start + digits;
        if digits == 0 || matches!(self.bytes.get(end), Some(b'.' | b'e' | b'E')) {
            self.skip();
            return None;
        }
        self.at = end;
        let sign = if negative { -1 } else { 1 };
        let value = self.bytes[start..end].iter().try_fold(0_i64, |n, b| n.checked_mul(10)?.checked_add(sign * i64::from(b - b'0')));
        value.filter(|n| n.unsigned_abs() <= EXACT)
    }

    /// `true` or `false`; any other value is stepped over.
    pub(super) fn bool(&mut self) -> Option<bool> {
        let value = match self.peek() {
            b't' => Some(true),
            b'f' => Some(false),
            _ => None,
        };
        self.skip();
        value
    }

    /// Steps over a value; over a list of objects, if it can, by its first closing bracket, a hundred times as fast as [`Reader::skip`].
    ///
    /// A bracket before `,"x` is no text: its string would end at that quote, and no letter may follow. And it closes this list, for
    /// there is no other one open.
    pub(super) fn jump(&mut self) {
        let rest = if self.peek() == b'[' { &self.bytes[self.at + 1..] } else { &[] };
        let list = memchr::memchr(b']', rest).map(|end| rest.split_at(end + 1));
        let behind = |rest: &'a [u8]| rest.strip_prefix(b"}").unwrap_or(rest);
        match list.filter(|(_, rest)| matches!(behind(rest), [b',', b'"', letter, ..] if letter.is_ascii_alphabetic())) {
            Some((list, _)) if memchr::memchr(b'[', list).is_none() => self.at += 1 + list.len(),
            _ => self.skip(),
        }
    }

    /// Steps over a value.
    pub(super) fn skip(&mut self) {
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' | b'[' => self.skip_nested(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            b'-' | b'0'..=b'9' => self.skip_number(),
            _ => self.fail(),
        }
    }

    /// Whether nothing but space follows.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek() == 0 && self.at == self.bytes.len() && self.sound
    }

    fn enter(&mut self, bracket: u8) -> bool {
        let enters = self.peek() == bracket;
        if enters {
            (self.at, self.fresh) = (self.at + 1, true);
        } else {
            self.skip();
        }
        enters
    }

    fn more(&mut self, end: u8) -> bool {
        let fresh = std::mem::replace(&mut self.fresh, false);
        match self.peek() {
            b if b == end => {
                self.at += 1;
                return false;
            }
            b',' if !fresh => self.at += 1,
            _ if fresh => {}
            _ => self.fail(),
        }
        self.sound
    }

    fn quoted(&mut self) -> Option<Cow<'a, [u8]>> {
        let start = self.at + 1;
        let Some((end, escaped)) = end_of_string(self.bytes, start) else { return self.broken() };
        self.at = end + 1;
        let raw = &self.bytes[start..end];
        if !escaped {
            return Some(Cow::Borrowed(raw));
        }
        match unescape(raw) {
            Some(text) => Some(Cow::Owned(text)),
            None => self.broken(),
        }
    }

    fn skip_string(&mut self) {
        match end_of_string(self.bytes, self.at + 1) {
            Some((end, _)) => self.at = end + 1,
            None => self.fail(),
        }
    }

    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(b) = self.bytes.get(self.at) {
            self.at += 1;
            match b {
                b'"' => match end_of_string(self.bytes, self.at) {
                    Some((end, _)) => self.at = end + 1,
                    None => return self.fail(),
                },
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
        self.fail();
    }

    fn skip_number(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().take_while(|b| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count();
    }

    fn word(&mut self, word: &[u8]) {
        if self.bytes[self.at..].starts_with(word) { self.at += word.len() } else { self.fail() }
    }

    fn fail(&mut self) {
        self.at = self.bytes.len();
        self.sound = false;
    }

    fn broken<T>(&mut self) -> Option<T> {
        self.fail();
        None
    }
}

/// Bytes of a string as text. What is not UTF-8 in it becomes U+FFFD.
pub(super) fn text(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Where the string that begins at `at` ends, and whether it holds escapes. Eight bytes a step.
pub(super) fn end_of_string(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
            let hits = quotes_and_backslashes(u64::from_le_bytes(*chunk));
            if hits != 0 {
                at += (hits.trailing_zeros() / 8) as usize;
                break;
            }
            at += 8;
        }
        match bytes.get(at)? {
            b'"' => return Some((at, escaped)),
            b'\\' => (at, escaped) = (at + 2, true),
            _ => at += 1,
        }
    }
}

/// The high bit of each byte that is a quote or a backslash. Right up to the first such byte, which is all that is asked.
fn quotes_and_backslashes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x & (ONES << 7);
    zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')))
}

/// The text behind escapes; half a surrogate pair becomes U+FFFD, as in Go. `None` for an escape that JSON does not know.
fn unescape(raw: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.extend_from_slice(&rest[..at]);
        let (c, taken) = escape(&rest[at + 1..])?;
        text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[at + 1 + taken..];
    }
    text.extend_from_slice(rest);
    Some(text)
}

/// The character of one escape, and how many bytes behind the backslash it took.
fn escape(rest: &[u8]) -> Option<(char, usize)> {
    Some(match rest.first()? {
        b'"' => ('"', 1),
        b'\\' => ('\\', 1),
        b'/' => ('/', 1),
        b'b' => ('\u{8}', 1),
        b'f' => ('\u{c}', 1),
        b'n' => ('\n', 1),
        b'r' => ('\r', 1),
        b't' => ('\t', 1),
        b'u' => unicode(rest)?,
        _ => return None,
    })
}

fn unicode(rest: &[u8]) -> Option<(char, usize)> {
    let high = hex(rest.get(1..5)?)?;
    if let Some(c) = char::from_u32(high) {
        return Some((c, 5));
    }
    let low = rest.get(5..11).filter(|r| r.starts_with(b"\\u")).and_then(|r| hex(&r[2..])).filter(|l| (0xDC00..0xE000).contains(l));
    let pair = low.filter(|_| high < 0xDC00).and_then(|l| char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (l - 0xDC00)));
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 5), |c| (c, 11)))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |n, b| Some(n * 16 + char::from(*b).to_digit(16)?))
}

#[cfg(test)]
mod laws;
