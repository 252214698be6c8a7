//! Collects what the files hold and puts it in order: kinds, objects, steps, coverage.

mod finish;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

use crate::model::{CoverageState, KINDS, Time, nesting};

use super::scan::{At, Found, Head, Piece};
use super::source::Span;
use super::{About, Change, Covered, Entry, Previous, log_name};

/// How many reasons for skipping are kept; the rest is counted.
const REASONS: usize = 1000;

#[derive(Default)]
pub(super) struct Gather {
    kinds: Vec<RawKind>,
    ids: HashMap<(String, String), u32>,
    namespaces: HashSet<Arc<str>>,
    /// Objects of lists that are not complete yet.
    open: Vec<(usize, Entry)>,
    all: Vec<(Option<Moment>, Entry)>,
    about: About,
    /// Things to say about the stretch that is being read, with the place where they begin.
    odd: Vec<(u64, String)>,
    /// Logs that were found as text and wait to be written as Log objects.
    pub logs: Vec<TextLog>,
    /// Objects and lists found so far.
    pub found: usize,
    /// The namespace that the folder of the file stands for.
    pub folder: Option<String>,
}

#[derive(Default)]
struct RawKind {
    group: String,
    name: String,
    versions: BTreeSet<String>,
    is_namespaced: bool,
    /// Some object or some coverage is of this kind.
    is_used: bool,
}

#[derive(Debug, Clone, Copy)]
struct Moment {
    at: Option<At>,
    change: Change,
}

/// A log as a dump holds it.
pub(super) struct TextLog {
    pub namespace: String,
    pub pod: String,
    pub container: String,
    pub previous: Previous,
    pub lines: Vec<String>,
}

/// What stands for a kind that only the list around it can name.
const UNNAMED: u32 = u32::MAX;

