//! Standing: since when a pod has not been ready, and on what node it stands. Shared by the layers that judge pods.

use crate::diagnose::{Cx, Finding, Key};
use crate::model::{ContainerRole, ObjectRef, Pod, Time};

/// Since when the pod has not been ready: the change of its condition, else its creation.
pub(super) fn unready_since(pod: Pod<'_>) -> Option<Time> {
    let condition = pod.condition("Ready").filter(|c| !c.is_true());
    condition.and_then(|c| c.last_transition_time).or(pod.created())
}

/// The pod's node, where it is known not to be Ready: what its kubelet last wrote is frozen then.
pub(super) fn dead_node(cx: &Cx<'_>, pod: Pod<'_>) -> Option<ObjectRef> {
    let name = pod.node()?;
    let node = cx.unwell_node(name)?;
    (!node.is_ready()).then(|| ObjectRef::new("Node", "", name))
}

/// A finding about the workload of a pod: keyed and rooted there, and held up by the pod's node if that is down.
pub(super) fn of_workload(cx: &Cx<'_>, pod: Pod<'_>, finding: fn(Key, ObjectRef) -> Finding) -> Finding {
    let workload = cx.workload_of(pod);
    placed(cx, pod, finding(Key::object(&workload), workload))
}

/// The same with a key of its own.
pub(super) fn keyed(cx: &Cx<'_>, pod: Pod<'_>, key: Key, finding: fn(Key, ObjectRef) -> Finding) -> Finding {
    placed(cx, pod, finding(key, cx.workload_of(pod)))
}

fn placed(cx: &Cx<'_>, pod: Pod<'_>, mut finding: Finding) -> Finding {
    if let Some(node) = pod.node() {
        finding = finding.fact("node", node);
    }
    finding.waits_on.extend(dead_node(cx, pod));
    finding.since(unready_since(pod))
}

/// The workload before what it suffers, where nothing else in the title says whom it is about.
pub(super) fn named(mut finding: Finding) -> Finding {
    if finding.key == Key::object(&finding.root) {
        finding.title = format!("{}: {}", finding.root.place(), finding.title).into();
    }
    finding
}

/// `status.containerStatuses[name=web].state.waiting`
pub(super) fn status_path(role: ContainerRole, container: &str, field: &str) -> String {
    let list = match role {
        ContainerRole::Init => "initContainerStatuses",
        ContainerRole::App => "containerStatuses",
    };
    format!("status.{list}[name={container}].{field}")
}
