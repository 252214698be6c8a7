//! Which rows of a long list can be visible, and which of them is selected.

use crate::app::{App, Select};
use crate::page::Str;

/// The part of a list that a page holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub first: usize,
    pub end: usize,
    pub selected: Option<Str>,
}

/// The window of a list of `len` rows whose ids are known by place. A selected row that is not in the list may be `hidden`, by a
/// filter: then the cursor stands on another until it comes back. If it is not, it is gone, and a key that was meant for it says so.
pub(super) fn window(app: &App, pane: &str, len: usize, id: impl Fn(usize) -> String, hidden: impl Fn(&str) -> bool) -> Window {
    let spot = app.spot(pane);
    let last = len.saturating_sub(1);
    let at = |at: usize| (at, (len > 0).then(|| id(at)));
    let (index, selected) = match &spot.select {
        Select::First => at(0),
        Select::At(wanted) => at((*wanted).min(last)),
        Select::Id(wanted) => match (0..len).find(|at| id(*at) == *wanted) {
            Some(found) => (found, Some(wanted.clone())),
            None if hidden(wanted) => at(spot.index.min(last)),
            None => (spot.index.min(last), Some(wanted.clone())),
        },
    };
    let height = app.height(pane);
    let first = spot.first(index, len, height);
    Window { first, end: len.min(first + height), selected: selected.map(Str::from) }
}

/// For lists that only their filter narrows.
pub(super) fn filtered(app: &App) -> impl Fn(&str) -> bool {
    let narrowed = !app.view().filter.is_empty();
    move |_| narrowed
}
