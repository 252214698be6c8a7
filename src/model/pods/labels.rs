//! Labels in normal form: a value that is the pod's own is replaced by a mark, so that siblings share one label set.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::model::pack::{put, put_text, take, take_text};
use crate::model::pull::cut_cow;
use crate::model::read::{Reader, text};

use super::head::Head;

/// What a marked value stands for. Marks are control characters, which no label value may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// `statefulset.kubernetes.io/pod-name`.
    PodName,
    /// `job-name`.
    OwnerName,
    /// `controller-uid`.
    OwnerUid,
    /// `apps.kubernetes.io/pod-index`: what follows the last dash of the pod's name.
    LastPart,
    /// `batch.kubernetes.io/job-completion-index`: what stands between the last two dashes.
    PartBeforeLast,
}

const MARKS: [(Mark, &str); 5] = [
    (Mark::PodName, "\u{1}"),
    (Mark::OwnerName, "\u{2}"),
    (Mark::OwnerUid, "\u{3}"),
    (Mark::LastPart, "\u{4}"),
    (Mark::PartBeforeLast, "\u{5}"),
];

/// Written before a value that begins like a mark and is none: only hostile input has such values.
const PLAIN: char = '\0';

/// A kept value: a mark, or the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Own(Mark),
    Text(&'a str),
}

/// Reads a kept value.
pub(super) fn value(kept: &str) -> Value<'_> {
    match MARKS.iter().find(|(_, text)| *text == kept) {
        Some((mark, _)) => Value::Own(*mark),
        None => Value::Text(kept.strip_prefix(PLAIN).unwrap_or(kept)),
    }
}

/// The parts of a pod's name that label values repeat.
pub(super) fn last_part(name: &str) -> Option<&str> {
    name.rsplit_once('-').map(|(_, last)| last)
}

pub(super) fn part_before_last(name: &str) -> Option<&str> {
    name.rsplit_once('-').and_then(|(rest, _)| last_part(rest))
}

/// What tells siblings apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'a> {
    pub pod: &'a str,
    pub owner: Option<(&'a str, &'a str)>,
}

/// The kept form of one value.
pub(super) fn kept<'a>(key: &str, value: &'a str, own: Own<'_>) -> Cow<'a, str> {
    let mark = match key {
        "job-name" | "batch.kubernetes.io/job-name" if own.owner.is_some_and(|(name, _)| name == value) => Some(Mark::OwnerName),
        "controller-uid" | "batch.kubernetes.io/controller-uid" if own.owner.is_some_and(|(_, uid)| uid == value) => Some(Mark::OwnerUid),
        "apps.kubernetes.io/pod-index" if last_part(own.pod) == Some(value) => Some(Mark::LastPart),
        "batch.kubernetes.io/job-completion-index" if part_before_last(own.pod) == Some(value) => Some(Mark::PartBeforeLast),
        _ if value == own.pod && !value.is_empty() => Some(Mark::PodName),
        _ => None,
    };
    match mark.and_then(|m| MARKS.iter().find(|(mark, _)| *mark == m)) {
        Some((_, text)) => Cow::Borrowed(text),
        None if value.starts_with(|c| c <= '\u{5}') => Cow::Owned(format!("{PLAIN}{value}")),
        None => Cow::Borrowed(value),
    }
}

/// Packs pairs of key and kept value, sorted by key.
pub(super) fn pack<'a>(pairs: impl ExactSizeIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, pairs.len() as u64);
    for (key, value) in pairs {
        put_text(&mut out, key);
        put_text(&mut out, value);
    }
    out
}

/// The pairs that [`pack`] wrote.
pub(super) fn unpack(mut bytes: &[u8]) -> Vec<(&str, &str)> {
    let count = take(&mut bytes);
    (0..count).map(|_| (take_text(&mut bytes), take_text(&mut bytes))).collect()
}

/// The label set of a pod, packed, and whether something of the pod's own was marked in it.
pub(super) fn read(head: &Head<'_>) -> (Vec<u8>, bool) {
    let mut pairs: BTreeMap<Cow<'_, str>, Cow<'_, str>> = BTreeMap::new();
    let mut r = Reader::new(head.labels);
    if !head.labels.is_empty() && r.object() {
        while let Some(key) = r.key() {
            let key = lossy(key);
            match r.str() {
                Some(value) => pairs.insert(key, cut_cow(value)),
                None => pairs.remove(&key),
            };
        }
    }
    let own = Own { pod: &head.name, owner: head.owner.as_ref().map(|o| (&*o.name, &*o.uid)) };
    let kept: Vec<(&str, Cow<'_, str>)> = pairs.iter().map(|(k, v)| (&**k, kept(k, v, own))).collect();
    let marked = kept.iter().any(|(_, v)| matches!(value(v), Value::Own(_)));
    (pack(kept.iter().map(|(k, v)| (*k, &**v))), marked)
}

fn lossy(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    cut_cow(text(bytes))
}
