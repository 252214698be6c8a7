//! Ages, countdowns and times of day in one form, and when the next of them reads differently.

use std::cell::Cell;

use crate::model::Time;

/// Writes times as of one instant, and remembers which of what it wrote changes first.
pub(super) struct Ages {
    now: Time,
    offset: i64,
    next: Cell<Option<u32>>,
}

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 86_400;

impl Ages {
    pub fn new(now: Time, offset: i32) -> Self {
        Self { now, offset: i64::from(offset), next: Cell::new(None) }
    }

    /// Seconds until something written so far reads differently.
    pub fn changes_in(&self) -> Option<u32> {
        self.next.get()
    }

    /// `45s 3m 2h 5d` since then; empty where that is not known.
    pub fn age(&self, since: Option<Time>) -> String {
        let Some(since) = since else { return String::new() };
        let seconds = self.now.since(since).max(0);
        let (unit, letter) = match seconds {
            ..=119 => (1, 's'),
            120..7200 => (MINUTE, 'm'),
            7200..172_800 => (HOUR, 'h'),
            _ => (DAY, 'd'),
        };
        self.changes(unit - seconds % unit);
        format!("{}{letter}", seconds / unit)
    }

    /// What is left until then: `3:10`, `2h`; `due` when it has passed.
    pub fn left(&self, until: Time) -> String {
        match until.since(self.now) {
            ..=0 => "due".to_owned(),
            seconds @ 1..HOUR => {
                self.changes(1);
                format!("{}:{:02}", seconds / MINUTE, seconds % MINUTE)
            }
            seconds @ HOUR..DAY => {
                self.changes(seconds % HOUR + 1);
                format!("{}h", seconds / HOUR)
            }
            seconds => {
                self.changes(seconds % DAY + 1);
                format!("{}d", seconds / DAY)
            }
        }
    }

    /// The time of day: `11:45:12`, with the date where it is another day.
    pub fn clock(&self, at: Time) -> String {
        let (day, seconds) = self.local(at);
        let time = format!("{:02}:{:02}:{:02}", seconds / HOUR, seconds / MINUTE % 60, seconds % MINUTE);
        if day == self.local(self.now).0 { time } else { format!("{} {time}", &at.plus(self.offset).rfc3339()[5..10]) }
    }

    /// The same without seconds.
    pub fn minute(&self, at: Time) -> String {
        let mut text = self.clock(at);
        text.truncate(text.len() - 3);
        text
    }

    fn local(&self, at: Time) -> (i64, i64) {
        let local = at.unix() + self.offset;
        (local.div_euclid(DAY), local.rem_euclid(DAY))
    }

    fn changes(&self, seconds: i64) {
        let seconds = u32::try_from(seconds.max(1)).unwrap_or(u32::MAX);
        self.next.set(Some(self.next.get().map_or(seconds, |next| next.min(seconds))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_777_896_000; // 2026-05-04T12:00:00Z

    fn at(seconds: i64) -> Time {
        Time::from_unix(NOON + seconds).unwrap()
    }

    fn age(seconds: i64) -> (String, Option<u32>) {
        let ages = Ages::new(at(0), 0);
        (ages.age(Some(at(-seconds))), ages.changes_in())
    }

    #[test]
    fn ages_have_one_form_and_say_when_they_change() {
        assert_eq!(age(45), ("45s".into(), Some(1)));
        assert_eq!(age(119), ("119s".into(), Some(1)));
        assert_eq!(age(190), ("3m".into(), Some(50)));
        assert_eq!(age(7200), ("2h".into(), Some(3600)));
        assert_eq!(age(5 * 86_400 + 1), ("5d".into(), Some(86_399)));
        assert_eq!(age(-5), ("0s".into(), Some(1)));
        assert_eq!(Ages::new(at(0), 0).age(None), "");
    }

    #[test]
    fn countdowns_show_seconds_under_an_hour() {
        let ages = Ages::new(at(0), 0);
        assert_eq!([190, 59, 0, 7300, 200_000].map(|left| ages.left(at(left))), ["3:10", "0:59", "due", "2h", "2d"]);
    }

    #[test]
    fn times_of_day_are_local_and_dated_on_another_day() {
        let ages = Ages::new(at(0), 2 * 3600);
        assert_eq!(ages.clock(at(-2079)), "13:25:21");
        assert_eq!(ages.clock(at(-86_400)), "05-03 14:00:00");
        assert_eq!(ages.minute(at(0)), "14:00");
    }
}
