//! Rollouts of Deployments: under way, out of time, kept from adding or removing pods.

use super::revisions::{Allowance, Revisions};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload};
use crate::model::{Condition, Deployment, ObjectRef, ReplicaSet, Time};

const ROW: Cause = Cause { docs: "concepts/workloads/controllers/deployment/", symptom: true, ..super::ROW };

pub(super) const REPLICA_FAILURE: Cause = Cause {
    id: "deployment-replica-failure",
    title: "A ReplicaSet cannot make or remove its pods",
    explanation: "The condition ReplicaFailure stands: the API server refused to create or to delete a pod of the ReplicaSet.",
    told_apart: "Refused creations that leave pods missing have rows of their own in admission; this is what remains, deletions above all.",
    cure: "Lift what the condition's message names.",
    judge: Judge::Workload(replica_failure),
    ..ROW
};

pub(super) const DEADLINE: Cause = Cause {
    id: "deployment-deadline-exceeded",
    title: "A rollout has run out of its deadline",
    explanation: "For progressDeadlineSeconds no pod was updated, became ready or became available. The controller does not roll back and \
                  goes on trying; only the condition changes.",
    told_apart: "A consequence wherever the pods themselves say what they lack. A pod that is ready for moments between crashes counts \
                 as progress and can keep the deadline from ever running out.",
    cure: "Fix what keeps the new pods from becoming available, or roll back: kubectl rollout undo.",
    judge: Judge::Workload(deadline),
    ..ROW
};

pub(super) const SURGE: Cause = Cause {
    id: "rollout-limited-by-surge",
    title: "A rollout may neither add nor remove a pod",
    explanation: "maxSurge allows no further new pod and maxUnavailable none less, while the new pods are not available: old pods stay \
                  until they are.",
    told_apart: "The deadline of a rollout says that it stands still; this row says why no old pod makes room.",
    cure: "Fix the new pods, or let the strategy remove an old pod first (maxUnavailable: 1).",
    judge: Judge::Workload(surge),
    ..ROW
};

pub(super) const PROGRESSING: Cause = Cause {
    id: "deployment-progressing",
    title: "A rollout is under way",
    explanation: "Pods of the newest revision are still being made, or become ready or available one after the other, and the deadline has \
                  not run out.",
    told_apart: "deployment-deadline-exceeded has run out of time. After a rollout has been complete once no deadline runs: pods that \
                 break later never exceed one.",
    cure: "Watch the pods of the new ReplicaSet; what holds them up is usually to be seen long before the deadline.",
    generic: true,
    judge: Judge::Workload(progressing),
    ..ROW
};

pub(super) const UNAVAILABLE: Cause = Cause {
    id: "deployment-unavailable",
    title: "A Deployment lacks available pods",
    explanation: "The last rollout was complete, and since then fewer pods are available than wanted: some broke, were evicted, or were added \
                  by scaling. No deadline runs for this, so the Deployment's conditions never call it failed.",
    told_apart: "A consequence wherever the pods themselves say what they lack; deployment-progressing is a rollout with a deadline.",
    cure: "Look at the pods that are not available.",
    generic: true,
    judge: Judge::Workload(unavailable),
    ..ROW
};

fn replica_failure(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let failure = |conditions| Condition::find(conditions, "ReplicaFailure").filter(|c| c.is_true());
    let (object, condition) = match workload {
        Workload::Deployment(d) => {
            let sets = cx.owned::<ReplicaSet>(&d.meta.uid);
            let of_set = |rs: &ReplicaSet| ObjectRef::new("ReplicaSet", &rs.meta.namespace, &rs.meta.name);
            sets.iter().find_map(|rs| Some((of_set(rs), failure(&rs.status.conditions)?)))?
        }
        Workload::ReplicaSet(rs) => (workload.reference(), failure(&rs.status.conditions)?),
        Workload::StatefulSet(_) | Workload::DaemonSet(_) | Workload::Job(_) | Workload::CronJob(_) => return None,
    };
    let root = workload.reference();
    let verb = if &*condition.reason == "FailedDelete" { "remove" } else { "make" };
    Some(
        Finding::blocked(Key::object(&root), root.clone())
            .title(format!("{} cannot {verb} a pod of {}", object.kind, root.place()))
            .because(format!("the API server refuses to {verb} a pod: {}.", condition.message))
            .next("Lift what the refusal names.")
            .since(condition.last_transition_time)
            .fact("reason", &condition.reason)
            .evidence(object, "status.conditions[type=ReplicaFailure].message", &*condition.message, condition.last_transition_time),
    )
}

