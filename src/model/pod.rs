//! Pod: the view of one pod that judges see, with Kubernetes' names.

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

api! {
    /// A pod as stored.
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
    pod: &'a PodObject,
}

impl<'a> Pod<'a> {
    pub(super) fn new(pod: &'a PodObject) -> Self {
        Self { pod }
    }

    pub fn name(self) -> String {
        self.pod.meta.name.to_string()
    }

    pub fn namespace(self) -> &'a str {
        &self.pod.meta.namespace
    }

    pub fn uid(self) -> Uid {
        self.pod.meta.uid.clone()
    }

    /// `Pod/namespace/name`.
    pub fn reference(self) -> ObjectRef {
        ObjectRef::new("Pod", self.namespace(), &self.name())
    }

    pub fn created(self) -> Option<Time> {
        self.pod.meta.created
    }

    /// `deletionTimestamp`: it already contains the grace period.
    pub fn deleted(self) -> Option<Time> {
        self.pod.meta.deleted
    }

    pub fn grace(self) -> i64 {
        self.pod.meta.grace
    }

    pub fn finalizers(self) -> Vec<String> {
        self.pod.meta.finalizers.iter().map(|f| f.to_string()).collect()
    }

    pub fn label(self, key: &str) -> Option<&'a str> {
        self.pod.meta.label(key)
    }

    pub fn labels(self) -> Vec<(&'a str, &'a str)> {
        self.pod.meta.labels.iter().map(|(k, v)| (&**k, &**v)).collect()
    }

    pub fn annotation(self, key: &str) -> Option<&'a str> {
        self.pod.meta.annotation(key)
    }

    /// The owner with `controller: true`.
    pub fn owner(self) -> Option<&'a Owner> {
        self.pod.meta.controller()
    }

    /// The node it is bound to.
    pub fn node(self) -> Option<&'a str> {
        Some(&*self.pod.spec.node_name).filter(|n| !n.is_empty())
    }

    pub fn phase(self) -> Phase {
        match &*self.pod.status.phase {
            "Pending" => Phase::Pending,
            "Running" => Phase::Running,
            "Succeeded" => Phase::Succeeded,
            "Failed" => Phase::Failed,
            _ => Phase::Unknown,
        }
    }

    pub fn spec(self) -> &'a PodSpec {
        &self.pod.spec
    }

    /// For a plain pod only what follows from its being plain.
    pub fn status(self) -> &'a PodStatus {
        &self.pod.status
    }

    pub fn condition(self, kind: &str) -> Option<&'a Condition> {
        Condition::find(&self.pod.status.conditions, kind)
    }

    /// The condition Ready is True.
    pub fn is_ready(self) -> bool {
        self.condition("Ready").is_some_and(Condition::is_true)
    }

    /// Restarts of all its containers.
    pub fn restarts(self) -> i64 {
        self.container_statuses().map(|(_, s)| s.restart_count).sum()
    }

    /// Init containers first; the flag says whether it is one.
    pub fn container_statuses(self) -> impl Iterator<Item = (ContainerRole, &'a ContainerStatus)> {
        let init = self.pod.status.init_container_statuses.iter().map(|s| (ContainerRole::Init, s));
        init.chain(self.pod.status.container_statuses.iter().map(|s| (ContainerRole::App, s)))
    }

    pub fn container_status(self, name: &str) -> Option<&'a ContainerStatus> {
        self.container_statuses().map(|(_, s)| s).find(|s| &*s.name == name)
    }

    /// Running and Ready with every container running and ready, no deletion, no gate, no resize; or Succeeded.
    /// Plain pods are not judged.
    pub fn is_plain(self) -> bool {
        let status = &self.pod.status;
        if self.pod.meta.deleted.is_some() || !self.pod.spec.scheduling_gates.is_empty() || !status.resize.is_empty() {
            return false;
        }
        match self.phase() {
            Phase::Succeeded => true,
            Phase::Running => self.is_ready() && status.container_statuses.iter().all(|c| c.ready && c.state.running.is_some()),
            Phase::Pending | Phase::Failed | Phase::Unknown => false,
        }
    }
}

/// Which list of the pod a container is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerRole {
    Init,
    App,
}
