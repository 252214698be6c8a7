//! Volumes that cannot be attached to the node.

use super::ROW;
use super::missing::MOUNT_RETRY;
use super::mounting::{Backing, Mounting, driver};
use super::provision::{SENTENCE, behind, brief};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, texts};
use crate::model::{Kind, Node, ObjectRef, Phase, Pod, Time, VolumeAttachment};

pub(super) const MULTI: Cause = Cause {
    id: "multi-attach",
    title: "A volume is still attached to another node",
    explanation: "A volume that one node at a time may use (ReadWriteOnce) is attached elsewhere. While a pod there uses it nothing moves; afterwards it is detached, six minutes after that by force if its node is not ready.",
    told_apart: "failed-attach: the storage refuses to attach. The event is written once per pod; the VolumeAttachment says whether it is still so.",
    cure: "Let the pod that uses it end: strategy Recreate instead of RollingUpdate, or delete it; taint a node that is surely off out-of-service.",
    docs: "concepts/storage/persistent-volumes/#access-modes",
    ..ROW
};

pub(super) const FAILED: Cause = Cause {
    id: "failed-attach",
    title: "A volume cannot be attached to its node",
    explanation: "The attach/detach controller or the driver's attacher cannot attach the volume; the error is in the VolumeAttachment and in the event FailedAttachVolume. It tries again every two minutes at the longest.",
    told_apart: "multi-attach: it is attached, to another node. Once it is attached, mounting is the kubelet's.",
    cure: "By what the driver says: the node's identity at the cloud, limits of attachments, the driver's controller.",
    docs: "concepts/storage/volumes/",
    ..ROW
};

/// After this time a volume is detached by force from a node that is not ready.
const FORCE: i64 = 360;
/// Tries after which an error is not cured by trying.
const TRIES: i64 = 3;

