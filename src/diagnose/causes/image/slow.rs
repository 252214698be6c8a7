//! Pulls that only take long: the newest sign of the pod is that an image is being pulled.

use super::ROW;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage};
use crate::model::{ContainerStatus, Event, Pod};

pub(super) const SLOW: Cause = Cause {
    id: "image-pull-slow",
    stage: Stage::Starting,
    title: "A large image is being pulled",
    explanation: "The kubelet began to pull and has neither finished nor failed. It pulls one image at a time by default, so a pull may also queue behind others.",
    told_apart: "A failed pull shows in the container's waiting reason; here it is still ContainerCreating or PodInitializing.",
    cure: "Wait; pull large images ahead, make them smaller, or let the kubelet pull in parallel.",
    clears: 15,
    judge: Judge::Pod(slow),
    ..ROW
};

/// Shorter pulls are not worth a line.
const WORTH_A_LINE: i64 = 60;

/// What a kubelet writes about a container or its pod after a pull has ended.
const LATER_SIGNS: [&str; 9] =
    ["Pulled", "Failed", "BackOff", "Created", "Started", "InspectFailed", "FailedMount", "FailedCreatePodSandBox", "SandboxChanged"];

fn slow(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let status = pod.container_statuses().map(|(_, s)| s).find(|s| is_being_made(s))?;
    pod.node()?;
    let pulling = pulling(cx, pod, status)?;
    if !cx.older(pulling.last, WORTH_A_LINE) {
        return None;
    }
    let image = pod.spec().container(&status.name).map_or(&*status.image, |c| &*c.image);
    let finding = standing::keyed(cx, pod, Key::image(image), Finding::delayed)
        .title(format!("{image} is still being pulled"))
        .because(format!("the kubelet pulls the image of container {} and has not finished.", status.name))
        .next("Wait for the pull; it fails by itself after five minutes without progress.")
        .clock(ClockKind::Provisioning, "image pull", None)
        .fact("container", &status.name)
        .fact("image", image)
        .since(pulling.last)
        .event(pod.reference(), pulling);
    Some(finding)
}

/// Never started, and waiting without a reason of its own.
fn is_being_made(status: &ContainerStatus) -> bool {
    let waiting = status.state.waiting.as_ref().is_some_and(|w| matches!(&*w.reason, "ContainerCreating" | "PodInitializing"));
    waiting && status.container_id.is_empty() && status.restart_count == 0
}

/// The pull that is going on: no later sign of this container or of the whole pod.
fn pulling<'a>(cx: &Cx<'a>, pod: Pod<'_>, status: &ContainerStatus) -> Option<&'a Event> {
    let events = cx.events(&pod.reference());
    let pulling = *events.iter().find(|e| &*e.reason == "Pulling" && e.about.container().is_none_or(|c| c == &*status.name))?;
    let overtaken = events.iter().any(|e| {
        let its = e.about.container().is_none_or(|c| c == &*status.name);
        its && LATER_SIGNS.contains(&&*e.reason) && e.last > pulling.last
    });
    (!overtaken).then_some(pulling)
}
