//! Settle: what only a memory can do. A blocker that is gone stays as *clearing* for as long as its row says; if it comes back it is the same one.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::model::{ObjectRef, Time};

use super::{Blocker, Report, cause};

/// What was on screen: blockers, and since when each has been gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    pub report: Report,
    /// Gone, in the order they went, with the time at which they did.
    pub clearing: Vec<(Arc<Blocker>, Time)>,
    /// Blockers that came back while they were clearing, with the time since which they count.
    returned: BTreeMap<String, Time>,
}

impl From<Report> for Settled {
    /// With nothing before it.
    fn from(report: Report) -> Self {
        Self { report, ..Self::default() }
    }
}

/// The next picture from the last one and a new report. A blocker keeps its since across a gap shorter than its row's `clears`.
pub fn settle(before: &Settled, mut report: Report, now: Time) -> Settled {
    let mut returned = before.returned.clone();
    let (old, new) = apart(&before.report.blockers, &report.blockers);
    let present: HashSet<&str> = new.iter().map(|b| &*b.id).collect();
    let (back, still): (Vec<_>, Vec<_>) = before.clearing.iter().partition(|(b, _)| present.contains(&*b.id));
    returned.extend(back.iter().filter_map(|(b, _)| Some((b.id.clone(), b.since?))));
    let gone: Vec<&Arc<Blocker>> = old.iter().filter(|b| !present.contains(&*b.id)).collect();
    returned.retain(|id, _| !gone.iter().any(|b| b.id == *id));
    let still = still.into_iter().filter(|(b, gone)| now.since(*gone) < clears(b));
    let newly = gone.into_iter().filter(|b| clears(b) > 0).map(|b| (b.clone(), now));
    let mut clearing: Vec<(Arc<Blocker>, Time)> = still.cloned().collect();
    let known = clearing.len();
    clearing.extend(newly);
    // What cleared before is replaced only by something that is new.
    if clearing.len() > known || hold(new, &objects(&clearing)) {
        leave_replaced_out(&mut clearing, &report.blockers);
    }
    if !returned.is_empty() {
        report.blockers.iter_mut().for_each(|b| keep_since(b, &returned));
    }
    Settled { report, clearing, returned }
}

/// What two reports do not share: all but their common beginning and end. Most of what did not change is the same piece of memory.
fn apart<'a>(old: &'a [Arc<Blocker>], new: &'a [Arc<Blocker>]) -> (&'a [Arc<Blocker>], &'a [Arc<Blocker>]) {
    let same = |(a, b): &(&Arc<Blocker>, &Arc<Blocker>)| Arc::ptr_eq(a, b);
    let begin = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[begin..], &new[begin..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// Told more exactly now, or by another name: what it held up is held up still.
fn leave_replaced_out(clearing: &mut Vec<(Arc<Blocker>, Time)>, blockers: &[Arc<Blocker>]) {
    let asked = objects(clearing);
    let held: HashSet<&ObjectRef> = blockers.iter().flat_map(|b| &*b.affected).filter(|a| asked.contains(a)).collect();
    let replaced: Vec<bool> = clearing.iter().map(|(b, _)| b.affected.iter().all(|a| held.contains(a))).collect();
    let mut replaced = replaced.into_iter();
    clearing.retain(|_| !replaced.next().unwrap_or(false));
}

fn objects(clearing: &[(Arc<Blocker>, Time)]) -> HashSet<&ObjectRef> {
    clearing.iter().flat_map(|(b, _)| &*b.affected).collect()
}

fn hold(blockers: &[Arc<Blocker>], asked: &HashSet<&ObjectRef>) -> bool {
    !asked.is_empty() && blockers.iter().flat_map(|b| &*b.affected).any(|a| asked.contains(a))
}

fn keep_since(blocker: &mut Arc<Blocker>, returned: &BTreeMap<String, Time>) {
    if let Some(since) = returned.get(&blocker.id).copied().filter(|since| blocker.since.is_none_or(|own| *since < own)) {
        Arc::make_mut(blocker).since = Some(since);
    }
}

fn clears(blocker: &Blocker) -> i64 {
    cause(blocker.cause).map_or(0, |c| i64::from(c.clears))
}
