//! The state machine of one feed: what to ask next and what to tell, decided from what was heard. It never asks itself, reads no
//! clock and keeps no object.
//!
//! ```text
//! started ─▶ streaming list ─┬─▶ live ─▶ resuming ─▶ live …
//!        └─▶ pages ──────────┘    └── 410 ─▶ listing again
//! ```
//!
//! A streaming list that is refused becomes pages for good. A list without the right to watch is repeated. Whatever fails rests
//! for a while and goes on where it was.

mod setbacks;
mod words;

use std::time::Duration;

use super::lines::Bookmark;
pub use words::{AfterList, Ask, Do, Heard, Lost, Moment, Note, Plan, Streams};

/// One feed.
#[derive(Clone, Debug)]
pub struct Feed {
    plan: Plan,
    phase: Phase,
    epoch: u32,
    /// The version after the last change.
    version: String,
    /// Attempts since the last event or bookmark.
    misses: u32,
    /// Where silence means that the connection is dead: this kind gets bookmarks.
    marked: bool,
    was_synced: bool,
    /// What was said last, so that it is said once.
    said: Said,
    /// The present list was announced.
    began: bool,
    /// When a watch that was forbidden is tried again.
    watch_again: Option<Moment>,
    /// A continue token expired once already.
    restarted: bool,
    /// Watches in a row that something cut.
    cuts: u32,
    opened: Moment,
    heard: Moment,
    dice: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Asleep,
    /// Pages come; `next` is the token of the page that was asked for already.
    Paging {
        next: String,
    },
    Streaming {
        opened: bool,
    },
    Watching {
        seconds: u32,
        opened: bool,
    },
    Resting {
        until: Moment,
        then: Then,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    List,
    Watch,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Well,
    Lost(Lost),
    Trouble(String),
}

/// Back-off: one second, doubled, at most this.
const LONGEST_REST: Duration = Duration::from_secs(30);
/// Denied and absent kinds are tried again: rights and kinds come.
const LATER: Duration = Duration::from_secs(300);
/// After a 401 a login may happen any moment.
const LOGIN: Duration = Duration::from_secs(30);
/// A bookmark comes about every minute; without it the connection is dead.
const SILENCE: Duration = Duration::from_secs(150);
/// The server ends a watch after about this many seconds, less or more by a tenth.
const WATCH_SECONDS: u32 = 290;
/// A watch that gets no bookmarks may be this late with its end.
const GRACE: Duration = Duration::from_secs(30);
/// Watched kinds without the right to watch.
pub const POLL: Duration = Duration::from_secs(30);

impl Feed {
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let dice = plan.seed | 1;
        Self {
            plan,
            phase: Phase::Asleep,
            epoch: 0,
            version: String::new(),
            misses: 0,
            marked: false,
            was_synced: false,
            said: Said::Well,
            began: false,
            watch_again: None,
            restarted: false,
            cuts: 0,
            opened: Moment::ZERO,
            heard: Moment::ZERO,
            dice,
        }
    }

    /// Which list the objects belong to that come now.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Starts the feed.
    pub fn start(&mut self, now: Moment) -> Vec<Do> {
        let ask = self.list(now);
        self.began = true;
        [Do::Began].into_iter().chain(ask).collect()
    }

    /// When [`Heard::Woke`] is due.
    #[must_use]
    pub fn wakes(&self) -> Option<Moment> {
        match &self.phase {
            Phase::Asleep => None,
            Phase::Resting { until, .. } => Some(*until),
            Phase::Paging { .. } | Phase::Streaming { .. } | Phase::Watching { opened: false, .. } => Some(self.heard + self.plan.patience),
            Phase::Watching { seconds, opened: true } => {
                let end = self.opened + Duration::from_secs(u64::from(*seconds)) + GRACE;
                Some(if self.marked { end.min(self.heard + SILENCE) } else { end })
            }
        }
    }

    /// Whether what comes now belongs to a list that is not complete yet.
    #[must_use]
    pub fn is_listing(&self) -> bool {
        matches!(self.phase, Phase::Paging { .. } | Phase::Streaming { .. })
    }

    /// The feed was held up by its reader: silence counts from here.
    pub fn touch(&mut self, now: Moment) {
        self.heard = now;
    }

    /// Decides what follows from what was heard.
    pub fn hear(&mut self, heard: Heard, now: Moment) -> Vec<Do> {
        if !matches!(heard, Heard::Woke) {
            self.heard = now;
        }
        match heard {
            Heard::Opened => self.open(now),
            Heard::Refused(status) => self.refused(&status, now),
            Heard::Failed(error) => self.failed(&error, now),
            Heard::Page { version, next } => self.page(version, next),
            Heard::PageEnd => self.page_end(now),
            Heard::Changes { version } => self.changes(version),
            Heard::Bookmark { mark, version } => self.bookmark(mark, version),
            Heard::Error(status) => self.ended_with(&status, now),
            Heard::Ended => self.ended(now),
            Heard::Woke => self.woke(now),
            Heard::Restart { why } => self.restart(why, now),
        }
    }

