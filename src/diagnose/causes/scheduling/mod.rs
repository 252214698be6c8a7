//! Pending · scheduling: no node takes the pod.

mod capacity;
mod neighbours;
mod nodes;
pub(super) mod pending;
mod queue;
mod refused;

use crate::diagnose::Cause;

pub(super) const CAUSES: &[Cause] = &[
    queue::GATED,
    queue::PREEMPTION,
    queue::UNKNOWN_SCHEDULER,
    queue::NO_SCHEDULER,
    capacity::RESOURCE,
    capacity::PODS,
    capacity::NO_SCALE_UP,
    nodes::TAINT,
    nodes::CORDONED,
    nodes::AFFINITY,
    nodes::NO_NODES,
    neighbours::POD_AFFINITY,
    neighbours::SPREAD,
    neighbours::PORT,
    refused::ERROR,
    refused::GRAMMAR,
];
