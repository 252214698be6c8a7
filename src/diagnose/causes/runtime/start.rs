//! Containers that are made and cannot be started: the process never ran, whatever its exit code says.

use super::{ROW, config};
use crate::diagnose::causes::{exits, standing};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, texts};
use crate::model::{ContainerStatus, Pod};

pub(super) const NOT_FOUND: Cause = Cause {
    id: "start-executable-not-found",
    title: "The container's command does not exist in the image",
    explanation: "The runtime looks for the executable in the image and does not find it. The process never ran: exit code 128 and a start in 1970 mean nothing.",
    told_apart: "Exit code 127 comes from a shell that did run and did not find a command.",
    cure: "Correct command or args, or put the executable into the image.",
    docs: "tasks/inject-data-application/define-command-argument-container/",
    ..ROW
};

pub(super) const DENIED: Cause = Cause {
    id: "start-permission-denied",
    title: "The container's command may not be executed",
    explanation: "The executable is there and lacks the right to be executed by the container's user.",
    told_apart: "Exit code 126 comes from a shell that ran and met the same.",
    cure: "Make the file executable in the image, or run as a user who may.",
    docs: "tasks/configure-pod-container/security-context/",
    ..ROW
};

pub(super) const FORMAT: Cause = Cause {
    id: "start-exec-format",
    title: "The container's command is built for another machine",
    explanation: "The kernel cannot execute the file: another processor architecture, or a script without `#!`.",
    told_apart: "image-platform-mismatch has no build for the node at all; here one was pulled and is wrong inside.",
    cure: "Build the image for the node's architecture; give scripts their first line.",
    ..ROW
};

pub(super) const MOUNT: Cause = Cause {
    id: "start-mount-error",
    title: "A mount does not fit into the container",
    explanation: "The runtime cannot mount a path into the container: a directory onto a file, or the other way round, or a path that does not exist.",
    told_apart: "FailedMount happens before the container, on the node; here the volume is there and does not fit.",
    cure: "Match the kinds of source and target; with subPath, name a file that the volume has.",
    docs: "concepts/storage/volumes/",
    ..ROW
};

pub(super) const LIMITS: Cause = Cause {
    id: "start-resource-limits",
    title: "The container's limits are too low to start it",
    explanation: "The runtime's first process in the container is killed or cannot be made within the container's limits.",
    told_apart: "oom-killed ran for a while. memory-limit-milli is a limit in thousandths of a byte by mistake.",
    cure: "Raise the memory limit; for processes, look at the node's and the pod's limit of process ids.",
    docs: "concepts/configuration/manage-resources-containers/",
    ..ROW
};

pub(super) const GENERIC: Cause = Cause {
    id: "start-error-generic",
    title: "The container cannot be started",
    explanation: "The runtime made the container, could not start it, and its text names no known reason.",
    told_apart: "The specific rows are taken where the text names a missing executable, rights, mounts or limits.",
    cure: "Read the message: it is the runtime's own.",
    ..ROW
};

/// Which row the runtime's text means (lower case), the more telling words first.
const SIGNS: &[(&str, &[&str])] = &[
    (
        "start-resource-limits",
        &["oom-killed", "memory limit too low", "resource temporarily unavailable", "cannot allocate memory", "apply cgroup configuration"],
    ),
    ("start-exec-format", &["exec format error"]),
    ("start-mount-error", &["error mounting", "trying to mount a directory onto a file", "failed to stat", "read-only file system"]),
    ("start-executable-not-found", &["executable file not found", "executable file `", "no such file or directory"]),
    ("start-permission-denied", &["permission denied"]),
];

/// A container that never ran and waits to be tried again.
pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    pod.container_statuses().find_map(|(role, status)| {
        let exit = exits::of(pod, role, status).filter(|e| e.never_ran());
        let waiting = status.state.waiting.as_ref();
        let refused = waiting.filter(|w| &*w.reason == "RunContainerError").map(|w| &*w.message);
        let ended = exit.filter(|e| status.state.terminated.is_some() || e.is_backing_off()).map(|e| &*e.end.message);
        let message = refused.or(ended)?;
        let event = config::error_event(cx, pod, status);
        let message = if message.is_empty() { event.map_or("", |e| &*e.message) } else { message };
        let (id, mut finding) = of_text(cx, pod, status, message).unwrap_or_else(|| (GENERIC.id, unknown(cx, pod, status, message)));
        let path = standing::status_path(role, &status.name, "state.waiting");
        if let Some(waiting) = waiting {
            finding = finding.evidence(pod.reference(), path, format!("{}: {}", waiting.reason, waiting.message), None);
        }
        finding = match exit {
            Some(exit) => exit.prove(finding),
            None => finding.fact("container", &status.name).fact("restartCount", status.restart_count),
        };
        Some((id, finding))
    })
}

