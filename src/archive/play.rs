//! The state of an archive over time: still, or a recording that plays.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::scan::At;
use super::{Archive, ArchivedKind, Change, Entry};
use crate::model::Time;
use crate::redact::Redactor;

/// The resourceVersion of a playing recording is this plus the number of steps that have come: versions inside the objects come from
/// several watches and are in order for each kind only.
const MARK: u64 = 1 << 50;

/// Where an object of the state is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Entry(usize),
    Log(usize),
    Step(usize),
}

/// What is served: the archive as it is, or as it was at a moment that moves.
pub(super) struct Stage {
    pub archive: Arc<Archive>,
    play: Option<Play>,
    /// Where what is served goes to whoever asks, no secret goes with it.
    pub hides: Option<Redactor>,
}

/// A recording that plays.
struct Play {
    began: Instant,
    /// Where in the recording it began, and how much faster than time it goes.
    from: Duration,
    speed: f64,
    /// When each step comes, counted from the first.
    offsets: Vec<Duration>,
    state: Mutex<State>,
}

/// The objects after the first `done` steps, by kind, namespace and name.
#[derive(Default)]
struct State {
    done: usize,
    objects: BTreeMap<Key, usize>,
}

type Key = (u32, Box<str>, Box<str>);

/// A change that is still to come, or has just come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub step: usize,
    pub at: Instant,
}

impl Stage {
    pub(super) fn still(archive: Arc<Archive>) -> Self {
        Self { archive, play: None, hides: None }
    }

    /// The same without secrets.
    pub(super) fn hiding(self, redactor: Redactor) -> Self {
        Self { hides: Some(redactor), ..self }
    }

    /// Plays the recording from this place on. What is no positive speed is taken for 1.
    pub(super) fn playing(archive: Arc<Archive>, from: Duration, speed: f64) -> Self {
        let first = archive.steps.iter().find_map(|step| step.at);
        let mut last = Duration::ZERO;
        let mut offset = |at: Option<At>| {
            last = last.max(at.zip(first).map_or(Duration::ZERO, |(at, first)| at.since(first)));
            last
        };
        let offsets = archive.steps.iter().map(|step| offset(step.at)).collect();
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Self { archive, play: Some(Play { began: Instant::now(), from, speed, offsets, state: Mutex::default() }), hides: None }
    }

    /// The moment that is shown: of a recording that plays it moves, else it is that of the capture.
    pub(super) fn now(&self) -> Option<Time> {
        let Some(play) = &self.play else { return self.archive.about.now() };
        let first = self.archive.steps.iter().find_map(|step| step.at)?;
        Some(first.time.plus(i64::try_from(play.position().as_secs()).unwrap_or(0)))
    }

    /// The objects of a kind by now, with the resourceVersion of this state.
    pub(super) fn list(&self, kind: &ArchivedKind, namespace: Option<&str>) -> (Vec<Slot>, u64) {
        match (&self.play, self.archive.id(kind)) {
            (Some(play), Some(id)) => play.look(&self.archive, |state| state.range(id, namespace)),
            (Some(_), None) => (Vec::new(), MARK),
            (None, _) => (self.archive.range(kind, namespace).map(Slot::Entry).collect(), self.archive.newest_version()),
        }
    }

    /// One object.
    pub(super) fn get(&self, kind: &ArchivedKind, namespace: &str, name: &str) -> Option<Slot> {
        let Some(play) = &self.play else {
            let range = self.archive.range(kind, Some(namespace));
            let at = self.archive.entries[range.clone()].binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
            return Some(Slot::Entry(range.start + at));
        };
        let key = (self.archive.id(kind)?, namespace.into(), name.into());
        play.look(&self.archive, |state| state.objects.get(&key).copied()).0.map(Slot::Step)
    }

    /// The Log of a container; `name` as [`super::log_name`] makes it.
    pub(super) fn log(&self, namespace: &str, name: &str) -> Option<Slot> {
        if self.play.is_some() {
            return self.get(self.archive.kind("holdup.dev", "Log")?, namespace, name);
        }
        self.archive.log_at(namespace, name).map(Slot::Log)
    }

    /// The first step of a kind after this resourceVersion.
    pub(super) fn step_after(&self, version: u64, kind: &ArchivedKind) -> usize {
        if let Some(done) = version.checked_sub(MARK) {
            return usize::try_from(done).unwrap_or(usize::MAX);
        }
        let id = self.archive.id(kind);
        let newer = |entry: &Entry| Some(entry.kind) == id && entry.version > version;
        let steps = &self.archive.steps;
        steps.iter().position(|step| newer(&step.entry)).unwrap_or(steps.len())
    }

    /// The first step from here on that changes an object of this kind; none if nothing more comes.
    pub(super) fn next(&self, from: usize, kind: &ArchivedKind, namespace: Option<&str>) -> Option<Due> {
        let play = self.play.as_ref()?;
        let id = self.archive.id(kind)?;
        let concerns = |entry: &Entry| entry.kind == id && namespace.is_none_or(|namespace| *entry.namespace == *namespace);
        let step = (from..self.archive.steps.len()).find(|&step| concerns(&self.archive.steps[step].entry))?;
        Some(Due { step, at: play.time_of(step) })
    }

    pub(super) fn change(&self, step: usize) -> Change {
        self.archive.steps[step].change
    }

    /// The resourceVersion after this many steps; of what stands still there is one only.
    pub(super) fn version_at(&self, done: usize) -> u64 {
        if self.play.is_some() { MARK + done as u64 } else { self.archive.newest_version() }
    }

    pub(super) fn entry(&self, slot: Slot) -> &Entry {
        match slot {
            Slot::Entry(at) => &self.archive.entries[at],
            Slot::Log(at) => &self.archive.logs[at],
            Slot::Step(at) => &self.archive.steps[at].entry,
        }
    }
}

impl Play {
    /// How far into the recording it is by now.
    fn position(&self) -> Duration {
        self.from + self.began.elapsed().mul_f64(self.speed)
    }

    /// The instant at which a step comes.
    fn time_of(&self, step: usize) -> Instant {
        self.began + self.offsets[step].saturating_sub(self.from).div_f64(self.speed)
    }

    /// Looks at the state by now; gives its resourceVersion too.
    fn look<T>(&self, archive: &Archive, look: impl FnOnce(&State) -> T) -> (T, u64) {
        // A panic while the lock was held can only have come between two steps: the state is whole.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let position = self.position();
        state.advance(archive, self.offsets.partition_point(|offset| *offset <= position));
        (look(&state), MARK + state.done as u64)
    }
}

impl State {
    fn advance(&mut self, archive: &Archive, done: usize) {
        for step in self.done..done {
            let entry = &archive.steps[step].entry;
            let key = (entry.kind, (*entry.namespace).into(), entry.name.clone());
            match archive.steps[step].change {
                Change::Added | Change::Modified => drop(self.objects.insert(key, step)),
                Change::Deleted => drop(self.objects.remove(&key)),
            }
        }
        self.done = self.done.max(done);
    }

    fn range(&self, kind: u32, namespace: Option<&str>) -> Vec<Slot> {
        let start: Key = (kind, namespace.unwrap_or_default().into(), "".into());
        let all = self.objects.range(start..);
        let within = all.take_while(|((id, ns, _), _)| *id == kind && namespace.is_none_or(|namespace| **ns == *namespace));
        within.map(|(_, step)| Slot::Step(*step)).collect()
    }
}
