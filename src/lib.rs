//! holdup

pub mod app;
pub mod archive;
pub mod diagnose;
pub mod model;
pub mod page;
pub mod redact;
pub mod term;
pub mod ui;
pub mod watch;
