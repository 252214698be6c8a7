//! Cuts the bytes of a list page into pieces as they arrive, with the page's `metadata` as soon as it can be read.
//!
//! API servers write `metadata` before `items`: then nothing more need be known, and the items are cut where they are read.
//! Only for a page that has it behind are the items walked here.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;

use super::json::{Members, Nesting, after_space};
use super::spares::Spares;

/// A part of a page, to be read in order.
#[derive(Debug)]
pub enum Piece {
    Chunks(Vec<Chunk>),
    Raw(Raw),
}

/// The items of a page as they stand in it, cut anywhere.
#[derive(Debug, Default)]
pub struct Raw {
    pub bytes: Bytes,
    pub is_first: bool,
    pub is_last: bool,
}

/// Bytes with the objects in them, in order. Any thread may read it.
#[derive(Debug, Default)]
pub struct Chunk {
    pub bytes: Bytes,
    pub items: Vec<Item>,
}

/// One object and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub verb: Verb,
    pub at: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It is there, like this.
    Put,
    /// It went; this is how it was.
    Gone,
}

impl Chunk {
    /// The objects in order.
    pub fn objects(&self) -> impl Iterator<Item = (Verb, &[u8])> {
        self.items.iter().map(|item| (item.verb, &self.bytes[item.at.clone()]))
    }
}

/// `metadata` of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Head {
    #[serde(deserialize_with = "or_default")]
    pub resource_version: String,
    /// The token with which the next page is asked for; empty on the last.
    #[serde(rename = "continue", deserialize_with = "or_default")]
    pub next: String,
    #[serde(deserialize_with = "or_default")]
    pub remaining_item_count: Option<u64>,
}

/// A page while it arrives. API servers write `metadata` before `items`; either order is understood.
#[derive(Debug, Default)]
pub struct Page {
    buffer: BytesMut,
    part: Part,
    /// Everything before this is done with.
    at: usize,
    items: Vec<Item>,
    head: Option<Head>,
    /// What stands around the items, for a page whose metadata comes last.
    around: Vec<u8>,
    /// How what was handed on last ended.
    end: Bytes,
    spares: Spares,
}

#[derive(Debug, Default)]
enum Part {
    #[default]
    Before,
    Between,
    Inside {
        from: usize,
        nesting: Nesting,
    },
    After,
    /// The items, as they come.
    Raw {
        is_first: bool,
    },
    /// Too much came without `items`: this is no list.
    Never,
}

/// Why a page is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPage {
    /// It ended inside an object.
    Partial,
    /// It has no `items`, or is no JSON object.
    NoList,
}

/// A page is handed on in pieces of this size: what is read is still in the processor's cache, and a list that the server does not
/// page stays small in memory.
const PIECE: usize = 512 << 10;

/// Room for a piece and what the network brings beyond it.
const ROOM: usize = PIECE + PORTION;

/// What comes at once is taken in portions of this size.
pub const PORTION: usize = 64 << 10;

/// What is larger is handed on as it comes: an item on either side that is cut costs less than to copy all of it.
const LARGE: usize = 32 << 10;

/// Lists that begin with less than this are rarely long.
const LITTLE: usize = 4 << 10;

/// Nothing longer than this stands before the items of a list.
const BEFORE: usize = 1 << 20;

impl Piece {
    /// Gives the buffer back when nobody reads it any more.
    pub fn give_to(self, spares: &Spares) {
        let chunks = match self {
            Self::Chunks(chunks) => chunks,
            Self::Raw(Raw { bytes, .. }) => return spares.give(bytes, ROOM),
        };
        chunks.into_iter().for_each(|chunk| spares.give(chunk.bytes, ROOM));
    }
}

impl Page {
    /// A page that is read into spare buffers.
    #[must_use]
    pub fn with(spares: Spares) -> Self {
        Self { spares, ..Self::default() }
    }

