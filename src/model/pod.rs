//! Pod: the view of one pod that judges see, with Kubernetes' names.

use super::pack::packed_api;
use super::pods::{Pods, Row};
use super::pull::api;
use super::{Condition, ContainerStatus, Meta, ObjectRef, Owner, PodSpec, PodStatus, Text, Time};

/// A pod's uid.
pub type Uid = Text;

/// `status.phase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

impl Phase {
    pub(super) fn of(text: &[u8]) -> Self {
        match text {
            b"Pending" => Self::Pending,
            b"Running" => Self::Running,
            b"Succeeded" => Self::Succeeded,
            b"Failed" => Self::Failed,
            _ => Self::Unknown,
        }
    }

    /// As Kubernetes writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
        }
    }
}

packed_api! {
    /// A pod among objects of other kinds: the rest of it is behind [`Pod`].
    pub struct PodHead {
        #[serde(rename = "metadata")]
        meta: Meta,
    }
}

api! {
    /// A whole pod: what rows and templates put together again.
    pub struct PodObject {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: PodSpec,
        status: PodStatus,
    }
}

/// One pod, borrowed from the cluster.
#[derive(Debug, Clone, Copy)]
pub struct Pod<'a> {
    pods: &'a Pods,
    row: Row<'a>,
}

impl<'a> Pod<'a> {
    pub(super) fn new(pods: &'a Pods, at: u32) -> Option<Self> {
        Some(Self { pods, row: pods.at(at)? })
    }

    pub fn name(self) -> String {
        self.pods.name(self.row)
    }

    pub fn namespace(self) -> &'a str {
        self.pods.namespace(self.row)
    }

    pub fn uid(self) -> Uid {
        self.pods.uid(self.row).into()
    }

    /// `Pod/namespace/name`.
    pub fn reference(self) -> ObjectRef {
        ObjectRef::new("Pod", self.namespace(), &self.name())
    }

    pub fn created(self) -> Option<Time> {
        self.row.created
    }

    /// `deletionTimestamp`: it already contains the grace period.
    pub fn deleted(self) -> Option<Time> {
        self.pods.deleted(self.row)
    }

    pub fn grace(self) -> i64 {
        self.pods.unusual(self.row).map_or(0, |u| u.grace)
    }

    pub fn finalizers(self) -> Vec<String> {
        self.pods.finalizers(self.row)
    }

    pub fn label(self, key: &str) -> Option<&'a str> {
        self.pods.label(self.row, key)
    }

    /// Sorted by key.
    pub fn labels(self) -> Vec<(&'a str, &'a str)> {
        self.pods.labels(self.row)
    }

    /// Short annotations; of a plain pod none is kept.
    pub fn annotation(self, key: &str) -> Option<&'a str> {
        self.pods.unusual(self.row).and_then(|u| u.annotations.get(key))
    }

    /// The owner with `controller: true`, else the only owner.
    pub fn owner(self) -> Option<&'a Owner> {
        self.pods.owner(self.row)
    }

    /// The node it is bound to.
    pub fn node(self) -> Option<&'a str> {
        Some(self.pods.node(self.row)).filter(|n| !n.is_empty())
    }

    /// Its spec holds scheduling gates.
    pub fn is_gated(self) -> bool {
        self.pods.is_gated(self.row)
    }

    pub fn phase(self) -> Phase {
        self.row.phase
    }

    /// The spec, without `nodeName` and without the made-up suffix of the token volume. A plain pod's is that of its siblings: ask
    /// [`PodSpec::claims`] for the names of its claims.
    pub fn spec(self) -> &'a PodSpec {
        self.pods.spec(self.row)
    }

    /// For a plain pod only what follows from its being plain: no times but those in [`Pod::ready_since`] and of last exits.
    pub fn status(self) -> &'a PodStatus {
        self.pods.status(self.row)
    }

    pub fn condition(self, kind: &str) -> Option<&'a Condition> {
        Condition::find(&self.status().conditions, kind)
    }

    /// The condition Ready is True.
    pub fn is_ready(self) -> bool {
        self.row.is_ready()
    }

    /// When Ready changed last.
    pub fn ready_since(self) -> Option<Time> {
        self.row.since
    }

    /// Restarts of all its containers.
    pub fn restarts(self) -> i64 {
        match self.row.restarts {
            u16::MAX => self.container_statuses().map(|(_, s)| s.restart_count).sum(),
            n => i64::from(n),
        }
    }

    /// Init containers first; the flag says whether it is one.
    pub fn container_statuses(self) -> impl Iterator<Item = (ContainerRole, &'a ContainerStatus)> {
        let status = self.status();
        let init = status.init_container_statuses.iter().map(|s| (ContainerRole::Init, s));
        init.chain(status.container_statuses.iter().map(|s| (ContainerRole::App, s)))
    }

    pub fn container_status(self, name: &str) -> Option<&'a ContainerStatus> {
        self.container_statuses().map(|(_, s)| s).find(|s| &*s.name == name)
    }

    /// The whole pod in Kubernetes' own shape, put together from what is kept of it.
    pub fn whole(self) -> PodObject {
        self.pods.whole(self.row)
    }

    /// Running and Ready with every container running and ready, no deletion, no gate, no resize, no disruption; or Succeeded.
    /// Plain pods are not judged.
    pub fn is_plain(self) -> bool {
        self.row.is_plain()
    }
}

/// Which list of the pod a container is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerRole {
    Init,
    App,
}
