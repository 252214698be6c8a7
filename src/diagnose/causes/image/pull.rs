//! Pulls that fail, told apart by what the registry or the runtime says; here the two rows for texts that name no known reason.

use super::failure::{self, Failure};
use super::{ROW, local, refused, unreachable};
use crate::diagnose::{Cause, Cx, Finding, Judge};
use crate::model::Pod;

pub(super) const GENERIC: Cause = Cause {
    id: "image-pull-error-generic",
    title: "An image cannot be pulled",
    explanation: "The kubelet reports that pulling failed and the runtime's text names no known reason.",
    told_apart: "The specific rows (not found, denied, rate limited, …) are taken where the text names the reason.",
    cure: "Read the message: it is the runtime's own, and the node's runtime log has more.",
    judge: Judge::Pods(judge),
    ..ROW
};

pub(super) const BACK_OFF: Cause = Cause {
    id: "image-pull-backoff",
    title: "An image cannot be pulled, and nothing says why any more",
    explanation: "The container waits in ImagePullBackOff. Kubelets up to 1.31 write the reason only into an event, and that event has gone.",
    told_apart: "Any row that names the reason is taken as soon as the status or an event repeats what the registry said.",
    cure: "Wait for the next pull and look at the pod's events then, or pull the image on the node by hand.",
    ..ROW
};

/// Seconds after which retries that do not help are no longer worth waiting for.
pub(super) const LONG_ENOUGH: i64 = 600;

/// What a text means, by words in it (lower case). The order matters: a refused token is told by its TLS or name error first,
/// a missing platform and an unknown format say *not found* too, a layer's file can be *denied*.
const SIGNS: &[(&str, &[&str])] = &[
    ("image-rate-limited", &["toomanyrequests", "429 too many requests", "pull rate limit"]),
    ("image-pull-qps", &["pull qps exceeded"]),
    ("image-disk-full", &["no space left on device", "disk quota exceeded"]),
    ("image-tls", &["x509: ", "server gave http response to https client", "tls: "]),
    ("image-dns", &["no such host", "server misbehaving", "name resolution", "dial tcp: lookup "]),
    ("image-registry-5xx", unreachable::SERVER_ERRORS),
    ("image-network-timeout", unreachable::NETWORK_ERRORS),
    ("image-platform-mismatch", &["no match for platform", "no matching manifest for", "for architecture", "for platform"]),
    ("image-signature-invalid", &["signature validation failed", "source image rejected", "no signature exists"]),
    ("image-bad-layer", local::BAD_LAYERS),
    ("image-denied", refused::DENIALS),
    ("image-not-found", &["not found", "manifest unknown", "name unknown", "name_unknown", "does not exist"]),
];

fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    let failure = failure::of(cx, pod)?;
    let id = class(&failure);
    Some((id, finding(cx, id, &failure)))
}

/// The row by the waiting reason where that says it, else by the text.
fn class(failure: &Failure<'_>) -> &'static str {
    let said = failure.said.to_ascii_lowercase();
    let named = SIGNS.iter().find(|(_, words)| words.iter().any(|w| said.contains(w))).map(|(id, _)| *id);
    match failure.reason {
        "InvalidImageName" => "image-name-invalid",
        "ErrImageNeverPull" => "image-never-pull",
        "SignatureValidationFailed" => "image-signature-invalid",
        "ImageInspectError" => "image-inspect-error",
        "RegistryUnavailable" => named.unwrap_or("image-registry-unavailable"),
        _ if said.contains("because the registry is unavailable") => named.unwrap_or("image-registry-unavailable"),
        _ if said.ends_with(": eof") => "image-network-timeout",
        "ImagePullBackOff" if said.is_empty() => "image-pull-backoff",
        _ => named.unwrap_or("image-pull-error-generic"),
    }
}

fn finding(cx: &Cx<'_>, id: &str, failure: &Failure<'_>) -> Finding {
    match id {
        "image-not-found" => refused::not_found(cx, failure),
        "image-denied" => refused::denied(cx, failure),
        "image-rate-limited" => refused::rate_limited(cx, failure),
        "image-platform-mismatch" => refused::platform(cx, failure),
        "image-signature-invalid" => refused::signature(cx, failure),
        "image-tls" => unreachable::tls(cx, failure),
        "image-dns" => unreachable::dns(cx, failure),
        "image-network-timeout" => unreachable::timeout(cx, failure),
        "image-registry-5xx" => unreachable::server_error(cx, failure),
        "image-registry-unavailable" => unreachable::unavailable(cx, failure),
        "image-name-invalid" => local::name_invalid(cx, failure),
        "image-never-pull" => local::never_pull(cx, failure),
        "image-inspect-error" => local::inspect(cx, failure),
        "image-disk-full" => local::disk_full(cx, failure),
        "image-bad-layer" => local::bad_layer(cx, failure),
        "image-pull-qps" => local::qps(cx, failure),
        _ => unknown(cx, failure),
    }
}

/// No known reason: the kubelet tries again, and after ten minutes of the same that is no hope.
fn unknown(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let hopeless = cx.older(failure.since(), LONG_ENOUGH);
    let finding = if hopeless { failure.blocked_by_image(cx) } else { failure.delayed_by_image(cx) };
    let why = if failure.said.is_empty() { "no object repeats the registry's answer" } else { "the runtime's text names no known reason" };
    finding
        .title(format!("{} cannot be pulled", failure.image))
        .because(format!("container {} waits in {}; {why}.", failure.container, failure.reason))
        .next(format!("Read the newest message of the pull, or pull {} by hand on the node.", failure.image))
}
