//! Spares: buffers that have been read, to be filled again. A list of a large cluster goes through a handful of them, whose memory
//! processor and kernel know already, instead of asking for new memory thousands of times.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};

/// Shared by those that fill and those that read.
#[derive(Clone, Debug, Default)]
pub struct Spares(Arc<Mutex<Vec<BytesMut>>>);

/// As many as are on their way at a time when four lists are read; more are let go.
const MOST: usize = 4;

impl Spares {
    /// An empty buffer with at least this much room.
    pub fn take(&self, room: usize) -> BytesMut {
        let mut buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        buffer.reserve(room);
        buffer
    }

    /// Hands back what was read; kept if nobody else reads it and it has this room and not much more.
    pub fn give(&self, read: Bytes, room: usize) {
        let Ok(mut buffer) = read.try_into_mut() else { return };
        let mut spares = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len() < MOST && (room..=room * 2).contains(&buffer.capacity()) {
            buffer.clear();
            spares.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back_empty_and_only_in_its_size() {
        let spares = Spares::default();
        for (room, kept) in [(10, false), (200, true), (900, false)] {
            spares.give(Bytes::from(BytesMut::from_iter(b"read".iter().cycle().take(room))), 150);
            assert_eq!(spares.0.lock().unwrap_or_else(PoisonError::into_inner).len(), usize::from(kept), "{room}");
            let taken = spares.take(150);
            assert!(taken.is_empty() && taken.capacity() >= 150);
        }
    }
}
