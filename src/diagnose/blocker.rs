//! Blocker: what is said of one group and of all that hangs under it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Cluster, Kind, ObjectRef, Read, Time};

use super::engine::Found;
use super::group::Group;
use super::{Clock, Evidence, Facts, Layer, Verdict};

/// One cause with one key that holds up one or many workloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// `cause:key`, stable from run to run.
    pub id: String,
    pub layer: Layer,
    pub cause: &'static str,
    pub verdict: Verdict,
    pub key: Arc<str>,
    pub root: ObjectRef,
    pub since: Option<Time>,
    pub clock: Option<Clock>,
    pub title: Arc<str>,
    pub summary: Box<str>,
    /// Sorted. Those of its consequences are among them.
    pub affected: Arc<[ObjectRef]>,
    /// Pods held up, existing or not, those of its consequences among them.
    pub pods: usize,
    /// Existing pods that it holds up itself, sorted.
    pub pod_names: Arc<[ObjectRef]>,
    /// Affected workloads without any ready pod.
    pub down: usize,
    /// Services left without a ready endpoint.
    pub services: Vec<ObjectRef>,
    pub facts: Facts,
    pub evidence: Vec<Arc<Evidence>>,
    pub next: Arc<str>,
    pub consequences: Box<[Consequence]>,
    pub unchecked: Vec<Unchecked>,
}

/// A blocker that would go if its root went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consequence {
    pub layer: Layer,
    pub cause: &'static str,
    pub verdict: Verdict,
    pub title: Arc<str>,
    pub root: ObjectRef,
    pub affected: Arc<[ObjectRef]>,
    pub pods: usize,
    /// Existing pods among them, sorted.
    pub pod_names: Arc<[ObjectRef]>,
    pub evidence: Vec<Arc<Evidence>>,
}

/// What would have told more, and may not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unchecked {
    pub kind: &'static str,
    pub namespace: String,
    pub why: String,
}

/// Evidence shown for one blocker: more repeats the same.
const MOST_EVIDENCE: usize = 12;

/// The same for one that hangs under another.
const ALSO_EVIDENCE: usize = 3;

/// Values named for one fact.
const MOST_VALUES: usize = 8;

/// A group with its findings, in its order.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub group: &'a Group,
    pub found: &'a [Arc<Found>],
}

/// A blocker from its group and those that hang under it.
pub(super) fn tell(cluster: &Cluster, part: Part<'_>, below: &[Part<'_>], circle: bool) -> Blocker {
    let group = part.group;
    let consequences: &[&Group] = &below.iter().map(|part| part.group).collect::<Vec<_>>();
    let shown = shown(group, consequences);
    let count = pod_count(group, consequences);
    let words = group.words();
    Blocker {
        id: format!("{}:{}", group.cause.id, group.key.as_str()),
        layer: group.cause.layer,
        cause: group.cause.id,
        verdict: group.verdict(),
        key: group.key.text(),
        root: words.root.clone(),
        since: group.since,
        clock: group.clock.clone(),
        title: group.title(),
        summary: summary(group, shown.len(), count, circle).into(),
        down: shown.iter().filter(|w| cluster.is_down(Kind::named(&w.kind), &w.namespace, &w.name)).count(),
        affected: shown,
        pods: count,
        pod_names: group.pods.clone(),
        services: services(consequences),
        facts: facts(part.found),
        evidence: evidence(part.found, MOST_EVIDENCE),
        next: if words.next.is_empty() { group.cause.cure.into() } else { words.next.clone() },
        consequences: below.iter().filter(|part| !is_service_only(part.group)).map(consequence).collect(),
        unchecked: unchecked(cluster, part.found),
    }
}

/// The look-ups that went into a blocker besides its findings: whether its workloads are down, and why something is not known.
pub(super) fn reads(blocker: &Blocker, found: &[Arc<Found>]) -> Vec<Read> {
    let workloads = blocker.affected.iter().filter(|o| &*o.kind != "Pod" && is_workload(o));
    let down = workloads.map(|o| Read::object(Kind::named(&o.kind), &o.namespace, &o.name));
    let kinds = found.iter().flat_map(|f| &f.finding.unchecked);
    let mut reads: Vec<Read> = down.chain(kinds.map(|(kind, _)| Read::coverage(*kind))).collect();
    reads.sort_unstable();
    reads.dedup();
    reads
}

