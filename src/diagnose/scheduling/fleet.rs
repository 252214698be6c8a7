//! Fleet: the nodes of a cluster, those that no pod can tell apart taken together. Made once for as long as no node changes, some nodes
//! at a time; none stays open for it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cluster, HashMap, Node, NodeSelector, PersistentVolume, PodSpec, Quantity, Requirement, Text};

use super::place::{ZONES, is_outside, selects};

/// Labels with more values than this are a node's own (its name, an id): nodes that differ in them alone are alike to most pods.
const MOST_VALUES: usize = 64;

/// Which nodes are alike, and what a pod may ask of them.
#[derive(Debug, Default)]
pub(in crate::diagnose) struct Fleet {
    /// Sorted; elsewhere a node is called by its position here.
    names: Vec<Text>,
    /// Nodes with the same taints, labels, cordon and amounts, ascending; sorted by their first.
    classes: Vec<Class>,
    /// Labels that tell nodes of one class apart, with the nodes that have a value.
    own: BTreeMap<Text, Values>,
}

#[derive(Debug)]
struct Class {
    /// What is kept of the first of them.
    first: Node,
    at: Vec<u32>,
}

/// Nodes by the value of one label of their own.
#[derive(Debug, Default)]
struct Values {
    with: HashMap<Text, Vec<u32>>,
    without: Vec<u32>,
}

/// The nodes that a fleet is being made of.
#[derive(Debug, Default)]
pub(in crate::diagnose) struct Muster(Vec<Node>);

impl Muster {
    pub(in crate::diagnose) fn has_begun(&self) -> bool {
        !self.0.is_empty()
    }

    /// Takes in so many nodes more; answers whether there are others.
    pub(in crate::diagnose) fn go_on(&mut self, cluster: &Cluster, nodes: usize) -> bool {
        let before = self.0.len();
        self.0.extend(cluster.each(None, before, outline).take(nodes));
        self.0.len() == before + nodes
    }
}

impl Fleet {
    /// Of all nodes, of which some were mustered before.
    pub(in crate::diagnose) fn of(cluster: &Cluster, Muster(mut nodes): Muster) -> Self {
        nodes.extend(cluster.each(None, nodes.len(), outline));
        let own = own_labels(&nodes);
        let mut alike: HashMap<String, Vec<u32>> = HashMap::default();
        for (at, node) in nodes.iter().enumerate() {
            alike.entry(likeness(node, &own)).or_default().push(at as u32);
        }
        let mut alike: Vec<Vec<u32>> = alike.into_values().collect();
        alike.sort_unstable();
        let class = |at: Vec<u32>| Some(Class { first: nodes.get(*at.first()? as usize)?.clone(), at });
        Self {
            classes: alike.into_iter().filter_map(class).collect(),
            own: own.into_iter().map(|key| (key.into(), Values::of(key, &nodes))).collect(),
            names: nodes.iter().map(|n| n.meta.name.clone()).collect(),
        }
    }
}

/// What a pod may ask of a node whatever runs there: its name and labels, cordon and taints, and what it may hand out.
fn outline(node: &Node) -> Node {
    let mut outline = Node::default();
    outline.meta.name = node.meta.name.clone();
    outline.meta.labels = node.meta.labels.clone();
    outline.spec.unschedulable = node.spec.unschedulable;
    outline.spec.taints = node.spec.taints.clone();
    outline.status.allocatable = node.status.allocatable.clone();
    outline
}

impl Fleet {
    fn position(&self, name: &str) -> Option<u32> {
        self.names.binary_search_by(|known| (**known).cmp(name)).ok().map(|at| at as u32)
    }
}

impl Values {
    fn of(key: &str, nodes: &[Node]) -> Self {
        let mut values = Self::default();
        for (at, node) in nodes.iter().enumerate() {
            match node.meta.label(key) {
                Some(value) => values.with.entry(value.into()).or_default().push(at as u32),
                None => values.without.push(at as u32),
            }
        }
        values
    }
}

fn own_labels(nodes: &[Node]) -> BTreeSet<&str> {
    let mut values: HashMap<&str, BTreeSet<&str>> = HashMap::default();
    for (key, value) in nodes.iter().flat_map(|n| n.meta.labels.iter()) {
        let seen = values.entry(key).or_default();
        if seen.len() <= MOST_VALUES {
            seen.insert(value);
        }
    }
    values.into_iter().filter(|(_, seen)| seen.len() > MOST_VALUES).map(|(key, _)| key).collect()
}

