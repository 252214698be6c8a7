//! Subjects: what is judged. Plain pods and complete workloads are not.

use crate::model::{
    Cluster, Condition, CronJob, DaemonSet, Deployment, Job, Kind, Meta, Object, ObjectRef, Owner, Pod, PodTemplate, ReplicaSet,
    StatefulSet, Text,
};

/// Which object a subject is; the control plane is one subject of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Subject {
    Object(Kind, Text, Text),
    ControlPlane,
}

/// A workload of any kind that makes pods.
#[derive(Debug, Clone, Copy)]
pub enum Workload<'a> {
    Deployment(&'a Deployment),
    StatefulSet(&'a StatefulSet),
    DaemonSet(&'a DaemonSet),
    Job(&'a Job),
    CronJob(&'a CronJob),
    /// Without a Deployment above it; ReplicationControllers look the same.
    ReplicaSet(&'a ReplicaSet),
}

/// An object that is being deleted.
#[derive(Debug, Clone, Copy)]
pub struct Deleting<'a> {
    pub kind: Kind,
    pub object: &'a Object,
}

impl<'a> Deleting<'a> {
    pub fn meta(self) -> &'a Meta {
        self.object.meta()
    }

    pub fn reference(self) -> ObjectRef {
        reference(self.kind, self.object)
    }
}

impl<'a> Workload<'a> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "most kinds make no pods, and a new one that does is a decision of its own")]
    pub fn of(object: &'a Object) -> Option<Self> {
        Some(match object {
            Object::Deployment(o) => Self::Deployment(o),
            Object::StatefulSet(o) => Self::StatefulSet(o),
            Object::DaemonSet(o) => Self::DaemonSet(o),
            Object::Job(o) => Self::Job(o),
            Object::CronJob(o) => Self::CronJob(o),
            Object::ReplicaSet(o) => Self::ReplicaSet(o),
            _ => return None,
        })
    }

    pub fn kind(self) -> Kind {
        match self {
            Self::Deployment(_) => Kind::Deployment,
            Self::StatefulSet(_) => Kind::StatefulSet,
            Self::DaemonSet(_) => Kind::DaemonSet,
            Self::Job(_) => Kind::Job,
            Self::CronJob(_) => Kind::CronJob,
            Self::ReplicaSet(_) => Kind::ReplicaSet,
        }
    }

    pub fn meta(self) -> &'a Meta {
        match self {
            Self::Deployment(o) => &o.meta,
            Self::StatefulSet(o) => &o.meta,
            Self::DaemonSet(o) => &o.meta,
            Self::Job(o) => &o.meta,
            Self::CronJob(o) => &o.meta,
            Self::ReplicaSet(o) => &o.meta,
        }
    }

    pub fn reference(self) -> ObjectRef {
        ObjectRef::new(self.kind().row().name, &self.meta().namespace, &self.meta().name)
    }

    pub fn template(self) -> &'a PodTemplate {
        match self {
            Self::Deployment(o) => &o.spec.template,
            Self::StatefulSet(o) => &o.spec.template,
            Self::DaemonSet(o) => &o.spec.template,
            Self::Job(o) => &o.spec.template,
            Self::CronJob(o) => &o.spec.job_template.spec.template,
            Self::ReplicaSet(o) => &o.spec.template,
        }
    }

    pub fn conditions(self) -> &'a [Condition] {
        match self {
            Self::Deployment(o) => &o.status.conditions,
            Self::StatefulSet(o) => &o.status.conditions,
            Self::DaemonSet(o) => &o.status.conditions,
            Self::Job(o) => &o.status.conditions,
            Self::CronJob(_) => &[],
            Self::ReplicaSet(o) => &o.status.conditions,
        }
    }

    pub fn condition(self, kind: &str) -> Option<&'a Condition> {
        Condition::find(self.conditions(), kind)
    }

    /// Pods it should have now.
    pub fn desired(self) -> i64 {
        match self {
            Self::Deployment(o) => o.desired(),
            Self::StatefulSet(o) => o.desired(),
            Self::DaemonSet(o) => o.desired(),
            Self::Job(o) => o.desired(),
            Self::CronJob(_) => 0,
            Self::ReplicaSet(o) => o.desired(),
        }
    }

    /// Pods it has, ready or not, as its status says.
    pub fn current(self) -> i64 {
        match self {
            Self::Deployment(o) => o.status.replicas,
            Self::StatefulSet(o) => o.status.replicas,
            Self::DaemonSet(o) => o.status.current_number_scheduled,
            Self::Job(o) => o.status.active,
            Self::CronJob(o) => o.status.active.len() as i64,
            Self::ReplicaSet(o) => o.status.replicas,
        }
    }

    pub fn ready(self) -> i64 {
        match self {
            Self::Deployment(o) => o.status.ready_replicas,
            Self::StatefulSet(o) => o.status.ready_replicas,
            Self::DaemonSet(o) => o.status.number_ready,
            Self::Job(o) => o.status.ready,
            Self::CronJob(_) => 0,
            Self::ReplicaSet(o) => o.status.ready_replicas,
        }
    }

    /// `status.observedGeneration`; Jobs and CronJobs have none.
    pub fn observed_generation(self) -> Option<i64> {
        match self {
            Self::Deployment(o) => Some(o.status.observed_generation),
            Self::StatefulSet(o) => Some(o.status.observed_generation),
            Self::DaemonSet(o) => Some(o.status.observed_generation),
            Self::ReplicaSet(o) => Some(o.status.observed_generation),
            Self::Job(_) | Self::CronJob(_) => None,
        }
    }

    /// Nothing is missing, nothing is on its way, nothing is switched off: not judged.
    pub(super) fn is_complete(self) -> bool {
        match self {
            Self::Deployment(o) => o.is_complete(),
            Self::StatefulSet(o) => o.is_complete(),
            Self::DaemonSet(o) => o.is_complete(),
            Self::Job(o) => o.is_complete(),
            Self::CronJob(_) => false,
            Self::ReplicaSet(o) => o.is_complete(),
        }
    }
}

