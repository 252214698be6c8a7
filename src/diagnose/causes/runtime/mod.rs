//! Crashing · runtime: a container cannot be made, cannot be started, or does not stay.

mod config;
mod crash;
mod create;
mod ended;
mod limits;
mod rejected;
mod start;

use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, Cx, Finding, Judge, Layer, Stage};
use crate::model::Pod;

pub(super) const CAUSES: &[Cause] = &[
    limits::MILLI,
    crash::CRASH_LOOP,
    crash::OOM,
    crash::EXIT,
    config::SECRET,
    config::CONFIG_MAP,
    config::KEY,
    config::NON_ROOT,
    config::SUB_PATH,
    config::CACHE,
    create::GENERIC,
    create::RESERVED,
    start::NOT_FOUND,
    start::DENIED,
    start::FORMAT,
    start::MOUNT,
    start::LIMITS,
    start::GENERIC,
    ended::EVICTED,
    ended::LOCAL_LIMIT,
    ended::DEADLINE,
    ended::TERMINAL,
    rejected::RESOURCES,
    rejected::DEVICE,
    rejected::PREDICATE,
    rejected::SHUTDOWN,
];

/// What the rows of this layer share.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Runtime,
    stage: Stage::Containers,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "tasks/debug/debug-application/debug-pods/",
    needs: &[],
    clears: 60,
    judge: Judge::By("crashloop-backoff"),
};

/// What keeps the kubelet from making a container is asked before how the containers that were made end.
fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    let told =
        config::judge(cx, pod).or_else(|| create::judge(cx, pod)).or_else(|| start::judge(cx, pod)).or_else(|| crash::judge(cx, pod));
    told.map(|(id, finding)| (id, standing::named(finding)))
}
