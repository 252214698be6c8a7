//! Failing probes, told apart by what they answer.

use super::ROW;
use super::probe::{self, ProbeKind};
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, Cx, Finding, texts};
use crate::model::{Container, Event, Pod};

pub(super) const HTTP_STATUS: Cause = Cause {
    id: "probe-http-status",
    title: "A probe gets a bad HTTP status",
    explanation: "The container answers the probe, with a status outside 200–399.",
    told_apart: "probe-connection-refused gets no answer at all.",
    cure: "5xx: the application says that it is not ready. 404: wrong path. 401, 403: the endpoint asks for credentials.",
    ..ROW
};

pub(super) const REFUSED: Cause = Cause {
    id: "probe-connection-refused",
    title: "Nothing listens where a probe asks",
    explanation: "The connection is refused: the process does not listen on that port, not yet, or on 127.0.0.1 only.",
    told_apart: "probe-timeout finds something that does not answer, or no way to it.",
    cure: "Let probe and process agree on the port; let the process listen on all addresses.",
    ..ROW
};

pub(super) const TIMEOUT: Cause = Cause {
    id: "probe-timeout",
    title: "A probe gets no answer in time",
    explanation: "The container does not answer within timeoutSeconds (1 s by default), breaks the connection, or cannot be reached from its node.",
    told_apart: "*no route to host* or *i/o timeout* for many pods of one node points to the network plugin there.",
    cure: "Raise timeoutSeconds, give more CPU (throttling), or repair the way from node to pod.",
    ..ROW
};

pub(super) const TLS: Cause = Cause {
    id: "probe-tls",
    title: "Probe and container disagree on TLS",
    explanation: "The probe speaks HTTPS and the container does not, or the handshake fails. Certificates are not verified.",
    told_apart: "The reverse mistake, an HTTP probe on a TLS port, gives status 400 or EOF.",
    cure: "Correct the probe's scheme or port.",
    ..ROW
};

pub(super) const GRPC: Cause = Cause {
    id: "probe-grpc",
    title: "A gRPC health check fails",
    explanation: "The health service answers NOT_SERVING, is not there, or cannot be reached.",
    told_apart: "HTTP and TCP probes have rows of their own.",
    cure: "Implement grpc.health.v1.Health, correct port or service name of the probe, or find why it does not serve.",
    ..ROW
};

pub(super) const ERRORED: Cause = Cause {
    id: "probe-errored",
    title: "A probe cannot be run",
    explanation: "The kubelet could not run the probe: a port name that the container does not have, or a runtime error. Such results are thrown away and count as nothing.",
    told_apart: "A probe that fails was run.",
    cure: "Correct the port's name in the probe; for runtime errors look at the node.",
    ..ROW
};

pub(super) const EXEC: Cause = Cause {
    id: "probe-exec-failed",
    title: "A probe's command fails",
    explanation: "The command of the probe ends with another code than 0. Its output is in the event, its exit code is not.",
    told_apart: "HTTP, TCP and gRPC probes have rows of their own; this one takes what is left.",
    cure: "Run the command in the container by hand.",
    ..ROW
};

/// The row for what the probe answered, and its finding.
pub(super) fn finding(
    cx: &Cx<'_>,
    pod: Pod<'_>,
    container: &Container,
    kind: ProbeKind,
    event: &Event,
    lasting: bool,
) -> (&'static str, Finding) {
    let out = probe::output(&event.message);
    let id = class(&event.message, out);
    let certain = id == TLS.id || id == ERRORED.id && out.contains("strconv");
    let finding = standing::of_workload(cx, pod, if lasting || certain { Finding::blocked } else { Finding::delayed });
    (id, describe(finding, pod, container, kind, event))
}

