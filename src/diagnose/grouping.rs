//! Grouping: the report, kept by difference. After a change only the groups it touches are joined, folded and told again;
//! what is made is the same as from nothing.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Cluster, HashMap, Read};

use super::blocker::{self, Blocker, Part};
use super::engine::{Found, Progress};
use super::fold::{self, Place};
use super::gather::{Gathered, Number};
use super::group::{self, Group};
use super::report::{Quiet, Report};
use super::stuck::Stuck;
use super::ties::{Ends, Ties};
use super::{Verdict, rank};

/// All that stands in a report, and what it was made from.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    gathered: Gathered,
    made: Vec<Made>,
    ties: Ties,
    /// Groups that hang under another, by that.
    below: HashMap<Number, Vec<Number>>,
    /// Blockers that say something of what a look would show.
    watchers: HashMap<Read, Vec<Number>>,
    /// Groups that were joined again since groups were folded last, and those that may wait for others now.
    joined: BTreeSet<Number>,
    concerned: BTreeSet<Number>,
    /// Some group came, went, weighs otherwise, or waits for another one.
    moved: bool,
    /// Blockers to be told again.
    stale: BTreeSet<Number>,
    ranked: Vec<Arc<Blocker>>,
    stuck: Stuck,
    quiet: BTreeMap<Arc<Quiet>, usize>,
}

/// What was made of one group.
#[derive(Debug, Default)]
struct Made {
    group: Option<Group>,
    ends: Ends,
    edges: Vec<Number>,
    place: Option<Place>,
    blocker: Option<Arc<Blocker>>,
    reads: Vec<Read>,
}

impl Grouping {
    /// Takes in that one subject's findings are others now.
    pub fn change(&mut self, before: &[Arc<Found>], now: &[Arc<Found>]) {
        before.iter().for_each(|f| self.remove(f));
        now.iter().for_each(|f| self.add(f));
    }

    pub fn add(&mut self, f: &Arc<Found>) {
        match f.finding.verdict {
            Verdict::Blocked | Verdict::Delayed => self.gathered.add(f),
            Verdict::Quiet => *self.quiet.entry(Arc::new(Quiet::of(f))).or_default() += 1,
        }
    }

    fn remove(&mut self, f: &Arc<Found>) {
        if f.finding.verdict != Verdict::Quiet {
            return self.gathered.remove(f);
        }
        let quiet = Quiet::of(f);
        if let Some(count) = self.quiet.get_mut(&quiet) {
            *count -= 1;
            if *count == 0 {
                self.quiet.remove(&quiet);
            }
        }
    }

