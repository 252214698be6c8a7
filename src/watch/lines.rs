//! Cuts the bytes of a watch into its events, wherever the pieces begin and end.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;

use super::error::Status;
use super::json::{Members, member};
use super::split::{Chunk, Item, Verb};

/// The bytes of a watch while they arrive.
#[derive(Debug)]
pub struct Lines {
    /// A line that is not whole.
    rest: BytesMut,
    longest: usize,
    skipping: bool,
}

/// What lines say.
#[derive(Debug, Default)]
pub struct Heard {
    /// The objects that changed; empty when there were none.
    pub chunks: Vec<Chunk>,
    pub bookmark: Option<Bookmark>,
    /// The version of a bookmark after the newest event.
    marked: Option<String>,
    /// The server ended the watch with this.
    pub error: Option<Status>,
    /// Lines that were too long or no events.
    pub skipped: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bookmark {
    Plain,
    /// All that was there when the watch began has been sent.
    InitialEnd,
}

/// A line may be this long; etcd keeps objects below 1.5 MB, aggregated API servers have their own ideas.
const LONGEST: usize = 8 << 20;

impl Default for Lines {
    fn default() -> Self {
        Self::with_longest(LONGEST)
    }
}

impl Lines {
    /// Lines longer than this are left out.
    #[must_use]
    pub fn with_longest(longest: usize) -> Self {
        Self { rest: BytesMut::new(), longest, skipping: false }
    }

    /// Hears what the next bytes say, which are not copied but for a line that began before them or is not whole. Such a line waits for
    /// its end, and is dropped if that never comes. Nothing is heard behind an error.
    pub fn hear(&mut self, bytes: &Bytes, heard: &mut Heard) {
        let start = if self.skipping || !self.rest.is_empty() { after_line(bytes) } else { 0 };
        self.keep(&bytes[..start], heard);
        if self.rest.ends_with(b"\n") {
            heard.lines(self.rest.split().freeze(), self.longest);
        }
        let end = memchr::memrchr(b'\n', &bytes[start..]).map_or(start, |end| start + end + 1);
        heard.lines(bytes.slice(start..end), self.longest);
        self.keep(&bytes[end..], heard);
    }

    /// More of one line, or its end.
    fn keep(&mut self, bytes: &[u8], heard: &mut Heard) {
        if self.skipping {
            self.skipping = !bytes.ends_with(b"\n");
            return;
        }
        self.rest.extend_from_slice(bytes);
        if self.rest.len() > self.longest && !self.rest.ends_with(b"\n") {
            self.rest = BytesMut::new();
            self.skipping = true;
            heard.skipped += 1;
        }
    }
}

/// Behind the end of the first line, or of all where it has none.
fn after_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
}

impl Heard {
    /// The objects that changed, in order.
    pub fn objects(&self) -> impl Iterator<Item = (Verb, &[u8])> {
        self.chunks.iter().flat_map(Chunk::objects)
    }

    /// The version after the newest event or bookmark.
    pub fn version(&self) -> Option<String> {
        self.marked.clone().or_else(|| version(self.chunks.last()?.objects().last()?.1))
    }

    /// Reads whole lines.
    fn lines(&mut self, bytes: Bytes, longest: usize) {
        let (mut items, mut from) = (Vec::new(), 0);
        for end in memchr::memchr_iter(b'\n', &bytes) {
            let line = from..end;
            from = end + 1;
            if self.error.is_some() {
                break;
            }
            if line.len() > longest {
                self.skipped += 1;
            } else if !bytes[line.clone()].trim_ascii().is_empty() {
                items.extend(self.read(&bytes, line));
            }
        }
        if !items.is_empty() {
            self.chunks.push(Chunk { bytes, items });
        }
    }

    /// The object of an event, if it is about one.
    fn read(&mut self, bytes: &[u8], line: Range<usize>) -> Option<Item> {
        let (kind, object) = event(bytes, line).unwrap_or_default();
        let verb = match kind {
            b"ADDED" | b"MODIFIED" => Verb::Put,
            b"DELETED" => Verb::Gone,
            b"BOOKMARK" => {
                self.mark(&bytes[object]);
                return None;
            }
            b"ERROR" => {
                self.error = Some(status(&bytes[object]));
                return None;
            }
            _ => {
                self.skipped += 1;
                return None;
            }
        };
        // The version of an earlier bookmark in this piece is overtaken by this event.
        self.marked = None;
        Some(Item { verb, at: object })
    }

    fn mark(&mut self, object: &[u8]) {
        let bookmark: Marked = serde_json::from_slice(object).unwrap_or_default();
        let annotations = bookmark.metadata.annotations.unwrap_or_default();
        let is_end = annotations.get("k8s.io/initial-events-end").is_some_and(|end| end == "true");
        self.marked = Some(bookmark.metadata.resource_version).filter(|version| !version.is_empty());
        if is_end || self.bookmark.is_none() {
            self.bookmark = Some(if is_end { Bookmark::InitialEnd } else { Bookmark::Plain });
        }
    }
}

/// Type and object of an event. Go writes the type first; any order is understood.
fn event(bytes: &[u8], line: Range<usize>) -> Option<(&[u8], Range<usize>)> {
    let text = &bytes[line.clone()];
    let mut members = Members::new(text, 0)?;
    let (mut kind, mut object) = (None, None);
    while kind.is_none() || object.is_none() {
        let (key, at) = members.key()?;
        let is_last = kind.is_some() && key == b"object";
        // What follows the type is the object up to the closing brace: it need not be walked.
        let closed = text.trim_ascii_end();
        if is_last && closed.ends_with(b"}") && closed.len() > at + 1 {
            object = Some(at..closed.len() - 1);
            break;
        }
        let value = members.value()?;
        match key {
            b"type" => kind = text.get(value.start + 1..value.end.saturating_sub(1)),
            b"object" => object = Some(value),
            _ => {}
        }
    }
    let object = object?;
    Some((kind?, line.start + object.start..line.start + object.end))
}

/// `metadata.resourceVersion` of an object.
pub(super) fn version(object: &[u8]) -> Option<String> {
    let version = member(member(object, b"metadata")?, b"resourceVersion")?;
    serde_json::from_slice(version).ok()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Marked {
    metadata: MarkedMeta,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MarkedMeta {
    resource_version: String,
    annotations: Option<std::collections::BTreeMap<String, String>>,
}

/// The Status in an ERROR event.
fn status(object: &[u8]) -> Status {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Told {
        code: Option<u16>,
        reason: Option<String>,
        message: Option<String>,
    }
    let told: Told = serde_json::from_slice(object).unwrap_or_default();
    Status {
        code: told.code.unwrap_or(500),
        reason: told.reason.unwrap_or_default(),
        message: told.message.unwrap_or_default(),
        retry_after: None,
    }
}