    fn list(&mut self, now: Moment) -> Vec<Do> {
        self.epoch += 1;
        self.began = false;
        self.heard = now;
        let ask = match self.plan.streams {
            Streams::Yes => {
                self.phase = Phase::Streaming { opened: false };
                Ask::Stream { seconds: self.seconds() }
            }
            Streams::No => {
                self.phase = Phase::Paging { next: String::new() };
                Ask::Page { token: String::new() }
            }
        };
        vec![Do::Ask(ask)]
    }

    fn watch(&mut self, now: Moment) -> Vec<Do> {
        self.heard = now;
        let seconds = self.seconds();
        self.phase = Phase::Watching { seconds, opened: false };
        vec![Do::Ask(Ask::Watch { version: self.version.clone(), seconds })]
    }

    fn open(&mut self, now: Moment) -> Vec<Do> {
        self.opened = now;
        match &mut self.phase {
            Phase::Watching { opened, .. } => {
                *opened = true;
                self.watch_opened()
            }
            Phase::Streaming { opened } => {
                *opened = true;
                self.begin()
            }
            Phase::Paging { .. } => self.begin(),
            Phase::Asleep | Phase::Resting { .. } => Vec::new(),
        }
    }

    /// A list is announced once the server gives it: a kind that stays denied does not flicker.
    fn begin(&mut self) -> Vec<Do> {
        let began = std::mem::replace(&mut self.began, true);
        (!began).then_some(Do::Began).into_iter().collect()
    }

    /// Headers are proof enough for a resumed watch.
    fn watch_opened(&mut self) -> Vec<Do> {
        let was_forbidden = self.watch_again.take().is_some();
        if was_forbidden {
            self.plan.after_list = AfterList::Watch;
        }
        let said = std::mem::replace(&mut self.said, Said::Well);
        let well = was_forbidden || matches!(said, Said::Trouble(_));
        let synced = matches!(said, Said::Lost(_)).then_some(Do::Synced);
        synced.into_iter().chain(well.then_some(Do::Say(Note::Well))).collect()
    }

    fn page(&mut self, version: String, token: String) -> Vec<Do> {
        let Phase::Paging { next } = &mut self.phase else {
            return Vec::new();
        };
        if next.is_empty() {
            self.version = version;
        }
        next.clone_from(&token);
        if token.is_empty() {
            return Vec::new();
        }
        vec![Do::Ask(Ask::Page { token })]
    }

    fn page_end(&mut self, now: Moment) -> Vec<Do> {
        match &self.phase {
            Phase::Paging { next } if next.is_empty() => self.listed(now),
            Phase::Paging { .. } | Phase::Asleep | Phase::Streaming { .. } | Phase::Watching { .. } | Phase::Resting { .. } => Vec::new(),
        }
    }

    fn listed(&mut self, now: Moment) -> Vec<Do> {
        let mut doing = self.synced();
        match (self.plan.after_list, self.watch_again) {
            (AfterList::ListAgain(every), again) if again.is_none_or(|again| now < again) => {
                // Nothing but lists comes here: one that is complete is the proof.
                self.misses = 0;
                self.rest(every, Then::List, now);
            }
            (AfterList::ListAgain(_) | AfterList::Watch, _) => doing.extend(self.watch(now)),
        }
        doing
    }

    fn synced(&mut self) -> Vec<Do> {
        self.was_synced = true;
        self.restarted = false;
        let said = std::mem::replace(&mut self.said, Said::Well);
        let well = matches!(said, Said::Trouble(_)).then_some(Do::Say(Note::Well));
        [Do::Synced].into_iter().chain(well).collect()
    }

    fn changes(&mut self, version: Option<String>) -> Vec<Do> {
        // What a streaming list begins with proves nothing before its bookmark.
        if matches!(self.phase, Phase::Watching { .. }) {
            self.misses = 0;
            self.version = version.unwrap_or_else(|| std::mem::take(&mut self.version));
        }
        Vec::new()
    }

    fn bookmark(&mut self, mark: Bookmark, version: Option<String>) -> Vec<Do> {
        self.marked = true;
        self.misses = 0;
        self.version = version.unwrap_or_else(|| std::mem::take(&mut self.version));
        if !matches!(self.phase, Phase::Streaming { .. }) || mark != Bookmark::InitialEnd {
            return Vec::new();
        }
        self.phase = Phase::Watching { seconds: WATCH_SECONDS, opened: true };
        self.synced()
    }

    fn seconds(&mut self) -> u32 {
        WATCH_SECONDS - 29 + u32::try_from(self.roll(59)).unwrap_or(29)
    }

    /// A number below `sides`. xorshift is random enough to spread requests.
    fn roll(&mut self, sides: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % sides
    }

    fn rest(&mut self, wait: Duration, then: Then, now: Moment) {
        self.phase = Phase::Resting { until: now + wait, then };
    }
}
