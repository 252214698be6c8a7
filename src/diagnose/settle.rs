//! Settle: what only a memory can do. A blocker that is gone stays as *clearing* for as long as its row says; if it comes back it is the same one.

use crate::model::Time;

use super::{Blocker, Report, cause};

/// What was on screen: blockers, and since when each has been gone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settled {
    pub report: Report,
    /// Gone, in the order they went, with the time at which they did.
    pub clearing: Vec<(Blocker, Time)>,
}

/// The next picture from the last one and a new report. A blocker keeps its since across a gap shorter than its row's `clears`.
pub fn settle(before: &Settled, mut report: Report, now: Time) -> Settled {
    let returned = |id: &str| before.clearing.iter().find(|(b, _)| b.id == id);
    for blocker in &mut report.blockers {
        if let Some((old, _)) = returned(&blocker.id) {
            blocker.since = [blocker.since, old.since].into_iter().flatten().min();
        }
    }
    let present = |id: &str| report.blockers.iter().any(|b| b.id == id);
    // Told more exactly now, or by another name: what it held up is held up still.
    let replaced = |old: &Blocker| old.affected.iter().all(|a| report.blockers.iter().any(|b| b.affected.contains(a)));
    let still = before.clearing.iter().filter(|(b, gone)| !present(&b.id) && now.since(*gone) < clears(b));
    let newly = before.report.blockers.iter().filter(|b| !present(&b.id)).map(|b| (b.clone(), now));
    let clearing = still.cloned().chain(newly).filter(|(b, _)| clears(b) > 0 && !replaced(b)).collect();
    Settled { report, clearing }
}

fn clears(blocker: &Blocker) -> i64 {
    cause(blocker.cause).map_or(0, |c| i64::from(c.clears))
}
