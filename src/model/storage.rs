//! Claims, volumes, classes, attachments.

use super::pack::packed_api;
use super::{Condition, Meta, NodeSelector, Pairs, ResourceNeeds, Resources, Text, Time};

packed_api! {
    pub struct PersistentVolumeClaim {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: ClaimSpec,
        status: ClaimStatus,
    }

    pub struct ClaimSpec {
        /// Absent means the default class, empty means no class: they differ.
        storage_class_name: Option<Text>,
        volume_name: Text,
        access_modes: Vec<Text>,
        resources: ResourceNeeds,
        volume_mode: Text,
    }

    pub struct ClaimStatus {
        phase: Text,
        capacity: Resources,
        conditions: Vec<Condition>,
        allocated_resource_statuses: Pairs,
    }

    pub struct PersistentVolume {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: VolumeSpec,
        status: VolumeStatus,
    }

    pub struct VolumeSpec {
        claim_ref: Option<VolumeClaimRef>,
        node_affinity: VolumeNodeAffinity,
        storage_class_name: Text,
        capacity: Resources,
        access_modes: Vec<Text>,
        csi: Option<super::CsiSource>,
        persistent_volume_reclaim_policy: Text,
        volume_mode: Text,
    }

    pub struct VolumeClaimRef {
        namespace: Text,
        name: Text,
        uid: Text,
    }

    pub struct VolumeNodeAffinity {
        required: Option<NodeSelector>,
    }

    pub struct VolumeStatus {
        phase: Text,
        reason: Text,
        message: Text,
        last_phase_transition_time: Option<Time>,
    }

    pub struct StorageClass {
        #[serde(rename = "metadata")]
        meta: Meta,
        provisioner: Text,
        volume_binding_mode: Text,
        reclaim_policy: Text,
        allow_volume_expansion: bool,
    }

    pub struct VolumeAttachment {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: AttachmentSpec,
        status: AttachmentStatus,
    }

    pub struct AttachmentSpec {
        attacher: Text,
        node_name: Text,
        source: AttachmentSource,
    }

    pub struct AttachmentSource {
        persistent_volume_name: Text,
    }

    pub struct AttachmentStatus {
        attached: bool,
        attach_error: Option<AttachmentError>,
        detach_error: Option<AttachmentError>,
    }

    pub struct AttachmentError {
        time: Option<Time>,
        message: Text,
    }

    #[allow(clippy::upper_case_acronyms)]
    pub struct CSINode {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: CsiNodeSpec,
    }

    pub struct CsiNodeSpec {
        drivers: Vec<CsiNodeDriver>,
    }

    pub struct CsiNodeDriver {
        name: Text,
        allocatable: CsiAllocatable,
    }

    pub struct CsiAllocatable {
        count: Option<i64>,
    }
}

impl StorageClass {
    /// The class that a claim without one gets.
    pub fn is_default(&self) -> bool {
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|key| self.meta.annotation(key) == Some("true"))
    }

    /// Binding waits until a pod that uses the claim is scheduled.
    pub fn waits_for_consumer(&self) -> bool {
        &*self.volume_binding_mode == "WaitForFirstConsumer"
    }
}
