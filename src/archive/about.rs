//! What an archive knows of itself: when it was made, of which cluster, and what in it is complete.

use std::collections::BTreeMap;
use std::fmt;

use super::kinds::followed;

use crate::model::{Coverage, CoverageState, KINDS, Kind, Time};

/// What an archive knows of itself.
#[derive(Debug, Default, Clone)]
pub struct About {
    /// When it was captured, if a file says so: a snapshot in its header, a recording by its last step.
    pub captured_at: Option<Time>,
    /// The newest time in any object at which something happened; never a time to come.
    pub newest: Option<Time>,
    /// The context it was captured from.
    pub context: Option<String>,
    /// The version of holdup that wrote it.
    pub version: Option<String>,
    /// What is complete, denied or not in the input. Everything else is not in the input.
    pub coverage: BTreeMap<Covered, CoverageState>,
    /// References that were looked up when the snapshot was made and were not there.
    pub gone: Vec<String>,
    /// What the captured cluster held, if a file says so: a snapshot may hold a part of it.
    pub totals: Option<Totals>,
    /// Names the key that made the tags of redacted values, if a file says so.
    pub tags: Option<String>,
    /// What could not be used: the first thousand, then only counted.
    pub skipped: Vec<Skipped>,
    pub skipped_count: usize,
    /// Objects held.
    pub objects: usize,
}

/// How many pods and workloads a cluster has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub struct Totals {
    pub pods: usize,
    pub workloads: usize,
}

/// A kind in a namespace, or in all that have no entry of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Covered {
    pub group: String,
    pub kind: String,
    pub namespace: Option<String>,
}

/// Something in a file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub file: String,
    /// Counted from 1.
    pub line: u64,
    pub why: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.why)
    }
}

/// What the coverage of a kind is that the input says nothing about.
pub const NOT_IN_THE_INPUT: &str = "not in the input";

impl About {
    /// The moment of judgement where the user names none.
    pub fn now(&self) -> Option<Time> {
        self.captured_at.or(self.newest)
    }

    /// Whether a snapshot was made of what explains blockers alone: one of everything says of each followed kind how much it has of it.
    pub fn is_part(&self) -> bool {
        let says = |row: &crate::model::KindRow| {
            self.coverage.keys().any(|covered| covered.namespace.is_none() && covered.group == row.group && covered.kind == row.name)
        };
        self.totals.is_some() && !KINDS.iter().filter(|row| !row.plural.is_empty()).all(says)
    }

    /// What may be concluded about a kind in a namespace.
    pub fn state(&self, group: &str, kind: &str, namespace: Option<&str>) -> CoverageState {
        let at = |namespace: Option<&str>| {
            let covered = Covered { group: group.to_owned(), kind: kind.to_owned(), namespace: namespace.map(str::to_owned) };
            self.coverage.get(&covered)
        };
        let own = namespace.and_then(|namespace| at(Some(namespace)));
        own.or_else(|| at(None)).cloned().unwrap_or_else(not_in_the_input)
    }

    /// The same for every followed kind, as the model wants it.
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        for row in KINDS {
            coverage.set(row.kind, None, not_in_the_input());
        }
        for (covered, state) in &self.coverage {
            let kind = followed(&covered.group, &covered.kind);
            if kind != Kind::Other {
                coverage.set(kind, covered.namespace.as_deref(), state.clone());
            }
        }
        coverage
    }
}

pub(super) fn not_in_the_input() -> CoverageState {
    CoverageState::Absent { message: NOT_IN_THE_INPUT.to_owned() }
}
