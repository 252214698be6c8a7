//! Clock: the time as of which is judged. A file's stands still, the demo's runs from an epoch, the cluster's is that of its API server.

use std::time::{Duration, Instant};

use crate::model::Time;

/// Where the time of judgement comes from.
#[derive(Debug, Clone, Copy)]
pub enum Clock {
    /// Files: the time of capture, or what the user named.
    Still(Time),
    /// From `begin` on, `speed` times as fast as life, until `end`.
    Running { begin: Time, end: Option<Time>, started: Instant, speed: f64 },
}

impl Clock {
    /// The API server's time, as of now.
    pub fn live(now: Time) -> Self {
        Self::Running { begin: now, end: None, started: Instant::now(), speed: 1.0 }
    }

    pub fn now(&self) -> Time {
        match *self {
            Self::Still(now) => now,
            Self::Running { begin, end, started, speed } => {
                let passed = started.elapsed().as_secs_f64() * speed;
                let now = begin.plus(passed as i64);
                end.map_or(now, |end| now.min(end))
            }
        }
    }

    /// How long until it shows `at`; none if it never does.
    pub fn wait(&self, at: Time) -> Option<Duration> {
        match *self {
            Self::Still(now) => (at <= now).then_some(Duration::ZERO),
            Self::Running { begin, end, started, speed } => {
                if end.is_some_and(|end| at > end) {
                    return None;
                }
                let from_start = Duration::try_from_secs_f64(at.since(begin).max(0) as f64 / speed).ok()?;
                Some(from_start.saturating_sub(started.elapsed()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_still_clock_never_shows_what_is_to_come() {
        let now = Time::parse("2026-05-04T10:12:00Z").expect("a time");
        let clock = Clock::Still(now);
        assert_eq!((clock.now(), clock.wait(now), clock.wait(now.plus(1))), (now, Some(Duration::ZERO), None));
    }

    #[test]
    fn a_running_clock_stops_at_its_end() {
        let begin = Time::parse("2026-05-04T10:12:00Z").expect("a time");
        let started = Instant::now().checked_sub(Duration::from_secs(10)).expect("a machine up for ten seconds");
        let clock = Clock::Running { begin, end: Some(begin.plus(15)), started, speed: 2.0 };
        assert_eq!((clock.now(), clock.wait(begin.plus(16))), (begin.plus(15), None));
        assert_eq!(clock.wait(begin.plus(4)), Some(Duration::ZERO));
    }
}
