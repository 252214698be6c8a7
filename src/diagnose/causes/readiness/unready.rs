//! Pods that run and are not ready: the container that keeps them so, and what its probe says.

use super::probe::{self, ProbeKind};
use super::{ROW, gates, probes};
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge};
use crate::model::{Condition, Container, ContainerRole, ContainerStatus, Phase, Pod, Time};

pub(super) const CONTAINERS: Cause = Cause {
    id: "containers-not-ready",
    title: "A container runs and is not ready",
    explanation: "The pod's Ready condition is False because a running container is not ready, and no probe has told why.",
    told_apart: "The probe rows are taken where the kubelet wrote what the probe answered.",
    cure: "Look at what the container's readiness probe tests, and at its log.",
    judge: Judge::Pods(judge),
    ..ROW
};

pub(super) const STARTUP: Cause = Cause {
    id: "startup-probe-pending",
    title: "A container has not passed its startup probe",
    explanation: "Until the startup probe succeeds once, liveness and readiness are not asked. When its budget (initialDelaySeconds + failureThreshold × periodSeconds) is used up, the kubelet kills the container and starts it again.",
    told_apart: "A readiness probe never kills; a liveness probe does so at any time after the start.",
    cure: "Give the probe a larger budget, or make the start faster.",
    ..ROW
};

/// Applications need a while to come up, whatever their probe allows.
pub(super) const SETTLE: i64 = 120;

fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    told(cx, pod).map(|(id, finding)| (id, standing::named(finding)))
}

fn told(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    if pod.phase() != Phase::Running || pod.is_ready() || pod.node().is_none() {
        return None;
    }
    let Some((role, status, container)) = unready(pod) else { return gates::judge(cx, pod).map(|f| (gates::GATES.id, f)) };
    if status.started == Some(false) && container.startup_probe.is_some() {
        return Some((STARTUP.id, startup(cx, pod, role, status, container)));
    }
    let kinds = [ProbeKind::Readiness, ProbeKind::Liveness, ProbeKind::Startup];
    let kinds = kinds.into_iter().filter(|k| k.of(container).is_some()).collect::<Vec<_>>();
    if let Some((kind, event)) = probe::failure(cx, pod, status, &kinds) {
        let (id, finding) = probes::finding(cx, pod, container, kind, event, is_lasting(cx, pod, status, container));
        return Some((id, clocked(finding, pod, status, container)));
    }
    Some((CONTAINERS.id, silent(cx, pod, role, status, container)))
}

/// The first container that runs without being ready. Those that wait or have ended are told by other layers.
fn unready(pod: Pod<'_>) -> Option<(ContainerRole, &ContainerStatus, &Container)> {
    pod.container_statuses().find_map(|(role, status)| {
        let container = pod.spec().container(&status.name)?;
        let stays = role == ContainerRole::App || container.is_sidecar();
        (stays && !status.ready && status.state.running.is_some()).then_some((role, status, container))
    })
}

/// Not ready for longer than its probe and a start may take: a readiness probe restarts nothing, so nothing changes by itself.
fn is_lasting(cx: &Cx<'_>, pod: Pod<'_>, status: &ContainerStatus, container: &Container) -> bool {
    patience(pod, status, container).is_some_and(|until| cx.passed(until))
}

/// Until when it is worth waiting.
fn patience(pod: Pod<'_>, status: &ContainerStatus, container: &Container) -> Option<Time> {
    let budget = container.readiness_probe.as_deref().map_or(0, probe::budget);
    let since =
        if status.restart_count > 0 { standing::unready_since(pod) } else { probe::started(status).max(standing::unready_since(pod)) };
    since.map(|at| at.plus(budget.max(SETTLE)))
}

fn clocked(finding: Finding, pod: Pod<'_>, status: &ContainerStatus, container: &Container) -> Finding {
    finding.clock(ClockKind::Budget, "readiness probe", patience(pod, status, container))
}

fn silent(cx: &Cx<'_>, pod: Pod<'_>, role: ContainerRole, status: &ContainerStatus, container: &Container) -> Finding {
    let kind = if is_lasting(cx, pod, status, container) { Finding::blocked } else { Finding::delayed };
    let asked = container
        .readiness_probe
        .as_ref()
        .map_or_else(|| "it has no readiness probe".to_owned(), |p| format!("its readiness probe is {}", probe::in_words(p)));
    let mut finding = standing::of_workload(cx, pod, kind)
        .title(format!("container {} runs and is not ready", status.name))
        .because(format!("container {} runs without being ready; {asked}, and no event says what it answered.", status.name))
        .next(format!("Look at the log of container {} and at what its readiness probe asks.", status.name))
        .fact("container", &status.name)
        .fact("restartCount", status.restart_count)
        .evidence(pod.reference(), standing::status_path(role, &status.name, "ready"), "ready: false", None);
    if let Some(condition) = pod.condition("Ready").filter(|c| !c.message.is_empty()) {
        finding =
            finding.evidence(pod.reference(), "status.conditions[type=Ready].message", &*condition.message, condition.last_transition_time);
    }
    clocked(finding, pod, status, container)
}

/// Inside the first budget it is a start; from the second round on it is a loop.
fn startup(cx: &Cx<'_>, pod: Pod<'_>, role: ContainerRole, status: &ContainerStatus, container: &Container) -> Finding {
    let budget = container.startup_probe.as_deref().map_or(0, probe::budget);
    let end = probe::started(status).map(|at| at.plus(budget));
    let again = status.restart_count > 0;
    let overdue = end.is_some_and(|end| cx.passed(end.plus(60)));
    let name = &status.name;
    let asked = container.startup_probe.as_deref().map_or_else(String::new, probe::in_words);
    let mut finding = standing::of_workload(cx, pod, if again || overdue { Finding::blocked } else { Finding::delayed })
        .title(format!("container {name} has not passed its startup probe"))
        .because(format!("container {name} gets {budget} s to answer {asked}{}.", if again { ", and has used them up before" } else { "" }))
        .next(if again {
            format!("Raise failureThreshold or periodSeconds of the startup probe of container {name}, or find why it does not come up.")
        } else {
            format!("Wait for the start; the kubelet kills container {name} when the {budget} s are over.")
        })
        .fact("container", name)
        .fact("startupProbe", asked)
        .fact("budget", format!("{budget}s"))
        .fact("restartCount", status.restart_count)
        .since(if again { standing::unready_since(pod) } else { probe::started(status).or(standing::unready_since(pod)) })
        .clock(ClockKind::Budget, "startup probe", end)
        .evidence(pod.reference(), standing::status_path(role, name, "started"), "started: false", probe::started(status));
    if let Some((_, event)) = probe::failure(cx, pod, status, &[ProbeKind::Startup]) {
        finding = finding.fact("failures", event.count).event(pod.reference(), event);
    }
    finding
}

/// Whether a condition says so.
pub(super) fn holds(pod: Pod<'_>, kind: &str) -> bool {
    pod.condition(kind).is_some_and(Condition::is_true)
}
