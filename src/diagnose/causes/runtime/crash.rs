//! Containers that run and end: crash loops, memory, plain exits. Who was killed by a probe is told by the probe.

use super::ROW;
use crate::diagnose::causes::exits::{self, Exit};
use crate::diagnose::causes::{readiness, standing};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge};
use crate::model::{Container, ContainerRole, Phase, Pod};

pub(super) const CRASH_LOOP: Cause = Cause {
    id: "crashloop-backoff",
    title: "A container ends again and again",
    explanation: "The container ends soon after each start. The kubelet waits 10 s before it starts it again, twice as long each time up to five minutes, and forgets the pauses once it has run for ten minutes. Between two crashes it runs, and may even be ready.",
    told_apart: "oom-killed, liveness-restart and the start rows are taken where the last end says more. A restart long ago is history.",
    cure: "Read the previous log of the container; its exit code says which kind of end it was.",
    docs: "concepts/workloads/pods/pod-lifecycle/",
    clears: 300,
    judge: Judge::Pods(super::judge),
    ..ROW
};

pub(super) const OOM: Cause = Cause {
    id: "oom-killed",
    title: "A container is killed for the memory it uses",
    explanation: "The kernel killed a process of the container because the container reached its memory limit, or because the node had no memory left.",
    told_apart: "Exit code 137 with reason Error is a kill for another reason: a probe, a deletion, the node, somebody.",
    cure: "Raise the memory limit or use less; without a limit raise the request, so that the node is not overbooked.",
    docs: "tasks/configure-pod-container/assign-memory-resource/",
    clears: 300,
    ..ROW
};

pub(super) const EXIT: Cause = Cause {
    id: "exit-code",
    title: "A container has ended",
    explanation: "The container ended, and is started again or is not, as the pod's restartPolicy says. One or two ends at the start are often dependencies that were not there yet.",
    told_apart: "From the third end in a row on it is crashloop-backoff.",
    cure: "Read the log of the container; its exit code says which kind of end it was.",
    docs: "concepts/workloads/pods/pod-lifecycle/",
    ..ROW
};

pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    if !matches!(pod.phase(), Phase::Running | Phase::Pending | Phase::Unknown) {
        return None;
    }
    let ended = pod.container_statuses().filter_map(|(role, status)| exits::of(pod, role, status));
    let exit = ended.filter(|e| is_main(e) && e.is_trouble(cx)).max_by_key(|e| (e.is_hopeless(), e.status.restart_count))?;
    if let Some(finding) = readiness::killed(cx, &exit) {
        return Some(("liveness-restart", finding));
    }
    let id = match &*exit.end.reason {
        "OOMKilled" => OOM.id,
        _ if exit.is_backing_off() || exit.is_hopeless() && exit.is_restarted() => CRASH_LOOP.id,
        _ => EXIT.id,
    };
    Some((id, exit.prove(finding(cx, &exit, id))))
}

/// Init containers are the init layer's, but for those that stay.
fn is_main(exit: &Exit<'_>) -> bool {
    exit.role == ContainerRole::App || exit.container().is_some_and(Container::is_sidecar)
}

fn finding(cx: &Cx<'_>, exit: &Exit<'_>, id: &str) -> Finding {
    let kind = if exit.is_hopeless() { Finding::blocked } else { Finding::delayed };
    let finding = standing::of_workload(cx, exit.pod, kind).since(exit.since());
    let finding = match id {
        "oom-killed" => out_of_memory(cx, exit, finding),
        _ => ended(exit, finding),
    };
    if exit.is_restarted() { finding.clock(ClockKind::Retry, "crash back-off", exit.next_start()) } else { finding }
}

fn ended(exit: &Exit<'_>, finding: Finding) -> Finding {
    let name = &exit.status.name;
    let code = exit.end.exit_code;
    let title = match (code, exit.is_restarted()) {
        (0, true) => format!("container {name} ends by itself and is started again and again"),
        (_, true) => format!("container {name} crashes with exit code {code}"),
        (_, false) => format!("container {name} ended with exit code {code} and is not started again"),
    };
    let again = if exit.is_restarted() {
        "and is started again after a pause that grows to five minutes"
    } else {
        "and restartPolicy Never keeps it so"
    };
    finding.title(title).because(format!("container {name} ended with {} {again}.{}", exit.in_words(), hint(exit))).next(advice(exit))
}

/// What the objects show that often makes such an end.
fn hint(exit: &Exit<'_>) -> String {
    let spec = exit.pod.spec();
    let user = exit.container().and_then(|c| c.security_context.run_as_user).or(spec.security_context.run_as_user);
    let claims = spec.claims(&exit.pod.name());
    match user {
        Some(user) if user != 0 && !claims.is_empty() && spec.security_context.fs_group.is_none() && exit.end.exit_code != 0 => {
            format!(
                " It runs as user {user} on claim {} without fsGroup: a volume that belongs to root cannot be written.",
                claims.join(", ")
            )
        }
        Some(_) | None => String::new(),
    }
}

fn advice(exit: &Exit<'_>) -> String {
    let (pod, name) = (exit.pod, &exit.status.name);
    let log = format!("Read its last words: kubectl -n {} logs {} -c {name} --previous", pod.namespace(), pod.name());
    match exit.end.exit_code {
        0 => format!("Give container {name} something that goes on running, or make the workload a Job. {log}"),
        126 => format!("Make the command of container {name} executable. {log}"),
        127 => format!("Correct the command of container {name}: its shell does not find it. {log}"),
        _ => log,
    }
}

/// Once may be bad luck; a container that comes back into the same limit meets it again.
fn out_of_memory(cx: &Cx<'_>, exit: &Exit<'_>, mut finding: Finding) -> Finding {
    let name = &exit.status.name;
    if exit.status.restart_count >= 2 && exit.is_backing_off() || exit.is_hopeless() {
        finding.verdict = crate::diagnose::Verdict::Blocked;
    }
    let resources = exit.container().map(|c| &c.resources);
    let limit = resources.and_then(|r| r.limits.get("memory"));
    let node_event = exit.pod.node().and_then(|n| cx.newest_event(&crate::model::ObjectRef::new("Node", "", n), &["SystemOOM"]));
    let finding = match limit {
        Some(limit) => finding
            .title(format!("container {name} is OOM-killed at its limit of {}", limit.text()))
            .because(format!("container {name} used more than its memory limit of {} and was killed.", limit.text()))
            .next(format!("Raise the memory limit of container {name} above {}, or make it use less.", limit.text()))
            .fact("limit", limit.text()),
        None => finding
            .title(format!("container {name} is OOM-killed, and has no limit of its own"))
            .because(format!("container {name} has no memory limit: the node itself ran out of memory."))
            .next(format!("Give container {name} a memory request that covers its use, or put fewer pods on the node.")),
    };
    match node_event {
        Some(event) if limit.is_none() => finding.event(crate::model::ObjectRef::new("Node", "", exit.pod.node().unwrap_or("")), event),
        Some(_) | None => finding,
    }
}
