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
    let reach: Vec<BTreeSet<usize>> = (0..groups.len()).map(|i| reachable(&edges, i)).collect();
    let parts = components(&reach);
    let roots = roots(&groups, &reach, &parts);
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, root) in roots.iter().enumerate().filter(|(i, root)| *i != **root) {
        children.entry(*root).or_default().push(i);
    }
    let mut slots: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    let mut folded = Vec::new();
    for i in (0..slots.len()).filter(|i| roots[*i] == *i) {
        let consequences = children.get(&i).into_iter().flatten().filter_map(|c| slots[*c].take()).collect();
        let circle = reach[i].contains(&i);
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

/// The strongly connected component of each group, named by its first member: those that reach each other.
fn components(reach: &[BTreeSet<usize>]) -> Vec<usize> {
    let first = |i: usize| reach[i].iter().copied().filter(|j| reach[*j].contains(&i)).min().map_or(i, |j| j.min(i));
    (0..reach.len()).map(first).collect()
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
fn roots(groups: &[Group], reach: &[BTreeSet<usize>], parts: &[usize]) -> Vec<usize> {
    let mut heads: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, part) in parts.iter().enumerate() {
        let head = heads.entry(*part).or_insert(i);
        if weight(&groups[i]) < weight(&groups[*head]) {
            *head = i;
        }
    }
    let is_end = |j: &usize| reach[*j].iter().all(|k| parts[*k] == parts[*j]);
    let root = |i: usize| {
        let ends = reach[i].iter().copied().chain([i]).filter(is_end).filter_map(|j| heads.get(&parts[j]).copied());
        ends.min_by_key(|j| (weight(&groups[*j]), *j)).unwrap_or(i)
    };
    (0..groups.len()).map(root).collect()
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
