//! Sandboxes that the runtime does not make: what was last said about one, and the rows that are not about the network.

use super::ROW;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Key, texts};
use crate::model::{Condition, Event, Node, ObjectRef, Phase, Pod, Time};

pub(super) const GENERIC: Cause = Cause {
    id: "sandbox-create-failed",
    title: "The pod's sandbox cannot be made",
    explanation: "Before any container the runtime makes a sandbox with the pod's network. That fails, and the text names no known \
                  reason. The kubelet tries again every ten seconds or so.",
    told_apart: "cni-failed and the other sandbox rows are taken where the text names network, name, image or runtime class.",
    cure: "Read the message; look at the runtime of that node.",
    ..ROW
};

pub(super) const RESERVED: Cause = Cause {
    id: "sandbox-name-reserved",
    title: "An earlier attempt to make the sandbox is still running",
    explanation: "The runtime was slow, the kubelet's call timed out, and its retries collide with the first one, which still holds the \
                  sandbox's name.",
    told_apart: "container-name-reserved is the same for a container.",
    cure: "Relieve the node's disk and network plugin; restart its runtime if it lasts.",
    ..ROW
};

pub(super) const TIMEOUT: Cause = Cause {
    id: "sandbox-timeout",
    title: "The runtime does not answer in time",
    explanation: "The kubelet's call to make the sandbox ran out of time, or the runtime's socket is not there.",
    told_apart: "Where the network plugin is named, cni-failed is taken.",
    cure: "Look at the runtime, the disk and the network plugin of that node.",
    ..ROW
};

pub(super) const IMAGE: Cause = Cause {
    id: "sandbox-image-failed",
    title: "The node cannot get the sandbox image",
    explanation: "Every sandbox is made from the pause image, which the node cannot pull: no new pod starts there.",
    told_apart: "The pod's own images are not the matter.",
    cure: "Give the node access to the registry of the pause image, or load it.",
    ..ROW
};

pub(super) const RUNTIME_CLASS: Cause = Cause {
    id: "sandbox-runtime-class",
    title: "The node does not have the pod's runtime",
    explanation: "The pod's RuntimeClass names a handler that the runtime of this node does not know.",
    told_apart: "A RuntimeClass that does not exist is refused at creation.",
    cure: "Install the handler there, or let the RuntimeClass select nodes that have it.",
    docs: "concepts/containers/runtime-class/",
    ..ROW
};

/// Failures after which a plugin that is only starting would have come up.
const MANY: i64 = 5;

/// A node that is younger than this may still be getting its plugins.
const YOUNG: i64 = 300;

/// What keeps a pod's sandbox from being made.
pub(super) struct Failure<'a> {
    pub pod: Pod<'a>,
    pub node: &'a str,
    pub event: &'a Event,
    /// Without the kubelet's words.
    pub said: &'a str,
    pub times: i64,
    pub first: Option<Time>,
}

/// Signs that a sandbox was made after all.
const LATER_SIGNS: [&str; 4] = ["Pulling", "Pulled", "Created", "Started"];

/// The failure, if it still holds: no container runs, and nothing newer says that it worked.
pub(super) fn of<'a>(cx: &Cx<'a>, pod: Pod<'a>) -> Option<Failure<'a>> {
    let node = pod.node()?;
    let begun = pod
        .container_statuses()
        .any(|(_, s)| s.state.running.is_some() || s.state.waiting.as_ref().is_some_and(|w| !is_creating(&w.reason)));
    if !matches!(pod.phase(), Phase::Pending | Phase::Running) || pod.is_ready() || begun {
        return None;
    }
    let events = cx.events(&pod.reference());
    let failures: Vec<&Event> = events.iter().copied().filter(|e| &*e.reason == "FailedCreatePodSandBox").collect();
    let event = *failures.first()?;
    let made = pod.condition("PodReadyToStartContainers").is_some_and(|c| Condition::is_true(c) && c.last_transition_time >= event.last);
    let later = events.iter().any(|e| LATER_SIGNS.contains(&&*e.reason) && e.last > event.last);
    if made || later {
        return None;
    }
    let said = event.message.split_once("sandbox: ").map_or(&*event.message, |(_, rest)| rest);
    let times = failures.iter().map(|e| e.count).sum();
    Some(Failure { pod, node, event, said, times, first: failures.iter().filter_map(|e| e.first).min() })
}

