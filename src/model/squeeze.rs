//! Squeeze: what an object's bytes repeat, of themselves or of a few objects of the same kind, is written once. Equal bytes stay equal.

use super::pack::{put, take};

/// A repetition costs up to four bytes itself.
const SHORTEST: usize = 5;
const HEADS: usize = 4096;
/// Samples are taken up to this size; positions fit into sixteen bits.
const ENOUGH: usize = 6 << 10;
const FARTHEST: usize = u16::MAX as usize;

/// What objects of a kind have in common: the first few of them, as they are. Once it is full it stays as it is.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    /// The last place of each beginning, by hash; empty until the dictionary is full.
    heads: Box<[u16]>,
}

/// Room that is used again and again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The dictionary, and behind it what is squeezed.
    pub(super) all: Vec<u8>,
    pub(super) out: Vec<u8>,
    heads: Vec<u16>,
}

impl Dictionary {
    pub(super) fn is_full(&self) -> bool {
        !self.heads.is_empty()
    }

    /// Takes one more object as a sample.
    pub(super) fn learn(&mut self, raw: &[u8]) {
        if self.is_full() {
            return;
        }
        self.bytes.extend_from_slice(&raw[..raw.len().min(ENOUGH - self.bytes.len())]);
        if self.bytes.len() >= ENOUGH {
            let mut heads = vec![0; HEADS];
            note(&self.bytes, 0..self.bytes.len(), &mut heads);
            self.heads = heads.into();
        }
    }

    /// The bytes to look back at: none before it is full.
    pub(super) fn bytes(&self) -> &[u8] {
        if self.is_full() { &self.bytes } else { &[] }
    }
}

/// Writes what stands in `scratch.all` from `start` on to `scratch.out`. In front of it stand the dictionary's bytes and what is known
/// anyway.
pub(super) fn squeeze(dictionary: Option<&Dictionary>, start: usize, scratch: &mut Scratch) {
    let Scratch { all, out, heads } = scratch;
    heads.clear();
    let known = dictionary.filter(|dictionary| dictionary.is_full());
    match known {
        Some(dictionary) => heads.extend_from_slice(&dictionary.heads),
        None => heads.resize(HEADS, 0),
    }
    note(all, known.map_or(0, |dictionary| dictionary.bytes.len())..start, heads);
    let (mut at, mut told) = (start, start);
    while at + SHORTEST <= all.len().min(FARTHEST) {
        let head = &mut heads[hash(all, at)];
        let (before, length) = (usize::from(*head), same(all, usize::from(*head), at));
        *head = at as u16;
        if length < SHORTEST {
            at += 1;
            continue;
        }
        put(out, (at - told) as u64);
        out.extend_from_slice(&all[told..at]);
        put(out, (length - SHORTEST) as u64);
        put(out, (at - before) as u64);
        at += length;
        told = at;
    }
    put(out, (all.len() - told) as u64);
    out.extend_from_slice(&all[told..]);
}

/// Writes what was squeezed behind what stands in `all`, which is what stood in front of it then.
pub(super) fn unsqueeze(mut input: &[u8], all: &mut Vec<u8>) {
    while !input.is_empty() {
        let plain = take(&mut input) as usize;
        let (plain, rest) = input.split_at(plain.min(input.len()));
        all.extend_from_slice(plain);
        input = rest;
        if input.is_empty() {
            return;
        }
        let (length, distance) = (take(&mut input) as usize + SHORTEST, take(&mut input) as usize);
        let Some(from) = all.len().checked_sub(distance) else { return };
        if length <= distance {
            all.extend_from_within(from..from + length);
        } else {
            // It reaches into itself.
            (from..from + length).for_each(|i| all.extend(all.get(i).copied()));
        }
    }
}

fn note(all: &[u8], places: std::ops::Range<usize>, heads: &mut [u16]) {
    let end = places.end.min((all.len() + 1).saturating_sub(SHORTEST)).min(FARTHEST);
    (places.start..end).for_each(|at| heads[hash(all, at)] = at as u16);
}

fn hash(all: &[u8], at: usize) -> usize {
    let start = all.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
    (start.wrapping_mul(2_654_435_761) >> 20) as usize
}

fn same(all: &[u8], before: usize, at: usize) -> usize {
    if before >= at { 0 } else { all[before..].iter().zip(&all[at..]).take_while(|(a, b)| a == b).count() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_squeezed_comes_back(samples in "[ab]{0,9000}", front in "[abc]{0,20}", text in "([abc]{0,9}|web-frontend-){0,60}") {
            let mut dictionary = Dictionary::default();
            samples.as_bytes().chunks(500).for_each(|sample| dictionary.learn(sample));
            let mut scratch = Scratch::default();
            scratch.all.extend_from_slice(dictionary.bytes());
            scratch.all.extend_from_slice(front.as_bytes());
            let start = scratch.all.len();
            let mut back = scratch.all.clone();
            scratch.all.extend_from_slice(text.as_bytes());
            squeeze(Some(&dictionary), start, &mut scratch);
            unsqueeze(&scratch.out, &mut back);
            prop_assert_eq!(&back, &scratch.all);
        }
    }

    #[test]
    fn what_is_repeated_costs_little_and_what_is_long_is_not_lost() {
        let mut scratch = Scratch { all: b"registry.example.com/shop/web:1 ".repeat(4000), ..Scratch::default() };
        squeeze(None, 0, &mut scratch);
        let mut back = Vec::new();
        unsqueeze(&scratch.out, &mut back);
        assert!(back == scratch.all && scratch.out.len() < scratch.all.len() / 10 * 6, "{}", scratch.out.len());
    }
}
