//! The demo: an embedded cluster that plays in this process and is read like any other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use color_eyre::{Result, eyre::eyre};

use super::clock::Clock;
use super::wall_clock;
use crate::archive::Archive;
use crate::model::Time;
use crate::watch::{About, Connection};

/// A demo that plays.
pub struct Demo {
    pub connection: Connection,
    pub clock: Clock,
}

/// When the demo stands still, counted from its start.
pub const END: Duration = Duration::from_secs(Archive::DEMO_SECONDS as u64);

/// Starts to play at `from`, `speed` times as fast as life. It must be called inside a Tokio runtime.
///
/// # Errors
/// The embedded recording is broken, which a test rules out.
pub fn play(from: Duration, speed: f64) -> Result<Demo> {
    let from = from.min(END);
    let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
    let start = wall_clock().plus(-seconds(from));
    let archive = Archive::demo(start).map_err(|error| eyre!("{error}"))?;
    let service = Arc::new(archive).replay(from, speed);
    let about = About { context: Some("demo".to_owned()), namespace: "shop".to_owned(), server: "demo".to_owned() };
    let clock = Clock::Running { begin: start.plus(seconds(from)), end: Some(start.plus(seconds(END))), started: Instant::now(), speed };
    Ok(Demo { connection: Connection::over(service, about), clock })
}

/// The demo as it is at its end, for reports, and the moment that is.
///
/// # Errors
/// As [`play`].
pub fn at_its_end() -> Result<(Archive, Time)> {
    let end = wall_clock();
    let archive = Archive::demo(end.plus(-seconds(END))).map_err(|error| eyre!("{error}"))?;
    Ok((archive, end))
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}
