//! Cuts the bytes of a watch into its events, wherever the pieces begin and end.

use std::ops::Range;

use serde::Deserialize;

use super::error::Status;
use super::json::{Members, member};
use super::split::{Chunk, Item, Verb};

/// The bytes of a watch while they arrive.
#[derive(Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    longest: usize,
    skipping: bool,
    skipped: usize,
}

/// What the lines of one piece say.
#[derive(Debug, Default)]
pub struct Heard {
    /// The objects that changed; empty when there were none.
    pub chunk: Chunk,
    /// The version after the newest event or bookmark.
    pub version: Option<String>,
    pub bookmark: Option<Bookmark>,
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

/// More than a change of a few objects.
const MUCH: usize = 128 << 10;

impl Default for Lines {
    fn default() -> Self {
        Self::with_longest(LONGEST)
    }
}

impl Lines {
    /// Lines longer than this are left out.
    #[must_use]
    pub fn with_longest(longest: usize) -> Self {
        Self { buffer: Vec::new(), longest, skipping: false, skipped: 0 }
    }

    /// Takes the next bytes; a line that is not whole waits for its end, and is dropped if that never comes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.skipping {
            let Some(end) = memchr::memchr(b'\n', bytes) else {
                return;
            };
            self.skipping = false;
            bytes = &bytes[end + 1..];
        }
        self.buffer.extend_from_slice(bytes);
        let partial = self.buffer.len() - self.whole();
        if partial > self.longest {
            self.buffer.truncate(self.buffer.len() - partial);
            self.skipped += 1;
            self.skipping = true;
        }
    }

    /// How many bytes wait to be taken.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.buffer.len()
    }

    /// What the whole lines say. Reading stops at an error: nothing follows it.
    pub fn take(&mut self) -> Heard {
        let whole = self.whole();
        // While much comes, as much comes again.
        let mut rest = Vec::with_capacity(if whole < MUCH { 0 } else { self.buffer.capacity() });
        rest.extend_from_slice(&self.buffer[whole..]);
        self.buffer.truncate(whole);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let mut heard = Heard { skipped: std::mem::take(&mut self.skipped), ..Heard::default() };
        let mut from = 0;
        for end in memchr::memchr_iter(b'\n', &bytes) {
            let line = from..end;
            from = end + 1;
            if line.len() > self.longest {
                heard.skipped += 1;
            } else if !bytes[line.clone()].trim_ascii().is_empty() {
                heard.read(&bytes, line);
            }
            if heard.error.is_some() {
                break;
            }
        }
        if let Some(item) = heard.chunk.items.last()
            && heard.version.is_none()
        {
            heard.version = version(&bytes[item.at.clone()]);
        }
        heard.chunk.bytes = bytes;
        heard
    }

    fn whole(&self) -> usize {
        memchr::memrchr(b'\n', &self.buffer).map_or(0, |end| end + 1)
    }
}

impl Heard {
    fn read(&mut self, bytes: &[u8], line: Range<usize>) {
        let Some((kind, object)) = event(bytes, line) else {
            self.skipped += 1;
            return;
        };
        let verb = match kind {
            b"ADDED" | b"MODIFIED" => Verb::Put,
            b"DELETED" => Verb::Gone,
            b"BOOKMARK" => return self.mark(&bytes[object]),
            b"ERROR" => {
                self.error = Some(status(&bytes[object]));
                return;
            }
            _ => {
                self.skipped += 1;
                return;
            }
        };
        // The version of an earlier bookmark in this piece is overtaken by this event.
        self.version = None;
        self.chunk.items.push(Item { verb, at: object });
    }

    fn mark(&mut self, object: &[u8]) {
        let bookmark: Marked = serde_json::from_slice(object).unwrap_or_default();
        let annotations = bookmark.metadata.annotations.unwrap_or_default();
        let is_end = annotations.get("k8s.io/initial-events-end").is_some_and(|end| end == "true");
        self.version = Some(bookmark.metadata.resource_version).filter(|version| !version.is_empty());
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
