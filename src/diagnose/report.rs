//! Report: everything found, as screen and exports show it.

use std::sync::Arc;

use crate::model::{Cluster, ObjectRef, Time};

use super::Blocker;
use super::engine::Found;
use super::stuck::summarise;

/// What holds the cluster up, in the order of the screen. What did not change since the last report is the same piece of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub summary: Summary,
    pub blockers: Vec<Arc<Blocker>>,
    pub quiet: Vec<Arc<Quiet>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub pods: usize,
    pub workloads: usize,
    pub stuck_pods: usize,
    pub stuck_workloads: usize,
    pub blocked: usize,
    pub delayed: usize,
    pub quiet: usize,
}

/// On purpose, so no blocker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quiet {
    pub object: ObjectRef,
    pub cause: &'static str,
    pub reason: Box<str>,
    pub since: Option<Time>,
}

impl Report {
    /// Counts again what is in it, after blockers were left out; pods and workloads of these namespaces only, if any are named.
    pub fn count(&mut self, cluster: &Cluster, namespaces: &[String]) {
        self.summary = summarise(cluster, self, namespaces);
    }
}

impl Quiet {
    pub(super) fn of(f: &Found) -> Self {
        Self { object: f.finding.root.clone(), cause: f.cause.id, reason: f.finding.because.clone(), since: f.finding.since }
    }
}
