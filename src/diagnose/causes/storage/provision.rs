//! Volumes that a provisioner should make.

use super::ROW;
use super::claims::{SELECTED_NODE, about, class, is_pending, reference};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage, Workload, texts};
use crate::model::{Deployment, Event, Kind, ObjectRef, PersistentVolumeClaim, StatefulSet, StorageClass, Time};

pub(super) const FAILED: Cause = Cause {
    id: "pvc-provisioning-failed-csi",
    stage: Stage::Cluster,
    title: "A provisioner cannot make a volume",
    explanation: "The provisioner of the claim's class tries and fails; its own words are in the event ProvisioningFailed. It tries again, in the end every few minutes.",
    told_apart: "pvc-external-provisioning: no provisioner says anything. pvc-storageclass-not-found is written by the volume controller under the same reason.",
    cure: "By what it says: rights at the cloud or storage, quota or capacity there, parameters of the StorageClass.",
    docs: "concepts/storage/dynamic-provisioning/",
    judge: Judge::Claim(failed),
    ..ROW
};

pub(super) const EXTERNAL: Cause = Cause {
    id: "pvc-external-provisioning",
    stage: Stage::Cluster,
    title: "No provisioner answers for a claim",
    explanation: "The class names a provisioner, and nobody of that name has said anything about the claim. It is not installed, not running, or does not know the class.",
    told_apart: "A provisioner that works or fails writes events Provisioning and ProvisioningFailed.",
    cure: "Install or repair the provisioner.",
    docs: "concepts/storage/dynamic-provisioning/",
    needs: &[Kind::StorageClass],
    judge: Judge::Claim(external),
    ..ROW
};

/// The provisioner's longest pause between two tries.
const LONGEST_PAUSE: i64 = 300;
/// A provisioner that runs says so within this time.
const ANSWER: i64 = 60;
/// Tries after which an error is not cured by trying.
const TRIES: i64 = 3;

/// Codes with which a driver asks to be tried again.
const TRANSIENT: &[&str] = &["DeadlineExceeded", "Aborted", "Unavailable", "Canceled"];
/// Codes that only a change cures.
const FINAL: &[&str] = &["InvalidArgument", "PermissionDenied", "Unauthenticated", "OutOfRange", "Unimplemented"];

fn failed(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    if !is_pending(claim) {
        return None;
    }
    let root = reference(claim);
    let event = cx.newest_event(&root, &["ProvisioningFailed", "ProvisioningSucceeded"]).filter(|e| &*e.reason == "ProvisioningFailed")?;
    if texts::matches(r#"(?i)storageclass[^ ]* "[^"]+" not found"#, &event.message) {
        return None;
    }
    let (code, text) = texts::rpc(&event.message);
    let text = text.strip_prefix("failed to provision volume with StorageClass ").unwrap_or(text);
    let (short, long) = (brief(text, TITLE), brief(text, SENTENCE));
    let provisioner = event.source.split('_').next().unwrap_or(&event.source);
    let who = if provisioner.is_empty() { "the provisioner" } else { provisioner };
    let key = Key::object(&root);
    let finding = match retry(cx, event, code) {
        Some(at) => Finding::delayed(key, root.clone()).clock(ClockKind::Retry, "the provisioner's next try", Some(at)),
        None => Finding::blocked(key, root.clone()),
    };
    let finding = about(claim, finding)
        .title(format!("{who} cannot make a volume for claim {}: {short}", root.place()))
        .because(format!("Provisioner {who} tries to make the volume of claim {} and fails: {long}.", root.place()))
        .next(format!(
            "Cure what {who} reports: its rights and quota at the storage, or the parameters of StorageClass {}.",
            class(claim).unwrap_or("")
        ))
        .fact("provisioner", who)
        .fact("tries", event.count)
        .event(root, event);
    Some(match code {
        Some(code) => finding.fact("code", code),
        None => finding,
    })
}

