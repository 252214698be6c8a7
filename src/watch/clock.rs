//! What the API server's `Date` headers say about its clock.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use k8s_openapi::jiff::fmt::rfc2822;

/// The newest difference between the server's clock and ours.
#[derive(Debug)]
pub(super) struct Clock {
    /// Whole seconds to add to our clock; [`UNKNOWN`] before the first answer.
    offset: AtomicI64,
}

const UNKNOWN: i64 = i64::MIN;

impl Default for Clock {
    fn default() -> Self {
        Self { offset: AtomicI64::new(UNKNOWN) }
    }
}

impl Clock {
    /// Seconds by which the server's clock is ahead of ours; `None` while it has not said its time.
    pub fn offset(&self) -> Option<i64> {
        let offset = self.offset.load(Ordering::Relaxed);
        (offset != UNKNOWN).then_some(offset)
    }

    /// A `Date` has whole seconds: a difference of one is none.
    pub fn read(&self, date: &str, now: SystemTime) {
        let Ok(theirs) = rfc2822::parse(date) else {
            return;
        };
        let ours = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let ahead = theirs.timestamp().as_second() - i64::try_from(ours).unwrap_or(i64::MAX);
        let ahead = if ahead.abs() <= 1 { 0 } else { ahead };
        self.offset.store(ahead, Ordering::Relaxed);
    }
}
