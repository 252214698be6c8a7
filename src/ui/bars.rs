//! Draws the header, the footer and what is being typed.

use std::borrow::Cow;

use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::clean::{clean, width};
use super::fit::{first, fit, last, pieces_width};
use super::pen::Pen;
use super::theme::Glyphs;
use crate::page::{Footer, Header, Hint, Line, Part, Prompt, Role};

/// Between the parts of the header and between hints.
const GAP: usize = 3;

pub(super) fn header(pen: &mut Pen<'_>, area: Rect, header: &Header) {
    let room = usize::from(area.width.saturating_sub(2));
    let theme = pen.theme;
    let mut left: Vec<&Part> = header.left.iter().collect();
    let mut right: Vec<&Part> = header.right.iter().collect();
    let takes = |parts: &[&Part]| -> usize { parts.iter().map(|part| pieces_width(&fit(&part.line, room, &theme)) + GAP).sum::<usize>() };
    while (takes(&left) + takes(&right)).saturating_sub(GAP) > room {
        let last = left.iter().chain(&right).map(|part| part.priority).max().unwrap_or(0);
        if last == 0 {
            break;
        }
        let side = if right.iter().any(|part| part.priority == last) { &mut right } else { &mut left };
        let at = side.iter().rposition(|part| part.priority == last).unwrap_or(0);
        side.remove(at);
    }
    let behind = takes(&right).saturating_sub(GAP).min(room);
    let mut x = area.right().saturating_sub(1 + behind as u16);
    let end = x;
    for part in right {
        x = pen.line((x, area.y), area.right().saturating_sub(x + 1), &part.line) + GAP as u16;
    }
    x = area.x + 1;
    let mut limit = end.saturating_sub(if behind > 0 { GAP as u16 } else { 0 });
    // What must stay at the left is shortened in favour of what must stay at the right, but keeps some room.
    limit = limit.max(area.x + 1);
    for part in left {
        x = pen.line((x, area.y), limit.saturating_sub(x), &part.line) + GAP as u16;
    }
}

/// Draws the footer; answers where the cursor stands if something is typed there.
pub(super) fn footer(pen: &mut Pen<'_>, area: Rect, footer: &Footer, small: Option<(u16, u16)>) -> Option<Position> {
    let mut area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    match footer {
        Footer::Prompt(typed) => {
            return prompt(pen, Rect { x: area.x - 1, width: area.width + 2, ..area }, typed);
        }
        Footer::Notice(line) => {
            pen.line((area.x, area.y), area.width, line);
        }
        Footer::Hints(shown) => {
            if let Some((width, height)) = small {
                let style = pen.theme.style(Role::Delayed);
                let x = pen.text((area.x, area.y), area.width, &format!("▲ too small, wants {width}×{height}"), style);
                let used = x - area.x + GAP as u16;
                area = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
            }
            hints(pen, area, shown);
        }
    }
    None
}

/// As many hints as fit; the last one, which leads to all others, always.
fn hints(pen: &mut Pen<'_>, area: Rect, hints: &[Hint]) {
    let Some((last, others)) = hints.split_last() else {
        return;
    };
    let glyphs = pen.theme.glyphs;
    let size = |hint: &Hint| width(&clean(&key(hint, glyphs), 80)) + 1 + width(&clean(&hint.does, 80)) + GAP;
    let mut room = usize::from(area.width) + GAP;
    let mut shown = Vec::new();
    room = room.saturating_sub(size(last));
    for hint in others {
        let takes = size(hint);
        if takes > room {
            break;
        }
        room -= takes;
        shown.push(hint);
    }
    shown.push(last);
    let mut x = area.x;
    for hint in shown {
        let line = Line::new().accent(key(hint, glyphs).into_owned()).dim(format!(" {}", hint.does));
        x = pen.line((x, area.y), area.right().saturating_sub(x), &line) + GAP as u16;
    }
}

fn key(hint: &Hint, glyphs: Glyphs) -> Cow<'_, str> {
    match (&*hint.key, glyphs) {
        ("⏎", Glyphs::Ascii) => Cow::Borrowed("enter"),
        (key, Glyphs::Ascii | Glyphs::Unicode) => Cow::Borrowed(key),
    }
}

/// Draws what is being typed, scrolled so that the cursor is seen.
pub(super) fn prompt(pen: &mut Pen<'_>, area: Rect, prompt: &Prompt) -> Option<Position> {
    let theme = pen.theme;
    let x = pen.text((area.x + 1, area.y), area.width.saturating_sub(2), &clean(&prompt.label, 40), theme.style(Role::Accent));
    let room = usize::from(area.right().saturating_sub(x + 1));
    if room < 2 {
        return None;
    }
    let cut = prompt.text.char_indices().nth(prompt.cursor).map_or(prompt.text.len(), |(at, _)| at);
    let (before, after) = prompt.text.split_at(cut);
    let before = clean(before, usize::MAX);
    let before = last(&before, room - 1);
    let at = pen.text((x, area.y), room as u16, before, Style::new());
    let after = clean(after, room);
    let end = pen.text((at, area.y), room.saturating_sub(width(before)) as u16, first(&after, room), Style::new());
    // A shape in place of the cursor, for terminals and pictures that show none.
    let cell = Rect { x: at, y: area.y, width: 1, height: 1 };
    pen.restyle(cell.intersection(pen.buffer.area), Style::new().add_modifier(Modifier::REVERSED));
    let note = end.max(at + 1) + 2;
    pen.line((note, area.y), area.right().saturating_sub(note + 1), &prompt.note);
    Some(Position { x: at, y: area.y })
}

/// All that a tiny terminal is told.
pub(super) fn too_small(pen: &mut Pen<'_>, area: Rect, (width, height): (u16, u16)) {
    let say = format!("holdup needs {width}×{height}, this is {}×{}", area.width, area.height);
    let line = Line::from(say);
    let lines = super::fit::wrap(&line, usize::from(area.width), usize::from(area.height), &pen.theme);
    for (y, pieces) in (area.y..area.bottom()).zip(lines) {
        pen.pieces((area.x, y), area.width, &pieces);
    }
}
