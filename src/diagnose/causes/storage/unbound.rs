//! Pods that find no node because a claim of theirs is not ready for it.

use super::ROW;
use super::claims::{SELECTED_NODE, is_pending};
use crate::diagnose::causes::scheduling::pending::Pending;
use crate::diagnose::scheduling::{Message, Obstacle, parse};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage, Verdict};
use crate::model::{Kind, ObjectRef, PersistentVolumeClaim, Pod, Seen, StorageClass, Time};

pub(super) const NOT_FOUND: Cause = Cause {
    id: "pvc-not-found",
    stage: Stage::Unscheduled,
    title: "A pod names a claim that does not exist",
    explanation: "The scheduler does not place a pod before every claim it names exists in its namespace.",
    told_apart: "pvc-unbound-immediate: the claim is there and has no volume.",
    cure: "Create the claim, or correct claimName.",
    needs: &[Kind::PersistentVolumeClaim],
    judge: Judge::Pod(not_found),
    ..ROW
};

pub(super) const DELETING: Cause = Cause {
    id: "pvc-being-deleted",
    stage: Stage::Unscheduled,
    title: "A pod names a claim that is being deleted",
    explanation: "A claim with a deletionTimestamp takes no new pods. It goes when the last pod that uses it is gone.",
    told_apart: "While a running pod uses it, the claim itself is stuck in Terminating.",
    cure: "Let the claim go and make it again, or use another.",
    judge: Judge::Pod(deleting),
    ..ROW
};

pub(super) const UNBOUND: Cause = Cause {
    id: "pvc-unbound-immediate",
    stage: Stage::Unscheduled,
    title: "A pod waits for a claim that has no volume",
    explanation: "The claim's class binds at once (Immediate), so the scheduler waits until it is bound. Why it is not is the claim's own matter.",
    told_apart: "With WaitForFirstConsumer the claim waits for the pod instead.",
    cure: "Follow the claim.",
    judge: Judge::Pod(unbound),
    ..ROW
};

pub(super) const TIMEOUT: Cause = Cause {
    id: "bind-volumes-timeout",
    stage: Stage::Unscheduled,
    title: "A pod has its node and waits for its volume",
    explanation: "The scheduler has chosen a node and waits up to ten minutes for the claim to be bound there. Meanwhile the pod has no condition, or that of an older try; then SchedulerError says that binding timed out.",
    told_apart: "pvc-unbound-immediate waits before a node is chosen.",
    cure: "Follow the claim.",
    judge: Judge::Pod(timeout),
    ..ROW
};

/// A volume is usually made within a minute.
const USUAL: i64 = 60;
/// The controller of a StatefulSet makes missing claims at its next look.
const REMADE: i64 = 120;
/// `bindTimeoutSeconds` of the scheduler.
const BIND: i64 = 600;

fn claim(pod: Pod<'_>, name: &str) -> ObjectRef {
    ObjectRef::new("PersistentVolumeClaim", pod.namespace(), name)
}

fn mentions(pending: &Pending<'_>, obstacle: &Obstacle) -> bool {
    matches!(parse(&pending.condition.message), Message::Unfit(u) if u.mentions(|o| o == obstacle))
}

/// The name in quotes after `persistentvolumeclaim`.
fn quoted(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("persistentvolumeclaim \"")?;
    rest.split_once('"').map(|(name, _)| name.to_owned())
}

fn not_found(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let pending = Pending::of(cx, pod)?;
    // The claims of generic ephemeral volumes are made by a controller: theirs is another story.
    let named: Vec<String> =
        pod.spec().volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()).map(|c| c.of(&pod.name())).collect();
    let told = mentions(&pending, &Obstacle::ClaimMissing).then(|| quoted(&pending.condition.message)).flatten();
    let missing = named.iter().find(|name| match cx.get::<PersistentVolumeClaim>(pod.namespace(), name) {
        Seen::Is(_) => false,
        Seen::Absent => true,
        Seen::Unknown => told.as_ref() == Some(name),
    })?;
    let (object, place) = (claim(pod, missing), pending.workload.place());
    let at = pending.condition.last_transition_time;
    let remade = pending.workload.kind == "StatefulSet" && !cx.older(at, REMADE);
    let verdict = if remade { Verdict::Delayed } else { Verdict::Blocked };
    let finding = pending
        .finding(verdict, Key::object(&object), pending.workload.clone())
        .title(format!("claim {} does not exist", object.place()))
        .because(format!("{place} mounts claim {missing}, and there is none of that name in {}.", pod.namespace()))
        .next(format!("Create claim {missing} in {}, or correct claimName in {place}.", pod.namespace()))
        .fact("claim", object.place())
        .evidence(pod.reference(), "spec.volumes[].persistentVolumeClaim.claimName", missing, None);
    Some(if remade { finding.clock(ClockKind::Retry, "the StatefulSet's controller", at.map(|at| at.plus(REMADE))) } else { finding })
}

