//! Pending: a pod without a node, what its scheduler last wrote, and what is on its way to help.

use std::collections::BTreeMap;

use crate::diagnose::scheduling::{Alike, Choice, Lack, Proof, Survey};
use crate::diagnose::{Clock, ClockKind, Cx, Finding, Key, Verdict, texts};
use crate::model::{Condition, Deployment, Event, IntOrText, ObjectRef, Phase, Pod, Rounding, Time};

/// A pod that its scheduler has refused.
pub(in crate::diagnose::causes) struct Pending<'a> {
    pub pod: Pod<'a>,
    pub condition: &'a Condition,
    /// The top controller, or the pod itself.
    pub workload: ObjectRef,
    /// The newest refusal known.
    pub last: Option<Time>,
}

/// What may yet make room.
pub(in crate::diagnose::causes) enum Help<'a> {
    /// An autoscaler adds a node; until when it may take.
    Coming(&'a Event, Time),
    /// The autoscaler has its own reason to add none: a limit, a back-off.
    Refused(&'a Event),
    Nothing,
}

/// The longest the scheduler leaves a pod aside when nothing that it watches changes.
const LONGEST_PAUSE: i64 = 300;
/// `max-node-provision-time` of the cluster autoscaler, and Karpenter's limit for a node to register.
const PROVISION: i64 = 900;

impl<'a> Pending<'a> {
    /// The pod, if it has no node and its scheduler says that it found none.
    pub(in crate::diagnose::causes) fn of(cx: &Cx<'a>, pod: Pod<'a>) -> Option<Self> {
        let condition = pod.condition("PodScheduled").filter(|c| &*c.status == "False" && &*c.reason != "SchedulingGated")?;
        if pod.node().is_some() || pod.deleted().is_some() || pod.phase() != Phase::Pending {
            return None;
        }
        let last = cx.newest_event(&pod.reference(), &["FailedScheduling"]).and_then(|e| e.last).or(condition.last_transition_time);
        Some(Self { pod, condition, workload: cx.workload_of(pod), last })
    }

    /// A finding with what all of them show: since when, and the scheduler's words.
    pub(in crate::diagnose::causes) fn finding(&self, verdict: Verdict, key: Key, root: ObjectRef) -> Finding {
        let since = self.condition.last_transition_time.or(self.pod.created());
        let finding = Finding::new(verdict, key, root).since(since);
        if self.condition.message.is_empty() {
            return finding;
        }
        let path = "status.conditions[type=PodScheduled].message";
        finding.evidence(self.pod.reference(), path, &*self.condition.message, self.last)
    }

    /// Blocked, unless a node is on its way or one fits by now; then delayed, with the clock of that.
    pub(in crate::diagnose::causes) fn outcome(&self, cx: &Cx<'_>, choice: &Choice<'_>) -> (Verdict, Option<Clock>, Option<String>) {
        if let Help::Coming(event, until) = self.help(cx) {
            let clock = Clock { kind: ClockKind::Provisioning, what: "a node that an autoscaler adds".to_owned(), at: Some(until) };
            return (Verdict::Delayed, Some(clock), Some(format!("{} is adding a node for it.", author(event))));
        }
        let retry = self.last.map(|at| at.plus(LONGEST_PAUSE));
        if choice.proof == Proof::Refuted && retry.is_some_and(|at| !cx.passed(at)) {
            let clock = Clock { kind: ClockKind::Retry, what: "the scheduler's next look".to_owned(), at: retry };
            return (Verdict::Delayed, Some(clock), Some("By now a node lacks nothing; the scheduler has not looked again.".to_owned()));
        }
        (Verdict::Blocked, None, None)
    }

    /// The newest word of an autoscaler about this pod.
    pub(in crate::diagnose::causes) fn help<'c>(&self, cx: &Cx<'c>) -> Help<'c> {
        let Some(event) = cx.newest_event(&self.pod.reference(), &["TriggeredScaleUp", "NotTriggerScaleUp", "Nominated"]) else {
            return Help::Nothing;
        };
        let Some(at) = event.last.filter(|at| !cx.passed(at.plus(PROVISION))) else { return Help::Nothing };
        match &*event.reason {
            "NotTriggerScaleUp" if texts::matches(OWN_REASONS, &event.message) => Help::Refused(event),
            "NotTriggerScaleUp" => Help::Nothing,
            _ => Help::Coming(event, at.plus(PROVISION)),
        }
    }
}

/// Reasons of the cluster autoscaler itself, not those of a scheduler for a node that it would add.
const OWN_REASONS: &str = r"max node group size reached|in backoff after failed scale-up|not ready for scale-up|max cluster .* limit reached|max total nodes|exceeded quota|all-or-nothing|cluster node count limit";

