//! Layer: where in the chain from manifest to serving pod it stops.

/// The order is that of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    Admission,
    Scheduling,
    Storage,
    Image,
    Init,
    Runtime,
    Readiness,
    Rollout,
    Node,
    Termination,
    ControlPlane,
}

impl Layer {
    pub const ALL: [Self; 11] = [
        Self::Admission,
        Self::Scheduling,
        Self::Storage,
        Self::Image,
        Self::Init,
        Self::Runtime,
        Self::Readiness,
        Self::Rollout,
        Self::Node,
        Self::Termination,
        Self::ControlPlane,
    ];

    /// The word in JSON, filters and the catalogue.
    pub fn id(self) -> &'static str {
        match self {
            Self::Admission => "admission",
            Self::Scheduling => "scheduling",
            Self::Storage => "storage",
            Self::Image => "image",
            Self::Init => "init",
            Self::Runtime => "runtime",
            Self::Readiness => "readiness",
            Self::Rollout => "rollout",
            Self::Node => "node",
            Self::Termination => "termination",
            Self::ControlPlane => "control-plane",
        }
    }

    /// What `kubectl get pods` shows, and the layer.
    pub fn label(self) -> &'static str {
        match self {
            Self::Admission => "Not created · admission",
            Self::Scheduling => "Pending · scheduling",
            Self::Storage => "Pending · storage",
            Self::Image => "Waiting · image",
            Self::Init => "Waiting · init",
            Self::Runtime => "Crashing · runtime",
            Self::Readiness => "Not ready · readiness",
            Self::Rollout => "Stalled · rollout",
            Self::Node => "Unknown · node",
            Self::Termination => "Terminating",
            Self::ControlPlane => "Control plane",
        }
    }

    /// The key that shows this layer alone; the last two have none.
    pub fn number(self) -> Option<u8> {
        match self {
            Self::Termination | Self::ControlPlane => None,
            Self::Admission
            | Self::Scheduling
            | Self::Storage
            | Self::Image
            | Self::Init
            | Self::Runtime
            | Self::Readiness
            | Self::Rollout
            | Self::Node => Some(self as u8 + 1),
        }
    }
}
