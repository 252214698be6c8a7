//! Obstacle: what keeps a pod from a node, one variant a reason of the scheduler; and what the scheduler's words for it mean.

use crate::model::Text;

/// Why a node was refused. Reasons that only the scheduler can tell (devices, volume counts) are here beside those that objects prove.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obstacle {
    /// `spec.unschedulable`.
    Cordon,
    NodeName,
    /// `key: value` as the scheduler writes it up to 1.34.1; later versions only count.
    Taint(Option<Text>),
    /// Node selector, node affinity, or a node that a plugin left out before filtering.
    NodeAffinity,
    Port,
    /// The resource that is short.
    Resource(Text),
    /// `allocatable.pods` is reached.
    Pods,
    /// The node is outside the node affinity of a volume.
    VolumeAffinity,
    PodAffinity,
    AntiAffinity,
    /// One text for both, up to 1.20.
    EitherAffinity,
    Spread,
    /// The node lacks the label that `topologyKey` names.
    SpreadLabel,
    /// No volume to bind for a claim that waits for its consumer.
    NoVolume,
    StorageCapacity,
    VolumeLimit,
    /// A ReadWriteOncePod claim is in use.
    VolumeInUse,
    LostVolume,
    ClaimUnbound,
    ClaimMissing,
    ClaimDeleting,
    /// The claim of a generic ephemeral volume is not made yet.
    ClaimExpected,
    ClassMissing,
    /// Dynamic resource allocation.
    Devices,
    Features,
    Gang,
    /// Words that no version read so far uses.
    Unknown,
}

/// Parts of the scheduler's texts, lower case, old spellings too; the first that occurs decides.
const WORDS: &[(&str, Obstacle)] = &[
    ("unbound immediate", Obstacle::ClaimUnbound),
    ("bound to non-existent", Obstacle::LostVolume),
    ("ephemeral volume controller", Obstacle::ClaimExpected),
    ("storageclass.storage.k8s.io", Obstacle::ClassMissing),
    ("no class for claim", Obstacle::ClassMissing),
    ("failed to find storage class", Obstacle::ClassMissing),
    ("volumebindingmode not set", Obstacle::ClassMissing),
    ("volume node affinity", Obstacle::VolumeAffinity),
    ("persistentvolume's node affinity", Obstacle::VolumeAffinity),
    ("no available volume zone", Obstacle::VolumeAffinity),
    ("available persistent volumes to bind", Obstacle::NoVolume),
    ("enough free storage", Obstacle::StorageCapacity),
    ("max volume count", Obstacle::VolumeLimit),
    ("csi driver is not installed", Obstacle::VolumeLimit),
    ("readwriteoncepod", Obstacle::VolumeInUse),
    ("no available disk", Obstacle::VolumeInUse),
    ("missing required label", Obstacle::SpreadLabel),
    ("topology spread", Obstacle::Spread),
    ("pod affinity/anti-affinity", Obstacle::EitherAffinity),
    ("anti-affinity", Obstacle::AntiAffinity),
    ("pod affinity rules", Obstacle::PodAffinity),
    ("node affinity", Obstacle::NodeAffinity),
    ("affinity terms conflict", Obstacle::NodeAffinity),
    ("node selector", Obstacle::NodeAffinity),
    ("didn't satisfy plugin", Obstacle::NodeAffinity),
    ("requested node name", Obstacle::NodeName),
    ("requested hostname", Obstacle::NodeName),
    ("were unschedulable", Obstacle::Cordon),
    ("unknown conditions", Obstacle::Cordon),
    ("free ports", Obstacle::Port),
    ("too many pods", Obstacle::Pods),
    ("required features", Obstacle::Features),
    ("declared features", Obstacle::Features),
    ("resourceclaim", Obstacle::Devices),
    ("resource claim", Obstacle::Devices),
    ("allocate all claims", Obstacle::Devices),
    ("device class", Obstacle::Devices),
    ("cannot fit resource", Obstacle::Devices),
    ("allocate devices", Obstacle::Devices),
    ("gang", Obstacle::Gang),
    ("pod group", Obstacle::Gang),
    ("pods's workload", Obstacle::Gang),
];

