//! What runs: commands, and the loop that connects input, feeds, judging and drawing. It owns the clock, the channels and the tasks.

mod around;
pub mod audit;
mod baseline;
mod clock;
pub mod commands;
mod compare;
mod dashboard;
mod decided;
mod demo;
mod dry_run;
pub mod feeds;
mod fetch;
mod gather;
pub(crate) mod key;
mod live;
mod load;
mod log;
mod narrow;
mod offers;
mod reader;
mod redaction;
pub mod rules;
mod rulings;
mod snapshot;
mod survey;
mod theme;
mod triage;

pub use load::{Loaded, load};
pub use triage::Triage;

use crate::model::Time;

/// The computer's own clock.
pub(crate) fn wall_clock() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_secs());
    i64::try_from(since).ok().and_then(Time::from_unix).expect("a clock between 1970 and 2106")
}