/// `2 of 3 pods updated, 1 available`.
fn counts(deployment: &Deployment) -> String {
    let s = &deployment.status;
    format!("{} of {} pods updated, {} available", s.updated_replicas, deployment.spec.replicas.unwrap_or(1), s.available_replicas)
}

/// progressDeadlineSeconds as the API server defaults it.
const DEFAULT_DEADLINE: i64 = 600;

fn deadline(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Deployment(deployment) = workload else { return None };
    let condition = workload.condition("Progressing").filter(|c| !c.is_true() && &*c.reason == "ProgressDeadlineExceeded")?;
    let seconds = deployment.spec.progress_deadline_seconds.unwrap_or(DEFAULT_DEADLINE);
    let root = workload.reference();
    let revisions = Revisions::of(cx, deployment);
    let kept = limits(deployment, &revisions).map(|limits| format!("; {limits}")).unwrap_or_default();
    let finding = Finding::blocked(Key::object(&root), root.clone())
        .title(format!("the rollout of {} has made no progress for {seconds} s", root.place()))
        .because(format!("{}{kept}; the controller does not roll back and goes on trying.", counts(deployment)))
        .next(format!(
            "Fix what keeps the new pods from becoming available, or roll back: kubectl -n {} rollout undo deployment {}.",
            root.namespace, root.name
        ))
        .since(condition.last_transition_time)
        .fact("progressDeadlineSeconds", seconds)
        .fact("pods", counts(deployment))
        .evidence(root, "status.conditions[type=Progressing].message", &*condition.message, condition.last_update_time);
    Some(with_set(finding, &revisions))
}

fn with_set(finding: Finding, revisions: &Revisions<'_>) -> Finding {
    revisions.newest.iter().fold(finding, |f, rs| f.fact("replicaSet", &rs.meta.name))
}

/// Why no old pod makes room for a new one, if that is so.
fn limits(deployment: &Deployment, revisions: &Revisions<'_>) -> Option<String> {
    let allowance = Allowance::of(deployment)?;
    let (desired, available) = (deployment.spec.replicas.unwrap_or(1), deployment.status.available_replicas);
    let may_go = available - (desired - allowance.unavailable);
    let may_come = desired + allowance.surge - deployment.status.replicas;
    (revisions.old_pods() > 0 && may_go <= 0 && may_come <= 0).then(|| {
        format!(
            "maxSurge {} allows no further pod and maxUnavailable {} none less, so {} old pods stay",
            allowance.surge,
            allowance.unavailable,
            revisions.old_pods()
        )
    })
}

/// Only where no deadline tells the same: it is switched off with the largest 32-bit number.
fn surge(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Deployment(deployment) = workload else { return None };
    if deployment.spec.progress_deadline_seconds.is_none_or(|s| s < i64::from(i32::MAX)) {
        return None;
    }
    let revisions = Revisions::of(cx, deployment);
    let limits = limits(deployment, &revisions)?;
    let begun = newest_pod(cx, &revisions)?;
    let root = workload.reference();
    let finding = if cx.passed(begun.plus(DEFAULT_DEADLINE)) {
        Finding::blocked(Key::object(&root), root.clone())
    } else {
        Finding::delayed(Key::object(&root), root.clone())
    };
    let finding = finding
        .title(format!("the rollout of {} waits for its new pods", root.place()))
        .because(format!("{}; {limits}.", counts(deployment)))
        .next("Fix the new pods, or let the strategy remove an old pod first: maxUnavailable: 1.")
        .since(Some(begun))
        .evidence(root, "spec.strategy.rollingUpdate", limits, None);
    Some(with_set(finding, &revisions))
}

