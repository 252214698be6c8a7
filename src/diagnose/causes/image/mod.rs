//! Waiting · image: the container runtime cannot get what the container is made from.

mod pull;

use crate::diagnose::Cause;

pub(super) const CAUSES: &[Cause] = &[pull::GENERIC];
