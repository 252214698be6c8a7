//! KINDS: every kind that is followed, with where the API serves it and how it is read.

use std::borrow::Cow;

use super::pack::{Pack, take};
use super::pull::Pull;
use super::read::Reader;
use super::*;

/// How a kind reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// Listed once, then watched.
    Watch,
    /// Listed again and again: it changes too often, or explains too little, to be watched.
    Poll,
    /// Listed and watched; nothing but metadata is kept.
    Metadata,
    /// Fetched when somebody opens it or a finding names it; read from files.
    OnDemand,
}

/// A row of [`KINDS`].
#[derive(Debug)]
pub struct KindRow {
    pub kind: Kind,
    /// The name that Kubernetes gives it.
    pub name: &'static str,
    pub group: &'static str,
    /// Newest first: the newest that the server offers is taken.
    pub versions: &'static [&'static str],
    pub plural: &'static str,
    pub short: &'static [&'static str],
    pub namespaced: bool,
    /// Without it the diagnosis is coarser, not wrong.
    pub optional: bool,
    pub follow: Follow,
}

macro_rules! kinds {
    ($($kind:ident $(= $name:literal)? as $shape:ident, $group:literal / $($version:literal)|+, $plural:literal [$($short:literal),*], $scope:ident, $need:ident, $follow:ident;)+) => {
        /// A followed kind: an index into [`KINDS`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($kind,)+ }

        /// Every followed kind, in the order in which feeds start.
        pub const KINDS: &[KindRow] = &[$(KindRow {
            kind: Kind::$kind,
            name: kinds!(@name $kind $($name)?),
            group: $group,
            versions: &[$($version),+],
            plural: $plural,
            short: &[$($short),*],
            namespaced: kinds!(@scope $scope),
            optional: kinds!(@need $need),
            follow: Follow::$follow,
        },)+];

        fn pull(kind: Kind, r: &mut Reader<'_>) -> Option<Object> {
            match kind { $(Kind::$kind => $shape::pull(r).map(|o| kinds!(@wrap $shape o)),)+ }
        }

        /// The same by serde.
        #[cfg(test)]
        pub(super) fn second_opinion(kind: Kind, json: &[u8]) -> serde_json::Result<Object> {
            match kind { $(Kind::$kind => serde_json::from_slice::<$shape>(json).map(|o| kinds!(@wrap $shape o)),)+ }
        }
    };
    (@name $kind:ident) => { stringify!($kind) };
    (@name $kind:ident $name:literal) => { $name };
    (@scope Namespaced) => { true };
    (@scope Cluster) => { false };
    (@need Needed) => { false };
    (@need Optional) => { true };
    (@wrap PodHead $o:ident) => { Object::Pod(Box::new($o)) };
    (@wrap $shape:ident $o:ident) => { Object::$shape(Box::new($o)) };
}

macro_rules! objects {
    ($($shape:ident),+ $(,)?) => {
        /// One object as kept, in its own shape.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Object { Pod(Box<PodHead>), $($shape(Box<$shape>),)+ }

        impl Object {
            pub fn meta(&self) -> &Meta {
                match self { Self::Pod(o) => &o.meta, $(Self::$shape(o) => &o.meta,)+ }
            }

            pub(super) fn meta_mut(&mut self) -> &mut Meta {
                match self { Self::Pod(o) => &mut o.meta, $(Self::$shape(o) => &mut o.meta,)+ }
            }
        }

        /// The first byte of a packed object.
        #[derive(Debug, Clone, Copy)]
        enum ShapeNumber { Pod, $($shape,)+ }

        impl Pack for Object {
            fn pack(&self, out: &mut Vec<u8>) {
                match self {
                    Self::Pod(o) => {
                        out.push(ShapeNumber::Pod as u8);
                        o.pack(out);
                    }
                    $(Self::$shape(o) => {
                        out.push(ShapeNumber::$shape as u8);
                        o.pack(out);
                    })+
                }
            }

            fn unpack(input: &mut &[u8]) -> Self {
                let (number, rest) = input.split_first().unwrap_or((&0, &[]));
                *input = rest;
                $(if *number == ShapeNumber::$shape as u8 {
                    return Self::$shape(Box::new(Pack::unpack(input)));
                })+
                Self::Pod(Box::new(Pack::unpack(input)))
            }
        }

        $(impl Shape for $shape {
            fn of(object: &Object) -> Option<&Self> {
                if let Object::$shape(o) = object { Some(o) } else { None }
            }
        })+
    };
}

/// A shape in which objects are kept.
pub trait Shape {
    /// The object, if it has this shape.
    fn of(object: &Object) -> Option<&Self>;
}

/// A shape that belongs to one kind, so that the kind need not be named: `cluster.get::<Node>("", "n1")`.
pub trait Stored: Shape {
    const KIND: Kind;
}

objects!(
    Event,
    Node,
    Namespace,
    Service,
    EndpointSlice,
    Endpoints,
    PersistentVolumeClaim,
    PersistentVolume,
    Marker,
    ServiceAccount,
    ResourceQuota,
    LimitRange,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    StorageClass,
    VolumeAttachment,
    CSINode,
    Lease,
    PriorityClass,
    RuntimeClass,
    WebhookConfiguration,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    APIService,
    CustomResourceDefinition,
    Ingress,
    Other,
);

