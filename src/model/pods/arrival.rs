//! Pods as they arrive: read from bytes on any thread, with what they share told apart from what is their own.

use std::sync::Arc;

use crate::model::{Owner, Phase, Time};

/// Pods of one batch. What siblings share stands in lists that they name by position.
#[derive(Debug, Default)]
pub(in crate::model) struct Arrivals {
    pub(super) pods: Vec<Arrival>,
    pub(super) text: String,
    pub(super) owners: Vec<Arc<Owner>>,
    /// Packed label sets.
    pub(super) labels: Vec<Arc<[u8]>>,
    pub(in crate::model) specs: Vec<Arc<PackedSpec>>,
}

/// A spec in its normal form, with what follows from it and is asked of it often.
#[derive(Debug)]
pub(in crate::model) struct PackedSpec {
    pub bytes: Box<[u8]>,
    /// Something of the pod's own was cut out.
    pub own: bool,
    /// It holds scheduling gates.
    pub gated: bool,
    /// What the scheduler reserves for a pod: resources and thousandths in turn.
    pub requests: Box<[u8]>,
}

impl PackedSpec {
    /// The bytes and whether they are all: two with the same are the same.
    pub(super) fn content(&self) -> (&[u8], bool) {
        (&self.bytes, self.own)
    }
}

/// A part of [`Arrivals::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    start: u32,
    len: u32,
}

/// One pod as read.
#[derive(Debug)]
pub(super) struct Arrival {
    pub name: Span,
    pub namespace: Span,
    pub node: Span,
    pub uid: ArrivalUid,
    pub owner: Option<u32>,
    pub labels: u32,
    pub spec: u32,
    pub created: Option<Time>,
    pub since: Option<Time>,
    pub restarts: u16,
    pub phase: Phase,
    pub ready: bool,
    pub is_tracked: bool,
    pub rest: Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArrivalUid {
    Uuid([u32; 4]),
    Text(Span),
}

/// What is kept beside the row, packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rest {
    /// A plain pod: nothing.
    Plain,
    /// A plain pod that restarted: [`super::unusual::Restarted`].
    Restarted(Box<[u8]>),
    /// [`super::unusual::Unusual`], with the deletion time at hand.
    Unusual(Option<Time>, Box<[u8]>),
}

impl Arrivals {
    pub(super) fn get(&self, span: Span) -> &str {
        self.text.get(span.start as usize..(span.start + span.len) as usize).unwrap_or_default()
    }

    /// Keeps a text; neighbours often share theirs, so the span before is tried first.
    pub(super) fn keep(&mut self, text: &str, before: Option<Span>) -> Span {
        if let Some(span) = before.filter(|span| self.get(*span) == text) {
            return span;
        }
        let span = Span { start: self.text.len() as u32, len: text.len() as u32 };
        self.text.push_str(text);
        span
    }
}
