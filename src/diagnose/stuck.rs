//! Stuck: how many pods and workloads are held up, counted as blockers come and go.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{Cluster, HashMap, Kind, ObjectRef};

use super::Verdict;
use super::blocker::{Blocker, is_workload};
use super::report::{Report, Summary};
use super::ties::mark;

/// Counts of what blockers hold up; each object once, by the hash of its name.
#[derive(Debug, Default)]
pub(super) struct Stuck {
    pods: HashMap<u64, u32>,
    workloads: HashMap<u64, u32>,
    blocked: usize,
    delayed: usize,
}

impl Stuck {
    /// Counts one blocker instead of another.
    pub fn replace(&mut self, old: Option<&Blocker>, new: Option<&Blocker>) {
        if old.zip(new).is_some_and(|(old, new)| count_the_same(old, new)) {
            return;
        }
        old.into_iter().for_each(|old| self.remove(old));
        new.into_iter().for_each(|new| self.add(new));
    }

    fn add(&mut self, b: &Blocker) {
        pods(b).for_each(|pod| *self.pods.entry(mark(pod)).or_default() += 1);
        workloads(b).for_each(|workload| *self.workloads.entry(mark(workload)).or_default() += 1);
        self.blocked += usize::from(b.verdict == Verdict::Blocked);
        self.delayed += usize::from(b.verdict == Verdict::Delayed);
    }

    fn remove(&mut self, b: &Blocker) {
        pods(b).for_each(|pod| one_less(&mut self.pods, pod));
        workloads(b).for_each(|workload| one_less(&mut self.workloads, workload));
        self.blocked -= usize::from(b.verdict == Verdict::Blocked);
        self.delayed -= usize::from(b.verdict == Verdict::Delayed);
    }

    pub fn summary(&self, cluster: &Cluster, quiet: usize) -> Summary {
        let stuck_workloads = self.workloads.len();
        Summary {
            pods: cluster.count(Kind::Pod),
            // Bare pods, and workloads that the input holds no object of, are workloads too where something holds them up.
            workloads: count_workloads(cluster, None).max(stuck_workloads),
            stuck_pods: self.pods.len(),
            stuck_workloads,
            blocked: self.blocked,
            delayed: self.delayed,
            quiet,
        }
    }
}

/// The same for the blockers of a report, in some namespaces only if any are named.
pub(super) fn summarise(cluster: &Cluster, report: &Report, namespaces: &[String]) -> Summary {
    let blockers = || report.blockers.iter().map(|b| &**b);
    let here = |o: &&ObjectRef| namespaces.is_empty() || namespaces.iter().any(|ns| *ns == *o.namespace);
    let stuck_pods = blockers().flat_map(pods).filter(here).collect::<BTreeSet<_>>().len();
    let stuck_workloads = blockers().flat_map(workloads).filter(here).collect::<BTreeSet<_>>().len();
    let everywhere = [None];
    let places: Vec<Option<&str>> =
        if namespaces.is_empty() { everywhere.to_vec() } else { namespaces.iter().map(|ns| Some(&**ns)).collect() };
    let of_verdict = |verdict| blockers().filter(|b| b.verdict == verdict).count();
    Summary {
        pods: if namespaces.is_empty() { cluster.count(Kind::Pod) } else { places.iter().map(|ns| cluster.pods(*ns).count()).sum() },
        workloads: places.iter().map(|ns| count_workloads(cluster, *ns)).sum::<usize>().max(stuck_workloads),
        stuck_pods,
        stuck_workloads,
        blocked: of_verdict(Verdict::Blocked),
        delayed: of_verdict(Verdict::Delayed),
        quiet: report.quiet.len(),
    }
}

/// Whether both say so at a glance, because they share their lists.
fn count_the_same(a: &Blocker, b: &Blocker) -> bool {
    let below = a.consequences.iter().zip(&b.consequences).all(|(a, b)| Arc::ptr_eq(&a.pod_names, &b.pod_names));
    a.verdict == b.verdict
        && Arc::ptr_eq(&a.affected, &b.affected)
        && Arc::ptr_eq(&a.pod_names, &b.pod_names)
        && a.consequences.len() == b.consequences.len()
        && below
}

/// Existing pods that a blocker and its consequences hold up.
fn pods(b: &Blocker) -> impl Iterator<Item = &ObjectRef> {
    b.pod_names.iter().chain(b.consequences.iter().flat_map(|c| &*c.pod_names))
}

fn workloads(b: &Blocker) -> impl Iterator<Item = &ObjectRef> {
    b.affected.iter().filter(|a| is_workload(a))
}

fn one_less(counts: &mut HashMap<u64, u32>, object: &ObjectRef) {
    let mark = mark(object);
    if let Some(count) = counts.get_mut(&mark) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&mark);
        }
    }
}

/// Top controllers: a ReplicaSet or Job that another workload made is not counted again.
fn count_workloads(cluster: &Cluster, namespace: Option<&str>) -> usize {
    let own = [Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::CronJob];
    let made = [Kind::ReplicaSet, Kind::Job, Kind::ReplicationController];
    let all = |kind: Kind| namespace.map_or_else(|| cluster.count(kind), |ns| cluster.count_in(kind, ns));
    own.into_iter().map(all).sum::<usize>() + made.into_iter().map(|kind| cluster.count_tops(kind, namespace)).sum::<usize>()
}
