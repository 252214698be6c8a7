//! Neighbours: what pods that already have a node mean for another one: affinity, anti-affinity, spread.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::Cx;
use crate::model::{HashMap, Namespace, Node, ObjectRef, Phase, Pod, PodAffinityTerm, Selector, Spread, Text};

use super::Lack;
use super::fleet::{Nodes, Questions};
use super::place::{unmet, untolerated};

/// Counted once per pod, asked once per node.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    apart: Vec<Apart>,
    together: Vec<Together>,
    spread: Vec<Domains>,
}

/// Domains of one topology key that hold a pod it must not be with.
#[derive(Debug)]
struct Apart {
    topology_key: Text,
    taken: BTreeMap<Text, ObjectRef>,
}

/// Domains of one topology key that hold a pod it must be with.
#[derive(Debug)]
struct Together {
    topology_key: Text,
    with: String,
    domains: BTreeSet<Text>,
    /// Nobody is there yet, and it matches itself: the first may go anywhere.
    is_first: bool,
}

/// Matching pods by domain, for one spread constraint.
#[derive(Debug)]
pub(in crate::diagnose) struct Domains {
    pub topology_key: Text,
    pub max_skew: i64,
    pub counts: BTreeMap<Text, usize>,
    pub least: usize,
    /// Whether the pod itself counts.
    own: usize,
}

impl Neighbours {
    /// Looks at other pods only where the pod's own terms, or the scheduler's words about those of others, ask for it.
    pub(super) fn of(cx: &Cx<'_>, pod: Pod<'_>, others: Others) -> Self {
        let affinity = &pod.spec().affinity;
        let none = affinity.pod_anti_affinity.required.is_empty() && affinity.pod_affinity.required.is_empty();
        if none && others == Others::Ignored {
            return Self { spread: domains(cx, pod), ..Self::default() };
        }
        let nodes = cx.nodes();
        let mut apart: Vec<Apart> = affinity.pod_anti_affinity.required.iter().map(|t| apart(cx, pod, t, nodes)).collect();
        if others == Others::MayRefuse {
            apart.extend(refusing(cx, pod, nodes));
        }
        let together = affinity.pod_affinity.required.iter().map(|t| together(cx, pod, t, nodes)).collect();
        Self { apart, together, spread: domains(cx, pod) }
    }

    pub(super) fn lacks(&self, node: &Node) -> Vec<Lack> {
        let apart = self.apart.iter().filter_map(|a| a.lack(node));
        let together = self.together.iter().filter_map(|t| t.lack(node));
        let spread = self.spread.iter().filter_map(|d| d.lack(node));
        let mut lacks: Vec<Lack> = apart.chain(together).chain(spread).collect();
        lacks.dedup();
        lacks
    }
}

/// Whether anti-affinity of pods already placed is looked at: it needs every pod of the namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    MayRefuse,
    Ignored,
}

impl Apart {
    fn lack(&self, node: &Node) -> Option<Lack> {
        let with = self.taken.get(node.meta.label(&self.topology_key)?)?;
        Some(Lack::AntiAffinity { topology_key: self.topology_key.clone(), with: with.clone() })
    }
}

impl Together {
    fn lack(&self, node: &Node) -> Option<Lack> {
        let there = node.meta.label(&self.topology_key).is_some_and(|d| self.is_first || self.domains.contains(d));
        (!there).then(|| Lack::PodAffinity { topology_key: self.topology_key.clone(), with: self.with.clone() })
    }
}

impl Domains {
    fn lack(&self, node: &Node) -> Option<Lack> {
        let topology_key = self.topology_key.clone();
        let Some(domain) = node.meta.label(&topology_key) else { return Some(Lack::SpreadLabel { topology_key }) };
        let here = self.counts.get(domain).copied().unwrap_or(0);
        let skew = here as i64 + self.own as i64 - self.least as i64;
        (skew > self.max_skew).then(|| Lack::Spread {
            topology_key,
            domain: domain.to_owned(),
            here,
            least: self.least,
            max_skew: self.max_skew,
        })
    }
}

/// The domain of a placed pod, of those of each node; a pod that has ended holds none.
fn domain<'a>(pod: Pod<'_>, nodes: Nodes<'a>, domains: &[Option<&'a str>]) -> Option<&'a str> {
    let ended = matches!(pod.phase(), Phase::Succeeded | Phase::Failed);
    pod.node().filter(|_| !ended).and_then(|n| nodes.position(n)).and_then(|at| domains.get(at).copied().flatten())
}

fn apart(cx: &Cx<'_>, pod: Pod<'_>, term: &PodAffinityTerm, nodes: Nodes<'_>) -> Apart {
    let (mut taken, domains) = (BTreeMap::new(), nodes.labelled(&term.topology_key));
    for other in meant(cx, pod, term) {
        if let Some(domain) = domain(other, nodes, &domains) {
            taken.entry(domain.into()).or_insert_with(|| other.reference());
        }
    }
    Apart { topology_key: term.topology_key.clone(), taken }
}

fn together(cx: &Cx<'_>, pod: Pod<'_>, term: &PodAffinityTerm, nodes: Nodes<'_>) -> Together {
    let domains = nodes.labelled(&term.topology_key);
    let placed: Vec<Pod<'_>> = meant(cx, pod, term).into_iter().filter(|p| p.node().is_some()).collect();
    Together {
        topology_key: term.topology_key.clone(),
        with: term.label_selector.as_ref().map(words).unwrap_or_default(),
        domains: placed.iter().filter_map(|p| domain(*p, nodes, &domains)).map(Into::into).collect(),
        is_first: placed.is_empty() && matches(term, pod),
    }
}