kinds! {
    Pod as PodHead, "" / "v1", "pods" ["po"], Namespaced, Needed, Watch;
    Node as Node, "" / "v1", "nodes" ["no"], Cluster, Needed, Watch;
    Event as Event, "" / "v1", "events" ["ev"], Namespaced, Needed, Watch;
    Deployment as Deployment, "apps" / "v1", "deployments" ["deploy"], Namespaced, Needed, Watch;
    ReplicaSet as ReplicaSet, "apps" / "v1", "replicasets" ["rs"], Namespaced, Needed, Watch;
    StatefulSet as StatefulSet, "apps" / "v1", "statefulsets" ["sts"], Namespaced, Needed, Watch;
    DaemonSet as DaemonSet, "apps" / "v1", "daemonsets" ["ds"], Namespaced, Needed, Watch;
    Job as Job, "batch" / "v1", "jobs" [], Namespaced, Needed, Watch;
    CronJob as CronJob, "batch" / "v1", "cronjobs" ["cj"], Namespaced, Needed, Watch;
    Lease as Lease, "coordination.k8s.io" / "v1", "leases" [], Namespaced, Needed, Poll;
    Namespace as Namespace, "" / "v1", "namespaces" ["ns"], Cluster, Needed, Watch;
    Service as Service, "" / "v1", "services" ["svc"], Namespaced, Needed, Watch;
    EndpointSlice as EndpointSlice, "discovery.k8s.io" / "v1", "endpointslices" [], Namespaced, Needed, Watch;
    PersistentVolumeClaim as PersistentVolumeClaim, "" / "v1", "persistentvolumeclaims" ["pvc"], Namespaced, Needed, Watch;
    PersistentVolume as PersistentVolume, "" / "v1", "persistentvolumes" ["pv"], Cluster, Needed, Watch;
    StorageClass as StorageClass, "storage.k8s.io" / "v1", "storageclasses" ["sc"], Cluster, Needed, Watch;
    ResourceQuota as ResourceQuota, "" / "v1", "resourcequotas" ["quota"], Namespaced, Optional, Watch;
    LimitRange as LimitRange, "" / "v1", "limitranges" ["limits"], Namespaced, Optional, Watch;
    ServiceAccount as ServiceAccount, "" / "v1", "serviceaccounts" ["sa"], Namespaced, Optional, Watch;
    ConfigMap as Marker, "" / "v1", "configmaps" ["cm"], Namespaced, Optional, Metadata;
    Secret as Marker, "" / "v1", "secrets" [], Namespaced, Optional, Metadata;
    HorizontalPodAutoscaler as HorizontalPodAutoscaler, "autoscaling" / "v2", "horizontalpodautoscalers" ["hpa"], Namespaced, Needed, Watch;
    PodDisruptionBudget as PodDisruptionBudget, "policy" / "v1", "poddisruptionbudgets" ["pdb"], Namespaced, Needed, Watch;
    VolumeAttachment as VolumeAttachment, "storage.k8s.io" / "v1", "volumeattachments" [], Cluster, Needed, Watch;
    CSINode as CSINode, "storage.k8s.io" / "v1", "csinodes" [], Cluster, Needed, Watch;
    CSIDriver as Other, "storage.k8s.io" / "v1", "csidrivers" [], Cluster, Optional, Watch;
    CSIStorageCapacity as Other, "storage.k8s.io" / "v1", "csistoragecapacities" [], Namespaced, Optional, Watch;
    PriorityClass as PriorityClass, "scheduling.k8s.io" / "v1", "priorityclasses" ["pc"], Cluster, Optional, Watch;
    RuntimeClass as RuntimeClass, "node.k8s.io" / "v1", "runtimeclasses" [], Cluster, Optional, Watch;
    ValidatingWebhookConfiguration as WebhookConfiguration, "admissionregistration.k8s.io" / "v1", "validatingwebhookconfigurations" [], Cluster, Optional, Watch;
    MutatingWebhookConfiguration as WebhookConfiguration, "admissionregistration.k8s.io" / "v1", "mutatingwebhookconfigurations" [], Cluster, Optional, Watch;
    ValidatingAdmissionPolicy as ValidatingAdmissionPolicy, "admissionregistration.k8s.io" / "v1", "validatingadmissionpolicies" [], Cluster, Optional, Watch;
    ValidatingAdmissionPolicyBinding as ValidatingAdmissionPolicyBinding, "admissionregistration.k8s.io" / "v1", "validatingadmissionpolicybindings" [], Cluster, Optional, Watch;
    APIService as APIService, "apiregistration.k8s.io" / "v1", "apiservices" [], Cluster, Optional, Watch;
    CustomResourceDefinition as CustomResourceDefinition, "apiextensions.k8s.io" / "v1", "customresourcedefinitions" ["crd", "crds"], Cluster, Optional, Watch;
    ResourceClaim as Other, "resource.k8s.io" / "v1" | "v1beta2" | "v1beta1", "resourceclaims" [], Namespaced, Optional, Watch;
    ResourceSlice as Other, "resource.k8s.io" / "v1" | "v1beta2" | "v1beta1", "resourceslices" [], Cluster, Optional, Watch;
    DeviceClass as Other, "resource.k8s.io" / "v1" | "v1beta2" | "v1beta1", "deviceclasses" [], Cluster, Optional, Watch;
    NodeClaim as Other, "karpenter.sh" / "v1" | "v1beta1", "nodeclaims" [], Cluster, Optional, Watch;
    NodePool as Other, "karpenter.sh" / "v1" | "v1beta1", "nodepools" [], Cluster, Optional, Watch;
    Ingress as Ingress, "networking.k8s.io" / "v1", "ingresses" ["ing"], Namespaced, Optional, Watch;
    IngressClass as Other, "networking.k8s.io" / "v1", "ingressclasses" [], Cluster, Optional, Watch;
    ReplicationController as ReplicaSet, "" / "v1", "replicationcontrollers" ["rc"], Namespaced, Optional, Watch;
    ControllerRevision as Other, "apps" / "v1", "controllerrevisions" [], Namespaced, Optional, OnDemand;
    Endpoints as Endpoints, "" / "v1", "endpoints" ["ep"], Namespaced, Optional, OnDemand;
    Other as Other, "" / "", "" [], Namespaced, Optional, OnDemand;
}

