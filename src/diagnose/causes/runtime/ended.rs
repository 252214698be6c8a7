//! Pods that have ended for good: evicted, out of time, or simply failed. Silent where a replacement runs or nobody misses them.

use super::ROW;
use super::rejected;
use crate::diagnose::causes::{exits, standing};
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Stage, texts};
use crate::model::{Condition, Kind, Node, ObjectRef, Phase, Pod, Time};

pub(super) const EVICTED: Cause = Cause {
    id: "pod-evicted-node-pressure",
    stage: Stage::Ended,
    title: "The node evicts pods because it runs short",
    explanation: "The kubelet ended the pod because its node ran out of memory, disk, inodes or process ids. The pod stays as a Failed object; its controller makes another.",
    told_apart: "pod-evicted-local-limit is a limit of the pod itself. Old evicted pods whose replacement runs are history.",
    cure: "Let requests equal real use, free what the node lacks, or use larger nodes.",
    docs: "concepts/scheduling-eviction/node-pressure-eviction/",
    clears: 300,
    judge: Judge::Pods(judge),
    ..ROW
};

pub(super) const LOCAL_LIMIT: Cause = Cause {
    id: "pod-evicted-local-limit",
    stage: Stage::Ended,
    title: "A pod is evicted for the disk it uses",
    explanation: "The pod used more local storage than a limit of its own allows: of a container, of all, or of an emptyDir.",
    told_apart: "The node is fine; pod-evicted-node-pressure is about the node.",
    cure: "Raise the limit, or write less to local storage.",
    docs: "concepts/configuration/manage-resources-containers/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

pub(super) const DEADLINE: Cause = Cause {
    id: "pod-deadline-exceeded",
    stage: Stage::Ended,
    title: "A pod has used up its active deadline",
    explanation: "The pod's own activeDeadlineSeconds has passed, so the kubelet ended it.",
    told_apart: "A Job's activeDeadlineSeconds is another field and ends all its pods (job-deadline).",
    cure: "Raise activeDeadlineSeconds, or find what made it slow.",
    docs: "concepts/workloads/pods/init-containers/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

pub(super) const TERMINAL: Cause = Cause {
    id: "restart-policy-terminal",
    stage: Stage::Ended,
    title: "A pod without a controller has failed for good",
    explanation: "No container of the pod is started again (restartPolicy), and no controller makes another pod.",
    told_apart: "Pods of a Job, ReplicaSet or StatefulSet are counted and replaced by their controller.",
    cure: "Find out why it failed, delete it and create it again; or let a Job or Deployment own it.",
    docs: "concepts/workloads/pods/pod-lifecycle/",
    judge: Judge::By("pod-evicted-node-pressure"),
    ..ROW
};

/// Ends that lie further back are history, whatever they were.
const RECENT: i64 = 600;

/// A bare pod that failed longer ago was seen by whoever wanted it.
const FORGOTTEN: i64 = 86_400;

pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    if pod.phase() != Phase::Failed || !is_missed(cx, pod) {
        return None;
    }
    let status = pod.status();
    let said = &*status.message;
    let (id, finding) = match &*status.reason {
        "Evicted" if said.contains("low on resource") => (EVICTED.id, evicted(cx, pod)),
        "Evicted" if said.contains("node had condition") => (EVICTED.id, evicted(cx, pod)),
        "Evicted" => (LOCAL_LIMIT.id, local_limit(cx, pod)),
        "DeadlineExceeded" => (DEADLINE.id, deadline(cx, pod)),
        "" => (TERMINAL.id, terminal(cx, pod)),
        reason => rejected::judge(cx, pod, reason)?,
    };
    let finding = finding.fact("reason", &status.reason).since(ended_at(pod));
    let path = if said.is_empty() { "status.phase" } else { "status.message" };
    let text = if said.is_empty() { "Failed" } else { said };
    Some((id, finding.evidence(pod.reference(), path, text, ended_at(pod))))
}

/// Whether somebody waits for this pod although it has ended.
fn is_missed(cx: &Cx<'_>, pod: Pod<'_>) -> bool {
    let Some(owner) = pod.owner() else { return is_missed_alone(cx, pod) };
    let kind = Kind::of(&owner.api_version, &owner.kind);
    if !matches!(kind, Kind::ReplicaSet | Kind::ReplicationController | Kind::StatefulSet | Kind::DaemonSet) {
        return false;
    }
    let object = ObjectRef::new(kind.row().name, pod.namespace(), &owner.name);
    let short = cx.workload(&object).is_some_and(|w| w.ready() < w.desired());
    short && !pod.status().reason.is_empty() && !long_ago(cx, pod, RECENT) && recurs(cx, pod, &owner.uid)
}

/// Its controller has made another one, which ended alike: it will not help to make a third.
fn recurs(cx: &Cx<'_>, pod: Pod<'_>, owner: &str) -> bool {
    let alike = |p: &Pod<'_>| p.phase() == Phase::Failed && p.status().reason == pod.status().reason && !long_ago(cx, *p, RECENT);
    cx.pods_of(owner).iter().filter(|p| alike(p)).count() > 1
}

/// Tests of a release and pods of yesterday are looked at by whoever made them.
fn is_missed_alone(cx: &Cx<'_>, pod: Pod<'_>) -> bool {
    pod.annotation("helm.sh/hook").is_none() && !long_ago(cx, pod, FORGOTTEN)
}

fn long_ago(cx: &Cx<'_>, pod: Pod<'_>, seconds: i64) -> bool {
    cx.older(ended_at(pod), seconds)
}

/// When it ended, as far as it says.
fn ended_at(pod: Pod<'_>) -> Option<Time> {
    let containers = pod.container_statuses().filter_map(|(_, s)| s.state.terminated.as_ref().and_then(|t| t.finished_at)).max();
    let condition = ["DisruptionTarget", "Ready"].iter().find_map(|kind| pod.condition(kind).and_then(|c| c.last_transition_time));
    containers.max(condition).or(pod.status().start_time).or(pod.created())
}

fn evicted(cx: &Cx<'_>, pod: Pod<'_>) -> Finding {
    let node = pod.node().unwrap_or("its node");
    let said = &*pod.status().message;
    let resource =
        texts::capture(r"low on resource: ([^. ]+)", said).or(texts::capture(r"had condition: \[([^\]]+)\]", said)).unwrap_or("a resource");
    let object = ObjectRef::new("Node", "", node);
    let mut finding = standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("{node} evicts pods: low on {resource}"))
        .because(format!("the kubelet of {node} ended the pod because the node was low on {resource}."))
        .next(format!("Free {resource} on {node}, raise the pod's {resource} request to its real use, or use larger nodes."))
        .fact("resource", resource)
        .wider(Key::object(&object));
    for (name, pattern) in [("threshold", r"Threshold quantity: ([^,]+),"), ("available", r"available: ([^ ]+?)\. ")] {
        if let Some(value) = texts::capture(pattern, said) {
            finding = finding.fact(name, value);
        }
    }
    if is_pressed(cx, node) { finding.waits_on(object) } else { finding }
}

