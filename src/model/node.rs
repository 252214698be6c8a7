//! Nodes and their leases.

use super::pack::packed_api;
use super::{Condition, Meta, Resources, Text, Time};

packed_api! {
    pub struct Node {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: NodeSpec,
        status: NodeStatus,
    }

    pub struct NodeSpec {
        unschedulable: bool,
        taints: Vec<Taint>,
        #[serde(rename = "podCIDR")]
        pod_cidr: Text,
        #[serde(rename = "providerID")]
        provider_id: Text,
    }

    pub struct Taint {
        key: Text,
        value: Text,
        effect: Text,
        time_added: Option<Time>,
    }

    pub struct NodeStatus {
        allocatable: Resources,
        capacity: Resources,
        conditions: Vec<Condition>,
        node_info: NodeInfo,
        volumes_attached: Vec<AttachedVolume>,
        volumes_in_use: Vec<Text>,
    }

    pub struct NodeInfo {
        kubelet_version: Text,
        architecture: Text,
        operating_system: Text,
        container_runtime_version: Text,
    }

    pub struct AttachedVolume {
        name: Text,
    }

    /// `coordination.k8s.io` Lease.
    pub struct Lease {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: LeaseSpec,
    }

    pub struct LeaseSpec {
        holder_identity: Text,
        lease_duration_seconds: i64,
        renew_time: Option<Time>,
        acquire_time: Option<Time>,
        lease_transitions: i64,
    }
}

impl std::fmt::Display for Taint {
    /// `key=value:Effect`, or `key:Effect` without a value: as kubectl writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}

impl Node {
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        Condition::find(&self.status.conditions, kind)
    }

    /// `Ready=True`.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(Condition::is_true)
    }

    /// Ready, in service, and without any other condition that is not False: there is nothing to say of it.
    pub fn is_well(&self) -> bool {
        let pressure = |c: &Condition| !matches!(&*c.kind, "Ready") && !matches!(&*c.status, "False");
        self.is_ready() && !self.spec.unschedulable && self.spec.taints.is_empty() && !self.status.conditions.iter().any(pressure)
    }
}
