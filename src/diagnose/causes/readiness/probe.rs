//! Probe: what a container's probe asks, how long it may fail, and what the kubelet last wrote about it.

use crate::diagnose::Cx;
use crate::model::{Container, ContainerStatus, Event, IntOrText, Pod, Probe, Time};

/// The kubelet's defaults.
const PERIOD: i64 = 10;
const FAILURES: i64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeKind {
    Readiness,
    Liveness,
    Startup,
}

impl ProbeKind {
    /// As the kubelet's texts begin.
    pub fn word(self) -> &'static str {
        match self {
            Self::Readiness => "Readiness",
            Self::Liveness => "Liveness",
            Self::Startup => "Startup",
        }
    }

    pub fn field(self) -> &'static str {
        match self {
            Self::Readiness => "readinessProbe",
            Self::Liveness => "livenessProbe",
            Self::Startup => "startupProbe",
        }
    }

    pub fn of(self, container: &Container) -> Option<&Probe> {
        match self {
            Self::Readiness => container.readiness_probe.as_deref(),
            Self::Liveness => container.liveness_probe.as_deref(),
            Self::Startup => container.startup_probe.as_deref(),
        }
    }
}

/// Seconds from the container's start until the probe has failed for good: delay, then failures one period apart.
pub(super) fn budget(probe: &Probe) -> i64 {
    let (period, failures) = (probe.period_seconds.unwrap_or(PERIOD), probe.failure_threshold.unwrap_or(FAILURES));
    probe.initial_delay_seconds.saturating_add(period.saturating_mul(failures)).clamp(0, 86_400)
}

/// `httpGet :8081/readyz`, `tcpSocket :5432`, `exec pg_isready`: the fields as they are written.
pub(super) fn in_words(probe: &Probe) -> String {
    if let Some(get) = &probe.http_get {
        let scheme = if get.scheme.eq_ignore_ascii_case("HTTPS") { "https " } else { "" };
        return format!("httpGet {scheme}port {}{}", get.port, get.path);
    }
    match (&probe.tcp_socket, &probe.grpc, &probe.exec) {
        (Some(socket), _, _) => format!("tcpSocket port {}", socket.port),
        (None, Some(grpc), _) => format!("grpc port {}", grpc.port),
        (None, None, Some(exec)) => format!("exec {}", exec.command.join(" ")),
        (None, None, None) => "no action".to_owned(),
    }
}

/// The port that it asks, if it asks one; a name is looked up among the container's ports.
pub(super) fn port(probe: &Probe, container: &Container) -> Option<i64> {
    let port =
        probe.http_get.as_ref().map(|g| &g.port).or(probe.tcp_socket.as_ref().map(|s| &s.port)).or(probe.grpc.as_ref().map(|s| &s.port))?;
    match port {
        IntOrText::Int(n) => Some(*n),
        IntOrText::Text(name) => container.ports.iter().find(|p| p.name == *name).map(|p| p.container_port),
    }
}

/// The newest failure of a probe that the kubelet wrote about the container since it started; older ones are about an earlier run.
pub(super) fn failure<'a>(cx: &Cx<'a>, pod: Pod<'_>, status: &ContainerStatus, kinds: &[ProbeKind]) -> Option<(ProbeKind, &'a Event)> {
    let started = status.state.running.as_ref().and_then(|r| r.started_at);
    let events = cx.events(&pod.reference());
    kinds.iter().find_map(|kind| {
        let fits = |e: &&&Event| is_failure(e, status, *kind) && (started.is_none() || e.last >= started);
        events.iter().find(fits).map(|e| (*kind, *e))
    })
}

pub(super) fn is_failure(event: &Event, status: &ContainerStatus, kind: ProbeKind) -> bool {
    let its = event.about.container().is_none_or(|c| c == &*status.name);
    its && matches!(&*event.reason, "Unhealthy" | "ProbeError")
        && event
            .message
            .strip_prefix(kind.word())
            .is_some_and(|rest| rest.starts_with(" probe failed") || rest.starts_with(" probe errored"))
}

/// What stands after `Readiness probe failed: `.
pub(super) fn output(message: &str) -> &str {
    message.split_once(": ").map_or("", |(_, out)| out).trim()
}

/// A port that the container's own arguments name and the probe does not ask: `--health-probe-bind-address=:9090`.
pub(super) fn other_port(container: &Container, asked: i64) -> Option<String> {
    let words = container.command.iter().chain(&container.args);
    let named: Vec<String> = words.filter(|w| ports_in(w).next().is_some()).map(|w| w.to_string()).collect();
    let all: Vec<i64> = named.iter().flat_map(|w| ports_in(w)).collect();
    (!all.is_empty() && !all.contains(&asked)).then(|| named.first().cloned()).flatten()
}

/// Numbers after a colon at the end of a word or before a slash: `:9090`, `0.0.0.0:8080/`.
fn ports_in(word: &str) -> impl Iterator<Item = i64> {
    word.split(':').skip(1).filter_map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        let rest = &part[digits.len()..];
        let number = digits.parse::<i64>().ok().filter(|n| (1..=65_535).contains(n))?;
        (rest.is_empty() || rest.starts_with('/') || rest.starts_with(',')).then_some(number)
    })
}

/// When the container's present run began.
pub(super) fn started(status: &ContainerStatus) -> Option<Time> {
    status.state.running.as_ref().and_then(|r| r.started_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_seen_in_arguments() {
        let all = |word| ports_in(word).collect::<Vec<_>>();
        assert_eq!(all("--health-probe-bind-address=:9090"), [9090]);
        assert_eq!(all("http://0.0.0.0:8080/x"), [8080]);
        assert_eq!(all("a:b:c"), [0; 0]);
        assert_eq!(all("postgres:15.2"), [0; 0]);
    }

    #[test]
    fn the_output_stands_after_the_first_colon() {
        assert_eq!(output("Readiness probe failed: HTTP probe failed with statuscode: 503"), "HTTP probe failed with statuscode: 503");
        assert_eq!(output("Liveness probe failed: "), "");
    }
}