/// The object's name for reports.
pub(super) fn reference(kind: Kind, object: &Object) -> ObjectRef {
    let meta = object.meta();
    if let Object::Other(o) = object {
        return ObjectRef::new(o.kind_name(), &meta.namespace, &meta.name);
    }
    ObjectRef::new(kind.row().name, &meta.namespace, &meta.name)
}

/// What a subject is at present. A pod is looked at as it is kept: most of what is judged are pods.
#[derive(Clone, Copy)]
pub(super) enum Present<'a> {
    ControlPlane,
    Pod(Pod<'a>),
    Object(Kind, &'a Object),
}

impl<'a> Present<'a> {
    /// `None` where it is not there, or not to be judged.
    pub(super) fn of(cluster: &'a Cluster, subject: &Subject) -> Option<Self> {
        match subject {
            Subject::ControlPlane => Some(Self::ControlPlane),
            Subject::Object(Kind::Pod, namespace, name) => {
                cluster.pod(namespace, name).filter(|p| !p.is_plain() || p.restarts() > 0).map(Self::Pod)
            }
            Subject::Object(kind, namespace, name) if cluster.has_well(*kind, namespace, name) => None,
            Subject::Object(kind, namespace, name) => {
                cluster.object(*kind, namespace, name).is().filter(|o| is_subject(*kind, o)).map(|o| Self::Object(*kind, o))
            }
        }
    }

    /// Empty for what is in none.
    pub(super) fn namespace(self) -> &'a str {
        match self {
            Self::ControlPlane => "",
            Self::Pod(pod) => pod.namespace(),
            Self::Object(_, object) => &object.meta().namespace,
        }
    }

    pub(super) fn reference(self) -> ObjectRef {
        match self {
            Self::ControlPlane => ObjectRef::new("Cluster", "", ""),
            Self::Pod(pod) => pod.reference(),
            Self::Object(kind, object) => reference(kind, object),
        }
    }

    /// Who made it.
    pub(super) fn owner(self) -> Option<&'a Owner> {
        match self {
            Self::ControlPlane => None,
            Self::Pod(pod) => pod.owner(),
            Self::Object(_, object) => object.meta().controller(),
        }
    }
}

/// Whether an object that is no pod is to be judged at all.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is no workload and has no line here explains others and is never a subject")]
pub(super) fn is_subject(kind: Kind, object: &Object) -> bool {
    if object.is_well() {
        return false;
    }
    match object {
        _ if object.meta().deleted.is_some() => true,
        Object::PersistentVolumeClaim(_) | Object::PersistentVolume(_) | Object::Node(_) => true,
        Object::Service(_) | Object::HorizontalPodAutoscaler(_) | Object::PodDisruptionBudget(_) => true,
        Object::Namespace(n) => &*n.status.phase == "Terminating",
        Object::APIService(o) => has_bad(&o.status.conditions, &["Available"]),
        Object::CustomResourceDefinition(o) => has_bad(&o.status.conditions, &["Established", "NamesAccepted"]),
        Object::Other(o) => {
            !matches!(kind, Kind::CSIDriver) && has_bad(&o.status.conditions, &["Ready", "Available", "Healthy", "Launched", "Registered"])
        }
        _ => Workload::of(object).is_some_and(|w| !w.is_complete()),
    }
}

/// A condition that is False is not bad by default (Stalled, Reconciling): only these types are good when True.
fn has_bad(conditions: &[Condition], good: &[&str]) -> bool {
    conditions.iter().any(|c| good.contains(&&*c.kind) && !c.is_true())
}
