//! Pairs: texts by name, as labels, annotations and plain selectors are. However many there are, they are two pieces of memory.

use std::borrow::Cow;
use std::fmt;

use super::pack::{Pack, put, put_text, take, take_bytes};
use super::pull::{Pull, cut_cow};
use super::read::{Reader, text};

/// A map of texts in the order of names, each of which stands once. It is read, and made anew where something changes.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Pairs {
    /// Name, value, name, value and so on.
    text: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
}

impl Pairs {
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.part(2 * middle).cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(self.part(2 * middle + 1)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Names and values in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        (0..self.len()).map(|at| (self.part(2 * at), self.part(2 * at + 1)))
    }

    fn part(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start as usize..self.ends[at] as usize).unwrap_or_default()
    }

    /// Of pairs in the order of names, each of which stands once.
    fn of<'a, I: Iterator<Item = (&'a str, &'a str)>>(sorted: impl Fn() -> I) -> Self {
        let parts = || sorted().flat_map(|(name, value)| [name, value]);
        let mut text = String::with_capacity(parts().map(str::len).sum());
        let ends = parts().map(|part| {
            text.push_str(part);
            text.len() as u32
        });
        let ends: Vec<u32> = ends.collect();
        Self { text: text.into(), ends: ends.into() }
    }

    /// What JSON says in any order; the last of equal names wins, and what has no text of the wanted kind takes its name away.
    pub(super) fn pull_if(r: &mut Reader<'_>, wanted: impl Fn(&str, &str) -> bool) -> Option<Self> {
        if !r.object() {
            return None;
        }
        // Most maps have fewer.
        let mut all: Vec<(Cow<'_, str>, Option<Cow<'_, str>>)> = Vec::with_capacity(8);
        while let Some(name) = r.key() {
            let name = cut_cow(text(name));
            let value = r.str().map(cut_cow).filter(|value| wanted(&name, value));
            all.push((name, value));
        }
        // Go writes maps in the order of names.
        if !all.is_sorted_by(|(a, _), (b, _)| a < b) {
            all.reverse();
            all.sort_by(|(a, _), (b, _)| a.cmp(b));
            all.dedup_by(|(later, _), (kept, _)| later == kept);
        }
        Some(Self::of(|| all.iter().filter_map(|(name, value)| Some((&**name, value.as_deref()?)))))
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Pairs {
    /// The last of equal names wins.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(all: I) -> Self {
        let mut all: Vec<(N, V)> = all.into_iter().collect();
        all.reverse();
        all.sort_by(|(a, _), (b, _)| a.as_ref().cmp(b.as_ref()));
        all.dedup_by(|(later, _), (kept, _)| later.as_ref() == kept.as_ref());
        Self::of(|| all.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))
    }
}

impl fmt::Debug for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Pull for Pairs {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        Self::pull_if(r, |_, _| true)
    }
}

impl Pack for Pairs {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.ends.len() as u64);
        (0..self.ends.len()).for_each(|at| put_text(out, self.part(at)));
    }

    fn unpack(input: &mut &[u8]) -> Self {
        let count = take(input) as usize;
        let mut rest = *input;
        let length = (0..count).map(|_| take_bytes(&mut rest).len()).sum();
        let (mut text, mut ends) = (Vec::with_capacity(length), Vec::with_capacity(count.min(input.len())));
        for _ in 0..count {
            text.extend_from_slice(take_bytes(input));
            ends.push(text.len() as u32);
        }
        Self { text: String::from_utf8(text).unwrap_or_default().into(), ends: ends.into() }
    }
}

#[cfg(test)]
impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let all = std::collections::BTreeMap::<String, String>::deserialize(d)?;
        Ok(all.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pack::{packed, unpacked};

    fn pull(json: &str) -> Option<Pairs> {
        Pairs::pull(&mut Reader::new(json.as_bytes()))
    }

    #[test]
    fn names_are_found_and_told_in_order_wherever_they_stood() {
        let pairs = pull(r#"{"tier":"front","app":"web","":"none","zone":""}"#).expect("a map");
        assert_eq!(pairs.iter().collect::<Vec<_>>(), [("", "none"), ("app", "web"), ("tier", "front"), ("zone", "")]);
        assert_eq!((pairs.len(), pairs.get("app"), pairs.get("zone"), pairs.get("ap")), (4, Some("web"), Some(""), None));
        assert_eq!(pairs, [("zone", ""), ("app", "old"), ("tier", "front"), ("", "none"), ("app", "web")].into_iter().collect());
    }

    #[test]
    fn of_a_name_that_comes_twice_the_last_is_kept_unless_it_is_no_text() {
        assert_eq!(pull(r#"{"b":"1","a":"x","b":"2"}"#), Some([("a", "x"), ("b", "2")].into_iter().collect()));
        assert_eq!(pull(r#"{"a":"x","b":"1","b":7}"#), Some([("a", "x")].into_iter().collect()));
        assert_eq!((pull("{}"), pull("null"), pull("[]")), (Some(Pairs::default()), None, None));
    }

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let pairs: Pairs = [("app", "web"), ("kubernetes.io/os", "linux"), ("é", "—"), ("none", "")].into_iter().collect();
        for pairs in [pairs, Pairs::default()] {
            assert_eq!(unpacked::<Pairs>(&packed(&pairs)), pairs);
        }
    }
}
