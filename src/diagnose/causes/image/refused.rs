//! Pulls that the registry answers and refuses: no such image, no right to it, too many requests, not for this machine, not signed.

use super::ROW;
use super::failure::Failure;
use crate::diagnose::{Cause, Cx, Finding, texts};
use crate::model::{Kind, Node, ServiceAccount};

pub(super) const NOT_FOUND: Cause = Cause {
    id: "image-not-found",
    title: "The registry does not have the image",
    explanation: "The registry answered, and says that this repository, tag or digest does not exist.",
    told_apart: "Many registries answer *denied* for what does not exist (image-denied). *not found* after *no match for platform* is image-platform-mismatch.",
    cure: "Push the tag, or correct the image's name in the workload.",
    ..ROW
};

pub(super) const DENIED: Cause = Cause {
    id: "image-denied",
    title: "The registry refuses the pull",
    explanation: "The registry asks for credentials that the pod does not have, or does not accept those it has. Pull secrets are never looked up in another namespace.",
    told_apart: "Registries give the same answer for a private and for a missing repository: check the name too.",
    cure: "Name a valid pull secret in the pod or its service account, or correct the repository's name.",
    docs: "tasks/configure-pod-container/pull-image-private-registry/",
    ..ROW
};

pub(super) const RATE_LIMITED: Cause = Cause {
    id: "image-rate-limited",
    title: "The registry answers 429: too many pulls",
    explanation: "The registry has the image and refuses because this address or account has used up its pulls for now. The kubelet goes on trying and succeeds once the registry's window has passed.",
    told_apart: "image-pull-qps is the kubelet's own limit; here the registry says no.",
    cure: "Wait for the window, pull with an account, or through a mirror.",
    ..ROW
};

pub(super) const PLATFORM: Cause = Cause {
    id: "image-platform-mismatch",
    title: "The image has no build for this kind of node",
    explanation: "The image exists, but its index names no build for the node's operating system and processor.",
    told_apart: "The runtime ends its text with *not found*, which is not about the tag.",
    cure: "Build the image for the node's architecture, or select nodes by kubernetes.io/arch.",
    ..ROW
};

pub(super) const SIGNATURE: Cause = Cause {
    id: "image-signature-invalid",
    title: "The image's signature is not accepted",
    explanation: "The node's signature policy asks for a signature that the image does not have.",
    told_apart: "An admission policy would have refused the pod; here the node's runtime refuses the image.",
    cure: "Sign the image with an accepted key, or change the policy of the nodes.",
    ..ROW
};

/// Words of registries and runtimes for *you may not*.
pub(super) const DENIALS: &[&str] = &[
    "unauthorized",
    "authorization failed",
    "failed to authorize",
    "authentication required",
    "requested access to the resource is denied",
    "403 forbidden",
    "401 unauthorized",
    "no basic auth credentials",
    "denied: ",
    "pull access denied",
    "may require authorization",
];

pub(super) fn not_found(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    let what = if r.tag.is_empty() { "latest".to_owned() } else { r.tag.to_owned() };
    failure
        .blocked_by_image(cx)
        .title(format!("{} does not exist in the registry", failure.image))
        .because(format!("{} answers that {} in {} is not found.", r.host, what, r.repository))
        .next(format!("Push {what} to {}/{}, or correct the image of container {}.", r.host, r.repository, failure.container))
        .fact("repository", r.repository)
        .fact("tag", what)
}

pub(super) fn denied(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    let answer = answer(failure.said);
    let credentials = credentials(cx, failure);
    failure
        .blocked_by_registry(cx)
        .title(format!("{} refuses {}: {answer}", r.host, r.repository))
        .because(format!("{} does not let {} pull {}: {answer}. {credentials}.", r.host, failure.pod.namespace(), failure.image))
        .next(format!(
            "Name a pull secret for {} in the pod or its service account {}, renew the one it has, or check that {} exists.",
            r.host,
            account(failure),
            r.repository
        ))
        .fact("answer", answer)
}