/// Pods of the namespace whose own anti-affinity refuses this pod.
fn refusing(cx: &Cx<'_>, pod: Pod<'_>, nodes: Nodes<'_>) -> Vec<Apart> {
    let mut taken: BTreeMap<Text, BTreeMap<Text, ObjectRef>> = BTreeMap::new();
    let mut known: HashMap<&str, Vec<Option<&str>>> = HashMap::default();
    for other in cx.pods(Some(pod.namespace())).filter(|p| p.node().is_some() && p.name() != pod.name()) {
        let terms = other.spec().affinity.pod_anti_affinity.required.iter();
        for term in terms.filter(|t| t.namespaces.is_empty() && t.namespace_selector.is_none() && matches(t, pod)) {
            let domains = known.entry(&term.topology_key).or_insert_with(|| nodes.labelled(&term.topology_key));
            if let Some(domain) = domain(other, nodes, domains) {
                taken.entry(term.topology_key.clone()).or_default().entry(domain.into()).or_insert_with(|| other.reference());
            }
        }
    }
    taken.into_iter().map(|(topology_key, taken)| Apart { topology_key, taken }).collect()
}

/// Other pods that a term means: in the pod's namespace unless the term names others.
fn meant<'a>(cx: &Cx<'a>, pod: Pod<'_>, term: &PodAffinityTerm) -> Vec<Pod<'a>> {
    let mut namespaces: BTreeSet<&str> = term.namespaces.iter().map(|n| &**n).collect();
    if let Some(selector) = &term.namespace_selector {
        namespaces.extend(cx.all::<Namespace>(None).filter(|n| selector.matches(|k| n.meta.label(k))).map(|n| &*n.meta.name));
    } else if namespaces.is_empty() {
        namespaces.insert(pod.namespace());
    }
    let found = namespaces.into_iter().flat_map(|ns| cx.pods(Some(ns)).collect::<Vec<_>>());
    found.filter(|p| p.uid() != pod.uid() && matches(term, *p)).collect()
}

/// A term without selector matches no pod, one with an empty selector every pod.
fn matches(term: &PodAffinityTerm, pod: Pod<'_>) -> bool {
    term.label_selector.as_ref().is_some_and(|s| s.matches(|k| pod.label(k)))
}

/// Matching pods per domain for every constraint that may keep the pod from a node.
pub(in crate::diagnose) fn domains(cx: &Cx<'_>, pod: Pod<'_>) -> Vec<Domains> {
    let spec = pod.spec();
    let hard: Vec<&Spread> = spec.topology_spread_constraints.iter().filter(|s| &*s.when_unsatisfiable != "ScheduleAnyway").collect();
    if hard.is_empty() {
        return Vec::new();
    }
    let nodes = cx.nodes();
    let labels: Vec<Vec<Option<&str>>> = hard.iter().map(|s| nodes.labelled(&s.topology_key)).collect();
    let parts = nodes.asked(&Questions { spec, volumes: Vec::new() });
    let count = |(s, domains): (&&Spread, &Vec<Option<&str>>)| {
        let counted = |n: &Node| {
            let affinity = &*s.node_affinity_policy == "Ignore" || unmet(n, spec).is_none();
            affinity && (&*s.node_taints_policy != "Honor" || untolerated(n, spec).next().is_none())
        };
        let mut eligible = vec![None; nodes.len()];
        for at in parts.iter().filter(|(n, _)| counted(n)).flat_map(|(_, at)| at.iter()).map(|at| *at as usize) {
            eligible[at] = domains[at].filter(|_| labels.iter().all(|values| values[at].is_some()));
        }
        tally(cx, pod, s, &eligible)
    };
    hard.iter().zip(&labels).map(count).collect()
}

/// Counts by domain, on nodes that have one here.
fn tally(cx: &Cx<'_>, pod: Pod<'_>, spread: &Spread, eligible: &[Option<&str>]) -> Domains {
    let nodes = cx.nodes();
    let mut counts: BTreeMap<Text, usize> = BTreeMap::new();
    for domain in eligible.iter().flatten() {
        if !counts.contains_key(*domain) {
            counts.insert((*domain).into(), 0);
        }
    }
    let same = |p: Pod<'_>| spread.match_label_keys.iter().all(|k| p.label(k) == pod.label(k));
    let meant = |p: Pod<'_>| spread.label_selector.as_ref().is_some_and(|s| s.matches(|k| p.label(k))) && same(p);
    for other in cx.pods(Some(pod.namespace())).filter(|p| p.deleted().is_none() && meant(*p)) {
        if let Some(n) = domain(other, nodes, eligible).and_then(|d| counts.get_mut(d)) {
            *n += 1;
        }
    }
    let enough = spread.min_domains.is_none_or(|m| counts.len() as i64 >= m);
    let least = if enough { counts.values().copied().min().unwrap_or(0) } else { 0 };
    Domains { topology_key: spread.topology_key.clone(), max_skew: spread.max_skew.max(1), counts, least, own: usize::from(meant(pod)) }
}

/// A label selector as people write it.
pub(in crate::diagnose) fn words(selector: &Selector) -> String {
    let labels = selector.match_labels.iter().map(|(k, v)| format!("{k}={v}"));
    let terms = selector.match_expressions.iter().map(|r| {
        let values = r.values.iter().map(|v| &**v).collect::<Vec<_>>().join(", ");
        format!("{} {} {values}", r.key, r.operator).trim_end().to_owned()
    });
    labels.chain(terms).collect::<Vec<_>>().join(", ")
}