/// Title, reason, advice and evidence of a failing probe.
pub(super) fn describe(finding: Finding, pod: Pod<'_>, container: &Container, kind: ProbeKind, event: &Event) -> Finding {
    let out = probe::output(&event.message);
    let (what, next) = in_words(class(&event.message, out), container, kind, out);
    let probe = kind.of(container);
    let asked = probe.map_or_else(|| "unknown".to_owned(), probe::in_words);
    let mut finding = finding
        .title(format!("{} probe of container {}: {what}", kind.word().to_lowercase(), container.name))
        .because(format!(
            "the {} probe of container {} ({asked}) fails: {what}.{}",
            kind.word().to_lowercase(),
            container.name,
            contradiction(container, kind)
        ))
        .next(next)
        .fact("container", &container.name)
        .fact("probe", format!("{}: {asked}", kind.field()))
        .fact("failures", event.count)
        .event(pod.reference(), event);
    if let Some(port) = probe.and_then(|p| probe::port(p, container)) {
        finding = finding.fact("port", port);
    }
    finding.evidence(pod.reference(), format!("spec.containers[name={}].{}", container.name, kind.field()), asked, None)
}

/// The container's own arguments name another port.
fn contradiction(container: &Container, kind: ProbeKind) -> String {
    let asked = kind.of(container).and_then(|p| probe::port(p, container));
    match asked.and_then(|port| probe::other_port(container, port).map(|word| (port, word))) {
        Some((port, word)) => format!(" Its arguments say {word}, the probe asks port {port}."),
        None => String::new(),
    }
}

fn class(message: &str, out: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|w| out.contains(w));
    if message.contains(" probe errored") {
        ERRORED.id
    } else if has(&["HTTP probe failed with statuscode"]) {
        HTTP_STATUS.id
    } else if has(&["service unhealthy", "grpc health protocol", "health rpc", "failed to connect service"]) {
        GRPC.id
    } else if has(&["connection refused"]) {
        REFUSED.id
    } else if has(&["HTTP response to HTTPS client", "tls: ", "x509: "]) {
        TLS.id
    } else if has(&["deadline exceeded", "timed out", "i/o timeout", "no route to host", "Client.Timeout", "connection reset", "broken"])
        || out.ends_with("EOF")
    {
        TIMEOUT.id
    } else {
        EXEC.id
    }
}

fn in_words(id: &str, container: &Container, kind: ProbeKind, out: &str) -> (String, String) {
    let (name, field) = (&container.name, kind.field());
    match id {
        "probe-http-status" => {
            let code = texts::capture(r"statuscode: (\d+)", out).unwrap_or("?");
            let next = match code {
                "404" => format!("Correct the path of {field} of container {name}: the application does not know it."),
                "401" | "403" => format!("Let {field} of container {name} ask an endpoint that needs no credentials."),
                _ => format!("Read the log of container {name}: the application itself says that it is not well."),
            };
            (format!("HTTP {code}"), next)
        }
        "probe-connection-refused" => {
            let at = texts::capture(r"dial tcp (\S+): ", out)
                .and_then(|a| a.rsplit_once(':'))
                .map_or(String::new(), |(_, port)| format!(" on port {port}"));
            (
                format!("connection refused{at}"),
                format!("Let container {name} listen{at} on all addresses, or correct the port of {field}."),
            )
        }
        "probe-timeout" => (
            "no answer in time".to_owned(),
            format!("Raise timeoutSeconds of {field} of container {name}, give it more CPU, or check the way from its node."),
        ),
        "probe-tls" => ("TLS does not fit".to_owned(), format!("Correct scheme or port of {field} of container {name}.")),
        "probe-grpc" => (short(out), format!("Look at the health service of container {name}, its port and its service name in {field}.")),
        "probe-errored" => (short(out), format!("Correct the port of {field} of container {name}; for runtime errors look at its node.")),
        _ => (short(out), format!("Run the command of {field} in container {name} by hand.")),
    }
}

/// The first line of what a command said.
fn short(out: &str) -> String {
    let line = out.lines().next().unwrap_or("").trim();
    if line.is_empty() { "it fails without a word".to_owned() } else { line.chars().take(80).collect() }
}
