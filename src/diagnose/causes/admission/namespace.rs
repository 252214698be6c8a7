//! A namespace that is being deleted takes nothing new.

use super::refusal;
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{Namespace, ObjectRef};

pub(super) const TERMINATING: Cause = Cause {
    id: "namespace-terminating",
    title: "The namespace is being deleted",
    explanation: "Nothing can be created in a namespace that is Terminating, and it never becomes active again: it can only vanish. \
                  Controllers stay silent about this refusal, so missing pods are all there is to see.",
    told_apart: "Every other refusal leaves an event FailedCreate; this one leaves none.",
    cure: "Let the namespace go and deploy elsewhere, or under the same name once it is gone.",
    docs: "concepts/overview/working-with-objects/namespaces/",
    judge: Judge::Workload(terminating),
    ..super::ROW
};

fn terminating(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let lacking = workload.desired() - workload.current();
    if lacking <= 0 {
        return None;
    }
    let name = &workload.meta().namespace;
    let root = ObjectRef::new("Namespace", "", name);
    let namespace = cx.get::<Namespace>("", name);
    let deleted = match namespace {
        crate::model::Seen::Is(ns) if ns.meta.deleted.is_some() || &*ns.status.phase == "Terminating" => ns.meta.deleted,
        crate::model::Seen::Is(_) | crate::model::Seen::Absent => return None,
        crate::model::Seen::Unknown => {
            refusal::of(cx, workload).filter(|r| texts::matches(r"because it is being terminated", r.message))?.first
        }
    };
    Some(
        Finding::blocked(Key::object(&root), root.clone())
            .title(format!("namespace {name} is being deleted: nothing can be made in it"))
            .because(format!("{} wants more pods, and namespace {name} is Terminating.", workload.reference().place()))
            .next(format!("Let {name} go and deploy {} elsewhere, or once the namespace is gone.", workload.reference()))
            .since(deleted)
            .missing(lacking)
            .evidence(root.clone(), "status.phase", "Terminating", deleted)
            .waits_on(root),
    )
}
