//! Delta: what feeds send to the one who owns the cluster.

use super::{Batch, CoverageState, Kind, Text};

/// Where a list was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    All,
    Namespace(Text),
}

/// One step of one feed. `epoch` tells the lists of one feed apart: what the newest has not seen is removed when it is complete.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "almost every delta is a batch, and each lives for a moment")]
pub enum Delta {
    /// A list starts; nothing is removed yet.
    Began { kind: Kind, place: Place, epoch: u32 },
    /// Changes in order, up to a page.
    Batch { kind: Kind, place: Place, epoch: u32, batch: Batch },
    /// The list is complete: what this epoch has not seen goes, in one step.
    Synced { kind: Kind, place: Place, epoch: u32 },
    /// The feed cannot say any more: denied, absent, stale.
    Lost { kind: Kind, place: Place, why: CoverageState },
    /// A snapshot says that one object was looked up and was not there, though the rest of its kind is not known.
    Gone { kind: Kind, namespace: Text, name: Text },
}

impl Place {
    /// The namespace, if it is one.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Namespace(ns) => Some(ns),
        }
    }
}
