//! Claims that nothing can be bound to, and those that wait on purpose.

use super::ROW;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage, texts};
use crate::model::{Event, Kind, ObjectRef, PersistentVolume, PersistentVolumeClaim, Quantity, Seen, StorageClass};

pub(super) const LOST: Cause = Cause {
    id: "pvc-lost",
    stage: Stage::Cluster,
    title: "A claim has lost its volume",
    explanation: "The PersistentVolume that the claim was bound to is gone, or is bound to another claim. The claim's phase is Lost and never changes again.",
    told_apart: "A Pending claim was never bound.",
    cure: "Restore the PersistentVolume object (its data may still exist), or make the claim again.",
    judge: Judge::Claim(lost),
    ..ROW
};

pub(super) const TAKEN: Cause = Cause {
    id: "pvc-named-pv-taken",
    stage: Stage::Cluster,
    title: "The volume that a claim names belongs to another claim",
    explanation: "spec.volumeName asks for one volume, and that volume's claimRef names another claim, or one of the same name that was deleted (another uid). With reclaim policy Retain the volume stays Released until somebody clears claimRef.",
    told_apart: "pvc-named-pv-missing: the volume does not exist. pvc-volume-mismatch: it is free and does not suit.",
    cure: "Clear spec.claimRef of the volume (at least its uid) if its data may be used again, or name another volume.",
    docs: "concepts/storage/persistent-volumes/#retain",
    judge: Judge::Claim(taken),
    ..ROW
};

pub(super) const NAMED_MISSING: Cause = Cause {
    id: "pvc-named-pv-missing",
    stage: Stage::Cluster,
    title: "The volume that a claim names does not exist",
    explanation: "spec.volumeName asks for one volume and there is none of that name. Kubernetes writes no event about it.",
    told_apart: "A claim without volumeName takes any volume that suits, or has one made.",
    cure: "Create the volume, or make the claim again without volumeName.",
    needs: &[Kind::PersistentVolume],
    judge: Judge::Claim(named_missing),
    ..ROW
};

pub(super) const MISMATCH: Cause = Cause {
    id: "pvc-volume-mismatch",
    stage: Stage::Cluster,
    title: "The volume that a claim names does not suit it",
    explanation: "Size, class, access mode or volume mode of the named volume differ from what the claim asks for.",
    told_apart: "pvc-named-pv-taken: the volume would suit and belongs to somebody else.",
    cure: "Correct the claim or the volume.",
    judge: Judge::Claim(mismatch),
    ..ROW
};

pub(super) const CLASS_MISSING: Cause = Cause {
    id: "pvc-storageclass-not-found",
    stage: Stage::Cluster,
    title: "A claim names a StorageClass that does not exist",
    explanation: "Without the class nobody provisions, and no free volume carries its name. The volume controller looks again about every 15 seconds.",
    told_apart: "pvc-no-class-no-pv names no class at all.",
    cure: "Create the class, or make the claim again with one that exists: storageClassName of a claim cannot be changed.",
    docs: "concepts/storage/storage-classes/",
    needs: &[Kind::StorageClass],
    judge: Judge::Claim(class_missing),
    ..ROW
};

pub(super) const NO_CLASS: Cause = Cause {
    id: "pvc-no-class-no-pv",
    stage: Stage::Cluster,
    title: "A claim has no StorageClass, and no volume suits it",
    explanation: "The claim names no class and the cluster has no default one (or the claim says class \"\"), so nobody makes a volume, and none that exists suits. The event FailedBinding about it is of type Normal.",
    told_apart: "pvc-storageclass-not-found names a class that is missing.",
    cure: "Set a default StorageClass (claims without one get it), name a class, or create a volume by hand.",
    docs: "concepts/storage/persistent-volumes/#class-1",
    needs: &[Kind::StorageClass],
    judge: Judge::Claim(no_class),
    ..ROW
};

