//! Leaders that no longer renew their lease: what they do for the cluster is not done.

use super::frozen;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key};
use crate::model::{CoverageState, Event, Kind, Lease, ObjectRef, Time};

const ROW: Cause = Cause { docs: "concepts/architecture/leases/", needs: &[Kind::Lease], ..super::ROW };

pub(super) const CONTROLLER_MANAGER: Cause = Cause {
    id: "kcm-lease-stale",
    title: "kube-controller-manager does not work",
    explanation: "The leader of kube-controller-manager renews its lease every 2 s, and has stopped: no ReplicaSet, no pod of a workload, no \
                  bound volume, no taint of a dead node, no garbage collection happens. Its pod may look Running all the while.",
    told_apart: "A single object that is not observed is about that object; no lease at all proves nothing (it may be hidden, or leader \
                 election off). Where all leases stopped at once the cluster is frozen.",
    cure: "Look at the log of kube-controller-manager: its certificate and its access to the API above all; then restart it.",
    judge: Judge::ControlPlane(|cx| stale(cx, &MANAGER).into_iter().collect()),
    ..ROW
};

pub(super) const SCHEDULER: Cause = Cause {
    id: "scheduler-lease-stale",
    title: "kube-scheduler does not work",
    explanation: "The leader of kube-scheduler renews its lease every 2 s, and has stopped: no new pod is given a node.",
    told_apart: "Unschedulable pods carry the scheduler's reasons in a condition; pods that nobody looked at have no such condition at all.",
    cure: "Look at the log of kube-scheduler: its certificate and its access to the API above all; then restart it.",
    judge: Judge::ControlPlane(|cx| stale(cx, &SCHEDULING).into_iter().collect()),
    ..ROW
};

struct Leader {
    lease: &'static str,
    /// What is not done without it.
    work: &'static str,
    /// Whether a component that writes events runs inside it.
    is_part: fn(&str) -> bool,
}

const MANAGER: Leader = Leader {
    lease: "kube-controller-manager",
    work: "no pod of a workload is made or replaced, no volume bound, no dead node noticed",
    is_part: |source| {
        ["replicaset", "deployment", "statefulset", "daemonset", "job", "cronjob", "node"]
            .iter()
            .any(|c| source == format!("{c}-controller"))
    },
};

const SCHEDULING: Leader =
    Leader { lease: "kube-scheduler", work: "no new pod is given a node", is_part: |source| source == "default-scheduler" };

/// leaseDurationSeconds of both: without a renewal for so long another instance takes over.
const EXPIRES: i64 = 15;
/// Longer than taking over needs.
const NOBODY_TOOK_OVER: i64 = 60;
/// The leases of nodes are read apart from those of leaders: up to this they may be newer for that alone.
const READ_APART: i64 = 100;

fn stale(cx: &Cx<'_>, leader: &Leader) -> Option<Finding> {
    if !cx.clock_is_known() || cx.coverage(Kind::Lease, "kube-system").is_none_or(|c| *c != CoverageState::Synced) {
        return None;
    }
    let lease = cx.get::<Lease>("kube-system", leader.lease).is()?;
    let renewed = lease.spec.renew_time?;
    if !cx.passed(renewed.plus(EXPIRES)) {
        return None;
    }
    let verdict = Silence::of(cx, leader, renewed)?;
    let root = ObjectRef::new("Lease", "kube-system", leader.lease);
    let finding = match verdict {
        Silence::TakingOver => Finding::delayed(Key::object(&root), root.clone())
            .clock(ClockKind::Retry, "leader election", Some(renewed.plus(NOBODY_TOOK_OVER)))
            .title(format!("{} is between two leaders", leader.lease)),
        Silence::Lasting => {
            Finding::blocked(Key::object(&root), root.clone()).title(format!("{} does not work: its lease is not renewed", leader.lease))
        }
    };
    let holder = &*lease.spec.holder_identity;
    let node = holder.split('_').next().unwrap_or(holder);
    Some(
        finding
            .because(format!("the leader {holder} has stopped to renew the lease of {} while others go on: {}.", leader.lease, leader.work))
            .next(format!("Look at {} on {node}: its log, its certificate, its access to the API; then restart it.", leader.lease))
            .since(Some(renewed))
            .fact("holder", holder)
            .fact("renewTime", renewed.rfc3339())
            .evidence(root.clone(), "spec.renewTime", renewed.rfc3339(), Some(renewed))
            .evidence(root, "spec.holderIdentity", holder, None)
            .waits_on(ObjectRef::new("Node", "", node))
            .waits_on(ObjectRef::new("Pod", "kube-system", &format!("{}-{node}", leader.lease))),
    )
}

enum Silence {
    TakingOver,
    Lasting,
}

impl Silence {
    /// A lease is old by others of the cluster, not by our clock alone: we read them now and then.
    fn of(cx: &Cx<'_>, leader: &Leader, renewed: Time) -> Option<Self> {
        let newest = |namespace| newest(cx, namespace, leader.lease);
        let leaders = newest("kube-system");
        let behind = leaders.map(|at| at.since(renewed));
        if behind.is_some_and(|b| b > EXPIRES && b <= NOBODY_TOOK_OVER) && !cx.passed(renewed.plus(READ_APART)) {
            return Some(Self::TakingOver);
        }
        if !cx.passed(renewed.plus(NOBODY_TOOK_OVER)) {
            return None;
        }
        let nodes = newest("kube-node-lease");
        let others_go_on = behind.is_some_and(|b| b > NOBODY_TOOK_OVER) || nodes.is_some_and(|at| at.since(renewed) > READ_APART);
        let alone = leaders.is_none() && nodes.is_none() && cx.passed(renewed.plus(READ_APART));
        let lasting = (others_go_on || alone) && frozen::since(cx).is_none() && !is_alive(cx, leader, renewed);
        lasting.then_some(Self::Lasting)
    }
}

fn newest(cx: &Cx<'_>, namespace: &str, but: &str) -> Option<Time> {
    cx.all::<Lease>(Some(namespace)).filter(|l| &*l.meta.name != but).filter_map(|l| l.spec.renew_time).max()
}

/// An event of one of its controllers that is newer: the lease is a left-over, leader election is off now.
fn is_alive(cx: &Cx<'_>, leader: &Leader, renewed: Time) -> bool {
    cx.any(None, |e: &Event| (leader.is_part)(&e.source) && e.last.is_some_and(|at| at.since(renewed) > NOBODY_TOOK_OVER))
}