fn author(event: &Event) -> &str {
    if event.source.is_empty() { "an autoscaler" } else { &event.source }
}

/// Adds the clock and the sentence of an outcome.
pub(in crate::diagnose::causes) fn with_outcome(finding: Finding, clock: Option<Clock>, because: &str, more: Option<String>) -> Finding {
    let mut finding = finding.because(more.map_or_else(|| because.to_owned(), |m| format!("{because} {m}")));
    finding.clock = clock;
    finding
}

/// What the nodes that the cause is not about lack, in one sentence: `The other 9 nodes: gpu=true:NoSchedule is not tolerated (9).`
pub(in crate::diagnose::causes) fn others(survey: &Survey<'_>, choice: &Choice<'_>) -> String {
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for alike in survey.alike.iter().filter(|a| !a.fits() && !a.has(&choice.obstacle)) {
        if let Some(lack) = alike.heaviest() {
            *groups.entry(brief(lack)).or_default() += alike.count();
        }
    }
    let count: usize = groups.values().sum();
    if count == 0 {
        return String::new();
    }
    let mut groups: Vec<(String, usize)> = groups.into_iter().collect();
    groups.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let parts: Vec<String> = match groups.as_slice() {
        [(only, _)] => vec![only.clone()],
        many => many.iter().take(4).map(|(what, n)| format!("{what} ({n})")).collect(),
    };
    let nodes = if count == 1 { "node".to_owned() } else { plural(count, "node") };
    format!(" The other {nodes}: {}.", parts.join(", "))
}

fn brief(lack: &Lack) -> String {
    match lack {
        Lack::Cordoned => "cordoned".to_owned(),
        Lack::Taint(taint) => format!("taint {taint} not tolerated"),
        Lack::Selector(term) => format!("without {term}"),
        Lack::Port { port, .. } => format!("port {port} taken"),
        Lack::Resource { name, .. } => format!("short of {name}"),
        Lack::Pods { .. } => "full of pods".to_owned(),
        Lack::Volume { .. } => "not where the volume is".to_owned(),
        Lack::PodAffinity { with, .. } => format!("no pod with {with} there (pod affinity)"),
        Lack::AntiAffinity { .. } => "refused by pod anti-affinity".to_owned(),
        Lack::Spread { .. } => "spread would be uneven".to_owned(),
        Lack::SpreadLabel { topology_key } => format!("without label {topology_key}"),
    }
}

/// `1 node`, `2 nodes`.
pub(in crate::diagnose::causes) fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// Names of nodes, the first three of them: `n1, n2, n3 and 4 more`.
pub(in crate::diagnose::causes) fn names(alike: &[&Alike<'_>]) -> String {
    let mut first: Vec<&str> = alike.iter().flat_map(|a| a.names().take(3)).collect();
    first.sort_unstable();
    first.truncate(3);
    match alike.iter().map(|a| a.count()).sum::<usize>().saturating_sub(3) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Why an old pod of the same Deployment does not make way for the new one, and what would let it.
pub(in crate::diagnose::causes) struct Deadlock {
    pub because: String,
    pub next: &'static str,
}

/// The deadlock of a rolling update whose new pod needs the place of an old one; `None` where the strategy lets old pods go first.
pub(in crate::diagnose::causes) fn deadlock(cx: &Cx<'_>, workload: &ObjectRef) -> Option<Deadlock> {
    let deployment = cx.get::<Deployment>(&workload.namespace, &workload.name).is().filter(|_| workload.kind == "Deployment")?;
    let spec = &deployment.spec;
    let replicas = spec.replicas.unwrap_or(1);
    let rolling = spec.strategy.rolling_update.as_ref();
    let quarter = IntOrText::Text("25%".into());
    let unavailable = rolling.and_then(|r| r.max_unavailable.as_ref()).unwrap_or(&quarter);
    let surge = rolling.and_then(|r| r.max_surge.as_ref()).unwrap_or(&quarter);
    let may_go = unavailable.of(replicas, Rounding::Down);
    if &*spec.strategy.kind == "Recreate" || may_go > 0 || surge.of(replicas, Rounding::Up) == 0 {
        return None;
    }
    Some(Deadlock {
        because: format!(
            "maxUnavailable {unavailable} of {} is 0, so no old pod may leave before the new one is ready.",
            plural(replicas.max(0) as usize, "replica")
        ),
        next: "Let an old pod go first: maxSurge 0 with maxUnavailable 1, or strategy Recreate.",
    })
}
