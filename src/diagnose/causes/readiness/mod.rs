//! Not ready · readiness: containers run, and the pod or the Service does not answer.

mod gates;
mod liveness;
mod nearest;
mod probe;
mod probes;
mod services;
mod unready;

use crate::diagnose::{Cause, Judge, Layer, Stage};

pub(super) use liveness::killed;

pub(super) const CAUSES: &[Cause] = &[
    unready::CONTAINERS,
    unready::STARTUP,
    gates::GATES,
    liveness::LIVENESS,
    probes::HTTP_STATUS,
    probes::REFUSED,
    probes::TIMEOUT,
    probes::TLS,
    probes::GRPC,
    probes::ERRORED,
    probes::EXEC,
    services::MATCHES_NOTHING,
    services::NO_READY,
    services::PORT,
];

/// What the rows of this layer share.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Readiness,
    stage: Stage::Readiness,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "tasks/configure-pod-container/configure-liveness-readiness-startup-probes/",
    needs: &[],
    clears: 60,
    judge: Judge::By("containers-not-ready"),
};
