//! Survey: every node against one pod. First what its spec and the node's say, then, where that is affordable, what other pods take.

use std::borrow::Cow;

use crate::diagnose::Cx;
use crate::model::{Node, PersistentVolume, PersistentVolumeClaim, Phase, Pod, PodSpec, Quantity};

use super::fleet::{Nodes, Questions};
use super::lack::{heaviest, weight};
use super::neighbours::{Neighbours, Others};
use super::place::{UNSCHEDULABLE, is_cordoned_for, outside, unmet, untolerated};
use super::{Lack, Message, Obstacle, parse};

/// Every node against one pod.
#[derive(Debug)]
pub struct Survey<'a> {
    /// Sorted by their first node. Where `depth` is not [`Depth::All`] some nodes may lack more than is said.
    pub alike: Vec<Alike<'a>>,
    pub nodes: Nodes<'a>,
    pub depth: Depth,
}

/// Nodes that lack the same for the pod.
#[derive(Debug, Clone)]
pub struct Alike<'a> {
    pub lacks: Vec<Lack>,
    nodes: Nodes<'a>,
    /// Never empty, ascending.
    at: Cow<'a, [u32]>,
}

impl<'a> Alike<'a> {
    pub fn count(&self) -> usize {
        self.at.len()
    }

    /// Their names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.at.iter().map(|at| self.nodes.name(*at))
    }

    pub fn first(&self) -> &'a str {
        self.names().next().unwrap_or_default()
    }

    pub fn fits(&self) -> bool {
        self.lacks.is_empty()
    }

    /// How far one of them is from fitting: 0 where it fits.
    pub fn weight(&self) -> u32 {
        weight(&self.lacks)
    }

    /// The heaviest of what they lack.
    pub fn heaviest(&self) -> Option<&Lack> {
        heaviest(&self.lacks)
    }

    pub fn has(&self, obstacle: &Obstacle) -> bool {
        self.lacks.iter().any(|l| l.obstacle() == *obstacle)
    }

    /// One by one.
    fn each(&self) -> impl Iterator<Item = Self> {
        self.at.iter().map(|at| Self { lacks: self.lacks.clone(), nodes: self.nodes, at: Cow::Owned(vec![*at]) })
    }

    fn order(&self) -> Option<u32> {
        self.at.first().copied()
    }
}

/// Names of all of them, sorted.
pub fn names_of<'a>(alike: &[&Alike<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = alike.iter().flat_map(|a| a.names()).collect();
    names.sort_unstable();
    names
}

/// On which nodes other pods were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    All,
    /// On those that nothing else refuses.
    Near,
    /// On none: there are too many. What other pods take is then known by the scheduler's words alone.
    None,
}

/// Nodes whose pods a judge looks at: each one looked at is a reason to judge again when one of its pods changes.
const NEAR: usize = 64;

/// The survey of a judge: bounded, so that one change in a large cluster does not cost a look at all of it.
pub fn survey<'a>(cx: &Cx<'a>, pod: Pod<'a>) -> Survey<'a> {
    with_limit(cx, pod, NEAR)
}

/// The survey of a screen: all of it.
pub(super) fn whole<'a>(cx: &Cx<'a>, pod: Pod<'a>) -> Survey<'a> {
    with_limit(cx, pod, usize::MAX)
}

fn with_limit<'a>(cx: &Cx<'a>, pod: Pod<'a>, limit: usize) -> Survey<'a> {
    let nodes = cx.nodes();
    let asked = Asked::of(cx, pod);
    let alike = asked.alike(nodes);
    let near: usize = alike.iter().filter(|a| a.fits()).map(Alike::count).sum();
    let depth = match (nodes.len() <= limit, near <= limit) {
        (true, _) => Depth::All,
        (false, true) => Depth::Near,
        (false, false) => Depth::None,
    };
    let alike = if depth == Depth::None { alike } else { with_others(cx, pod, &asked, alike, depth) };
    Survey { alike, nodes, depth }
}

/// The same, with what other pods take on nodes that are looked at: these stand for themselves then.
fn with_others<'a>(cx: &Cx<'a>, pod: Pod<'a>, asked: &Asked<'a>, alike: Vec<Alike<'a>>, depth: Depth) -> Vec<Alike<'a>> {
    let neighbours = Neighbours::of(cx, pod, others(pod));
    let mut all = Vec::new();
    for group in alike {
        if depth == Depth::Near && !group.fits() {
            all.push(group);
            continue;
        }
        for mut one in group.each() {
            let Some(node) = one.nodes.get(one.first()) else { continue };
            one.lacks.extend(asked.of_others(cx, node));
            one.lacks.extend(neighbours.lacks(node));
            all.push(one);
        }
    }
    all.sort_by_key(Alike::order);
    all
}

/// Anti-affinity of others is looked at only where the scheduler says so: it makes every pod of the namespace a reason to judge again.
fn others(pod: Pod<'_>) -> Others {
    let message = pod.condition("PodScheduled").map_or("", |c| &*c.message);
    match parse(message) {
        Message::Unfit(u) if u.mentions(|o| matches!(o, Obstacle::AntiAffinity | Obstacle::EitherAffinity)) => Others::MayRefuse,
        Message::Unfit(_) | Message::NoNodes | Message::Other(_) => Others::Ignored,
    }
}

