//! The dashboard's loop: all input first, then deltas and judging for a few milliseconds, then a frame if something visible changed.
//!
//! One thread owns cluster, engine, app and terminal, so nothing here is locked, and a key is answered within one slice and one frame,
//! during the first sync too. When nothing happens nothing wakes up: the only timers are what is due to be judged again, and the
//! second in which a visible age or countdown reads differently.

mod events;
mod link;
mod perform;
mod picture;
mod survey;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use color_eyre::Result;

pub use perform::Behind;

use super::clock::Clock;
use super::feeds::Feeds;
use super::triage::Triage;
use crate::app::{Msg, update};
use crate::page::Page;
use crate::redact::Redactor;
use crate::screen::{self, Status};
use crate::term::{self, Input, Terminal};
use crate::ui::{Painter, Theme};
use crate::watch::Connection;
use events::{Event, Events};
use picture::Picture;

/// Deltas and judging between two looks at the keyboard.
const SLICE: Duration = Duration::from_millis(5);
/// Frames that nobody asked for by a key: at most 30 a second.
const FRAME: Duration = Duration::from_millis(33);

/// What a dashboard starts from.
pub struct Start {
    pub triage: Triage,
    pub clock: Clock,
    /// Whose clock that is; none for files and the demo.
    pub follows: Option<Connection>,
    pub status: Status,
    /// None for files, from which nothing more comes.
    pub feeds: Option<Feeds>,
    pub behind: Behind,
    /// Shown at the start, or all.
    pub namespaces: Option<std::collections::BTreeSet<String>>,
    pub theme: Theme,
    /// Sentences for the user, as about a configuration that could not be read.
    pub notices: Vec<String>,
}

/// Runs until the user quits or a signal ends it.
///
/// # Errors
/// The terminal cannot be taken, or is gone.
pub async fn run(start: Start) -> Result<()> {
    let (terminal, painter) = take(start.theme)?;
    follow(terminal, painter, start).await
}

/// The same for what takes a while to read: the screen is there at once and says what it waits for.
///
/// # Errors
/// As [`run`], and what `load` says.
pub async fn run_after(theme: Theme, status: Status, load: impl FnOnce() -> Result<Start>) -> Result<()> {
    let (terminal, mut painter) = take(theme)?;
    let clock = Clock::Still(super::wall_clock());
    let mut empty = Picture::new(Triage::default(), clock, None, status, Arc::new(Redactor::new(&[0; 32])));
    let size = terminal.size().unwrap_or((80, 24));
    painter.paint(&screen::page(&empty.scene(Duration::ZERO, size)), size)?;
    let start = load()?;
    follow(terminal, painter, start).await
}

fn take(theme: Theme) -> Result<(Terminal, Painter<term::Out>)> {
    let _ = term::ask_background();
    let terminal = Terminal::take()?;
    let painter = Painter::new(terminal.out(), theme);
    Ok((terminal, painter))
}

async fn follow(terminal: Terminal, painter: Painter<term::Out>, start: Start) -> Result<()> {
    let events = Events::new(start.feeds)?;
    let mut picture = Picture::new(start.triage, start.clock, start.follows, start.status, start.behind.redactor.clone());
    picture.app.namespaces = start.namespaces;
    if !start.notices.is_empty() {
        let told = Msg::Told(start.notices.join("; ").into());
        update(&mut picture.app, told, &Page::default());
    }
    let mut dashboard = Dashboard {
        terminal,
        painter,
        events,
        picture,
        behind: start.behind,
        page: Page::default(),
        started: Instant::now(),
        drawn: None,
        wanted: Some(Urgency::AtOnce),
        judged: (Instant::now(), Duration::ZERO),
    };
    let ended = dashboard.run().await;
    let Dashboard { picture, .. } = dashboard;
    // Nobody waits for a large picture to be taken apart: the process ends.
    std::mem::forget(picture);
    ended
}

/// How soon a frame is wanted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// When the last one is old enough.
    Soon,
    /// Somebody pressed a key.
    AtOnce,
}

struct Dashboard {
    terminal: Terminal,
    painter: Painter<term::Out>,
    events: Events,
    picture: Picture,
    behind: Behind,
    /// What is on the screen.
    page: Page,
    started: Instant,
    drawn: Option<Instant>,
    wanted: Option<Urgency>,
    /// When judging ended last, and how long that step took.
    judged: (Instant, Duration),
}

enum Next {
    Go,
    Quit,
}

impl Dashboard {
    async fn run(&mut self) -> Result<()> {
        loop {
            while let Some(event) = self.events.ready() {
                if let Next::Quit = self.take(event).await? {
                    return Ok(());
                }
            }
            let more = self.work();
            self.draw()?;
            if !more {
                let wait = self.wait();
                if let Some(event) = self.events.next(wait).await
                    && let Next::Quit = self.take(event).await?
                {
                    return Ok(());
                }
            }
        }
    }

    /// Takes in deltas and judges until the slice is over; answers whether more is to do at once.
    fn work(&mut self) -> bool {
        let until = Instant::now() + SLICE;
        loop {
            let heard = self.events.heard();
            let some = heard.is_some();
            if let Some(heard) = heard {
                self.picture.take(heard);
            }
            // What is still to come would have most of it judged again: while deltas wait they have most of the time.
            let judging = if some && self.judged.1 > self.judged.0.elapsed() / 3 { true } else { self.judge() };
            if !some && !judging {
                break;
            }
            if Instant::now() >= until {
                self.picture.prepare(self.started.elapsed());
                self.want(Urgency::Soon);
                return true;
            }
        }
        self.refetch();
        let more = self.picture.prepare(self.started.elapsed());
        if self.picture.has_news(self.started.elapsed()) {
            self.want(Urgency::Soon);
            if let Some(feeds) = self.events.feeds() {
                feeds.want_node_leases(self.picture.node_leases());
            }
        }
        more
    }

