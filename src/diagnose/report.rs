//! Report: everything found, as screen and exports show it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cluster, Kind, ObjectRef, Time};

use super::engine::Found;
use super::fold::{Folded, fold};
use super::group::{Group, group};
use super::rank::rank;
use super::{Clock, Evidence, Layer, Verdict};

/// What holds the cluster up, in the order of the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub summary: Summary,
    pub blockers: Vec<Blocker>,
    pub quiet: Vec<Quiet>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    pub pods: usize,
    pub workloads: usize,
    pub stuck_pods: usize,
    pub stuck_workloads: usize,
    pub blocked: usize,
    pub delayed: usize,
    pub quiet: usize,
}

/// One cause with one key that holds up one or many workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocker {
    /// `cause:key`, stable from run to run.
    pub id: String,
    pub layer: Layer,
    pub cause: &'static str,
    pub verdict: Verdict,
    pub key: String,
    pub root: ObjectRef,
    pub since: Option<Time>,
    pub clock: Option<Clock>,
    pub title: String,
    pub summary: String,
    /// Sorted. Those of its consequences are among them.
    pub affected: Vec<ObjectRef>,
    /// Pods held up, existing or not, those of its consequences among them.
    pub pods: usize,
    /// Existing pods that it holds up itself, sorted.
    pub pod_names: Vec<ObjectRef>,
    /// Affected workloads without any ready pod.
    pub down: usize,
    /// Services left without a ready endpoint.
    pub services: Vec<ObjectRef>,
    pub facts: BTreeMap<&'static str, String>,
    pub evidence: Vec<Evidence>,
    pub next: String,
    pub consequences: Vec<Consequence>,
    pub unchecked: Vec<Unchecked>,
}

/// A blocker that would go if its root went.
#[derive(Debug, Clone, PartialEq)]
pub struct Consequence {
    pub layer: Layer,
    pub cause: &'static str,
    pub verdict: Verdict,
    pub title: String,
    pub root: ObjectRef,
    pub affected: Vec<ObjectRef>,
    pub pods: usize,
    /// Existing pods among them, sorted.
    pub pod_names: Vec<ObjectRef>,
    pub evidence: Vec<Evidence>,
}

/// What would have told more, and may not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unchecked {
    pub kind: &'static str,
    pub namespace: String,
    pub why: String,
}

/// On purpose, so no blocker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quiet {
    pub object: ObjectRef,
    pub cause: &'static str,
    pub reason: String,
    pub since: Option<Time>,
}

impl Report {
    /// Counts again what is in it, after blockers were left out; pods and workloads of these namespaces only, if any are named.
    pub fn count(&mut self, cluster: &Cluster, namespaces: &[String]) {
        self.summary = summarise(cluster, &self.blockers, self.quiet.len(), namespaces);
    }
}

pub(super) fn make<'a>(cluster: &Cluster, found: impl Iterator<Item = &'a Found> + Clone) -> Report {
    let mut blockers: Vec<Blocker> = fold(group(found.clone())).into_iter().map(|f| blocker(cluster, f)).collect();
    rank(&mut blockers);
    let mut quiet: Vec<Quiet> = found.filter(|f| f.finding.verdict == Verdict::Quiet).map(quiet_of).collect();
    quiet.sort();
    quiet.dedup();
    let summary = summarise(cluster, &blockers, quiet.len(), &[]);
    Report { summary, blockers, quiet }
}

fn quiet_of(f: &Found) -> Quiet {
    Quiet { object: f.finding.root.clone(), cause: f.cause.id, reason: f.finding.because.clone(), since: f.finding.since }
}

fn blocker(cluster: &Cluster, folded: Folded) -> Blocker {
    let Folded { group, consequences, circle } = folded;
    let mut affected = group.affected.clone();
    let mut pods = group.pods.clone();
    let mut missing = group.missing as usize;
    for c in &consequences {
        affected.extend(c.affected.iter().filter(|a| is_workload(a)).cloned());
        pods.extend(c.pods.iter().cloned());
        missing = missing.max(c.missing as usize);
    }
    let workloads: BTreeSet<ObjectRef> = affected.iter().filter(|a| is_workload(a)).cloned().collect();
    let services = services(&consequences);
    let shown = if workloads.is_empty() { affected } else { workloads };
    let count = pods.len() + missing;
    let lead = &group.lead;
    Blocker {
        id: format!("{}:{}", group.cause.id, group.key.as_str()),
        layer: group.cause.layer,
        cause: group.cause.id,
        verdict: lead.verdict,
        key: group.key.as_str().to_owned(),
        root: lead.root.clone(),
        since: lead.since,
        clock: lead.clock.clone(),
        title: if lead.title.is_empty() { group.cause.title.to_owned() } else { lead.title.clone() },
        summary: summary(&group, shown.len(), count, circle),
        down: shown.iter().filter(|w| is_down(cluster, w)).count(),
        affected: shown.into_iter().collect(),
        pods: count,
        pod_names: group.pods.iter().cloned().collect(),
        services,
        facts: facts(&group),
        evidence: group.evidence.clone(),
        next: if lead.next.is_empty() { group.cause.cure.to_owned() } else { lead.next.clone() },
        consequences: consequences.iter().filter(|c| !is_service_only(c)).map(consequence).collect(),
        unchecked: unchecked(cluster, &group),
    }
}

