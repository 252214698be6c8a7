//! Waiting for what a cluster will show: polls until a deadline, and says what was there instead.

use std::thread;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(150);

/// What `look` finds, as soon as it finds it; panics with its last answer when the deadline has passed.
#[track_caller]
pub fn eventually<T>(deadline: Duration, what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + deadline;
    loop {
        match look() {
            Ok(found) => return found,
            Err(instead) if Instant::now() > end => {
                panic!("after {} s still not: {what}\n{instead}", deadline.as_secs())
            }
            Err(_) => thread::park_timeout(PAUSE),
        }
    }
}

pub const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}
