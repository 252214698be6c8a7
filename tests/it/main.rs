//! Everything that can be proved without a cluster: cases, causes, frames, laws, the wire, and the rules of the house.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where it stands")]

mod archive_read;
mod archive_serve;
mod canary;
mod cases;
mod causes;
mod commands;
mod demo;
mod diff_screen;
mod drift;
mod drift_screen;
mod e2e;
mod frames;
mod incident;
mod keys;
mod laws;
mod picture;
mod poster;
mod readme;
mod redact;
mod screens;
mod snapshot;
mod stage;
mod suspect;
#[path = "../control-plane/terminal.rs"]
mod terminal;
mod tidy;
#[expect(dead_code, reason = "the control-plane tests use more of it")]
#[path = "../control-plane/wait.rs"]
mod wait;
mod watch;