pub(super) fn refused(cx: &Cx<'_>, mounting: &Mounting<'_>) -> Option<(&'static str, Finding)> {
    let named = mounting.event.and_then(|e| texts::capture(r#"(?i)for volume "([^"]+)""#, &e.message));
    for backing in mounting.backings(cx) {
        let Some(volume) = backing.claim.map(|c| &*c.spec.volume_name).filter(|v| !v.is_empty()) else { continue };
        let attachments: Vec<&VolumeAttachment> =
            cx.all::<VolumeAttachment>(None).filter(|a| &*a.spec.source.persistent_volume_name == volume).collect();
        let ours = attachments.iter().find(|a| &*a.spec.node_name == mounting.node);
        if ours.is_some_and(|a| a.status.attached) {
            continue;
        }
        let told = named == Some(volume);
        let elsewhere = attachments.iter().find(|a| &*a.spec.node_name != mounting.node && a.status.attached);
        let alone = backing.claim.is_some_and(|c| !c.spec.access_modes.iter().any(|m| matches!(&**m, "ReadWriteMany" | "ReadOnlyMany")));
        if let Some(other) = elsewhere.filter(|_| alone) {
            return Some((MULTI.id, multi(cx, mounting, &backing, volume, &other.spec.node_name)));
        }
        if let Some(error) = ours.and_then(|a| a.status.attach_error.as_ref()) {
            let finding = failed(cx, mounting, &backing, volume, &error.message);
            let object = ObjectRef::new("VolumeAttachment", "", &ours.map_or("".into(), |a| a.meta.name.clone()));
            return Some((FAILED.id, finding.evidence(object, "status.attachError.message", &*error.message, error.time)));
        }
        if told {
            return by_words(cx, mounting, &backing, volume);
        }
    }
    None
}

/// Attachments may not be read, or say nothing: the controller's own event.
fn by_words(cx: &Cx<'_>, mounting: &Mounting<'_>, backing: &Backing<'_>, volume: &str) -> Option<(&'static str, Finding)> {
    let event = mounting.event.filter(|e| &*e.reason == "FailedAttachVolume")?;
    if !event.message.contains("Multi-Attach") {
        return Some((FAILED.id, failed(cx, mounting, backing, volume, &event.message)));
    }
    // Written once and never taken back: where attachments are all known and none is elsewhere, it is over.
    if cx.sees_all(Kind::VolumeAttachment, None) {
        return None;
    }
    Some((MULTI.id, multi(cx, mounting, backing, volume, "")))
}

fn claim_of(mounting: &Mounting<'_>, backing: &Backing<'_>) -> ObjectRef {
    ObjectRef::new("PersistentVolumeClaim", mounting.pod.namespace(), &backing.name)
}

/// Pods on the other node that use the claim; without a node's name, wherever they are.
fn users<'a>(cx: &Cx<'a>, mounting: &Mounting<'_>, claim: &str, node: &str) -> Vec<Pod<'a>> {
    let uses = |p: &Pod<'_>| p.spec().claims(&p.name()).iter().any(|c| c == claim);
    let there = |p: &Pod<'_>| p.node().is_some_and(|n| n != mounting.node && (node.is_empty() || n == node));
    let over = |p: &Pod<'_>| matches!(p.phase(), Phase::Succeeded | Phase::Failed);
    cx.pods(Some(mounting.pod.namespace())).filter(|p| there(p) && !over(p) && uses(p)).collect()
}

fn multi(cx: &Cx<'_>, mounting: &Mounting<'_>, backing: &Backing<'_>, volume: &str, node: &str) -> Finding {
    let claim = claim_of(mounting, backing);
    let users = users(cx, mounting, &backing.name, node);
    let names: Vec<String> = users.iter().map(|p| p.reference().place()).collect();
    let going: Option<Time> = users.iter().map(|p| p.deleted()).collect::<Option<Vec<Time>>>().and_then(|all| all.into_iter().max());
    let where_ = if node.is_empty() { "another node".to_owned() } else { node.to_owned() };
    let force = mounting.since.map(|at| at.plus(FORCE));
    let delayed =
        |what: &str, at: Option<Time>| mounting.keyed(cx, Some(claim.clone()), Finding::delayed).clock(ClockKind::Grace, what, at);
    let (finding, why) = match (users.is_empty(), going) {
        (true, _) if force.is_some_and(|at| !cx.passed(at)) => {
            (delayed("detaching", force), "No pod uses it there any more: it is being detached.".to_owned())
        }
        (true, _) => (
            mounting.keyed(cx, Some(claim.clone()), Finding::blocked),
            format!("No pod uses it there, and it is not detached: {where_} may still report it as in use."),
        ),
        (false, Some(at)) if !cx.passed(at) => {
            (delayed("the pod that has it", Some(at)), format!("{} still has it and is being deleted.", names.join(", ")))
        }
        (false, _) => (mounting.keyed(cx, Some(claim.clone()), Finding::blocked), format!("{} uses it there.", names.join(", "))),
    };
    let own = users.first().is_some_and(|p| cx.workload_of(*p) == mounting.workload);
    let mut next = if users.is_empty() {
        format!("Look at {where_}: its kubelet must unmount volume {volume}; taint it out-of-service if it is surely off.")
    } else {
        format!("Let {} end.", names.join(", "))
    };
    if own {
        next.push_str(" A rolling update cannot hand a ReadWriteOnce volume over: use strategy Recreate.");
    }
    let mut finding = finding
        .title(format!("volume of claim {} is attached to {where_}", claim.place()))
        .because(format!(
            "Volume {volume} may be attached to one node at a time and is attached to {where_}, not to {}. {why}",
            mounting.node
        ))
        .next(next)
        .fact("volume", volume)
        .fact("attached to", &where_);
    finding.waits_on.extend(users.iter().map(|p| p.reference()));
    if !node.is_empty() && cx.get::<Node>("", node).is().is_some_and(|n| !n.is_ready()) {
        finding = finding.waits_on(ObjectRef::new("Node", "", node));
    }
    mounting.finish(finding)
}

fn failed(cx: &Cx<'_>, mounting: &Mounting<'_>, backing: &Backing<'_>, volume: &str, message: &str) -> Finding {
    let event = mounting.event.filter(|e| &*e.reason == "FailedAttachVolume");
    let (_, text) = texts::rpc(message);
    let short = brief(text.split_once(" : ").map_or(text, |(_, rest)| rest), SENTENCE);
    let first = event.and_then(|e| e.first).or(mounting.since);
    let lasts = event.is_some_and(|e| e.count >= TRIES) || cx.older(first, FORCE);
    let claim = claim_of(mounting, backing);
    let finding = if lasts {
        mounting.keyed(cx, Some(claim.clone()), Finding::blocked)
    } else {
        let next = event.and_then(|e| e.last).or(mounting.since).map(|at| at.plus(MOUNT_RETRY));
        mounting.keyed(cx, Some(claim.clone()), Finding::delayed).clock(ClockKind::Retry, "the next try to attach", next)
    };
    let driver = driver(cx, backing);
    let mut finding = finding
        .title(format!("volume of claim {} cannot be attached to {}", claim.place(), mounting.node))
        .because(format!("Attaching volume {volume} to {} fails: {short}.", mounting.node))
        .next(format!("Cure what {} says; look at its controller.", driver.as_deref().unwrap_or("the driver")))
        .fact("volume", volume);
    if let Some(driver) = &driver {
        finding = finding.fact("driver", driver);
        finding.waits_on.extend(behind(cx, driver));
    }
    mounting.finish(finding)
}