pub(super) const FIRST_CONSUMER: Cause = Cause {
    id: "pvc-wait-for-first-consumer",
    stage: Stage::Cluster,
    title: "A claim waits for its first consumer",
    explanation: "With volumeBindingMode WaitForFirstConsumer a claim is bound only once a pod that uses it is scheduled. Until then Pending is its normal state.",
    told_apart: "If a pod uses it and finds no node, that pod's cause is what matters.",
    cure: "Nothing: it is bound when a pod uses it.",
    docs: "concepts/storage/storage-classes/#volume-binding-mode",
    needs: &[Kind::StorageClass],
    clears: 0,
    judge: Judge::Claim(first_consumer),
    ..ROW
};

/// The volume controller looks again at pending claims this often.
const RESYNC: i64 = 15;
/// A default class is given to older claims within a resync or two.
const RETROACTIVE: i64 = 60;
pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

pub(super) fn reference(claim: &PersistentVolumeClaim) -> ObjectRef {
    ObjectRef::new("PersistentVolumeClaim", &claim.meta.namespace, &claim.meta.name)
}

pub(super) fn is_pending(claim: &PersistentVolumeClaim) -> bool {
    matches!(&*claim.status.phase, "Pending" | "")
}

/// The class it names: by field, or by the annotation from before there was a field.
pub(super) fn class(claim: &PersistentVolumeClaim) -> Option<&str> {
    claim.spec.storage_class_name.as_deref().or_else(|| claim.meta.annotation("volume.beta.kubernetes.io/storage-class"))
}

/// Adds what all findings about a claim have: its class as wider key and fact, its size, since when it waits.
pub(super) fn about(claim: &PersistentVolumeClaim, finding: Finding) -> Finding {
    let mut finding = finding.fact("claim", reference(claim).place()).since(claim.meta.created);
    if let Some(size) = claim.spec.resources.requests.get("storage") {
        finding = finding.fact("size", size.text());
    }
    match class(claim) {
        Some(class) if !class.is_empty() => {
            finding.fact("storageClass", class).wider(Key::object(&ObjectRef::new("StorageClass", "", class)))
        }
        _ => finding,
    }
}

fn blocked(claim: &PersistentVolumeClaim) -> Finding {
    let root = reference(claim);
    about(claim, Finding::blocked(Key::object(&root), root.clone()))
}

/// The newest event about the claim with this reason whose text matches.
fn said<'a>(cx: &Cx<'a>, claim: &PersistentVolumeClaim, reason: &str, pattern: &'static str) -> Option<&'a Event> {
    cx.newest_event(&reference(claim), &[reason]).filter(|e| texts::matches(pattern, &e.message))
}

fn quoted(finding: Finding, claim: &PersistentVolumeClaim, event: Option<&Event>) -> Finding {
    match event {
        Some(event) => finding.event(reference(claim), event),
        None => finding,
    }
}

fn lost(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    if &*claim.status.phase != "Lost" {
        return None;
    }
    let event = cx.newest_event(&reference(claim), &["ClaimLost", "ClaimMisbound"]);
    let volume = &claim.spec.volume_name;
    let finding = blocked(claim)
        .title(format!("claim {} has lost its volume {volume}", reference(claim).place()))
        .because(format!("Volume {volume}, to which the claim was bound, is gone or belongs to another claim; the claim is Lost for good."))
        .next(format!("Restore volume {volume} if its data still exists, or make claim {} again.", claim.meta.name))
        .fact("volume", volume)
        .since(event.and_then(|e| e.first).or(claim.meta.created))
        .evidence(reference(claim), "status.phase", "Lost", None);
    Some(quoted(finding, claim, event))
}

