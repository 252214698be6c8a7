//! ACTIONS: what keys do. Look-up, footer, help, palette and the README's table of keys come from this table.

use super::go::{self, Step};
use super::moves::{self, By};
use super::typing::{self, Ask, Over};
use super::view::{At, Tab};
use super::{App, Chord, Effect};
use crate::page::{Opens, Page};

/// One thing the user can do.
pub struct Action {
    /// Stable; the name in the palette and in a configuration.
    pub id: &'static str,
    /// What it does, for help.
    pub doc: &'static str,
    /// The same in a word or two for the footer; empty where it is not shown there.
    pub hint: &'static str,
    /// Keys; the first is the one that is shown.
    pub keys: &'static [&'static str],
    /// Where these keys mean this.
    pub places: &'static [Place],
    /// Whether it can do something now.
    pub when: fn(&App, &Page) -> bool,
    pub run: fn(&mut App, &Page) -> Vec<Effect>,
}

/// Where a key is looked up, in this order; a place is skipped while the user is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Something is being typed.
    Prompt,
    /// Something without a prompt lies over the screen.
    Over,
    /// A yaml or log.
    Document,
    Object,
    Triage,
    /// Any screen with nothing over it.
    Screen,
    Always,
}

use Place::{Always, Document, Object, Over as Overlay, Prompt, Screen, Triage};

const MOVES: &[Place] = &[Screen, Overlay];

fn always(_: &App, _: &Page) -> bool {
    true
}

