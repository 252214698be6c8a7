//! Uids in sixteen bytes: a UUID as its bits, anything else as a symbol.

use crate::model::intern::{Interner, Sym};

/// A uid that a table keeps. UUIDs have a version in 1 to 8; a symbol leaves those bits 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::model) struct Uid([u32; 4]);

/// The bits of a UUID in Kubernetes' spelling (lower case, with dashes); `None` for any other text.
pub(in crate::model) fn uuid(text: &[u8]) -> Option<[u32; 4]> {
    if text.len() != 36 {
        return None;
    }
    let mut bits = 0_u128;
    for (i, byte) in text.iter().enumerate() {
        match byte {
            b'-' if matches!(i, 8 | 13 | 18 | 23) => {}
            _ if matches!(i, 8 | 13 | 18 | 23) => return None,
            b'0'..=b'9' => bits = bits << 4 | u128::from(byte - b'0'),
            b'a'..=b'f' => bits = bits << 4 | u128::from(byte - b'a' + 10),
            _ => return None,
        }
    }
    let words = split(bits);
    (1..=8).contains(&version(words)).then_some(words)
}

/// The bits of a UUID in Kubernetes' spelling.
pub(in crate::model) fn spelled(words: [u32; 4]) -> String {
    let mut text = String::with_capacity(36);
    for digit in 0..32 {
        if matches!(digit, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        let value = words[digit / 8] >> (28 - digit % 8 * 4) & 0xf;
        text.extend(char::from_digit(value, 16));
    }
    text
}

fn version(words: [u32; 4]) -> u32 {
    words[1] >> 12 & 0xf
}

fn split(bits: u128) -> [u32; 4] {
    [(bits >> 96) as u32, (bits >> 64) as u32, (bits >> 32) as u32, bits as u32]
}

impl Uid {
    pub(super) fn of_uuid(words: [u32; 4]) -> Self {
        Self(words)
    }

    /// A uid in any spelling; one that is no UUID counts as a use of its text.
    pub(super) fn take(text: &str, strings: &mut Interner) -> Self {
        uuid(text.as_bytes()).map_or_else(|| Self([0, 0, 0, strings.take(text).0]), Self)
    }

    /// The uid of a text that a table may hold.
    pub(super) fn find(text: &str, strings: &Interner) -> Option<Self> {
        uuid(text.as_bytes()).map(Self).or_else(|| Some(Self([0, 0, 0, strings.find(text)?.0])))
    }

    pub(super) fn release(self, strings: &mut Interner) {
        if let Some(sym) = self.symbol() {
            strings.release(sym);
        }
    }

    pub(super) fn text(self, strings: &Interner) -> String {
        if let Some(sym) = self.symbol() {
            return strings.get(sym).to_owned();
        }
        spelled(self.0)
    }

    fn symbol(self) -> Option<Sym> {
        (version(self.0) == 0).then_some(Sym(self.0[3]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_reads_as_it_was_written() {
        let mut strings = Interner::default();
        for text in [
            "3c2c811f-2e69-5434-8c96-ab88ac4fc0ad",
            "",
            "uid-1",
            "3C2C811F-2E69-5434-8C96-AB88AC4FC0AD",
            "00000000-0000-0000-0000-000000000001",
        ] {
            let uid = Uid::take(text, &mut strings);
            assert_eq!((&*uid.text(&strings), Uid::find(text, &strings)), (text, Some(uid)));
            uid.release(&mut strings);
        }
        assert_eq!(Uid::find("uid-1", &strings), None);
    }
}
