//! Pending · storage, for bound pods Waiting · storage: a volume is not there yet.

mod attach;
mod claims;
mod missing;
mod mount;
mod mounting;
pub(super) mod place;
mod provision;
pub(super) mod unbound;
mod waiting;

use crate::diagnose::{Cause, Judge, Layer, Stage};

pub(super) const CAUSES: &[Cause] = &[
    unbound::NOT_FOUND,
    unbound::DELETING,
    unbound::UNBOUND,
    unbound::TIMEOUT,
    place::CONFLICT,
    claims::LOST,
    claims::TAKEN,
    claims::NAMED_MISSING,
    claims::MISMATCH,
    claims::CLASS_MISSING,
    claims::NO_CLASS,
    provision::FAILED,
    provision::EXTERNAL,
    claims::FIRST_CONSUMER,
    missing::SECRET,
    missing::CONFIG_MAP,
    attach::MULTI,
    attach::FAILED,
    mount::KEY,
    mount::CACHE,
    mount::HOST_PATH,
    mount::DRIVER,
    mount::FILE_SYSTEM,
    mount::IN_USE,
    mount::NOT_ATTACHED,
    mount::COMMAND,
    mount::RPC,
    waiting::OWNERSHIP,
    waiting::NOT_PROCESSED,
    waiting::SILENT,
];

/// What the rows of this layer have in common.
const ROW: Cause = Cause {
    id: "",
    layer: Layer::Storage,
    stage: Stage::Starting,
    generic: false,
    symptom: false,
    title: "",
    explanation: "",
    told_apart: "",
    cure: "",
    docs: "concepts/storage/persistent-volumes/",
    needs: &[],
    clears: 60,
    judge: Judge::By("mount-secret-missing"),
};
