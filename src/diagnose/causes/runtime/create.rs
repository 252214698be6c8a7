//! Containers that the runtime does not make: the runtime's own errors before any process.

use super::{ROW, config, start};
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, texts};
use crate::model::{ContainerRole, ContainerStatus, Pod};

pub(super) const GENERIC: Cause = Cause {
    id: "create-container-error",
    title: "The runtime cannot make the container",
    explanation: "The kubelet asked the runtime to create the container and got an error that names no known reason. It asks again every few seconds, without crash back-off.",
    told_apart: "CRI-O reports here what containerd reports when it starts a container: an executable that is missing is start-executable-not-found in both.",
    cure: "Read the message: it is the runtime's own.",
    ..ROW
};

pub(super) const RESERVED: Cause = Cause {
    id: "container-name-reserved",
    title: "An earlier attempt to make the container is still running",
    explanation: "The runtime was slow, the kubelet's call timed out, and its next attempts collide with the first one, which still holds the container's name. Slow disks are behind most of these. The container does come up once the first attempt ends; some runtimes leak the name, then they need a restart.",
    told_apart: "Nothing in the manifest is named twice: the name is made from pod and container by the kubelet.",
    cure: "Relieve the node's disk; restart its container runtime if it lasts.",
    ..ROW
};

/// Seconds after which an earlier attempt is no longer expected to end.
const LEAKED: i64 = 600;

pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    let (role, status, message) = pod.container_statuses().find_map(|(role, status)| {
        let waiting = status.state.waiting.as_ref().filter(|w| &*w.reason == "CreateContainerError")?;
        let event = config::error_event(cx, pod, status).map_or("", |e| e.message.trim_start_matches("Error: "));
        Some((role, status, if waiting.message.is_empty() { event } else { &*waiting.message }))
    })?;
    let (id, finding) =
        if message.contains("reserve container name") || message.contains("name is reserved") || message.contains("is already in use by") {
            (RESERVED.id, reserved(cx, pod, status, message))
        } else {
            start::of_text(cx, pod, status, message).unwrap_or_else(|| (GENERIC.id, unknown(cx, pod, status, message)))
        };
    Some((id, prove(cx, pod, role, status, finding)))
}

/// What the runtime says now, and the newest event that says something else.
fn prove(cx: &Cx<'_>, pod: Pod<'_>, role: ContainerRole, status: &ContainerStatus, finding: Finding) -> Finding {
    let waiting = status.state.waiting.as_ref().map_or("", |w| &*w.message);
    let path = standing::status_path(role, &status.name, "state.waiting");
    let finding = finding.fact("container", &status.name).evidence(pod.reference(), path, format!("CreateContainerError: {waiting}"), None);
    match config::error_event(cx, pod, status) {
        Some(event) => finding.event(pod.reference(), event),
        None => finding,
    }
}

/// An error without a known reason. A call that timed out may succeed next time; anything else meets the same again.
pub(super) fn unknown(cx: &Cx<'_>, pod: Pod<'_>, status: &ContainerStatus, message: &str) -> Finding {
    let slow = message.contains("deadline exceeded") && !cx.older(standing::unready_since(pod), LEAKED);
    let (_, why) = texts::rpc(message);
    standing::of_workload(cx, pod, if slow { Finding::delayed } else { Finding::blocked })
        .title(format!("container {} cannot be made", status.name))
        .because(format!("the runtime refuses to make container {}: {why}.", status.name))
        .next("Read the runtime's message; look at the container's command, mounts and image, then at the node's runtime.")
        .clock(ClockKind::Retry, "pod sync", None)
}

fn reserved(cx: &Cx<'_>, pod: Pod<'_>, status: &ContainerStatus, message: &str) -> Finding {
    let began = config::error_event(cx, pod, status).and_then(|e| e.first).or(standing::unready_since(pod));
    let leaked = cx.older(began, LEAKED);
    let node = pod.node().unwrap_or("the node");
    let mut finding = standing::of_workload(cx, pod, if leaked { Finding::blocked } else { Finding::delayed })
        .title(format!("{node} is still making container {} from an earlier attempt", status.name))
        .because(format!(
            "an earlier call to make container {} timed out and still holds its name on {node}; every retry meets it.",
            status.name
        ))
        .next(format!("Look at disk and runtime of {node}; if it lasts, restart the container runtime there."))
        .clock(ClockKind::Retry, "pod sync", None);
    if let Some(stage) = texts::capture(r"Currently at stage ([^:]+):", message) {
        finding = finding.fact("stage", stage);
    }
    finding
}
