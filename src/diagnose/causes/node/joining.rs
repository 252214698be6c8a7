//! Nodes that are not in service yet, or not any more, on somebody's word: taints of controllers, cordons.

use super::together::{Together, reference};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage, Workload};
use crate::model::{DaemonSet, Deployment, Kind, Node, ObjectRef, Taint, Time};

pub(super) const CLOUD: Cause = Cause {
    id: "node-cloud-uninitialized",
    layer: Layer::Node,
    stage: Stage::Cluster,
    generic: false,
    symptom: false,
    title: "The cloud controller has not initialized a node",
    explanation: "A kubelet started with an external cloud provider registers its node with the taint node.cloudprovider.kubernetes.io/uninitialized. The cloud controller manager sets providerID and addresses and removes the taint.",
    told_apart: "The node is Ready: kubelet and network are not the trouble. Pods that do not tolerate the taint are a consequence.",
    cure: "Find out why the cloud controller manager does not initialize the node: its log, its cloud credentials, the node's name in the cloud.",
    docs: "tasks/administer-cluster/running-cloud-controller/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::Node(cloud),
};

pub(super) const STARTUP: Cause = Cause {
    id: "node-startup-taint",
    layer: Layer::Node,
    stage: Stage::Cluster,
    generic: false,
    symptom: false,
    title: "A start-up taint stays on a node",
    explanation: "An agent (network plugin, storage driver, node provisioner) keeps pods off a new node with a taint of its own and removes it once it works there.",
    told_apart: "Taints with which somebody reserves nodes are no trouble of the node.",
    cure: "Look at the agent's pod on that node.",
    docs: "concepts/scheduling-eviction/taint-and-toleration/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::Node(startup),
};

pub(super) const CORDONED: Cause = Cause {
    id: "node-cordoned-obj",
    layer: Layer::Node,
    stage: Stage::Cluster,
    generic: false,
    symptom: false,
    title: "A node is cordoned or is being removed",
    explanation: "spec.unschedulable, or the taint of an autoscaler that removes the node. It is on purpose and holds nothing up by itself.",
    told_apart: "Pods that would fit nowhere else are told as node-cordoned.",
    cure: "kubectl uncordon, once its maintenance is over.",
    docs: "concepts/architecture/nodes/#manual-node-administration",
    needs: &[Kind::Node],
    clears: 0,
    judge: Judge::Node(cordoned),
};

const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
/// A cloud controller that works needs seconds.
const JOINING: i64 = 120;
/// Agents pull their image first.
const STARTING: i64 = 180;

/// Taints with which an autoscaler removes a node.
pub(super) fn is_leaving(key: &str) -> bool {
    key.starts_with("ToBeDeletedByClusterAutoscaler") || matches!(key, "karpenter.sh/disrupted" | "karpenter.sh/disruption")
}

fn is_startup(taint: &Taint) -> bool {
    let key = &*taint.key;
    !key.starts_with("node.kubernetes.io/")
        && (key == "karpenter.sh/unregistered"
            || ["agent-not-ready", "/not-ready", "/unready", "/uninitialized-agent"].iter().any(|end| key.ends_with(end)))
}

fn joined(node: &Node, taint: &Taint) -> Option<Time> {
    taint.time_added.or(node.meta.created)
}

fn uninitialized(node: &Node) -> Option<Time> {
    node.spec.taints.iter().find(|t| &*t.key == UNINITIALIZED).and_then(|t| joined(node, t))
}

fn cloud(cx: &Cx<'_>, node: &Node) -> Option<Finding> {
    let at = uninitialized(node)?;
    let taint = node.spec.taints.iter().find(|t| &*t.key == UNINITIALIZED)?;
    let (root, together) = (reference(node), Together::of(cx, node, CLOUD.id, uninitialized));
    let names = together.names(node);
    let key = Key::object(&root);
    let finding = if cx.passed(at.plus(JOINING)) {
        Finding::blocked(key, root.clone())
    } else {
        Finding::delayed(key, root.clone()).clock(ClockKind::Grace, "a node that joins", Some(at.plus(JOINING)))
    };
    let managers = managers(cx);
    let who = managers.first().map_or_else(|| "the cloud controller manager".to_owned(), |m| format!("the cloud controller manager ({m})"));
    let provider = if node.spec.provider_id.is_empty() { "spec.providerID is empty" } else { "spec.providerID is set" };
    let mut finding = finding
        .title(format!("the cloud controller has not initialized {names}"))
        .because(format!(
            "{names} {} taint {taint} since joining and {provider}: {who} has not done its part.",
            together.verb("keeps", "keep")
        ))
        .next(format!("Find out why {who} does not initialize {names}: its log, its cloud credentials, the node names in the cloud."))
        .fact("taint", taint)
        .fact("providerID", if node.spec.provider_id.is_empty() { "none" } else { &node.spec.provider_id })
        .since(Some(at))
        .evidence(root, format!("spec.taints[key={UNINITIALIZED}]"), taint.to_string(), Some(at));
    finding.waits_on.extend(managers);
    Some(together.widen(finding))
}

/// Workloads that are cloud controllers by their name.
fn managers(cx: &Cx<'_>) -> Vec<ObjectRef> {
    let ns = Some("kube-system");
    let named = |w: &Workload<'_>| {
        let name = &w.meta().name;
        name.contains("cloud-controller") || name.ends_with("-ccm") || &**name == "ccm"
    };
    let all = cx.all::<Deployment>(ns).map(Workload::Deployment).chain(cx.all::<DaemonSet>(ns).map(Workload::DaemonSet));
    all.filter(named).map(Workload::reference).collect()
}

fn startup(cx: &Cx<'_>, node: &Node) -> Option<Finding> {
    let taint = node.spec.taints.iter().find(|t| is_startup(t) && &*t.effect != "PreferNoSchedule")?;
    let at = joined(node, taint)?;
    let (root, name) = (reference(node), &node.meta.name);
    let key = Key::object(&root);
    let finding = if cx.passed(at.plus(STARTING)) {
        Finding::blocked(key, root.clone())
    } else {
        Finding::delayed(key, root.clone()).clock(ClockKind::Grace, "an agent that starts", Some(at.plus(STARTING)))
    };
    Some(
        finding
            .title(format!("start-up taint {} stays on {name}", taint.key))
            .because(format!("{name} carries {taint}: the agent that set it has not reported that it works there."))
            .next(format!("Look at that agent's pod on {name}."))
            .fact("taint", taint)
            .since(Some(at))
            .evidence(root, format!("spec.taints[key={}]", taint.key), taint.to_string(), Some(at)),
    )
}

fn cordoned(_: &Cx<'_>, node: &Node) -> Option<Finding> {
    let root = reference(node);
    if let Some(taint) = node.spec.taints.iter().find(|t| is_leaving(&t.key)) {
        return Some(Finding::quiet(root, format!("it is being removed: taint {taint}")).since(taint.time_added));
    }
    let since = node.spec.taints.iter().find(|t| &*t.key == "node.kubernetes.io/unschedulable").and_then(|t| t.time_added);
    node.spec.unschedulable.then(|| Finding::quiet(root, "it is cordoned (spec.unschedulable)").since(since))
}
