//! The datastore, as far as its words reach an object.

use crate::diagnose::causes::admission::refusal;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage, Workload, texts};
use crate::model::{ObjectRef, Pod};

pub(super) const SLOW_OR_DOWN: Cause = Cause {
    id: "etcd-slow-or-down",
    title: "The datastore does not take writes in time",
    explanation: "A controller was refused with an error of etcd. Time-outs and changes of its leader pass; database space exceeded stops \
                  every write of the cluster until it is compacted and the alarm is lifted, while reads go on.",
    told_apart: "Where nothing at all is written any more, not even events, cluster-state-frozen says so.",
    cure: "Look at etcd: disk latency, quorum, quota; after space exceeded compact, defragment and disarm.",
    docs: "tasks/administer-cluster/configure-upgrade-etcd/",
    stage: Stage::Creation,
    judge: Judge::Workload(slow_or_down),
    ..super::ROW
};

/// Errors that go on for so long are not those of a leader change.
const NOT_PASSING: i64 = 300;

fn slow_or_down(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let error = texts::capture(r"(?i)etcdserver: ([^,;\]]+)", refusal.message)?.trim();
    let full = texts::matches(r"(?i)space exceeded", error);
    let root = etcd(cx).unwrap_or_else(|| workload.reference());
    let finding = if full || refusal.lasts(NOT_PASSING) {
        Finding::blocked(Key::object(&root), root)
    } else {
        Finding::delayed(Key::object(&root), root).clock(ClockKind::Retry, "create back-off of the controller", refusal.next_try(cx))
    };
    let next = if full {
        "Compact and defragment etcd, then disarm its space alarm; raise its quota if the data is wanted."
    } else {
        "Look at etcd: disk latency, members, quorum."
    };
    let finding = finding
        .title(format!("etcd refuses writes: {error}"))
        .because(format!("the API server could not write what was asked for, etcd says: {error}."))
        .next(next)
        .fact("error", error);
    Some(refusal.prove(finding))
}

/// The first etcd pod, where it runs as one (kubeadm).
fn etcd(cx: &Cx<'_>) -> Option<ObjectRef> {
    cx.pods(Some("kube-system")).find(|p| p.label("component") == Some("etcd")).map(Pod::reference)
}
