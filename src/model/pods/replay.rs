//! Verified replay: a spec whose bytes between the cuts are those of a sibling is that sibling's spec, and need not be parsed.

use super::fingerprint::Fingerprint;
use super::normal::{Cut, Own, cuts};

/// How the spec of one template looks in bytes: lengths between cuts, and a fingerprint of what they hold.
#[derive(Debug)]
pub(super) struct Pattern {
    /// How many bytes stand before each cut.
    cuts: Box<[(u32, Cut)]>,
    /// How many stand behind the last.
    rest: u32,
    print: u128,
}

/// A spec that was recognised: where it ends, and the node that stands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Replayed<'a> {
    pub end: usize,
    pub node: &'a [u8],
}

impl Pattern {
    /// Learns from a spec that was read soundly. `own` is what its normal form cut out: where the bytes do not show the same cuts
    /// (escapes, a key that comes twice) nothing is learned.
    pub(super) fn learn(json: &[u8], (start, end): (usize, usize), (pod, node): (&str, &str), own: Own) -> Option<Self> {
        let cuts = cuts(json, start, pod, node);
        let count = |kinds: &[Cut]| cuts.iter().filter(|(_, cut)| kinds.contains(cut)).count();
        let nodes = usize::from(!node.is_empty());
        if count(&[Cut::Node]) != nodes || count(&[Cut::Token]) != own.tokens || count(&[Cut::Pod, Cut::SameNode]) != own.parts {
            return None;
        }
        let (mut at, mut print, mut lengths) = (start, Fingerprint::new(), Vec::new());
        for (range, cut) in cuts {
            print.add(json.get(at..range.start)?);
            lengths.push((u32::try_from(range.start - at).ok()?, cut));
            at = range.end;
        }
        print.add(json.get(at..end)?);
        Some(Self { cuts: lengths.into(), rest: u32::try_from(end - at).ok()?, print: print.finish() })
    }

    /// Walks a sibling's spec by the lengths. Equal fingerprints prove equal bytes, so the cuts are strings where they should be.
    /// `pod` holds neither quotes nor backslashes: it is compared with the bytes of a string.
    pub(super) fn replay<'a>(&self, json: &'a [u8], start: usize, pod: &[u8]) -> Option<Replayed<'a>> {
        let (mut at, mut print) = (start, Fingerprint::new());
        let (mut node, mut again): (&[u8], Option<&[u8]>) = (b"", None);
        for (length, cut) in &self.cuts {
            let begin = at + *length as usize;
            print.add(json.get(at..begin)?);
            let text = match cut {
                Cut::Token => json.get(begin..begin + 5).filter(|t| t.iter().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))?,
                Cut::Pod => json.get(begin..begin + pod.len()).filter(|t| *t == pod)?,
                Cut::Hostname => until_quote(json.get(begin..)?)?,
                Cut::Node => {
                    node = until_quote(json.get(begin..)?)?;
                    node
                }
                Cut::SameNode => {
                    let text = until_quote(json.get(begin..)?)?;
                    if again.replace(text).is_some_and(|before| before != text) {
                        return None;
                    }
                    text
                }
            };
            at = begin + text.len();
        }
        let end = at + self.rest as usize;
        print.add(json.get(at..end)?);
        let same = print.finish() == self.print && again.is_none_or(|again| again == node && !node.is_empty());
        same.then_some(Replayed { end, node })
    }
}

/// A short string up to its quote; `None` if it holds an escape.
fn until_quote(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().take(256).position(|b| matches!(b, b'"' | b'\\'))?;
    (bytes[end] == b'"').then(|| &bytes[..end])
}
