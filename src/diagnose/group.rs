//! Group: findings that share cause and key become one blocker.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Kind, ObjectRef};

use super::engine::Found;
use super::{Cause, Evidence, Finding, Key, Verdict};

/// A blocker while it is being made.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub cause: &'static Cause,
    pub key: Key,
    /// The finding whose words are shown: blocked before delayed, then the one that began first.
    pub lead: Finding,
    pub affected: BTreeSet<ObjectRef>,
    pub pods: BTreeSet<ObjectRef>,
    pub missing: u32,
    pub waits_on: BTreeSet<ObjectRef>,
    pub facts: BTreeMap<&'static str, BTreeSet<String>>,
    pub evidence: Vec<Evidence>,
    pub unchecked: BTreeSet<(Kind, String)>,
}

/// Evidence shown for one blocker: more repeats the same.
const MOST_EVIDENCE: usize = 12;

/// Groups by cause and key; a wider key is taken as soon as two keys share it.
pub(super) fn group<'a>(found: impl Iterator<Item = &'a Found>) -> Vec<Group> {
    let found: Vec<&Found> = found.filter(|f| f.finding.verdict != Verdict::Quiet).collect();
    let wide = shared_wider_keys(&found);
    let mut groups: BTreeMap<(&str, Key), Vec<&Found>> = BTreeMap::new();
    for f in found {
        let wider = f.finding.wider.as_ref().filter(|w| wide.contains(&(f.cause.id, (*w).clone())));
        groups.entry((f.cause.id, wider.unwrap_or(&f.finding.key).clone())).or_default().push(f);
    }
    groups.into_iter().filter_map(|((_, key), members)| join(key, members)).collect()
}

fn shared_wider_keys(found: &[&Found]) -> BTreeSet<(&'static str, Key)> {
    let mut keys: BTreeMap<(&'static str, Key), BTreeSet<&Key>> = BTreeMap::new();
    for f in found {
        if let Some(wider) = &f.finding.wider {
            keys.entry((f.cause.id, wider.clone())).or_default().insert(&f.finding.key);
        }
    }
    keys.into_iter().filter(|(_, narrow)| narrow.len() > 1).map(|(wide, _)| wide).collect()
}

fn join(key: Key, mut members: Vec<&Found>) -> Option<Group> {
    members.sort_by(|a, b| order(a).cmp(&order(b)));
    let first = members.first()?;
    let mut group = Group {
        cause: first.cause,
        key,
        lead: first.finding.clone(),
        affected: BTreeSet::new(),
        pods: BTreeSet::new(),
        missing: 0,
        waits_on: BTreeSet::new(),
        facts: BTreeMap::new(),
        evidence: Vec::new(),
        unchecked: BTreeSet::new(),
    };
    for f in &members {
        group.add(f);
    }
    group.lead.since = members.iter().filter_map(|f| f.finding.since).min();
    group.lead.clock = earliest_clock(&members);
    Some(group)
}

impl Group {
    fn add(&mut self, f: &Found) {
        self.affected.insert(f.affected.clone());
        self.affected.extend(f.finding.affected.iter().cloned());
        self.pods.extend(f.pod.clone());
        self.missing = self.missing.saturating_add(f.finding.missing);
        self.waits_on.extend(f.finding.waits_on.iter().cloned());
        for (name, value) in &f.finding.facts {
            self.facts.entry(name).or_default().insert(value.clone());
        }
        for evidence in &f.finding.evidence {
            if self.evidence.len() < MOST_EVIDENCE && !self.evidence.contains(evidence) {
                self.evidence.push(evidence.clone());
            }
        }
        self.unchecked.extend(f.finding.unchecked.iter().cloned());
    }

    /// How many pods it holds up, existing or not.
    pub fn pod_count(&self) -> usize {
        self.pods.len() + self.missing as usize
    }
}

/// Blocked first, then the oldest, then by name: which member speaks for the group must not depend on the order of arrival.
fn order(f: &Found) -> (Verdict, bool, Option<crate::model::Time>, &ObjectRef, &Option<ObjectRef>) {
    (f.finding.verdict, f.finding.since.is_none(), f.finding.since, &f.affected, &f.pod)
}

fn earliest_clock(members: &[&Found]) -> Option<super::Clock> {
    let verdict = members.first()?.finding.verdict;
    let clocks = members.iter().filter(|f| f.finding.verdict == verdict).filter_map(|f| f.finding.clock.as_ref());
    clocks.min_by_key(|c| (c.at.is_none(), c.at)).cloned()
}