/// The finding for a text that names a known reason.
pub(super) fn of_text(cx: &Cx<'_>, pod: Pod<'_>, status: &ContainerStatus, message: &str) -> Option<(&'static str, Finding)> {
    let said = message.to_ascii_lowercase();
    let (id, _) = SIGNS.iter().find(|(_, words)| words.iter().any(|w| said.contains(w)))?;
    let name = &status.name;
    let exe = texts::capture(r#"exec:? "?([^":]*)"?: "#, message).or(texts::capture("executable file `([^`]+)`", message));
    let quoted = exe.map_or_else(|| "its command".to_owned(), |e| format!("{e:?}"));
    let finding = standing::of_workload(cx, pod, Finding::blocked).fact("command", exe.unwrap_or_default());
    let node = pod.node().unwrap_or("the node");
    let finding = match *id {
        "start-executable-not-found" => finding
            .title(format!("container {name} cannot start: {quoted} is not in the image"))
            .because(format!("the runtime does not find the executable {quoted} of container {name}{}.", empty(exe)))
            .next(match exe {
                Some("") => format!("Give container {name} a command, or take the empty one out so that the image's own is run."),
                _ => format!("Correct command or args of container {name}, or add {quoted} to the image."),
            }),
        "start-permission-denied" => finding
            .title(format!("container {name} cannot start: {quoted} may not be executed"))
            .because(format!("the executable {quoted} of container {name} is there and the container's user may not execute it."))
            .next(format!("Make {quoted} executable in the image, or run container {name} as a user who may.")),
        "start-exec-format" => finding
            .title(format!("container {name} cannot start: {quoted} is built for another machine"))
            .because(format!("the kernel of {node} cannot execute {quoted}: another architecture, or a script without its first line."))
            .next(format!("Build the image of container {name} for the architecture of {node}.")),
        "start-mount-error" => finding
            .title(format!("container {name} cannot start: a mount does not fit"))
            .because(format!("the runtime cannot mount {}.", mount(message)))
            .next(format!("Match source and target of the mount of container {name}: file to file, directory to directory.")),
        _ => limits(cx, pod, status, message),
    };
    Some((id, finding))
}

fn empty(exe: Option<&str>) -> &'static str {
    if exe == Some("") { ": the command is an empty text" } else { "" }
}

fn mount(message: &str) -> String {
    match texts::captures(r#"error mounting "([^"]+)" to rootfs at "([^"]+)""#, message) {
        Some(m) => format!("{} at {}", &m[1], &m[2]),
        None => texts::rpc(message).1.to_owned(),
    }
}

/// The container's own memory limit is its workload's to change; a node without process ids or memory may recover.
fn limits(cx: &Cx<'_>, pod: Pod<'_>, status: &ContainerStatus, message: &str) -> Finding {
    let own = message.contains("OOM-killed") || message.contains("memory limit too low");
    let limit = pod.spec().container(&status.name).and_then(|c| c.resources.limits.get("memory"));
    let finding = standing::of_workload(cx, pod, if own { Finding::blocked } else { Finding::delayed });
    let finding = match (own, limit) {
        (true, Some(limit)) => finding
            .title(format!("container {} cannot start: its memory limit {} is too low", status.name, limit.text()))
            .because(format!("the first process of container {} is killed within its memory limit of {}.", status.name, limit.text()))
            .fact("limit", limit.text()),
        _ => finding.title(format!("container {} cannot start: the node lacks processes or memory", status.name)).because(format!(
            "the runtime cannot start container {}: {}.",
            status.name,
            texts::rpc(message).1
        )),
    };
    finding
        .next(format!(
            "Raise the memory limit of container {}; if the node itself is short, free memory or process ids there.",
            status.name
        ))
        .clock(ClockKind::Retry, "crash back-off", None)
}

fn unknown(cx: &Cx<'_>, pod: Pod<'_>, status: &ContainerStatus, message: &str) -> Finding {
    standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("container {} cannot be started", status.name))
        .because(format!("the runtime made container {} and cannot start it: {}.", status.name, texts::rpc(message).1))
        .next(format!("Read the runtime's message; look at command, mounts and security context of container {}.", status.name))
}
