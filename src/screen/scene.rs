//! Scene: everything a screen may look at, and questions that several screens ask of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::App;
use crate::diagnose::scheduling::NodeFit;
use crate::diagnose::{Blocker, Report, Settled};
use crate::model::{Cluster, CoverageState, Kind, ObjectRef, Time};

/// What is known at this moment.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub app: &'a App,
    pub cluster: &'a Cluster,
    /// What is shown; while the screen is held still, that of before.
    pub settled: &'a Settled,
    /// Ids of blockers that came within the last minute.
    pub fresh: &'a BTreeSet<String>,
    pub status: &'a Status,
    /// What [`super::fits`] answered last; empty leaves the table of nodes out.
    pub fits: &'a [NodeFit],
    /// The cluster's time; while the screen is held still, that of before.
    pub now: Time,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

/// How the picture comes about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// The name of the context, of the file, or `demo`.
    pub context: String,
    pub link: Link,
    /// Why not all namespaces are seen, where that was not asked for: `only shop: pods cannot be listed in all namespaces`.
    pub scope: Option<String>,
    /// Seconds east of Greenwich, for the times of day on screen.
    pub utc_offset: i32,
    /// What is still to come of kinds that are being listed, as far as the server says.
    pub remaining: BTreeMap<Kind, usize>,
    /// What belongs beside a kind on the coverage screen, per namespace where it is read so.
    pub notes: BTreeMap<(Kind, Option<String>), String>,
    /// What the connection says of itself: a plugin's words, a renewal that failed, entries that were left out.
    pub said: Vec<String>,
    /// API groups whose kinds could not be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// Seconds by which the cluster's clock is ahead of this machine's.
    pub ahead: i64,
    /// Since when the screen is paused, and how many changes came since.
    pub paused: Option<(Time, usize)>,
}

/// Where the picture comes from and how good it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Link {
    /// Nothing has come yet; it waits for this: `prod-eu`, `the exec plugin aws`.
    #[default]
    Starting,
    Waiting(String),
    /// Since when nothing has changed.
    Live {
        changed: Option<Time>,
    },
    /// No answer since then.
    Stale {
        since: Time,
    },
    /// A file; judged as of this time, which was so many seconds ago.
    File {
        as_of: Time,
        ago: Option<i64>,
    },
    /// There is no cluster: why, and what else could be done.
    Failed(String),
}

impl<'a> Scene<'a> {
    pub(super) fn report(&self) -> &'a Report {
        &self.settled.report
    }

    pub(super) fn blocker(&self, id: &str) -> Option<&'a Blocker> {
        let clearing = self.settled.clearing.iter().map(|(blocker, _)| blocker);
        self.report().blockers.iter().chain(clearing).find(|blocker| blocker.id == id).map(|blocker| &**blocker)
    }

    /// Since when a blocker is gone, if it only stays on the screen for a while.
    pub(super) fn clearing(&self, id: &str) -> Option<Time> {
        self.settled.clearing.iter().find(|(blocker, _)| blocker.id == id).map(|(_, gone)| *gone)
    }

    /// Blockers that hold this object up or are about it, in the report's order.
    pub(super) fn blockers_of(&self, object: &ObjectRef) -> Vec<&'a Blocker> {
        let owner = self.owner(object);
        let concerns = |blocker: &&Blocker| {
            let pod = &*object.kind == "Pod" && blocker.pod_names.binary_search(object).is_ok();
            let consequence = || blocker.consequences.iter().any(|c| c.root == *object || c.affected.contains(object));
            pod || blocker.root == *object
                || blocker.affected.contains(object)
                || blocker.services.contains(object)
                || consequence()
                || owner != *object && &*object.kind != "Pod" && blocker.affected.contains(&owner)
        };
        self.report().blockers.iter().map(|blocker| &**blocker).filter(concerns).collect()
    }

    /// Whether some kind that is needed is still being read.
    pub(super) fn is_loading(&self) -> bool {
        self.cluster.coverage().iter().any(|(kind, _, state)| *state == CoverageState::Loading && !kind.row().optional)
    }

    /// Pods were refused everywhere: then an empty list is no good news.
    pub(super) fn is_blind(&self) -> bool {
        self.cluster.coverage().refused_everywhere(Kind::Pod).is_some()
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.size.0 < 100
    }

    pub(super) fn is_low(&self) -> bool {
        self.size.1 < 30
    }
}
