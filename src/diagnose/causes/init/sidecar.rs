//! Sidecars that start before the others and do not get to it.

use super::ROW;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Stage};
use crate::model::{Container, ContainerRole, ContainerStatus, Pod, Probe};

pub(super) const NOT_STARTED: Cause = Cause {
    id: "sidecar-not-started",
    stage: Stage::Init,
    title: "A sidecar has not started yet",
    explanation: "An init container with restartPolicy Always is a sidecar: the next container starts when its startup probe has \
                  succeeded (without one, as soon as it runs and its postStart hook is done).",
    told_apart: "A sidecar that turns unready later makes the pod unready and holds no start up.",
    cure: "Repair the sidecar or its startup probe.",
    docs: "concepts/workloads/pods/sidecar-containers/",
    judge: Judge::By("init-container-running"),
    ..ROW
};

pub(super) fn not_started(cx: &Cx<'_>, pod: Pod<'_>, container: &Container, status: &ContainerStatus) -> Finding {
    let name = &container.name;
    let started = status.state.running.as_ref().and_then(|r| r.started_at);
    let budget = container.startup_probe.as_deref().map_or(60, budget);
    let end = started.map(|at| at.plus(budget));
    let late = status.restart_count > 0 || end.is_some_and(|end| cx.passed(end.plus(60)));
    let finding = standing::of_workload(cx, pod, if late { Finding::blocked } else { Finding::delayed })
        .title(format!("sidecar {name} has not started"))
        .because(format!("sidecar {name} runs and its startup probe has not succeeded, so nothing after it starts."))
        .next(format!("Look at the log of sidecar {name} and at what its startup probe asks."))
        .clock(ClockKind::Budget, "startup probe", end)
        .fact("container", name)
        .fact("budget", format!("{budget}s"))
        .fact("restartCount", status.restart_count)
        .since(started.or(pod.created()))
        .evidence(pod.reference(), standing::status_path(ContainerRole::Init, name, "started"), "started: false", started);
    let failing = cx.events(&pod.reference()).into_iter().find(|e| {
        let its = e.about.container().is_none_or(|c| c == &**name);
        its && &*e.reason == "Unhealthy" && e.message.starts_with("Startup probe")
    });
    match failing {
        Some(event) => finding.event(pod.reference(), event),
        None => finding,
    }
}

fn budget(probe: &Probe) -> i64 {
    let (period, failures) = (probe.period_seconds.unwrap_or(10), probe.failure_threshold.unwrap_or(3));
    probe.initial_delay_seconds.saturating_add(period.saturating_mul(failures)).clamp(0, 86_400)
}
