//! Clusters that are files: reads them, writes them, serves them as the read-only Kubernetes API, and holds the demo.
//!
//! An archive knows where in its files each object lies and hands over its bytes; it never keeps a parsed object, so a
//! must-gather or a recording of a gigabyte fits. One odd object never blinds the rest: what cannot be used is listed in
//! [`About::skipped`], with file and line.

mod about;
mod cursor;
mod demo;
mod error;
mod folder;
mod gather;
mod kinds;
mod load;
mod open;
mod play;
mod scan;
mod serve;
mod shift;
mod source;
mod write;
mod yaml;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

pub use about::{About, Covered, Skipped, Totals};
pub use error::ArchiveError;
pub use kinds::ArchivedKind;
use scan::At;
pub use serve::{ArchiveBody, ArchiveService, serve, served};
use source::{Source, Span};
pub use write::{Existing, Header, Writer};

use crate::model::Time;

/// What a user names with `--from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Path(PathBuf),
    /// `-`
    Stdin,
}

/// A cluster that lies in files.
pub struct Archive {
    sources: Vec<Source>,
    /// Sorted by group and kind; `entries` is sorted by kind, namespace and name.
    kinds: Vec<ArchivedKind>,
    ranges: Vec<Range<usize>>,
    entries: Vec<Entry>,
    logs: Vec<Entry>,
    steps: Vec<StepEntry>,
    about: About,
    newest_version: u64,
}

/// Where one object lies.
#[derive(Debug, Clone)]
struct Entry {
    kind: u32,
    namespace: Arc<str>,
    name: Box<str>,
    version: u64,
    span: Span,
    /// The list says what it is, the object itself does not.
    is_bare: bool,
    /// Its file says itself what is complete: that the object is there does not make its kind complete.
    is_sample: bool,
}

#[derive(Debug, Clone)]
struct StepEntry {
    at: Option<At>,
    change: Change,
    entry: Entry,
}

/// What a step of a recording does with its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Added,
    Modified,
    Deleted,
}

/// An object of an archive.
#[derive(Clone, Copy)]
pub struct Archived<'a> {
    archive: &'a Archive,
    entry: &'a Entry,
}

/// A step of a recording.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    pub at: Option<Time>,
    pub change: Change,
    pub object: Archived<'a>,
}

impl Archive {
    /// Opens everything the user named. Fails only where one of the inputs holds nothing that could be used.
    pub fn open(inputs: &[Input]) -> Result<Self, ArchiveError> {
        open::open(inputs)
    }

