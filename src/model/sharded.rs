//! Sharded: a hash table of numbers in sixteen parts. Each grows for itself, so that none of a hundred thousand is waited for, and
//! from what it holds: what the numbers stand for is not looked at again.

use hashbrown::HashTable;

const PARTS: usize = 16;

/// Numbers found by a hash of what they stand for.
#[derive(Debug, Default)]
pub(super) struct Sharded([HashTable<Entry>; PARTS]);

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Half of the hash: what differs in it differs.
    half: u32,
    number: u32,
}

impl Sharded {
    pub(super) fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let half = half(hash);
        self.0[part(half)].find(place(half), |entry| entry.half == half && is(entry.number)).map(|entry| entry.number)
    }

    /// Takes in a number that is not there yet.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        let half = half(hash);
        self.0[part(half)].insert_unique(place(half), Entry { half, number }, |entry| place(entry.half));
    }

    pub(super) fn remove(&mut self, hash: u64, number: u32) {
        let half = half(hash);
        if let Ok(entry) = self.0[part(half)].find_entry(place(half), |entry| entry.number == number) {
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

fn half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// By the upper bits: where an entry lies in its part depends on the lower ones.
fn part(half: u32) -> usize {
    (half >> 28) as usize % PARTS
}

/// A table looks for the place of an entry at one end of a hash and for its mark at the other: half of one is spread over both.
fn place(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
