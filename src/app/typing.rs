//! What is typed: the last line (filter, search, the name of a snapshot) and what lies over the screen (palette, namespaces, help).

use std::collections::BTreeSet;

use super::input::{Edited, Input};
use super::moves::{self, By};
use super::view::{Select, Spot};
use super::{App, Chord, Effect, Filter, Offers, Wanted, go};
use crate::desired::Rule;
use crate::page::{Opens, Page};

/// Something is being typed in the last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    pub ask: Ask,
    pub input: Input,
    /// What it was before, for esc.
    before: String,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Filter,
    Search,
    /// The file to write.
    Snapshot,
    /// The file that gets a rule for a difference.
    Rules,
    /// Why the difference is accepted.
    Reason,
    /// Whether server-side dry runs may be sent.
    DryRun,
}

/// Something lies over the screen, with its own cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlaid {
    pub over: Over,
    pub spot: Spot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    Help,
    Palette(Input),
    Namespaces {
        input: Input,
        /// Those that are ticked; none is all.
        chosen: BTreeSet<String>,
    },
}

impl Over {
    pub(super) fn palette() -> Self {
        Self::Palette(Input::default())
    }

    /// The id of its pane.
    pub fn pane(&self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Palette(_) => "palette",
            Self::Namespaces { .. } => "namespaces",
        }
    }

    pub fn input(&self) -> Option<&Input> {
        match self {
            Self::Help => None,
            Self::Palette(input) | Self::Namespaces { input, .. } => Some(input),
        }
    }

    fn input_mut(&mut self) -> Option<&mut Input> {
        match self {
            Self::Help => None,
            Self::Palette(input) | Self::Namespaces { input, .. } => Some(input),
        }
    }
}

impl App {
    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some() || self.over.as_ref().is_some_and(|over| over.over.input().is_some())
    }
}

pub(super) fn ask(app: &mut App, ask: Ask) -> Vec<Effect> {
    let before = match ask {
        Ask::Filter => app.view.filter.text.clone(),
        Ask::Search => app.view.search.clone(),
        Ask::Snapshot => app.snapshot_name.clone(),
        Ask::Rules => app.rules_name.clone(),
        Ask::Reason | Ask::DryRun => String::new(),
    };
    // A filter is amended; a search begins anew.
    let input = if ask == Ask::Search { Input::default() } else { Input::new(before.clone()) };
    app.typing = Some(Typing { ask, input, before });
    Vec::new()
}

pub(super) fn lay_over(app: &mut App, over: Over) -> Vec<Effect> {
    let is_palette = matches!(over, Over::Palette(_));
    app.over = Some(Overlaid { over, spot: Spot::default() });
    if !is_palette {
        return Vec::new();
    }
    // What is known stays while it is asked again: a kind may have been installed since.
    if app.offers.all().is_empty() {
        app.offers = std::sync::Arc::new(Offers::Asked);
    }
    vec![Effect::Discover]
}

/// Opens help, or closes it.
pub(super) fn help(app: &mut App) -> Vec<Effect> {
    if app.over.take().is_some() { Vec::new() } else { lay_over(app, Over::Help) }
}

/// Lets a chord edit what is being typed.
pub(super) fn edit(app: &mut App, chord: Chord) -> Vec<Effect> {
    let edited = input(app).map_or(Edited::Not, |input| input.edit(chord));
    if edited == Edited::Text {
        changed(app);
    }
    Vec::new()
}

pub(super) fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    if let Some(input) = input(app) {
        input.insert(text);
        changed(app);
    }
    Vec::new()
}

fn input(app: &mut App) -> Option<&mut Input> {
    match (&mut app.typing, &mut app.over) {
        (Some(typing), _) => Some(&mut typing.input),
        (None, over) => over.as_mut()?.over.input_mut(),
    }
}

/// Filters and searches act while they are typed. Other matches, other rows: the cursor goes to the best.
fn changed(app: &mut App) {
    if let Some(typing) = &app.typing {
        let text = typing.input.text.clone();
        match typing.ask {
            Ask::Filter => app.view.filter = Filter::parse(&text),
            Ask::Search => app.view.search = text,
            Ask::Snapshot | Ask::Rules | Ask::Reason | Ask::DryRun => {}
        }
    } else if let Some(over) = &mut app.over {
        over.spot = Spot::default();
    }
}

pub(super) fn cancel(app: &mut App) -> Vec<Effect> {
    match app.typing.take() {
        Some(Typing { ask: Ask::Filter, before, .. }) => app.view.filter = Filter::parse(&before),
        Some(Typing { ask: Ask::Search, before, .. }) => app.view.search = before,
        Some(Typing { ask: Ask::Snapshot | Ask::DryRun, .. }) => {}
        Some(Typing { ask: Ask::Rules | Ask::Reason, .. }) => app.accepting = None,
        None => app.over = None,
    }
    Vec::new()
}

