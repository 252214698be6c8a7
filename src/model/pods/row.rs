//! PodRow: one pod in at most 80 bytes.

use crate::model::intern::Sym;
use crate::model::{Phase, Time};

use super::chain::Link;
use super::uid::Uid;

/// What is a pod's own. What replicas share is in the template, what is odd in the extra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct PodRow {
    pub(super) uid: Uid,
    /// The name without the suffix, or all of it.
    pub(super) prefix: Sym,
    pub(super) suffix: Suffix,
    pub(super) template: u32,
    /// Node entry, or none.
    pub(super) node: u32,
    /// Entry of the extras, or none.
    pub(super) extra: u32,
    pub created: Option<Time>,
    /// When Ready changed last.
    pub since: Option<Time>,
    /// 65,535 stands for any number above.
    pub restarts: u16,
    pub phase: Phase,
    pub(super) flags: Flags,
    pub(super) by_template: Link,
    pub(super) by_node: Link,
}

const _: () = assert!(size_of::<PodRow>() <= 80, "a row has at most 80 bytes");

/// Yes or no, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags(u8);

impl Flags {
    pub(super) const PLAIN: Self = Self(1);
    pub(super) const READY: Self = Self(2);
    /// It has the finalizer by which a Job counts its pods, and no other.
    pub(super) const TRACKED: Self = Self(4);
    /// It counts for its node: it is neither Succeeded nor Failed.
    pub(super) const COUNTS: Self = Self(8);

    pub(super) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// With the flag where `holds`.
    #[must_use]
    pub(super) fn with(self, flag: Self, holds: bool) -> Self {
        if holds { Self(self.0 | flag.0) } else { self }
    }
}

/// Up to eight bytes behind the prefix, zeros at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Suffix([u8; 8]);

impl Suffix {
    /// Splits a name: what follows the last dash, if it is short, else the last five characters, which is how generated names end.
    /// Names that hold zeros or are not ASCII stay whole.
    pub(super) fn split(name: &str) -> (&str, Self) {
        let whole = (name, Self::default());
        if !name.is_ascii() || name.contains('\0') {
            return whole;
        }
        let begin = name.rfind('-').map(|dash| dash + 1).filter(|begin| name.len() - begin <= 8);
        let (prefix, rest) = name.split_at(begin.unwrap_or(name.len().saturating_sub(5)));
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest.as_bytes());
        (prefix, Self(bytes))
    }

    pub(super) fn text(&self) -> &str {
        let len = self.0.iter().position(|b| *b == 0).unwrap_or(8);
        std::str::from_utf8(&self.0[..len]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_prefix_and_its_suffix() {
        for (name, prefix) in [
            ("web-7d4b9c6f5d-x2x7z", "web-7d4b9c6f5d-"),
            ("web-0", "web-"),
            ("nginx", ""),
            ("a-verylongtail", "a-verylon"),
            ("é-1", "é-1"),
            ("", ""),
        ] {
            let (head, suffix) = Suffix::split(name);
            assert_eq!((head, format!("{head}{}", suffix.text())), (prefix, name.to_owned()));
        }
    }
}
