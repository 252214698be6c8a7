//! Lack: what one node lacks for one pod, and the smallest change after which the pod would fit.

use crate::model::{ObjectRef, Quantity, Taint, Text};

use super::Obstacle;

/// What a node lacks for a pod.
#[derive(Debug, Clone, PartialEq)]
pub enum Lack {
    Cordoned,
    Taint(Taint),
    /// The part of node selector or node affinity that the node does not meet.
    Selector(String),
    Port {
        port: i64,
        protocol: Text,
        holder: ObjectRef,
    },
    /// Amounts in 10⁻⁹ units. `free` is what other pods leave of `allocatable`; it may be negative.
    Resource {
        name: Text,
        requested: i128,
        free: i128,
        allocatable: i128,
    },
    Pods {
        running: usize,
        allowed: i128,
    },
    /// The volume of a claim is elsewhere: `place` is where.
    Volume {
        claim: String,
        volume: Text,
        place: String,
    },
    /// No pod of those it must be with is in the node's domain.
    PodAffinity {
        topology_key: Text,
        with: String,
    },
    /// A pod that it must not be with, or that does not want it, is in the node's domain.
    AntiAffinity {
        topology_key: Text,
        with: ObjectRef,
    },
    Spread {
        topology_key: Text,
        domain: String,
        here: usize,
        least: usize,
        max_skew: i64,
    },
    SpreadLabel {
        topology_key: Text,
    },
}

/// One node, and everything that it lacks for a pod.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFit {
    pub node: Text,
    pub lacks: Vec<Lack>,
}

impl Lack {
    pub fn obstacle(&self) -> Obstacle {
        match self {
            Self::Cordoned => Obstacle::Cordon,
            Self::Taint(taint) => Obstacle::Taint(Some(taint.to_string().into())),
            Self::Selector(_) => Obstacle::NodeAffinity,
            Self::Port { .. } => Obstacle::Port,
            Self::Resource { name, .. } => Obstacle::Resource(name.clone()),
            Self::Pods { .. } => Obstacle::Pods,
            Self::Volume { .. } => Obstacle::VolumeAffinity,
            Self::PodAffinity { .. } => Obstacle::PodAffinity,
            Self::AntiAffinity { .. } => Obstacle::AntiAffinity,
            Self::Spread { .. } => Obstacle::Spread,
            Self::SpreadLabel { .. } => Obstacle::SpreadLabel,
        }
    }

    /// What would have to be otherwise, to follow `if`.
    pub fn change(&self) -> String {
        match self {
            Self::Cordoned => "it were uncordoned".to_owned(),
            Self::Taint(taint) => format!("{taint} were tolerated"),
            Self::Selector(term) => format!("it had {term}"),
            Self::Port { port, protocol, holder } => format!("{} left port {port}/{protocol}", holder.place()),
            Self::Resource { name, requested, allocatable, .. } if requested > allocatable => {
                format!("it had {} {name}", Quantity::spell(name, *requested))
            }
            Self::Resource { name, requested, free, .. } => format!("{} {name} were free", Quantity::spell(name, requested - free)),
            Self::Pods { .. } => "one pod left it".to_owned(),
            Self::Volume { volume, .. } => format!("{volume} were there"),
            Self::PodAffinity { with, .. } => format!("a pod with {with} ran there"),
            Self::AntiAffinity { with, .. } => format!("{} left", with.place()),
            Self::Spread { max_skew, here, least, .. } => {
                format!("maxSkew were {} instead of {max_skew}", here + 1 - least)
            }
            Self::SpreadLabel { topology_key } => format!("it had the label {topology_key}"),
        }
    }
}

impl NodeFit {
    pub fn fits(&self) -> bool {
        self.lacks.is_empty()
    }

    /// The one change after which the pod would fit there; `None` where it takes more than one, or none.
    pub fn would_fit(&self) -> Option<String> {
        match self.lacks.as_slice() {
            [only] => Some(only.change()),
            _ => None,
        }
    }

    /// How far it is from fitting: 0 where it fits.
    pub fn weight(&self) -> u32 {
        weight(&self.lacks)
    }
}

/// Several resources that are short are one lack of room.
pub(super) fn weight(lacks: &[Lack]) -> u32 {
    let is_resource = |l: &&Lack| matches!(l, Lack::Resource { .. });
    let resources = lacks.iter().filter(is_resource).count() as u32;
    let others: u32 = lacks.iter().filter(|l| !is_resource(l)).map(|l| l.obstacle().weight()).sum();
    others + if resources == 0 { 0 } else { Obstacle::Pods.weight() + resources - 1 }
}

/// The heaviest of several lacks.
pub(super) fn heaviest(lacks: &[Lack]) -> Option<&Lack> {
    lacks.iter().max_by_key(|l| l.obstacle().weight())
}
