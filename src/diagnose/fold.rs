//! Fold: what waits hangs under what it waits for, over any number of steps; circles collapse into one.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::ObjectRef;

use super::Verdict;
use super::group::Group;

/// A group with everything that would go if it went.
#[derive(Debug)]
pub(super) struct Folded {
    pub group: Group,
    pub consequences: Vec<Group>,
    /// It waits on itself, directly or through others.
    pub circle: bool,
}

/// Hangs every group that waits on another under its last root.
pub(super) fn fold(groups: Vec<Group>) -> Vec<Folded> {
    let edges = edges(&groups);
    let parts = components(&edges);
    let roots = roots_of(&groups, &edges, &parts);
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, root) in roots.iter().enumerate().filter(|(i, root)| *i != **root) {
        children.entry(*root).or_default().push(i);
    }
    let mut slots: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    let mut folded = Vec::new();
    for i in (0..slots.len()).filter(|i| roots[*i] == *i) {
        let consequences = children.get(&i).into_iter().flatten().filter_map(|c| slots[*c].take()).collect();
        let circle = edges[i].contains(&i) || parts.iter().filter(|p| **p == parts[i]).count() > 1;
        folded.extend(slots[i].take().map(|group| Folded { group, consequences, circle }));
    }
    folded
}

/// For each group the groups it waits on: those that are rooted in, or affect, an object that it names; and for a symptom,
/// whatever else holds up one of its workloads.
fn edges(groups: &[Group]) -> Vec<BTreeSet<usize>> {
    let mut holders: BTreeMap<&ObjectRef, BTreeSet<usize>> = BTreeMap::new();
    for (i, g) in groups.iter().enumerate() {
        for object in [&g.lead.root].into_iter().chain(&g.affected).chain(&g.pods) {
            holders.entry(object).or_default().insert(i);
        }
    }
    let on = |object: &ObjectRef| holders.get(object).into_iter().flatten().copied();
    let edges = groups.iter().enumerate().map(|(i, g)| {
        let mut to: BTreeSet<usize> =
            g.waits_on.iter().flat_map(on).filter(|j| *j != i || g.waits_on.iter().any(|w| g.affected.contains(w))).collect();
        if g.cause.symptom {
            let deeper = |j: &usize| *j != i && (!groups[*j].cause.symptom || groups[*j].cause.layer < g.cause.layer);
            to.extend(g.affected.iter().flat_map(on).filter(deeper));
        }
        to
    });
    edges.collect()
}

/// The strongly connected component of each group (Tarjan's algorithm, without recursion on the caller's stack being an issue:
/// chains are as long as people stack workloads).
fn components(edges: &[BTreeSet<usize>]) -> Vec<usize> {
    let reach: Vec<BTreeSet<usize>> = (0..edges.len()).map(|i| reachable(edges, i)).collect();
    (0..edges.len()).map(|i| reach[i].iter().copied().filter(|j| reach[*j].contains(&i)).min().map_or(i, |j| j.min(i))).collect()
}

fn reachable(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut todo: Vec<usize> = edges[from].iter().copied().collect();
    while let Some(i) = todo.pop() {
        if seen.insert(i) {
            todo.extend(&edges[i]);
        }
    }
    seen
}

/// Each group's root: itself, or the one at the end of its chain. In a circle configuration comes before node before workload.
fn roots_of(groups: &[Group], edges: &[BTreeSet<usize>], parts: &[usize]) -> Vec<usize> {
    let root_of_part = |part: usize| (0..groups.len()).filter(|i| parts[*i] == part).min_by_key(|i| weight(&groups[*i]));
    (0..groups.len())
        .map(|i| {
            let ends: BTreeSet<usize> = reachable(edges, i)
                .into_iter()
                .chain([i])
                .filter(|j| reachable(edges, *j).iter().all(|k| parts[*k] == parts[*j]))
                .filter_map(|j| root_of_part(parts[j]))
                .collect();
            ends.into_iter().min_by_key(|j| (weight(&groups[*j]), *j)).unwrap_or(i)
        })
        .collect()
}

fn weight(group: &Group) -> (u8, Verdict, &str, &str) {
    let rank = match &*group.lead.root.kind {
        "ValidatingWebhookConfiguration"
        | "MutatingWebhookConfiguration"
        | "ResourceQuota"
        | "LimitRange"
        | "Namespace"
        | "StorageClass" => 0,
        "Node" => 1,
        _ => 2,
    };
    (rank, group.lead.verdict, group.cause.id, group.key.as_str())
}
