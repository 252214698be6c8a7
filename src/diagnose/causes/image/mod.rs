//! Waiting · image: the container runtime cannot get what the container is made from.

mod failure;
mod local;
mod pull;
mod reference;
mod refused;
mod slow;
mod unreachable;

use crate::diagnose::{Cause, Judge, Layer, Stage};

pub(super) const CAUSES: &[Cause] = &[
    slow::SLOW,
    pull::GENERIC,
    pull::BACK_OFF,
    refused::NOT_FOUND,
    refused::DENIED,
    refused::RATE_LIMITED,
    refused::PLATFORM,
    refused::SIGNATURE,
    unreachable::TLS,
    unreachable::DNS,
    unreachable::TIMEOUT,
    unreachable::SERVER_ERROR,
    unreachable::UNAVAILABLE,
    local::NAME_INVALID,
    local::NEVER_PULL,
    local::INSPECT,
    local::DISK_FULL,
    local::BAD_LAYER,
    local::QPS,
];

/// What the rows of this layer share.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Image,
    stage: Stage::Containers,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "concepts/containers/images/",
    needs: &[],
    clears: 60,
    judge: Judge::By("image-pull-error-generic"),
};
