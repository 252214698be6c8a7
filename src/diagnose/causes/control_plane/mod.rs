//! Control plane: what makes everything else go: controllers, the datastore, webhooks, aggregated APIs, and what we may read.

mod api;
mod etcd;
mod frozen;
mod leases;
mod reader;
mod webhook;

use crate::diagnose::{Cause, Judge, Layer, Stage};

pub(super) const CAUSES: &[Cause] = &[
    etcd::SLOW_OR_DOWN,
    leases::CONTROLLER_MANAGER,
    leases::SCHEDULER,
    frozen::FROZEN,
    webhook::OUTAGE,
    api::SERVICE,
    api::DEFINITION,
    reader::FORBIDDEN,
];

/// What the rows of this layer have in common.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::ControlPlane,
    stage: Stage::Cluster,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "concepts/overview/components/",
    needs: &[],
    clears: 60,
    judge: Judge::ControlPlane(|_| Vec::new()),
};
