//! Refusals of which only the wrapper is known: what was to be made, and the answer as received.

use super::refusal::{self, Refusal};
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::ObjectRef;

pub(super) const REPLICA_SET: Cause = Cause {
    id: "replicaset-create-error",
    title: "A Deployment's new ReplicaSet is refused",
    explanation: "The Deployment changed, and the API server refuses the ReplicaSet for the new revision. After 15 tries (about 82 s) the \
                  controller gives up until the Deployment is touched.",
    told_apart: "failed-create-generic is about pods; here there is not even a ReplicaSet that could make them.",
    cure: "Lift what the refusal names, then touch the Deployment: the controller does not come back on its own for long.",
    docs: "concepts/workloads/controllers/deployment/",
    generic: true,
    judge: Judge::Workload(replica_set),
    ..super::ROW
};

pub(super) const CLAIM: Cause = Cause {
    id: "statefulset-pvc-create-failed",
    title: "A StatefulSet's claim is refused",
    explanation: "A StatefulSet makes the claims of a pod before the pod, and the API server refuses one of them.",
    told_apart: "failed-create-generic is about the pod itself; an unbound claim exists and waits for a volume.",
    cure: "Lift what the refusal names: the volumeClaimTemplate, a quota on storage, a policy.",
    docs: "concepts/workloads/controllers/statefulset/",
    generic: true,
    judge: Judge::Workload(claim),
    ..super::ROW
};

pub(super) const GENERIC: Cause = Cause {
    id: "failed-create-generic",
    title: "The API server refuses to create the pods",
    explanation: "A controller wants to make pods (or a CronJob its Job) and the API server refuses; the text names none of the known \
                  reasons. No pod appears: the refusal is only in events and in the ReplicaFailure condition.",
    told_apart: "Taken only where no specific row of this layer fits.",
    cure: "Read the refusal and lift what it names; any change of the owner brings the next try forward.",
    docs: "reference/access-authn-authz/admission-controllers/",
    generic: true,
    judge: Judge::Workload(generic),
    ..super::ROW
};

fn replica_set(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let name = texts::capture(r#"(?i)failed to create new replica set "([^"]+)""#, refusal.message)?;
    let finding = refused(workload, &refusal, &format!("ReplicaSet {name}"));
    let next = format!("Lift what the refusal names, then touch {}: the controller gives up after 15 tries.", workload.reference());
    Some(finding.next(next).fact("replicaSet", name))
}

fn claim(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let name = texts::capture(r"(?i)\bcreate claim (\S+) for pod ", refusal.message)?;
    Some(refused(workload, &refusal, &format!("claim {name}")).fact("claim", name))
}

fn generic(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let what = if matches!(workload, Workload::CronJob(_)) { "a Job" } else { "a pod" };
    Some(refused(workload, &refusal, what))
}

fn refused(workload: Workload<'_>, refusal: &Refusal<'_>, what: &str) -> Finding {
    let root: ObjectRef = workload.reference();
    let answer = refusal.answer();
    let finding = Finding::blocked(Key::object(&root), root)
        .title(format!("{what} of {} is refused: {}", workload.reference().place(), shortened(answer)))
        .because(format!("the API server refuses {what}: {}.", answer.trim_end_matches('.')))
        .next(format!("Lift what the refusal names; any change of {} brings the next try forward.", workload.reference()))
        .fact("refusal", shortened(answer));
    refusal.prove(finding)
}

/// What stands after `is forbidden:` says why; a title has room for a line.
fn shortened(answer: &str) -> String {
    let why = texts::capture(r#"is forbidden: (.+)$"#, answer).unwrap_or(answer);
    let line = why.lines().next().unwrap_or(why);
    if line.chars().count() <= 80 { line.to_owned() } else { line.chars().take(79).chain(['…']).collect() }
}
