//! Writes clean text into cells: never outside its place, never half a wide character, in ASCII where nothing else can be shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::clean::clusters;
use super::fit::{Piece, fit};
use super::theme::Theme;
use crate::page::Line;

pub(super) struct Pen<'a> {
    pub buffer: &'a mut Buffer,
    pub theme: Theme,
}

impl Pen<'_> {
    /// Writes pieces from `x` on into at most `room` cells; answers the column behind the last one.
    pub fn pieces(&mut self, (x, y): (u16, u16), room: u16, pieces: &[Piece<'_>]) -> u16 {
        let area = self.buffer.area;
        let end = x.saturating_add(room).min(area.right());
        let mut at = x;
        if !(area.top()..area.bottom()).contains(&y) {
            return at;
        }
        for piece in pieces {
            for (cluster, width) in clusters(&piece.text) {
                // Never more than 2, so the cast cannot cut.
                let width = width as u16;
                if at + width > end {
                    return at;
                }
                self.cluster((at, y), cluster, width, piece.style);
                at += width;
            }
        }
        at
    }

    /// Writes a line, shortened to `room` cells.
    pub fn line(&mut self, at: (u16, u16), room: u16, line: &Line) -> u16 {
        let theme = self.theme;
        let pieces = fit(line, usize::from(room), &theme);
        self.pieces(at, room, &pieces)
    }

    pub fn text(&mut self, at: (u16, u16), room: u16, text: &str, style: Style) -> u16 {
        self.pieces(at, room, &[Piece { text: text.into(), style }])
    }

    fn cluster(&mut self, (x, y): (u16, u16), cluster: &str, width: u16, style: Style) {
        let symbol = self.theme.glyphs.of(cluster, usize::from(width));
        for (nth, symbol) in symbols(symbol, width).enumerate() {
            if let Some(cell) = self.buffer.cell_mut((x + nth as u16, y)) {
                cell.reset();
                cell.set_symbol(symbol).set_style(style);
            }
        }
    }

    /// Lays a style over what is written there.
    pub fn restyle(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area, style);
    }

    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for position in area.positions() {
            self.buffer[position].reset();
        }
    }
}

/// What goes into the cells of one cluster: a wide one fills the second cell with a blank that is never sent; its two ASCII stand-ins
/// take a cell each.
fn symbols(symbol: &str, width: u16) -> impl Iterator<Item = &str> {
    let pair = width == 2 && symbol.is_ascii();
    let (first, second) = if pair { symbol.split_at(1) } else { (symbol, " ") };
    std::iter::once(first).chain((width == 2).then_some(second))
}
