//! Deployments that are paused: with a change waiting a stopped rollout, without one a decision.

use super::revisions::{Revisions, differences};
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload};
use crate::model::{Deployment, ObjectRef};

pub(super) const PAUSED: Cause = Cause {
    id: "deployment-paused",
    title: "A paused Deployment holds a change back",
    explanation: "spec.paused stops rollouts: a changed template makes no new ReplicaSet, and a rollout under way stays where it is. No \
                  deadline runs meanwhile. Scaling still works.",
    told_apart: "Paused with nothing waiting is a decision and stays quiet; paused with a template that no pod runs is a rollout that \
                 somebody waits for.",
    cure: "kubectl rollout resume, or take the change back.",
    docs: "concepts/workloads/controllers/deployment/#pausing-and-resuming-a-deployment",
    judge: Judge::Workload(paused),
    ..super::ROW
};

fn paused(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Deployment(deployment) = workload else { return None };
    if !deployment.spec.paused {
        return None;
    }
    let root = workload.reference();
    let since = workload.condition("Progressing").filter(|c| &*c.reason == "DeploymentPaused").and_then(|c| c.last_transition_time);
    let revisions = Revisions::of(cx, deployment);
    if !holds_back(deployment, &revisions) {
        let quiet = Finding::quiet(root.clone(), "paused, with no change waiting").since(since);
        return Some(quiet.evidence(root, "spec.paused", "true", since));
    }
    Some(change(deployment, &revisions, root).since(since))
}

/// The controller goes on counting pods of the newest template while paused, so the status tells: less than desired means that some
/// pods run an older template, or that none was ever made.
fn holds_back(deployment: &Deployment, revisions: &Revisions<'_>) -> bool {
    let desired = deployment.spec.replicas.unwrap_or(1);
    let updated = deployment.status.updated_replicas;
    desired > 0 && updated < desired && (updated == 0 || revisions.old_pods() > 0)
}

fn change(deployment: &Deployment, revisions: &Revisions<'_>, root: ObjectRef) -> Finding {
    // A rollout stopped half-way has the new template in its newest ReplicaSet already.
    let half_way = deployment.status.updated_replicas > 0;
    let running = if half_way { revisions.older.iter().copied().find(|rs| rs.status.replicas > 0) } else { revisions.newest };
    let changes = running.map(|rs| differences(&rs.spec.template, &deployment.spec.template)).unwrap_or_default();
    let what = if changes.is_empty() { "a changed template".to_owned() } else { changes.join(", ") };
    let (updated, desired) = (deployment.status.updated_replicas, deployment.spec.replicas.unwrap_or(1));
    let finding = Finding::blocked(Key::object(&root), root.clone())
        .title(format!("{} is paused with a change waiting: {what}", root.place()))
        .because(format!("spec.paused is true and {updated} of {desired} pods run the newest template; no deadline runs while paused."))
        .next(format!("Resume it: kubectl -n {} rollout resume deployment {}; or take the change back.", root.namespace, root.name))
        .fact("paused", true)
        .fact("updated", format!("{updated} of {desired}"))
        .evidence(root.clone(), "spec.paused", "true", None);
    let images = deployment.spec.template.spec.containers.iter().map(|c| format!("{}={}", c.name, c.image)).collect::<Vec<_>>();
    finding.fact("change", what).evidence(root, "spec.template.spec.containers[].image", images.join(", "), None)
}
