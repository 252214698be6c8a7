//! Stalled · rollout: the controllers of workloads wait, were told to wait, or have given up.

mod autoscaler;
mod cronjob;
mod daemonset;
mod deployment;
mod job;
mod observed;
mod on_purpose;
mod paused;
mod revisions;
mod sidecar;
mod statefulset;

use crate::diagnose::{Cause, Judge, Layer, Stage};

/// The order is that of asking: whether the controller works at all, what is on purpose, then what stalls.
pub(super) const CAUSES: &[Cause] = &[
    observed::NOT_OBSERVING,
    observed::JOB_NOT_STARTED,
    paused::PAUSED,
    on_purpose::SCALED_TO_ZERO,
    on_purpose::JOB_SUSPENDED,
    on_purpose::CRONJOB_SUSPENDED,
    deployment::REPLICA_FAILURE,
    deployment::DEADLINE,
    deployment::SURGE,
    deployment::PROGRESSING,
    deployment::UNAVAILABLE,
    statefulset::BROKEN_REVISION,
    statefulset::ORDERED_STALL,
    on_purpose::PARTITION,
    on_purpose::ON_DELETE,
    daemonset::UNAVAILABLE,
    job::BACKOFF_LIMIT,
    job::DEADLINE,
    job::FAILURE_POLICY,
    job::FAILED_INDEXES,
    sidecar::JOB_SIDECAR,
    cronjob::BAD_SCHEDULE,
    cronjob::FORBID_ACTIVE,
    autoscaler::UNABLE,
    autoscaler::INACTIVE,
    autoscaler::DISABLED_ZERO,
];

/// What the rows of this layer have in common.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Rollout,
    stage: Stage::Rollout,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "concepts/workloads/",
    needs: &[],
    clears: 60,
    judge: Judge::Workload(|_, _| None),
};
