//! Unknown · node: a node is down, unfit or not in service yet, and what that means for its pods.

mod joining;
mod not_ready;
mod pods;
mod pressure;
mod silent;
mod together;

use crate::diagnose::{Cause, Cx, Finding, Judge, Layer, Stage};
use crate::model::{Kind, Node};

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

/// A row that judges nodes; `docs` is the page that tells more.
const fn row(
    docs: &'static str,
    id: &'static str,
    title: &'static str,
    explanation: &'static str,
    told_apart: &'static str,
    cure: &'static str,
    judge: fn(&Cx<'_>, &Node) -> Option<Finding>,
) -> Cause {
    Cause {
        id,
        layer: Layer::Node,
        stage: Stage::Cluster,
        generic: false,
        symptom: false,
        title,
        explanation,
        told_apart,
        cure,
        docs,
        needs: &[Kind::Node],
        clears: 120,
        judge: Judge::Node(judge),
    }
}
