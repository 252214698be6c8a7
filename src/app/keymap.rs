//! From a chord to an action, and what the table of actions says about keys: footer, help, README, clashes.

use super::actions::{ACTIONS, Action, Place};
use super::typing;
use super::view::{At, Tab};
use super::{App, Chord, Effect};
use crate::page::{Hint, Page};

/// Does what the chord means here. While something is typed, a chord that no action takes edits or types.
pub(super) fn press(app: &mut App, chord: Chord, page: &Page) -> Vec<Effect> {
    match look_up(app, page, chord) {
        Some(action) => (action.run)(app, page),
        None if app.is_typing() => typing::edit(app, chord),
        None => Vec::new(),
    }
}

fn look_up(app: &App, page: &Page, chord: Chord) -> Option<&'static Action> {
    places(app).into_iter().find_map(|place| {
        let here = ACTIONS.iter().filter(|action| action.places.contains(&place));
        here.filter(|action| has(action, chord)).find(|action| (action.when)(app, page))
    })
}

fn has(action: &Action, chord: Chord) -> bool {
    action.keys.iter().any(|key| Chord::parse(key) == Some(chord))
}

/// Where the user is, the narrowest first.
fn places(app: &App) -> Vec<Place> {
    if app.is_typing() {
        return vec![Place::Prompt, Place::Always];
    }
    if app.over.is_some() {
        return vec![Place::Over, Place::Always];
    }
    let mut places = match &app.view().at {
        At::Triage => vec![Place::Triage],
        At::Object { tab: Tab::Yaml | Tab::Logs | Tab::Previous, .. } => vec![Place::Document, Place::Object],
        At::Object { .. } => vec![Place::Object],
        At::Blocker(_) | At::Drift | At::Coverage | At::Quiet => Vec::new(),
    };
    places.extend([Place::Screen, Place::Always]);
    places
}

/// The actions that a key reaches here and now.
pub fn keys(app: &App, page: &Page) -> Vec<&'static Action> {
    let places = places(app);
    let here = |action: &&Action| action.places.iter().any(|place| places.contains(place)) && (action.when)(app, page);
    let reached = |action: &&Action| {
        let first = action.keys.first().and_then(|key| Chord::parse(key));
        first.and_then(|chord| look_up(app, page, chord)).is_some_and(|found| found.id == action.id)
    };
    ACTIONS.iter().filter(here).filter(reached).collect()
}

/// What the footer shows.
pub fn hints(app: &App, page: &Page) -> Vec<Hint> {
    let shown = |action: &&Action| !action.hint.is_empty();
    keys(app, page).into_iter().filter(shown).map(|action| Hint::new(first_key(action), action.hint)).collect()
}

/// The key by which an action is shown.
pub fn first_key(action: &Action) -> &'static str {
    match action.keys.first().copied().unwrap_or_default() {
        "enter" => "⏎",
        "right" => "→",
        key => key,
    }
}

/// All keys of an action, as help writes them.
pub fn all_keys(action: &Action) -> String {
    match action.keys {
        [first, .., last] if action.keys.len() > 4 => format!("{first} … {last}"),
        keys => keys.join("  "),
    }
}

/// Chords that mean two things in one place: `next-match and namespaces: n`.
pub fn clashes() -> Vec<String> {
    let mut found = Vec::new();
    for (at, one) in ACTIONS.iter().enumerate() {
        for other in &ACTIONS[at + 1..] {
            let place = one
                .places
                .iter()
                .any(|place| other.places.contains(place) || *place == Place::Always || other.places.contains(&Place::Always));
            let keys = one.keys.iter().filter(|key| other.keys.contains(key)).filter(|_| place);
            found.extend(keys.map(|key| format!("{} and {}: {key}", one.id, other.id)));
        }
    }
    found
}

/// The table of keys for the README.
pub fn key_table() -> String {
    let mut table = String::from("| key | does |\n|---|---|\n");
    for (title, place) in [
        ("", Place::Screen),
        ("", Place::Triage),
        ("in yaml and logs: ", Place::Document),
        ("on an object: ", Place::Object),
        ("while typing: ", Place::Prompt),
        ("", Place::Always),
    ] {
        for action in ACTIONS.iter().filter(|action| action.places.first() == Some(&place)) {
            let keys: Vec<String> = match action.keys {
                [first, .., last] if action.keys.len() > 4 => vec![format!("`{first}`…`{last}`")],
                keys => keys.iter().map(|key| format!("`{key}`")).collect(),
            };
            table.push_str(&format!("| {} | {title}{} |\n", keys.join(" "), action.doc));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        assert_eq!(clashes(), Vec::<String>::new());
    }

    #[test]
    fn every_key_can_be_read_and_every_id_is_its_own() {
        for action in ACTIONS {
            assert!(!action.keys.is_empty() && action.keys.iter().all(|key| Chord::parse(key).is_some()), "{}", action.id);
            assert!(!action.doc.is_empty() && !action.places.is_empty(), "{}", action.id);
        }
        assert_eq!(ACTIONS.iter().map(|action| action.id).collect::<BTreeSet<_>>().len(), ACTIONS.len());
    }

    #[test]
    fn nothing_is_reached_by_a_terminal_s_own_bytes() {
        let twins = ["ctrl-h", "ctrl-i", "ctrl-m", "ctrl-j"];
        assert!(ACTIONS.iter().all(|action| !action.keys.iter().any(|key| twins.contains(key))));
    }
}
