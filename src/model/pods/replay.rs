//! Verified replay: bytes that between the cuts are those of a sibling mean what the sibling's mean, and need not be parsed.

use crate::model::Time;
use crate::model::read::end_of_string;

use super::cuts::{Cut, Cuts, in_spec, in_status};
use super::fingerprint::Fingerprint;
use super::normal::Own;

/// How a value looks in bytes: lengths between cuts, and a fingerprint of what they hold.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// How many bytes stand before each cut.
    cuts: Box<[(u32, Cut)]>,
    /// How many stand behind the last.
    rest: u32,
    print: u128,
}

/// A value that was recognised: where it ends, and what stands in its cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Replayed<'a> {
    pub end: usize,
    pub node: &'a [u8],
    pub since: Option<Time>,
}

impl Pattern {
    /// Learns from a spec that was read soundly. `own` is what its normal form cut out: where the bytes do not show the same cuts
    /// (escapes, a key that comes twice) nothing is learned.
    pub(super) fn of_spec(json: &[u8], place: (usize, usize), (pod, node): (&str, &str), own: Own) -> Option<Self> {
        let cuts = in_spec(json, place.0, pod, node);
        let count = |kinds: &[Cut]| cuts.iter().filter(|(_, cut)| kinds.contains(cut)).count();
        let nodes = usize::from(!node.is_empty());
        let same = count(&[Cut::Node]) == nodes && count(&[Cut::Token]) == own.tokens && count(&[Cut::Pod, Cut::SameNode]) == own.parts;
        Self::learn(json, place, cuts).filter(|_| same)
    }

    /// Learns from the status of a plain pod that never restarted. `since` is when Ready changed, if it has that condition.
    pub(super) fn of_status(json: &[u8], place: (usize, usize), since: Option<Time>) -> Option<Self> {
        let cuts = in_status(json, place.0);
        let times = cuts.iter().filter(|(_, cut)| *cut == Cut::Since).count();
        Self::learn(json, place, cuts).filter(|_| times == usize::from(since.is_some()))
    }

    fn learn(json: &[u8], (start, end): (usize, usize), cuts: Cuts) -> Option<Self> {
        let (mut at, mut print, mut lengths) = (start, Fingerprint::new(), Vec::new());
        for (range, cut) in cuts {
            print.add(json.get(at..range.start)?);
            lengths.push((u32::try_from(range.start - at).ok()?, cut));
            at = range.end;
        }
        print.add(json.get(at..end)?);
        Some(Self { cuts: lengths.into(), rest: u32::try_from(end - at).ok()?, print: print.finish() })
    }

    /// Walks a sibling's value by the lengths. Equal fingerprints prove equal bytes, so the cuts are strings where they should be.
    /// `pod` holds neither quotes nor backslashes: it is compared with the bytes of a string.
    pub(super) fn replay<'a>(&self, json: &'a [u8], start: usize, pod: &[u8]) -> Option<Replayed<'a>> {
        let (mut at, mut print) = (start, Fingerprint::new());
        let mut replayed = Replayed { end: 0, node: b"", since: None };
        let mut again: Option<&[u8]> = None;
        for (length, cut) in &self.cuts {
            let begin = at + *length as usize;
            print.add(json.get(at..begin)?);
            let text = match cut {
                Cut::Token => json.get(begin..begin + 5).filter(|t| t.iter().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()))?,
                Cut::Pod => json.get(begin..begin + pod.len()).filter(|t| *t == pod)?,
                Cut::Any | Cut::Node | Cut::SameNode | Cut::Since => until_quote(json, begin)?,
            };
            match cut {
                Cut::Node => replayed.node = text,
                Cut::Since => replayed.since = Some(Time::read(text)?),
                Cut::SameNode if again.replace(text).is_some_and(|before| before != text) => return None,
                Cut::SameNode | Cut::Any | Cut::Token | Cut::Pod => {}
            }
            at = begin + text.len();
        }
        replayed.end = at + self.rest as usize;
        print.add(json.get(at..replayed.end)?);
        let same = print.finish() == self.print && again.is_none_or(|again| again == replayed.node && !replayed.node.is_empty());
        same.then_some(replayed)
    }
}

/// A string up to its quote; `None` if it holds an escape.
fn until_quote(json: &[u8], at: usize) -> Option<&[u8]> {
    let (end, escaped) = end_of_string(json, at)?;
    json.get(at..end).filter(|_| !escaped)
}
