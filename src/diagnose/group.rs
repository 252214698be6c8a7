//! Group: findings that share cause and key, joined to what is said of all of them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Kind, ObjectRef, Time};

use super::engine::Found;
use super::{Cause, Clock, Evidence, Finding, Key, Verdict};

/// What findings with one cause and one key say together.
#[derive(Debug)]
pub(super) struct Group {
    pub cause: &'static Cause,
    pub key: Key,
    /// The one whose words are shown: blocked before delayed, then the one that began first.
    pub lead: Arc<Found>,
    pub since: Option<Time>,
    pub clock: Option<Clock>,
    /// Sorted, as all lists of objects here.
    pub affected: Arc<[ObjectRef]>,
    pub pods: Arc<[ObjectRef]>,
    pub missing: u32,
    pub waits_on: Vec<ObjectRef>,
    pub facts: BTreeMap<&'static str, String>,
    pub evidence: Vec<Evidence>,
    pub unchecked: BTreeSet<(Kind, String)>,
}

/// Evidence shown for one blocker: more repeats the same.
const MOST_EVIDENCE: usize = 12;

/// Values named for one fact.
const MOST_VALUES: usize = 8;

/// Joins the findings of one group, in whatever order they came; none without any.
pub(super) fn join(key: &Key, members: &mut [Arc<Found>]) -> Option<Group> {
    members.sort_by(|a, b| order(a, b));
    let members = &*members;
    let lead = members.first()?.clone();
    let own = members.iter().map(|f| &f.affected);
    Some(Group {
        cause: lead.cause,
        key: key.clone(),
        since: members.iter().filter_map(|f| f.finding.since).min(),
        clock: earliest_clock(members),
        affected: sorted(own.chain(members.iter().flat_map(|f| &f.finding.affected))).into(),
        pods: sorted(members.iter().filter_map(|f| f.pod.as_ref())).into(),
        missing: members.iter().fold(0, |sum, f| sum.saturating_add(f.finding.missing)),
        waits_on: sorted(members.iter().flat_map(|f| &f.finding.waits_on)),
        facts: facts(members),
        evidence: evidence(members),
        unchecked: members.iter().flat_map(|f| f.finding.unchecked.iter().cloned()).collect(),
        lead,
    })
}

impl Group {
    /// The words of the member that speaks for it.
    pub fn words(&self) -> &Finding {
        &self.lead.finding
    }

    pub fn verdict(&self) -> Verdict {
        self.lead.finding.verdict
    }

    pub fn title(&self) -> &str {
        if self.words().title.is_empty() { self.cause.title } else { &self.words().title }
    }

    /// How many pods it holds up, existing or not.
    pub fn pod_count(&self) -> usize {
        self.pods.len() + self.missing as usize
    }

    /// Whether what waits for this object waits for the group.
    pub fn holds(&self, object: &ObjectRef) -> bool {
        self.words().root == *object || self.affected.binary_search(object).is_ok() || self.pods.binary_search(object).is_ok()
    }
}

/// Blocked first, then the oldest, then by name, then by words: which member speaks for the group must not depend on the order of arrival.
fn order(a: &Found, b: &Found) -> Ordering {
    let first = |f: &Found| (f.finding.verdict, f.finding.since.is_none(), f.finding.since);
    let (x, y) = (&a.finding, &b.finding);
    first(a)
        .cmp(&first(b))
        .then_with(|| (&a.affected, &a.pod).cmp(&(&b.affected, &b.pod)))
        .then_with(|| (&x.root, &x.key).cmp(&(&y.root, &y.key)))
        .then_with(|| words(x).cmp(&words(y)))
        .then_with(|| (&x.evidence, &x.facts).cmp(&(&y.evidence, &y.facts)))
}

fn words(finding: &Finding) -> [&str; 3] {
    [&finding.title, &finding.because, &finding.next]
}

fn sorted<'a>(objects: impl Iterator<Item = &'a ObjectRef>) -> Vec<ObjectRef> {
    let mut all: Vec<&ObjectRef> = objects.collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().cloned().collect()
}

fn facts(members: &[Arc<Found>]) -> BTreeMap<&'static str, String> {
    let mut all: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in members.iter().flat_map(|f| &f.finding.facts) {
        all.entry(name).or_default().insert(value);
    }
    let joined = |values: BTreeSet<&str>| values.into_iter().take(MOST_VALUES).collect::<Vec<_>>().join(", ");
    all.into_iter().map(|(name, values)| (name, joined(values))).collect()
}

fn evidence(members: &[Arc<Found>]) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = Vec::new();
    for evidence in members.iter().flat_map(|f| &f.finding.evidence) {
        if all.len() == MOST_EVIDENCE {
            break;
        }
        if !all.contains(evidence) {
            all.push(evidence.clone());
        }
    }
    all
}

fn earliest_clock(members: &[Arc<Found>]) -> Option<Clock> {
    let verdict = members.first()?.finding.verdict;
    let clocks = members.iter().filter(|f| f.finding.verdict == verdict).filter_map(|f| f.finding.clock.as_ref());
    clocks.min_by_key(|c| (c.at.is_none(), c.at)).cloned()
}
