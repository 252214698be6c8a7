//! Pods that no scheduler has looked at yet, or that one has promised a place.

use super::pending::Pending;
use crate::diagnose::causes::storage::unbound::is_binding;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage};
use crate::model::{Lease, ObjectRef, Phase, Pod, Time};

pub(super) const GATED: Cause = Cause {
    id: "scheduling-gated",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "Scheduling gates hold the pod back",
    explanation: "While spec.schedulingGates is not empty the scheduler does not look at the pod. Whoever owns a gate removes it; there is no time-out and no event.",
    told_apart: "An unschedulable pod has been looked at and found no node. A queue that says admitted removes its own gate only.",
    cure: "Let the owner of the gate admit the pod, or remove the gate that nobody owns.",
    docs: "concepts/scheduling-eviction/pod-scheduling-readiness/",
    needs: &[],
    clears: 30,
    judge: Judge::Pod(gated),
};

pub(super) const PREEMPTION: Cause = Cause {
    id: "preemption-in-progress",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "Pods of lower priority are making room",
    explanation: "The scheduler has chosen a node (status.nominatedNodeName) and deletes pods of lower priority there. The pod is placed when they are gone.",
    told_apart: "Without a nominated node preemption found nothing that would help.",
    cure: "Wait for the victims to end; if one does not, look at that pod.",
    docs: "concepts/scheduling-eviction/pod-priority-preemption/",
    needs: &[],
    clears: 30,
    judge: Judge::Pod(preempting),
};

pub(super) const UNKNOWN_SCHEDULER: Cause = Cause {
    id: "unknown-scheduler-name",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "No scheduler of that name answers",
    explanation: "spec.schedulerName names a scheduler of its own. Nothing in Kubernetes reports a name that nobody serves: the pod stays Pending without a condition.",
    told_apart: "With the default scheduler the same picture means that it does not run.",
    cure: "Correct schedulerName (the field of a pod cannot be changed: change the template), or start that scheduler.",
    docs: "tasks/extend-kubernetes/configure-multiple-schedulers/",
    needs: &[],
    clears: 30,
    judge: Judge::Pod(unknown_scheduler),
};

pub(super) const NO_SCHEDULER: Cause = Cause {
    id: "never-scheduled-no-scheduler",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "No scheduler has looked at the pod",
    explanation: "A running scheduler writes the condition PodScheduled within seconds. This pod has none, and no node.",
    told_apart: "A pod that is being bound (waiting for a volume) has no condition either; other pods are scheduled meanwhile then.",
    cure: "Bring kube-scheduler back: its lease in kube-system and its pods tell.",
    docs: "concepts/scheduling-eviction/kube-scheduler/",
    needs: &[],
    clears: 30,
    judge: Judge::Pod(no_scheduler),
};

/// A scheduler that runs answers within seconds.
const ANSWER: i64 = 30;
/// A lease renewed this lately belongs to a scheduler that runs.
const ALIVE: i64 = 60;
/// A long queue takes minutes.
const LONG_QUEUE: i64 = 600;
const DEFAULT: &str = "default-scheduler";

fn gated(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if !pod.is_gated() || pod.node().is_some() {
        return None;
    }
    let gates: Vec<&str> = pod.spec().scheduling_gates.iter().map(|g| &*g.name).collect();
    let workload = cx.workload_of(pod);
    let condition = pod.condition("PodScheduled").filter(|c| &*c.reason == "SchedulingGated");
    let list = gates.join(", ");
    let finding = Finding::blocked(Key::object(&workload), workload.clone())
        .title(format!("scheduling gate {list} holds {}", workload.place()))
        .because(format!(
            "The scheduler does not look at the pod while it has a scheduling gate; {}.",
            match gates.as_slice() {
                [only] => format!("whoever owns gate {only} has not removed it"),
                _ => format!("gates {list} are still there"),
            }
        ))
        .next(format!("Find who owns gate {list} and why it does not remove it; a gate without owner must be taken out of spec.schedulingGates by hand."))
        .fact("gates", &list)
        .since(condition.and_then(|c| c.last_transition_time).or(pod.created()))
        .evidence(pod.reference(), "spec.schedulingGates[].name", list.clone(), None);
    Some(match condition {
        Some(c) => finding.evidence(pod.reference(), "status.conditions[type=PodScheduled].message", &*c.message, c.last_transition_time),
        None => finding,
    })
}