    /// Takes the next bytes and finds out what is whole by now. No more than 64 KiB at a time, with [`Page::take`] between them,
    /// lets the buffer stay as it is.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.buffer.capacity() == 0 && bytes.len() >= LITTLE {
            self.buffer = self.spares.take(ROOM);
        }
        self.buffer.extend_from_slice(bytes);
        while self.advance() {}
    }

    /// The page's metadata, once it has come.
    #[must_use]
    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// The items that have come, once they are worth handing on.
    pub fn take(&mut self) -> Option<Piece> {
        if self.buffer.len() < PIECE {
            return None;
        }
        match &mut self.part {
            Part::Raw { .. } => self.flush(),
            Part::Before | Part::Between | Part::Inside { .. } | Part::After | Part::Never => self.cut().map(chunk),
        }
    }

    /// Hands on what comes in one large piece without copying it, and before it what waits: `None` where it has to be pushed.
    pub fn pass(&mut self, bytes: &mut Bytes) -> Option<Piece> {
        if bytes.len() < LARGE {
            return None;
        }
        if !self.buffer.is_empty() {
            return self.flush();
        }
        let Part::Raw { is_first } = &mut self.part else { return None };
        let raw = Raw { bytes: std::mem::take(bytes), is_first: std::mem::replace(is_first, false), is_last: false };
        self.end = end(&raw.bytes);
        Some(Piece::Raw(raw))
    }

    /// All that waits, where items are handed on as they stand.
    fn flush(&mut self) -> Option<Piece> {
        let Part::Raw { is_first } = &mut self.part else { return None };
        let raw = Raw { bytes: self.buffer.split().freeze(), is_first: std::mem::replace(is_first, false), is_last: false };
        self.end = end(&raw.bytes);
        Some(Piece::Raw(raw))
    }

    /// The rest, and the metadata.
    ///
    /// # Errors
    /// The bytes ended too early, or are no list.
    pub fn finish(mut self) -> Result<(Head, Option<Piece>), NoPage> {
        match self.part {
            Part::Before | Part::Never => return Err(NoPage::NoList),
            Part::Between | Part::Inside { .. } => return Err(NoPage::Partial),
            Part::Raw { is_first } => return self.finish_raw(is_first),
            Part::After => {}
        }
        let rest = self.cut().map(chunk);
        let head = match self.head {
            Some(head) => head,
            None => {
                self.around.extend_from_slice(&self.buffer);
                whole_head(&self.around).ok_or(NoPage::Partial)?
            }
        };
        Ok((head, rest))
    }

    /// A connection that breaks says so; a page that ends without a word is recognised by its last brackets.
    fn finish_raw(self, is_first: bool) -> Result<(Head, Option<Piece>), NoPage> {
        let end = [self.end, end(&self.buffer)].concat();
        let is_whole = end.trim_ascii_end().strip_suffix(b"}").is_some_and(|end| end.trim_ascii_end().ends_with(b"]"));
        let raw = Raw { bytes: self.buffer.freeze(), is_first, is_last: true };
        if is_whole { Ok((self.head.unwrap_or_default(), Some(Piece::Raw(raw)))) } else { Err(NoPage::Partial) }
    }

    /// Takes off what stands before the cut; the rest has room for as much again.
    fn split(&mut self, at: usize) -> Bytes {
        let mut rest = self.spares.take(ROOM);
        rest.extend_from_slice(&self.buffer[at..]);
        self.buffer.truncate(at);
        std::mem::replace(&mut self.buffer, rest).freeze()
    }

    fn cut(&mut self) -> Option<Chunk> {
        let end = self.items.last()?.at.end;
        let bytes = self.split(end);
        self.at -= end;
        if let Part::Inside { from, .. } = &mut self.part {
            *from -= end;
        }
        Some(Chunk { bytes, items: std::mem::take(&mut self.items) })
    }

    /// True while something was understood and more may follow.
    fn advance(&mut self) -> bool {
        match &mut self.part {
            Part::Before => self.open(),
            Part::Between => self.step(),
            Part::Inside { from, nesting } => {
                let Some(length) = nesting.advance(&self.buffer[self.at..]) else {
                    self.at = self.buffer.len();
                    return false;
                };
                self.at += length;
                self.items.push(Item { verb: Verb::Put, at: *from..self.at });
                self.part = Part::Between;
                true
            }
            Part::After | Part::Raw { .. } => false,
            Part::Never => {
                self.buffer.clear();
                false
            }
        }
    }

    /// Walks the members before `items`.
    fn open(&mut self) -> bool {
        let Some(found) = before_items(&self.buffer) else {
            if self.buffer.len() > BEFORE {
                self.part = Part::Never;
            }
            return false;
        };
        let is_list = self.buffer[found.items] == b'[';
        self.part = match (is_list, &found.head) {
            (true, Some(_)) => Part::Raw { is_first: true },
            (true, None) => Part::Between,
            // A nil slice in Go is null: no items.
            (false, _) => Part::After,
        };
        self.head = found.head;
        let taken = found.items + usize::from(is_list);
        self.around = self.buffer[..taken].to_vec();
        self.buffer.copy_within(taken.., 0);
        self.buffer.truncate(self.buffer.len() - taken);
        self.at = 0;
        true
    }

    /// At the beginning of an item, a comma or the closing bracket.
    fn step(&mut self) -> bool {
        let Some(at) = after_space(&self.buffer, self.at) else {
            self.at = self.buffer.len();
            return false;
        };
        self.at = at;
        match self.buffer[at] {
            b',' => self.at += 1,
            b']' => self.part = Part::After,
            b'{' | b'[' => self.part = Part::Inside { from: at, nesting: Nesting::default() },
            _ => return self.scalar(at),
        }
        true
    }

    /// An item that is no object is handed on as it is: the reader counts it.
    fn scalar(&mut self, at: usize) -> bool {
        match super::json::value_end(&self.buffer, at) {
            Some(end) if end > at => {
                self.items.push(Item { verb: Verb::Put, at: at..end });
                self.at = end;
                true
            }
            // A stray bracket: what follows cannot be trusted.
            Some(_) | None => false,
        }
    }
}

fn chunk(chunk: Chunk) -> Piece {
    Piece::Chunks(vec![chunk])
}

/// The last brackets and what may stand around them.
fn end(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&bytes[bytes.len().saturating_sub(64)..])
}

struct Found {
    head: Option<Head>,
    /// Where the value of `items` begins.
    items: usize,
}

fn before_items(bytes: &[u8]) -> Option<Found> {
    let mut members = Members::new(bytes, 0)?;
    let mut head = None;
    loop {
        let (key, value) = members.key()?;
        if key == b"items" {
            // A null must be whole, lest it be mistaken.
            let is_list = bytes[value] == b'[';
            return (is_list || members.value().is_some()).then_some(Found { head, items: value });
        }
        let range = members.value()?;
        if key == b"metadata" {
            head = Some(serde_json::from_slice(&bytes[range]).unwrap_or_default());
        }
    }
}

/// The metadata of a page from which the items were taken out.
fn whole_head(bytes: &[u8]) -> Option<Head> {
    let mut members = Members::new(bytes, 0)?;
    let mut head = Head::default();
    while let Some((key, _)) = members.key() {
        let range = members.value()?;
        if key == b"metadata" {
            head = serde_json::from_slice(&bytes[range]).unwrap_or_default();
        }
    }
    Some(head)
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
