//! Failure: a container whose image is not there, with what was last said about it.

use super::reference::Reference;
use crate::diagnose::causes::standing;
use crate::diagnose::{ClockKind, Cx, Finding, Key};
use crate::model::{Event, ObjectRef, Pod, Time};

/// Waiting reasons that mean that the image is the trouble.
const REASONS: [&str; 7] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
];

/// The kubelet waits 10 s after the first failed pull, twice as long each time, at most this long.
const LONGEST_BACK_OFF: i64 = 300;

pub(super) struct Failure<'a> {
    pub pod: Pod<'a>,
    pub container: &'a str,
    /// The waiting reason.
    pub reason: &'a str,
    pub image: &'a str,
    /// What the runtime says, without the kubelet's words before it; empty where nothing repeats it.
    pub said: &'a str,
    path: String,
    message: &'a str,
    event: Option<&'a Event>,
}

/// The first container of the pod that has no image, init containers before the others.
pub(super) fn of<'a>(cx: &Cx<'a>, pod: Pod<'a>) -> Option<Failure<'a>> {
    let (role, status, waiting) = pod.container_statuses().find_map(|(role, status)| {
        let waiting = status.state.waiting.as_ref().filter(|w| REASONS.contains(&&*w.reason))?;
        Some((role, status, waiting))
    })?;
    let image = pod.spec().container(&status.name).map_or(&*status.image, |c| &*c.image);
    let path = standing::status_path(role, &status.name, "state.waiting");
    let event = pull_event(cx, pod, &status.name, image);
    let own = error_in(&waiting.message);
    let said = if own.is_empty() { event.map_or("", |e| error_in(&e.message)) } else { own };
    Some(Failure { pod, container: &status.name, reason: &waiting.reason, image, said, path, message: &waiting.message, event })
}

/// The newest failed pull of this image for this container. Kubelets up to 1.31 tell the reason nowhere else.
fn pull_event<'a>(cx: &Cx<'a>, pod: Pod<'_>, container: &str, image: &str) -> Option<&'a Event> {
    cx.events(&pod.reference()).into_iter().find(|e| {
        let its = e.about.container().is_none_or(|c| c == container);
        &*e.reason == "Failed" && its && e.message.starts_with("Failed to pull image") && e.message.contains(image)
    })
}

/// What the runtime said, without `Failed to pull image "x": ` or `Back-off pulling image "x": ErrImagePull: ` before it.
fn error_in(message: &str) -> &str {
    if let Some(rest) = message.strip_prefix("Back-off pulling image") {
        return ["ErrImagePull: ", "RegistryUnavailable: ", "SignatureValidationFailed: "]
            .iter()
            .find_map(|word| rest.split_once(word))
            .map_or("", |(_, error)| error);
    }
    match message.strip_prefix("Failed to pull image ") {
        Some(rest) => rest.split_once("\": ").map_or(rest, |(_, error)| error),
        None => message,
    }
}

impl<'a> Failure<'a> {
    pub fn reference(&self) -> Reference<'a> {
        Reference::parse(self.image)
    }

    /// Since when the pod has waited for it.
    pub fn since(&self) -> Option<Time> {
        standing::unready_since(self.pod)
    }

    /// Nothing changes until somebody changes something. Keyed by the image: the name or what stands behind it is wrong.
    pub fn blocked_by_image(&self, cx: &Cx<'_>) -> Finding {
        self.prove(standing::keyed(cx, self.pod, Key::image(self.image), Finding::blocked))
    }

    /// Keyed by the registry: it would hit every image from there.
    pub fn blocked_by_registry(&self, cx: &Cx<'_>) -> Finding {
        self.prove(standing::keyed(cx, self.pod, Key::registry(self.reference().host), Finding::blocked))
    }

    pub fn delayed_by_image(&self, cx: &Cx<'_>) -> Finding {
        self.retried(standing::keyed(cx, self.pod, Key::image(self.image), Finding::delayed))
    }

    pub fn delayed_by_registry(&self, cx: &Cx<'_>) -> Finding {
        self.retried(standing::keyed(cx, self.pod, Key::registry(self.reference().host), Finding::delayed))
    }

    /// Keyed by the node: what it lacks hits every image there.
    pub fn by_node(&self, cx: &Cx<'_>, finding: fn(Key, ObjectRef) -> Finding) -> Finding {
        let node = ObjectRef::new("Node", "", self.pod.node().unwrap_or_default());
        self.retried(standing::keyed(cx, self.pod, Key::object(&node), finding))
    }

    fn retried(&self, finding: Finding) -> Finding {
        let tries = self.event.map_or(1, |e| e.count).clamp(1, 6);
        let pause = (10 << (tries - 1)).min(LONGEST_BACK_OFF);
        let next = self.event.and_then(|e| e.last).map(|at| at.plus(pause));
        self.prove(finding).clock(ClockKind::Retry, "image pull back-off", next)
    }

    /// The newest text first: the reader greps for it.
    fn prove(&self, finding: Finding) -> Finding {
        let reference = self.reference();
        let mut finding = finding
            .fact("container", self.container)
            .fact("image", self.image)
            .fact("registry", reference.host)
            .fact("reason", self.reason);
        if let Some(event) = self.event {
            finding = finding.event(self.pod.reference(), event);
        }
        finding.evidence(self.pod.reference(), &*self.path, format!("{}: {}", self.reason, self.message), None)
    }
}

#[cfg(test)]
mod tests {
    use super::error_in;

    #[test]
    fn the_words_of_the_kubelet_are_cut_off() {
        assert_eq!(error_in(r#"Back-off pulling image "a:1""#), "");
        assert_eq!(error_in(r#"Back-off pulling image "a:1": ErrImagePull: no such host"#), "no such host");
        assert_eq!(error_in(r#"Failed to pull image "a:1": not found"#), "not found");
        assert_eq!(error_in("anything else"), "anything else");
    }
}
