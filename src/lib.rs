//! holdup
