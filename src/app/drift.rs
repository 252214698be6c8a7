//! The drift screen: every object that says what was asked for, worst first, as far as it was read, and what follows from the whole.

use std::sync::Arc;

use super::view::At;
use super::{App, Effect};
use crate::desired::{Again, Comparison, FieldDiff, Governance, Unchecked, Weight};

/// Objects that are kept for the screen; the worst stay.
const MOST: usize = 5000;

/// What was read for the drift screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    pub reading: Reading,
    /// Worst first.
    pub standings: Vec<Standing>,
    /// Objects that are left out of the list, since worse ones fill it.
    pub left_out: usize,
    /// How many objects say what was asked for, and of how many somebody has to look at something.
    pub said: usize,
    pub telling: usize,
    pub unread: Vec<Unchecked>,
    /// What follows from the whole, once all of it was read.
    pub governance: Governance,
    /// What drifted again while somebody looked: seen in diffs that are kept, whatever was read and when.
    pub watched: Vec<Again>,
    pub progress: Progress,
    pub records: Records,
    /// There are releases whose records were not opened.
    pub is_sealed: bool,
    /// Which reading this is: what an earlier one still tells is dropped.
    run: u32,
}

/// How far the reading is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Nobody asked for it yet.
    #[default]
    Never,
    Going,
    Done,
    /// The user stopped it.
    Stopped,
    /// Why it could not be done.
    Failed(String),
}

/// Which kind is read, how many were, of how many, and how many objects were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub kind: String,
    pub read: usize,
    pub of: usize,
    pub objects: usize,
}

/// Whether the records of Helm are opened, which are Secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    #[default]
    Closed,
    Opened,
}

/// An object beside what was asked for, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `Kind/ns/name`.
    pub object: String,
    /// The source in words; "" where nothing says what was asked for.
    pub source: String,
    pub weight: Weight,
    /// Differences that somebody has to look at.
    pub telling: usize,
    /// The worst of them.
    pub worst: Option<FieldDiff>,
    /// What could not be read that might say more.
    pub unchecked: Option<String>,
}

/// What a reading tells while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surveyed {
    At(Progress),
    Object(Box<Standing>),
    Unread(Unchecked),
    /// There are releases whose records were not opened.
    Sealed,
    Done(Box<Governance>),
    Failed(String),
}

impl Drift {
    /// What drifted again, by what was read and by what was seen since.
    pub fn again(&self) -> Vec<&Again> {
        let is_watched = |again: &&Again| self.watched.iter().any(|other| (&other.object, &other.path) == (&again.object, &again.path));
        self.governance.again.iter().filter(|again| !is_watched(again)).chain(&self.watched).collect()
    }

    pub fn is_going(&self) -> bool {
        self.reading == Reading::Going
    }

    fn take(&mut self, surveyed: Surveyed) {
        match surveyed {
            Surveyed::At(progress) => self.progress = progress,
            Surveyed::Object(standing) => self.stand(*standing),
            Surveyed::Unread(unchecked) => self.unread.push(unchecked),
            Surveyed::Sealed => self.is_sealed = true,
            Surveyed::Done(governance) => {
                self.governance = *governance;
                self.reading = Reading::Done;
            }
            Surveyed::Failed(why) => self.reading = Reading::Failed(why),
        }
    }

    fn stand(&mut self, standing: Standing) {
        self.said += usize::from(!standing.source.is_empty());
        self.telling += usize::from(standing.telling > 0);
        let rank = |standing: &Standing| (standing.weight.clone(), standing.object.clone());
        let at = self.standings.partition_point(|other| rank(other) <= rank(&standing));
        self.standings.insert(at, standing);
        if self.standings.len() > MOST {
            self.standings.pop();
            self.left_out += 1;
        }
    }
}

/// Opens the screen; the first time it begins to read.
pub(super) fn open(app: &mut App) -> Vec<Effect> {
    app.enter(At::Drift);
    match app.drift.reading {
        Reading::Never | Reading::Failed(_) => begin(app, Records::Closed),
        Reading::Going | Reading::Done | Reading::Stopped => Vec::new(),
    }
}

/// Reads everything, or reads it anew.
pub(super) fn begin(app: &mut App, records: Records) -> Vec<Effect> {
    let run = app.drift.run.wrapping_add(1);
    let watched = app.drift.watched.clone();
    app.drift = Arc::new(Drift { reading: Reading::Going, records, run, watched, ..Drift::default() });
    vec![Effect::Survey { run, records }]
}

/// Takes in what a diff tells that was fetched anew: which of its fields drifted again, and that others no longer do.
pub(super) fn watch(app: &mut App, comparison: &Comparison) {
    let fields = comparison.against.first().map_or(&[][..], |against| &against.diff.fields);
    let again = |field: &FieldDiff| {
        let relapse = field.told.again.as_ref()?;
        let (path, times) = (field.path.to_string(), relapse.times);
        Some(Again { object: comparison.object.clone(), path, times, by: relapse.by.clone(), last: relapse.last.clone() })
    };
    let mut watched: Vec<Again> = app.drift.watched.iter().filter(|again| again.object != comparison.object).cloned().collect();
    watched.extend(fields.iter().filter_map(again));
    watched.drain(..watched.len().saturating_sub(WATCHED));
    if watched != app.drift.watched {
        Arc::make_mut(&mut app.drift).watched = watched;
    }
}

/// More fields that drift again nobody follows at once.
const WATCHED: usize = 500;

/// Stops reading; what was read stays.
pub(super) fn stop(app: &mut App) -> Vec<Effect> {
    Arc::make_mut(&mut app.drift).reading = Reading::Stopped;
    vec![Effect::StopSurvey]
}

/// What a reading that was given up still tells changes nothing.
pub(super) fn take(app: &mut App, run: u32, surveyed: Surveyed) {
    if app.drift.run == run && app.drift.is_going() {
        Arc::make_mut(&mut app.drift).take(surveyed);
    }
}

/// Whether the reading is on the screen and can be stopped.
pub(super) fn can_stop(app: &App) -> bool {
    app.view.at == At::Drift && app.drift.is_going()
}

/// Whether it can be read anew.
pub(super) fn can_begin(app: &App) -> bool {
    app.view.at == At::Drift && !app.drift.is_going()
}