/// What the pod asks of any node, looked up once.
struct Asked<'a> {
    spec: &'a PodSpec,
    /// Resources with the amount in 10⁻⁹ units.
    resources: Vec<(&'a str, i128)>,
    /// Host ports with address and protocol.
    ports: Vec<(i64, &'a str, &'a str)>,
    volumes: Vec<(String, &'a PersistentVolume)>,
}

impl<'a> Asked<'a> {
    fn of(cx: &Cx<'a>, pod: Pod<'a>) -> Self {
        let spec = pod.spec();
        let resources = spec.requested_resources().into_iter().map(|name| (name, spec.requested(name))).filter(|(_, n)| *n > 0);
        let volume = |claim: String| {
            let bound = cx.get::<PersistentVolumeClaim>(pod.namespace(), &claim).is().filter(|c| !c.spec.volume_name.is_empty())?;
            cx.get::<PersistentVolume>("", &bound.spec.volume_name).is().map(|v| (claim, v))
        };
        Self {
            spec,
            resources: resources.collect(),
            ports: host_ports(spec).collect(),
            volumes: spec.claims(&pod.name()).into_iter().filter_map(volume).collect(),
        }
    }

    /// All nodes, by what they lack whatever runs on them.
    fn alike(&self, nodes: Nodes<'a>) -> Vec<Alike<'a>> {
        let questions = Questions { spec: self.spec, volumes: self.volumes.iter().map(|(_, volume)| *volume).collect() };
        let of = |node: &Node, at| Alike { lacks: self.of_itself(node), nodes, at };
        nodes.asked(&questions).into_iter().map(|(node, at)| of(node, at)).collect()
    }

    /// What the node lacks whatever runs on it.
    fn of_itself(&self, node: &Node) -> Vec<Lack> {
        let spec = self.spec;
        let mut lacks = Vec::new();
        let cordoned = is_cordoned_for(node, spec);
        if cordoned {
            lacks.push(Lack::Cordoned);
        }
        let taints = untolerated(node, spec).filter(|t| !(cordoned && &*t.key == UNSCHEDULABLE));
        // The controllers set most taints twice, for scheduling and for running pods: once is enough.
        let mut seen: Vec<&str> = Vec::new();
        for taint in taints {
            if !seen.contains(&&*taint.key) {
                seen.push(&taint.key);
                lacks.push(Lack::Taint(taint.clone()));
            }
        }
        lacks.extend(unmet(node, spec).map(Lack::Selector));
        let elsewhere = |(claim, volume): &(String, &PersistentVolume)| {
            let place = outside(node, volume)?;
            Some(Lack::Volume { claim: claim.clone(), volume: volume.meta.name.clone(), place })
        };
        lacks.extend(self.volumes.iter().filter_map(elsewhere));
        lacks.extend(self.resources.iter().filter_map(|(name, n)| short(name, *n, allocatable(node, name), 0)));
        lacks
    }

    /// What other pods leave too little of.
    fn of_others(&self, cx: &Cx<'a>, node: &Node) -> Vec<Lack> {
        let reserved = cx.reserved_on(&node.meta.name);
        let mut lacks = Vec::new();
        for (name, n) in &self.resources {
            let (all, used) = (allocatable(node, name), reserved.of(name));
            // What no node of this size could hold is said already.
            if *n <= all {
                lacks.extend(short(name, *n, all, used));
            }
        }
        let allowed = node.status.allocatable.get("pods").map(Quantity::value);
        if let Some(allowed) = allowed.filter(|n| reserved.pods as i128 >= *n) {
            lacks.push(Lack::Pods { running: reserved.pods, allowed });
        }
        if !self.ports.is_empty() {
            let there: Vec<Pod<'_>> =
                cx.pods_on(&node.meta.name).into_iter().filter(|p| !matches!(p.phase(), Phase::Succeeded | Phase::Failed)).collect();
            lacks.extend(self.ports.iter().filter_map(|port| taken(port, &there)));
        }
        lacks
    }
}

fn allocatable(node: &Node, resource: &str) -> i128 {
    node.status.allocatable.get(resource).map_or(0, Quantity::nano)
}

fn short(name: &str, requested: i128, allocatable: i128, used: i128) -> Option<Lack> {
    let free = allocatable - used;
    (requested > free).then(|| Lack::Resource { name: name.into(), requested, free, allocatable })
}

/// Host ports of containers and sidecars: port, address, protocol.
pub(in crate::diagnose) fn host_ports(spec: &PodSpec) -> impl Iterator<Item = (i64, &str, &str)> {
    let running = spec.containers.iter().chain(spec.init_containers.iter().filter(|c| c.is_sidecar()));
    running.flat_map(|c| &c.ports).filter(|p| p.host_port > 0).map(|p| {
        let protocol = if p.protocol.is_empty() { "TCP" } else { &*p.protocol };
        (p.host_port, &*p.host_ip, protocol)
    })
}

/// Who holds the port on the node: an address of all zeros means every address.
fn taken(port: &(i64, &str, &str), there: &[Pod<'_>]) -> Option<Lack> {
    let any = |ip: &str| matches!(ip, "" | "0.0.0.0" | "::");
    let same = |other: &(i64, &str, &str)| other.0 == port.0 && other.2 == port.2 && (any(other.1) || any(port.1) || other.1 == port.1);
    let holder = there.iter().find(|p| host_ports(p.spec()).any(|other| same(&other)))?;
    Some(Lack::Port { port: port.0, protocol: port.2.into(), holder: holder.reference() })
}
