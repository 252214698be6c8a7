//! Fleet: the nodes of a cluster, those that no pod can tell apart taken together. Made once for as long as no node changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{Cluster, Node, NodeSelector, PersistentVolume, PodSpec, Quantity};

use super::place::{ZONES, is_outside, selects};

/// Labels with more values than this are a node's own (its name, an id): nodes that differ in them alone are alike to most pods.
const MOST_VALUES: usize = 64;

/// Which nodes are alike. It holds names alone, so it outlives a look at the cluster.
#[derive(Debug, Default)]
pub(in crate::diagnose) struct Fleet {
    /// Sorted; elsewhere a node is called by its position here.
    names: Vec<Box<str>>,
    /// Nodes with the same taints, labels, cordon and amounts, ascending; sorted by their first.
    classes: Vec<Vec<u32>>,
    /// Labels that tell nodes of one class apart.
    own: BTreeSet<Box<str>>,
}

impl Fleet {
    pub(in crate::diagnose) fn of(cluster: &Cluster) -> Self {
        let nodes: Vec<&Node> = cluster.all::<Node>(None).collect();
        let own = own_labels(&nodes);
        let mut classes: HashMap<String, Vec<u32>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            classes.entry(likeness(node, &own)).or_default().push(at as u32);
        }
        let mut classes: Vec<Vec<u32>> = classes.into_values().collect();
        classes.sort_unstable();
        Self { names: nodes.iter().map(|n| n.meta.name.clone()).collect(), classes, own }
    }
}

fn own_labels(nodes: &[&Node]) -> BTreeSet<Box<str>> {
    let mut values: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (key, value) in nodes.iter().flat_map(|n| &n.meta.labels) {
        let seen = values.entry(key).or_default();
        if seen.len() <= MOST_VALUES {
            seen.insert(value);
        }
    }
    values.into_iter().filter(|(_, seen)| seen.len() > MOST_VALUES).map(|(key, _)| key.into()).collect()
}

/// Everything of a node that what it lacks may depend on, but for its own labels. Parts begin with their length.
fn likeness(node: &Node, own: &BTreeSet<Box<str>>) -> String {
    let mut text = format!("{}{:?}", node.spec.unschedulable, node.spec.taints);
    let labels = node.meta.labels.iter().filter(|(key, _)| !own.contains(&***key)).map(|(key, value)| (&**key, &**value));
    let amounts = node.status.allocatable.iter().map(|(name, amount)| (&**name, amount.text()));
    for (part, (name, value)) in labels.map(|pair| ('l', pair)).chain(amounts.map(|pair| ('a', pair))) {
        text.push(part);
        for word in [name, value] {
            text.push_str(&word.len().to_string());
            text.push(':');
            text.push_str(word);
        }
    }
    text
}

/// All nodes as judges see them.
#[derive(Debug, Clone, Copy)]
pub struct Nodes<'a> {
    cluster: &'a Cluster,
    fleet: &'a Fleet,
}

/// What a pod asks of a node's labels: where nothing of it is about a node's own, nodes of one class answer alike.
pub(super) struct Questions<'a> {
    pub spec: &'a PodSpec,
    pub volumes: Vec<&'a PersistentVolume>,
}

impl<'a> Nodes<'a> {
    pub(in crate::diagnose) fn new(cluster: &'a Cluster, fleet: &'a Fleet) -> Self {
        Self { cluster, fleet }
    }

    pub fn len(self) -> usize {
        self.fleet.names.len()
    }

    pub fn is_empty(self) -> bool {
        self.fleet.names.is_empty()
    }

    pub fn get(self, name: &str) -> Option<&'a Node> {
        self.cluster.get::<Node>("", name).is()
    }

    /// By name.
    pub fn all(self) -> impl Iterator<Item = &'a Node> {
        self.cluster.all::<Node>(None)
    }

    pub(super) fn name(self, at: u32) -> &'a str {
        self.fleet.names.get(at as usize).map_or("", |name| name)
    }

    /// The largest amount of a resource that one node may hand out; of several the one of the last by name.
    pub fn largest(self, resource: &str) -> Option<&'a Quantity> {
        let of = |(node, at): (&'a Node, &'a [u32])| Some((node.status.allocatable.get(resource)?, at.last()));
        self.classes().filter_map(of).max_by_key(|(amount, last)| (amount.nano(), *last)).map(|(amount, _)| amount)
    }

    /// Names of those that something holds for which is the same in a class.
    pub fn names_where(self, holds: impl Fn(&Node) -> bool) -> Vec<&'a str> {
        let mut at: Vec<u32> = self.classes().filter(|(node, _)| holds(node)).flat_map(|(_, at)| at.iter().copied()).collect();
        at.sort_unstable();
        at.into_iter().map(|at| self.name(at)).collect()
    }

    /// Values of a label.
    pub fn values(self, key: &str) -> BTreeSet<&'a str> {
        if self.fleet.own.contains(key) {
            return self.all().filter_map(|n| n.meta.label(key)).collect();
        }
        self.classes().filter_map(|(node, _)| node.meta.label(key)).collect()
    }

    /// One node for all of a class, and which they are.
    pub(super) fn classes(self) -> impl Iterator<Item = (&'a Node, &'a [u32])> {
        self.fleet.classes.iter().filter_map(move |at| Some((self.get(self.name(*at.first()?))?, &**at)))
    }

    /// The same, with classes taken apart where a pod asks for what is a node's own.
    pub(super) fn apart(self, asked: &Questions<'_>) -> Option<Vec<(&'a Node, Vec<u32>)>> {
        if !asked.is_personal(&self.fleet.own) {
            return None;
        }
        let nodes: Vec<&Node> = self.all().collect();
        let mut parts = Vec::new();
        for class in &self.fleet.classes {
            let mut answers: BTreeMap<Vec<bool>, Vec<u32>> = BTreeMap::new();
            for at in class {
                answers.entry(asked.answers(nodes.get(*at as usize)?)).or_default().push(*at);
            }
            parts.extend(answers.into_values().filter_map(|at| Some((*nodes.get(*at.first()? as usize)?, at))));
        }
        parts.sort_by(|a, b| a.1.cmp(&b.1));
        Some(parts)
    }
}

impl Questions<'_> {
    fn is_personal(&self, own: &BTreeSet<Box<str>>) -> bool {
        let asks = |selector: &NodeSelector| {
            let terms = &selector.node_selector_terms;
            terms.iter().any(|t| !t.match_fields.is_empty() || t.match_expressions.iter().any(|r| own.contains(&*r.key)))
        };
        let volume = |v: &&PersistentVolume| match &v.spec.node_affinity.required {
            Some(required) => asks(required),
            None => ZONES.iter().flatten().any(|key| own.contains(*key)),
        };
        self.spec.node_selector.keys().any(|key| own.contains(&**key))
            || self.spec.affinity.node_affinity.required.as_ref().is_some_and(asks)
            || self.volumes.iter().any(volume)
    }

    fn answers(&self, node: &Node) -> Vec<bool> {
        let labels = self.spec.node_selector.iter().map(|(key, value)| node.meta.label(key) == Some(value));
        let required = self.spec.affinity.node_affinity.required.iter().map(|required| selects(required, node));
        labels.chain(required).chain(self.volumes.iter().map(|volume| is_outside(node, volume))).collect()
    }
}
