//! Namespaces that do not go, by what their conditions say.

use super::ROW;
use crate::diagnose::{Cause, ClockKind, Cx, Deleting, Finding, Judge, Key, texts};
use crate::model::{Condition, KINDS, Kind, Namespace, ObjectRef, Other};

pub(super) const DISCOVERY: Cause = Cause {
    id: "namespace-discovery-failed",
    title: "A namespace cannot be deleted: an API group does not answer",
    explanation: "To empty a namespace the controller asks every API group for its kinds. One does not answer, so it never knows that it is done. Everything else may be gone already.",
    told_apart: "Nothing in the namespace holds it; the trouble is cluster-wide and stops the deletion of every namespace.",
    cure: "Repair or delete the APIService of that group. Do not take the namespace's own finalizer out.",
    docs: "tasks/extend-kubernetes/configure-aggregation-layer/",
    judge: Judge::Deleting(discovery),
    ..ROW
};

pub(super) const FAILED: Cause = Cause {
    id: "namespace-content-failed",
    title: "A namespace cannot be deleted: its content is refused deletion",
    explanation: "Deleting what is in the namespace fails: a webhook refuses or does not answer, a conversion fails.",
    told_apart: "*unexpected items still remain* is normal for some seconds while objects end.",
    cure: "Repair what the message names.",
    docs: "concepts/overview/working-with-objects/namespaces/",
    judge: Judge::Deleting(failed),
    ..ROW
};

pub(super) const FINALIZERS: Cause = Cause {
    id: "namespace-finalizers-remaining",
    title: "A namespace cannot be deleted: finalizers hold its content",
    explanation: "Objects in the namespace were deleted and wait for the controllers that their finalizers name. Often such a controller went first, with the namespace.",
    told_apart: "The namespace's own finalizer is not the trouble.",
    cure: "Bring the controller back, or take its finalizer out of the objects that are left.",
    judge: Judge::Deleting(finalizers),
    ..ROW
};

pub(super) const REMAINING: Cause = Cause {
    id: "namespace-content-remaining",
    title: "A namespace cannot be deleted: something is left in it",
    explanation: "The namespace waits until everything in it is gone; the condition counts what is left.",
    told_apart: "Where finalizers hold the rest, namespace-finalizers-remaining says which.",
    cure: "Look at what is left: its finalizers, or for pods their nodes.",
    docs: "concepts/overview/working-with-objects/namespaces/",
    judge: Judge::Deleting(remaining),
    ..ROW
};

/// Seconds within which an ordinary namespace empties itself.
const USUAL: i64 = 120;

/// Objects named in one finding.
const MOST: usize = 5;

/// The condition, if it says that something is wrong. For namespaces True is bad.
fn condition<'a>(cx: &Cx<'a>, deleting: Deleting<'_>, kind: &str) -> Option<&'a Condition> {
    if deleting.kind != Kind::Namespace {
        return None;
    }
    let namespace = cx.get::<Namespace>("", &deleting.meta().name).is()?;
    Condition::find(&namespace.status.conditions, kind).filter(|c| c.is_true())
}

fn base(cx: &Cx<'_>, deleting: Deleting<'_>, condition: &Condition) -> Finding {
    let root = deleting.reference();
    let since = condition.last_transition_time.or(deleting.meta().deleted);
    let kind = if cx.older(since, USUAL) { Finding::blocked } else { Finding::delayed };
    let path = format!("status.conditions[type={}].message", condition.kind);
    let mut finding = kind(Key::object(&root), root.clone()).since(since).evidence(root, path, &*condition.message, since);
    let left = left(cx, &deleting.meta().name);
    if !left.is_empty() {
        finding = finding.fact("left", left.iter().take(MOST).map(ToString::to_string).collect::<Vec<_>>().join(", "));
    }
    finding.waits_on = left;
    finding.clock(ClockKind::Retry, "namespace controller", None)
}

