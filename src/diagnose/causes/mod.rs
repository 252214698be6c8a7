//! CAUSES: every known reason, a folder a layer, a file for what is judged together.

mod admission;
mod control_plane;
mod exits;
mod image;
mod init;
mod node;
mod readiness;
mod rollout;
mod runtime;
mod scheduling;
mod standing;
mod storage;
mod termination;

use super::Cause;

/// All rows, in the order in which rows of one stage are asked.
/// A limit that cannot be meant is told before the volumes and sandboxes that it makes fail.
pub const CAUSES: &[&[Cause]] = &[
    admission::CAUSES,
    scheduling::CAUSES,
    runtime::CAUSES,
    storage::CAUSES,
    image::CAUSES,
    init::CAUSES,
    readiness::CAUSES,
    rollout::CAUSES,
    node::CAUSES,
    termination::CAUSES,
    control_plane::CAUSES,
];

/// The row with this id.
pub fn cause(id: &str) -> Option<&'static Cause> {
    CAUSES.iter().copied().flatten().find(|c| c.id == id)
}
