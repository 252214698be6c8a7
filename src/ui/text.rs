//! Draws a text: wrapped, or cut and scrolled sideways.

use ratatui::layout::Rect;

use super::clean::{clean, width};
use super::fit::{Piece, Pieces, fit, last, span_style, wrap};
use super::pen::Pen;
use super::theme::Theme;
use crate::page::{Line, Text, Wrap};

/// Left and right of a text one cell stays free.
const MARGIN: u16 = 1;

/// How many lines of the screen the text takes, as far as `most`.
pub(super) fn measure(text: &Text, room: u16, most: usize, theme: &Theme) -> usize {
    match text.wrap {
        Wrap::Sideways(_) => text.len.min(most),
        Wrap::Words => {
            let room = usize::from(room.saturating_sub(2 * MARGIN));
            let mut lines = 0;
            for line in &text.lines {
                if lines >= most {
                    break;
                }
                lines += wrap(line, room, most - lines, theme).len();
            }
            lines.min(most)
        }
    }
}

/// Draws as much as fits; answers how many logical lines are there whole.
pub(super) fn draw(pen: &mut Pen<'_>, area: Rect, text: &Text) -> usize {
    let room = area.width.saturating_sub(2 * MARGIN);
    let theme = pen.theme;
    let mut y = area.y;
    for (nth, line) in text.lines.iter().enumerate() {
        let left = usize::from(area.bottom().saturating_sub(y));
        if left == 0 {
            return nth;
        }
        let lines: Vec<Pieces<'_>> = match text.wrap {
            Wrap::Words => wrap(line, usize::from(room), left, &theme),
            Wrap::Sideways(0) => vec![fit(line, usize::from(room), &theme)],
            Wrap::Sideways(by) => vec![scrolled(line, by, usize::from(room), &theme)],
        };
        for pieces in lines {
            pen.pieces((area.x + MARGIN, y), room, &pieces);
            y += 1;
        }
    }
    text.lines.len()
}

/// What of a line is visible when its first `by` cells are scrolled out; `…` stands where something was cut.
fn scrolled<'a>(line: &Line, by: usize, room: usize, theme: &Theme) -> Pieces<'a> {
    let mut skip = by;
    let mut pieces = Pieces::new();
    let mut cells = 0;
    for span in &line.spans {
        let text = clean(&span.text, skip + room + 1);
        let all = width(&text);
        let rest = last(&text, all.saturating_sub(skip)).to_owned();
        skip = skip.saturating_sub(all);
        cells += width(&rest);
        pieces.push(Piece { text: rest.into(), style: span_style(span, theme) });
        if cells > room {
            break;
        }
    }
    pieces
}
