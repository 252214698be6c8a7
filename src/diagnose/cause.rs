//! Cause: one row of the table of known reasons, and the shape of its judge.

use super::{Cx, Deleting, Finding, Layer, Workload};
use crate::model::{HorizontalPodAutoscaler, Kind, Node, Object, PersistentVolumeClaim, Pod, PodDisruptionBudget, Service};

/// One known reason. Rows are data: what the program says about a cause comes from here and from its findings.
#[derive(Debug)]
pub struct Cause {
    /// Stable, kebab-case, that of the catalogue.
    pub id: &'static str,
    pub layer: Layer,
    pub stage: Stage,
    /// Matches a whole family: asked only when no specific row of the stage found anything.
    pub generic: bool,
    /// A consequence as soon as something else holds the same workload up; a blocker of its own only without.
    pub symptom: bool,
    pub title: &'static str,
    /// What it means and how Kubernetes shows it.
    pub explanation: &'static str,
    /// How it differs from what looks alike.
    pub told_apart: &'static str,
    pub cure: &'static str,
    /// A page of the Kubernetes documentation, below `https://kubernetes.io/docs/`.
    pub docs: &'static str,
    /// Kinds without which it cannot be told: while one is loading the cause is silent.
    pub needs: &'static [Kind],
    /// Seconds for which a blocker stays on screen as *clearing* after it is gone.
    pub clears: u32,
    pub judge: Judge,
}

/// The order in which a subject is judged (catalogue, 0.3). The first stage that finds something ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// deletionTimestamp is set.
    Deleting,
    /// Its node is not Ready: container statuses are frozen.
    Node,
    /// phase=Failed with a reason.
    Ended,
    /// Not bound to a node.
    Unscheduled,
    /// Bound, sandbox not ready: volumes, sandbox, network.
    Starting,
    /// The first init container that is not finished.
    Init,
    /// Waiting, crashing or ended containers.
    Containers,
    /// Running, not Ready.
    Readiness,
    /// No pod where one should be.
    Creation,
    /// Pods are fine, the workload is not complete.
    Rollout,
    /// What belongs to no workload.
    Cluster,
}

impl Stage {
    pub const ALL: [Self; 11] = [
        Self::Deleting,
        Self::Node,
        Self::Ended,
        Self::Unscheduled,
        Self::Starting,
        Self::Init,
        Self::Containers,
        Self::Readiness,
        Self::Creation,
        Self::Rollout,
        Self::Cluster,
    ];
}

/// What a row judges. A judge sees the cluster through [`Cx`] alone.
#[derive(Debug, Clone, Copy)]
pub enum Judge {
    /// Pods that are not plain, and pods that restarted.
    Pod(fn(&Cx<'_>, Pod<'_>) -> Option<Finding>),
    /// The same for rows that are told apart in one look: it names the row. It stands at one of them, the others say [`Judge::By`].
    Pods(fn(&Cx<'_>, Pod<'_>) -> Option<(&'static str, Finding)>),
    /// Found by the judge of the row with this id.
    By(&'static str),
    /// Workloads that are incomplete, paused, suspended or scaled to 0; a ReplicaSet only without a Deployment.
    Workload(fn(&Cx<'_>, Workload<'_>) -> Option<Finding>),
    /// Claims that are not bound.
    Claim(fn(&Cx<'_>, &PersistentVolumeClaim) -> Option<Finding>),
    /// Nodes that are cordoned or not plainly Ready.
    Node(fn(&Cx<'_>, &Node) -> Option<Finding>),
    Service(fn(&Cx<'_>, &Service) -> Option<Finding>),
    Autoscaler(fn(&Cx<'_>, &HorizontalPodAutoscaler) -> Option<Finding>),
    Budget(fn(&Cx<'_>, &PodDisruptionBudget) -> Option<Finding>),
    /// Objects that are being deleted, namespaces and pods among them.
    Deleting(fn(&Cx<'_>, Deleting<'_>) -> Option<Finding>),
    /// Every other followed object whose conditions or phase say that something is wrong.
    Object(fn(&Cx<'_>, &Object) -> Option<Finding>),
    /// The control plane as a whole: leases, webhooks, what may not be read.
    ControlPlane(fn(&Cx<'_>) -> Vec<Finding>),
}
