//! holdup

pub mod page;
