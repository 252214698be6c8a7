//! A cluster that still answers and takes no writes: every clock in it stands still together.

use crate::diagnose::{Cause, Cx, Finding, Judge, Key};
use crate::model::{Event, Kind, Lease, Node, ObjectRef, Time};

pub(super) const FROZEN: Cause = Cause {
    id: "cluster-state-frozen",
    title: "The cluster accepts no writes",
    explanation: "No lease of any holder is renewed any more, no heartbeat and no event is written, and reads are still answered: the API \
                  server cannot write, mostly because the datastore is out of space or has lost its quorum. Nodes keep looking Ready, \
                  since what would mark them otherwise cannot write either.",
    told_apart: "One lease that stands still is that component; all of them at once are the cluster, or an old capture. That is why an \
                 explicit time of judgement is needed.",
    cure: "Look at the datastore: space alarm, quorum, disk; then at admission webhooks that cover leases and nodes.",
    docs: "tasks/administer-cluster/configure-upgrade-etcd/",
    judge: Judge::ControlPlane(|cx| frozen(cx).into_iter().collect()),
    ..super::ROW
};

/// Leases are renewed every 2 s by controllers and every 10 s by nodes; they are read every 30 s, and a read may take 10 s.
const STANDS_STILL: i64 = 120;
/// Everything stops together; what was written later than the last lease shows that only leases are old.
const TOGETHER: i64 = 60;

/// When everything stopped, if it did.
pub(super) fn since(cx: &Cx<'_>) -> Option<Time> {
    holders(cx).map(|(_, at, _)| at)
}

/// The lease that shows it, the last write, and how many holders stopped.
fn holders<'a>(cx: &Cx<'a>) -> Option<(&'a Lease, Time, usize)> {
    if !cx.clock_is_known() || cx.coverage(Kind::Lease, "kube-system").is_none_or(|c| *c != crate::model::CoverageState::Synced) {
        return None;
    }
    let own: Vec<&Lease> = renewed(cx, "kube-system");
    // Most of the time one look at the leaders is enough; those of the nodes are many.
    if own.iter().filter_map(|l| l.spec.renew_time).max().is_some_and(|at| !cx.passed(at.plus(STANDS_STILL))) {
        return None;
    }
    let all: Vec<&Lease> = own.iter().copied().chain(renewed(cx, "kube-node-lease")).collect();
    let last = all.iter().filter_map(|l| l.spec.renew_time).max()?;
    let stopped = all.len() > 1 && cx.passed(last.plus(STANDS_STILL)) && !written_after(cx, last.plus(TOGETHER));
    let shows = own.first().or(all.first()).copied()?;
    stopped.then_some((shows, last, all.len()))
}

fn renewed<'a>(cx: &Cx<'a>, namespace: &str) -> Vec<&'a Lease> {
    cx.all::<Lease>(Some(namespace)).filter(|l| l.spec.renew_time.is_some()).collect()
}

/// Whether anything shows a write later than that.
fn written_after(cx: &Cx<'_>, at: Time) -> bool {
    let later = |t: Option<Time>| t.is_some_and(|t| t > at);
    let heartbeats = cx.any(None, |n: &Node| n.status.conditions.iter().any(|c| later(c.last_heartbeat_time.max(c.last_transition_time))));
    heartbeats || cx.any(None, |e: &Event| later(e.last)) || cx.pods(None).any(|p| later(p.created()))
}

fn frozen(cx: &Cx<'_>) -> Option<Finding> {
    let (lease, last, holders) = holders(cx)?;
    let root = ObjectRef::new("Lease", &lease.meta.namespace, &lease.meta.name);
    let ready = cx.all::<Node>(None).filter(|n| n.is_ready()).count();
    let finding = Finding::blocked(Key::object(&root), root.clone())
        .title("no lease is renewed any more: the cluster accepts no writes")
        .because(format!(
            "all {holders} leases stopped together and nothing was written since, while reads are answered; {ready} nodes still say Ready because nobody can mark them otherwise."
        ))
        .next("Look at the datastore first (space alarm, quorum, disk), then at webhooks that cover leases and nodes.")
        .since(Some(last))
        .fact("lastWrite", last.rfc3339())
        .fact("leases", holders)
        .fact("nodesSayingReady", ready)
        .evidence(root, "spec.renewTime", lease.spec.renew_time.unwrap_or(last).rfc3339(), Some(last));
    Some(finding)
}
