//! Where the pod may go: taints, cordons, selectors.

use super::pending::{Pending, names, others, plural, with_outcome};
use crate::diagnose::scheduling::{Choice, Lack, Obstacle, Survey};
use crate::diagnose::{Cause, Clock, ClockKind, Cx, Finding, Judge, Key, Layer, Stage, Verdict};
use crate::model::{Kind, Node, ObjectRef, Taint, Time};

pub(super) const TAINT: Cause = Cause {
    id: "untolerated-taint",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "Nodes carry a taint that the pod does not tolerate",
    explanation: "A taint with effect NoSchedule or NoExecute keeps every pod off the node that has no toleration for it. Up to 1.34.1 the scheduler names the taint, later it only counts.",
    told_apart: "Taints of control planes are on purpose and only the cause where nothing else is. Taints that the node controller sets (not-ready, unreachable, pressure) stand for a trouble of the node: that is the blocker then.",
    cure: "Add the toleration to the pod template, or remove the taint from nodes that should take it.",
    docs: "concepts/scheduling-eviction/taint-and-toleration/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const CORDONED: Cause = Cause {
    id: "node-cordoned",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "The nodes that would take the pod are cordoned",
    explanation: "spec.unschedulable is set on the node: nothing new is placed there. kubectl drain cordons first and does not undo it.",
    told_apart: "A node that is not ready carries other taints. Where other nodes are merely full and only one of many is cordoned, the lack of room is the cause.",
    cure: "Uncordon the node once its maintenance is over, or add room elsewhere.",
    docs: "tasks/administer-cluster/safely-drain-node/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const AFFINITY: Cause = Cause {
    id: "node-affinity-mismatch",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "No node has the labels that the pod asks for",
    explanation: "nodeSelector and required node affinity are compared with the labels of nodes. Here no node meets them.",
    told_apart: "Where some node meets them and lacks something else, that other thing is the cause.",
    cure: "Correct the selector, or label a node.",
    docs: "concepts/scheduling-eviction/assign-pod-node/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const NO_NODES: Cause = Cause {
    id: "no-nodes",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "The cluster has no node",
    explanation: "The scheduler knows no node at all. Pods wait until one registers.",
    told_apart: "With nodes that are all unfit the scheduler counts them.",
    cure: "Add a node, or find out why none registers.",
    docs: "concepts/architecture/nodes/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

/// A node that joins or recovers loses such taints by itself in this time.
const JOINING: i64 = 180;
/// A cordon this young belongs to a drain or an upgrade that is going on.
const DRAIN: i64 = 600;

pub(super) fn tainted(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let Some(taint) = taint(choice) else { return taint_by_words(cx, pending, survey, choice) };
    let carriers = survey.nodes.names_where(|n| n.spec.taints.iter().any(|t| t.key == taint.key && t.value == taint.value));
    let spelled = taint.to_string();
    let reach = if carriers.len() == survey.nodes.len() {
        "every node".to_owned()
    } else {
        format!("{} of {}", carriers.len(), plural(survey.nodes.len(), "node"))
    };
    let trouble = Obstacle::Taint(Some(spelled.as_str().into())).is_trouble();
    let (verdict, clock, more) = outcome(cx, pending, choice, trouble.then(|| began(survey, &carriers, &taint)).flatten());
    let place = pending.workload.place();
    let because = format!("{place} has no toleration for {spelled}, carried by {reach}.{}", others(survey, choice));
    let root = carriers.first().map_or_else(|| pending.workload.clone(), |node| ObjectRef::new("Node", "", node));
    let title = if carriers.len() == survey.nodes.len() || carriers.len() > 1 {
        format!("no node without taint {spelled}")
    } else {
        format!("taint {spelled} on {} is not tolerated", names(&choice.nodes))
    };
    let title =
        if carriers.len() > 1 && carriers.len() < survey.nodes.len() { format!("no node left without taint {spelled}") } else { title };
    let next = if trouble {
        format!("Heal the nodes that carry {}: it goes with their trouble.", taint.key)
    } else {
        format!("Add a toleration for {spelled} to {place}, or remove the taint: kubectl taint node {} {}-", root.name, taint.key)
    };
    let mut finding = pending
        .finding(verdict, Key::taint(&spelled), root.clone())
        .title(title)
        .next(next)
        .fact("taint", &spelled)
        .fact("tainted nodes", carriers.len())
        .evidence(root, format!("spec.taints[key={}]", taint.key), spelled.clone(), taint.time_added);
    if trouble {
        finding.waits_on.extend(carriers.iter().map(|node| ObjectRef::new("Node", "", node)));
    }
    with_outcome(finding, clock, &because, more)
}

/// The taint that the closest nodes carry.
fn taint(choice: &Choice<'_>) -> Option<Taint> {
    let lacks = choice.nodes.iter().flat_map(|f| &f.lacks);
    let taints = lacks.filter(|l| {
        matches!(l.obstacle(), Obstacle::Taint(_))
            && (l.obstacle() == choice.obstacle || choice.obstacle == Obstacle::Taint(None) || by_key(&choice.obstacle, l))
    });
    taints.filter_map(|l| if let Lack::Taint(t) = l { Some(t.clone()) } else { None }).next()
}

/// The scheduler writes `key: value`, kubectl `key=value:Effect`.
fn by_key(obstacle: &Obstacle, lack: &Lack) -> bool {
    match (obstacle, lack) {
        (Obstacle::Taint(Some(text)), Lack::Taint(t)) => text.split(':').next() == Some(&*t.key),
        _ => false,
    }
}

/// When the newest of them appeared: where nothing says, with its node.
fn began(survey: &Survey<'_>, carriers: &[&str], taint: &Taint) -> Option<Time> {
    let of = |n: &Node| n.spec.taints.iter().find(|t| t.key == taint.key).and_then(|t| t.time_added).or(n.meta.created);
    carriers.iter().filter_map(|name| survey.nodes.get(name)).filter_map(of).max()
}

fn outcome(cx: &Cx<'_>, pending: &Pending<'_>, choice: &Choice<'_>, young: Option<Time>) -> (Verdict, Option<Clock>, Option<String>) {
    let outcome = pending.outcome(cx, choice);
    match young {
        Some(at) if outcome.0 == Verdict::Blocked && !cx.passed(at.plus(JOINING)) => {
            let clock = Clock { kind: ClockKind::Grace, what: "a node that joins or recovers".to_owned(), at: Some(at.plus(JOINING)) };
            (Verdict::Delayed, Some(clock), None)
        }
        _ => outcome,
    }
}

/// Nodes may not be read: the scheduler's own text names the taint, or only counts.
fn taint_by_words(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let (verdict, clock, more) = pending.outcome(cx, choice);
    let text = if let Obstacle::Taint(Some(text)) = &choice.obstacle {
        let (key, value) = text.split_once(':').unwrap_or((text, ""));
        if value.trim().is_empty() { key.trim().to_owned() } else { format!("{}={}", key.trim(), value.trim()) }
    } else {
        String::new()
    };
    let place = pending.workload.place();
    let (title, key) = if text.is_empty() {
        (format!("{} carry taints that {place} does not tolerate", plural(choice.count, "node")), Key::object(&pending.workload))
    } else {
        (format!("no node left without taint {text}"), Key::taint(&text))
    };
    let because =
        format!("{} refuse the pod for a taint that it does not tolerate.{}", plural(choice.count, "node"), others(survey, choice));
    let finding = pending.finding(verdict, key, pending.workload.clone()).title(title);
    let finding = if text.is_empty() {
        finding
    } else {
        finding.fact("taint", &text).next(format!("Add a toleration for {text} to {place}, or remove the taint."))
    };
    with_outcome(finding, clock, &because, more)
}

pub(super) fn cordoned(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let nodes = choice.names();
    let first = nodes.first().and_then(|name| survey.nodes.get(name));
    let since = nodes.iter().filter_map(|name| survey.nodes.get(name)).filter_map(|n| cordoned_at(cx, n)).max();
    let (mut verdict, mut clock, more) = pending.outcome(cx, choice);
    if let (Verdict::Blocked, Some(at)) = (verdict, since.filter(|at| !cx.passed(at.plus(DRAIN)))) {
        verdict = Verdict::Delayed;
        clock = Some(Clock { kind: ClockKind::Grace, what: "a drain or upgrade that has begun".to_owned(), at: Some(at.plus(DRAIN)) });
    }
    let root = first.map_or_else(|| pending.workload.clone(), |n| ObjectRef::new("Node", "", &n.meta.name));
    let which = if choice.nodes.is_empty() { plural(choice.count, "node") } else { names(&choice.nodes) };
    let because = format!("{which} would take the pod and cannot: spec.unschedulable is true there (cordoned).{}", others(survey, choice));
    let finding = pending
        .finding(verdict, Key::taint("node.kubernetes.io/unschedulable:NoSchedule"), root.clone())
        .title(if choice.nodes.is_empty() { format!("{which} are cordoned") } else { format!("{which} cordoned, no other node fits") })
        .next(if choice.nodes.is_empty() {
            "Uncordon a node once its maintenance is over.".to_owned()
        } else {
            format!("Uncordon it once its maintenance is over: kubectl uncordon {}", root.name)
        })
        .fact("cordoned", which);
    let finding = if first.is_some() { finding.evidence(root, "spec.unschedulable", "true", since) } else { finding };
    with_outcome(finding, clock, &because, more)
}

/// The taint that comes with a cordon says when.
fn cordoned_at(cx: &Cx<'_>, node: &Node) -> Option<Time> {
    let taint = node.spec.taints.iter().find(|t| &*t.key == "node.kubernetes.io/unschedulable").and_then(|t| t.time_added);
    taint.or_else(|| cx.newest_event(&ObjectRef::new("Node", "", &node.meta.name), &["NodeNotSchedulable"]).and_then(|e| e.last))
}

pub(super) fn elsewhere(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let (verdict, clock, more) = pending.outcome(cx, choice);
    let term =
        choice.nodes.iter().flat_map(|f| &f.lacks).find_map(|l| if let Lack::Selector(term) = l { Some(term.clone()) } else { None });
    let place = pending.workload.place();
    let key = Key::object(&pending.workload);
    let Some(term) = term else {
        let because = format!(
            "{} do not match the node selector or node affinity of the pod.{}",
            plural(choice.count, "node"),
            others(survey, choice)
        );
        let finding = pending.finding(verdict, key, pending.workload.clone()).title(format!("no node matches the selector of {place}"));
        return with_outcome(finding, clock, &because, more);
    };
    let label = pending.pod.spec().node_selector.iter().find(|(k, v)| format!("{k}={v}") == term).map(|(k, _)| k);
    let values = label.map(|key| values(survey, key)).unwrap_or_default();
    let has = if values.is_empty() { String::new() } else { format!(" Nodes have {}.", values.join(", ")) };
    let because = format!(
        "{place} may only run on nodes with {term}, and none of {} has it.{has}{}",
        plural(survey.nodes.len(), "node"),
        others(survey, choice)
    );
    let path =
        if label.is_some() { "spec.nodeSelector" } else { "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution" };
    let finding = pending
        .finding(verdict, key, pending.workload.clone())
        .title(format!("no node has {term}"))
        .next(format!(
            "Correct the node selector of {place}, or label a node: kubectl label node NODE {}",
            label.map_or("KEY=VALUE", |_| &term)
        ))
        .fact("selector", &term)
        .evidence(pending.pod.reference(), path, &term, None);
    with_outcome(finding, clock, &because, more)
}

/// What nodes have under that label instead.
fn values(survey: &Survey<'_>, key: &str) -> Vec<String> {
    survey.nodes.values(key).into_iter().take(4).map(|v| format!("{key}={v}")).collect()
}

pub(super) fn none(cx: &Cx<'_>, pending: &Pending<'_>) -> Finding {
    let choice = Choice::unknown();
    let (verdict, clock, more) = pending.outcome(cx, &choice);
    let finding = pending
        .finding(verdict, Key::resource("nodes"), pending.workload.clone())
        .title("the cluster has no node")
        .next("Add a node, or find out why none registers.");
    with_outcome(finding, clock, "The scheduler knows no node at all.", more)
}