/// In the order of usefulness: footer and help show it.
pub const ACTIONS: &[Action] = &[
    Action {
        id: "open",
        doc: "open what the row is about",
        hint: "open",
        keys: &["enter"],
        places: MOVES,
        when: |_, page| {
            page.focused()
                .and_then(|pane| pane.list())
                .is_some_and(|list| list.row().map_or(list.selected.is_some(), |row| row.opens.is_some()))
        },
        run: go::open,
    },
    Action {
        id: "back",
        doc: "back to where you came from; on the first screen, clear filter and layer",
        hint: "back",
        keys: &["esc", "backspace"],
        places: MOVES,
        when: |app, _| go::can_go_back(app),
        run: |app, _| go::back(app),
    },
    Action {
        id: "diff",
        doc: "what was asked for beside what is: each difference, who wrote it, whether it matters",
        hint: "diff",
        keys: &["d"],
        places: &[Screen],
        when: |app, page| go::can_show(app, page, Tab::Diff),
        run: |app, page| go::show(app, page, Tab::Diff),
    },
    Action {
        id: "next-source",
        doc: "compare a diff with the next source of what was asked for",
        hint: "source",
        keys: &["x"],
        places: &[Object],
        when: |app, _| go::has_other_source(app),
        run: |app, _| go::next_source(app),
    },
    Action {
        id: "explained",
        doc: "show what a diff explains as well, or no longer",
        hint: "explained",
        keys: &["z"],
        places: &[Object],
        when: |app, _| go::has_explained(app),
        run: |app, _| {
            let reading = &mut app.view.reading;
            reading.explained = !reading.explained;
            Vec::new()
        },
    },
    Action {
        id: "logs",
        doc: "logs of the container that matters, the last 500 lines",
        hint: "logs",
        keys: &["l"],
        places: &[Screen],
        when: |app, page| go::can_show(app, page, Tab::Logs),
        run: |app, page| go::show(app, page, Tab::Logs),
    },
    Action {
        id: "previous-logs",
        doc: "logs of that container's run before this one",
        hint: "",
        keys: &["p"],
        places: &[Screen],
        when: |app, page| go::can_show(app, page, Tab::Previous),
        run: |app, page| go::show(app, page, Tab::Previous),
    },
    Action {
        id: "events",
        doc: "all events of the object",
        hint: "events",
        keys: &["e"],
        places: &[Screen],
        when: |app, page| go::can_show(app, page, Tab::Events),
        run: |app, page| go::show(app, page, Tab::Events),
    },
    Action {
        id: "yaml",
        doc: "the whole object, secrets redacted",
        hint: "yaml",
        keys: &["y"],
        places: &[Screen],
        when: |app, page| go::can_show(app, page, Tab::Yaml),
        run: |app, page| go::show(app, page, Tab::Yaml),
    },
    Action {
        id: "tree",
        doc: "owners, pods and what the object refers to",
        hint: "tree",
        keys: &["o"],
        places: &[Screen],
        when: |app, page| go::can_show(app, page, Tab::Tree),
        run: |app, page| go::show(app, page, Tab::Tree),
    },
    Action {
        id: "search",
        doc: "search in this text",
        hint: "search",
        keys: &["/"],
        places: &[Document],
        when: always,
        run: |app, _| typing::ask(app, Ask::Search),
    },
    Action {
        id: "next-match",
        doc: "next match of the search",
        hint: "next",
        keys: &["n"],
        places: &[Document],
        when: |app, _| !app.view().search.is_empty(),
        run: |app, _| moves::find(app, By::Lines(1)),
    },
    Action {
        id: "previous-match",
        doc: "previous match of the search",
        hint: "",
        keys: &["N"],
        places: &[Document],
        when: |app, _| !app.view().search.is_empty(),
        run: |app, _| moves::find(app, By::Lines(-1)),
    },
    Action {
        id: "reload",
        doc: "fetch this again",
        hint: "reload",
        keys: &["r", "f5"],
        places: &[Object],
        when: |app, _| go::document(app).is_some(),
        run: go::reload,
    },
    Action {
        id: "filter",
        doc: "filter: words, !not, ~fuzzy, ns: layer: cause: kind: node: is:blocked since:<15m",
        hint: "filter",
        keys: &["/"],
        places: &[Screen],
        when: always,
        run: |app, _| typing::ask(app, Ask::Filter),
    },
    Action {
        id: "palette",
        doc: "go to anything: screens, commands, namespaces, causes, objects by kind and name",
        hint: "go to",
        keys: &[":", "ctrl-p"],
        places: &[Screen],
        when: always,
        run: |app, _| typing::lay_over(app, Over::palette()),
    },
    Action {
        id: "layer",
        doc: "one layer, by its number; 0 is all of them",
        hint: "",
        keys: &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
        places: &[Triage],
        when: always,
        run: |app, _| go::layer_by_number(app),
    },
    Action {
        id: "next-layer",
        doc: "the next layer",
        hint: "",
        keys: &["J"],
        places: &[Triage],
        when: always,
        run: |app, _| go::step_layer(app, Step::Next),
    },
    Action {
        id: "previous-layer",
        doc: "the layer before",
        hint: "",
        keys: &["K"],
        places: &[Triage],
        when: always,
        run: |app, _| go::step_layer(app, Step::Previous),
    },
    Action {
        id: "namespaces",
        doc: "choose namespaces, one or several",
        hint: "namespaces",
        keys: &["n"],
        places: &[Screen],
        when: always,
        run: |app, _| {
            let chosen = app.namespaces.clone().unwrap_or_default();
            typing::lay_over(app, Over::Namespaces { input: super::Input::default(), chosen })
        },
    },
    Action {
        id: "mute",
        doc: "mute the blocker for this session, or let it speak again",
        hint: "mute",
        keys: &["m"],
        places: &[Screen],
        when: |app, page| go::blocker(app, page).is_some(),
        run: go::mute,
    },
    Action {
        id: "quiet",
        doc: "what is muted, and what is quiet on purpose",
        hint: "quiet",
        keys: &["z"],
        places: &[Screen],
        when: |app, _| app.view().at != At::Quiet,
        run: |app, page| go::follow(app, Opens::Screen("quiet"), page),
    },
    Action {
        id: "coverage",
        doc: "what is seen, and what may not be seen",
        hint: "",
        keys: &["C"],
        places: &[Screen],
        when: |app, _| app.view().at != At::Coverage,
        run: |app, page| go::follow(app, Opens::Screen("coverage"), page),
    },
    Action {
        id: "pause",
        doc: "hold the screen still, or let it go on; nothing is missed",
        hint: "pause",
        keys: &["space"],
        places: &[Screen],
        when: always,
        run: |app, _| {
            app.paused = !app.paused;
            Vec::new()
        },
    },
    Action {
        id: "snapshot",
        doc: "write what explains the present blockers to a file, redacted",
        hint: "snapshot",
        keys: &["s"],
        places: &[Screen],
        when: always,
        run: |app, _| typing::ask(app, Ask::Snapshot),
    },
    Action {
        id: "down",
        doc: "down",
        hint: "",
        keys: &["j", "down"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Lines(1)),
    },
    Action {
        id: "up",
        doc: "up",
        hint: "",
        keys: &["k", "up"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Lines(-1)),
    },
    Action {
        id: "first",
        doc: "to the beginning",
        hint: "",
        keys: &["g", "home"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::First),
    },
    Action {
        id: "last",
        doc: "to the end",
        hint: "",
        keys: &["G", "end"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Last),
    },
    Action {
        id: "half-page-down",
        doc: "half a page down",
        hint: "",
        keys: &["ctrl-d"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Halves(1)),
    },
    Action {
        id: "half-page-up",
        doc: "half a page up",
        hint: "",
        keys: &["ctrl-u"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Halves(-1)),
    },
    Action {
        id: "page-down",
        doc: "a page down",
        hint: "",
        keys: &["pagedown", "ctrl-f"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Halves(2)),
    },
    Action {
        id: "page-up",
        doc: "a page up",
        hint: "",
        keys: &["pageup", "ctrl-b"],
        places: MOVES,
        when: always,
        run: |app, page| moves::go(app, page, By::Halves(-2)),
    },
    Action {
        id: "next-pane",
        doc: "next pane, or tab where there is one pane",
        hint: "",
        keys: &["tab"],
        places: &[Screen],
        when: go::can_turn,
        run: |app, page| go::pane(app, page, Step::Next),
    },
    Action {
        id: "previous-pane",
        doc: "previous pane, or tab",
        hint: "",
        keys: &["shift-tab"],
        places: &[Screen],
        when: go::can_turn,
        run: |app, page| go::pane(app, page, Step::Previous),
    },
    Action {
        id: "next-tab",
        doc: "next tab, or pane where there are no tabs",
        hint: "tab",
        keys: &["right"],
        places: &[Screen],
        when: go::can_turn,
        run: |app, page| go::tab(app, page, Step::Next),
    },
    Action {
        id: "previous-tab",
        doc: "previous tab, or pane",
        hint: "",
        keys: &["left"],
        places: &[Screen],
        when: go::can_turn,
        run: |app, page| go::tab(app, page, Step::Previous),
    },
    Action {
        id: "accept",
        doc: "take what was typed, or the row that is marked",
        hint: "take",
        keys: &["enter"],
        places: &[Prompt],
        when: always,
        run: typing::accept,
    },
    Action {
        id: "cancel",
        doc: "leave it as it was",
        hint: "cancel",
        keys: &["esc"],
        places: &[Prompt],
        when: always,
        run: |app, _| typing::cancel(app),
    },
    Action {
        id: "choose",
        doc: "choose the row, or not, and go on choosing",
        hint: "choose",
        keys: &["tab", "space"],
        places: &[Prompt],
        when: |app, _| typing::is_choosing(app),
        run: typing::choose,
    },
    Action {
        id: "row-down",
        doc: "next row",
        hint: "",
        keys: &["down", "ctrl-n"],
        places: &[Prompt],
        when: |app, _| app.over.is_some(),
        run: |app, page| moves::go(app, page, By::Lines(1)),
    },
    Action {
        id: "row-up",
        doc: "row before",
        hint: "",
        keys: &["up", "ctrl-p"],
        places: &[Prompt],
        when: |app, _| app.over.is_some(),
        run: |app, page| moves::go(app, page, By::Lines(-1)),
    },
    Action {
        id: "rows-down",
        doc: "a page of rows down",
        hint: "",
        keys: &["pagedown"],
        places: &[Prompt],
        when: |app, _| app.over.is_some(),
        run: |app, page| moves::go(app, page, By::Halves(2)),
    },
    Action {
        id: "rows-up",
        doc: "a page of rows up",
        hint: "",
        keys: &["pageup"],
        places: &[Prompt],
        when: |app, _| app.over.is_some(),
        run: |app, page| moves::go(app, page, By::Halves(-2)),
    },
    Action {
        id: "delete-word",
        doc: "delete the word before the cursor",
        hint: "",
        keys: &["ctrl-w", "alt-backspace"],
        places: &[Prompt],
        when: always,
        run: |app, _| typing::edit(app, Chord::ctrl('w')),
    },
    Action {
        id: "delete-line",
        doc: "delete all before the cursor",
        hint: "",
        keys: &["ctrl-u"],
        places: &[Prompt],
        when: always,
        run: |app, _| typing::edit(app, Chord::ctrl('u')),
    },
    Action {
        id: "redraw",
        doc: "send the whole screen again",
        hint: "",
        keys: &["ctrl-l"],
        places: &[Always],
        when: always,
        run: |_, _| vec![Effect::Redraw],
    },
    Action {
        id: "suspend",
        doc: "back to the shell; fg returns",
        hint: "",
        keys: &["ctrl-z"],
        places: &[Always],
        when: always,
        run: |_, _| vec![Effect::Suspend],
    },
    Action { id: "quit", doc: "quit", hint: "", keys: &["q"], places: MOVES, when: always, run: |_, _| vec![Effect::Quit] },
    Action {
        id: "quit-at-once",
        doc: "quit, also while typing",
        hint: "",
        keys: &["ctrl-c"],
        places: &[Always],
        when: always,
        run: |_, _| vec![Effect::Quit],
    },
    Action {
        id: "help",
        doc: "all keys that work here",
        hint: "help",
        keys: &["?", "f1"],
        places: MOVES,
        when: always,
        run: |app, _| typing::help(app),
    },
];
