//! Volumes that take long without saying why.

use super::ROW;
use super::missing::MOUNT_RETRY;
use super::mount::short;
use super::mounting::{Backing, Mounting, driver};
use super::provision::SENTENCE;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, texts};
use crate::model::{CSINode, Kind, ObjectRef, Pod, VolumeAttachment};

pub(super) const OWNERSHIP: Cause = Cause {
    id: "fsgroup-slow",
    title: "The kubelet changes the owner of every file on a volume",
    explanation: "With securityContext.fsGroup and without fsGroupChangePolicy: OnRootMismatch the kubelet sets group and mode of every file each time the volume is mounted. On a volume with many files that takes minutes to hours; from 1.33 on it reports its progress.",
    told_apart: "The volume is attached and no error is reported: it is slow, not refused.",
    cure: "Wait, and set fsGroupChangePolicy: OnRootMismatch so that it is not done again.",
    docs: "tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods",
    judge: Judge::Pod(ownership),
    ..ROW
};

pub(super) const NOT_PROCESSED: Cause = Cause {
    id: "mount-volumes-not-processed",
    generic: true,
    title: "The kubelet cannot bring a pod's volumes",
    explanation: "The kubelet says that volumes are not mounted, for a reason that is none of the known ones, or only that time ran out.",
    told_apart: "Texts that name a missing object, a driver or an error of it have causes of their own.",
    cure: "Read the kubelet's words; follow the claim and its volume.",
    judge: Judge::Pod(not_processed),
    ..ROW
};

pub(super) const SILENT: Cause = Cause {
    id: "mount-waiting-silently",
    generic: true,
    title: "A pod waits for its volumes and nobody says why",
    explanation: "The kubelet waits for volumes to be attached and mounted in rounds of two minutes and writes no event when a round merely runs out.",
    told_apart: "A pod that pulls an image or makes its sandbox has its volumes already.",
    cure: "Follow the first volume that is not attached.",
    judge: Judge::Pod(silent),
    ..ROW
};

/// Before this it is a start like any other.
const USUAL: i64 = 60;
const LONG: i64 = 300;
/// Files by the million take hours, not days.
const ENDLESS: i64 = 6 * 3600;

fn is_slow_by_ownership(pod: Pod<'_>) -> bool {
    let context = &pod.spec().security_context;
    context.fs_group.is_some() && &*context.fs_group_change_policy != "OnRootMismatch"
}

fn attachment<'a>(cx: &Cx<'a>, mounting: &Mounting<'_>, backing: &Backing<'_>) -> Option<&'a VolumeAttachment> {
    let volume = &backing.claim?.spec.volume_name;
    cx.all::<VolumeAttachment>(None).find(|a| a.spec.source.persistent_volume_name == *volume && &*a.spec.node_name == mounting.node)
}

fn ownership(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let mounting = Mounting::of(cx, pod)?;
    let said = mounting.event.filter(|e| &*e.reason == "VolumePermissionChangeInProgress");
    let timed_out = mounting.event.is_some_and(|e| {
        texts::matches(r"(?i)timed out waiting|deadline exceeded", &e.message)
            && texts::matches(r"(?i)unable to attach or mount", &e.message)
    });
    if said.is_none() && !(timed_out && is_slow_by_ownership(pod)) {
        return None;
    }
    let backings = mounting.backings(cx);
    let attached = backings.iter().find(|b| attachment(cx, &mounting, b).is_some_and(|a| a.status.attached));
    let (backing, sure) = match (attached, said) {
        (found, Some(_)) => (found.or(backings.first()), ""),
        (Some(found), None) => (Some(found), " probably"),
        (None, None) => return None,
    };
    let group = pod.spec().security_context.fs_group.map_or_else(String::new, |g| format!(" to fsGroup {g}"));
    let claim = backing.map(|b| ObjectRef::new("PersistentVolumeClaim", pod.namespace(), &b.name));
    let size =
        backing.and_then(|b| b.claim).and_then(|c| c.status.capacity.get("storage").or_else(|| c.spec.resources.requests.get("storage")));
    let size = size.map_or_else(String::new, |q| format!(" ({})", q.text()));
    let place = mounting.workload.place();
    let endless = cx.older(mounting.since, ENDLESS);
    let finding = mounting.keyed(cx, claim.clone(), if endless { Finding::blocked } else { Finding::delayed });
    let finding = if endless { finding } else { finding.clock(ClockKind::Provisioning, "ownership of every file", None) };
    let what = claim.map_or_else(|| "a volume".to_owned(), |c| format!("claim {}", c.place()));
    let files = said.and_then(|e| texts::capture(r"processed (\d+) files", &e.message));
    let finding = finding
        .title(format!("files of {what} are{sure} being given{group}"))
        .because(format!("The volume{size} is attached and no error is reported; with fsGroup and no fsGroupChangePolicy: OnRootMismatch the kubelet sets the group of every file on it, each time {place} starts.",))
        .next(format!("Wait. Set fsGroupChangePolicy: OnRootMismatch in the securityContext of {place}, so that it happens once."))
        .fact("fsGroup", pod.spec().security_context.fs_group.map_or_else(|| "none".to_owned(), |g| g.to_string()))
        .fact("fsGroupChangePolicy", if pod.spec().security_context.fs_group_change_policy.is_empty() { "unset (Always)" } else { &pod.spec().security_context.fs_group_change_policy });
    let finding = match files {
        Some(files) => finding.fact("files so far", files),
        None => finding,
    };
    Some(mounting.finish(finding))
}

