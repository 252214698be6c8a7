//! Everything that can be proved without a cluster: cases, causes, frames, laws, the wire, and the rules of the house.

mod archive_read;
mod cases;
mod causes;
mod demo;
mod frames;
mod laws;
mod picture;
mod redact;
mod snapshot;
mod tidy;
mod watch;
