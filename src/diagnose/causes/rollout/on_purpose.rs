//! What somebody decided: no blocker, shown on request with its reason.

use crate::diagnose::{Cause, Cx, Finding, Judge, Workload};
use crate::model::{RollingUpdate, UpdateStrategy};

pub(super) const SCALED_TO_ZERO: Cause = Cause {
    id: "scaled-to-zero",
    title: "Scaled to 0",
    explanation: "spec.replicas is 0: no pod is wanted, so none is missing. An autoscaler leaves such a workload alone.",
    told_apart: "A workload whose pods are refused or cannot be placed wants some and has none.",
    cure: "kubectl scale --replicas=N, if pods are wanted.",
    docs: "concepts/workloads/controllers/deployment/#scaling-a-deployment",
    judge: Judge::Workload(scaled_to_zero),
    ..super::ROW
};

pub(super) const JOB_SUSPENDED: Cause = Cause {
    id: "job-suspended",
    title: "A Job is suspended",
    explanation: "spec.suspend is true: the Job makes no pods until it is set to false, by hand or by a queueing controller that lets it in.",
    told_apart: "job-not-started is not suspended, and nobody took it up.",
    cure: "Set spec.suspend to false; for a queued Job look at the queue's quota.",
    docs: "concepts/workloads/controllers/job/#suspending-a-job",
    judge: Judge::Workload(job_suspended),
    ..super::ROW
};

pub(super) const CRONJOB_SUSPENDED: Cause = Cause {
    id: "cronjob-suspended",
    title: "A CronJob is suspended",
    explanation: "spec.suspend is true: no run is started until it is set to false. Jobs that run already go on.",
    told_apart: "cronjob-forbid-active skips runs because one is still going on.",
    cure: "Set spec.suspend to false.",
    docs: "concepts/workloads/controllers/cron-jobs/#schedule-suspension",
    judge: Judge::Workload(cronjob_suspended),
    ..super::ROW
};

pub(super) const PARTITION: Cause = Cause {
    id: "statefulset-partition",
    title: "A StatefulSet's update stops at its partition",
    explanation: "updateStrategy.rollingUpdate.partition keeps pods with a lower ordinal at the old revision until it is lowered.",
    told_apart: "statefulset-ordered-stall waits for a pod that is not ready; here all pods are, and some are meant to stay old.",
    cure: "Lower the partition.",
    docs: "concepts/workloads/controllers/statefulset/#partitions",
    judge: Judge::Workload(partition),
    ..super::ROW
};

pub(super) const ON_DELETE: Cause = Cause {
    id: "statefulset-ondelete",
    title: "Pods are only updated when somebody deletes them",
    explanation: "updateStrategy OnDelete: a changed template reaches a pod of this StatefulSet or DaemonSet when the old one is deleted \
                  by hand.",
    told_apart: "A rolling update goes on by itself.",
    cure: "Delete the pods that should get the new template.",
    docs: "concepts/workloads/controllers/statefulset/#update-strategies",
    judge: Judge::Workload(on_delete),
    ..super::ROW
};

fn scaled_to_zero(_: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let replicas = match workload {
        Workload::Deployment(o) => o.spec.replicas,
        Workload::StatefulSet(o) => o.spec.replicas,
        Workload::ReplicaSet(o) => o.spec.replicas,
        Workload::DaemonSet(_) | Workload::Job(_) | Workload::CronJob(_) => None,
    };
    let root = workload.reference();
    (replicas == Some(0)).then(|| Finding::quiet(root.clone(), "scaled to 0").evidence(root, "spec.replicas", "0", workload.meta().changed))
}

fn job_suspended(_: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Job(job) = workload else { return None };
    let queue = job.meta.label("kueue.x-k8s.io/queue-name");
    let reason = queue.map_or("suspended".to_owned(), |queue| format!("suspended until queue {queue} lets it in"));
    let since = workload.condition("Suspended").filter(|c| c.is_true()).and_then(|c| c.last_transition_time);
    let root = workload.reference();
    job.spec.suspend.then(|| Finding::quiet(root.clone(), reason).since(since).evidence(root, "spec.suspend", "true", since))
}

fn cronjob_suspended(_: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::CronJob(cron) = workload else { return None };
    let root = workload.reference();
    cron.spec.suspend.then(|| Finding::quiet(root.clone(), "suspended").evidence(root, "spec.suspend", "true", cron.meta.changed))
}

fn partition(_: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::StatefulSet(set) = workload else { return None };
    let partition = set.spec.update_strategy.rolling_update.as_ref().and_then(|r: &RollingUpdate| r.partition).unwrap_or(0);
    let (desired, status) = (workload.desired(), &set.status);
    let complete = status.ready_replicas >= desired && status.updated_replicas >= (desired - partition).max(0);
    let root = workload.reference();
    (partition > 0 && complete && status.current_revision != status.update_revision).then(|| {
        let reason = format!("updated down to ordinal {partition}, as its partition says");
        Finding::quiet(root.clone(), reason).evidence(root, "spec.updateStrategy.rollingUpdate.partition", partition.to_string(), None)
    })
}

fn on_delete(_: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let old = |strategy: &UpdateStrategy| &*strategy.kind == "OnDelete";
    let waits = match workload {
        Workload::StatefulSet(o) => {
            let s = &o.status;
            old(&o.spec.update_strategy) && s.ready_replicas >= workload.desired() && s.current_revision != s.update_revision
        }
        Workload::DaemonSet(o) => {
            let s = &o.status;
            let available = s.number_available >= s.desired_number_scheduled;
            old(&o.spec.update_strategy) && available && s.updated_number_scheduled < s.desired_number_scheduled
        }
        Workload::Deployment(_) | Workload::ReplicaSet(_) | Workload::Job(_) | Workload::CronJob(_) => false,
    };
    let root = workload.reference();
    waits.then(|| {
        let reason = "pods get the new template when they are deleted (OnDelete)";
        Finding::quiet(root.clone(), reason).evidence(root, "spec.updateStrategy.type", "OnDelete", None)
    })
}