impl Obstacle {
    /// What one reason of the scheduler means, its count cut off.
    pub fn read(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        if let Some(resource) = lower.strip_prefix("insufficient ") {
            // Resource names may hold capitals: they are cut from the text itself.
            let name = text.get(text.len() - resource.len()..).unwrap_or(resource);
            return Self::Resource(name.trim().trim_end_matches('.').into());
        }
        if lower.contains("persistentvolumeclaim \"") {
            let known = [("not found", Self::ClaimMissing), ("being deleted", Self::ClaimDeleting)];
            if let Some((_, obstacle)) = known.into_iter().find(|(words, _)| lower.contains(words)) {
                return obstacle;
            }
        }
        if let Some((_, obstacle)) = WORDS.iter().find(|(words, _)| lower.contains(words)) {
            return obstacle.clone();
        }
        if lower.contains("taint") { Self::Taint(in_braces(text)) } else { Self::Unknown }
    }

    /// Whether objects alone can prove or refute it.
    pub fn is_checkable(&self) -> bool {
        match self {
            Self::Cordon
            | Self::Taint(_)
            | Self::NodeAffinity
            | Self::Port
            | Self::Resource(_)
            | Self::Pods
            | Self::VolumeAffinity
            | Self::PodAffinity
            | Self::AntiAffinity
            | Self::EitherAffinity
            | Self::Spread
            | Self::SpreadLabel => true,
            Self::NodeName
            | Self::NoVolume
            | Self::StorageCapacity
            | Self::VolumeLimit
            | Self::VolumeInUse
            | Self::LostVolume
            | Self::ClaimUnbound
            | Self::ClaimMissing
            | Self::ClaimDeleting
            | Self::ClaimExpected
            | Self::ClassMissing
            | Self::Devices
            | Self::Features
            | Self::Gang
            | Self::Unknown => false,
        }
    }

    /// How far from fitting it leaves a node: room may come back, where a pod may run is somebody's intent.
    /// The node that lacks least tells the cause; of its lacks the heaviest does.
    pub fn weight(&self) -> u32 {
        match self {
            Self::Resource(_) | Self::Pods => 10,
            Self::Port => 11,
            Self::AntiAffinity | Self::EitherAffinity | Self::Spread => 12,
            Self::VolumeLimit | Self::VolumeInUse | Self::StorageCapacity | Self::Devices | Self::Gang => 13,
            Self::Cordon => 14,
            Self::Taint(Some(taint)) if is_trouble(taint) => 14,
            Self::Taint(Some(taint)) if is_role(taint) => 80,
            Self::Taint(_) => 25,
            Self::VolumeAffinity
            | Self::NoVolume
            | Self::LostVolume
            | Self::ClaimUnbound
            | Self::ClaimMissing
            | Self::ClaimDeleting
            | Self::ClaimExpected
            | Self::ClassMissing => 30,
            Self::PodAffinity | Self::SpreadLabel => 40,
            Self::Features => 50,
            Self::NodeAffinity => 60,
            Self::Unknown => 70,
            Self::NodeName => 90,
        }
    }

    /// Room that other pods take.
    pub fn is_room(&self) -> bool {
        self.weight() < Self::Cordon.weight()
    }

    /// The node was meant to be used and is out of service.
    pub fn is_trouble(&self) -> bool {
        self.weight() == Self::Cordon.weight()
    }
}

/// Taints that say that a node is not in service now, by whoever watches over nodes; the key comes first in the text.
fn is_trouble(taint: &str) -> bool {
    const KEYS: &[&str] = &[
        "node.kubernetes.io/",
        "node.cloudprovider.kubernetes.io/",
        "karpenter.sh/unregistered",
        "karpenter.sh/disrupted",
        "karpenter.sh/disruption",
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
    ];
    let key = taint.split([':', '=']).next().unwrap_or(taint);
    KEYS.iter().any(|k| key.starts_with(k)) || ["agent-not-ready", "/not-ready", "/startup"].iter().any(|end| key.ends_with(end))
}

/// Control planes keep others off on purpose.
fn is_role(taint: &str) -> bool {
    taint.starts_with("node-role.kubernetes.io/control-plane") || taint.starts_with("node-role.kubernetes.io/master")
}

fn in_braces(text: &str) -> Option<Text> {
    let (_, rest) = text.split_once('{')?;
    rest.split_once('}').map(|(inside, _)| inside.trim()).filter(|inside| !inside.is_empty()).map(Into::into)
}
