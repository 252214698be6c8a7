//! Rng: xorshift, so that the same seed gives the same cluster on every machine.

/// A sequence of numbers that looks random and is always the same.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 33) as usize) % end.max(1)
    }

    /// True in so many of a thousand.
    pub fn chance(&mut self, of_a_thousand: usize) -> bool {
        self.below(1000) < of_a_thousand
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Letters and digits as Kubernetes makes them up for names.
    pub fn name(&mut self, len: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        (0..len).map(|_| char::from(*self.pick(LETTERS))).collect()
    }

    pub fn hex(&mut self, len: usize) -> String {
        (0..len).map(|_| char::from(*self.pick(b"0123456789abcdef"))).collect()
    }

    pub fn uid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff, b >> 52, b & 0xffff_ffff_ffff)
    }
}