    /// Takes in that the cluster would now answer these look-ups otherwise.
    pub fn touch<'a>(&mut self, reads: impl Iterator<Item = &'a Read>) {
        if !self.watchers.is_empty() {
            self.stale.extend(reads.filter_map(|read| self.watchers.get(read)).flatten());
        }
    }

    /// Everything found, joined, folded and ranked.
    pub fn report(&mut self, cluster: &Cluster) -> Report {
        while self.advance(cluster, usize::MAX) == Progress::More {}
        let quiet: Vec<Arc<Quiet>> = self.quiet.keys().cloned().collect();
        Report { summary: self.stuck.summary(cluster, quiet.len()), blockers: self.ranked.clone(), quiet }
    }

    /// Does some of the work of the next report: joins so many groups again, or tells so many blockers.
    pub fn advance(&mut self, cluster: &Cluster, most: usize) -> Progress {
        self.made.resize_with(self.gathered.len(), Made::default);
        let changed = self.gathered.take_changed(most);
        for number in &changed {
            self.join(*number);
        }
        self.joined.extend(&changed);
        if self.gathered.has_changed() {
            return Progress::More;
        }
        for number in std::mem::take(&mut self.concerned) {
            self.connect(number);
        }
        if std::mem::take(&mut self.moved) {
            self.fold();
        }
        let joined = std::mem::take(&mut self.joined);
        self.stale.extend(joined.iter().filter_map(|number| Some(self.made[*number as usize].place?.root)));
        let left = most.saturating_sub(changed.len());
        for number in self.stale.iter().copied().take(left).collect::<Vec<_>>() {
            self.stale.remove(&number);
            self.tell(cluster, number);
        }
        if self.stale.is_empty() { Progress::Done } else { Progress::More }
    }

    /// Joins the findings of a group again.
    fn join(&mut self, number: Number) {
        let made = &mut self.made[number as usize];
        let before = made.group.take();
        made.group = self.gathered.members(number).and_then(|members| group::join(members, before.as_ref()));
        let alike = before.as_ref().zip(made.group.as_ref()).is_some_and(|(before, now)| before.is_about_the_same(now));
        if !alike {
            let ends = made.group.as_ref().map(Ends::of).unwrap_or_default();
            self.ties.tie(number, &made.ends, &ends, &mut self.concerned);
            made.ends = ends;
        }
        if made.group.is_none() {
            self.gathered.close(number);
            self.stale.insert(number);
        }
        self.moved |= before.as_ref().map(weight) != made.group.as_ref().map(weight);
    }

    /// Finds out again what a group waits on.
    fn connect(&mut self, number: Number) {
        let other = |number: Number| self.made.get(number as usize)?.group.as_ref();
        let edges = other(number).map(|group| self.ties.edges(number, group, other)).unwrap_or_default();
        let made = &mut self.made[number as usize];
        self.moved |= made.edges != edges;
        made.edges = edges;
    }

    /// Folds everything again: a walk along all edges costs less than finding out which ones matter.
    fn fold(&mut self) {
        let edges = |number: Number| &*self.made[number as usize].edges;
        let group = |number: Number| self.made[number as usize].group.as_ref();
        let lighter = |a: Number, b: Number| if group(a).map(weight) <= group(b).map(weight) { a } else { b };
        let places = fold::fold(self.made.len(), edges, lighter);
        self.below.clear();
        for ((number, made), place) in (0..).zip(&mut self.made).zip(places) {
            let now = made.group.is_some().then_some(place);
            if now != made.place {
                self.stale.extend([made.place, now].into_iter().flatten().map(|place| place.root).chain([number]));
                made.place = now;
            }
            if now.is_some_and(|place| place.root != number) {
                self.below.entry(place.root).or_default().push(number);
            }
        }
        let name = |number: &Number| self.made[*number as usize].group.as_ref().map(|g| (g.cause.id, g.key.clone()));
        self.below.values_mut().for_each(|numbers| numbers.sort_by_cached_key(name));
    }

    /// Tells a blocker again: itself, and all that hangs under it.
    fn tell(&mut self, cluster: &Cluster, number: Number) {
        let made = &self.made[number as usize];
        let own = self.part(number).filter(|_| made.place.is_some_and(|place| place.root == number));
        let below: Vec<Part<'_>> = self.below.get(&number).into_iter().flatten().filter_map(|n| self.part(*n)).collect();
        let circle = made.place.is_some_and(|place| place.circle);
        let told = own.map(|part| blocker::tell(cluster, part, &below, circle));
        if told.as_ref() == made.blocker.as_deref() {
            return;
        }
        let reads = told.as_ref().map(|told| blocker::reads(told, self.gathered.found(number))).unwrap_or_default();
        self.replace(number, told.map(Arc::new), reads);
    }

    fn part(&self, number: Number) -> Option<Part<'_>> {
        let group = self.made.get(number as usize)?.group.as_ref()?;
        Some(Part { group, found: self.gathered.found(number) })
    }

    fn replace(&mut self, number: Number, told: Option<Arc<Blocker>>, reads: Vec<Read>) {
        let made = &mut self.made[number as usize];
        let before = std::mem::replace(&mut made.blocker, told.clone());
        for read in std::mem::replace(&mut made.reads, reads) {
            if let Some(watchers) = self.watchers.get_mut(&read) {
                watchers.retain(|other| *other != number);
                if watchers.is_empty() {
                    self.watchers.remove(&read);
                }
            }
        }
        for read in &made.reads {
            self.watchers.entry(*read).or_default().push(number);
        }
        self.stuck.replace(before.as_deref(), told.as_deref());
        if let Some(at) = before.and_then(|old| self.ranked.binary_search_by(|b| rank::order(b, &old)).ok()) {
            self.ranked.remove(at);
        }
        if let Some(new) = told {
            let at = self.ranked.partition_point(|b| rank::order(b, &new) == Ordering::Less);
            self.ranked.insert(at, new);
        }
    }
}

/// Which of a circle, or of several ends, is told first: configuration before nodes before workloads.
fn weight(group: &Group) -> (u8, Verdict, &'static str, super::Key) {
    let rank = match &*group.words().root.kind {
        "ValidatingWebhookConfiguration"
        | "MutatingWebhookConfiguration"
        | "ResourceQuota"
        | "LimitRange"
        | "Namespace"
        | "StorageClass" => 0,
        "Node" => 1,
        _ => 2,
    };
    (rank, group.verdict(), group.cause.id, group.key.clone())
}
