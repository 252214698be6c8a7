//! holdup

pub mod model;
pub mod page;
pub mod redact;
pub mod ui;
