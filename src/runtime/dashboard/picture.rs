//! Picture: what is known, what of it is shown, and since when.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::link;
use crate::app::{App, At};
use crate::diagnose::scheduling::NodeFit;
use crate::diagnose::{Progress, Report, Settled, settle};
use crate::model::Time;
use crate::redact::Redactor;
use crate::runtime::clock::Clock;
use crate::runtime::redaction::Redaction;
use crate::runtime::triage::Triage;
use crate::runtime::{live, log};
use crate::screen::{Link, Scene, Status};
use crate::watch::{Connection, FeedMsg, NodeLeases};

/// The table of nodes is made anew after so long.
const LOOK_AGAIN: Duration = Duration::from_secs(3);

/// A report after a change is quick. Should one take a while, a third of the time is enough: the rest is for keys and deltas.
const PAUSE: u32 = 2;

/// So many groups are told again between two looks at the keyboard: about two milliseconds.
const GROUPS: usize = 32;

/// Where more change all the time than are told again meanwhile, a report is made nevertheless after so long.
const LATEST: Duration = Duration::from_millis(200);

/// A blocker counts as new for so long.
const FRESH: i64 = 60;

/// Everything that a frame is made from.
pub(super) struct Picture {
    pub app: App,
    pub triage: Triage,
    clock: Clock,
    /// Whose clock it is; none for files and the demo.
    follows: Option<Connection>,
    pub status: Status,
    redaction: Redaction,
    /// What is true now.
    settled: Settled,
    /// What is shown: that of before while rows must not move.
    shown: Settled,
    shown_at: Time,
    first_seen: HashMap<String, Time>,
    fresh: BTreeSet<String>,
    /// Changes came that no report has taken in.
    stale: bool,
    /// Something was heard since the last frame.
    heard: bool,
    /// A report was made that no frame has shown.
    unshown: bool,
    /// Changes since the screen was paused.
    behind: usize,
    /// Every kind has come to a first end: what comes from the next report on is new.
    settling: bool,
    was_complete: bool,
    /// When the last report was made, and how long that took with all that was done for it before.
    reported: Instant,
    cost: Duration,
    /// How long was worked for the next one, and whether little is left to do for it.
    spent: Duration,
    prepared: bool,
    /// What each node lacks for the blocker that is open, with its id and when that was found out (since start).
    fits: Vec<NodeFit>,
    fits_of: Option<(String, Duration)>,
}

impl Picture {
    pub fn new(triage: Triage, clock: Clock, follows: Option<Connection>, status: Status, redactor: Arc<Redactor>) -> Self {
        let app = App::new(&status.context);
        let now = clock.now();
        let is_still = matches!(clock, Clock::Still(_));
        Self {
            app,
            triage,
            clock,
            follows,
            status,
            redaction: Redaction::new(redactor),
            settled: Settled::default(),
            shown: Settled::default(),
            shown_at: now,
            first_seen: HashMap::new(),
            fresh: BTreeSet::new(),
            stale: true,
            heard: false,
            unshown: true,
            behind: 0,
            settling: is_still,
            was_complete: false,
            reported: Instant::now(),
            cost: Duration::ZERO,
            spent: Duration::ZERO,
            prepared: false,
            fits: Vec::new(),
            fits_of: None,
        }
    }

    /// Takes in what a feed says.
    pub fn take(&mut self, heard: FeedMsg) {
        log::heard(&heard);
        let noted = link::note(&mut self.status, &heard, self.clock.now());
        self.heard |= noted;
        self.stale |= noted;
        match heard {
            FeedMsg::Delta(delta) => {
                if self.triage.apply(delta) {
                    self.behind += 1;
                    self.changed_now();
                }
            }
            FeedMsg::Reached { .. } | FeedMsg::Pulse { .. } | FeedMsg::Woke => self.set_clock(),
            FeedMsg::Settled => {
                self.stale = true;
                self.settling = true;
            }
            FeedMsg::Scope(_) => self.stale = true,
            FeedMsg::Progress { .. } | FeedMsg::Note { .. } | FeedMsg::NotReached(_) | FeedMsg::Discovered(_) => {}
        }
    }

    /// The cluster's clock is its own: each answer tells it again.
    fn set_clock(&mut self) {
        if let Some(connection) = &self.follows {
            self.clock = live::clock(connection);
            self.status.said = connection.notes();
            self.status.ahead = connection.clock_offset().unwrap_or(0);
        }
    }

    /// Leases of nodes say something only while some node is not plainly well.
    pub fn node_leases(&self) -> NodeLeases {
        if self.triage.cluster.has_ill_node() { NodeLeases::Wanted } else { NodeLeases::Unwanted }
    }

    /// A new picture, for feeds that begin anew elsewhere.
    pub fn restart(&mut self, triage: Triage) {
        self.triage = triage;
        self.stale = true;
        self.was_complete = false;
        self.settling = false;
    }

