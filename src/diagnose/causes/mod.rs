//! CAUSES: every known reason, a folder a layer, a file for what is judged together.

mod admission;
mod control_plane;
mod image;
mod node;
mod rollout;
mod scheduling;
mod standing;
mod storage;

use super::Cause;

/// All rows, in the order in which rows of one stage are asked.
pub const CAUSES: &[&[Cause]] =
    &[admission::CAUSES, scheduling::CAUSES, storage::CAUSES, image::CAUSES, rollout::CAUSES, node::CAUSES, control_plane::CAUSES];

/// The row with this id.
pub fn cause(id: &str) -> Option<&'static Cause> {
    CAUSES.iter().copied().flatten().find(|c| c.id == id)
}