    /// Reads an archive from bytes in memory; `name` stands for the file in messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, ArchiveError> {
        open::from_bytes(name, bytes)
    }

    /// What the archive knows of itself.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The kinds of which it holds objects, or of which its files say something, by group and name.
    pub fn kinds(&self) -> &[ArchivedKind] {
        &self.kinds
    }

    /// The kind with this group and name.
    pub fn kind(&self, group: &str, name: &str) -> Option<&ArchivedKind> {
        let at = self.kinds.binary_search_by(|kind| (&*kind.group, &*kind.name).cmp(&(group, name))).ok()?;
        self.kinds.get(at)
    }

    /// The kind that the API serves under this group and plural.
    pub fn resource(&self, group: &str, plural: &str) -> Option<&ArchivedKind> {
        self.kinds.iter().find(|kind| *kind.group == *group && *kind.plural == *plural)
    }

    /// The objects of a kind, in one namespace or everywhere, by namespace and name. Of a recording: as they are at its end.
    pub fn objects(&self, kind: &ArchivedKind, namespace: Option<&str>) -> impl ExactSizeIterator<Item = Archived<'_>> + Clone {
        self.entries[self.range(kind, namespace)].iter().map(|entry| Archived { archive: self, entry })
    }

    /// One object.
    pub fn object(&self, kind: &ArchivedKind, namespace: &str, name: &str) -> Option<Archived<'_>> {
        let range = self.range(kind, Some(namespace));
        let entries = &self.entries[range];
        let at = entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        Some(Archived { archive: self, entry: &entries[at] })
    }

    /// The events of a recording, in their order; none in other archives.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step<'_>> {
        self.steps.iter().map(|step| Step {
            at: step.at.map(|at| at.time),
            change: step.change,
            object: Archived { archive: self, entry: &step.entry },
        })
    }

    /// The Log object of a container: `holdup.dev/v1 Log`, or what a dump holds of it.
    pub fn log(&self, namespace: &str, pod: &str, container: &str, previous: Previous) -> Option<Archived<'_>> {
        let at = self.log_at(namespace, &log_name(pod, container, previous))?;
        Some(Archived { archive: self, entry: &self.logs[at] })
    }

    fn log_at(&self, namespace: &str, name: &str) -> Option<usize> {
        self.logs.binary_search_by(|entry| (&*entry.namespace, &*entry.name).cmp(&(namespace, name))).ok()
    }

    /// Where a kind stands among the kinds.
    fn id(&self, kind: &ArchivedKind) -> Option<u32> {
        let at = self.kinds.binary_search_by(|other| (&other.group, &other.name).cmp(&(&kind.group, &kind.name))).ok()?;
        u32::try_from(at).ok()
    }

    /// Whether some object of this kind is in this namespace, at its end or at some time in a recording.
    fn holds(&self, kind: &ArchivedKind, namespace: Option<&str>) -> bool {
        let within = |entry: &Entry| namespace.is_none_or(|namespace| *entry.namespace == *namespace);
        let id = self.id(kind);
        !self.range(kind, namespace).is_empty() || self.steps.iter().any(|step| Some(step.entry.kind) == id && within(&step.entry))
    }

    /// The resourceVersion of the whole: that of its newest object.
    fn newest_version(&self) -> u64 {
        self.newest_version
    }

    fn range(&self, kind: &ArchivedKind, namespace: Option<&str>) -> Range<usize> {
        let Some(id) = self.id(kind) else { return 0..0 };
        let all = self.ranges[id as usize].clone();
        let Some(namespace) = namespace else { return all };
        let entries = &self.entries[all.clone()];
        let start = entries.partition_point(|entry| *entry.namespace < *namespace);
        let end = entries.partition_point(|entry| *entry.namespace <= *namespace);
        all.start + start..all.start + end
    }
}

/// Which run of a container a log belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Previous {
    No,
    Yes,
}

/// Logs share their pod's name; a slash is in no name.
fn log_name(pod: &str, container: &str, previous: Previous) -> String {
    match previous {
        Previous::No => format!("{pod}/{container}"),
        Previous::Yes => format!("{pod}/{container}/previous"),
    }
}

impl<'a> Archived<'a> {
    pub fn namespace(self) -> &'a str {
        &self.entry.namespace
    }

    pub fn name(self) -> &'a str {
        &self.entry.name
    }

    /// Its resourceVersion as a number, 0 where it has none.
    pub fn version(self) -> u64 {
        self.entry.version
    }

    /// The object as JSON; empty if its file can no longer be read.
    pub fn bytes(self) -> Vec<u8> {
        let bytes = self.raw_bytes();
        if !self.entry.is_bare {
            return bytes;
        }
        let Some(kind) = self.archive.kinds.get(self.entry.kind as usize) else { return bytes };
        named(kind, &bytes)
    }

    /// The bytes as they lie in the file; in a typed list they may lack kind and API version.
    fn raw_bytes(self) -> Vec<u8> {
        let span = self.entry.span;
        self.archive.sources.get(span.source as usize).and_then(|source| source.bytes(span).ok()).unwrap_or_default()
    }
}

/// The object with the kind and API version that its list gave it.
fn named(kind: &ArchivedKind, bytes: &[u8]) -> Vec<u8> {
    let fields = bytes.strip_prefix(b"{").unwrap_or(bytes);
    let comma = if fields.trim_ascii_start().starts_with(b"}") { "" } else { "," };
    let mut named = format!("{{\"kind\":\"{}\",\"apiVersion\":\"{}\"{comma}", kind.name, kind.api_version()).into_bytes();
    named.extend_from_slice(fields);
    named
}