    /// Judges a little, and notes when and how long; answers whether more waits.
    fn judge(&mut self) -> bool {
        let begun = Instant::now();
        let more = self.picture.judge();
        self.judged = (Instant::now(), begun.elapsed());
        more
    }

    async fn take(&mut self, event: Event) -> Result<Next> {
        match event {
            Event::Input(Input::Key(chord)) => {
                self.draw_if_stale()?;
                let effects = self.tell(Msg::Key { chord, at: self.started.elapsed() });
                self.want(Urgency::AtOnce);
                return self.perform(effects).await;
            }
            Event::Input(Input::Paste(text)) => {
                let effects = self.tell(Msg::Paste(text));
                self.want(Urgency::AtOnce);
                return self.perform(effects).await;
            }
            Event::Input(Input::Resized(..)) => self.want(Urgency::AtOnce),
            Event::Input(Input::Background(colour)) => self.ground(colour),
            Event::Heard(heard) => self.picture.take(heard),
            Event::Answer(msg) => {
                // What somebody waits for is shown at once; of a survey many answers come a second.
                let urgency = if matches!(msg, Msg::Surveyed { .. }) { Urgency::Soon } else { Urgency::AtOnce };
                self.tell(msg);
                self.want(urgency);
            }
            Event::Continued => {
                self.terminal.retake()?;
                self.painter.forget();
                self.want(Urgency::AtOnce);
            }
            Event::Stop => self.suspend()?,
            Event::End => return Ok(Next::Quit),
            Event::Tick => self.want(Urgency::Soon),
        }
        Ok(Next::Go)
    }

    /// Several keys may come before a frame is drawn: each must meet the page that the one before it made.
    fn draw_if_stale(&mut self) -> Result<()> {
        if self.wanted == Some(Urgency::AtOnce) {
            self.page = self.make_page(self.size());
        }
        Ok(())
    }

    /// What the cluster says may hold secrets, in any message of any object: none is shown.
    fn make_page(&mut self, size: (u16, u16)) -> Page {
        let mut page = screen::page(&self.picture.scene(self.started.elapsed(), size));
        let redactor = &self.behind.redactor;
        page.each_line(&mut |line| {
            for span in &mut line.spans {
                if let std::borrow::Cow::Owned(redacted) = redactor.text(&span.text) {
                    span.text = redacted.into();
                }
            }
        });
        page
    }

    fn tell(&mut self, msg: Msg) -> Vec<crate::app::Effect> {
        update(&mut self.picture.app, msg, &self.page)
    }

    fn want(&mut self, urgency: Urgency) {
        self.wanted = self.wanted.max(Some(urgency));
    }

    fn ground(&mut self, colour: [u8; 3]) {
        let theme = self.painter.theme().on(colour);
        if theme != self.painter.theme() {
            self.painter = Painter::new(self.terminal.out(), theme);
            self.want(Urgency::AtOnce);
        }
    }

    fn suspend(&mut self) -> Result<()> {
        self.terminal.suspend()?;
        self.painter.forget();
        self.want(Urgency::AtOnce);
        Ok(())
    }

    fn size(&self) -> (u16, u16) {
        self.terminal.size().unwrap_or((80, 24))
    }

    fn draw(&mut self) -> io::Result<()> {
        let due = match self.wanted {
            None => return Ok(()),
            Some(Urgency::AtOnce) => true,
            Some(Urgency::Soon) => self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME),
        };
        if !due {
            return Ok(());
        }
        let size = self.size();
        self.page = self.make_page(size);
        let output = self.painter.paint(&self.page, size)?;
        let before = self.picture.app.clone();
        update(&mut self.picture.app, Msg::Drawn(output.shown), &self.page);
        self.drawn = Some(Instant::now());
        // What the frame taught about its own size may ask for another one.
        self.wanted = (before != self.picture.app).then_some(Urgency::AtOnce);
        Ok(())
    }

    /// How long nothing needs to happen: until a frame or a report is allowed, a row may move, something is due, or an age reads
    /// differently.
    fn wait(&self) -> Option<Duration> {
        let frame = self.wanted.map(|_| self.drawn.map_or(Duration::ZERO, |drawn| FRAME.saturating_sub(drawn.elapsed())));
        let held = self.picture.app.holds(self.started.elapsed()).map(|until| until.saturating_sub(self.started.elapsed()));
        let held = held.filter(|_| self.picture.is_behind());
        let age = self.page.changes_in.filter(|_| self.picture.runs()).map(|seconds| self.until_second(seconds));
        // A frame that is wanted makes the report too: only without one must the loop wake up for it.
        let report = if self.wanted.is_none() { self.picture.report_in(self.started.elapsed()) } else { None };
        [frame, report, held, self.picture.due(), age].into_iter().flatten().min()
    }

    fn until_second(&self, seconds: u32) -> Duration {
        self.picture.until(seconds).unwrap_or(Duration::from_secs(1))
    }
}
