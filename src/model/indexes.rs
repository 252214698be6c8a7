//! Indexes: from an owner or the subject of events to slots. Only hashes are kept: who looks something up compares what it finds.

use hashbrown::HashTable;

use super::Read;

/// A map from keys to slots. What it finds may also belong to another key, seldom.
#[derive(Debug, Default)]
pub(super) struct Index(HashTable<(u32, u32)>);

impl Index {
    pub(super) fn add(&mut self, key: Read, at: u32) {
        let key = short(key);
        self.0.insert_unique(spread(key), (key, at), |(key, _)| spread(*key));
    }

    pub(super) fn remove(&mut self, key: Read, at: u32) {
        let key = short(key);
        if let Ok(entry) = self.0.find_entry(spread(key), |other| *other == (key, at)) {
            entry.remove();
        }
    }

    pub(super) fn get(&self, key: Read) -> impl Iterator<Item = u32> + use<'_> {
        let key = short(key);
        self.0.iter_hash(spread(key)).filter(move |(other, _)| *other == key).map(|(_, at)| *at)
    }
}

fn short(key: Read) -> u32 {
    (key.hash() >> 32) as u32
}

/// The table looks at the highest and the lowest bits of a hash.
fn spread(key: u32) -> u64 {
    u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    #[test]
    fn what_was_added_is_found_until_it_is_removed() {
        let mut index = Index::default();
        let key = |n: u32| Read::owned(Kind::Job, &n.to_string());
        (0..1000).for_each(|n| index.add(key(n / 10), n));
        let found = |index: &Index, n| {
            let mut all: Vec<u32> = index.get(key(n)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(found(&index, 7), (70..80).collect::<Vec<_>>());
        (70..79).for_each(|n| index.remove(key(7), n));
        assert_eq!((found(&index, 7), found(&index, 8).len()), (vec![79], 10));
    }
}
