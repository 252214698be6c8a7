//! Reads the items of a list where they stand: each tells its own length, so that none is walked twice.

use super::json::value_end;
use super::split::{Chunk, Piece, Raw, Verb};
use crate::model::Batch;

/// The items of one page after another. What a piece ends within waits for the next.
#[derive(Debug, Default)]
pub struct Items {
    carry: Vec<u8>,
    /// The end of an item and how the next begins, as the first one did.
    seam: Vec<u8>,
    /// What follows are brackets.
    has_ended: bool,
}

/// What stands at a place in a piece.
enum Next {
    /// An item that ends here.
    Item(usize),
    /// The beginning of one.
    Within(usize),
    /// Nothing more in these bytes.
    Nothing,
    /// The end of the list.
    End,
}

/// So much is tried first for the rest of an item where the next one cannot be found: most are shorter.
const REST: usize = 16 << 10;

impl Items {
    /// Adds the objects of the next piece.
    pub fn read(&mut self, piece: &Piece, batch: &mut Batch) {
        match piece {
            Piece::Chunks(chunks) => chunks.iter().for_each(|chunk| read_chunk(chunk, batch)),
            Piece::Raw(raw) => self.read_raw(raw, batch),
        }
    }

    fn read_raw(&mut self, raw: &Raw, batch: &mut Batch) {
        if raw.is_first {
            *self = Self { seam: seam(&raw.bytes), ..Self::default() };
        }
        if let Some(rest) = self.complete(&raw.bytes, batch) {
            // It is cut where very likely an item begins: one that is read in vain is dear. Wherever that is, nothing is lost.
            let cut = memchr::memmem::rfind(rest, &self.seam).filter(|_| !raw.is_last).map_or(rest.len(), |at| at + 1);
            match read_items(&rest[..cut], batch) {
                Some(read) => self.carry.extend_from_slice(&rest[read..]),
                None => self.has_ended = true,
            }
        }
        if raw.is_last && !std::mem::take(&mut self.carry).is_empty() {
            // The page promised to be whole: what is missing is missed.
            batch.refuse();
        }
    }

    /// Reads what waits with as much of the next piece as it needs, and gives what follows; `None` where nothing is left to read.
    fn complete<'a>(&mut self, bytes: &'a [u8], batch: &mut Batch) -> Option<&'a [u8]> {
        let waited = self.carry.len();
        let (mut at, mut taken) = (0, if waited == 0 { 0 } else { self.rest_of_item(bytes) });
        // What waits is rarely whole: alone it would be read in vain.
        self.carry.extend_from_slice(&bytes[..taken]);
        while at < waited {
            match next(&self.carry, at, batch) {
                Next::Item(end) => at = end,
                Next::Nothing => at = waited + taken,
                Next::End => {
                    self.has_ended = true;
                    break;
                }
                Next::Within(from) if taken == bytes.len() => {
                    self.carry.drain(..from);
                    return None;
                }
                Next::Within(_) => {
                    let more = bytes.len().min(2 * taken);
                    self.carry.extend_from_slice(&bytes[taken..more]);
                    taken = more;
                }
            }
        }
        self.carry.clear();
        if self.has_ended { None } else { Some(&bytes[at - waited..]) }
    }

    /// How much of a piece very likely ends the item that the one before it began.
    fn rest_of_item(&self, bytes: &[u8]) -> usize {
        let most = bytes.len().min(REST);
        memchr::memmem::find(&bytes[..most], &self.seam).map_or(most, |at| at + 1)
    }
}

fn read_chunk(chunk: &Chunk, batch: &mut Batch) {
    for (verb, object) in chunk.objects() {
        match verb {
            Verb::Put => batch.upsert(object),
            Verb::Gone => batch.delete(object),
        }
    }
}

/// Reads whole items, and gives where the one begins that is not; `None` where the list ended.
fn read_items(bytes: &[u8], batch: &mut Batch) -> Option<usize> {
    let mut at = 0;
    loop {
        match next(bytes, at, batch) {
            Next::Item(end) => at = end,
            Next::Within(from) => return Some(from),
            Next::Nothing => return Some(bytes.len()),
            Next::End => return None,
        }
    }
}

fn next(bytes: &[u8], at: usize, batch: &mut Batch) -> Next {
    let is_between = |byte: &&u8| **byte == b',' || byte.is_ascii_whitespace();
    let at = at + bytes[at..].iter().take_while(is_between).count();
    let length = match bytes.get(at) {
        None => return Next::Nothing,
        Some(b']') => return Next::End,
        Some(b'{') => batch.upsert_first(&bytes[at..]),
        Some(_) => None,
    };
    if let Some(length) = length {
        return Next::Item(at + length);
    }
    // It is whole and yet no object: it is counted, and the next one has its turn.
    let Some(end) = value_end(bytes, at).filter(|end| *end > at) else { return Next::Within(at) };
    batch.refuse();
    Next::Item(end)
}

/// A closing brace, a comma, and the first bytes of a page.
fn seam(items: &[u8]) -> Vec<u8> {
    /// `{"metadata":` or `{"apiVersion`, where what is nested begins otherwise more often than not.
    const BEGIN: usize = 12;
    let items = items.trim_ascii_start();
    [b"},", &items[..items.len().min(BEGIN)]].concat()
}
