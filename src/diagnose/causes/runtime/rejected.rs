//! Pods that their node did not take, or gave up: rejected at the kubelet's door, or shut down with the node.

use super::{ROW, ended};
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, Cx, Finding, Judge, Stage, texts};
use crate::model::Pod;

pub(super) const RESOURCES: Cause = Cause {
    id: "pod-rejected-resources",
    stage: Stage::Ended,
    title: "The node has no room for a pod that was given to it",
    explanation: "The kubelet counts again before it takes a pod, and found too little. Scheduler and kubelet disagree: a static pod, a pod bound by hand, a second scheduler.",
    told_apart: "The scheduler refuses earlier and says Unschedulable; then the pod stays Pending and is not Failed.",
    cure: "Do not bypass the scheduler; free the resource on that node.",
    docs: "concepts/scheduling-eviction/assign-pod-node/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

pub(super) const DEVICE: Cause = Cause {
    id: "pod-rejected-device",
    stage: Stage::Ended,
    title: "The node could not give the pod its devices",
    explanation: "The kubelet could not allocate devices, aligned CPUs or memory for the pod. Typical after a reboot, when the device plugin registers later than pods start.",
    told_apart: "pod-rejected-resources lacks plain resources.",
    cure: "Restore the device plugin of that node, then delete the failed pods.",
    docs: "concepts/extend-kubernetes/compute-storage-net/device-plugins/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

pub(super) const PREDICATE: Cause = Cause {
    id: "pod-rejected-predicate",
    stage: Stage::Ended,
    title: "The node does not take the pod",
    explanation: "The kubelet checks labels, taints, ports and features again, and refused the pod. After a reboot the node's labels may not have been restored yet.",
    told_apart: "The scheduler's own refusal leaves the pod Pending.",
    cure: "Restore the node's labels, or allow on the node what the pod needs; then delete the failed pods.",
    docs: "concepts/scheduling-eviction/assign-pod-node/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

pub(super) const SHUTDOWN: Cause = Cause {
    id: "node-shutdown",
    stage: Stage::Ended,
    title: "A pod went down with its node",
    explanation: "The node shut down in an orderly way and ended its pods, or refused new ones meanwhile.",
    told_apart: "Leftovers of a past shutdown whose replacements run are history.",
    cure: "Wait for the node; delete the leftovers.",
    docs: "concepts/cluster-administration/node-shutdown/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

/// The row for the reason that the kubelet gave; `None` for reasons that tell nothing about a node.
pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>, reason: &str) -> Option<(&'static str, Finding)> {
    let node = pod.node().unwrap_or("its node");
    let said = pod.status().message.trim_start_matches("Pod was rejected: ").trim();
    let id = match reason {
        _ if reason.starts_with("OutOf") => RESOURCES.id,
        "UnexpectedAdmissionError" | "TopologyAffinityError" | "SMTAlignmentError" | "EmptyPodSharedPoolError" => DEVICE.id,
        "Terminated" | "NodeShutdown" | "Shutdown" => SHUTDOWN.id,
        "Preempting" => return Some((ended::EVICTED.id, preempted(cx, pod))),
        "NodeAffinity" | "NodeName" | "NodePorts" | "TaintToleration" | "AppArmor" | "SysctlForbidden" | "InvalidNodeInfo" => PREDICATE.id,
        _ if said.starts_with("Predicate ") || said.contains("Failed to admit pod") => PREDICATE.id,
        _ => return None,
    };
    let (what, next) = match id {
        "pod-rejected-resources" => {
            let resource = texts::capture(r"enough resource: (\S+),", said).unwrap_or_else(|| reason.trim_start_matches("OutOf"));
            (format!("has too little {resource}"), format!("Free {resource} on {node}, and let the scheduler place the pods."))
        }
        "pod-rejected-device" => {
            ("cannot give it its devices".to_owned(), format!("Restore the device plugin of {node}, then delete the failed pods."))
        }
        "node-shutdown" => ("was shutting down".to_owned(), format!("Wait for {node}, then delete the failed pods.")),
        _ => ("does not take it".to_owned(), format!("Look at labels, taints and features of {node}, then delete the failed pods.")),
    };
    let finding = standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("{node} {what}: {reason}"))
        .because(format!("the kubelet of {node} did not keep the pod ({reason}): {said}"))
        .next(next);
    Some((id, finding))
}

fn preempted(cx: &Cx<'_>, pod: Pod<'_>) -> Finding {
    let node = pod.node().unwrap_or("its node");
    standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("{node} ends pods to make room for critical ones"))
        .because(format!("the kubelet of {node} ended the pod to admit a critical one."))
        .next(format!("Leave headroom on {node} for critical pods."))
}
