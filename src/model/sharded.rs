//! Sharded: a hash table of numbers in sixteen parts. Each grows for itself, so that none of a hundred thousand is waited for.

use hashbrown::HashTable;

const PARTS: usize = 16;

/// Numbers found by a hash of what they stand for.
#[derive(Debug, Default)]
pub(super) struct Sharded([HashTable<u32>; PARTS]);

impl Sharded {
    pub(super) fn find(&self, hash: u64, is: impl FnMut(&u32) -> bool) -> Option<u32> {
        self.0[part(hash)].find(hash, is).copied()
    }

    /// Takes in a number that is not there yet; `hash_of` tells the hash of any number that is.
    pub(super) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(&u32) -> u64) {
        self.0[part(hash)].insert_unique(hash, number, hash_of);
    }

    pub(super) fn remove(&mut self, hash: u64, number: u32) {
        if let Ok(entry) = self.0[part(hash)].find_entry(hash, |other| *other == number) {
            entry.remove();
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(HashTable::len).sum()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bits that a table looks at neither for the place nor for the mark of an entry.
fn part(hash: u64) -> usize {
    (hash >> 48) as usize % PARTS
}
