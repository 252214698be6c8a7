//! The state machine of the dashboard: where the user is and what keys do; it draws nothing, reads no clock and asks nobody.

mod chord;

pub use chord::{Chord, Held, Key};
