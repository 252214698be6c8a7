//! Pulls that do not get a usable answer: certificates, names, networks, registries that are down.

use super::ROW;
use super::failure::Failure;
use super::pull::LONG_ENOUGH;
use super::reference::Reference;
use crate::diagnose::{Cause, Cx, Finding, texts};

pub(super) const TLS: Cause = Cause {
    id: "image-tls",
    title: "The registry's certificate is not accepted",
    explanation: "The runtime does not trust the registry's certificate, finds it expired or for another name, or the registry speaks plain HTTP.",
    told_apart: "A handshake that only times out is image-network-timeout. Where one node alone fails, its trust store or its clock is the trouble.",
    cure: "Install the registry's CA on the nodes, renew the certificate, set the node's clock, or configure the registry as insecure.",
    ..ROW
};

pub(super) const DNS: Cause = Cause {
    id: "image-dns",
    title: "The registry's name cannot be resolved",
    explanation: "The node's resolver does not know the registry's host, or does not answer.",
    told_apart: "The node's own resolver is asked, not the cluster's DNS: CoreDNS plays no part.",
    cure: "Correct the host in the image's name, or repair the node's resolver.",
    ..ROW
};

pub(super) const TIMEOUT: Cause = Cause {
    id: "image-network-timeout",
    title: "The registry does not answer",
    explanation: "Connections to the registry time out, are refused or break off. containerd gives up a pull after five minutes without progress.",
    told_apart: "image-registry-5xx is a registry that answers with an error of its own.",
    cure: "Look at the node's way to the registry: network, proxy, firewall; or pull through a mirror.",
    ..ROW
};

pub(super) const SERVER_ERROR: Cause = Cause {
    id: "image-registry-5xx",
    title: "The registry answers with a server error",
    explanation: "The registry is reached and fails itself.",
    told_apart: "image-network-timeout gets no answer at all.",
    cure: "Wait for the registry, or repair it; a mirror helps meanwhile.",
    ..ROW
};

pub(super) const UNAVAILABLE: Cause = Cause {
    id: "image-registry-unavailable",
    title: "The registry is unavailable",
    explanation: "CRI-O reports the registry as unavailable and its text names no known reason.",
    told_apart: "Where the text names a time-out, a name or a server error, that row is taken.",
    cure: "Look at the registry and at the node's way to it.",
    ..ROW
};

pub(super) const SERVER_ERRORS: &[&str] = &[
    "500 internal server error",
    "502 bad gateway",
    "503 service unavailable",
    "504 gateway time",
    "unexpected http status: 5",
    "status code 50",
    "http status: 50",
];

pub(super) const NETWORK_ERRORS: &[&str] = &[
    "i/o timeout",
    "connection refused",
    "no route to host",
    "network is unreachable",
    "tls handshake timeout",
    "context deadline exceeded",
    "context canceled",
    "unexpected eof",
    "connection reset by peer",
    "client.timeout exceeded",
    "connection timed out",
];

pub(super) fn tls(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    let why = texts::capture(r#"(x509: [^"]+|http: server gave HTTP response to HTTPS client|tls: [^"]+)$"#, failure.said);
    let why = why.unwrap_or("the TLS handshake fails");
    failure
        .blocked_by_registry(cx)
        .title(format!("{}: certificate not accepted", r.host))
        .because(format!("the node's runtime cannot speak TLS with {}: {why}.", r.host))
        .next(format!(
            "Make the nodes trust {}'s certificate, renew it, or configure it as a plain HTTP registry; check the node's clock.",
            r.host
        ))
        .fact("error", why)
}

/// A name that nobody could resolve is a typo; one from which others run images is known, and this node's resolver is at fault.
pub(super) fn dns(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    let host = texts::capture(r"lookup (\S+?)(?: on \S+)?: ", failure.said).unwrap_or(r.host);
    let unknown = failure.said.contains("no such host");
    let known_elsewhere = unknown && is_used_elsewhere(cx, failure);
    let finding = if unknown && !known_elsewhere { failure.blocked_by_registry(cx) } else { failure.delayed_by_registry(cx) };
    let because = match (unknown, known_elsewhere) {
        (true, false) => format!("the node's resolver says that {host} does not exist, and no container runs from it."),
        (true, true) => format!("this node's resolver says that {host} does not exist, while other pods run images from it."),
        (false, _) => format!("the node's resolver does not answer for {host}."),
    };
    finding
        .title(format!("{host} cannot be resolved"))
        .because(because)
        .next(format!("Correct the registry's host in {}, or repair the node's resolver.", failure.image))
        .fact("host", host)
}

/// Whether some container in this namespace runs an image from the same registry: then the name exists.
fn is_used_elsewhere(cx: &Cx<'_>, failure: &Failure<'_>) -> bool {
    let host = failure.reference().host;
    cx.pods(Some(failure.pod.namespace())).any(|pod| {
        pod.spec().containers.iter().any(|c| {
            Reference::parse(&c.image).host == host
                && pod.container_status(&c.name).is_none_or(|s| s.state.running.is_some())
                && pod.is_ready()
        })
    })
}

pub(super) fn timeout(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    passing(cx, failure)
        .title(format!("{} does not answer", r.host))
        .because(format!("pulling {} fails on the way: {}.", failure.image, last_words(failure.said)))
        .next(format!("Check the node's way to {}: network, proxy, firewall; or pull through a mirror.", r.host))
        .fact("error", last_words(failure.said))
}

pub(super) fn server_error(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    let code = texts::capture(r"\b(5\d\d)\b", failure.said).unwrap_or("5xx");
    passing(cx, failure)
        .title(format!("{} answers {code}", r.host))
        .because(format!("the registry is reached and answers {code} itself: {}.", last_words(failure.said)))
        .next(format!("Wait for {} or repair it; a mirror helps meanwhile.", r.host))
        .fact("status", code)
}

pub(super) fn unavailable(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let r = failure.reference();
    passing(cx, failure)
        .title(format!("{} is unavailable", r.host))
        .because(format!("the runtime reports {} as unavailable.", r.host))
        .next(format!("Look at {} and at the node's way to it.", r.host))
}

/// The kubelet tries again; after ten minutes of the same, waiting is no longer a plan.
fn passing(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    if cx.older(failure.since(), LONG_ENOUGH) { failure.blocked_by_registry(cx) } else { failure.delayed_by_registry(cx) }
}

/// The innermost error: what stands after the last quoted address or image.
fn last_words(said: &str) -> &str {
    let (_, said) = texts::rpc(said);
    said.rsplit_once("\": ").map_or(said, |(_, last)| last)
}