/// The workloads that it holds up, those of its consequences among them; what else it affects only where there are none.
fn shown(group: &Group, consequences: &[&Group]) -> Arc<[ObjectRef]> {
    if consequences.is_empty() && (group.affected.iter().all(is_workload) || !group.affected.iter().any(is_workload)) {
        return group.affected.clone();
    }
    let all = group.affected.iter().chain(consequences.iter().flat_map(|c| &*c.affected));
    let workloads: BTreeSet<&ObjectRef> = all.filter(|o| is_workload(o)).collect();
    if workloads.is_empty() { group.affected.clone() } else { workloads.into_iter().cloned().collect() }
}

/// How many pods are held up, existing or not: those that consequences miss are mostly the same.
fn pod_count(group: &Group, consequences: &[&Group]) -> usize {
    let missing = consequences.iter().map(|c| c.missing).chain([group.missing]).max().unwrap_or(0);
    let pods = match consequences {
        [] => group.pods.len(),
        _ => group.pods.iter().chain(consequences.iter().flat_map(|c| &*c.pods)).collect::<BTreeSet<_>>().len(),
    };
    pods + missing as usize
}

fn consequence(part: &Part<'_>) -> Consequence {
    let group = part.group;
    Consequence {
        layer: group.cause.layer,
        cause: group.cause.id,
        verdict: group.verdict(),
        title: group.title(),
        root: group.words().root.clone(),
        affected: group.affected.clone(),
        pods: group.pod_count(),
        pod_names: group.pods.clone(),
        evidence: evidence(part.found, ALSO_EVIDENCE),
    }
}

fn services(consequences: &[&Group]) -> Vec<ObjectRef> {
    let all: BTreeSet<ObjectRef> = consequences.iter().flat_map(|c| &*c.affected).filter(|a| a.kind == "Service").cloned().collect();
    all.into_iter().collect()
}

fn is_service_only(group: &Group) -> bool {
    group.affected.iter().all(|a| a.kind == "Service")
}

pub(super) fn is_workload(object: &ObjectRef) -> bool {
    matches!(
        Kind::named(&object.kind),
        Kind::Pod
            | Kind::Deployment
            | Kind::StatefulSet
            | Kind::DaemonSet
            | Kind::Job
            | Kind::CronJob
            | Kind::ReplicaSet
            | Kind::ReplicationController
    ) || object.kind.contains('.')
}

fn facts(found: &[Arc<Found>]) -> Facts {
    let mut different = found.iter().map(|f| &f.finding.facts).collect::<Vec<_>>();
    // Thousands of pods may have the same.
    different.dedup();
    if let [only] = *different {
        return only.clone();
    }
    let mut all: BTreeMap<&'static str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in different.into_iter().flat_map(Facts::iter) {
        all.entry(name).or_default().insert(value);
    }
    let joined = |values: BTreeSet<&str>| values.into_iter().take(MOST_VALUES).collect::<Vec<_>>().join(", ");
    all.into_iter().map(|(name, values)| (name, joined(values))).collect()
}

fn evidence(found: &[Arc<Found>], most: usize) -> Vec<Arc<Evidence>> {
    let mut all: Vec<Arc<Evidence>> = Vec::new();
    for evidence in found.iter().flat_map(|f| &f.finding.evidence) {
        if all.len() == most {
            break;
        }
        if !all.contains(evidence) {
            all.push(evidence.clone());
        }
    }
    all.shrink_to_fit();
    all
}

fn summary(group: &Group, workloads: usize, pods: usize, circle: bool) -> String {
    let because = if group.words().because.is_empty() { group.cause.explanation } else { &group.words().because };
    let circle = if circle { " It waits on what it holds up itself: a circle." } else { "" };
    match pods {
        0 => format!("{because}{circle}"),
        _ => format!("{} of {}: {because}{circle}", plural(pods, "pod"), plural(workloads, "workload")),
    }
}

/// `1 pod`, `2 pods`.
fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

fn unchecked(cluster: &Cluster, found: &[Arc<Found>]) -> Vec<Unchecked> {
    use crate::model::CoverageState as S;
    let why = |kind: Kind, ns: &str| match cluster.coverage().get(kind, ns) {
        Some(S::Denied { .. }) => "forbidden".to_owned(),
        Some(S::Stale { .. }) => "stale".to_owned(),
        Some(S::Loading) => "loading".to_owned(),
        Some(S::Absent { message }) => message.clone(),
        Some(S::Synced) | None => "not in the input".to_owned(),
    };
    let asked: BTreeSet<&(Kind, String)> = found.iter().flat_map(|f| &f.finding.unchecked).collect();
    let all: BTreeSet<Unchecked> =
        asked.into_iter().map(|(kind, ns)| Unchecked { kind: kind.row().name, namespace: ns.clone(), why: why(*kind, ns) }).collect();
    all.into_iter().collect()
}
