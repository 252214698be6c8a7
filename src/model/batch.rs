//! Batch: changes read from bytes, ready to be applied; made on any thread.

use serde::Deserialize;

use super::{Kind, Object, kinds::read_object, meta::or_default};

/// One change of one object.
#[derive(Debug, Clone)]
pub enum Change {
    Upsert(Kind, Object),
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
            Some((kind, object)) => self.changes.push(Change::Upsert(kind, object)),
            None => self.refused += 1,
        }
    }

    /// Notes that the object in these bytes (as in a DELETED watch event) went.
    pub fn delete(&mut self, json: &[u8]) {
        match serde_json::from_slice::<Gone>(json) {
            Ok(gone) => self.changes.push(Change::Delete(Identity { namespace: gone.metadata.namespace, name: gone.metadata.name })),
            Err(_) => self.refused += 1,
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

#[derive(Deserialize, Default)]
#[serde(default)]
struct Gone {
    #[serde(deserialize_with = "or_default")]
    metadata: GoneMeta,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GoneMeta {
    #[serde(deserialize_with = "or_default")]
    name: Box<str>,
    #[serde(deserialize_with = "or_default")]
    namespace: Box<str>,
}
