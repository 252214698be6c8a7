//! holdup

pub mod app;
pub mod model;
pub mod page;
pub mod redact;
pub mod term;
pub mod ui;
