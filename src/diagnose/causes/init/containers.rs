//! Init containers that run on and on, or end again and again: the first one that is not finished is the one that matters.

use super::target::{self, State, Target, Targets};
use super::{ROW, sidecar};
use crate::diagnose::causes::{exits, standing};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Stage};
use crate::model::{Condition, Container, ContainerRole, ContainerStatus, Phase, Pod, Time};

pub(super) const RUNNING: Cause = Cause {
    id: "init-container-running",
    stage: Stage::Init,
    title: "An init container is still running",
    explanation: "Init containers run one after the other, and the pod's own containers start after the last. Kubernetes sets no time \
                  for that. Most that run long wait for something: a Service, a database, a Job.",
    told_apart: "Where what it waits for is down, that is the blocker and this its consequence. Where it is up and the loop goes on, the \
                 loop itself is wrong.",
    cure: "Bring up what it waits for, or correct the loop.",
    judge: Judge::Pods(judge),
    ..ROW
};

pub(super) const CRASH_LOOP: Cause = Cause {
    id: "init-container-crashloop",
    stage: Stage::Init,
    title: "An init container fails again and again",
    explanation: "The init container ends with an error, so the pod's own containers never start. The kubelet starts it again with \
                  growing pauses.",
    told_apart: "crashloop-backoff is about the pod's own containers.",
    cure: "Read the init container's previous log and repair what it does.",
    clears: 300,
    judge: Judge::By("init-container-running"),
    ..ROW
};

/// Something that has been up for this long should have been noticed by a loop.
const NOTICED: i64 = 120;

fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    told(cx, pod).map(|(id, finding)| (id, standing::named(finding)))
}

fn told(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    if !matches!(pod.phase(), Phase::Pending | Phase::Running) || pod.condition("Initialized").is_some_and(Condition::is_true) {
        return None;
    }
    let (place, container, status) = first_unfinished(pod)?;
    if let Some(exit) = exits::of(pod, ContainerRole::Init, status).filter(|e| e.is_trouble(cx) && !e.never_ran()) {
        return Some((CRASH_LOOP.id, crash_loop(cx, place, container, &exit)));
    }
    let started = status.state.running.as_ref()?.started_at;
    if container.is_sidecar() {
        return Some((sidecar::NOT_STARTED.id, sidecar::not_started(cx, pod, container, status)));
    }
    Some((RUNNING.id, running(cx, place, container, started)))
}

/// Where it stands in the row of init containers.
#[derive(Clone, Copy)]
struct Place<'a> {
    pod: Pod<'a>,
    index: usize,
    of: usize,
}

fn first_unfinished(pod: Pod<'_>) -> Option<(Place<'_>, &Container, &ContainerStatus)> {
    let all = &pod.spec().init_containers;
    all.iter().enumerate().find_map(|(index, container)| {
        let status = pod.status().init_container_statuses.iter().find(|s| s.name == container.name)?;
        let ended = status.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0) && !container.is_sidecar();
        let serves = container.is_sidecar() && status.started == Some(true);
        (!ended && !serves).then_some((Place { pod, index, of: all.len() }, container, status))
    })
}

fn running(cx: &Cx<'_>, place: Place<'_>, container: &Container, started: Option<Time>) -> Finding {
    let targets = target::of(cx, place.pod, container);
    let name = &container.name;
    let finding = match blocking(&targets) {
        Some(target) => waiting(cx, place, container, target, started),
        None if targets.is_wait && is_overdue(cx, &targets, started) => wrong(cx, place, container, &targets),
        None => plain(cx, place, container, &targets),
    };
    let path = standing::status_path(ContainerRole::Init, name, "state.running");
    let progress = format!("running, Init:{}/{}", place.index, place.of);
    let finding = described(finding, place, container).since(started.or(place.pod.created()));
    depend(finding.evidence(place.pod.reference(), path, progress, started), &targets)
}

/// The first target that keeps it waiting.
fn blocking(targets: &Targets) -> Option<&Target> {
    targets.all.iter().find(|t| matches!(t.state, State::Down(_) | State::Off(_) | State::Missing))
}

