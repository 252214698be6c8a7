//! Nodes whose kubelet says nothing any more.

use super::together::{Together, reference};
use crate::diagnose::causes::node::pods::evicted_at;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage};
use crate::model::{Kind, Lease, Node, ObjectRef, Time};

pub(super) const UNREACHABLE: Cause = Cause {
    id: "node-unreachable",
    layer: Layer::Node,
    stage: Stage::Cluster,
    generic: false,
    symptom: false,
    title: "A node's kubelet is silent",
    explanation: "Neither the node's status nor its lease was renewed for the grace period (50 seconds, 40 up to 1.31), so the node controller set Ready to Unknown and the unreachable taint. What pods there say is frozen. After five minutes they are deleted, and stay Terminating until the node is back, gone, or tainted out-of-service.",
    told_apart: "Ready=False comes from a kubelet that is alive and says what is wrong. The last heartbeat, not the transition, says since when the node is silent.",
    cure: "Bring the node or its kubelet back (power, network, an expired client certificate); delete the Node, or taint it node.kubernetes.io/out-of-service, only if it is surely off.",
    docs: "concepts/architecture/nodes/#node-status",
    needs: &[Kind::Node],
    clears: 120,
    judge: Judge::Node(unreachable),
};

/// Until then pods count as if they were still there.
const EVICTION: i64 = 300;

fn when(node: &Node) -> Option<Time> {
    let ready = node.condition("Ready").filter(|c| &*c.status == "Unknown")?;
    ready.last_transition_time.or(ready.last_heartbeat_time).or(node.meta.created)
}

fn unreachable(cx: &Cx<'_>, node: &Node) -> Option<Finding> {
    let declared = when(node)?;
    let ready = node.condition("Ready")?;
    let root = reference(node);
    if let Some(taint) = node.spec.taints.iter().find(|t| super::joining::is_leaving(&t.key)) {
        return Some(Finding::quiet(root, format!("it is being removed: taint {taint}")).since(Some(declared)));
    }
    let lease = ObjectRef::new("Lease", "kube-node-lease", &node.meta.name);
    let renewed = cx.get::<Lease>("kube-node-lease", &node.meta.name).is().and_then(|l| l.spec.renew_time);
    let alive = [ready.last_heartbeat_time, renewed].into_iter().flatten().max();
    let together = Together::of(cx, node, UNREACHABLE.id, when);
    let names = together.names(node);
    let pods = cx.pods_on(&node.meta.name);
    let eviction: Option<Time> =
        pods.iter().filter(|p| p.deleted().is_none()).filter_map(|p| evicted_at(node, *p)).filter(|at| !cx.passed(*at)).min();
    let gone = pods.iter().any(|p| p.deleted().is_some()) || cx.older(Some(declared), EVICTION);
    let key = Key::object(&root);
    let finding = match eviction {
        Some(at) => Finding::delayed(key, root.clone()).clock(ClockKind::Grace, "eviction of its pods", Some(at)),
        None if gone => Finding::blocked(key, root.clone()),
        None => Finding::delayed(key, root.clone()).clock(ClockKind::Grace, "the node may come back", Some(declared.plus(EVICTION))),
    };
    let never = if &*ready.reason == "NodeStatusNeverUpdated" { " It has never posted a status: it did not join." } else { "" };
    let mut finding = finding
        .title(format!("{} {names} {}", together.verb("the kubelet of", "the kubelets of"), together.verb("is silent", "are silent")))
        .because(format!("{names} {} no status and {} no lease any more (Ready=Unknown); what pods there report is frozen.{never}", together.verb("posts", "post"), together.verb("renews", "renew")))
        .next(format!("Bring {names} back: power, network, kubelet, its client certificate. Delete the Node, or taint it node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, only if it is surely off."))
        .fact("node", &node.meta.name)
        .since([alive, Some(declared)].into_iter().flatten().min())
        .evidence(root.clone(), "status.conditions[type=Ready].message", &*ready.message, Some(declared));
    if let Some(at) = ready.last_heartbeat_time {
        finding = finding.fact("last heartbeat", at.rfc3339()).evidence(
            root,
            "status.conditions[type=Ready].lastHeartbeatTime",
            at.rfc3339(),
            Some(at),
        );
    }
    if let Some(at) = renewed {
        finding = finding.evidence(lease, "spec.renewTime", at.rfc3339(), Some(at));
    }
    Some(together.widen(finding))
}
