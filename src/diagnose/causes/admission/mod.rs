//! Not created · admission: the API server refused what a controller wanted to make.

mod invalid;
mod limits;
mod missing;
mod namespace;
mod policy;
mod quota;
pub(super) mod refusal;
mod security;
mod server;
mod webhook;
mod wrapped;

use crate::diagnose::{Cause, Judge, Layer, Stage};

/// The order is that of asking: what names an object before what only quotes.
pub(super) const CAUSES: &[Cause] = &[
    namespace::TERMINATING,
    quota::EXCEEDED,
    quota::REQUIRES,
    quota::UNKNOWN,
    quota::SCOPE,
    limits::VIOLATION,
    security::POD_SECURITY,
    security::SCC,
    webhook::DENIED,
    webhook::UNREACHABLE,
    webhook::TIMEOUT,
    policy::DENIED,
    missing::SERVICE_ACCOUNT,
    missing::PRIORITY_CLASS,
    missing::RUNTIME_CLASS,
    invalid::FORBIDDEN,
    invalid::SPEC,
    server::BUSY,
    wrapped::REPLICA_SET,
    wrapped::CLAIM,
    wrapped::GENERIC,
];

/// What the rows of this layer have in common.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Admission,
    stage: Stage::Creation,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "reference/access-authn-authz/admission-controllers/",
    needs: &[],
    clears: 60,
    judge: Judge::Workload(|_, _| None),
};
