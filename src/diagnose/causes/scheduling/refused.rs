//! Pods that no node takes: the one look that tells the rows apart, and the row for what nobody has told yet.

use super::pending::{Pending, others, with_outcome};
use super::{capacity, neighbours, nodes};
use crate::diagnose::causes::storage;
use crate::diagnose::scheduling::{Choice, Message, Obstacle, Survey, choose, parse, survey};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage, Verdict};
use crate::model::{Kind, Pod};

pub(super) const GRAMMAR: Cause = Cause {
    id: "unschedulable-grammar",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: true,
    symptom: false,
    title: "The scheduler finds no node, for a reason that is not known here",
    explanation: "PodScheduled is False with reason Unschedulable. The message counts nodes by the first thing that refused each; none of its words, and nothing in the objects, leads to a specific cause.",
    told_apart: "Every other cause of this layer names what the nodes lack. This one is what remains: a plugin, an extender or a scheduler of its own.",
    cure: "Read the scheduler's own words in the evidence.",
    docs: "concepts/scheduling-eviction/kube-scheduler/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::Pods(refused),
};

pub(super) const ERROR: Cause = Cause {
    id: "scheduler-error",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "The scheduler fails while it places the pod",
    explanation: "PodScheduled is False with reason SchedulerError: a plugin ended with an error. The scheduler tries again after 1 to 10 seconds.",
    told_apart: "Unschedulable means that it looked at every node and none fits. Here it did not get that far, or failed after it had chosen.",
    cure: "Once is nothing. If the same text stays, follow it: it names the plugin.",
    docs: "concepts/scheduling-eviction/kube-scheduler/",
    needs: &[],
    clears: 30,
    judge: Judge::By("unschedulable-grammar"),
};

/// Errors that last longer than this are not cured by trying again.
const PATIENCE: i64 = 300;

fn refused(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    let pending = Pending::of(cx, pod)?;
    match parse(&pending.condition.message) {
        Message::NoNodes => return Some(("no-nodes", nodes::none(cx, &pending))),
        Message::Other(text) if &*pending.condition.reason == "SchedulerError" => {
            return Some(("scheduler-error", error(cx, &pending, text)));
        }
        Message::Unfit(_) | Message::Other(_) => {}
    }
    let survey = survey(cx, pod);
    let Some(choice) = choose(cx, pod, &survey) else { return Some(("unschedulable-grammar", unknown(cx, &pending, &survey))) };
    told(cx, &pending, &survey, &choice).or_else(|| Some(("unschedulable-grammar", unknown(cx, &pending, &survey))))
}

fn told(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Option<(&'static str, Finding)> {
    Some(match &choice.obstacle {
        Obstacle::Resource(name) => capacity::short(cx, pending, survey, choice, name),
        Obstacle::Pods => capacity::full(cx, pending, survey, choice),
        Obstacle::Taint(_) => ("untolerated-taint", nodes::tainted(cx, pending, survey, choice)),
        Obstacle::Cordon => ("node-cordoned", nodes::cordoned(cx, pending, survey, choice)),
        Obstacle::NodeAffinity | Obstacle::NodeName => ("node-affinity-mismatch", nodes::elsewhere(cx, pending, survey, choice)),
        Obstacle::Port => ("host-port-conflict", neighbours::port(cx, pending, survey, choice)),
        Obstacle::PodAffinity => ("pod-affinity-mismatch", neighbours::together(cx, pending, survey, choice)),
        Obstacle::AntiAffinity | Obstacle::EitherAffinity => ("pod-affinity-mismatch", neighbours::apart(cx, pending, survey, choice)),
        Obstacle::Spread | Obstacle::SpreadLabel => ("topology-spread", neighbours::spread(cx, pending, survey, choice)),
        Obstacle::VolumeAffinity => ("pv-node-affinity-conflict", storage::place::conflict(cx, pending, survey, choice)?),
        Obstacle::NoVolume
        | Obstacle::StorageCapacity
        | Obstacle::VolumeLimit
        | Obstacle::VolumeInUse
        | Obstacle::LostVolume
        | Obstacle::ClaimUnbound
        | Obstacle::ClaimMissing
        | Obstacle::ClaimDeleting
        | Obstacle::ClaimExpected
        | Obstacle::ClassMissing
        | Obstacle::Devices
        | Obstacle::Features
        | Obstacle::Gang
        | Obstacle::Unknown => return None,
    })
}

fn unknown(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>) -> Finding {
    let text = match parse(&pending.condition.message) {
        Message::Unfit(u) => u.reasons.iter().map(|r| r.text).collect::<Vec<_>>().join(", "),
        Message::Other(text) => text.to_owned(),
        Message::NoNodes => String::new(),
    };
    let choice = Choice::unknown();
    let (mut verdict, mut clock, more) = pending.outcome(cx, &choice);
    let retry = pending.last.map(|at| at.plus(PATIENCE));
    if verdict == Verdict::Blocked && !cx.older(pending.condition.last_transition_time, PATIENCE) {
        verdict = Verdict::Delayed;
        clock = Some(crate::diagnose::Clock { kind: ClockKind::Retry, what: "the scheduler's next look".to_owned(), at: retry });
    }
    let said = if text.is_empty() { "it gives no reason".to_owned() } else { text };
    let because = format!("The scheduler finds no node for the pod: {said}.{}", others(survey, &choice));
    let finding = pending
        .finding(verdict, Key::object(&pending.workload), pending.workload.clone())
        .title(format!("no node for {}", pending.workload.place()));
    with_outcome(finding, clock, &because, more)
}

fn error(cx: &Cx<'_>, pending: &Pending<'_>, text: &str) -> Finding {
    let key = Key::object(&pending.workload);
    let lasts = cx.older(pending.condition.last_transition_time, PATIENCE);
    let verdict = if lasts { Verdict::Blocked } else { Verdict::Delayed };
    let finding = pending
        .finding(verdict, key, pending.workload.clone())
        .title(format!("the scheduler fails to place {}", pending.workload.place()))
        .because(format!("A plugin of the scheduler ends with an error: {text}."));
    if lasts { finding } else { finding.clock(ClockKind::Retry, "the scheduler's back-off", pending.last.map(|at| at.plus(10))) }
}