impl Gather {
    pub(super) fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Object(found) => self.object(found),
            Piece::List { head, objects, depth } => self.list(&head, objects, depth),
            Piece::Step { what, at, object } => self.step(&what, at, object),
            Piece::Log { place, lines } => self.log(&place, lines),
            Piece::Odd { start, why } => self.odd.push((start, why)),
        }
    }

    /// Ends a stretch: what is still open there belongs to lists that were never closed. Gives what was odd in it.
    pub(super) fn finish_stretch(&mut self) -> Vec<(u64, String)> {
        self.settle(&Head::default(), 0);
        std::mem::take(&mut self.odd)
    }

    /// Why the first part of a file could not be used.
    pub(super) fn first_skipped(&self, file: &str) -> Option<String> {
        let skipped = self.about.skipped.iter().find(|skipped| skipped.file == file)?;
        Some(format!("line {} {}", skipped.line, skipped.why))
    }

    pub(super) fn skip(&mut self, file: &str, line: u64, why: String) {
        self.about.skipped_count += 1;
        if self.about.skipped.len() < REASONS {
            self.about.skipped.push(super::Skipped { file: file.to_owned(), line, why });
        }
    }

    fn object(&mut self, found: Found) {
        let Found { span, head, depth } = found;
        // What was taken for a list's items was part of this object.
        while self.open.last().is_some_and(|(inner, _)| *inner > depth) {
            self.open.pop();
        }
        self.about.newest = self.about.newest.max(head.newest);
        match self.entry(span, head) {
            Ok(entry) => self.open.push((depth, entry)),
            Err(why) => self.odd.push((span.start, why)),
        }
        if depth == 0 {
            self.settle(&Head::default(), 0);
        }
    }

    fn list(&mut self, head: &Head, objects: usize, depth: usize) {
        self.found += 1;
        if objects == 0 {
            self.empty_list(head);
        }
        let is_sample = self.header(head);
        for (inner, entry) in self.open.iter_mut().rev() {
            if *inner <= depth {
                break;
            }
            entry.is_sample |= is_sample;
        }
        if depth == 0 {
            self.settle(head, 1);
        } else {
            self.name_items(head, depth + 1);
        }
    }

    /// Gives the objects of this list, from this depth on, the kind that it stands for.
    fn name_items(&mut self, list: &Head, depth: usize) {
        let Some(kind) = list.kind.strip_suffix("List").filter(|kind| !kind.is_empty()) else { return };
        let id = self.id(&list.api_version, kind);
        for (inner, entry) in self.open.iter_mut().rev() {
            if *inner < depth {
                break;
            }
            if entry.kind == UNNAMED {
                entry.kind = id;
            }
        }
    }

    fn settle(&mut self, list: &Head, depth: usize) {
        self.name_items(list, depth);
        for (_, entry) in std::mem::take(&mut self.open) {
            if entry.kind == UNNAMED {
                self.odd.push((entry.span.start, format!("has no kind (its name is {})", entry.name)));
            } else {
                self.keep(None, entry);
            }
        }
    }

    fn keep(&mut self, moment: Option<Moment>, entry: Entry) {
        self.found += 1;
        let raw = &mut self.kinds[entry.kind as usize];
        raw.is_namespaced |= !entry.namespace.is_empty();
        raw.is_used = true;
        self.all.push((moment, entry));
    }

    fn step(&mut self, what: &str, at: Option<At>, object: Found) {
        let Found { span, head, .. } = object;
        self.about.captured_at = self.about.captured_at.max(at.map(|at| at.time));
        let change = match what {
            "ADDED" => Change::Added,
            "MODIFIED" => Change::Modified,
            "DELETED" => Change::Deleted,
            _ => {
                self.header(&head);
                return;
            }
        };
        self.about.newest = self.about.newest.max(head.newest);
        match self.entry(span, head) {
            Ok(entry) if entry.kind != UNNAMED => self.keep(Some(Moment { at, change }), entry),
            Ok(entry) => self.odd.push((span.start, format!("has no kind (its name is {})", entry.name))),
            Err(why) => self.odd.push((span.start, why)),
        }
    }

    fn entry(&mut self, span: Span, head: Head) -> Result<Entry, String> {
        if head.name.is_empty() {
            let what = if head.kind.is_empty() { "an object" } else { &head.kind };
            return Err(format!("{what} has no name"));
        }
        if head.levels > nesting::DEEPEST {
            return Err(format!("{} {} {}", head.kind, head.name, nesting::TOO_DEEP));
        }
        let is_bare = head.kind.is_empty();
        let kind = if is_bare { UNNAMED } else { self.id(&head.api_version, &head.kind) };
        let is_log = head.kind == "Log" && head.api_version.starts_with("holdup.dev/");
        let previous = if head.previous { Previous::Yes } else { Previous::No };
        let name = if is_log { log_name(&head.name, &head.container, previous) } else { head.name };
        let namespace = self.namespace(&head.namespace);
        Ok(Entry { kind, namespace, name: name.into(), version: head.version, span, is_bare, is_sample: false })
    }

    fn namespace(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.namespaces.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.namespaces.insert(Arc::clone(&new));
        new
    }

    /// Events are one store under two names; they are served under the older one.
    fn id(&mut self, api_version: &str, kind: &str) -> u32 {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let group = if group == "events.k8s.io" { "" } else { group };
        let last = self.kinds.len();
        let id = *self.ids.entry((group.to_owned(), kind.to_owned())).or_insert_with(|| {
            self.kinds.push(RawKind { group: group.to_owned(), name: kind.to_owned(), ..RawKind::default() });
            u32::try_from(last).unwrap_or(UNNAMED)
        });
        let versions = &mut self.kinds[id as usize].versions;
        if !version.is_empty() && !versions.contains(version) {
            versions.insert(version.to_owned());
        }
        id
    }

    /// Takes what the head of a list or the mark of a recording says; whether it says what is complete.
    fn header(&mut self, head: &Head) -> bool {
        let mut says_what_is_complete = false;
        for (key, value) in &head.notes {
            match key.as_str() {
                "captured-at" => self.about.captured_at = self.about.captured_at.max(Time::parse(value)),
                "context" => self.about.context = Some(value.clone()),
                "version" => self.about.version = Some(value.clone()),
                "tags" => self.about.tags = Some(value.clone()),
                "totals" => self.about.totals = serde_json::from_str(value).ok(),
                "gone" => self.about.gone.extend(serde_json::from_str::<Vec<String>>(value).unwrap_or_default()),
                "coverage" => {
                    says_what_is_complete = true;
                    self.cover(value);
                }
                _ => {}
            }
        }
        says_what_is_complete
    }

    fn cover(&mut self, json: &str) {
        for line in serde_json::from_str::<Vec<CoverageLine>>(json).unwrap_or_default() {
            let (group, kind) = group_and_kind(&line.kind);
            let covered = Covered { group, kind, namespace: line.namespace };
            let message = line.message.unwrap_or_default();
            let since = line.since.and_then(|since| Time::parse(&since));
            let state = match line.state.as_str() {
                "synced" => CoverageState::Synced,
                "denied" => CoverageState::Denied { message, since },
                "stale" => CoverageState::Stale { message, since },
                "absent" => CoverageState::Absent { message },
                _ => CoverageState::Stale { message: "was still loading when this was written".to_owned(), since },
            };
            self.about.coverage.insert(covered, state);
        }
    }

    /// A dump writes a file for each kind and namespace: an empty one says that there is nothing.
    fn empty_list(&mut self, head: &Head) {
        let Some(namespace) = self.folder.clone() else { return };
        let Some(kind) = head.kind.strip_suffix("List").filter(|kind| !kind.is_empty()) else { return };
        let id = self.id(&head.api_version, kind);
        let raw = &self.kinds[id as usize];
        let covered = Covered { group: raw.group.clone(), kind: raw.name.clone(), namespace: Some(namespace) };
        self.about.coverage.insert(covered, CoverageState::Synced);
    }

    /// `web of pod shop/cart-x2x7k`
    fn log(&mut self, place: &str, lines: Vec<String>) {
        let Some((container, pod)) = place.split_once(" of pod ") else { return };
        let Some((namespace, pod)) = pod.split_once('/') else { return };
        let owned = str::to_owned;
        self.logs.push(TextLog {
            namespace: owned(namespace),
            pod: owned(pod),
            container: owned(container),
            previous: Previous::No,
            lines,
        });
        self.found += 1;
    }
}

/// A line of `holdup.dev/coverage`.
#[derive(Deserialize)]
struct CoverageLine {
    kind: String,
    state: String,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    since: Option<String>,
}

/// `Certificate.cert-manager.io`, or a kind of Kubernetes' own without its group.
fn group_and_kind(text: &str) -> (String, String) {
    match text.split_once('.') {
        Some((kind, group)) => (group.to_owned(), kind.to_owned()),
        None => (KINDS.iter().find(|row| row.name == text).map_or("", |row| row.group).to_owned(), text.to_owned()),
    }
}