/// Everything of a node that what it lacks may depend on, but for its own labels. Parts begin with their length.
fn likeness(node: &Node, own: &BTreeSet<&str>) -> String {
    let mut text = format!("{}{:?}", node.spec.unschedulable, node.spec.taints);
    let labels = node.meta.labels.iter().filter(|(key, _)| !own.contains(key));
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

    pub(super) fn position(self, name: &str) -> Option<usize> {
        self.fleet.position(name).map(|at| at as usize)
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
        match self.fleet.own.get(key) {
            Some(own) => own.with.keys().map(|value| &**value).collect(),
            None => self.classes().filter_map(|(node, _)| node.meta.label(key)).collect(),
        }
    }

    /// The value of a label of each node, in their order.
    pub(super) fn labelled(self, key: &str) -> Vec<Option<&'a str>> {
        let mut values = vec![None; self.len()];
        let mut fill = |at: &[u32], value: &'a str| at.iter().for_each(|at| values[*at as usize] = Some(value));
        match self.fleet.own.get(key) {
            Some(own) => own.with.iter().for_each(|(value, at)| fill(at, value)),
            None => self.classes().for_each(|(node, at)| node.meta.label(key).into_iter().for_each(|value| fill(at, value))),
        }
        values
    }

    /// The zone of each node, in their order.
    pub fn zones(self) -> Vec<Option<&'a str>> {
        let [zones, former] = ZONES[0].map(|key| self.labelled(key));
        zones.into_iter().zip(former).map(|(zone, former)| zone.or(former)).collect()
    }

    /// One node for all of a class, and which they are.
    pub(super) fn classes(self) -> impl Iterator<Item = (&'a Node, &'a [u32])> {
        self.fleet.classes.iter().map(|class| (&class.first, &*class.at))
    }

    /// The same, with classes taken apart where a pod asks for what is a node's own.
    pub(super) fn asked(self, asked: &Questions<'_>) -> Vec<(&'a Node, Cow<'a, [u32]>)> {
        match self.apart(asked) {
            Some(parts) => parts.into_iter().map(|(node, at)| (node, Cow::Owned(at))).collect(),
            None => self.classes().map(|(node, at)| (node, Cow::Borrowed(at))).collect(),
        }
    }

    /// `None` where no class is to be taken apart.
    fn apart(self, asked: &Questions<'_>) -> Option<Vec<(&'a Node, Vec<u32>)>> {
        let special = asked.special(self.fleet)?;
        let mut parts = Vec::new();
        for class in &self.fleet.classes {
            let mut rest = class.at.clone();
            let mut answers: BTreeMap<Vec<bool>, Vec<u32>> = BTreeMap::new();
            if let Some(special) = &special {
                rest.retain(|at| !special.contains(at));
                let first = rest.first().and_then(|at| self.get(self.name(*at)));
                answers.extend(first.map(|node| (asked.answers(node), rest)));
                rest = class.at.iter().copied().filter(|at| special.contains(at)).collect();
            }
            for at in rest {
                let Some(node) = self.get(self.name(at)) else { continue };
                answers.entry(asked.answers(node)).or_default().push(at);
            }
            for mut at in answers.into_values() {
                at.sort_unstable();
                parts.extend(at.first().and_then(|first| self.get(self.name(*first))).map(|node| (node, at)));
            }
        }
        parts.sort_by(|a, b| a.1.cmp(&b.1));
        Some(parts)
    }
}

impl<'q> Questions<'q> {
    /// Nodes that a question about their own labels names: the others of a class answer alike. The outer `None` where no question
    /// is about such labels, the inner one where every node has to be asked.
    fn special(&self, fleet: &Fleet) -> Option<Option<BTreeSet<u32>>> {
        let own = |key: &str| fleet.own.contains_key(key);
        let selectors = self.selectors();
        let fields = selectors.iter().flat_map(|s| &s.node_selector_terms).flat_map(|t| &t.match_fields);
        let labels = selectors.iter().flat_map(|s| &s.node_selector_terms).flat_map(|t| &t.match_expressions).filter(|r| own(&r.key));
        let fields: Vec<&Requirement> = fields.collect();
        let labels: Vec<&Requirement> = labels.collect();
        let pairs: Vec<(&str, &str)> = self.spec.node_selector.iter().filter(|(k, _)| own(k)).collect();
        let zones = self.volumes.iter().any(|v| v.spec.node_affinity.required.is_none()) && ZONES.iter().flatten().any(|key| own(key));
        if fields.is_empty() && labels.is_empty() && pairs.is_empty() && !zones {
            return None;
        }
        let counts = |r: &&Requirement| matches!(&*r.operator, "Gt" | "Lt");
        if zones || fields.iter().chain(&labels).any(counts) {
            return Some(None);
        }
        let mut special = BTreeSet::new();
        let named = fields.iter().flat_map(|r| &r.values).filter_map(|name| fleet.position(name));
        special.extend(named);
        let asked = labels.iter().flat_map(|r| r.values.iter().map(|v| (&*r.key, &**v))).chain(pairs);
        for (key, value) in asked.chain(labels.iter().map(|r| (&*r.key, ""))) {
            let Some(values) = fleet.own.get(key) else { continue };
            special.extend(values.with.get(value).into_iter().flatten().chain(&values.without));
        }
        Some(Some(special))
    }

