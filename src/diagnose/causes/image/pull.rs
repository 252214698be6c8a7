//! Pulls that fail, told apart by what the registry or the runtime says.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage};
use crate::model::Pod;

pub(super) const GENERIC: Cause = Cause {
    id: "image-pull-error-generic",
    layer: Layer::Image,
    stage: Stage::Containers,
    generic: true,
    symptom: false,
    title: "An image cannot be pulled",
    explanation: "The kubelet reports ErrImagePull or ImagePullBackOff and its text names no known reason.",
    told_apart: "The specific rows (not found, denied, rate limited, …) are taken where the text or the newest event names the reason.",
    cure: "Read the message: it is the runtime's own.",
    docs: "concepts/containers/images/",
    needs: &[],
    clears: 60,
    judge: Judge::Pod(generic),
};

fn generic(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let (_, status) = pod
        .container_statuses()
        .find(|(_, s)| s.state.waiting.as_ref().is_some_and(|w| matches!(&*w.reason, "ErrImagePull" | "ImagePullBackOff")))?;
    let waiting = status.state.waiting.as_ref()?;
    let image = pod.spec().container(&status.name).map_or(&*status.image, |c| &*c.image);
    let last = cx.newest_event(&pod.reference(), &["Failed", "BackOff"]).and_then(|e| e.last);
    let path = format!("status.containerStatuses[name={}].state.waiting.message", status.name);
    Some(
        Finding::delayed(Key::image(image), pod.reference())
            .title(format!("{image} cannot be pulled"))
            .clock(ClockKind::Retry, "image pull back-off", last.map(|at| at.plus(300)))
            .fact("image", image)
            .since(pod.condition("Ready").and_then(|c| c.last_transition_time).or(pod.created()))
            .evidence(pod.reference(), path, &*waiting.message, last),
    )
}
