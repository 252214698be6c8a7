//! Volumes that are where the pod cannot go.

use crate::diagnose::causes::scheduling::pending::{Pending, others, with_outcome};
use crate::diagnose::scheduling::place::words;
use crate::diagnose::scheduling::{Choice, Lack, Survey};
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Layer, Stage};
use crate::model::{Kind, ObjectRef, PersistentVolumeClaim, StorageClass};

pub(super) const CONFLICT: Cause = Cause {
    id: "pv-node-affinity-conflict",
    layer: Layer::Storage,
    stage: Stage::Unscheduled,
    generic: false,
    symptom: false,
    title: "A volume is where the pod cannot go",
    explanation: "A bound volume is tied to a zone or a node (spec.nodeAffinity, or zone labels). The pod's other rules, or what is left of the nodes there, exclude that place.",
    told_apart: "Where nodes beside the volume would take the pod but are full, cordoned or broken, that is the cause.",
    cure: "Bring a fitting node to the volume's place, or restore the data elsewhere. A StorageClass with volumeBindingMode WaitForFirstConsumer avoids it for new claims.",
    docs: "concepts/storage/storage-classes/#volume-binding-mode",
    needs: &[Kind::Node, Kind::PersistentVolume, Kind::PersistentVolumeClaim],
    clears: 60,
    judge: Judge::By("unschedulable-grammar"),
};

/// `None` where the volume may not be read: the scheduler's words alone do not say which one it is.
pub(in crate::diagnose::causes) fn conflict(
    cx: &Cx<'_>,
    pending: &Pending<'_>,
    survey: &Survey<'_>,
    choice: &Choice<'_>,
) -> Option<Finding> {
    let lacks = survey.alike.iter().flat_map(|a| &a.lacks);
    let known = lacks
        .filter_map(|l| {
            if let Lack::Volume { claim, volume, place } = l { Some((claim.clone(), volume.to_string(), place.clone())) } else { None }
        })
        .next();
    let pod = pending.pod;
    let claim = known.as_ref().map(|(claim, ..)| claim.clone()).or_else(|| pod.spec().claims(&pod.name()).into_iter().next())?;
    let root = ObjectRef::new("PersistentVolumeClaim", pod.namespace(), &claim);
    let (verdict, clock, more) = pending.outcome(cx, choice);
    let class =
        cx.get::<PersistentVolumeClaim>(pod.namespace(), &claim).is().and_then(|c| c.spec.storage_class_name.as_deref()).unwrap_or("");
    let immediate = cx.get::<StorageClass>("", class).is().filter(|c| !c.waits_for_consumer());
    let wanted = pod.spec().affinity.node_affinity.required.as_ref().map(words);
    let wanted = wanted.map_or_else(String::new, |w| format!(" The pod may only run on nodes with {w}."));
    let why = immediate.map_or_else(String::new, |c| {
        format!(" StorageClass {} binds at once (volumeBindingMode Immediate), before anybody knows where the pod will run.", c.meta.name)
    });
    let (title, because) = match &known {
        Some((_, volume, place)) => (
            format!("the volume of claim {claim} is in {}, where the pod cannot go", brief(place)),
            format!(
                "Volume {volume} of claim {claim} is tied to {place}; no node there takes the pod.{wanted}{why}{}",
                others(survey, choice)
            ),
        ),
        None => (
            format!("a volume of {} is where it cannot go", pending.workload.place()),
            format!("The volume of claim {claim} is tied to other nodes than the pod may use.{wanted}{why}"),
        ),
    };
    let mut finding = pending.finding(verdict, Key::object(&root), root.clone()).title(title).next(format!(
        "Let the pod run where the volume is, or delete claim {claim} (its data goes with it) and let it be made again where the pod runs."
    ));
    finding = finding.fact("claim", &claim);
    if let Some((_, volume, place)) = known {
        let object = ObjectRef::new("PersistentVolume", "", &volume);
        finding = finding.fact("volume", &volume).fact("volume is in", &place).evidence(object, "spec.nodeAffinity", place, None);
    }
    if !class.is_empty() {
        finding = finding.fact("storageClass", class).wider(Key::object(&ObjectRef::new("StorageClass", "", class)));
    }
    Some(with_outcome(finding, clock, &because, more))
}

/// `topology.kubernetes.io/zone=b` is `b` to a reader.
fn brief(place: &str) -> &str {
    let simple = |value: &&str| !value.contains(' ');
    place.split_once('=').map(|(_, value)| value).filter(simple).unwrap_or(place)
}
