//! Terminating: somebody deleted it, or wants it gone, and it stays.

mod budgets;
mod claims;
mod finalizers;
mod namespaces;
mod pods;

use crate::diagnose::{Cause, Judge, Layer, Stage};

pub(super) const CAUSES: &[Cause] = &[
    pods::SLOW,
    claims::IN_USE,
    namespaces::DISCOVERY,
    namespaces::FAILED,
    namespaces::FINALIZERS,
    namespaces::REMAINING,
    finalizers::BLOCKED,
    budgets::EVICTION,
];

/// What the rows of this layer share.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Termination,
    stage: Stage::Deleting,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "concepts/overview/working-with-objects/finalizers/",
    needs: &[],
    clears: 60,
    judge: Judge::By("finalizer-blocked"),
};