fn taken(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    let name = &claim.spec.volume_name;
    if name.is_empty() || !is_pending(claim) {
        return None;
    }
    let event = said(cx, claim, "FailedBinding", "already bound to a different claim");
    let root = reference(claim);
    let finding = blocked(claim).fact("volume", name);
    let volume = ObjectRef::new("PersistentVolume", "", name);
    match cx.get::<PersistentVolume>("", name) {
        Seen::Is(v) => {
            let owner = v.spec.claim_ref.as_ref().filter(|r| !is_for(r, claim))?;
            let same = owner.name == claim.meta.name && owner.namespace == claim.meta.namespace;
            let phase = &v.status.phase;
            let who = if same {
                format!("a claim of the same name that was deleted (uid {})", owner.uid)
            } else {
                format!("claim {}/{}", owner.namespace, owner.name)
            };
            let policy = &v.spec.persistent_volume_reclaim_policy;
            let finding = finding
                .title(format!("volume {name} of claim {} still belongs to another claim ({phase})", root.place()))
                .because(format!("The claim asks for volume {name}, whose spec.claimRef names {who}; the volume is {phase}, reclaim policy {policy}."))
                .next(format!("If its data may be used again, clear the reference: kubectl patch pv {name} -p '{{\"spec\":{{\"claimRef\":null}}}}'. Or name another volume."))
                .fact("volume phase", phase)
                .evidence(volume, "spec.claimRef.uid", &*owner.uid, None);
            Some(quoted(finding, claim, event))
        }
        Seen::Absent => None,
        Seen::Unknown => event.map(|e| {
            finding
                .title(format!("volume {name} of claim {} belongs to another claim", root.place()))
                .because(format!("The volume controller says that volume {name} is bound to another claim."))
                .next(TAKEN.cure)
                .event(root, e)
        }),
    }
}

/// A volume may be reserved for a claim before it exists: then its claimRef has no uid.
fn is_for(owner: &crate::model::VolumeClaimRef, claim: &PersistentVolumeClaim) -> bool {
    owner.name == claim.meta.name && owner.namespace == claim.meta.namespace && (owner.uid.is_empty() || owner.uid == claim.meta.uid)
}

fn named_missing(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    let name = &claim.spec.volume_name;
    let old = cx.older(claim.meta.created, RESYNC);
    if name.is_empty() || !is_pending(claim) || !old || !cx.get::<PersistentVolume>("", name).is_absent() {
        return None;
    }
    let root = reference(claim);
    Some(
        blocked(claim)
            .title(format!("volume {name} of claim {} does not exist", root.place()))
            .because(format!("spec.volumeName asks for volume {name}, and there is no such PersistentVolume."))
            .next(format!("Create volume {name}, or make claim {} again without volumeName.", claim.meta.name))
            .fact("volume", name)
            .evidence(root, "spec.volumeName", &**name, claim.meta.created),
    )
}

fn mismatch(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    let event = cx.newest_event(&reference(claim), &["VolumeMismatch"]).filter(|_| is_pending(claim))?;
    let why = event.message.split_once(": ").map_or(&*event.message, |(_, why)| why);
    let root = reference(claim);
    Some(
        blocked(claim)
            .title(format!("volume {} does not suit claim {}", claim.spec.volume_name, root.place()))
            .because(format!("The volume that the claim names does not suit it: {why}."))
            .next("Correct the claim or the volume.")
            .event(root, event),
    )
}

