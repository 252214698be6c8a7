//! Room that other pods take, or that no node has.

use super::pending::{Help, Pending, names, others, plural, with_outcome};
use crate::diagnose::scheduling::{Alike, Choice, Lack, Survey};
use crate::diagnose::{Cause, Clock, ClockKind, Cx, Finding, Judge, Key, Layer, Stage, Verdict};
use crate::model::{DaemonSet, Kind, ObjectRef, Pod, Quantity, Time};

pub(super) const RESOURCE: Cause = Cause {
    id: "insufficient-resource",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "No node has enough of a resource free",
    explanation: "What the pod requests is more than any node it may run on has left: allocatable less the requests of the pods there. Limits and real use do not count. An extended resource that no node offers looks the same.",
    told_apart: "too-many-pods is about the number of pods on a node. Nodes that a taint or a selector excludes are not counted as short, even if they are.",
    cure: "Lower the requests, free what others request, or add a node that is large enough.",
    docs: "concepts/configuration/manage-resources-containers/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const PODS: Cause = Cause {
    id: "too-many-pods",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "Nodes already run as many pods as they may",
    explanation: "A node takes no more than status.allocatable.pods pods, whatever they request. On some clouds that is the number of addresses the node can hand out.",
    told_apart: "insufficient-resource is about requests. Here CPU and memory may well be free.",
    cure: "Raise maxPods of the kubelet (or the addresses per node), move pods away, or add a node.",
    docs: "setup/best-practices/cluster-large/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const NO_SCALE_UP: Cause = Cause {
    id: "autoscaler-no-scale-up",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "The cluster is full and the autoscaler adds no node",
    explanation: "The pod lacks room, and the cluster autoscaler says why it will not add a node for it: a limit of its own, or a back-off after a failed try.",
    told_apart: "Where the autoscaler only repeats what the scheduler says (a taint, a selector, too large for its nodes), that is the cause instead.",
    cure: "Raise the limit that it names, or wait for the back-off (5 minutes, up to 30).",
    docs: "concepts/cluster-administration/node-autoscaling/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

/// The longest back-off of a node group after a failed scale-up.
const GROUP_BACK_OFF: i64 = 1800;

pub(super) fn short(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>, name: &str) -> (&'static str, Finding) {
    let requested = pending.pod.spec().requested(name);
    let largest = survey.nodes.largest(name);
    let asked = Quantity::spell(name, requested);
    let sized = |finding: Finding| finding.fact("resource", name).fact("requested", &asked).fact("nodes", survey.nodes.len());
    match largest {
        None if !survey.nodes.is_empty() => ("insufficient-resource", sized(nowhere(cx, pending, choice, name, &asked))),
        Some(largest) if largest.nano() < requested => {
            let (verdict, clock, more) = pending.outcome(cx, choice);
            let place = pending.workload.place();
            let because = format!(
                "A pod asks for {asked} {name}; the largest node has {} allocatable, so it can never fit.{}",
                largest.text(),
                others(survey, choice)
            );
            let finding = pending
                .finding(verdict, Key::object(&pending.workload), pending.workload.clone())
                .title(format!("{place} asks for {asked} {name}, the largest node has {}", largest.text()))
                .next(format!("Lower the request of {place} to less than {} {name}, or add a larger node.", largest.text()))
                .fact("largest", largest.text());
            ("insufficient-resource", sized(with_outcome(finding, clock, &because, more)))
        }
        _ => {
            let (id, finding) = taken(cx, pending, survey, choice, name, &asked);
            (id, sized(finding))
        }
    }
}

/// No node offers the resource at all: the plugin that should advertise it is what matters.
fn nowhere(cx: &Cx<'_>, pending: &Pending<'_>, choice: &Choice<'_>, name: &str, asked: &str) -> Finding {
    let (verdict, clock, more) = pending.outcome(cx, choice);
    let plugins: Vec<ObjectRef> = cx
        .all::<DaemonSet>(None)
        .filter(|d| d.meta.name.contains("device-plugin"))
        .map(|d| ObjectRef::new("DaemonSet", &d.meta.namespace, &d.meta.name))
        .collect();
    let because = format!(
        "A pod asks for {asked} {name}, and no node advertises any: {name} is in no node's status.allocatable. Nothing is in use; no device plugin has registered a device."
    );
    let mut finding = pending
        .finding(verdict, Key::object(&pending.workload), pending.workload.clone())
        .title(format!("no node offers {name}"))
        .next(format!(
            "Find out why the device plugin registers no {name} on the node that has the hardware (its log says), or remove the request."
        ));
    for plugin in &plugins {
        finding = finding.waits_on(plugin.clone());
    }
    if !plugins.is_empty() {
        finding = finding.fact("device plugin", plugins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    }
    with_outcome(finding, clock, &because, more)
}

/// Nodes are large enough, and others have what is asked for.
fn taken(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>, name: &str, asked: &str) -> (&'static str, Finding) {
    let closest = closest(&choice.nodes, name);
    let near = closest.as_ref().map_or_else(String::new, |c| {
        format!(
            " {} comes closest: {} of {} free, {} short.",
            c.node,
            Quantity::spell(name, c.free.max(0)),
            Quantity::spell(name, c.allocatable),
            Quantity::spell(name, c.short)
        )
    });
    let because = format!("A pod asks for {asked} {name}, and no node it may run on has that much free.{near}{}", others(survey, choice));
    let next = closest.as_ref().map_or_else(
        || format!("Free {name}, lower the request of {}, or add a node.", pending.workload.place()),
        |c| {
            format!(
                "Free {} {name} on {}, lower the request of {}, or add a node.",
                Quantity::spell(name, c.short),
                c.node,
                pending.workload.place()
            )
        },
    );
    let leaving = closest.as_ref().and_then(|c| leaving(cx, choice, name, c));
    room(
        cx,
        pending,
        choice,
        Room {
            id: "insufficient-resource",
            key: Key::resource(name),
            title: format!("no node has {asked} {name} free"),
            because,
            next,
            leaving,
        },
    )
}

pub(super) fn full(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> (&'static str, Finding) {
    let counts: Vec<String> =
        choice.nodes.iter().filter_map(|a| counted(a).map(|(running, allowed)| format!("{} {running} of {allowed}", a.first()))).collect();
    let title = match choice.only().and_then(|only| Some((only, counted(only)?))) {
        Some((only, (running, allowed))) => format!("{} runs {running} of {allowed} pods", only.first()),
        None => format!("{} already run as many pods as they may", plural(choice.count, "node")),
    };
    let shown = counts.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
    let shown = if shown.is_empty() { String::new() } else { format!(" ({shown})") };
    let because =
        format!("The node takes no more pods: allocatable.pods is reached{shown}, whatever they request.{}", others(survey, choice));
    let next = match choice.nodes.first() {
        Some(alike) => format!(
            "Move a pod away from {}, raise maxPods of its kubelet, or add a node that {} may run on.",
            alike.first(),
            pending.workload.place()
        ),
        None => PODS.cure.to_owned(),
    };
    let (id, finding) =
        room(cx, pending, choice, Room { id: "too-many-pods", key: Key::resource("pods"), title, because, next, leaving: None });
    let finding = if counts.is_empty() { finding } else { finding.fact("pods", shown.trim_matches([' ', '(', ')'])) };
    (id, with_node(finding, &choice.nodes))
}

/// What is said of a lack of room, whichever it is.
struct Room {
    id: &'static str,
    key: Key,
    title: String,
    because: String,
    next: String,
    /// When a pod that is leaving will have made enough room.
    leaving: Option<Time>,
}

fn room(cx: &Cx<'_>, pending: &Pending<'_>, choice: &Choice<'_>, room: Room) -> (&'static str, Finding) {
    let root = pending.workload.clone();
    if let Help::Refused(event) = pending.help(cx) {
        let backs_off = event.message.contains("backoff");
        let verdict = if backs_off { Verdict::Delayed } else { Verdict::Blocked };
        let why = event.message.split_once(": ").map_or(&*event.message, |(_, why)| why);
        let mut finding = pending
            .finding(verdict, room.key, root)
            .title(format!("{}, and the autoscaler adds no node", room.title))
            .because(format!("{} The cluster autoscaler will not add a node: {why}.", room.because))
            .next(format!("Raise what the autoscaler names ({why}), or {}", lower_first(&room.next)))
            .event(pending.pod.reference(), event);
        if backs_off {
            finding = finding.clock(ClockKind::Retry, "the autoscaler's back-off", event.last.map(|at| at.plus(GROUP_BACK_OFF)));
        }
        return ("autoscaler-no-scale-up", finding);
    }
    let (mut verdict, mut clock, mut more) = pending.outcome(cx, choice);
    if let (Verdict::Blocked, Some(at)) = (verdict, room.leaving) {
        verdict = Verdict::Delayed;
        clock = Some(Clock { kind: ClockKind::Grace, what: "a pod that is leaving".to_owned(), at: Some(at) });
        more = Some("A pod that is being deleted will leave enough.".to_owned());
    }
    let finding = with_node(pending.finding(verdict, room.key, root), &choice.nodes).title(room.title).next(room.next);
    (room.id, with_outcome(finding, clock, &room.because, more))
}

fn with_node(finding: Finding, nodes: &[&Alike<'_>]) -> Finding {
    if nodes.is_empty() { finding } else { finding.fact("closest", names(nodes)) }
}

struct Closest<'a> {
    node: &'a str,
    free: i128,
    allocatable: i128,
    short: i128,
}

/// The node on which the least of the resource is missing.
fn closest<'a>(nodes: &[&'a Alike<'a>], resource: &str) -> Option<Closest<'a>> {
    let of = |alike: &&'a Alike<'a>| {
        alike.lacks.iter().find_map(|l| {
            let Lack::Resource { name, requested, free, allocatable } = l else { return None };
            let fitting = &**name == resource && requested <= allocatable;
            fitting.then(|| Closest { node: alike.first(), free: *free, allocatable: *allocatable, short: requested - free })
        })
    };
    nodes.iter().filter_map(of).min_by_key(|c| (c.short, c.node))
}

fn counted(alike: &Alike<'_>) -> Option<(usize, i128)> {
    alike.lacks.iter().find_map(|l| if let Lack::Pods { running, allowed } = l { Some((*running, *allowed)) } else { None })
}

/// When pods that are being deleted, and have not run over their time, leave enough on one of the nodes.
fn leaving(cx: &Cx<'_>, choice: &Choice<'_>, resource: &str, closest: &Closest<'_>) -> Option<Time> {
    let freed = |node: &str| {
        let going = |p: &Pod<'_>| p.deleted().is_some_and(|at| !cx.passed(at));
        let pods: Vec<Pod<'_>> = cx.pods_on(node).into_iter().filter(going).collect();
        let sum: i128 = pods.iter().map(|p| p.spec().requested(resource)).sum();
        pods.iter().filter_map(|p| p.deleted()).max().filter(|_| sum >= closest.short)
    };
    choice.nodes.iter().filter(|a| a.lacks.len() == 1).flat_map(|a| a.names()).filter_map(freed).min()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}
