//! Draws a [`Page`] into cells and sends what changed; the only room that names ratatui, and where text from the cluster becomes harmless.
//!
//! [`draw`] is a function from a page to a buffer. [`Painter`] keeps the buffer that is on the screen, sends the difference between
//! synchronised-output marks, and sends nothing at all when nothing changed.

mod bars;
mod clean;
mod fit;
mod list;
mod painter;
mod pen;
mod place;
mod rules;
mod text;
mod theme;

pub use painter::{Output, Painter};
pub use theme::{Colours, Glyphs, Ground, Theme};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::page::{Block, Layout, Line, Overlay, Page, Pane, PaneShown, Shown, Size};
use pen::Pen;
use place::{Placed, place};
use rules::Rules;

/// Below this the footer says that the terminal is too small, though what fits is drawn.
const WANTED: (u16, u16) = (80, 24);
/// Below this nothing useful fits.
const LEAST: (u16, u16) = (40, 8);

/// Draws the page over the whole buffer; answers what was visible and where the cursor stands.
pub fn draw(buffer: &mut Buffer, page: &Page, theme: &Theme) -> (Shown, Option<Position>) {
    let area = buffer.area;
    let mut shown = Shown { size: (area.width, area.height), panes: Vec::new() };
    let mut pen = Pen { buffer, theme: *theme };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        bars::too_small(&mut pen, area, WANTED);
        return (shown, None);
    }
    let small = area.width < WANTED.0 || area.height < WANTED.1;
    let header = Rect { height: 1, ..area };
    let footer = Rect { y: area.bottom() - 1, height: 1, ..area };
    let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    bars::header(&mut pen, header, &page.header);
    shown.panes = layout(&mut pen, body, &page.body);
    let mut cursor = bars::footer(&mut pen, footer, &page.footer, small.then_some(WANTED));
    if let Some(over) = &page.overlay {
        let (pane, at) = overlay(&mut pen, body, over);
        shown.panes.push(pane);
        cursor = cursor.or(at);
    }
    (shown, cursor)
}

fn layout(pen: &mut Pen<'_>, area: Rect, layout: &Layout) -> Vec<PaneShown> {
    let theme = pen.theme;
    let (mut rules, mut placed) = (Rules::default(), Vec::new());
    place(layout, area, &theme, &mut rules, &mut placed);
    rules.draw(pen);
    placed.iter().map(|Placed { pane, area }| one(pen, *area, pane)).collect()
}

/// Draws one pane, its title into the rule that is there already.
fn one(pen: &mut Pen<'_>, area: Rect, pane: &Pane) -> PaneShown {
    let rule = u16::from(pane.title.is_some()).min(area.height);
    let inner = Rect { y: area.y + rule, height: area.height - rule, ..area };
    let shown = block(pen, inner, pane);
    if let Some(title) = pane.title.as_ref().filter(|_| !area.is_empty()) {
        let note = pane.note.clone().or_else(|| whereabouts(pane, &shown));
        rules::title(pen, area, title, note.as_ref());
    }
    shown
}

fn block(pen: &mut Pen<'_>, area: Rect, pane: &Pane) -> PaneShown {
    let mut shown = PaneShown { id: pane.id, first: 0, rows: 0, height: usize::from(area.height), width: usize::from(area.width) };
    match &pane.block {
        Block::List(list) => {
            let drawn = list::draw(pen, area, list, pane.focus);
            (shown.first, shown.rows, shown.height) = (list.first + drawn.skipped, drawn.rows, drawn.height);
        }
        Block::Text(text) => {
            shown.rows = text::draw(pen, area, text);
            shown.first = text.first;
        }
    }
    shown
}

/// Which part of the pane is visible, if it is not all.
fn whereabouts(pane: &Pane, shown: &PaneShown) -> Option<Line> {
    let len = match &pane.block {
        Block::List(list) => list.len,
        Block::Text(text) => text.len,
    };
    let last = (shown.first + shown.rows).min(len);
    let part = shown.rows > 0 && (shown.first > 0 || last < len);
    part.then(|| Line::new().dim(format!("{}–{last} of {len}", shown.first + 1)))
}

/// Draws the overlay over the upper part of the body, closed by a rule.
fn overlay(pen: &mut Pen<'_>, body: Rect, overlay: &Overlay) -> (PaneShown, Option<Position>) {
    let pane = Layout::Pane(overlay.pane.clone());
    let prompt = u16::from(overlay.prompt.is_some());
    let most = body.height.saturating_sub(prompt + 1);
    let theme = pen.theme;
    let height = place::want(Size::Content { least: 3, most }, &pane, body.width, &theme).clamp(3.min(most), most) + prompt;
    let area = Rect { height, ..body };
    pen.clear(Rect { height: (height + 1).min(body.height), ..body });
    let mut rules = Rules::default();
    rules.across(Rect { height: 1, ..area });
    if height < body.height {
        rules.across(Rect { y: area.bottom(), height: 1, ..area });
    }
    rules.draw(pen);
    let mut inner = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let mut cursor = None;
    if let Some(prompt) = overlay.prompt.as_ref().filter(|_| inner.height > 0) {
        cursor = bars::prompt(pen, Rect { height: 1, ..inner }, prompt);
        inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    }
    let shown = block(pen, inner, &overlay.pane);
    if let Some(title) = &overlay.pane.title {
        let note = overlay.pane.note.clone().or_else(|| whereabouts(&overlay.pane, &shown));
        rules::title(pen, area, title, note.as_ref());
    }
    (shown, cursor)
}
