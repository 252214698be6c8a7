//! holdup

pub mod model;
pub mod page;
