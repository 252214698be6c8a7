//! Mounting: a bound pod whose volumes the kubelet is still to bring, what it said last about them, and which claim a text means.

use crate::diagnose::{Cx, Finding, Key};
use crate::model::{Event, ObjectRef, PersistentVolume, PersistentVolumeClaim, Phase, Pod, StorageClass, Time};

/// A pod that has a node and no sandbox yet.
pub(super) struct Mounting<'a> {
    pub pod: Pod<'a>,
    pub node: &'a str,
    pub workload: ObjectRef,
    pub since: Option<Time>,
    /// The newest word about its volumes.
    pub event: Option<&'a Event>,
}

/// Reasons under which volumes are spoken of.
const ABOUT_VOLUMES: &[&str] = &["FailedMount", "FailedAttachVolume", "FailedMapVolume", "VolumePermissionChangeInProgress"];
/// Reasons that come only after all volumes are there.
const LATER: &[&str] = &["Pulling", "Pulled", "Created", "Started", "Failed", "BackOff", "FailedCreatePodSandBox"];

/// What a volume of a pod is, as far as objects tell.
pub(super) struct Backing<'a> {
    pub claim: Option<&'a PersistentVolumeClaim>,
    pub volume: Option<&'a PersistentVolume>,
    pub name: String,
}

impl<'a> Mounting<'a> {
    /// The pod, if the kubelet has it and volumes may be what it waits for.
    pub(super) fn of(cx: &Cx<'a>, pod: Pod<'a>) -> Option<Self> {
        let node = pod.node()?;
        let beyond =
            ["PodReadyToStartContainers", "PodHasNetwork"].iter().any(|c| pod.condition(c).is_some_and(crate::model::Condition::is_true));
        let waits = |reason: &str| matches!(reason, "" | "ContainerCreating" | "PodInitializing");
        let begun = pod.container_statuses().any(|(_, s)| {
            s.state.running.is_some()
                || s.state.terminated.is_some()
                || s.restart_count > 0
                || !s.state.waiting.as_ref().is_none_or(|w| waits(&w.reason))
        });
        if pod.deleted().is_some() || pod.phase() != Phase::Pending || beyond || begun {
            return None;
        }
        let event = cx.newest_event(&pod.reference(), ABOUT_VOLUMES);
        let later = cx.newest_event(&pod.reference(), LATER).and_then(|e| e.last);
        if later > event.and_then(|e| e.last) {
            return None;
        }
        let since = pod.condition("PodScheduled").and_then(|c| c.last_transition_time).or(pod.status().start_time).or(pod.created());
        Some(Self { pod, node, workload: cx.workload_of(pod), since, event })
    }

    /// A finding with what all of them show: node, since when, the newest word.
    pub(super) fn finish(&self, finding: Finding) -> Finding {
        let finding = finding.fact("node", self.node).since(self.since);
        match self.event {
            Some(event) => finding.event(self.pod.reference(), event),
            None => finding,
        }
    }

    /// The claims of the pod with their volumes, as far as they may be read.
    pub(super) fn backings(&self, cx: &Cx<'a>) -> Vec<Backing<'a>> {
        let of = |name: String| {
            let claim = cx.get::<PersistentVolumeClaim>(self.pod.namespace(), &name).is();
            let volume =
                claim.filter(|c| !c.spec.volume_name.is_empty()).and_then(|c| cx.get::<PersistentVolume>("", &c.spec.volume_name).is());
            Backing { claim, volume, name }
        };
        self.pod.spec().claims(&self.pod.name()).into_iter().map(of).collect()
    }

    /// The claim that a text means by a volume's name: texts about attaching name the PersistentVolume, others the pod's volume.
    pub(super) fn claim_named(&self, cx: &Cx<'a>, volume: &str) -> Option<ObjectRef> {
        let by_volume = self.backings(cx).into_iter().find(|b| b.claim.is_some_and(|c| &*c.spec.volume_name == volume)).map(|b| b.name);
        let spec = self.pod.spec();
        let in_pod = || {
            spec.volumes
                .iter()
                .find(|v| &*v.name == volume)
                .and_then(|v| v.persistent_volume_claim.as_ref())
                .map(|c| c.of(&self.pod.name()))
        };
        by_volume.or_else(in_pod).map(|name| ObjectRef::new("PersistentVolumeClaim", self.pod.namespace(), &name))
    }

    /// Key, wider key and root: the claim and its class where the volume has one, else the workload.
    pub(super) fn keyed(&self, cx: &Cx<'_>, claim: Option<ObjectRef>, make: fn(Key, ObjectRef) -> Finding) -> Finding {
        let Some(claim) = claim else { return make(Key::object(&self.workload), self.workload.clone()) };
        let mut finding = make(Key::object(&claim), claim.clone()).fact("claim", claim.place());
        let Some(known) = cx.get::<PersistentVolumeClaim>(&claim.namespace, &claim.name).is() else { return finding };
        if &*known.status.phase != "Bound" || known.meta.deleted.is_some() {
            finding = finding.waits_on(claim);
        }
        match known.spec.storage_class_name.as_deref() {
            Some(class) if !class.is_empty() => finding.wider(Key::object(&ObjectRef::new("StorageClass", "", class))),
            _ => finding,
        }
    }
}

/// The StorageClass's provisioner is the driver, unless the volume says.
pub(super) fn driver(cx: &Cx<'_>, backing: &Backing<'_>) -> Option<String> {
    let by_volume = backing.volume.and_then(|v| v.spec.csi.as_ref()).map(|c| c.driver.to_string());
    let class = || backing.claim.and_then(|c| c.spec.storage_class_name.as_deref()).and_then(|c| cx.get::<StorageClass>("", c).is());
    by_volume.or_else(|| class().map(|c| c.provisioner.to_string()))
}
