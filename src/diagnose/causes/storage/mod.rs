//! Pending · storage, for bound pods Waiting · storage: a volume is not there yet.

pub(super) mod place;

use crate::diagnose::Cause;

pub(super) const CAUSES: &[Cause] = &[place::CONFLICT];
