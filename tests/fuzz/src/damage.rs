//! Small changes to bytes, by a seeded generator, so that a finding can be made again.

use holdup::model::Kind;

use crate::corpus::Corpus;

/// What JSON is made of, and what readers stumble over.
const TOKENS: &[&[u8]] = &[
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"-1",
    b"1e400",
    b"99999999999999999999",
    b"0.1",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\\u202e",
    b"\xff",
    b"\xf0\x9f\x92\xa9",
    b"\x1b[2J",
    b" ",
    b"\n",
    b"\"name\":",
    b"\"metadata\":",
    b"\"2026-13-45T99:99:99Z\"",
    b"\"1Ei\"",
    b"\"-1\"",
];

pub struct Damage {
    state: u64,
}

impl Damage {
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    /// A number below `end` (xorshift64*).
    pub fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end.max(1)
    }

    /// An object with a few places changed.
    pub fn one_of(&mut self, corpus: &Corpus) -> (Kind, Vec<u8>) {
        let (kind, bytes) = &corpus.objects[self.below(corpus.objects.len())];
        let mut bytes = bytes.clone();
        for _ in 0..self.below(4) {
            self.change(&mut bytes, corpus);
        }
        (*kind, bytes)
    }

    /// Changes one place of bytes that are no object of the corpus.
    pub fn bytes(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + self.below(20)).min(bytes.len());
        match self.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            3 => drop(bytes.splice(at..end, TOKENS[self.below(TOKENS.len())].iter().copied())),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (self.below(8))),
        }
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &Corpus) {
        let at = self.below(bytes.len() + 1);
        let end = (at + self.below(40)).min(bytes.len());
        match self.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            3 => drop(bytes.splice(at..end, TOKENS[self.below(TOKENS.len())].iter().copied())),
            4 => self.value(bytes),
            5 => {
                let (_, other) = &corpus.objects[self.below(corpus.objects.len())];
                let from = self.below(other.len());
                let until = (from + self.below(200)).min(other.len());
                bytes.splice(at..at, other[from..until].iter().copied());
            }
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (self.below(8))),
        }
    }

    /// Another value behind some key: most damage elsewhere ends in bytes that are no JSON.
    fn value(&mut self, bytes: &mut Vec<u8>) {
        let keys: Vec<usize> = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"\":").map(|(at, _)| at + 2).collect();
        if keys.is_empty() {
            return;
        }
        let at = keys[self.below(keys.len())];
        let mut rest = serde_json::Deserializer::from_slice(&bytes[at..]).into_iter::<serde_json::Value>();
        if let Some(Ok(_)) = rest.next() {
            let end = at + rest.byte_offset();
            bytes.splice(at..end, TOKENS[self.below(9)].iter().copied());
        }
    }
}