    /// The time as of which is judged.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    fn changed_now(&mut self) {
        self.heard = true;
        self.stale = true;
        if let Link::Live { changed } = &mut self.status.link {
            *changed = Some(self.clock.now());
        }
    }

    /// Judges a little; answers whether more waits.
    pub fn judge(&mut self) -> bool {
        let progress = self.triage.step(self.clock.now());
        progress == Progress::More
    }

    /// Does some of the work of the next report, if one may be made; answers whether more of it is to be done.
    pub fn prepare(&mut self, elapsed: Duration) -> bool {
        let waits = self.stale || self.triage.engine.changed();
        if !waits || self.is_still(elapsed) || self.reported.elapsed() < self.cost * PAUSE {
            return false;
        }
        let begun = Instant::now();
        self.prepared = self.triage.prepare(GROUPS) == Progress::Done;
        self.spent += begun.elapsed();
        !self.prepared
    }

    /// Whether rows stay where they are.
    fn is_still(&self, elapsed: Duration) -> bool {
        self.app.paused || self.app.holds(elapsed).is_some()
    }

    /// Whether a frame would show something else than the last one.
    pub fn has_news(&self, elapsed: Duration) -> bool {
        self.heard || !self.is_still(elapsed) && self.is_behind()
    }

    /// How long until the report may be made that was not made yet because the last took so long; none if none waits.
    pub fn report_in(&self, elapsed: Duration) -> Option<Duration> {
        let waits = !self.is_still(elapsed) && (self.stale || self.triage.engine.changed());
        waits.then(|| (self.cost * PAUSE).saturating_sub(self.reported.elapsed()))
    }

    /// Whether the shown rows are older than what is known.
    pub fn is_behind(&self) -> bool {
        self.stale || self.unshown || self.triage.engine.changed()
    }

    /// Whether its clock moves.
    pub fn runs(&self) -> bool {
        matches!(self.clock, Clock::Running { .. }) && !self.app.paused
    }

    /// How long until something is due to be judged again.
    pub fn due(&self) -> Option<Duration> {
        self.clock.wait(self.triage.engine.next_due()?)
    }

    /// How long until the clock has gone on by so many seconds.
    pub fn until(&self, seconds: u32) -> Option<Duration> {
        self.clock.wait(self.clock.now().plus(i64::from(seconds)))
    }

    /// What a frame may look at. Brings the report up to date, and what is shown, unless rows must stay where they are.
    pub fn scene(&mut self, elapsed: Duration, size: (u16, u16)) -> Scene<'_> {
        self.heard = false;
        if !self.is_still(elapsed) {
            self.refresh();
            if std::mem::take(&mut self.unshown) {
                self.shown = self.settled.clone();
            }
        }
        if !self.app.paused {
            self.shown_at = self.clock.now();
            self.behind = 0;
        }
        self.status.paused = self.app.paused.then_some((self.shown_at, self.behind));
        self.look_at_nodes(elapsed, size);
        self.borrowed(size)
    }

    fn borrowed(&self, size: (u16, u16)) -> Scene<'_> {
        Scene {
            app: &self.app,
            cluster: &self.triage.cluster,
            settled: &self.shown,
            fresh: &self.fresh,
            status: &self.status,
            fits: &self.fits,
            now: self.shown_at,
            size,
        }
    }

    /// Looks at every node for the blocker that is open; again after a while only, since it is work for the whole cluster.
    fn look_at_nodes(&mut self, elapsed: Duration, size: (u16, u16)) {
        let At::Blocker(id) = &self.app.view().at else {
            self.fits_of = None;
            return;
        };
        if self.fits_of.as_ref().is_some_and(|(of, at)| of == id && elapsed < *at + LOOK_AGAIN) {
            return;
        }
        self.fits_of = Some((id.clone(), elapsed));
        self.fits = crate::screen::fits(&self.borrowed(size));
    }

    fn refresh(&mut self) {
        let now = self.clock.now();
        let expired = self
            .settled
            .clearing
            .iter()
            .any(|(b, gone)| now.since(*gone) >= crate::diagnose::cause(b.cause).map_or(0, |c| i64::from(c.clears)));
        if !self.stale && !self.triage.engine.changed() && !expired {
            return;
        }
        if self.reported.elapsed() < self.cost * PAUSE {
            return;
        }
        let begun = Instant::now();
        self.prepared |= self.triage.prepare(GROUPS) == Progress::Done;
        if !self.prepared && self.reported.elapsed() < LATEST {
            self.spent += begun.elapsed();
            return;
        }
        self.prepared = false;
        self.stale = false;
        self.triage.engine.take_changed();
        let report = self.redaction.redacted(self.triage.report());
        self.note_fresh(&report, now);
        // What a kind that had not come yet explains better was never there to clear.
        let next = if self.was_complete { settle(&self.settled, report, now) } else { Settled::from(report) };
        if next != self.settled {
            self.settled = next;
            self.unshown = true;
        }
        self.cost = std::mem::take(&mut self.spent) + begun.elapsed();
        self.reported = Instant::now();
    }

    /// What is there when the first sync is complete is not new.
    fn note_fresh(&mut self, report: &Report, now: Time) {
        for b in &report.blockers {
            let seen = if self.was_complete { now } else { now.plus(-FRESH) };
            if !self.first_seen.contains_key(&b.id) {
                self.first_seen.insert(b.id.clone(), seen);
            }
        }
        self.was_complete |= self.settling;
        if self.first_seen.len() > report.blockers.len() {
            let present: HashSet<&str> = report.blockers.iter().map(|b| &*b.id).collect();
            self.first_seen.retain(|id, _| present.contains(&**id));
        }
        self.fresh = self.first_seen.iter().filter(|(_, at)| now.since(**at) < FRESH).map(|(id, _)| id.clone()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_had_to_wait_wakes_the_loop_when_its_time_has_come() {
        let clock = Clock::Still(Time::parse("2026-05-04T10:12:00Z").expect("a time"));
        let mut picture = Picture::new(Triage::default(), clock, None, Status::default(), Arc::new(Redactor::new(&[0; 32])));
        picture.cost = Duration::from_secs(600);
        picture.scene(Duration::ZERO, (80, 24));
        assert!(picture.report_in(Duration::ZERO).is_some_and(|wait| wait > Duration::from_secs(60)));
        picture.cost = Duration::ZERO;
        picture.scene(Duration::ZERO, (80, 24));
        assert_eq!(picture.report_in(Duration::ZERO), None);
    }
}
