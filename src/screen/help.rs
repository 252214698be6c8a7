//! Help: the keys that work here, from the same table that makes them work, and the words and shapes on the screen.

use super::Scene;
use super::window::{filtered, window};
use crate::app::{ACTIONS, all_keys, keys};
use crate::page::{Block, Column, Focus, Line, List, Opens, Page, Pane, Row, Width};

/// Shapes and words that every screen uses.
const SHAPES: [(&str, &str); 6] = [
    ("■ BLOCKED", "nothing will change until somebody changes something"),
    ("◔ DELAYED", "a mechanism already at work will retry or finish; its clock is named"),
    ("○ clearing", "it is gone; the row stays a while, in case it comes back"),
    ("· quiet", "on purpose: paused, suspended, scaled to 0, cordoned, gated"),
    ("└ also", "a consequence: it would go if the row above went"),
    ("not checked", "what may not be read: it could also stand in the way"),
];

pub(super) fn pane(scene: &Scene<'_>, page: &Page) -> Pane {
    let under = scene.app.without_overlay();
    let here: Vec<&str> = keys(&under, page).iter().map(|action| action.id).collect();
    let works = ACTIONS
        .iter()
        .filter(|action| here.contains(&action.id))
        .map(|action| said(scene, action.id, Line::new().accent(all_keys(action)), action.doc).opens(Opens::Action(action.id)));
    let shapes = SHAPES.iter().map(|(shape, means)| said(scene, shape, Line::from(*shape), means));
    let gap = Row::new("shapes", vec![Line::new().dim("on screen")]);
    let rows: Vec<Row> = works.chain([gap]).chain(shapes).collect();
    let window = window(scene.app, "help", rows.len(), |at| rows[at].id.to_string(), filtered(scene.app));
    let len = rows.len();
    let rows = rows.into_iter().skip(window.first).take(window.end - window.first).collect();
    let columns = vec![Column::new("", Width::Cells(KEYS)), Column::new("", Width::Rest(20))];
    let list = List { columns, rows, first: window.first, len, selected: window.selected, ..List::default() };
    Pane {
        id: "help",
        title: Some("Keys that work here".into()),
        note: Some(Line::new().accent("esc").dim(" closes")),
        block: Block::List(list),
        focus: Focus::Here,
    }
}

/// Columns that keys and shapes take.
const KEYS: u16 = 20;
/// What stands beside the text: keys, the gap behind them, the cursor's mark and the margin.
const BESIDE: u16 = KEYS + 2 + 3;

/// A row whose text goes on below itself where it does not fit beside its key.
fn said(scene: &Scene<'_>, id: &'static str, key: Line, text: &'static str) -> Row {
    let room = usize::from(scene.size.0.saturating_sub(BESIDE));
    let (first, rest) = split(text, room);
    let row = Row::new(id, vec![key, first.into()]);
    let indent = usize::from(KEYS) + 2;
    if rest.is_empty() { row } else { row.below(vec![Line::from(" ".repeat(indent)).plain(rest).hang(indent as u16)]) }
}

/// As many words as fit into the room, at least one, and the others.
fn split(text: &str, room: usize) -> (&str, &str) {
    if text.chars().count() <= room {
        return (text, "");
    }
    let ends = text.match_indices(' ').map(|(at, _)| at);
    let fitting = ends.clone().take_while(|at| text[..*at].chars().count() <= room).last();
    fitting.or(ends.min()).map_or((text, ""), |at| (&text[..at], &text[at + 1..]))
}
