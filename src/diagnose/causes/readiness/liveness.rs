//! Containers that their own probe kills: the exit code is the kill's, not the application's.

use super::probe::{self, ProbeKind};
use super::{ROW, probes};
use crate::diagnose::causes::exits::Exit;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Stage};
use crate::model::{Event, Time};

pub(super) const LIVENESS: Cause = Cause {
    id: "liveness-restart",
    stage: Stage::Containers,
    title: "A container is killed by its own probe, again and again",
    explanation: "The liveness or startup probe fails, so the kubelet stops the container and starts it again, with growing pauses. The exit code (0, 137, 143) is that of being stopped.",
    told_apart: "A crash ends by itself; here a Killing event says who did it.",
    cure: "Repair what the probe asks, or the probe: its port, path, time and thresholds.",
    clears: 300,
    judge: Judge::By("crashloop-backoff"),
    ..ROW
};

/// Seconds by which times of events and statuses may differ.
const SLACK: i64 = 5;

/// The finding where a probe killed the container whose end this is.
pub(in crate::diagnose::causes) fn killed(cx: &Cx<'_>, exit: &Exit<'_>) -> Option<Finding> {
    let container = exit.container()?;
    let events = cx.events(&exit.pod.reference());
    let kind =
        [ProbeKind::Liveness, ProbeKind::Startup].into_iter().find(|k| k.of(container).is_some() && was_killed(exit, &events, *k))?;
    let hopeless = exit.is_hopeless();
    let mut finding = standing::of_workload(cx, exit.pod, if hopeless { Finding::blocked } else { Finding::delayed })
        .clock(ClockKind::Retry, "crash back-off", exit.next_start())
        .since(exit.since());
    let failing = events.iter().find(|e| probe::is_failure(e, exit.status, kind)).copied();
    finding = match failing {
        Some(event) => probes::describe(finding, exit.pod, container, kind, event),
        None => finding.next(format!("Look at what the {} probe of container {} asks.", kind.word().to_lowercase(), container.name)),
    };
    let asked = kind.of(container).map_or_else(String::new, probe::in_words);
    let why = failing.map_or_else(String::new, |e| format!(": {}", probe::output(&e.message)));
    let (probe, name) = (kind.word().to_lowercase(), &container.name);
    let hint = contradiction(&finding);
    finding = finding
        .title(format!("{probe} probe keeps killing container {name}"))
        .because(format!("the kubelet stops container {name} and starts it again because its {probe} probe ({asked}) fails{why}.{hint}"));
    if let Some(kill) = events.iter().find(|e| is_kill(e, exit, kind)) {
        finding = finding.event(exit.pod.reference(), kill);
    }
    let mut finding = exit.prove(finding);
    finding.wider = None;
    Some(finding)
}

/// What the probe's own words added about arguments that contradict it.
fn contradiction(finding: &Finding) -> String {
    finding.because.find(" Its arguments say").map_or_else(String::new, |at| finding.because[at..].to_owned())
}

/// A kill by this probe shortly before the end; where the event has gone, an end by signal while the probe was failing.
fn was_killed(exit: &Exit<'_>, events: &[&Event], kind: ProbeKind) -> bool {
    let Some(end) = exit.end.finished_at else { return false };
    let grace = exit.pod.spec().termination_grace_period_seconds.unwrap_or(30) + SLACK;
    let near = |at: Option<Time>| at.is_some_and(|at| end.since(at) <= grace && at.since(end) <= SLACK);
    if events.iter().any(|e| is_kill(e, exit, kind) && near(e.last)) {
        return true;
    }
    let stopped = matches!(exit.end.exit_code, 137 | 143) && &*exit.end.reason != "OOMKilled";
    stopped
        && events.iter().any(|e| {
            let began = e.first.is_some_and(|first| first <= end);
            probe::is_failure(e, exit.status, kind) && began && e.last.is_some_and(|last| end.since(last) <= grace)
        })
}

fn is_kill(event: &Event, exit: &Exit<'_>, kind: ProbeKind) -> bool {
    let its = event.about.container().is_none_or(|c| c == &*exit.status.name);
    its && &*event.reason == "Killing" && event.message.contains(&format!("failed {} probe", kind.word().to_lowercase()))
}
