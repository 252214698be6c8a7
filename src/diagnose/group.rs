//! Group: findings that share cause and key, joined to what is said of all of them.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::model::{ObjectRef, Time};

use super::engine::Found;
use super::gather::Members;
use super::{Cause, Clock, Finding, Key, Verdict};

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
    pub waits_on: Arc<[ObjectRef]>,
}

/// Joins the findings of one group, in whatever order they came; none without any. `before` is what they were joined to last.
pub(super) fn join(members: &mut Members, before: Option<&Group>) -> Option<Group> {
    members.found.sort_by(|a, b| order(a, b));
    let (came, went) = (std::mem::take(&mut members.came), std::mem::take(&mut members.went));
    let found = &*members.found;
    let lead = found.first()?.clone();
    let before = before.filter(|_| name_the_same(&came, &went));
    let own = || found.iter().map(|f| &f.affected);
    Some(Group {
        cause: members.cause,
        key: members.key.clone(),
        since: found.iter().filter_map(|f| f.finding.since).min(),
        clock: earliest_clock(found),
        affected: before.map_or_else(|| sorted(own().chain(found.iter().flat_map(|f| &f.finding.affected))), |g| g.affected.clone()),
        pods: before.map_or_else(|| sorted(found.iter().filter_map(|f| f.pod.as_ref())), |g| g.pods.clone()),
        missing: found.iter().fold(0, |sum, f| sum.saturating_add(f.finding.missing)),
        waits_on: before.map_or_else(|| sorted(found.iter().flat_map(|f| &f.finding.waits_on)), |g| g.waits_on.clone()),
        lead,
    })
}

/// Whether what came names the same objects as what went: mostly it is the same pod, with other words. Then the lists need not be
/// made again, which for thousands of pods is nearly all of the work.
fn name_the_same(came: &[Arc<Found>], went: &[Arc<Found>]) -> bool {
    type Names<'a> = (&'a ObjectRef, &'a Option<ObjectRef>, &'a [ObjectRef], &'a [ObjectRef]);
    fn names(found: &[Arc<Found>]) -> Vec<Names<'_>> {
        let mut names: Vec<_> = found.iter().map(|f| (&f.affected, &f.pod, &*f.finding.affected, &*f.finding.waits_on)).collect();
        names.sort_unstable();
        names
    }
    came.len() == went.len() && names(came) == names(went)
}

impl Group {
    /// The words of the member that speaks for it.
    pub fn words(&self) -> &Finding {
        &self.lead.finding
    }

    /// Whether both have to do with the same objects, as far as can be seen at a glance.
    pub fn is_about_the_same(&self, other: &Self) -> bool {
        let same = |a, b| Arc::ptr_eq(a, b);
        let root = self.words().root == other.words().root;
        root && same(&self.affected, &other.affected) && same(&self.pods, &other.pods) && same(&self.waits_on, &other.waits_on)
    }

    pub fn verdict(&self) -> Verdict {
        self.lead.finding.verdict
    }

    pub fn title(&self) -> Arc<str> {
        if self.words().title.is_empty() { self.cause.title.into() } else { self.words().title.clone() }
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

fn sorted<'a>(objects: impl Iterator<Item = &'a ObjectRef>) -> Arc<[ObjectRef]> {
    let mut all: Vec<&ObjectRef> = objects.collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().cloned().collect()
}

fn earliest_clock(members: &[Arc<Found>]) -> Option<Clock> {
    let verdict = members.first()?.finding.verdict;
    let clocks = members.iter().filter(|f| f.finding.verdict == verdict).filter_map(|f| f.finding.clock.as_ref());
    clocks.min_by_key(|c| (c.at.is_none(), c.at)).cloned()
}
