//! Claims of StatefulSets, their volumes, and the class of both.

use super::plan::{Maker, Plan, Pod};
use super::rng::Rng;

pub fn claims(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (i, pod) in with_claims(plan).enumerate() {
        let owner = &plan.owners[pod.owner];
        let (uid, volume) = uids(plan, i);
        each(&format!(
            r#"{{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{{"name":"data-{}","namespace":"{}","uid":"{uid}","resourceVersion":"{}","creationTimestamp":"2026-04-01T08:00:00Z","labels":{{"app":"{}"}},"annotations":{{"pv.kubernetes.io/bind-completed":"yes","pv.kubernetes.io/bound-by-controller":"yes","volume.kubernetes.io/selected-node":"{}","volume.kubernetes.io/storage-provisioner":"ebs.csi.aws.com"}},"finalizers":["kubernetes.io/pvc-protection"]}},"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"20Gi"}}}},"volumeName":"{volume}","storageClassName":"fast","volumeMode":"Filesystem"}},"status":{{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{{"storage":"20Gi"}}}}}}"#,
            pod.name,
            plan.namespaces[owner.namespace],
            1_000_000_000 + i,
            owner.app,
            plan.nodes[pod.node]
        ));
    }
}

pub fn volumes(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (i, pod) in with_claims(plan).enumerate() {
        let owner = &plan.owners[pod.owner];
        let (claim, volume) = uids(plan, i);
        each(&format!(
            r#"{{"kind":"PersistentVolume","apiVersion":"v1","metadata":{{"name":"{volume}","uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-04-01T08:00:05Z","annotations":{{"pv.kubernetes.io/provisioned-by":"ebs.csi.aws.com"}},"finalizers":["kubernetes.io/pv-protection"]}},"spec":{{"capacity":{{"storage":"20Gi"}},"csi":{{"driver":"ebs.csi.aws.com","volumeHandle":"vol-{}","fsType":"ext4"}},"accessModes":["ReadWriteOnce"],"claimRef":{{"kind":"PersistentVolumeClaim","namespace":"{}","name":"data-{}","uid":"{claim}","apiVersion":"v1"}},"persistentVolumeReclaimPolicy":"Delete","storageClassName":"fast","volumeMode":"Filesystem","nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"topology.kubernetes.io/zone","operator":"In","values":["{}"]}}]}}]}}}}}},"status":{{"phase":"Bound"}}}}"#,
            Rng::new(plan.seed ^ 0x7076 ^ (i as u64) << 24).uid(),
            1_000_000_000 + i,
            Rng::new(i as u64).hex(17),
            plan.namespaces[owner.namespace],
            pod.name,
            plan.zone(pod.node)
        ));
    }
}

pub fn classes(plan: &Plan, each: &mut dyn FnMut(&str)) {
    each(&format!(
        r#"{{"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":{{"name":"fast","uid":"{}","resourceVersion":"402","creationTimestamp":"2026-03-01T08:00:00Z"}},"provisioner":"ebs.csi.aws.com","parameters":{{"type":"gp3"}},"reclaimPolicy":"Delete","volumeBindingMode":"WaitForFirstConsumer"}}"#,
        Rng::new(plan.seed ^ 0x7363).uid()
    ));
}

fn with_claims(plan: &Plan) -> impl Iterator<Item = &Pod> {
    plan.pods.iter().filter(|pod| plan.owners[pod.owner].maker == Maker::StatefulSet)
}

/// The uid of a claim, and the name of its volume.
fn uids(plan: &Plan, i: usize) -> (String, String) {
    let uid = Rng::new(plan.seed ^ 0x7076_6300 ^ (i as u64) << 24).uid();
    let volume = format!("pvc-{uid}");
    (uid, volume)
}
