//! Pods of nodes that are down, and pods that a node's kubelet ignores.

use crate::diagnose::causes::standing;
use crate::diagnose::scheduling::place::tolerates;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage};
use crate::model::{Kind, Node, ObjectRef, Phase, Pod, Seen, Time};

pub(super) const DEAD: Cause = Cause {
    id: "pod-on-dead-node",
    layer: Layer::Node,
    stage: Stage::Deleting,
    generic: false,
    symptom: false,
    title: "A deleted pod cannot end: its node is down",
    explanation: "Only the kubelet ends a pod. Its node is silent or gone, so the pod stays Terminating; a StatefulSet does not replace it, and its volumes stay attached.",
    told_apart: "With a node that is Ready the pod itself, a finalizer or a volume is slow to end.",
    cure: "Bring the node back, delete the Node, or taint it node.kubernetes.io/out-of-service; force-delete the pod only once its node is surely off.",
    docs: "concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::Pod(dead),
};

pub(super) const EVICTION: Cause = Cause {
    id: "taint-eviction-pending",
    layer: Layer::Node,
    stage: Stage::Node,
    generic: false,
    symptom: false,
    title: "Pods wait to be evicted from a tainted node",
    explanation: "A NoExecute taint deletes pods that tolerate it for some time only: 300 seconds for not-ready and unreachable unless the pod says otherwise. Until then they are not replaced.",
    told_apart: "Pods that tolerate the taint for ever (DaemonSets) are never evicted.",
    cure: "Wait for the eviction, or heal the node before it.",
    docs: "concepts/scheduling-eviction/taint-and-toleration/#taint-based-evictions",
    needs: &[Kind::Node],
    clears: 30,
    judge: Judge::Pod(eviction),
};

pub(super) const BY_NODE: Cause = Cause {
    id: "pods-not-ready-by-node",
    layer: Layer::Node,
    stage: Stage::Node,
    generic: false,
    symptom: false,
    title: "Pods are not ready because their node is not",
    explanation: "The node controller sets Ready to False on every pod of a node that is not ready. What their containers report is frozen, or waits for the node.",
    told_apart: "A pod whose own container fails on a node whose kubelet is alive is judged by that.",
    cure: "Heal the node.",
    docs: "concepts/architecture/nodes/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::Pod(by_node),
};

pub(super) const STALLED: Cause = Cause {
    id: "kubelet-stalled",
    layer: Layer::Node,
    stage: Stage::Starting,
    generic: false,
    symptom: false,
    title: "A kubelet ignores pods that are bound to its node",
    explanation: "The kubelet posts a Ready status, and writes nothing at all about pods bound to its node: no start time, no container, no event. Its loop over pods hangs, although the one that posts its status runs.",
    told_apart: "A pod that the kubelet has begun with has a start time and waiting containers. A silent kubelet loses Ready.",
    cure: "Restart the kubelet on the node and look at its log.",
    docs: "tasks/debug/debug-cluster/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::Pod(stalled),
};

/// A kubelet writes the first status within seconds, under load within a minute.
const FIRST_STATUS: i64 = 180;
/// The pod garbage collector removes pods of a node that is gone after 40 s, looking every 20 s.
const QUARANTINE: i64 = 60;

/// When the taint manager deletes the pod; `None` where it tolerates every NoExecute taint for ever.
pub(super) fn evicted_at(node: &Node, pod: Pod<'_>) -> Option<Time> {
    let at = |taint: &crate::model::Taint| {
        let covering = pod.spec().tolerations.iter().filter(|t| tolerates(std::slice::from_ref(*t), taint));
        let seconds: Vec<Option<i64>> = covering.map(|t| t.toleration_seconds).collect();
        // The shortest of the tolerations that end counts; one that never ends counts only alone.
        let wait = if seconds.is_empty() { Some(0) } else { seconds.into_iter().flatten().min() };
        taint.time_added.zip(wait).map(|(at, wait)| at.plus(wait))
    };
    node.spec.taints.iter().filter(|t| &*t.effect == "NoExecute").filter_map(at).min()
}

fn node_of<'a>(cx: &Cx<'a>, pod: Pod<'_>) -> Option<&'a Node> {
    cx.get::<Node>("", pod.node()?).is()
}

fn is_over(pod: Pod<'_>) -> bool {
    matches!(pod.phase(), Phase::Succeeded | Phase::Failed)
}

fn dead(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let deleted = pod.deleted()?;
    let name = pod.node()?;
    let node = ObjectRef::new("Node", "", name);
    let workload = cx.workload_of(pod);
    let silent = match cx.get::<Node>("", name) {
        Seen::Is(n) => n.condition("Ready").is_none_or(|c| &*c.status == "Unknown"),
        Seen::Absent => return gone(cx, pod, deleted, &workload),
        Seen::Unknown => false,
    };
    if !silent {
        return None;
    }
    if is_replaced(cx, &workload) {
        let why = format!("its node {name} is silent; the workload is complete without it");
        return Some(Finding::quiet(pod.reference(), why).since(Some(deleted)));
    }
    Some(
        Finding::blocked(Key::object(&node), node.clone())
            .title(format!("deleted pods cannot end: {name} is down"))
            .because(format!("Only the kubelet of {name} can end its pods, and it is silent; {} is not replaced before.", workload.place()))
            .next(format!("Bring {name} back, or taint it node.kubernetes.io/out-of-service=nodeshutdown:NoExecute if it is surely off."))
            .fact("node", name)
            .since(Some(deleted.plus(-pod.grace())))
            .evidence(pod.reference(), "metadata.deletionTimestamp", deleted.rfc3339(), Some(deleted))
            .waits_on(node),
    )
}