fn class_missing(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    let name = class(claim).filter(|c| !c.is_empty() && is_pending(claim) && claim.spec.volume_name.is_empty())?;
    let event = said(cx, claim, "ProvisioningFailed", r#"(?i)storageclass[^ ]* "[^"]+" not found"#);
    let missing = match cx.get::<StorageClass>("", name) {
        Seen::Is(_) => false,
        Seen::Absent => true,
        Seen::Unknown => event.is_some(),
    };
    if !missing || suits(cx, claim, name).is_some() {
        return None;
    }
    let (root, class) = (reference(claim), ObjectRef::new("StorageClass", "", name));
    let mut finding = about(claim, Finding::blocked(Key::object(&class), root.clone()))
        .title(format!("StorageClass {name} does not exist"))
        .because(format!("Claim {} names StorageClass {name}; there is no such class, and no free volume carries its name.", root.place()))
        .next(format!("Create StorageClass {name}, or make claim {} again with a class that exists.", claim.meta.name))
        .evidence(root, "spec.storageClassName", name, claim.meta.created);
    finding.wider = None;
    Some(quoted(finding, claim, event))
}

fn no_class(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    let named = class(claim);
    if !is_pending(claim) || !claim.spec.volume_name.is_empty() || named.is_some_and(|c| !c.is_empty()) {
        return None;
    }
    let event = said(cx, claim, "FailedBinding", "no persistent volumes available");
    let default = cx.all::<StorageClass>(None).find(|c| c.is_default()).filter(|_| named.is_none());
    let root = reference(claim);
    if let Some(default) = default {
        return Some(later(cx, claim, &default.meta.name));
    }
    let proved = cx.sees_all(Kind::StorageClass, None) && cx.sees_all(Kind::PersistentVolume, None) && cx.older(claim.meta.created, RESYNC);
    if !proved && event.is_none() || suits(cx, claim, "").is_some() {
        return None;
    }
    let size = claim.spec.resources.requests.get("storage").map_or("", Quantity::text);
    let none = if named.is_some() { "says storageClassName \"\"" } else { "names no StorageClass and the cluster has no default one" };
    let finding = blocked(claim)
        .title(format!("claim {} has no storage class and no volume suits it", root.place()))
        .because(format!("Claim {} {none}, so nobody makes a volume, and no free volume ({size}) suits it.", root.place()))
        .next(format!(
            "Set a default StorageClass, make claim {} again with storageClassName, or create a volume of {size} by hand.",
            claim.meta.name
        ))
        .evidence(root, "spec.storageClassName", named.map_or("absent".to_owned(), |c| format!("{c:?}")), claim.meta.created);
    Some(quoted(finding, claim, event))
}

/// A default class exists by now: it is given to claims without one, since 1.26.
fn later(cx: &Cx<'_>, claim: &PersistentVolumeClaim, default: &str) -> Finding {
    let root = reference(claim);
    let until = claim.meta.created.map(|at| at.plus(RETROACTIVE));
    let late = until.is_some_and(|at| cx.passed(at));
    let key = Key::object(&root);
    let finding = if late {
        Finding::blocked(key, root.clone())
    } else {
        Finding::delayed(key, root.clone()).clock(ClockKind::Retry, "the default class is given", until)
    };
    about(claim, finding)
        .title(format!("claim {} was made before there was a default StorageClass", root.place()))
        .because(format!("The claim names no class; the default class {default} is not set on it."))
        .next(format!(
            "Make claim {} again: it then gets {default}. From 1.26 on the controller manager sets it by itself.",
            claim.meta.name
        ))
        .evidence(root, "spec.storageClassName", "absent", claim.meta.created)
}

/// A free volume of that class that the claim could be bound to.
fn suits<'a>(cx: &Cx<'a>, claim: &PersistentVolumeClaim, class: &str) -> Option<&'a PersistentVolume> {
    let wanted = claim.spec.resources.requests.get("storage").map_or(0, Quantity::nano);
    cx.all::<PersistentVolume>(None).find(|v| {
        let free = &*v.status.phase == "Available" && v.spec.claim_ref.as_ref().is_none_or(|r| is_for(r, claim));
        let large = v.spec.capacity.get("storage").map_or(0, Quantity::nano) >= wanted;
        free && large && &*v.spec.storage_class_name == class && claim.spec.access_modes.iter().all(|m| v.spec.access_modes.contains(m))
    })
}

fn first_consumer(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    if !is_pending(claim) || claim.meta.annotation(SELECTED_NODE).is_some() {
        return None;
    }
    let named = class(claim);
    let class = match named {
        Some(name) => cx.get::<StorageClass>("", name).is(),
        None => cx.all::<StorageClass>(None).find(|c| c.is_default()),
    };
    let waits = class.is_some_and(StorageClass::waits_for_consumer);
    let name = claim.meta.name.to_string();
    let used = cx.pods(Some(&claim.meta.namespace)).any(|p| p.spec().claims(&p.name()).contains(&name));
    (waits && !used).then(|| Finding::quiet(reference(claim), "no pod uses it yet (WaitForFirstConsumer)").since(claim.meta.created))
}