/// The registry's own word, short.
fn answer(said: &str) -> &'static str {
    let said = said.to_ascii_lowercase();
    let known = [
        ("401", "401 unauthorized"),
        ("403", "403 forbidden"),
        ("unauthorized", "unauthorized"),
        ("no basic auth", "no credentials"),
        ("authentication required", "authentication required"),
    ];
    known.iter().find(|(word, _)| said.contains(word)).map_or("access denied", |(_, answer)| answer)
}

fn account<'a>(failure: &Failure<'a>) -> &'a str {
    let name = &*failure.pod.spec().service_account_name;
    if name.is_empty() { "default" } else { name }
}

/// Which pull secrets the pod has, and which of them are missing.
fn credentials(cx: &Cx<'_>, failure: &Failure<'_>) -> String {
    let namespace = failure.pod.namespace();
    let own = failure.pod.spec().image_pull_secrets.iter().map(|s| &*s.name);
    let account = cx.get::<ServiceAccount>(namespace, account(failure));
    let of_account = account.is().into_iter().flat_map(|a| a.image_pull_secrets.iter().map(|s| &*s.name));
    let mut names: Vec<&str> = own.chain(of_account).collect();
    names.sort_unstable();
    names.dedup();
    let missing: Vec<&str> = names.iter().copied().filter(|name| is_missing(cx, failure, name)).collect();
    match (names.as_slice(), missing.as_slice()) {
        ([], _) if account.is_unknown() => "Its pod names no pull secret of its own".to_owned(),
        ([], _) => "Neither pod nor service account names a pull secret".to_owned(),
        (names, []) => format!("Its pull secrets are {}", names.join(", ")),
        (_, missing) => format!("Its pull secret {} does not exist in {namespace}", missing.join(", ")),
    }
}

/// By the list of secrets, or by the word of the kubelet that looked for it.
fn is_missing(cx: &Cx<'_>, failure: &Failure<'_>, name: &str) -> bool {
    let seen = cx.object(Kind::Secret, failure.pod.namespace(), name);
    let looked = cx.newest_event(&failure.pod.reference(), &["FailedToRetrieveImagePullSecret"]);
    seen.is_absent() || seen.is_unknown() && looked.is_some_and(|e| e.message.contains(name))
}

pub(super) fn rate_limited(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    let anonymous = failure.pod.spec().image_pull_secrets.is_empty();
    let as_whom = if anonymous { "without a pull secret of its own" } else { "with its pull secret" };
    failure
        .delayed_by_registry(cx)
        .title(format!("{} answers 429: pull rate limit reached", r.host))
        .because(format!("{} refuses {} for now ({as_whom}): too many pulls from this address or account.", r.host, failure.image))
        .next(format!("Wait for {}'s window to pass; a pull secret or a mirror brings it forward.", r.host))
}

pub(super) fn platform(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let node = cx.get::<Node>("", failure.pod.node().unwrap_or_default()).is();
    let machine = node.map(|n| format!("{}/{}", n.status.node_info.operating_system, n.status.node_info.architecture));
    let machine = machine.filter(|m| m.len() > 1);
    let wanted = machine.clone().unwrap_or_else(|| "this node".to_owned());
    let mut finding = failure
        .blocked_by_image(cx)
        .title(format!("{} has no build for {wanted}", failure.image))
        .because(format!("the image exists, but names no build for {wanted}, which is what the node runs."))
        .next(format!("Build {} for {wanted}, or keep the pod on other nodes with nodeSelector kubernetes.io/arch.", failure.image));
    if let Some(machine) = machine {
        finding = finding.fact("platform", machine);
    }
    finding
}

pub(super) fn signature(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let why = texts::capture(r"(?:Source image rejected|signature validation failed): (.+)$", failure.said).unwrap_or(failure.said);
    failure
        .blocked_by_image(cx)
        .title(format!("the signature of {} is not accepted", failure.image))
        .because(format!("the node's signature policy refuses the image: {why}."))
        .next(format!("Sign {} with an accepted key, or change the signature policy of the nodes.", failure.image))
}
