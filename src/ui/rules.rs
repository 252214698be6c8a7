//! The lines between panes: rules with titles, separators between columns, and the right junction where they meet.

use ratatui::layout::Rect;

use super::fit::{fit, pieces_width};
use super::pen::Pen;
use crate::page::{Line, Role};

/// All lines of a frame, collected first, because a junction depends on its neighbours.
#[derive(Default)]
pub(super) struct Rules {
    /// y, from, to (exclusive)
    across: Vec<(u16, u16, u16)>,
    /// x, from, to (exclusive)
    down: Vec<(u16, u16, u16)>,
}

impl Rules {
    pub fn across(&mut self, area: Rect) {
        self.across.push((area.y, area.left(), area.right()));
    }

    pub fn down(&mut self, area: Rect) {
        self.down.push((area.x, area.top(), area.bottom()));
    }

    pub fn draw(&self, pen: &mut Pen<'_>) {
        let style = pen.theme.style(Role::Dim);
        for &(y, from, to) in &self.across {
            pen.text((from, y), to - from, &"─".repeat(usize::from(to - from)), style);
        }
        for &(x, from, to) in &self.down {
            for y in from.saturating_sub(1)..=to {
                if let Some(glyph) = self.junction(x, y) {
                    pen.text((x, y), 1, glyph, style);
                }
            }
        }
    }

    fn junction(&self, x: u16, y: u16) -> Option<&'static str> {
        let rule_at = |x: u16| self.across.iter().any(|&(row, from, to)| row == y && (from..to).contains(&x));
        let separator_at = |y: u16| self.down.iter().any(|&(column, from, to)| column == x && (from..to).contains(&y));
        let left = x.checked_sub(1).is_some_and(rule_at);
        let right = rule_at(x + 1);
        let up = y.checked_sub(1).is_some_and(separator_at);
        let down = separator_at(y) && (separator_at(y + 1) || !(left || right)) || !separator_at(y) && separator_at(y + 1);
        match (up, down, left, right) {
            (true, true, true, true) => Some("┼"),
            (true, true, true, false) => Some("┤"),
            (true, true, false, true) => Some("├"),
            (false, true, true, true) => Some("┬"),
            (true, false, true, true) => Some("┴"),
            _ if separator_at(y) => Some(if left && right { "─" } else { "│" }),
            _ => None,
        }
    }
}

/// The title in the rule above a pane, and the note at its right end.
pub(super) fn title(pen: &mut Pen<'_>, area: Rect, title: &Line, note: Option<&Line>) {
    let theme = pen.theme;
    let room = usize::from(area.width.saturating_sub(6));
    let text = fit(title, room, &theme);
    let mut end = area.x;
    if pieces_width(&text) > 0 && area.width > 6 {
        end = pen.text((area.x + 2, area.y), 1, " ", theme.style(Role::Plain));
        end = pen.pieces((end, area.y), area.right().saturating_sub(end + 2), &text);
        end = pen.text((end, area.y), 1, " ", theme.style(Role::Plain));
    }
    let Some(note) = note else { return };
    let width = note.chars();
    if end + width + 6 < area.right() {
        let x = area.right() - width - 4;
        pen.text((x, area.y), 1, " ", theme.style(Role::Plain));
        let after = pen.line((x + 1, area.y), width, note);
        pen.text((after, area.y), 1, " ", theme.style(Role::Plain));
    }
}
