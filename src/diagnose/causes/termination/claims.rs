//! Claims that were deleted while pods use them.

use super::ROW;
use crate::diagnose::{Cause, ClockKind, Cx, Deleting, Finding, Judge, Key};
use crate::model::{Kind, Pod};

pub(super) const IN_USE: Cause = Cause {
    id: "pvc-terminating-in-use",
    title: "A deleted claim is still in use",
    explanation: "The claim was deleted, and its finalizer kubernetes.io/pvc-protection holds it for as long as a pod with a node names it, a finished pod too. Its phase goes on saying Bound.",
    told_apart: "The storage has nothing to do with it: this is the protection working.",
    cure: "Delete the pods that use the claim; it goes with the last one.",
    docs: "concepts/storage/persistent-volumes/",
    judge: Judge::Deleting(in_use),
    ..ROW
};

pub(super) const PROTECTION: &str = "kubernetes.io/pvc-protection";

fn in_use(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<Finding> {
    let meta = deleting.meta();
    if deleting.kind != Kind::PersistentVolumeClaim || !meta.finalizers.iter().any(|f| &**f == PROTECTION) || !cx.older(meta.deleted, 30) {
        return None;
    }
    let users: Vec<Pod<'_>> = cx
        .pods(Some(&meta.namespace))
        .filter(|p| p.node().is_some() && p.spec().claims(&p.name()).iter().any(|claim| *claim == *meta.name))
        .collect();
    let first = users.first()?;
    let leaving = users.iter().all(|p| p.deleted().is_some());
    let root = deleting.reference();
    let names = users.iter().take(5).map(|p| p.name()).collect::<Vec<_>>().join(", ");
    let mut finding = Finding::new(
        if leaving { crate::diagnose::Verdict::Delayed } else { crate::diagnose::Verdict::Blocked },
        Key::object(&root),
        root.clone(),
    )
    .title(format!("claim {} is deleted and still used by {names}", root.place()))
    .because(format!("finalizer {PROTECTION} holds the claim until the last pod that names it is gone: {names}."))
    .next(format!("Delete {names} if the claim shall go, or leave it: the claim works until then."))
    .fact("usedBy", &names)
    .fact("finalizer", PROTECTION)
    .since(meta.deleted)
    .evidence(root, "metadata.finalizers", format!("finalizers: [{}]", meta.finalizers.join(", ")), meta.deleted)
    .evidence(first.reference(), "spec.volumes[].persistentVolumeClaim.claimName", &*meta.name, None);
    finding.waits_on = users.iter().filter(|p| p.deleted().is_some()).map(|p| p.reference()).collect();
    Some(if leaving { finding.clock(ClockKind::Grace, "pods that end", users.iter().filter_map(|p| p.deleted()).max()) } else { finding })
}
