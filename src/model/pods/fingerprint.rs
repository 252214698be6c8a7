//! Fingerprints: 128 bits that tell byte strings apart, keyed anew in every process so that nobody can make two collide.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// A fingerprint in the making. Strings given in pieces of the same lengths have the same fingerprint as each other, if they are equal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint {
    a: u64,
    b: u64,
    keys: [u64; 4],
}

static KEYS: LazyLock<[u64; 4]> = LazyLock::new(|| std::array::from_fn(|i| RandomState::new().hash_one(i)));

impl Fingerprint {
    pub(super) fn new() -> Self {
        let keys = *KEYS;
        Self { a: keys[2], b: keys[3], keys }
    }

    pub(super) fn of(bytes: &[u8]) -> u128 {
        let mut print = Self::new();
        print.add(bytes);
        print.finish()
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<16>();
        for chunk in chunks {
            self.step(chunk);
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        self.step(&last);
        self.a ^= bytes.len() as u64;
    }

    pub(super) fn finish(self) -> u128 {
        let [k0, k1, ..] = self.keys;
        u128::from(fold(self.a ^ k1, self.b ^ k0)) << 64 | u128::from(fold(self.b ^ k1, self.a ^ k0))
    }

    /// Two folded multiplications over the same sixteen bytes, with different keys.
    fn step(&mut self, chunk: &[u8; 16]) {
        let word = |half: &[u8; 8]| u64::from_le_bytes(*half);
        let ([low, high], _) = chunk.as_chunks::<8>() else { return };
        let (x, y) = (word(low), word(high));
        self.a = fold(self.a ^ x, self.keys[0] ^ y);
        self.b = fold(self.b ^ y, self.keys[1] ^ x);
    }
}

fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_count() {
        let text: Vec<u8> = (0..100).collect();
        let print = Fingerprint::of(&text);
        assert_eq!(print, Fingerprint::of(&text));
        for i in 0..text.len() {
            let mut other = text.clone();
            other[i] ^= 1;
            assert_ne!(print, Fingerprint::of(&other));
        }
        assert_ne!(Fingerprint::of(b"a"), Fingerprint::of(b"a\0"));
        assert_ne!(Fingerprint::of(b""), Fingerprint::of(b"\0"));
    }
}