pub(super) fn accept(app: &mut App, page: &Page) -> Vec<Effect> {
    match app.typing.take() {
        Some(Typing { ask: Ask::Filter, .. }) => said_about_filter(app),
        Some(Typing { ask: Ask::Search, input, before }) if input.text.is_empty() => {
            app.view.search = before;
            Vec::new()
        }
        Some(Typing { ask: Ask::Search, .. }) => moves::find(app, By::First),
        Some(Typing { ask: Ask::Snapshot, input, .. }) => snapshot(app, &input.text),
        Some(Typing { ask: Ask::Rules, input, .. }) => rules(app, &input.text),
        Some(Typing { ask: Ask::Reason, input, .. }) => reason(app, &input.text),
        Some(Typing { ask: Ask::DryRun, input, .. }) => match input.text.trim().to_lowercase().as_str() {
            "y" | "yes" => go::dry_run(app),
            _ => app.say("nothing was sent"),
        },
        None => accept_row(app, page),
    }
}

fn said_about_filter(app: &mut App) -> Vec<Effect> {
    if app.view.filter.ignored.is_empty() {
        return Vec::new();
    }
    let text = format!("not understood and left out: {}", app.view.filter.ignored.join(", "));
    app.say(text)
}

fn snapshot(app: &mut App, path: &str) -> Vec<Effect> {
    let path = path.trim().to_owned();
    if path.is_empty() {
        return app.say("no name, so no snapshot was written");
    }
    app.snapshot_name.clone_from(&path);
    vec![Effect::Snapshot { path }]
}

/// The file is known; why is asked next, since a rule without a reason is worth nothing later.
fn rules(app: &mut App, path: &str) -> Vec<Effect> {
    if path.trim().is_empty() {
        app.accepting = None;
        return app.say("no file is named, so nothing was accepted");
    }
    path.trim().clone_into(&mut app.rules_name);
    ask(app, Ask::Reason)
}

fn reason(app: &mut App, reason: &str) -> Vec<Effect> {
    match app.accepting.take() {
        Some(_) if reason.trim().is_empty() => app.say("no reason, so nothing was accepted"),
        Some(accepting) => {
            let rule = Rule { reason: reason.trim().to_owned(), ..accepting.rule };
            vec![Effect::Accept { path: app.rules_name.clone(), rule: Box::new(rule), wanted: accepting.wanted }]
        }
        None => Vec::new(),
    }
}

/// A difference that is being accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepting {
    pub(super) rule: Rule,
    /// The diff that shows it.
    pub(super) wanted: Wanted,
}

fn accept_row(app: &mut App, page: &Page) -> Vec<Effect> {
    // Who has ticked means the ticks; who has not, the row.
    if let Some(Over::Namespaces { chosen, .. }) = app.over.as_ref().map(|over| &over.over)
        && *chosen != app.namespaces.clone().unwrap_or_default()
    {
        let chosen = chosen.clone();
        return set_namespaces(app, (!chosen.is_empty()).then_some(chosen));
    }
    match page.row().and_then(|row| row.opens.clone()) {
        Some(opens) => go::follow(app, opens, page),
        None => app.say("nothing matches that; esc closes"),
    }
}

/// Whether several rows can be chosen.
pub(super) fn is_choosing(app: &App) -> bool {
    app.typing.is_none() && matches!(app.over.as_ref().map(|over| &over.over), Some(Over::Namespaces { .. }))
}

/// Ticks the row under the cursor, or takes its tick away.
pub(super) fn choose(app: &mut App, page: &Page) -> Vec<Effect> {
    let Some(row) = page.row() else { return Vec::new() };
    let (id, opens) = (row.id.to_string(), row.opens.clone());
    let Some(over) = &mut app.over else { return Vec::new() };
    over.spot.select = Select::Id(id);
    if let Over::Namespaces { chosen, .. } = &mut over.over {
        match opens {
            Some(Opens::Namespace(Some(name))) if !chosen.remove(&name) => {
                chosen.insert(name);
            }
            Some(Opens::Namespace(None)) => chosen.clear(),
            _ => {}
        }
    }
    Vec::new()
}

pub(super) fn only_namespace(app: &mut App, name: Option<String>) -> Vec<Effect> {
    set_namespaces(app, name.map(|name| BTreeSet::from([name])))
}

fn set_namespaces(app: &mut App, namespaces: Option<BTreeSet<String>>) -> Vec<Effect> {
    app.over = None;
    if app.namespaces == namespaces {
        return Vec::new();
    }
    app.namespaces.clone_from(&namespaces);
    vec![Effect::SetNamespaces(namespaces)]
}
