//! Other pods in the way, or missing: affinity, anti-affinity, spread, host ports.

use std::collections::BTreeMap;

use super::pending::{Deadlock, Pending, deadlock, names, others, plural, with_outcome};
use crate::diagnose::scheduling::neighbours::{Domains, domains, words};
use crate::diagnose::scheduling::{Choice, Lack, Survey};
use crate::diagnose::{Cause, Clock, ClockKind, Cx, Finding, Judge, Key, Layer, Stage, Verdict, Workload};
use crate::model::{DaemonSet, Deployment, Kind, ObjectRef, StatefulSet, Text, Time};

pub(super) const POD_AFFINITY: Cause = Cause {
    id: "pod-affinity-mismatch",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "Pod affinity or anti-affinity leaves no node",
    explanation: "Required podAffinity wants a matching pod in the node's domain (topologyKey); required podAntiAffinity, the pod's own or that of pods already there, wants none.",
    told_apart: "topology-spread counts pods per domain. Node affinity is about labels of nodes, not about other pods.",
    cure: "Fewer replicas than domains, more nodes, preferred instead of required rules, or a strategy that lets old pods go first.",
    docs: "concepts/scheduling-eviction/assign-pod-node/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const SPREAD: Cause = Cause {
    id: "topology-spread",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "A topology spread constraint leaves no node",
    explanation: "With whenUnsatisfiable: DoNotSchedule no domain may hold more than maxSkew matching pods beyond the emptiest domain. By default tainted nodes count as domains too, although the pod cannot go there.",
    told_apart: "Where the emptier domains merely lack room, that is the cause. A node without the label that topologyKey names never takes the pod.",
    cure: "nodeTaintsPolicy: Honor, a larger maxSkew, whenUnsatisfiable: ScheduleAnyway, or room in the emptiest domain.",
    docs: "concepts/scheduling-eviction/topology-spread-constraints/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

pub(super) const PORT: Cause = Cause {
    id: "host-port-conflict",
    layer: Layer::Scheduling,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "A host port is taken on every node that would do",
    explanation: "hostPort, or a port of a pod with hostNetwork, can be used once per node, address and protocol. The pod that has it must go first.",
    told_apart: "A port of a Service or of a container without hostPort never conflicts here.",
    cure: "Drop hostPort, let the old pod go first (maxSurge 0 or Recreate), or add nodes.",
    docs: "concepts/services-networking/service/",
    needs: &[Kind::Node],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

/// Blocked, unless a pod in the way is about to be gone.
fn outcome(cx: &Cx<'_>, pending: &Pending<'_>, choice: &Choice<'_>, holders: &[&ObjectRef]) -> (Verdict, Option<Clock>, Option<String>) {
    let outcome = pending.outcome(cx, choice);
    let gone = |o: &&ObjectRef| cx.pod(&o.namespace, &o.name).and_then(|p| p.deleted());
    let going: Option<Time> = holders.iter().filter_map(gone).filter(|at| !cx.passed(*at)).min();
    match going {
        Some(at) if outcome.0 == Verdict::Blocked => {
            let clock = Clock { kind: ClockKind::Grace, what: "a pod that is leaving".to_owned(), at: Some(at) };
            (Verdict::Delayed, Some(clock), Some("A pod in the way is being deleted.".to_owned()))
        }
        _ => outcome,
    }
}

/// Whether a pod belongs to the same workload as the one that waits: an old replica in the way of the new one.
fn own(cx: &Cx<'_>, pending: &Pending<'_>, holder: &ObjectRef) -> Option<Deadlock> {
    let same = cx.pod(&holder.namespace, &holder.name).is_some_and(|p| cx.workload_of(p) == pending.workload);
    if same { deadlock(cx, &pending.workload) } else { None }
}

pub(super) fn apart(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let found: Vec<(&Text, &ObjectRef)> = choice
        .nodes
        .iter()
        .flat_map(|f| &f.lacks)
        .filter_map(|l| if let Lack::AntiAffinity { topology_key, with } = l { Some((topology_key, with)) } else { None })
        .collect();
    let terms = &pending.pod.spec().affinity.pod_anti_affinity.required;
    let key =
        found.first().map(|(key, _)| &***key).or_else(|| terms.first().map(|t| &*t.topology_key)).unwrap_or("its topologyKey").to_owned();
    let holders: Vec<&ObjectRef> = found.iter().map(|(_, with)| *with).collect();
    let (verdict, clock, more) = outcome(cx, pending, choice, &holders);
    let stuck = holders.first().and_then(|h| own(cx, pending, h));
    let place = pending.workload.place();
    let there = if holders.is_empty() { String::new() } else { format!(" In the way: {}.", some(&holders)) };
    let lock = stuck.as_ref().map_or_else(String::new, |d| format!(" {}", d.because));
    let because = format!(
        "Required podAntiAffinity on {key} allows one such pod per domain, and every domain ({}) has one.{there}{lock}{}",
        plural(choice.count, "node"),
        others(survey, choice)
    );
    let next = stuck.map_or_else(
        || format!("Run fewer replicas of {place} than there are domains of {key}, add nodes, or make the rule preferred."),
        |d| format!("{} Or make the rule preferred, or add a node.", d.next),
    );
    let finding = pending
        .finding(verdict, Key::object(&pending.workload), pending.workload.clone())
        .title(format!("podAntiAffinity on {key} leaves no node for {place}"))
        .next(next)
        .fact("topologyKey", &key)
        .fact("nodes", survey.nodes.len());
    let finding = if terms.is_empty() {
        finding
    } else {
        finding.evidence(
            pending.pod.reference(),
            "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[].topologyKey",
            &key,
            None,
        )
    };
    with_outcome(finding, clock, &because, more)
}

pub(super) fn together(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let terms = &pending.pod.spec().affinity.pod_affinity.required;
    let term = terms.first();
    let with = term.and_then(|t| t.label_selector.as_ref()).map(words).unwrap_or_default();
    let key = term.map_or("its topologyKey", |t| &*t.topology_key);
    let targets = targets(cx, pending);
    let (verdict, clock, more) = outcome(cx, pending, choice, &[]);
    let place = pending.workload.place();
    let who = if targets.is_empty() { String::new() } else { format!(" That would be {}.", some(&targets.iter().collect::<Vec<_>>())) };
    let because = format!(
        "Required podAffinity wants a pod with {with} in the same {key}, and no node that would do has one.{who}{}",
        others(survey, choice)
    );
    let mut finding = pending
        .finding(verdict, Key::object(&pending.workload), pending.workload.clone())
        .title(format!("no node where a pod with {with} runs takes {place}"))
        .next(format!("Get a pod with {with} running where {place} may go, or correct its podAffinity."))
        .fact("topologyKey", key)
        .fact("affinity", &with)
        .evidence(
            pending.pod.reference(),
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].labelSelector",
            &with,
            None,
        );
    finding.waits_on.extend(targets);
    with_outcome(finding, clock, &because, more)
}

/// Workloads whose pods the affinity means, other than the pod's own.
fn targets(cx: &Cx<'_>, pending: &Pending<'_>) -> Vec<ObjectRef> {
    let ns = Some(pending.pod.namespace());
    let mut all: Vec<Workload<'_>> = cx.all::<Deployment>(ns).map(Workload::Deployment).collect();
    all.extend(cx.all::<StatefulSet>(ns).map(Workload::StatefulSet));
    all.extend(cx.all::<DaemonSet>(ns).map(Workload::DaemonSet));
    let terms = &pending.pod.spec().affinity.pod_affinity.required;
    let meant = |w: &Workload<'_>| {
        let labels = &w.template().meta.labels;
        terms.iter().any(|t| t.label_selector.as_ref().is_some_and(|s| !s.is_empty() && s.matches(|k| labels.get(k))))
    };
    all.into_iter().filter(meant).map(Workload::reference).filter(|w| *w != pending.workload).collect()
}