fn deleting(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let pending = Pending::of(cx, pod)?;
    let told = mentions(&pending, &Obstacle::ClaimDeleting).then(|| quoted(&pending.condition.message)).flatten();
    let going = pod.spec().claims(&pod.name()).into_iter().find(|name| match cx.get::<PersistentVolumeClaim>(pod.namespace(), name) {
        Seen::Is(c) => c.meta.deleted.is_some(),
        Seen::Absent => false,
        Seen::Unknown => told.as_ref() == Some(name),
    })?;
    let object = claim(pod, &going);
    Some(
        pending
            .finding(Verdict::Blocked, Key::object(&object), pending.workload.clone())
            .title(format!("claim {} is being deleted", object.place()))
            .because(format!("{} mounts claim {going}, which has a deletionTimestamp and takes no new pods.", pending.workload.place()))
            .next(format!("Let claim {going} go (the last pod that uses it must go first) and make it again."))
            .fact("claim", object.place())
            .waits_on(object),
    )
}

/// A claim that is not bound and does not wait for the pod.
fn is_due(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> bool {
    let waits = match claim.spec.storage_class_name.as_deref() {
        Some("") => false,
        Some(class) => cx.get::<StorageClass>("", class).is().is_some_and(StorageClass::waits_for_consumer),
        None => cx.all::<StorageClass>(None).find(|c| c.is_default()).is_some_and(StorageClass::waits_for_consumer),
    };
    !waits && (is_pending(claim) || &*claim.status.phase == "Lost")
}

fn unbound(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let pending = Pending::of(cx, pod)?;
    let told = mentions(&pending, &Obstacle::ClaimUnbound) || mentions(&pending, &Obstacle::LostVolume);
    let mut waits: Vec<(String, Option<Time>)> = Vec::new();
    for name in pod.spec().claims(&pod.name()) {
        match cx.get::<PersistentVolumeClaim>(pod.namespace(), &name) {
            Seen::Is(c) if is_due(cx, c) => waits.push((name, c.meta.created)),
            Seen::Is(_) | Seen::Absent => {}
            Seen::Unknown if told => waits.push((name, None)),
            Seen::Unknown => {}
        }
    }
    let (first, created) = waits.first()?;
    let object = claim(pod, first);
    let until = created.map(|at| at.plus(USUAL));
    let young = until.is_some_and(|at| !cx.passed(at));
    let names: Vec<&str> = waits.iter().map(|(name, _)| &**name).collect();
    let mut finding = pending
        .finding(if young { Verdict::Delayed } else { Verdict::Blocked }, Key::object(&object), pending.workload.clone())
        .title(format!("claim {} has no volume", object.place()))
        .because(format!("The scheduler places {} only once claim {} is bound.", pending.workload.place(), names.join(", ")))
        .next(format!("Follow claim {}.", names.join(", ")))
        .fact("claim", object.place());
    finding.waits_on.extend(names.iter().map(|name| claim(pod, name)));
    Some(if young { finding.clock(ClockKind::Provisioning, "a volume that is being made", until) } else { finding })
}

/// Whether the scheduler has chosen a node and waits for a claim there: then the pod has no condition, and is not forgotten.
pub(in crate::diagnose::causes) fn is_binding(cx: &Cx<'_>, pod: Pod<'_>) -> bool {
    let chosen = |c: &PersistentVolumeClaim| is_pending(c) && c.meta.annotation(SELECTED_NODE).is_some();
    pod.spec().claims(&pod.name()).iter().any(|name| cx.get::<PersistentVolumeClaim>(pod.namespace(), name).is().is_some_and(chosen))
}

fn timeout(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if pod.node().is_some() || pod.deleted().is_some() {
        return None;
    }
    let condition = pod.condition("PodScheduled");
    let error = condition.filter(|c| &*c.reason == "SchedulerError" && c.message.to_lowercase().contains("binding volumes"));
    let name = pod.spec().claims(&pod.name()).into_iter().find(|name| match cx.get::<PersistentVolumeClaim>(pod.namespace(), name) {
        Seen::Is(c) => is_pending(c) && (error.is_some() || c.meta.annotation(SELECTED_NODE).is_some()),
        Seen::Absent => false,
        Seen::Unknown => error.is_some(),
    })?;
    let (object, workload) = (claim(pod, &name), cx.workload_of(pod));
    let since = condition.and_then(|c| c.last_transition_time).or(pod.created());
    let until = since.map(|at| at.plus(BIND));
    let late = error.is_some() || until.is_some_and(|at| cx.passed(at));
    let key = Key::object(&object);
    let finding = if late {
        Finding::blocked(key, workload.clone())
    } else {
        Finding::delayed(key, workload.clone()).clock(ClockKind::Provisioning, "the scheduler waits for the volume", until)
    };
    let finding = finding
        .title(format!("claim {} is not bound on the chosen node", object.place()))
        .because(format!("The scheduler has chosen a node for {} and waits for claim {name} to be bound there.", workload.place()))
        .next(format!("Follow claim {name}."))
        .fact("claim", object.place())
        .since(since)
        .waits_on(object);
    Some(match error {
        Some(c) => finding.evidence(pod.reference(), "status.conditions[type=PodScheduled].message", &*c.message, since),
        None => finding,
    })
}
