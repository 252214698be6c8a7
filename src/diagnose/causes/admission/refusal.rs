//! Refusal: what the API server last answered a workload's controller.

use crate::diagnose::{Cx, Finding, Workload};
use crate::model::{ObjectRef, ReplicaSet, Time};

/// The newest refusal of a pod, and where it stands.
pub(super) struct Refusal<'a> {
    /// Without the controller's prefix.
    pub message: &'a str,
    /// Who was refused: a Deployment's refusals are on its ReplicaSet.
    pub object: ObjectRef,
    pub path: String,
    pub at: Option<Time>,
    pub first: Option<Time>,
}

/// The refusal that keeps a workload short of pods; `None` while it is not short.
pub(super) fn of<'a>(cx: &Cx<'a>, workload: Workload<'_>) -> Option<Refusal<'a>> {
    let makers = makers(cx, workload);
    let newest = makers.iter().filter_map(|m| cx.newest_event(m, &["FailedCreate"]).map(|e| (m, e))).max_by_key(|(_, e)| e.last);
    let condition = makers.iter().find_map(|m| condition(cx, m));
    match (newest, condition) {
        (Some((maker, event)), condition) => {
            let first = condition.and_then(|c| c.first).or(event.first);
            Some(Refusal { message: &event.message, object: maker.clone(), path: "event FailedCreate".into(), at: event.last, first })
        }
        (None, condition) => condition,
    }
}

impl Refusal<'_> {
    /// The refusal as evidence of a finding, with the time since when it holds.
    pub(super) fn prove(&self, finding: Finding) -> Finding {
        finding.since(self.first).evidence(self.object.clone(), self.path.clone(), self.message, self.at)
    }
}

/// Objects whose controller makes the pods: events and conditions are theirs.
fn makers(cx: &Cx<'_>, workload: Workload<'_>) -> Vec<ObjectRef> {
    let own = workload.reference();
    let Workload::Deployment(d) = workload else { return vec![own] };
    let sets = cx.owned::<ReplicaSet>(&d.meta.uid).into_iter().filter(|rs| rs.spec.replicas.unwrap_or(1) > rs.status.replicas);
    sets.map(|rs| ObjectRef::new("ReplicaSet", &rs.meta.namespace, &rs.meta.name)).chain([own]).collect()
}

/// ReplicaFailure keeps the first text for as long as it stands: it proves since when, an event tells the newest.
fn condition<'a>(cx: &Cx<'a>, maker: &ObjectRef) -> Option<Refusal<'a>> {
    let set = cx.workload(maker)?;
    let condition = set.condition("ReplicaFailure").filter(|c| c.is_true())?;
    let path = "status.conditions[type=ReplicaFailure].message".to_owned();
    Some(Refusal {
        message: &condition.message,
        object: maker.clone(),
        path,
        at: condition.last_transition_time,
        first: condition.last_transition_time,
    })
}