pub(super) fn spread(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let lacks = || choice.nodes.iter().flat_map(|f| &f.lacks);
    let missing = lacks().find_map(|l| if let Lack::SpreadLabel { topology_key } = l { Some(topology_key) } else { None });
    let place = pending.workload.place();
    let (verdict, clock, more) = outcome(cx, pending, choice, &[]);
    let start = |finding: Finding, key: &str| {
        finding.fact("topologyKey", key).evidence(pending.pod.reference(), "spec.topologySpreadConstraints[].topologyKey", key, None)
    };
    let all = domains(cx, pending.pod);
    let uneven = lacks().find_map(|l| if let Lack::Spread { topology_key, .. } = l { Some(topology_key) } else { None });
    let shown = all.iter().find(|d| Some(&d.topology_key) == uneven).or_else(|| all.first());
    let finding = pending.finding(verdict, Key::object(&pending.workload), pending.workload.clone());
    let Some(shown) = shown.filter(|_| missing.is_none()) else {
        let key = missing.map_or("its topologyKey", |k| &**k);
        let because = format!(
            "A topology spread constraint counts by {key}, and the nodes that would do ({}) lack that label.{}",
            names(&choice.nodes),
            others(survey, choice)
        );
        let finding = start(finding, key).title(format!("no node has the label {key} that {place} spreads over"));
        return with_outcome(finding.next(format!("Label the nodes with {key}, or correct topologyKey.")), clock, &because, more);
    };
    let empty = emptiest(shown, survey);
    let rest = if empty.because.is_empty() { others(survey, choice) } else { String::new() };
    let because = format!(
        "topologySpreadConstraints (maxSkew {}, {}, DoNotSchedule) compare every domain with the emptiest: {}.{}{rest}",
        shown.max_skew,
        shown.topology_key,
        counts(shown),
        empty.because,
    );
    let finding = start(finding, &shown.topology_key)
        .title(format!("topology spread on {} leaves no node for {place}", shown.topology_key))
        .next(empty.next.unwrap_or_else(|| SPREAD.cure.to_owned()))
        .fact("maxSkew", shown.max_skew)
        .fact("pods per domain", counts(shown));
    with_outcome(finding, clock, &because, more)
}

