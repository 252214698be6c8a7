//! Finalizers: who has to do something before a deleted object goes.

use super::{ROW, claims};
use crate::diagnose::{Cause, ClockKind, Cx, Deleting, Finding, Judge, Key};
use crate::model::{Kind, Node, ObjectRef, PersistentVolume, Seen};

pub(super) const BLOCKED: Cause = Cause {
    id: "finalizer-blocked",
    title: "A finalizer holds a deleted object",
    explanation: "The object was deleted, and stays until each controller named in metadata.finalizers has cleaned up and taken its name out. A controller that is gone never does.",
    told_apart: "Claims in use, namespaces and pods on dead nodes have rows of their own.",
    cure: "Bring back the controller that owns the finalizer; only if it is gone for good, take the finalizer out by hand.",
    judge: Judge::Deleting(blocked),
    ..ROW
};

/// Most controllers are done within a minute.
const USUAL: i64 = 60;

/// Cleaning up something outside of the cluster may take some minutes.
const LONG: i64 = 300;

/// Who takes out the finalizers that Kubernetes itself knows.
const OWNERS: [(&str, &str); 10] = [
    ("foregroundDeletion", "the garbage collector, once all dependents that block it are gone"),
    ("orphan", "the garbage collector"),
    ("kubernetes.io/pv-protection", "the volume controller, once no claim is bound to it"),
    ("kubernetes.io/pvc-protection", "the claim protection controller, once no pod uses it"),
    ("external-attacher/", "the external attacher of that driver"),
    ("external-provisioner.volume.kubernetes.io/", "the external provisioner of that driver"),
    ("batch.kubernetes.io/job-tracking", "the Job controller, once it has counted the pod"),
    ("service.kubernetes.io/load-balancer-cleanup", "the cloud's controller, once the load balancer is gone"),
    ("customresourcecleanup.apiextensions.k8s.io", "the API server, once all objects of the kind are gone"),
    ("resource.kubernetes.io/delete-protection", "the resource claim controller, once nothing uses it"),
];

fn blocked(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<Finding> {
    let meta = deleting.meta();
    if deleting.kind == Kind::Namespace {
        return None;
    }
    let (finalizers, deleted) = if deleting.kind == Kind::Pod {
        of_pod(cx, deleting)?
    } else {
        (meta.finalizers.iter().map(|f| f.to_string()).collect(), meta.deleted)
    };
    let first = finalizers.first()?;
    if !cx.older(deleted, USUAL) {
        return None;
    }
    let root = deleting.reference();
    let lasting = cx.older(deleted, LONG);
    let owner = OWNERS.iter().find(|(name, _)| first.starts_with(name)).map_or_else(|| controller(first), |(_, who)| (*who).to_owned());
    let finding =
        if lasting { Finding::blocked(Key::object(&root), root.clone()) } else { Finding::delayed(Key::object(&root), root.clone()) };
    let mut finding = finding
        .title(format!("{} {} is held by finalizer {first}", root.kind, root.place()))
        .because(format!("it was deleted and stays until {owner} takes {first} out."))
        .next(format!("See whether {owner} runs and what it says of {}; take {first} out by hand only if it is gone for good.", root.name))
        .fact("finalizers", finalizers.join(", "))
        .since(deleted)
        .evidence(root, "metadata.finalizers", format!("finalizers: [{}]", finalizers.join(", ")), deleted);
    if !lasting {
        finding = finding.clock(ClockKind::Provisioning, owner, None);
    }
    finding.waits_on = waits_on(cx, deleting);
    Some(finding)
}

/// A pod is held by its finalizers only once its grace is over, on a node that could have ended it.
fn of_pod(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<(Vec<String>, Option<crate::model::Time>)> {
    let meta = deleting.meta();
    let pod = cx.pod(&meta.namespace, &meta.name)?;
    let dead = pod.node().is_some_and(|n| match cx.get::<Node>("", n) {
        Seen::Is(node) => !node.is_ready(),
        Seen::Absent => true,
        Seen::Unknown => false,
    });
    (!dead).then(|| (pod.finalizers(), pod.deleted()))
}

/// The domain of a finalizer names its controller.
fn controller(finalizer: &str) -> String {
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    format!("the controller of {domain}")
}

/// A volume waits for its claim; a claim for the pods that use it.
fn waits_on(cx: &Cx<'_>, deleting: Deleting<'_>) -> Vec<ObjectRef> {
    let meta = deleting.meta();
    if deleting.kind != Kind::PersistentVolume || meta.finalizers.iter().any(|f| &**f == claims::PROTECTION) {
        return Vec::new();
    }
    let volume = cx.get::<PersistentVolume>("", &meta.name).is();
    let claim = volume.and_then(|v| v.spec.claim_ref.as_ref());
    claim.map(|c| ObjectRef::new("PersistentVolumeClaim", &c.namespace, &c.name)).into_iter().collect()
}
