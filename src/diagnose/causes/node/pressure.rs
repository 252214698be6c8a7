//! Nodes that lack something and say so in a condition of its own.

use super::row;
use super::together::{Together, reference};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Key};
use crate::model::{Condition, Node, Time};

const DOCS: &str = "concepts/scheduling-eviction/node-pressure-eviction/";

pub(super) const DISK: Cause = row(
    DOCS,
    "node-disk-pressure",
    "A node is short of disk",
    "Free space or inodes on the node's or the images' file system are below the kubelet's threshold. It deletes images and evicts pods; no new pod is admitted.",
    "A container that fills its own volume or limit is evicted without this condition.",
    "Free disk on the node: images, logs, emptyDir volumes; or give it more.",
    |cx, node| pressure(cx, node, &DISK),
);

pub(super) const MEMORY: Cause = row(
    DOCS,
    "node-memory-pressure",
    "A node is short of memory",
    "Available memory is below the kubelet's threshold (100Mi). It evicts pods that use more than they request; pods without requests are not admitted.",
    "A container over its own limit is OOM-killed without this condition.",
    "Find what uses more than it requests, or move pods away.",
    |cx, node| pressure(cx, node, &MEMORY),
);

pub(super) const PID: Cause = row(
    DOCS,
    "node-pid-pressure",
    "A node is short of process ids",
    "So many processes run on the node that few ids are left. New pods are kept off.",
    "A pod over its own pid limit fails alone.",
    "Find the process that forks without end; set podPidsLimit.",
    |cx, node| pressure(cx, node, &PID),
);

pub(super) const ROUTE: Cause = row(
    DOCS,
    "node-network-unavailable",
    "A node has no route in the network",
    "NetworkUnavailable is True: the cloud's route controller, or the network plugin, has not made the node's network yet. The taint network-unavailable keeps pods off.",
    "node-cni-uninitialized is the runtime's own word about a missing plugin.",
    "Look at the cloud controller manager (routes, quotas) or at the network plugin.",
    |cx, node| pressure(cx, node, &ROUTE),
);

pub(super) const PROBLEM: Cause = row(
    DOCS,
    "node-npd-condition",
    "A node problem detector reports a broken node",
    "node-problem-detector has set a condition such as ReadonlyFilesystem or KernelDeadlock. It does not taint the node: pods may still be sent there.",
    "Conditions of the kubelet itself have causes of their own.",
    "Drain and reboot or replace the node.",
    problem,
);

/// A signal that has ended keeps its condition for five minutes; what lasts twice that does not pass by itself.
const LASTS: i64 = 600;
const JOINING: i64 = 120;

/// Conditions that mean that the node will not recover alone.
const BROKEN: &[&str] = &[
    "ReadonlyFilesystem",
    "KernelDeadlock",
    "CorruptDockerOverlay2",
    "XfsShutdown",
    "KubeletUnhealthy",
    "ContainerRuntimeUnhealthy",
    "DockerUnhealthy",
];

fn kind(cause: &Cause) -> &'static str {
    match cause.id {
        "node-disk-pressure" => "DiskPressure",
        "node-memory-pressure" => "MemoryPressure",
        "node-pid-pressure" => "PIDPressure",
        _ => "NetworkUnavailable",
    }
}

fn when(node: &Node, kind: &str) -> Option<Time> {
    let condition = node.condition(kind).filter(|c| c.is_true())?;
    condition.last_transition_time.or(node.meta.created)
}

fn pressure(cx: &Cx<'_>, node: &Node, cause: &'static Cause) -> Option<Finding> {
    let kind = kind(cause);
    let at = when(node, kind)?;
    let condition = node.condition(kind)?;
    let together = Together::of(cx, node, cause.id, when_of(kind));
    let names = together.names(node);
    let patience = if kind == "NetworkUnavailable" { JOINING } else { LASTS };
    let lack = match kind {
        "DiskPressure" => "short of disk",
        "MemoryPressure" => "short of memory",
        "PIDPressure" => "short of process ids",
        _ => "without a route in the network",
    };
    let finding = found(cx, node, condition, at, patience)
        .title(format!("node {names} {} {lack}", together.verb("is", "are")))
        .because(format!("{names} {} {kind}=True: {}.", together.verb("reports", "report"), condition.message.trim_end_matches('.')))
        .next(cause.cure);
    Some(together.widen(with_events(cx, node, finding)))
}

fn when_of(kind: &str) -> fn(&Node) -> Option<Time> {
    match kind {
        "DiskPressure" => |n| when(n, "DiskPressure"),
        "MemoryPressure" => |n| when(n, "MemoryPressure"),
        "PIDPressure" => |n| when(n, "PIDPressure"),
        _ => |n| when(n, "NetworkUnavailable"),
    }
}

fn found(cx: &Cx<'_>, node: &Node, condition: &Condition, at: Time, patience: i64) -> Finding {
    let root = reference(node);
    let key = Key::object(&root);
    let finding = if cx.passed(at.plus(patience)) {
        Finding::blocked(key, root.clone())
    } else {
        Finding::delayed(key, root.clone()).clock(ClockKind::Grace, "the kubelet frees what it can", Some(at.plus(patience)))
    };
    finding.fact("node", &node.meta.name).fact("condition", format!("{}={}", condition.kind, condition.status)).since(Some(at)).evidence(
        root,
        format!("status.conditions[type={}].message", condition.kind),
        &*condition.message,
        condition.last_heartbeat_time.or(Some(at)),
    )
}

/// What the kubelet has tried: the newest of its events about space.
fn with_events(cx: &Cx<'_>, node: &Node, finding: Finding) -> Finding {
    let about = reference(node);
    match cx.newest_event(&about, &["FreeDiskSpaceFailed", "ImageGCFailed", "EvictionThresholdMet"]) {
        Some(event) => finding.event(about, event),
        None => finding,
    }
}

fn problem(cx: &Cx<'_>, node: &Node) -> Option<Finding> {
    let condition = node.status.conditions.iter().find(|c| c.is_true() && BROKEN.contains(&&*c.kind))?;
    let at = condition.last_transition_time.or(node.meta.created)?;
    let name = &node.meta.name;
    Some(
        found(cx, node, condition, at, 0)
            .title(format!("node {name} reports {}", condition.kind))
            .because(format!(
                "A problem detector on {name} has set {}=True ({}): {}.",
                condition.kind,
                condition.reason,
                condition.message.trim_end_matches('.')
            ))
            .next(format!("Drain {name}, then reboot or replace it.")),
    )
}