fn newest_pod(cx: &Cx<'_>, revisions: &Revisions<'_>) -> Option<Time> {
    cx.pods_of(&revisions.newest?.meta.uid).into_iter().filter_map(|p| p.created()).max()
}

fn progressing(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Deployment(deployment) = workload else { return None };
    let revisions = Revisions::of(cx, deployment);
    let condition = workload.condition("Progressing");
    let unfinished = deployment.status.updated_replicas < workload.desired() || revisions.old_pods() > 0;
    if condition.map_or(!unfinished, |c| !c.is_true() || !is_rolling(&c.reason)) {
        return None;
    }
    let root = workload.reference();
    let begun = revisions.newest.and_then(|rs| rs.meta.created);
    let finding = Finding::delayed(Key::object(&root), root.clone())
        .title(format!("{} is rolling out: {}", root.place(), counts(deployment)))
        .because(format!("{}.", counts(deployment)))
        .next("Watch the pods that are not available yet.")
        .since(begun.or(condition.and_then(|c| c.last_transition_time)))
        .fact("pods", counts(deployment));
    let finding = condition.into_iter().fold(finding, |f, c| in_time(f, deployment, c, &root));
    let finding = finding.evidence(root, "status.availableReplicas", deployment.status.available_replicas.to_string(), None);
    Some(with_set(finding, &revisions))
}

/// As long as a rollout has by default to make progress.
const TOO_LONG: i64 = DEFAULT_DEADLINE;

fn unavailable(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Deployment(deployment) = workload else { return None };
    let (desired, available) = (workload.desired(), deployment.status.available_replicas);
    if available >= desired {
        return None;
    }
    let root = workload.reference();
    let since = workload.condition("Available").filter(|c| !c.is_true()).and_then(|c| c.last_transition_time);
    let since = since.or_else(|| cx.unready_pods_below(workload).iter().filter_map(|p| p.ready_since()).min());
    let finding = if cx.older(since, TOO_LONG) {
        Finding::blocked(Key::object(&root), root.clone())
    } else {
        Finding::delayed(Key::object(&root), root.clone()).clock(ClockKind::Budget, "start of its pods", since.map(|at| at.plus(TOO_LONG)))
    };
    Some(
        finding
            .title(format!("{} has {available} of {desired} pods available", root.place()))
            .because(format!("{available} of {desired} pods are available; no rollout is under way, so no deadline runs."))
            .next(format!("Look at the pods of {} that are not available.", root.place()))
            .since(since)
            .fact("pods", counts(deployment))
            .evidence(root, "status.availableReplicas", available.to_string(), since),
    )
}

/// `NewReplicaSetAvailable` is the reason of a rollout that has been complete.
fn is_rolling(reason: &str) -> bool {
    matches!(reason, "NewReplicaSetCreated" | "FoundNewReplicaSet" | "ReplicaSetUpdated")
}

fn in_time(finding: Finding, deployment: &Deployment, condition: &Condition, root: &ObjectRef) -> Finding {
    let seconds = deployment.spec.progress_deadline_seconds.unwrap_or(DEFAULT_DEADLINE);
    let from = condition.last_update_time.or(condition.last_transition_time);
    finding
        .because(format!("{}; the last progress was in time, {seconds} s without any would be too long.", counts(deployment)))
        .clock(ClockKind::Deadline, "progressDeadlineSeconds", from.map(|at| at.plus(seconds)))
        .fact("progressDeadlineSeconds", seconds)
        .evidence(root.clone(), "status.conditions[type=Progressing].message", &*condition.message, from)
}