fn is_pressed(cx: &Cx<'_>, node: &str) -> bool {
    let node = cx.get::<Node>("", node).is();
    node.is_some_and(|n| n.status.conditions.iter().any(|c| c.kind.ends_with("Pressure") && Condition::is_true(c)))
}

fn local_limit(cx: &Cx<'_>, pod: Pod<'_>) -> Finding {
    let said = pod.status().message.trim();
    standing::of_workload(cx, pod, Finding::blocked)
        .title("a pod is evicted for the local storage it uses")
        .because(format!("the kubelet ended the pod: {said}"))
        .next("Raise that limit, or let the pod write less to local storage.")
}

fn deadline(cx: &Cx<'_>, pod: Pod<'_>) -> Finding {
    let seconds = pod.spec().active_deadline_seconds.map_or_else(|| "its deadline".to_owned(), |s| format!("activeDeadlineSeconds {s}"));
    standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("a pod has used up {seconds}"))
        .because(format!("the pod was active for longer than {seconds}, so the kubelet ended it."))
        .next("Raise activeDeadlineSeconds, or find what made it slow; then create it anew.")
}

fn terminal(cx: &Cx<'_>, pod: Pod<'_>) -> Finding {
    let failed = pod.container_statuses().filter_map(|(role, s)| exits::of(pod, role, s)).find(|e| e.end.exit_code != 0);
    let policy = &pod.spec().restart_policy;
    let finding = standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("pod {} has failed for good", pod.name()))
        .because(format!("restartPolicy {policy} starts no container again, and no controller makes another pod."))
        .next(format!("Read its log, delete it and create it again: kubectl -n {} logs {}", pod.namespace(), pod.name()))
        .fact("restartPolicy", policy);
    match failed {
        Some(exit) => {
            let name = &exit.status.name;
            let mut finding = finding.title(format!(
                "pod {} has failed for good: container {name} ended with exit code {}",
                pod.name(),
                exit.end.exit_code
            ));
            finding.because = format!("container {name} ended with {}, and {}", exit.in_words(), finding.because).into();
            exit.prove(finding)
        }
        None => finding,
    }
}