fn consequence(group: &Group) -> Consequence {
    Consequence {
        layer: group.cause.layer,
        cause: group.cause.id,
        verdict: group.lead.verdict,
        title: if group.lead.title.is_empty() { group.cause.title.to_owned() } else { group.lead.title.clone() },
        root: group.lead.root.clone(),
        affected: group.affected.iter().cloned().collect(),
        pods: group.pod_count(),
        pod_names: group.pods.iter().cloned().collect(),
        evidence: group.evidence.iter().take(3).cloned().collect(),
    }
}

fn services(consequences: &[Group]) -> Vec<ObjectRef> {
    let all: BTreeSet<ObjectRef> = consequences.iter().flat_map(|c| &c.affected).filter(|a| a.kind == "Service").cloned().collect();
    all.into_iter().collect()
}

fn is_service_only(group: &Group) -> bool {
    group.affected.iter().all(|a| a.kind == "Service")
}

fn is_workload(object: &ObjectRef) -> bool {
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

fn is_down(cluster: &Cluster, workload: &ObjectRef) -> bool {
    let object = cluster.object(Kind::named(&workload.kind), &workload.namespace, &workload.name).is();
    object.and_then(super::Workload::of).is_some_and(|w| w.desired() > 0 && w.ready() == 0)
}

fn facts(group: &Group) -> BTreeMap<&'static str, String> {
    let joined = |values: &BTreeSet<String>| values.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    group.facts.iter().map(|(name, values)| (*name, joined(values))).collect()
}

fn summary(group: &Group, workloads: usize, pods: usize, circle: bool) -> String {
    let because = if group.lead.because.is_empty() { group.cause.explanation } else { &group.lead.because };
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

fn unchecked(cluster: &Cluster, group: &Group) -> Vec<Unchecked> {
    use crate::model::CoverageState as S;
    let why = |kind: Kind, ns: &str| match cluster.coverage().get(kind, ns) {
        Some(S::Denied { .. }) => "forbidden".to_owned(),
        Some(S::Stale { .. }) => "stale".to_owned(),
        Some(S::Loading) => "loading".to_owned(),
        Some(S::Absent { message }) => message.clone(),
        Some(S::Synced) | None => "not in the input".to_owned(),
    };
    let all: BTreeSet<Unchecked> =
        group.unchecked.iter().map(|(kind, ns)| Unchecked { kind: kind.row().name, namespace: ns.clone(), why: why(*kind, ns) }).collect();
    all.into_iter().collect()
}

fn summarise(cluster: &Cluster, blockers: &[Blocker], quiet: usize, namespaces: &[String]) -> Summary {
    let consequences = blockers.iter().flat_map(|b| &b.consequences).flat_map(|c| &c.pod_names);
    let pods: BTreeSet<&ObjectRef> = blockers.iter().flat_map(|b| &b.pod_names).chain(consequences).collect();
    let here = |o: &&ObjectRef| namespaces.is_empty() || namespaces.iter().any(|ns| *ns == *o.namespace);
    let pods: BTreeSet<&ObjectRef> = pods.into_iter().filter(here).collect();
    let workloads: BTreeSet<&ObjectRef> = blockers.iter().flat_map(|b| &b.affected).filter(|a| is_workload(a)).filter(here).collect();
    let everywhere = [None];
    let places: Vec<Option<&str>> =
        if namespaces.is_empty() { everywhere.to_vec() } else { namespaces.iter().map(|ns| Some(&**ns)).collect() };
    Summary {
        pods: if namespaces.is_empty() { cluster.count(Kind::Pod) } else { places.iter().map(|ns| cluster.pods(*ns).count()).sum() },
        // Bare pods, and workloads that the input holds no object of, are workloads too where something holds them up.
        workloads: places.iter().map(|ns| count_workloads(cluster, *ns)).sum::<usize>().max(workloads.len()),
        stuck_pods: pods.len(),
        stuck_workloads: workloads.len(),
        blocked: blockers.iter().filter(|b| b.verdict == Verdict::Blocked).count(),
        delayed: blockers.iter().filter(|b| b.verdict == Verdict::Delayed).count(),
        quiet,
    }
}

/// Top controllers: a ReplicaSet or Job that another workload made is not counted again.
fn count_workloads(cluster: &Cluster, namespace: Option<&str>) -> usize {
    let own = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::CronJob];
    let made = [Kind::ReplicaSet, Kind::Job, Kind::ReplicationController];
    let top = |kind: &Kind| cluster.objects(*kind, namespace).filter(|o| o.meta().controller().is_none()).count();
    own.iter().map(|kind| cluster.objects(*kind, namespace).count()).sum::<usize>() + made.iter().map(top).sum::<usize>()
}
