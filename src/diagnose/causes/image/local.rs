//! Images that fail on the node itself, or before anybody is asked: names, policies, disks, broken layers, the kubelet's own limit.

use super::ROW;
use super::failure::Failure;
use super::pull::LONG_ENOUGH;
use crate::diagnose::{Cause, Cx, Finding, texts};
use crate::model::Node;

pub(super) const NAME_INVALID: Cause = Cause {
    id: "image-name-invalid",
    title: "The image's name cannot be read",
    explanation: "The kubelet cannot parse the reference, so nothing is ever pulled.",
    told_apart: "image-not-found was asked for and is not there; here nobody was asked.",
    cure: "Correct the reference: lower-case repository, tag of letters, digits, `.`, `_`, `-`. A tag of digits needs quotes in YAML.",
    ..ROW
};

pub(super) const NEVER_PULL: Cause = Cause {
    id: "image-never-pull",
    title: "The image is not on the node and may not be pulled",
    explanation: "imagePullPolicy is Never and the node does not have the image. From 1.35 the same is said of an image that was pulled with credentials which this pod does not have.",
    told_apart: "Every other row asks a registry; here the policy forbids it.",
    cure: "Load the image onto the node, or change imagePullPolicy.",
    ..ROW
};

pub(super) const INSPECT: Cause = Cause {
    id: "image-inspect-error",
    title: "The runtime cannot look the image up",
    explanation: "Before pulling, the kubelet asks the runtime for the image, and that call fails. CRI-O refuses short names that could mean several registries.",
    told_apart: "No registry was asked yet.",
    cure: "Write the image with its registry, or heal the runtime of that node.",
    ..ROW
};

pub(super) const DISK_FULL: Cause = Cause {
    id: "image-disk-full",
    title: "The node has no room for the image",
    explanation: "Unpacking fails because the runtime's disk is full. The kubelet removes unused images every five minutes once the disk is 85 % full.",
    told_apart: "*no space left on device* also comes from volumes and from a memory limit in thousandths of a byte (memory-limit-milli).",
    cure: "Free the node's image disk or make it larger.",
    docs: "concepts/architecture/garbage-collection/",
    ..ROW
};

pub(super) const BAD_LAYER: Cause = Cause {
    id: "image-bad-layer",
    title: "The image cannot be unpacked",
    explanation: "The image arrives and the runtime cannot use it: an unknown format, a broken layer, owners that the node cannot map.",
    told_apart: "A full disk fails in the same place (image-disk-full) and is told first.",
    cure: "Rebuild the image, or clear the node's content store if only that node fails.",
    ..ROW
};

pub(super) const QPS: Cause = Cause {
    id: "image-pull-qps",
    title: "The kubelet holds pulls back",
    explanation: "The kubelet asks registries at most registryPullQPS times a second (5, in bursts of 10). Many pods started on the node at once.",
    told_apart: "image-rate-limited is the registry's own limit.",
    cure: "Wait; raise registryPullQPS if nodes often start many pods at once.",
    docs: "reference/config-api/kubelet-config.v1beta1/",
    ..ROW
};

pub(super) const BAD_LAYERS: &[&str] = &[
    "failed to extract layer",
    "failed to prepare extraction snapshot",
    "failed to unpack image on",
    "unexpected media type",
    "failed commit on ref",
    "size validation failed",
    "unexpected commit digest",
    "unsupported media type",
    "mediatype",
];

pub(super) fn name_invalid(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let why = texts::capture(r#"": (.+)$"#, failure.said).unwrap_or("invalid reference format");
    let why = why.rsplit_once("\": ").map_or(why, |(_, last)| last);
    let mut finding = failure
        .blocked_by_image(cx)
        .title(format!("{} is no valid image name", failure.image))
        .because(format!("the kubelet cannot parse {}: {why}; nothing is pulled at all.", failure.image))
        .next(format!("Correct the image of container {}{}.", failure.container, hint(failure.image)))
        .fact("why", why);
    let tag = failure.reference().tag;
    if !tag.is_empty() {
        finding = finding.fact("tag", tag);
    }
    finding
}

/// `2.417603e+06` is what templates make of an unquoted number.
fn hint(image: &str) -> &'static str {
    if texts::matches(r":\d+(\.\d+)?e\+\d+$", image) { ": a number was written as a float, quote the tag where it is set" } else { "" }
}

pub(super) fn never_pull(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    failure
        .blocked_by_image(cx)
        .title(format!("{} is not on the node, and imagePullPolicy is Never", failure.image))
        .because(format!("container {} may not pull its image, and the node does not have it.", failure.container))
        .next(format!("Load {} onto the node, or change imagePullPolicy of container {}.", failure.image, failure.container))
        .fact("imagePullPolicy", "Never")
}

pub(super) fn inspect(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let (_, why) = texts::rpc(failure.said);
    let ambiguous = why.contains("short name") || why.contains("ambiguous");
    let finding = if ambiguous { failure.blocked_by_image(cx) } else { passing(cx, failure) };
    finding
        .title(format!("the runtime cannot look up {}", failure.image))
        .because(format!("the node's runtime refuses to say whether it has the image: {why}."))
        .next(if ambiguous { "Write the image with its registry in front." } else { "Look at the container runtime of that node." })
}

/// Garbage collection may make room; where it did not within ten minutes, it will not.
pub(super) fn disk_full(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let name = failure.pod.node().unwrap_or("the node");
    let node = cx.get::<Node>("", name).is();
    let pressed = node.is_some_and(|n| n.condition("DiskPressure").is_some_and(crate::model::Condition::is_true));
    let stuck = pressed || cx.older(failure.since(), LONG_ENOUGH);
    failure
        .by_node(cx, if stuck { Finding::blocked } else { Finding::delayed })
        .title(format!("{name} has no room for {}", failure.image))
        .because(format!("unpacking {} fails on {name}: {}.", failure.image, texts::rpc(failure.said).1))
        .next(format!("Free or enlarge the image disk of {name}."))
        .fact("DiskPressure", pressed)
}

pub(super) fn bad_layer(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let (_, why) = texts::rpc(failure.said);
    let transfer = ["size validation", "unexpected commit digest"].iter().any(|w| why.contains(w));
    let finding = if transfer { failure.delayed_by_image(cx) } else { failure.blocked_by_image(cx) };
    finding
        .title(format!("{} cannot be unpacked", failure.image))
        .because(format!("the image arrives and the runtime cannot use it: {why}."))
        .next(format!("Rebuild {}, or clear the node's content store if only this node fails.", failure.image))
}

pub(super) fn qps(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    failure
        .by_node(cx, Finding::delayed)
        .title("the kubelet holds pulls back: pull QPS exceeded")
        .because("many pods started on the node at once; the kubelet spreads its pulls and tries again.")
        .next("Wait for the retry; raise registryPullQPS of the kubelet if this recurs.")
}

fn passing(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    if cx.older(failure.since(), LONG_ENOUGH) { failure.blocked_by_image(cx) } else { failure.delayed_by_image(cx) }
}
