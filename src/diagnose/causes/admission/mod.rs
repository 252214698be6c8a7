//! Not created · admission: the API server refused what a controller wanted to make.

mod quota;
mod refusal;

use crate::diagnose::Cause;

pub(super) const CAUSES: &[Cause] = &[quota::EXCEEDED];