/// When the next try may well succeed; `None` where only a change helps.
fn retry(cx: &Cx<'_>, event: &Event, code: Option<&str>) -> Option<Time> {
    let next = event.last?.plus(LONGEST_PAUSE);
    let code = code.unwrap_or("");
    let lasts = event.count >= TRIES;
    let patient = TRANSIENT.contains(&code) && !cx.older(event.first, 4 * LONGEST_PAUSE);
    (patient || !lasts && !FINAL.contains(&code) && !cx.passed(next)).then_some(next)
}

/// The first line of an error. Errors wrap each other as `outer: inner`: outer ones are left out until the rest is short enough.
pub(super) fn brief(text: &str, most: usize) -> String {
    let mut line = text.lines().next().unwrap_or(text).trim();
    while line.chars().count() > most {
        let Some((_, inner)) = line.split_once(": ") else { break };
        line = inner;
    }
    let mut cut: String = line.chars().take(most).collect();
    cut.truncate(cut.trim_end_matches(['.', ':', ' ']).len());
    if line.chars().count() > most {
        cut.push('…');
    }
    cut
}

/// An error in a title, and in a sentence.
pub(super) const TITLE: usize = 90;
pub(super) const SENTENCE: usize = 300;

fn external(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<Finding> {
    if !is_pending(claim) || !claim.spec.volume_name.is_empty() {
        return None;
    }
    let class = cx.get::<StorageClass>("", class(claim)?).is()?;
    let waits = class.waits_for_consumer() && claim.meta.annotation(SELECTED_NODE).is_none();
    if waits || matches!(&*class.provisioner, "" | "kubernetes.io/no-provisioner") {
        return None;
    }
    let root = reference(claim);
    let spoke = cx.newest_event(&root, &["Provisioning", "ProvisioningFailed", "ProvisioningSucceeded"]).and_then(|e| e.last);
    let asked = cx.newest_event(&root, &["ExternalProvisioning"]);
    let since = asked.and_then(|e| e.first).or(claim.meta.created);
    // Events age out after an hour: what the provisioner said before is lost then, and only a fresh claim proves its silence.
    let until = spoke.or(since)?.plus(ANSWER);
    let late = cx.passed(until);
    let name = &class.provisioner;
    let key = Key::object(&root);
    let finding = if late {
        Finding::blocked(key, root.clone())
    } else {
        Finding::delayed(key, root.clone()).clock(ClockKind::Provisioning, "the provisioner", Some(until))
    };
    let mut finding = about(claim, finding)
        .title(if late {
            format!("provisioner {name} does not answer for claim {}", root.place())
        } else {
            format!("{name} is making the volume of claim {}", root.place())
        })
        .because(if late {
            format!(
                "StorageClass {} leaves claim {} to {name}, and nobody of that name has said anything about it for a minute.",
                class.meta.name,
                root.place()
            )
        } else {
            format!("{name} was asked for a volume for claim {}.", root.place())
        })
        .next(if late {
            format!("Install or repair {name}: its controller must run and watch StorageClass {}.", class.meta.name)
        } else {
            "Wait for the volume.".to_owned()
        })
        .fact("provisioner", name);
    finding.waits_on.extend(behind(cx, name));
    Some(match asked {
        Some(event) => finding.event(root, event),
        None => finding.evidence(ObjectRef::new("StorageClass", "", &class.meta.name), "provisioner", &**name, None),
    })
}

/// Workloads that are the controller of a driver, by their names: `ebs.csi.aws.com` is served by something like `ebs-csi-controller`.
pub(super) fn behind(cx: &Cx<'_>, driver: &str) -> Vec<ObjectRef> {
    let token = driver.rsplit_once('/').map_or_else(|| driver.split('.').next().unwrap_or(driver), |(_, name)| name);
    if token.len() < 3 {
        return Vec::new();
    }
    let all = cx.all::<Deployment>(None).map(Workload::Deployment).chain(cx.all::<StatefulSet>(None).map(Workload::StatefulSet));
    let serves = |w: &Workload<'_>| w.meta().name.contains(token) && ["csi", "provision"].iter().any(|part| w.meta().name.contains(part));
    all.filter(serves).map(Workload::reference).collect()
}
