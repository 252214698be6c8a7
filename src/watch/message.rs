//! What feeds tell the one who owns the cluster.

use super::discovery::{Discovery, Version};
use super::error::Error;
use crate::model::{Delta, Kind, Place};

/// One message. Objects come only in [`Delta`]s.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a handful exist at a time, and most of them are batches")]
pub enum FeedMsg {
    Delta(Delta),
    /// A list on its way.
    Progress {
        kind: Kind,
        place: Place,
        read: u64,
        remaining: Option<u64>,
    },
    /// What belongs beside a kind on the coverage screen; `None` when all is well again.
    Note {
        kind: Kind,
        place: Place,
        note: Option<String>,
    },
    /// The cluster answered for the first time.
    Reached {
        version: Option<Version>,
    },
    /// It did not, and is tried again.
    NotReached(Error),
    /// Which namespaces are looked at, once that is known.
    Scope(Chosen),
    /// What the server offers.
    Discovered(Discovery),
    /// Every kind that is followed has come to a first end: synced, denied, absent, or in trouble and tried again.
    Settled,
    /// The regular question whether the server is there. After two failures everything is stale.
    Pulse {
        misses: u32,
        error: Option<Error>,
    },
    /// The machine slept, or its clock was set: `now` is to be taken from a fresh answer.
    Woke,
}

/// The namespaces that are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// `None` is all of them.
    pub namespaces: Option<Vec<String>>,
    /// Why it is not what would have been looked at by itself.
    pub why: Option<String>,
}
