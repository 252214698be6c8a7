//! The little that framing must understand of JSON: where a value ends, and which members an object has.

use std::ops::Range;

/// Where the value that begins at `at` ends; `None` when its end has not arrived.
pub(super) fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at + 1),
        b'{' | b'[' => nested_end(bytes, at),
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            bytes.get(at..)?.iter().position(is_end).map(|length| at + length)
        }
    }
}

/// The first byte that is not white space, from `at` on.
pub(super) fn after_space(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    rest.iter().position(|byte| !byte.is_ascii_whitespace()).map(|skipped| at + skipped)
}

/// The members of an object as they arrive: each key without its quotes, and where its value stands.
pub(super) struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    /// `at` is the place of the opening brace.
    pub fn new(bytes: &'a [u8], at: usize) -> Option<Self> {
        let open = after_space(bytes, at)?;
        (bytes[open] == b'{').then_some(Self { bytes, at: open + 1 })
    }

    /// The next key and the place where its value begins; the value itself may still be on its way.
    pub fn key(&mut self) -> Option<(&'a [u8], usize)> {
        let mut at = after_space(self.bytes, self.at)?;
        if self.bytes[at] == b',' {
            at = after_space(self.bytes, at + 1)?;
        }
        if self.bytes[at] != b'"' {
            return None;
        }
        let end = string_end(self.bytes, at + 1)?;
        let colon = after_space(self.bytes, end)?;
        let value = after_space(self.bytes, colon + 1)?;
        self.at = value;
        Some((&self.bytes[at + 1..end - 1], value))
    }

    /// The value that [`Self::key`] announced, once it is whole.
    pub fn value(&mut self) -> Option<Range<usize>> {
        let end = value_end(self.bytes, self.at)?;
        let value = self.at..end;
        self.at = end;
        Some(value)
    }
}

/// A member of an object, by its key.
pub(super) fn member<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let mut members = Members::new(bytes, 0)?;
    loop {
        let (key, _) = members.key()?;
        let value = members.value()?;
        if key == wanted {
            return Some(&bytes[value]);
        }
    }
}

/// `at` is behind the opening quote; the end is behind the closing one.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = quote_or_backslash(bytes, at)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn nested_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut nesting = Nesting::default();
    nesting.advance(&bytes[at..]).map(|length| at + length)
}

/// Follows braces and strings through bytes that come in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    depth: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    Text,
    Escape,
}

impl Nesting {
    /// The length up to and with the bracket that closes what the first byte opened; `None` when it has not come.
    pub fn advance(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            match self.place {
                Place::Escape => {
                    bytes.get(at)?;
                    self.place = Place::Text;
                    at += 1;
                }
                Place::Text => {
                    at = quote_or_backslash(bytes, at)?;
                    self.place = if bytes[at] == b'"' { Place::Between } else { Place::Escape };
                    at += 1;
                }
                Place::Between => {
                    at = self.between(bytes, at)?;
                    if self.depth == 0 {
                        return Some(at);
                    }
                    self.place = Place::Text;
                }
            }
        }
    }

    /// Walks to behind the next quote, or behind the bracket that closes everything.
    fn between(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        let mut depth = self.depth;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'"' => {
                    self.depth = depth;
                    return Some(at);
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.depth = 0;
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        self.depth = depth;
        None
    }
}

/// Eight bytes a step: most strings are short, for which a call into memchr costs more than it saves.
fn quote_or_backslash(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let hits = hits(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return Some(at + usize::try_from(hits.trailing_zeros() / 8).unwrap_or(0));
        }
        at += 8;
    }
    bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|more| at + more)
}

/// The high bit of each byte that is a quote or a backslash, right up to the first of them.
fn hits(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x & (ONES << 7);
    zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5C))
}
