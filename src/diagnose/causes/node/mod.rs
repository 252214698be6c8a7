//! Unknown · node: a node is down, unfit or not in service yet, and what that means for its pods.

mod joining;
mod not_ready;
mod pods;
mod pressure;
mod silent;
mod together;

use crate::diagnose::Cause;

pub(super) const CAUSES: &[Cause] = &[
    pods::DEAD,
    pods::EVICTION,
    pods::BY_NODE,
    pods::STALLED,
    silent::UNREACHABLE,
    not_ready::RUNTIME,
    not_ready::NETWORK,
    not_ready::PLEG,
    not_ready::CSI,
    not_ready::CAPACITY,
    not_ready::SHUTDOWN,
    pressure::DISK,
    pressure::MEMORY,
    pressure::PID,
    pressure::ROUTE,
    pressure::PROBLEM,
    joining::CLOUD,
    joining::STARTUP,
    joining::CORDONED,
    not_ready::GENERIC,
];
