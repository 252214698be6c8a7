//! Reads the items of a list where they stand: each tells its own length, so that none is walked twice.

use super::json::value_end;
use super::split::{Chunk, Piece, Raw, Verb};
use crate::model::Batch;

/// The items of one page after another. What a piece ends within waits for the next.
#[derive(Debug, Default)]
pub struct Items {
    carry: Vec<u8>,
}

/// How a piece ended.
enum End {
    /// In the middle of the item that begins here.
    Within(usize),
    /// With the list itself, or at the end of the bytes.
    Whole,
}

impl Items {
    /// Adds the objects of the next piece.
    pub fn read(&mut self, piece: &Piece, batch: &mut Batch) {
        match piece {
            Piece::Chunk(chunk) => read_chunk(chunk, batch),
            Piece::Raw(raw) => self.read_raw(raw, batch),
        }
    }

    fn read_raw(&mut self, raw: &Raw, batch: &mut Batch) {
        if raw.is_first {
            self.carry.clear();
        }
        let mut joined = std::mem::take(&mut self.carry);
        let bytes = if joined.is_empty() {
            &raw.bytes
        } else {
            joined.extend_from_slice(&raw.bytes);
            &joined
        };
        match read_items(bytes, batch) {
            // The page promised to be whole: what is missing is missed.
            End::Within(_) if raw.is_last => batch.refuse(),
            End::Within(at) => self.carry = bytes[at..].to_vec(),
            End::Whole => {}
        }
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

fn read_items(bytes: &[u8], batch: &mut Batch) -> End {
    let mut at = 0;
    loop {
        let is_between = |byte: &&u8| **byte == b',' || byte.is_ascii_whitespace();
        at += bytes[at..].iter().take_while(is_between).count();
        let length = match bytes.get(at) {
            None | Some(b']') => return End::Whole,
            Some(b'{') => batch.upsert_first(&bytes[at..]),
            Some(_) => None,
        };
        if let Some(length) = length {
            at += length;
            continue;
        }
        // It is whole and yet no object: it is counted, and the next one has its turn.
        let Some(end) = value_end(bytes, at).filter(|end| *end > at) else { return End::Within(at) };
        batch.refuse();
        at = end;
    }
}