fn preempting(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let node = &*pod.status().nominated_node_name;
    if node.is_empty() {
        return None;
    }
    let pending = Pending::of(cx, pod)?;
    // Since 1.35 a pod that is merely being bound has a nominated node too: only a pod that leaves the node is a victim.
    let victims: Vec<Pod<'_>> = cx.pods_on(node).into_iter().filter(|p| p.deleted().is_some()).collect();
    let until: Time = victims.iter().filter_map(|p| p.deleted()).max()?;
    let names: Vec<String> = victims.iter().take(4).map(|p| p.reference().place()).collect();
    let late = cx.passed(until.plus(ANSWER));
    let key = Key::object(&pending.workload);
    let verdict = if late { crate::diagnose::Verdict::Blocked } else { crate::diagnose::Verdict::Delayed };
    let mut finding = pending
        .finding(verdict, key, pending.workload.clone())
        .title(format!("{} waits for pods of lower priority to leave {node}", pending.workload.place()))
        .because(format!("The scheduler has chosen {node} and is making room there: {} must end first.", names.join(", ")))
        .next(if late { "Look at the pods that should be gone and are not.".to_owned() } else { "Wait for them to end.".to_owned() })
        .fact("node", node)
        .fact("victims", names.join(", "));
    finding.waits_on.extend(victims.iter().map(|p| p.reference()));
    Some(if late { finding } else { finding.clock(ClockKind::Grace, "pods that make room", Some(until)) })
}

/// No node, no gate, and nobody has written a condition for a while.
fn is_unseen(cx: &Cx<'_>, pod: Pod<'_>, patience: i64) -> bool {
    let unseen = pod.node().is_none() && pod.condition("PodScheduled").is_none() && pod.phase() == Phase::Pending;
    unseen && cx.older(pod.created(), patience) && !is_binding(cx, pod)
}

fn unknown_scheduler(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if !is_unseen(cx, pod, ANSWER) {
        return None;
    }
    let name = &*pod.spec().scheduler_name;
    if matches!(name, "" | DEFAULT) {
        return None;
    }
    let workload = cx.workload_of(pod);
    Some(
        Finding::blocked(Key::scheduler(name), workload.clone())
            .title(format!("no scheduler named {name} answers"))
            .because(format!(
                "The pod asks for scheduler {name}, and in {ANSWER} seconds nobody of that name has written anything about it."
            ))
            .next(format!("Correct schedulerName in the template of {}, or start {name}.", workload.place()))
            .fact("schedulerName", name)
            .since(pod.created())
            .evidence(pod.reference(), "spec.schedulerName", name, pod.created()),
    )
}

fn no_scheduler(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let lease = ObjectRef::new("Lease", "kube-system", "kube-scheduler");
    let renewed = cx.get::<Lease>("kube-system", "kube-scheduler");
    // A scheduler that renews its lease runs: then the queue is long, or the pod is being bound.
    let runs = renewed.is().is_some_and(|l| !cx.older(l.spec.renew_time, ALIVE));
    if !is_unseen(cx, pod, if runs { LONG_QUEUE } else { ANSWER }) {
        return None;
    }
    let workload = cx.workload_of(pod);
    let mut finding = Finding::blocked(Key::scheduler(DEFAULT), workload.clone())
        .title("no scheduler has looked at new pods")
        .because("The pod has no node and no PodScheduled condition: a running scheduler writes one within seconds.")
        .next("Bring kube-scheduler back: look at its pods and at the lease kube-system/kube-scheduler.")
        .since(pod.created())
        .evidence(pod.reference(), "status.conditions", "no PodScheduled", pod.created())
        .waits_on(lease.clone());
    if let Some(l) = cx.get::<Lease>("kube-system", "kube-scheduler").is() {
        let at = l.spec.renew_time;
        finding = finding.evidence(lease, "spec.renewTime", at.map_or_else(String::new, Time::rfc3339), at);
    }
    Some(finding)
}