/// Domains with their matching pods: `a 3, b 3, c 0`.
fn counts(domains: &Domains) -> String {
    let mut all: Vec<(&Text, &usize)> = domains.counts.iter().collect();
    all.sort_by(|a, b| a.1.cmp(b.1).then_with(|| a.0.cmp(b.0)));
    let shown = all.iter().take(6).map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
    if all.len() > 6 { format!("{shown} and {} more", all.len() - 6) } else { shown }
}

struct Emptiest {
    because: String,
    next: Option<String>,
}

/// Why the emptiest domains take nothing: a taint there counts for nothing when domains are counted.
fn emptiest(shown: &Domains, survey: &Survey<'_>) -> Emptiest {
    let at_least = |name: &str| shown.counts.get(name).is_some_and(|n| *n == shown.least);
    let there = |name: &&str| survey.nodes.get(name).and_then(|n| n.meta.label(&shown.topology_key)).is_some_and(at_least);
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for alike in &survey.alike {
        let why = match alike.heaviest() {
            Some(Lack::Taint(taint)) => format!("taint {taint} is not tolerated"),
            Some(Lack::Cordoned) => "it is cordoned".to_owned(),
            Some(other) => format!("it would take the pod if {}", other.change()),
            None => continue,
        };
        reasons.entry(why).or_default().extend(alike.names().filter(there));
    }
    reasons.retain(|_, nodes| !nodes.is_empty());
    let Some((why, nodes)) = reasons.iter().max_by_key(|(_, nodes)| nodes.len()) else {
        return Emptiest { because: String::new(), next: None };
    };
    let node = nodes.iter().min().copied().unwrap_or_default();
    let tainted = why.starts_with("taint");
    let because = format!(" {node} counts as a domain with {} and cannot take the pod: {why}.", plural(shown.least, "pod"));
    let next = tainted.then(|| {
        "Set nodeTaintsPolicy: Honor on the constraint, so that tainted nodes do not count, or whenUnsatisfiable: ScheduleAnyway."
            .to_owned()
    });
    Emptiest { because, next }
}

pub(super) fn port(cx: &Cx<'_>, pending: &Pending<'_>, survey: &Survey<'_>, choice: &Choice<'_>) -> Finding {
    let held = choice.nodes.iter().find_map(|f| {
        let port = f
            .lacks
            .iter()
            .find_map(|l| if let Lack::Port { port, protocol, holder } = l { Some((port, protocol, holder)) } else { None })?;
        Some((f.first(), port))
    });
    let place = pending.workload.place();
    let key = Key::object(&pending.workload);
    let wanted = crate::diagnose::scheduling::host_ports(pending.pod.spec())
        .map(|(port, _, protocol)| format!("{port}/{protocol}"))
        .collect::<Vec<_>>()
        .join(", ");
    let Some((node, (port, protocol, holder))) = held else {
        let (verdict, clock, more) = pending.outcome(cx, choice);
        let because = format!(
            "The host ports that the pod asks for ({wanted}) are taken on {}.{}",
            plural(choice.count, "node"),
            others(survey, choice)
        );
        let finding = pending
            .finding(verdict, key, pending.workload.clone())
            .title(format!("host ports {wanted} of {place} are taken on every node"));
        return with_outcome(finding.fact("hostPort", &wanted), clock, &because, more);
    };
    let holders: Vec<&ObjectRef> = choice
        .nodes
        .iter()
        .flat_map(|f| &f.lacks)
        .filter_map(|l| if let Lack::Port { holder, .. } = l { Some(holder) } else { None })
        .collect();
    let (verdict, clock, more) = outcome(cx, pending, choice, &holders);
    let stuck = own(cx, pending, holder);
    let lock = stuck.as_ref().map_or_else(String::new, |d| format!(" It is an older pod of the same workload: {}", d.because));
    let because = format!("hostPort {port}/{protocol} on {node} is held by {}.{lock}{}", holder.place(), others(survey, choice));
    let next =
        stuck.map_or_else(|| format!("Free port {port} on a node, drop hostPort from {place}, or add a node."), |d| d.next.to_owned());
    let finding = pending
        .finding(verdict, key, pending.workload.clone())
        .title(format!("host port {port} is taken on every node that {place} may use"))
        .next(next)
        .fact("hostPort", format!("{port}/{protocol}"))
        .fact("held by", holder)
        .evidence(pending.pod.reference(), "spec.containers[].ports[].hostPort", format!("hostPort: {port}"), None);
    with_outcome(finding, clock, &because, more)
}

fn some(objects: &[&ObjectRef]) -> String {
    let mut names: Vec<String> = objects.iter().map(|o| o.place()).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
}
