//! Moving in lists and texts: by stable id, on a line of the screen that stays; and what a drawn frame tells about both.

use super::go::document;
use super::view::{Select, Spot, Top};
use super::{App, Effect};
use crate::page::{Block, List, Opens, Page, Pane, Shown, Text};

/// How far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Lines(isize),
    /// Half pages of what is visible.
    Halves(isize),
    First,
    Last,
}

/// Moves in the pane that has the focus.
pub(super) fn go(app: &mut App, page: &Page, by: By) -> Vec<Effect> {
    let Some(pane) = page.focused() else { return Vec::new() };
    match &pane.block {
        Block::List(list) => in_list(app, pane, list, by),
        Block::Text(text) => in_text(app, pane, text, by),
    }
    Vec::new()
}

fn in_list(app: &mut App, pane: &Pane, list: &List, by: By) {
    if list.len == 0 {
        return;
    }
    let height = app.height(pane.id);
    let spot = app.spot(pane.id);
    let from = current(&spot, list);
    let to = target(from, list.len, height, by);
    let line = spot.line.saturating_add(to).saturating_sub(from).min(height.saturating_sub(1));
    let row = to.checked_sub(list.first).and_then(|at| list.rows.get(at));
    let select = row.map_or(Select::At(to), |row| Select::Id(row.id.to_string()));
    *app.spot_mut(pane.id) = Spot { select, line, index: to, ..spot };
    // In the list of layers moving is choosing.
    if let Some(Opens::Layer(layer)) = row.and_then(|row| row.opens.clone()) {
        app.choose_layer(layer.as_deref());
    }
}

/// The place of the selected row in the whole list.
fn current(spot: &Spot, list: &List) -> usize {
    let known = match &spot.select {
        Select::At(at) => Some(*at),
        Select::Id(id) => list.index(id),
        Select::First => list.selected.as_ref().and_then(|id| list.index(id)).or(Some(0)),
    };
    known.unwrap_or(spot.index).min(list.len.saturating_sub(1))
}

fn target(from: usize, len: usize, height: usize, by: By) -> usize {
    let last = len.saturating_sub(1);
    match by {
        By::Lines(lines) => from.saturating_add_signed(lines).min(last),
        By::Halves(halves) => from.saturating_add_signed(halves * half(height)).min(last),
        By::First => 0,
        By::Last => last,
    }
}

fn half(height: usize) -> isize {
    isize::try_from((height / 2).max(1)).unwrap_or(1)
}

fn in_text(app: &mut App, pane: &Pane, text: &Text, by: By) {
    let shown = app.shown.pane(pane.id).copied();
    let (first, rows, height) = shown.map_or((text.first, 1, 1), |shown| (shown.first, shown.rows, shown.height));
    let ends = shown.is_some() && first + rows >= text.len;
    let from = match app.spot(pane.id).top {
        Top::Line(line) => line,
        Top::End => first,
    };
    let down = |by: isize| if ends && by > 0 { from } else { from.saturating_add_signed(by).min(text.len.saturating_sub(1)) };
    let top = match by {
        By::Lines(lines) => Top::Line(down(lines)),
        By::Halves(halves) => Top::Line(down(halves * half(height))),
        By::First => Top::Line(0),
        By::Last => Top::End,
    };
    app.spot_mut(pane.id).top = top;
}

/// Goes to the next match of the search in the document, forwards or backwards.
pub(super) fn find(app: &mut App, by: By) -> Vec<Effect> {
    let Some((pane, object, document)) = document(app) else { return Vec::new() };
    let needle = app.view.search.to_lowercase();
    let lines = app.documents.get(&object, document).map(super::Fetched::lines).unwrap_or_default();
    let shown = app.shown.pane(pane).map_or(0, |shown| shown.first);
    let from = match app.spot(pane).top {
        Top::Line(line) => line,
        Top::End => shown,
    };
    let matches: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].to_lowercase().contains(&needle)).collect();
    let found = match by {
        By::Lines(1..) | By::Halves(1..) | By::Last => matches.iter().find(|at| **at > from).or(matches.first()),
        By::First => matches.iter().find(|at| **at >= from).or(matches.first()),
        By::Lines(_) | By::Halves(_) => matches.iter().rfind(|at| **at < from).or(matches.last()),
    };
    match found.copied() {
        Some(at) => {
            app.spot_mut(pane).top = Top::Line(at);
            let nth = matches.iter().position(|found| *found == at).map_or(0, |nth| nth + 1);
            let text = format!("match {nth} of {}", matches.len());
            app.say(text)
        }
        None => {
            let text = format!("nothing here contains {needle}");
            app.say(text)
        }
    }
}

/// Takes over what a frame showed: ids of rows that were known only by their place, and the lines of the cursors.
pub(super) fn drawn(app: &mut App, shown: Shown, page: &Page) {
    for pane in page.panes() {
        let (Some(visible), Some(list)) = (shown.pane(pane.id), pane.list()) else { continue };
        let Some(index) = list.selected.as_ref().and_then(|id| list.index(id)) else { continue };
        let spot = app.spot(pane.id);
        let select = match &spot.select {
            Select::At(at) if *at == index => list.selected.as_ref().map_or(Select::At(*at), |id| Select::Id(id.to_string())),
            Select::At(_) | Select::First | Select::Id(_) => spot.select.clone(),
        };
        let line = index.saturating_sub(visible.first);
        *app.spot_mut(pane.id) = Spot { select, line, index, ..spot };
    }
    app.shown = shown;
}