fn not_processed(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let mounting = Mounting::of(cx, pod)?;
    let event = mounting.event.filter(|e| &*e.reason != "VolumePermissionChangeInProgress")?;
    // A first failure while everything starts is usual.
    if !cx.older(mounting.since, USUAL) {
        return None;
    }
    let named = texts::capture(r#"(?i)for volume "([^"]+)""#, &event.message)
        .or_else(|| texts::capture(r"unmounted volumes=\[([^\]\s]+)", &event.message));
    let claim = named.and_then(|v| mounting.claim_named(cx, v)).or_else(|| first(cx, &mounting).map(|w| w.claim));
    let late = cx.older(mounting.since, LONG);
    let finding = mounting.keyed(cx, claim, if late { Finding::blocked } else { Finding::delayed });
    let finding =
        if late { finding } else { finding.clock(ClockKind::Retry, "the kubelet's next try", event.last.map(|at| at.plus(MOUNT_RETRY))) };
    let why = first(cx, &mounting).map_or_else(String::new, |w| format!(" {}", w.why));
    let volume = named.unwrap_or("a volume");
    let finding = finding
        .title(format!("volume {volume} of {} is not mounted", mounting.workload.place()))
        .because(format!("The kubelet of {} cannot bring volume {volume}: {}.{why}", mounting.node, short(&event.message, SENTENCE)))
        .next("Read the kubelet's words; follow the claim, its volume and the driver on that node.")
        .fact("volume", volume);
    Some(mounting.finish(finding))
}

fn silent(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let mounting = Mounting::of(cx, pod).filter(|m| m.event.is_none() && m.pod.status().start_time.is_some())?;
    if pod.spec().claims(&pod.name()).is_empty() || !cx.older(mounting.since, USUAL) {
        return None;
    }
    let waiting = first(cx, &mounting);
    let late = cx.older(mounting.since, LONG);
    let claim = waiting
        .as_ref()
        .map(|w| w.claim.clone())
        .or_else(|| pod.spec().claims(&pod.name()).first().map(|c| ObjectRef::new("PersistentVolumeClaim", pod.namespace(), c)));
    let finding = mounting.keyed(cx, claim.clone(), if late { Finding::blocked } else { Finding::delayed });
    let finding = if late {
        finding
    } else {
        finding.clock(ClockKind::Provisioning, "attaching and mounting", mounting.since.map(|at| at.plus(LONG)))
    };
    let what = claim.map_or_else(|| "its volumes".to_owned(), |c| format!("claim {}", c.place()));
    let why = waiting
        .as_ref()
        .map_or_else(|| "its volumes look attached; the kubelet or the driver on the node mounts them.".to_owned(), |w| w.why.clone());
    let mut finding = finding
        .title(format!("{} waits for {what} without a word", mounting.workload.place()))
        .because(format!("The kubelet of {} has begun with the pod and no sandbox is made, and there is no event: {why}", mounting.node))
        .next(format!("Follow {what}: its VolumeAttachment, the driver's pods."));
    finding.waits_on.extend(waiting.and_then(|w| w.on));
    Some(mounting.finish(finding))
}

/// The first volume that is not where it should be.
struct Waiting {
    claim: ObjectRef,
    why: String,
    on: Option<ObjectRef>,
}

fn first(cx: &Cx<'_>, mounting: &Mounting<'_>) -> Option<Waiting> {
    let knows = cx.sees_all(Kind::VolumeAttachment, None);
    mounting.backings(cx).into_iter().find_map(|b| {
        let claim = ObjectRef::new("PersistentVolumeClaim", mounting.pod.namespace(), &b.name);
        let bound = b.claim.is_none_or(|c| &*c.status.phase == "Bound");
        let (why, on) = match (attachment(cx, mounting, &b), driver(cx, &b)) {
            _ if !bound => (format!("claim {} is not bound.", claim.place()), None),
            (Some(a), _) if !a.status.attached => (
                format!("VolumeAttachment {} says attached: false.", a.meta.name),
                Some(ObjectRef::new("VolumeAttachment", "", &a.meta.name)),
            ),
            (Some(_), Some(driver)) if lacks_driver(cx, mounting.node, &driver) => {
                (format!("driver {driver} is not registered on {} (CSINode).", mounting.node), None)
            }
            (None, Some(_)) if knows && b.volume.is_some_and(|v| v.spec.csi.is_some()) && attaches(cx, &b) => {
                ("it has no VolumeAttachment for this node.".to_owned(), None)
            }
            _ => return None,
        };
        Some(Waiting { claim, why, on })
    })
}

fn lacks_driver(cx: &Cx<'_>, node: &str, driver: &str) -> bool {
    cx.get::<CSINode>("", node).is().is_some_and(|n| !n.spec.drivers.iter().any(|d| &*d.name == driver))
}

/// Drivers without attach step make no attachments: others of the same driver tell whether it has one.
fn attaches(cx: &Cx<'_>, backing: &Backing<'_>) -> bool {
    let driver = driver(cx, backing).unwrap_or_default();
    cx.all::<VolumeAttachment>(None).any(|a| *a.spec.attacher == *driver)
}
