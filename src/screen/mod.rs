//! Scene to page: what each screen shows, as functions over what is known, borrowed for one frame; it reads no clock and draws nothing.
//!
//! [`page`] makes the whole frame: the header and footer that all screens share, the body of the screen the user is on, and what lies
//! over it. It costs what is visible, not what the cluster holds, save for the filter, which looks at every blocker.

mod ages;
mod blocker;
mod chain;
mod coverage;
mod diff;
mod document;
mod drift;
mod frame;
mod help;
mod meant;
mod namespaces;
mod nodes;
mod object;
mod palette;
mod pods;
mod questions;
mod quiet;
mod refers;
mod scene;
mod select;
mod sources;
mod suspect;
mod thing;
mod tree;
mod triage;
mod window;
mod words;

pub use nodes::fits;
pub use scene::{Link, Scene, Status};

use crate::app::At;
use crate::page::{About, Header, Layout, Page, Part};
use ages::Ages;

/// A screen: a place the user can be.
pub struct Screen {
    pub id: &'static str,
    /// What the palette calls it.
    pub title: &'static str,
    pub page: fn(&Scene<'_>) -> Page,
}

/// Every screen.
pub const SCREENS: &[Screen] = &[
    Screen { id: "triage", title: "what holds the cluster up", page: |scene| frame::around(scene, triage::body) },
    Screen { id: "blocker", title: "a blocker", page: |scene| frame::around(scene, blocker::body) },
    Screen { id: "object", title: "an object: why, tree, events, diff, yaml, logs", page: |scene| frame::around(scene, object::body) },
    Screen { id: "drift", title: "everything beside what was asked for, worst first", page: |scene| frame::around(scene, drift::body) },
    Screen { id: "coverage", title: "what is seen, and what may not be seen", page: |scene| frame::around(scene, coverage::body) },
    Screen { id: "quiet", title: "what is muted, and what is quiet on purpose", page: |scene| frame::around(scene, quiet::body) },
];

/// The page of the screen the user is on.
pub fn page(scene: &Scene<'_>) -> Page {
    let id = match scene.app.view().at {
        At::Triage => "triage",
        At::Blocker(_) => "blocker",
        At::Object { .. } => "object",
        At::Drift => "drift",
        At::Coverage => "coverage",
        At::Quiet => "quiet",
    };
    let screen = SCREENS.iter().find(|screen| screen.id == id).unwrap_or(&SCREENS[0]);
    Page { screen: screen.id, ..(screen.page)(scene) }
}

/// What one screen contributes to its frame.
#[derive(Default)]
struct Body {
    /// Behind the program's name, from the left.
    path: Vec<Part>,
    /// At the right end of the header; without any, the state of the connection and the counts.
    right: Vec<Part>,
    layout: Layout,
    about: Option<About>,
}

type MakeBody = fn(&Scene<'_>, &Ages) -> Body;

impl Body {
    fn header(self, name: Part) -> (Header, Layout, Option<About>) {
        let left = std::iter::once(name).chain(self.path).collect();
        (Header { left, right: self.right }, self.layout, self.about)
    }
}