/// The Node object does not exist: the garbage collector takes the pod away.
fn gone(cx: &Cx<'_>, pod: Pod<'_>, deleted: Time, workload: &ObjectRef) -> Option<Finding> {
    let name = pod.node()?;
    if is_replaced(cx, workload) {
        return Some(
            Finding::quiet(pod.reference(), format!("its node {name} is gone; the workload is complete without it")).since(Some(deleted)),
        );
    }
    let until = deleted.plus(QUARANTINE);
    let late = cx.passed(until);
    let key = Key::object(&ObjectRef::new("Node", "", name));
    let finding = if late {
        Finding::blocked(key, workload.clone())
    } else {
        Finding::delayed(key, workload.clone()).clock(ClockKind::Grace, "the pod garbage collector", Some(until))
    };
    Some(
        finding
            .title(format!("deleted pods of node {name}, which does not exist, are still there"))
            .because(format!("Node {name} is gone, so nobody ends its pods; the garbage collector removes them within a minute."))
            .next(if late {
                "Look at the controller manager and at finalizers of the pod; force-delete the pod."
            } else {
                "Wait for the garbage collector."
            })
            .fact("node", name)
            .since(Some(deleted.plus(-pod.grace())))
            .evidence(pod.reference(), "metadata.deletionTimestamp", deleted.rfc3339(), Some(deleted)),
    )
}

/// The workload has all the ready pods it wants, so nobody misses this one.
fn is_replaced(cx: &Cx<'_>, workload: &ObjectRef) -> bool {
    cx.workload(workload).is_some_and(|w| w.ready() >= w.desired())
}

fn eviction(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if pod.deleted().is_some() || pod.is_ready() || is_over(pod) {
        return None;
    }
    let node = cx.unwell_node(pod.node()?)?;
    let at = evicted_at(node, pod).filter(|at| !cx.passed(*at))?;
    let (root, name) = (ObjectRef::new("Node", "", &node.meta.name), &node.meta.name);
    let taint = node.spec.taints.iter().find(|t| &*t.effect == "NoExecute")?;
    Some(
        Finding::delayed(Key::object(&root), root.clone())
            .clock(ClockKind::Grace, "eviction", Some(at))
            .title(format!("pods on {name} wait for their eviction"))
            .because(format!("{name} carries {taint}, which the pods tolerate for some time only; they are replaced after it."))
            .next(format!("Wait, or heal {name} before."))
            .fact("node", name)
            .fact("taint", taint)
            .since(standing::unready_since(pod))
            .evidence(root.clone(), format!("spec.taints[key={}]", taint.key), taint.to_string(), taint.time_added)
            .waits_on(root),
    )
}

fn by_node(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if pod.deleted().is_some() || pod.is_ready() || is_over(pod) {
        return None;
    }
    let node = cx.unwell_node(pod.node()?)?;
    if node.is_ready() {
        return None;
    }
    let alive = node.condition("Ready").is_some_and(|c| &*c.status == "False");
    if alive && has_own_trouble(pod) {
        return None;
    }
    let (root, name) = (ObjectRef::new("Node", "", &node.meta.name), &node.meta.name);
    let condition = node.condition("Ready");
    let status = condition.map_or("unknown", |c| &*c.status);
    let finding = Finding::blocked(Key::object(&root), root.clone())
        .title(format!("pods on {name} are not ready because the node is not"))
        .because(format!("{name} has Ready={status}, so its pods count as not ready whatever their containers do."))
        .next(format!("Heal {name}."))
        .fact("node", name)
        .since(standing::unready_since(pod))
        .waits_on(root.clone());
    Some(match condition {
        Some(c) => finding.evidence(root, "status.conditions[type=Ready].message", &*c.message, c.last_transition_time),
        None => finding,
    })
}

/// A container that fails by itself, as a kubelet that is alive reports it.
fn has_own_trouble(pod: Pod<'_>) -> bool {
    pod.container_statuses().any(|(_, s)| {
        let waits = s.state.waiting.as_ref().is_some_and(|w| !matches!(&*w.reason, "" | "ContainerCreating" | "PodInitializing"));
        waits || s.state.terminated.as_ref().is_some_and(|t| t.exit_code != 0)
    })
}

fn stalled(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if pod.deleted().is_some() || pod.phase() != Phase::Pending {
        return None;
    }
    let node = node_of(cx, pod).filter(|n| n.is_ready())?;
    let status = pod.status();
    let untouched = status.start_time.is_none()
        && pod.container_statuses().next().is_none()
        && status.conditions.iter().all(|c| &*c.kind == "PodScheduled");
    let bound = pod.condition("PodScheduled").and_then(|c| c.last_transition_time).or(pod.created());
    if !untouched || !cx.older(bound, FIRST_STATUS) {
        return None;
    }
    let spoke = cx.events(&pod.reference()).into_iter().any(|e| &*e.source == "kubelet");
    if spoke {
        return None;
    }
    let (root, name) = (ObjectRef::new("Node", "", &node.meta.name), &node.meta.name);
    let ready = node.condition("Ready");
    Some(
        Finding::blocked(Key::object(&root), root.clone())
            .title(format!("the kubelet of {name} ignores its new pods"))
            .because(format!("Pods are bound to {name} and its kubelet has written nothing about them: no start time, no container, no event. It still posts Ready."))
            .next(format!("Restart the kubelet on {name} and look at its log (its loop over pods hangs)."))
            .fact("node", name)
            .since(bound)
            .evidence(pod.reference(), "status.startTime", "none, although PodScheduled=True", bound)
            .evidence(root, "status.conditions[type=Ready].lastHeartbeatTime", ready.and_then(|c| c.last_heartbeat_time).map_or_else(String::new, Time::rfc3339), ready.and_then(|c| c.last_heartbeat_time)),
    )
}