macro_rules! stored {
    ($($shape:ident),+ $(,)?) => { $(impl Stored for $shape { const KIND: Kind = Kind::$shape; })+ };
}

stored!(
    Node,
    Namespace,
    Service,
    EndpointSlice,
    Endpoints,
    PersistentVolumeClaim,
    PersistentVolume,
    ServiceAccount,
    ResourceQuota,
    LimitRange,
    Deployment,
    ReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    StorageClass,
    VolumeAttachment,
    CSINode,
    Lease,
    PriorityClass,
    RuntimeClass,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    APIService,
    CustomResourceDefinition,
    Ingress,
    Event,
);

impl Kind {
    pub fn row(self) -> &'static KindRow {
        &KINDS[self as usize]
    }

    /// The kind that this API version and kind name denote; [`Kind::Other`] where no row covers it.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let group = if group == "events.k8s.io" { "" } else { group };
        KINDS.iter().find(|r| r.name == kind && r.group == group).map_or(Self::Other, |r| r.kind)
    }

    /// The kind that a reference's text names; custom kinds are [`Kind::Other`].
    pub fn named(name: &str) -> Self {
        KINDS.iter().find(|r| r.name == name).map_or(Self::Other, |r| r.kind)
    }
}

/// Groups without a dot and those under `k8s.io` are Kubernetes' own.
pub fn qualified<'k>(api_version: &str, kind: &'k str) -> Cow<'k, str> {
    match api_version.split_once('/') {
        Some((group, _)) if group.contains('.') && !group.ends_with("k8s.io") => format!("{kind}.{group}").into(),
        _ => kind.into(),
    }
}

impl Object {
    /// The metadata of a packed object, which stands in front in every shape.
    pub(super) fn unpack_meta(input: &mut &[u8]) -> Meta {
        *input = input.get(1..).unwrap_or_default();
        if take(input) & 1 == 1 { Meta::unpack(input) } else { Meta::default() }
    }
}

/// The direct reading of a pod, for comparison.
#[cfg(test)]
pub(super) fn read_whole_pod(json: &[u8]) -> Option<PodObject> {
    PodObject::pull(&mut Reader::new(json))
}

/// Reads the object that these bytes begin with: how long it is, and the object if it has a name. `None` when its end is not among
/// them.
pub(super) fn read_first_object(kind: Kind, json: &[u8]) -> Option<(usize, Option<Object>)> {
    let mut r = Reader::new(json);
    let object = pull(kind, &mut r).filter(|o| !o.meta().name.is_empty());
    Some((r.sound_end()?, object))
}

/// Reads one object. A field of the wrong type counts as absent, so that one odd object never blinds a kind;
/// `None` only for bytes that are no object with a name at all.
pub fn read_object(kind: Kind, json: &[u8]) -> Option<Object> {
    let mut r = Reader::new(json);
    pull(kind, &mut r).filter(|o| r.is_at_end() && !o.meta().name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_stands_in_front_of_every_packed_object() {
        let json =
            br#"{"kind":"Thing","apiVersion":"a.b/v1","metadata":{"name":"n","namespace":"s","uid":"u","generation":3,"labels":{"a":"b"},
            "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"v","controller":true}]}}"#;
        for row in KINDS {
            let Some(object) = read_object(row.kind, json).filter(|_| row.kind != Kind::Pod) else { continue };
            let mut packed = Vec::new();
            object.pack(&mut packed);
            assert_eq!(Object::unpack_meta(&mut &*packed), *object.meta(), "{}", row.name);
            assert!(object.meta().controller().is_some_and(|owner| &*owner.name == "d"), "{}", row.name);
        }
    }
}
