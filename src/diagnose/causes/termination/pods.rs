//! Pods that end slowly: within their grace, or long after it on a node that is fine.

use super::ROW;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key};
use crate::model::{Node, ObjectRef, PersistentVolumeClaim, Pod, Seen, Time, VolumeAttachment};

pub(super) const SLOW: Cause = Cause {
    id: "pod-terminating-slow",
    title: "A deleted pod has not ended",
    explanation: "deletionTimestamp is the time of the request plus the grace. Up to then the containers may take their time. After it the kubelet kills them, unmounts their volumes and removes the pod.",
    told_apart: "On a node that is down it is pod-on-dead-node; with finalizers it is finalizer-blocked.",
    cure: "Within the grace wait. After it look at the node: containers that cannot be killed, volumes that cannot be unmounted.",
    docs: "concepts/workloads/pods/pod-lifecycle/",
    judge: Judge::Pod(slow),
    ..ROW
};

/// A grace that is shorter than this is not worth a line.
const WORTH_A_LINE: i64 = 60;

/// What the kubelet needs after the grace to kill and to clean up.
const CLEAN_UP: i64 = 30;

/// Unmounting may take some minutes, but not more.
const STUCK: i64 = 300;

fn slow(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let end = pod.deleted()?;
    let node = pod.node().filter(|_| pod.finalizers().is_empty())?;
    if !matches!(cx.get::<Node>("", node), Seen::Is(n) if n.is_ready()) {
        return None;
    }
    let asked = end.plus(-pod.grace());
    if !cx.passed(end.plus(CLEAN_UP)) {
        return cx.older(Some(asked), WORTH_A_LINE).then(|| graceful(pod, end, asked));
    }
    Some(overdue(cx, pod, node, end, asked))
}

fn graceful(pod: Pod<'_>, end: Time, asked: Time) -> Finding {
    let grace = pod.grace();
    base(pod, Finding::delayed, end, asked)
        .title(format!("pod {} takes its grace of {grace} s to end", pod.reference().place()))
        .because(format!("the pod was deleted and may take {grace} s to end."))
        .next("Wait until its grace is over; then the kubelet kills it.")
        .clock(ClockKind::Grace, "deletionGracePeriodSeconds", Some(end))
}

fn overdue(cx: &Cx<'_>, pod: Pod<'_>, node: &str, end: Time, asked: Time) -> Finding {
    let running: Vec<&str> = pod.container_statuses().filter(|(_, s)| s.state.running.is_some()).map(|(_, s)| &*s.name).collect();
    let attached = attached(cx, pod, node);
    let kind = if cx.passed(end.plus(STUCK)) { Finding::blocked } else { Finding::delayed };
    let why = match (running.as_slice(), attached.as_slice()) {
        ([], []) => "its containers have ended, and the kubelet has not finished cleaning up".to_owned(),
        ([], volumes) => {
            format!("its containers have ended; what is left is its volumes: {} is still attached to {node}", volumes.join(", "))
        }
        (names, _) => format!("container {} still runs although the grace is over", names.join(", ")),
    };
    let mut finding = base(pod, kind, end, asked)
        .title(format!("pod {} does not end on {node}", pod.reference().place()))
        .because(format!("the pod should have gone: {why}. {node} is Ready and no finalizer holds it."))
        .next(format!("Look at the kubelet's log of {node} for this pod; restart its kubelet or runtime if it lasts."))
        .clock(ClockKind::Grace, "deletionGracePeriodSeconds", Some(end))
        .fact("node", node);
    for (_, status) in pod.container_statuses() {
        if let Some(ended) = &status.state.terminated {
            let path = format!("status.containerStatuses[name={}].state.terminated", status.name);
            finding = finding.evidence(
                pod.reference(),
                path,
                format!("exitCode: {}, reason: {}", ended.exit_code, ended.reason),
                ended.finished_at,
            );
        }
    }
    if !attached.is_empty() {
        finding = finding.fact("volumes", attached.join(", "));
    }
    match cx.newest_event(&pod.reference(), &["FailedKillPod", "ExceededGracePeriod", "FailedPreStopHook", "Killing"]) {
        Some(event) => finding.event(pod.reference(), event),
        None => finding,
    }
}

fn base(pod: Pod<'_>, kind: fn(Key, ObjectRef) -> Finding, end: Time, asked: Time) -> Finding {
    let reference = pod.reference();
    kind(Key::object(&reference), reference.clone()).since(Some(asked)).fact("grace", format!("{}s", pod.grace())).evidence(
        reference,
        "metadata.deletionTimestamp",
        end.rfc3339(),
        Some(end),
    )
}

/// Volumes of the pod's claims that are still attached to the node.
fn attached(cx: &Cx<'_>, pod: Pod<'_>, node: &str) -> Vec<String> {
    let claims = pod.spec().claims(&pod.name());
    let volumes: Vec<&str> = claims
        .iter()
        .filter_map(|name| cx.get::<PersistentVolumeClaim>(pod.namespace(), name).is())
        .map(|c| &*c.spec.volume_name)
        .filter(|v| !v.is_empty())
        .collect();
    if volumes.is_empty() {
        return Vec::new();
    }
    let here = cx.all::<VolumeAttachment>(None).filter(|a| &*a.spec.node_name == node && a.status.attached);
    here.map(|a| &*a.spec.source.persistent_volume_name).filter(|v| volumes.contains(v)).map(str::to_owned).collect()
}