fn waiting(cx: &Cx<'_>, place: Place<'_>, container: &Container, target: &Target, started: Option<Time>) -> Finding {
    let (name, what) = (&container.name, target.place());
    let (comes, why, next) = match &target.state {
        State::Off(workload) => {
            (false, format!("it has no pod, {workload} is scaled to 0"), format!("Scale {workload} up, or take the wait out."))
        }
        State::Missing => {
            (false, "it does not exist".to_owned(), format!("Create {what}, or correct the name in the command of init container {name}."))
        }
        State::Down(_) | State::Up(_) | State::Unknown => {
            (true, "it is not ready".to_owned(), format!("Bring up {what}: init container {name} goes on by itself then."))
        }
    };
    let hopeless = !comes && cx.older(started, NOTICED);
    standing::of_workload(cx, place.pod, if hopeless { Finding::blocked } else { Finding::delayed })
        .title(format!("init container {name} waits for {what}"))
        .because(format!("init container {name} waits for {what}: {why}."))
        .next(next)
        .clock(ClockKind::Provisioning, what, None)
}

/// Everything is there and the loop goes on.
fn wrong(cx: &Cx<'_>, place: Place<'_>, container: &Container, targets: &Targets) -> Finding {
    let name = &container.name;
    let there = places(targets);
    standing::of_workload(cx, place.pod, Finding::blocked)
        .title(format!("init container {name} goes on waiting although {there} is up"))
        .because(format!("init container {name} waits for {there}, which is there: its loop tests something else, or never succeeds."))
        .next(format!("Run the test of init container {name} by hand and correct its command."))
}

/// Nothing tells that it waits in vain.
fn plain(cx: &Cx<'_>, place: Place<'_>, container: &Container, targets: &Targets) -> Finding {
    let name = &container.name;
    let what = if targets.all.is_empty() { "and nothing tells what for".to_owned() } else { format!("and names {}", places(targets)) };
    standing::of_workload(cx, place.pod, Finding::delayed)
        .title(format!("init container {name} is still running"))
        .because(format!("init container {name} runs {what}; the pod's containers start after it."))
        .next(format!("Read its log: kubectl -n {} logs {} -c {name}", place.pod.namespace(), place.pod.name()))
        .clock(ClockKind::Provisioning, format!("init container {name}"), None)
}

fn places(targets: &Targets) -> String {
    targets.all.iter().map(Target::place).collect::<Vec<_>>().join(", ")
}

/// All that it waits for has been up for a while, and so has the loop.
fn is_overdue(cx: &Cx<'_>, targets: &Targets, started: Option<Time>) -> bool {
    let up = |t: &Target| matches!(t.state, State::Up(since) if since.is_none() || cx.older(since, NOTICED));
    !targets.all.is_empty() && cx.older(started, NOTICED) && targets.all.iter().all(up)
}

fn described(finding: Finding, place: Place<'_>, container: &Container) -> Finding {
    let command: Vec<&str> = container.command.iter().chain(&container.args).map(|w| &**w).collect();
    let finding = finding.fact("container", &container.name).fact("initContainers", format!("{}/{}", place.index, place.of));
    if command.is_empty() {
        return finding;
    }
    let path = format!("spec.initContainers[name={}].command", container.name);
    finding.evidence(place.pod.reference(), path, command.join(" "), None)
}

/// It hangs under whatever keeps its targets down; a target that is up may still be held up by its Service's port.
fn depend(mut finding: Finding, targets: &Targets) -> Finding {
    for target in &targets.all {
        match &target.state {
            State::Down(holders) => finding.waits_on.extend(holders.iter().cloned()),
            State::Off(workload) => finding.waits_on.push(workload.clone()),
            State::Up(_) => finding.waits_on.extend(target.object.clone()),
            State::Missing | State::Unknown => {}
        }
    }
    if targets.all.is_empty() {
        return finding;
    }
    let names: Vec<&str> = targets.all.iter().map(|t| &*t.name).collect();
    let up = targets.all.iter().filter(|t| t.is_up()).count();
    finding.fact("waitsFor", names.join(", ")).fact("up", format!("{up} of {}", names.len()))
}

fn crash_loop(cx: &Cx<'_>, place: Place<'_>, container: &Container, exit: &exits::Exit<'_>) -> Finding {
    let name = &container.name;
    let targets = target::of(cx, place.pod, container);
    let finding = standing::of_workload(cx, place.pod, if exit.is_hopeless() { Finding::blocked } else { Finding::delayed })
        .title(format!("init container {name} fails with exit code {}", exit.end.exit_code))
        .because(format!("init container {name} ended with {}, so the pod's containers never start.", exit.in_words()))
        .next(format!("Read its last words: kubectl -n {} logs {} -c {name} --previous", place.pod.namespace(), place.pod.name()))
        .clock(ClockKind::Retry, "crash back-off", exit.next_start())
        .since(exit.since());
    let mut finding = exit.prove(described(finding, place, container));
    let down = targets.all.iter().filter_map(|t| if let State::Down(holders) = &t.state { Some(holders) } else { None });
    finding.waits_on.extend(down.flatten().cloned());
    finding
}