fn is_creating(reason: &str) -> bool {
    matches!(reason, "" | "ContainerCreating" | "PodInitializing")
}

impl Failure<'_> {
    /// Keyed and rooted at the node, where all pods meet the same.
    pub fn finding(&self, kind: fn(Key, ObjectRef) -> Finding) -> Finding {
        let node = ObjectRef::new("Node", "", self.node);
        kind(Key::object(&node), node)
            .since(self.first.or(standing::unready_since(self.pod)))
            .clock(ClockKind::Retry, "pod sync", self.event.last.map(|at| at.plus(60)))
            .fact("node", self.node)
            .fact("failures", self.times)
            .event(self.pod.reference(), self.event)
    }

    /// Not yet often enough, or on a node that is too young, to call it more than a start.
    pub fn may_pass(&self, cx: &Cx<'_>) -> bool {
        let created = cx.get::<Node>("", self.node).is().and_then(|n| n.meta.created);
        self.times < MANY || created.is_some_and(|at| !cx.passed(at.plus(YOUNG)))
    }

    /// The runtime's innermost error.
    pub fn error(&self) -> &str {
        texts::rpc(self.said).1
    }
}

pub(super) fn generic(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    failure
        .finding(if failure.may_pass(cx) { Finding::delayed } else { Finding::blocked })
        .title(format!("{} cannot make the pod's sandbox", failure.node))
        .because(format!("the runtime of {} cannot make the sandbox: {}.", failure.node, failure.error()))
        .next(format!("Look at the container runtime of {}.", failure.node))
}

pub(super) fn reserved(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let leaked = cx.older(failure.first, 600);
    failure
        .finding(if leaked { Finding::blocked } else { Finding::delayed })
        .title(format!("{} is still making the sandbox from an earlier attempt", failure.node))
        .because(format!("an earlier call timed out and still holds the sandbox's name on {}; every retry meets it.", failure.node))
        .next(format!("Look at disk and network plugin of {}; if it lasts, restart its container runtime.", failure.node))
}

pub(super) fn timeout(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let lasting = failure.times >= 3 && cx.older(failure.first, 300);
    failure
        .finding(if lasting { Finding::blocked } else { Finding::delayed })
        .title(format!("the runtime of {} does not answer in time", failure.node))
        .because(format!("the call to make the sandbox fails on {}: {}.", failure.node, failure.error()))
        .next(format!("Look at runtime, disk and network plugin of {}.", failure.node))
}

pub(super) fn image(failure: &Failure<'_>) -> Finding {
    let image = texts::capture(r#"sandbox (?:image|container) "([^"]+)""#, failure.said).unwrap_or("the pause image");
    failure
        .finding(Finding::blocked)
        .title(format!("{} cannot get the sandbox image {image}", failure.node))
        .because(format!("no pod can start on {}: {}.", failure.node, failure.error()))
        .next(format!("Give {} access to the registry of {image}, or load it there.", failure.node))
        .fact("image", image)
}

pub(super) fn runtime_class(failure: &Failure<'_>) -> Finding {
    let class = &*failure.pod.spec().runtime_class_name;
    let handler = texts::capture(r#"(?:no runtime for|RuntimeHandler) "([^"]+)""#, failure.said)
        .or(texts::capture(r"runtime handler (\S+)", failure.said))
        .unwrap_or(class);
    failure
        .finding(Finding::blocked)
        .title(format!("{} has no runtime {handler}", failure.node))
        .because(format!("RuntimeClass {class} asks for handler {handler}, which the runtime of {} does not know.", failure.node))
        .next(format!("Install handler {handler} on {}, or let RuntimeClass {class} select nodes that have it.", failure.node))
        .fact("handler", handler)
}
