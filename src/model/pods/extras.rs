//! Extras: what is kept beside the rows of the few pods that are not simply plain, packed.

use crate::model::Time;
use crate::model::intern::push;

use super::arrival::Rest;
use super::chain::NONE;

/// Entries by number; a row holds its number, or none.
#[derive(Debug, Default)]
pub(super) struct Extras {
    slots: Vec<Option<Extra>>,
    free: Vec<u32>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// [`super::unusual::Restarted`].
    Restarted(Box<[u8]>),
    /// [`super::unusual::Unusual`].
    Unusual { deleted: Option<Time>, packed: Box<[u8]> },
}

impl Extras {
    pub(super) fn get(&self, at: u32) -> Option<&Extra> {
        self.slots.get(at as usize)?.as_ref()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// Keeps what is beside a row, if there is anything.
    pub(super) fn add(&mut self, rest: Rest) -> u32 {
        let Some(extra) = extra(rest) else { return NONE };
        match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = Some(extra);
                at
            }
            None => {
                push(&mut self.slots, Some(extra));
                self.slots.len() as u32 - 1
            }
        }
    }

    pub(super) fn remove(&mut self, at: u32) {
        if let Some(slot) = self.slots.get_mut(at as usize)
            && slot.take().is_some()
        {
            self.free.push(at);
        }
    }

    /// Whether an entry is what has just been read.
    pub(super) fn equals(&self, at: u32, rest: &Rest) -> bool {
        match (self.get(at), rest) {
            (None, Rest::Plain) => true,
            (Some(Extra::Restarted(a)), Rest::Restarted(b)) => a == b,
            (Some(Extra::Unusual { packed, .. }), Rest::Unusual(_, b)) => packed == b,
            (None, Rest::Restarted(_) | Rest::Unusual(..)) | (Some(_), Rest::Plain | Rest::Restarted(_) | Rest::Unusual(..)) => false,
        }
    }
}

fn extra(rest: Rest) -> Option<Extra> {
    match rest {
        Rest::Plain => None,
        Rest::Restarted(packed) => Some(Extra::Restarted(packed)),
        Rest::Unusual(deleted, packed) => Some(Extra::Unusual { deleted, packed }),
    }
}
