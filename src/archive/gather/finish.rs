//! Makes an archive of what was gathered: the last word on each object, in order, and what of it is complete.

use std::collections::BTreeSet;

use crate::model::{CoverageState, KINDS};

use super::super::kinds::{ArchivedKind, Defined, Held, describe};
use super::super::source::Source;
use super::super::{Archive, Change, Covered, Entry, StepEntry};
use super::{Gather, Moment, RawKind};

impl Gather {
    /// Sorts everything and makes the archive of it.
    pub(in super::super) fn into_archive(mut self, sources: Vec<Source>) -> Archive {
        self.note_coverage();
        let kinds = self.described(&sources);
        let position = |raw: &RawKind| kinds.iter().position(|kind| *kind.group == *raw.group && *kind.name == *raw.name).unwrap_or(0);
        let positions: Vec<u32> = self.kinds.iter().map(|raw| u32::try_from(position(raw)).unwrap_or(0)).collect();
        for (_, entry) in &mut self.all {
            entry.kind = positions[entry.kind as usize];
        }
        let steps = steps(&self.all);
        let (logs, entries): (Vec<Entry>, Vec<Entry>) =
            latest(self.all).into_iter().partition(|entry| kinds.get(entry.kind as usize).is_some_and(is_log));
        self.about.objects = entries.len();
        let ranges = (0..kinds.len()).map(|kind| range_of(&entries, kind)).collect();
        let newest_version = entries.iter().map(|entry| entry.version).max().unwrap_or(0).max(1);
        Archive { sources, kinds, ranges, entries, logs, steps, about: self.about, newest_version }
    }

    /// What holds one object in a namespace is complete there, unless its file knows better.
    fn note_coverage(&mut self) {
        let complete: BTreeSet<(u32, &str)> =
            self.all.iter().filter(|(_, entry)| !entry.is_sample).map(|(_, entry)| (entry.kind, &*entry.namespace)).collect();
        for (kind, namespace) in complete {
            let raw = &self.kinds[kind as usize];
            let namespace = Some(namespace).filter(|namespace| !namespace.is_empty()).map(str::to_owned);
            let covered = Covered { group: raw.group.clone(), kind: raw.name.clone(), namespace };
            self.about.coverage.entry(covered).or_insert(CoverageState::Synced);
        }
        let named: Vec<Covered> = self.about.coverage.keys().cloned().collect();
        for covered in named {
            let api_version = if covered.group.is_empty() { String::new() } else { format!("{}/", covered.group) };
            let id = self.id(&api_version, &covered.kind);
            let raw = &mut self.kinds[id as usize];
            raw.is_namespaced |= covered.namespace.is_some();
            raw.is_used = true;
        }
    }

    fn described(&mut self, sources: &[Source]) -> Vec<ArchivedKind> {
        let defined = self.defined(sources);
        let mut kinds: Vec<ArchivedKind> = self
            .kinds
            .iter_mut()
            .filter(|raw| raw.is_used)
            .map(|raw| {
                if raw.versions.is_empty() {
                    let row = KINDS.iter().find(|row| row.group == raw.group && row.name == raw.name);
                    raw.versions.insert(row.and_then(|row| row.versions.first()).unwrap_or(&"v1").to_string());
                }
                let held = if raw.is_namespaced { Held::InNamespaces } else { Held::AtTheTop };
                describe(&raw.group, &raw.name, &raw.versions, held, &defined)
            })
            .collect();
        kinds.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
        kinds
    }

    fn defined(&self, sources: &[Source]) -> Vec<Defined> {
        let id = self.ids.get(&("apiextensions.k8s.io".to_owned(), "CustomResourceDefinition".to_owned()));
        let entries = self.all.iter().filter(|(_, entry)| Some(&entry.kind) == id);
        entries
            .filter_map(|(_, entry)| {
                let source = sources.get(entry.span.source as usize)?;
                Defined::read(&source.bytes(entry.span).ok()?)
            })
            .collect()
    }
}

fn is_log(kind: &ArchivedKind) -> bool {
    &*kind.group == "holdup.dev" && &*kind.name == "Log"
}

fn steps(all: &[(Option<Moment>, Entry)]) -> Vec<StepEntry> {
    all.iter().filter_map(|(moment, entry)| moment.map(|Moment { at, change }| StepEntry { at, change, entry: entry.clone() })).collect()
}

/// The last word on each object, sorted: the last step of a recording, else the newest version.
fn latest(all: Vec<(Option<Moment>, Entry)>) -> Vec<Entry> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| key(&all[a].1).cmp(&key(&all[b].1)).then(a.cmp(&b)));
    let mut kept: Vec<usize> = Vec::with_capacity(order.len());
    for at in order {
        let (moment, entry) = &all[at];
        match kept.last().copied().filter(|&last| key(&all[last].1) == key(entry)) {
            Some(last) if moment.is_some() || entry.version >= all[last].1.version => {
                kept.pop();
                kept.push(at);
            }
            Some(_) => {}
            None => kept.push(at),
        }
    }
    let mut all: Vec<Option<(Option<Moment>, Entry)>> = all.into_iter().map(Some).collect();
    let entries = kept.into_iter().filter_map(|at| all[at].take());
    entries.filter(|(moment, _)| moment.is_none_or(|moment| moment.change != Change::Deleted)).map(|(_, entry)| entry).collect()
}

fn key(entry: &Entry) -> (u32, &str, &str) {
    (entry.kind, &entry.namespace, &entry.name)
}

fn range_of(entries: &[Entry], kind: usize) -> std::ops::Range<usize> {
    let start = entries.partition_point(|entry| (entry.kind as usize) < kind);
    start..entries.partition_point(|entry| entry.kind as usize <= kind)
}