/// Objects in the namespace that were deleted and are held, as far as they are known.
fn left(cx: &Cx<'_>, namespace: &str) -> Vec<ObjectRef> {
    let mut all = Vec::new();
    for row in KINDS.iter().filter(|row| row.namespaced && !matches!(row.kind, Kind::Event)) {
        for object in cx.objects(row.kind, Some(namespace)).filter(|o| o.meta().deleted.is_some()) {
            let kind = kind_of(object, row.name);
            all.push(ObjectRef::new(kind, namespace, &object.meta().name));
        }
    }
    all
}

fn kind_of(object: &crate::model::Object, name: &'static str) -> std::borrow::Cow<'static, str> {
    if let crate::model::Object::Other(other) = object { Other::kind_name(other).into() } else { name.into() }
}

fn discovery(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<Finding> {
    let condition = condition(cx, deleting, "NamespaceDeletionDiscoveryFailure")?;
    let name = &deleting.meta().name;
    let group = texts::capture(r"([a-z0-9.-]+\.[a-z0-9.-]+/v\w+)", &condition.message);
    let api = group.and_then(|g| g.split_once('/')).map(|(group, version)| ObjectRef::new("APIService", "", &format!("{version}.{group}")));
    let what = group.unwrap_or("an API group");
    let by = api.as_ref().map_or_else(|| "its APIService".to_owned(), ToString::to_string);
    let mut finding = base(cx, deleting, condition)
        .title(format!("namespace {name} cannot be deleted: {what} does not answer"))
        .because(format!("the namespace controller cannot list the kinds of {what}, so it cannot know that {name} is empty."))
        .next(format!("Repair or delete {by}; namespace {name} goes by itself then."))
        .fact("group", what);
    finding.waits_on.extend(api);
    Some(finding)
}

fn failed(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<Finding> {
    let condition = condition(cx, deleting, "NamespaceDeletionContentFailure")?;
    let error = texts::capture(r"remaining: (.+)$", &condition.message).unwrap_or(&condition.message);
    if error.contains("unexpected items still remain") {
        return None;
    }
    let name = &deleting.meta().name;
    Some(
        base(cx, deleting, condition)
            .title(format!("namespace {name} cannot be deleted: its content is refused deletion"))
            .because(format!("deleting what is in {name} fails: {error}."))
            .next("Repair what the message names; the controller tries again by itself.")
            .fact("error", error),
    )
}

fn finalizers(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<Finding> {
    let condition = condition(cx, deleting, "NamespaceFinalizersRemaining")?;
    let list = texts::capture(r"remaining: (.+)$", &condition.message).unwrap_or(&condition.message);
    let name = &deleting.meta().name;
    let finding = base(cx, deleting, condition)
        .title(format!("namespace {name} cannot be deleted: finalizers hold its content"))
        .because(format!("objects in {name} wait for the controllers of their finalizers: {list}."))
        .next(format!("Bring the controller of that finalizer back, or take it out of the objects left in {name}."))
        .fact("finalizers", list);
    Some(counted(cx, deleting, finding))
}

fn remaining(cx: &Cx<'_>, deleting: Deleting<'_>) -> Option<Finding> {
    let condition = condition(cx, deleting, "NamespaceContentRemaining")?;
    let list = texts::capture(r"remaining: (.+)$", &condition.message).unwrap_or(&condition.message);
    let name = &deleting.meta().name;
    Some(
        base(cx, deleting, condition)
            .title(format!("namespace {name} cannot be deleted: something is left in it"))
            .because(format!("namespace {name} waits until this is gone: {list}."))
            .next(format!("Look at what is left in {name}: its finalizers, or for pods their nodes."))
            .fact("remaining", list),
    )
}

/// What is left, by kind, as the other condition counts it.
fn counted(cx: &Cx<'_>, deleting: Deleting<'_>, finding: Finding) -> Finding {
    let Some(condition) = condition(cx, deleting, "NamespaceContentRemaining") else { return finding };
    let path = "status.conditions[type=NamespaceContentRemaining].message";
    finding.evidence(deleting.reference(), path, &*condition.message, condition.last_transition_time)
}
