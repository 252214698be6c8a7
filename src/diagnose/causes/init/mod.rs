//! Waiting · init: the pod has a node and no container of its own yet: sandbox, network, init containers.

mod containers;
mod network;
mod sandbox;
mod sidecar;
mod target;
mod words;

use crate::diagnose::{Cause, Judge, Layer, Stage};

pub(super) const CAUSES: &[Cause] = &[
    network::FAILED,
    network::EXHAUSTED,
    sandbox::GENERIC,
    sandbox::RESERVED,
    sandbox::TIMEOUT,
    sandbox::IMAGE,
    sandbox::RUNTIME_CLASS,
    containers::RUNNING,
    containers::CRASH_LOOP,
    sidecar::NOT_STARTED,
];

/// What the rows of this layer share.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Init,
    stage: Stage::Starting,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "concepts/workloads/pods/init-containers/",
    needs: &[],
    clears: 60,
    judge: Judge::By("cni-failed"),
};
