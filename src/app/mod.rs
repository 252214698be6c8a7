//! The state machine of the dashboard: where the user is and what keys do; it draws nothing, reads no clock and asks nobody.
//!
//! The caller makes a [`Page`] of the [`App`] (`screen::page`), draws it, and gives what comes to [`update`] together with that page: a
//! key means what was on the screen when it was pressed. `update` answers with [`Effect`]s for the caller to perform, whose results
//! come back as [`Msg`]s. After each frame `Msg::Drawn` tells how much was visible.
//!
//! * While [`App::holds`] says so, no row may move: show the report of before.
//! * While `app.paused`, the same, until it is no longer.
//! * Several keys may come before a frame is drawn; make the page anew after each, and draw the last.

mod actions;
mod chord;
mod documents;
mod drift;
mod filter;
mod fuzzy;
mod go;
mod input;
mod keymap;
mod moves;
mod offers;
mod typing;
mod view;

pub use actions::{ACTIONS, Action, Place};
pub use chord::{Chord, Held, Key};
pub use documents::{Asked, Content, Document, Documents, EventLine, Fetched, State, Wanted};
pub use drift::{Drift, Progress, Reading as DriftReading, Records, Standing, Surveyed};
pub use filter::{Facts, Filter};
pub use fuzzy::fuzzy;
pub use input::Input;
pub use keymap::{all_keys, clashes, first_key, hints, key_table, keys};
pub use offers::{Offered, Offers};
pub use typing::{Ask, Over, Overlaid, Typing};
pub use view::{At, Reading, Select, Spot, Tab, Top, View};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::desired::Rule;
use crate::diagnose::Layer;
use crate::page::{Line, Page, Shown};

/// After a key no row moves for so long: what was aimed at stays under the cursor.
const HOLD: Duration = Duration::from_millis(300);

/// Where the user is and what he chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct App {
    /// Below this the rest of the way; never empty.
    view: View,
    below: Vec<View>,
    /// Shown, or all.
    pub namespaces: Option<BTreeSet<String>>,
    /// The one shown on the triage screen, or all.
    pub layer: Option<Layer>,
    /// Blockers muted for this session, by id.
    pub muted: BTreeSet<String>,
    pub paused: bool,
    /// What is being typed in the last line.
    pub typing: Option<Typing>,
    /// What lies over the screen.
    pub over: Option<Overlaid>,
    /// A sentence that stands until the next key.
    pub notice: Option<Line>,
    pub documents: Documents,
    /// Kinds that nobody follows, for the palette.
    pub offers: Arc<Offers>,
    /// Shared, since the app is copied for every frame.
    pub drift: Arc<Drift>,
    /// The name that the snapshot prompt proposes.
    pub snapshot_name: String,
    /// The file of rules that was named last.
    pub rules_name: String,
    accepting: Option<typing::Accepting>,
    shown: Shown,
    pressed: Option<(Chord, Duration)>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// `at` is the time since start.
    Key { chord: Chord, at: Duration },
    /// Text from the clipboard.
    Paste(String),
    /// The page that is given beside it is on the screen now, as much of it as this.
    Drawn(Shown),
    /// The answer to an [`Effect::Fetch`]. An error says what to do.
    Fetched { wanted: Wanted, result: Result<Content, String> },
    /// What a reading for the drift screen tells.
    Surveyed { run: u32, surveyed: Surveyed },
    /// The answer to an [`Effect::Discover`].
    Offered(Result<Vec<Offered>, String>),
    /// A sentence for the user: a snapshot was written, or could not be.
    Told(Line),
}

/// Something for the caller to do. Nothing of it changes the cluster; a fetch that is asked as a dry run sends requests that store nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Quit,
    /// Give the terminal back to the shell until it continues us.
    Suspend,
    /// Send the whole screen again.
    Redraw,
    /// One of each kind pending at a time, the newest wins.
    Fetch(Wanted),
    /// Write a snapshot there, and tell.
    Snapshot {
        path: String,
    },
    /// Add this rule to the file, tell, and fetch the diff anew that shows what it is about.
    Accept {
        path: String,
        rule: Box<Rule>,
        wanted: Wanted,
    },
    /// Compare everything, and tell; instead of the reading that is under way.
    Survey {
        run: u32,
        records: Records,
    },
    StopSurvey,
    /// Ask which kinds there are, unless that is known.
    Discover,
    /// Look at these namespaces, or all.
    SetNamespaces(Option<BTreeSet<String>>),
}

impl App {
    /// `context` gives a snapshot its name.
    pub fn new(context: &str) -> Self {
        let name: String = context.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
        let name = if name.is_empty() { "cluster" } else { name.trim_matches('.') };
        Self { snapshot_name: format!("holdup-{name}.json.gz"), rules_name: "accept.toml".to_owned(), ..Self::default() }
    }

    /// Where the user is.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The views that esc goes back to, the nearest last.
    pub fn below(&self) -> &[View] {
        &self.below
    }

    /// The place in a pane of the view, or in that of the overlay.
    pub fn spot(&self, pane: &str) -> Spot {
        match &self.over {
            Some(over) if over.over.pane() == pane => over.spot.clone(),
            Some(_) | None => self.view.spot(pane),
        }
    }

    /// How many rows of a pane fit, as the last frame showed it; before that, the whole screen.
    pub fn height(&self, pane: &str) -> usize {
        let screen = usize::from(self.shown.size.1.max(24));
        self.shown.pane(pane).map_or(screen, |shown| shown.height.max(1))
    }

    /// Columns and rows of the terminal, as of the last frame.
    pub fn size(&self) -> (u16, u16) {
        self.shown.size
    }

    /// Until when no row may move (time since start), if that is after `now`.
    pub fn holds(&self, now: Duration) -> Option<Duration> {
        self.pressed.map(|(_, at)| at + HOLD).filter(|until| *until > now)
    }

    /// The same, with nothing over the screen: what help explains.
    pub fn without_overlay(&self) -> Self {
        Self { over: None, ..self.clone() }
    }

    fn spot_mut(&mut self, pane: &'static str) -> &mut Spot {
        match &mut self.over {
            Some(over) if over.over.pane() == pane => &mut over.spot,
            Some(_) | None => self.view.spot_mut(pane),
        }
    }

    fn say(&mut self, line: impl Into<Line>) -> Vec<Effect> {
        self.notice = Some(line.into());
        Vec::new()
    }
}

/// What a message does to the state, and what is to be done in the world. `page` is what is on the screen.
pub fn update(app: &mut App, msg: Msg, page: &Page) -> Vec<Effect> {
    match msg {
        Msg::Key { chord, at } => {
            app.notice = None;
            app.pressed = Some((chord, at));
            keymap::press(app, chord, page)
        }
        Msg::Paste(text) => typing::paste(app, &text),
        Msg::Drawn(shown) => {
            moves::drawn(app, shown, page);
            Vec::new()
        }
        Msg::Fetched { wanted, result } => {
            if let Ok(Content::Diff(comparison)) = &result {
                drift::watch(app, comparison);
            }
            app.documents.answer(&wanted, result);
            Vec::new()
        }
        Msg::Offered(offered) => {
            app.offers = Arc::new(offered.map_or_else(Offers::Failed, Offers::Here));
            Vec::new()
        }
        Msg::Surveyed { run, surveyed } => {
            drift::take(app, run, surveyed);
            Vec::new()
        }
        Msg::Told(line) => app.say(line),
    }
}
