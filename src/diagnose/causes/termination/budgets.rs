//! Budgets that forbid a drain: the refusal stands in no object, only what was wanted does.

use super::ROW;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage};
use crate::model::{Node, ObjectRef, Phase, Pod, PodDisruptionBudget, Time};

pub(super) const EVICTION: Cause = Cause {
    id: "pdb-blocks-eviction",
    stage: Stage::Cluster,
    title: "A disruption budget forbids draining a node",
    explanation: "A node is cordoned, a pod that a PodDisruptionBudget covers is still on it, and the budget allows no disruption: the eviction is refused again and again. The refusal is only in the answer to whoever drains.",
    told_apart: "A budget at 0 alone is normal; nothing wants to evict then.",
    cure: "Add a replica, relax the budget, or let it evict unhealthy pods (unhealthyPodEvictionPolicy: AlwaysAllow).",
    docs: "concepts/workloads/pods/disruptions/",
    judge: Judge::Budget(eviction),
    ..ROW
};

/// Whoever drains has evicted the other pods within this time.
const DRAINING: i64 = 60;

fn eviction(cx: &Cx<'_>, budget: &PodDisruptionBudget) -> Option<Finding> {
    let status = &budget.status;
    if status.disruptions_allowed > 0 || status.expected_pods == 0 {
        return None;
    }
    let selector = budget.spec.selector.as_ref()?;
    let held: Vec<(Pod<'_>, &Node)> =
        cx.pods_selected(&budget.meta.namespace, selector).into_iter().filter_map(|pod| Some((pod, cordoned(cx, pod)?))).collect();
    let (pod, node) = held.first().copied()?;
    let since = held.iter().filter_map(|(_, node)| cordoned_since(cx, node)).min();
    if since.is_some_and(|at| !cx.passed(at.plus(DRAINING))) {
        return None;
    }
    let root = ObjectRef::new("PodDisruptionBudget", &budget.meta.namespace, &budget.meta.name);
    let never = status.desired_healthy >= status.expected_pods;
    let mut finding =
        if never { Finding::blocked(Key::object(&root), root.clone()) } else { Finding::delayed(Key::object(&root), root.clone()) };
    finding = finding
        .title(format!("budget {} forbids draining {}", root.place(), node.meta.name))
        .because(format!(
            "{} is cordoned and {} is still on it: the budget wants {} healthy of {} expected and has {}, so no eviction is allowed{}.",
            node.meta.name,
            pod.name(),
            status.desired_healthy,
            status.expected_pods,
            status.current_healthy,
            if never { ", however many become ready" } else { " until more pods are ready" }
        ))
        .next(format!("Add a replica to {}, or relax budget {}.", cx.workload_of(pod), root.name))
        .since(since)
        .fact("node", &node.meta.name)
        .fact("pod", pod.name())
        .fact("disruptionsAllowed", status.disruptions_allowed)
        .fact("desiredHealthy", status.desired_healthy)
        .fact("currentHealthy", status.current_healthy)
        .fact("expectedPods", status.expected_pods)
        .evidence(root, "status.disruptionsAllowed", format!("disruptionsAllowed: {}{}", status.disruptions_allowed, wanted(budget)), None)
        .evidence(ObjectRef::new("Node", "", &node.meta.name), "spec.unschedulable", "unschedulable: true", since);
    for (_, node) in &held {
        finding = finding.affecting(ObjectRef::new("Node", "", &node.meta.name));
    }
    if !never {
        finding = finding.waits_on(cx.workload_of(pod)).clock(ClockKind::Provisioning, "pods becoming ready", None);
    }
    Some(finding)
}

/// The pod's node, if it is cordoned and a drain would evict the pod.
fn cordoned<'a>(cx: &Cx<'a>, pod: Pod<'_>) -> Option<&'a Node> {
    let node = cx.get::<Node>("", pod.node()?).is().filter(|n| n.spec.unschedulable)?;
    let stays = pod.owner().is_some_and(|o| matches!(&*o.kind, "DaemonSet" | "Node"));
    let leaves = pod.deleted().is_some() || matches!(pod.phase(), Phase::Succeeded | Phase::Failed);
    (!stays && !leaves).then_some(node)
}

fn cordoned_since(cx: &Cx<'_>, node: &Node) -> Option<Time> {
    let taint = node.spec.taints.iter().find(|t| &*t.key == "node.kubernetes.io/unschedulable").and_then(|t| t.time_added);
    let event = || cx.newest_event(&ObjectRef::new("Node", "", &node.meta.name), &["NodeNotSchedulable"]).and_then(|e| e.last);
    taint.or_else(event)
}

fn wanted(budget: &PodDisruptionBudget) -> String {
    match (&budget.spec.min_available, &budget.spec.max_unavailable) {
        (Some(n), _) => format!(", minAvailable: {n}"),
        (None, Some(n)) => format!(", maxUnavailable: {n}"),
        (None, None) => String::new(),
    }
}
