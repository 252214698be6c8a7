//! Batch: changes read from bytes, ready to be applied; made on any thread.

use super::pods::{Arrivals, Dictionary, read, read_first};
use super::pull::{Pull, api};
use super::read::Reader;
use super::{
    Kind, Object, Text,
    kinds::{read_first_object, read_object},
};

/// One change of one object.
#[derive(Debug)]
pub(super) enum Change {
    /// The next of the batch's pods.
    Pod,
    Upsert(Object),
    Delete(Identity),
}

/// Which object went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    pub namespace: Text,
    pub name: Text,
}

/// Changes of one kind in order.
#[derive(Debug)]
pub struct Batch {
    kind: Kind,
    changes: Vec<Change>,
    pods: Arrivals,
    dictionary: Dictionary,
    refused: usize,
}

impl Batch {
    pub fn new(kind: Kind) -> Self {
        Self::with(kind, Dictionary::default())
    }

    fn with(kind: Kind, mut dictionary: Dictionary) -> Self {
        dictionary.begin();
        Self { kind, changes: Vec::new(), pods: Arrivals::default(), dictionary, refused: 0 }
    }

    /// What was read so far, to be applied; this batch goes on empty. It remembers what pods share, so that a feed that keeps one batch
    /// recognises pods instead of parsing them.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let dictionary = std::mem::take(&mut self.dictionary);
        std::mem::replace(self, Self::with(self.kind, dictionary))
    }

    /// Reads one object as JSON and adds it. Bytes that are no object are counted, never an error.
    pub fn upsert(&mut self, json: &[u8]) {
        let change = if self.kind == Kind::Pod {
            read(json, &mut self.dictionary, &mut self.pods).then_some(Change::Pod)
        } else {
            read_object(self.kind, json).map(Change::Upsert)
        };
        self.refused += usize::from(change.is_none());
        self.changes.extend(change);
    }

    /// Reads the object that these bytes begin with and adds it; answers how long it is. So the items of a list need not be found
    /// before they are read. `None` when its end is not among the bytes or it is no JSON: then nothing was added.
    pub fn upsert_first(&mut self, bytes: &[u8]) -> Option<usize> {
        let (length, change) = if self.kind == Kind::Pod {
            let (length, is_pod) = read_first(bytes, &mut self.dictionary, &mut self.pods)?;
            (length, is_pod.then_some(Change::Pod))
        } else {
            let (length, object) = read_first_object(self.kind, bytes)?;
            (length, object.map(Change::Upsert))
        };
        self.refused += usize::from(change.is_none());
        self.changes.extend(change);
        Some(length)
    }

    /// Counts something that could not be read, and was found to be so elsewhere.
    pub fn refuse(&mut self) {
        self.refused += 1;
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

    /// How many specs were not recognised as those of a sibling in this batch.
    #[cfg(test)]
    pub(super) fn specs(&self) -> usize {
        self.pods.specs.len()
    }

    pub(super) fn into_parts(self) -> (Vec<Change>, Arrivals) {
        (self.changes, self.pods)
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