    fn selectors(&self) -> Vec<&'q NodeSelector> {
        let of_volumes = self.volumes.iter().filter_map(|v| v.spec.node_affinity.required.as_ref());
        self.spec.affinity.node_affinity.required.iter().chain(of_volumes).collect()
    }

    fn answers(&self, node: &Node) -> Vec<bool> {
        let labels = self.spec.node_selector.iter().map(|(key, value)| node.meta.label(key) == Some(value));
        let required = self.spec.affinity.node_affinity.required.iter().map(|required| selects(required, node));
        labels.chain(required).chain(self.volumes.iter().map(|volume| is_outside(node, volume))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Batch, Delta, Kind, NodeSelectorTerm, Place};

    const COUNT: u32 = 200;

    /// Two zones, a name each, and one node in ten without its hostname.
    fn cluster() -> Cluster {
        let mut batch = Batch::new(Kind::Node);
        for at in 0..COUNT {
            let hostname = if at % 10 == 3 { String::new() } else { format!(r#""kubernetes.io/hostname":"n{at:03}","#) };
            let zone = ["a", "b"][at as usize % 2];
            let node = format!(r#"{{"metadata":{{"name":"n{at:03}","labels":{{{hostname}"topology.kubernetes.io/zone":"{zone}"}}}}}}"#);
            batch.upsert(node.as_bytes());
        }
        let mut cluster = Cluster::default();
        cluster.apply(Delta::Batch { kind: Kind::Node, place: Place::All, epoch: 0, batch });
        cluster
    }

    fn asking(key: &str, operator: &str, values: &[&str]) -> PodSpec {
        let values = values.iter().map(|v| (*v).into()).collect();
        let requirement = Requirement { key: key.into(), operator: operator.into(), values };
        let mut term = NodeSelectorTerm::default();
        if key == "metadata.name" { &mut term.match_fields } else { &mut term.match_expressions }.push(requirement);
        let mut spec = PodSpec::default();
        spec.affinity.node_affinity.required = Some(NodeSelector { node_selector_terms: vec![term] });
        spec
    }

    #[test]
    fn nodes_that_are_taken_together_answer_alike_and_none_is_left_out() {
        let cluster = cluster();
        let mut muster = Muster::default();
        while muster.go_on(&cluster, 30) {}
        let fleet = Fleet::of(&cluster, muster);
        let nodes = Nodes::new(&cluster, &fleet);
        assert_eq!(nodes.classes().count(), 2);
        let hostname = "kubernetes.io/hostname";
        let selecting = PodSpec { node_selector: [(hostname, "n007")].into_iter().collect(), ..PodSpec::default() };
        let specs = [
            selecting,
            asking(hostname, "In", &["n001", "n002", "gone"]),
            asking(hostname, "NotIn", &["n001"]),
            asking(hostname, "Exists", &[]),
            asking(hostname, "DoesNotExist", &[]),
            asking(hostname, "Gt", &["5"]),
            asking("metadata.name", "In", &["n004"]),
            asking("metadata.name", "NotIn", &["n004", "n005"]),
        ];
        for spec in &specs {
            let asked = Questions { spec, volumes: Vec::new() };
            let parts = nodes.apart(&asked).expect("each asks for what is a node's own");
            for (first, at) in &parts {
                let answers = |at: &u32| asked.answers(nodes.get(nodes.name(*at)).expect("it is there"));
                assert!(at.iter().all(|at| answers(at) == asked.answers(first)), "{spec:?}");
            }
            let mut all: Vec<u32> = parts.into_iter().flat_map(|(_, at)| at).collect();
            all.sort_unstable();
            assert_eq!(all, (0..COUNT).collect::<Vec<_>>(), "{spec:?}");
        }
        let anywhere = PodSpec::default();
        assert!(nodes.apart(&Questions { spec: &anywhere, volumes: Vec::new() }).is_none());
    }
}
