//! Batch: changes read from bytes, ready to be applied; made on any thread.

use super::pull::{Pull, api};
use super::read::Reader;
use super::{Kind, Object, Text, kinds::read_object};

/// One change of one object.
#[derive(Debug, Clone)]
pub enum Change {
    Upsert(Object),
    Delete(Identity),
}

/// Which object went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    pub namespace: Box<str>,
    pub name: Box<str>,
}

/// Changes of one kind in order.
#[derive(Debug)]
pub struct Batch {
    kind: Kind,
    changes: Vec<Change>,
    refused: usize,
}

impl Batch {
    pub fn new(kind: Kind) -> Self {
        Self { kind, changes: Vec::new(), refused: 0 }
    }

    /// Reads one object as JSON and adds it. Bytes that are no object are counted, never an error.
    pub fn upsert(&mut self, json: &[u8]) {
        match read_object(self.kind, json) {
            Some(object) => self.changes.push(Change::Upsert(object)),
            None => self.refused += 1,
        }
    }

    /// Notes that the object in these bytes (as in a DELETED watch event) went.
    pub fn delete(&mut self, json: &[u8]) {
        match identity(json) {
            Some(gone) => self.changes.push(Change::Delete(gone)),
            None => self.refused += 1,
        }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Objects that could not be read at all.
    pub fn refused(&self) -> usize {
        self.refused
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }
}

/// Which object the bytes speak of. A DELETED event may hold an object that is not read otherwise.
fn identity(json: &[u8]) -> Option<Identity> {
    let mut r = Reader::new(json);
    let gone = Gone::pull(&mut r).filter(|_| r.is_sound())?.metadata;
    (!gone.name.is_empty()).then_some(Identity { namespace: gone.namespace, name: gone.name })
}

api! {
    pub struct Gone {
        metadata: GoneMeta,
    }

    pub struct GoneMeta {
        name: Text,
        namespace: Text,
    }
}
