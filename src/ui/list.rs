//! Draws a list: only the rows that are visible, in columns whose widths do not depend on which rows these are.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::fit::{Pieces, fit, pieces_width, wrap};
use super::pen::Pen;
use super::theme::Theme;
use crate::page::{Align, Column, Focus, List, Role, Row, Width};

/// Between columns.
const GAP: u16 = 2;

/// Which rows were drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// Rows of the window that stand above the first one drawn.
    pub skipped: usize,
    pub rows: usize,
    pub height: usize,
}

/// How many lines of the screen the whole list takes, as far as `most`.
pub(super) fn measure(list: &List, width: u16, most: usize, theme: &Theme) -> usize {
    let room = usize::from(width.saturating_sub(gutter(list) + 1));
    if list.len == 0 {
        let lines = list.empty.iter().map(|line| wrap(line, room, most, theme).len()).sum::<usize>();
        return (lines + usize::from(list.foot.is_some())).min(most);
    }
    let mut lines = usize::from(list.has_titles()) + usize::from(list.foot.is_some()) + list.len.saturating_sub(list.rows.len());
    for row in &list.rows {
        if lines >= most {
            return most;
        }
        lines += height(row, room, most, theme);
    }
    lines.min(most)
}

fn height(row: &Row, room: usize, most: usize, theme: &Theme) -> usize {
    1 + row.below.iter().map(|line| wrap(line, room, most, theme).len()).sum::<usize>()
}

/// A list that can have a cursor keeps two cells for its mark.
fn gutter(list: &List) -> u16 {
    if list.selected.is_some() { 2 } else { 1 }
}

pub(super) fn draw(pen: &mut Pen<'_>, area: Rect, list: &List, focus: Focus) -> Drawn {
    if area.is_empty() {
        return Drawn::default();
    }
    let gutter = gutter(list);
    let mut inner = Rect { x: area.x + gutter.min(area.width), width: area.width.saturating_sub(gutter + 1), ..area };
    if list.len == 0 {
        let at = empty(pen, inner, list);
        inner = Rect { y: at, height: inner.bottom() - at, ..inner };
        foot(pen, inner, list);
        return Drawn { height: usize::from(area.height), ..Drawn::default() };
    }
    let columns = Columns::new(&list.columns, inner.width);
    if list.has_titles() {
        columns.titles(pen, inner, &list.columns);
        inner = Rect { y: inner.y + 1, height: inner.height - 1, ..inner };
    }
    let skipped = skip(list, inner, &pen.theme);
    let mut drawn = Drawn { skipped, rows: 0, height: usize::from(inner.height) };
    for row in &list.rows[skipped..] {
        let here = list.selected.as_ref().filter(|id| **id == row.id).map(|_| focus);
        let (left, lines) = one(pen, inner, &columns, row, here);
        inner = left;
        if lines == Whole::No {
            break;
        }
        drawn.rows += 1;
    }
    foot(pen, inner, list);
    drawn
}

/// Rows at the top of the window that must go so that the selected one is seen whole.
fn skip(list: &List, area: Rect, theme: &Theme) -> usize {
    let Some(selected) = list.selected.as_ref().and_then(|id| list.rows.iter().position(|row| row.id == *id)) else {
        return 0;
    };
    let most = usize::from(area.height);
    let mut left = most;
    for (at, row) in list.rows[..=selected].iter().enumerate().rev() {
        let takes = height(row, usize::from(area.width), most, theme);
        if takes > left {
            return (at + 1).min(selected);
        }
        left -= takes;
    }
    0
}

#[derive(PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

/// Draws a row with the lines below it; answers what is left of the area.
fn one(pen: &mut Pen<'_>, area: Rect, columns: &Columns, row: &Row, selected: Option<Focus>) -> (Rect, Whole) {
    if area.is_empty() {
        return (area, Whole::No);
    }
    let theme = pen.theme;
    columns.row(pen, area, row);
    let mut y = area.y + 1;
    let mut whole = Whole::Yes;
    for line in &row.below {
        for pieces in wrap(line, usize::from(area.width), usize::from(area.height), &theme) {
            if y == area.bottom() {
                whole = Whole::No;
                break;
            }
            pen.pieces((area.x, y), area.width, &pieces);
            y += 1;
        }
    }
    if row.fresh {
        pen.restyle(Rect { height: 1, ..area }, ratatui::style::Style::new().add_modifier(Modifier::BOLD));
    }
    if let Some(focus) = selected {
        mark(pen, Rect { x: area.x.saturating_sub(2), width: area.width + 3, height: y - area.y, y: area.y }, focus);
    }
    (Rect { y, height: area.bottom() - y, ..area }, whole)
}

fn mark(pen: &mut Pen<'_>, area: Rect, focus: Focus) {
    // Two marks are two cursors to whoever sees no colour.
    if focus != Focus::Here {
        return;
    }
    let theme = pen.theme;
    pen.restyle(area.intersection(pen.buffer.area), theme.selection());
    for y in area.top()..area.bottom() {
        pen.text((area.x, y), 1, "▌", theme.selection().patch(theme.style(Role::Accent)));
    }
}

/// What stands in an empty list; answers the line below it.
fn empty(pen: &mut Pen<'_>, area: Rect, list: &List) -> u16 {
    let theme = pen.theme;
    let mut y = area.y;
    for line in &list.empty {
        for pieces in wrap(line, usize::from(area.width), usize::from(area.bottom() - y), &theme) {
            if y == area.bottom() {
                return y;
            }
            pen.pieces((area.x, y), area.width, &pieces);
            y += 1;
        }
    }
    y
}

fn foot(pen: &mut Pen<'_>, area: Rect, list: &List) {
    if let Some(foot) = list.foot.as_ref().filter(|_| !area.is_empty()) {
        pen.line((area.x, area.y), area.width, foot);
    }
}

/// Which columns there are at a width, and where.
struct Columns {
    /// Index of the column, its place from the left, its width, its side.
    shown: Vec<(usize, u16, u16, Align)>,
}

impl Columns {
    fn new(columns: &[Column], room: u16) -> Self {
        let mut kept: Vec<usize> = (0..columns.len()).collect();
        while need(columns, &kept) > u32::from(room) {
            let last = kept.iter().copied().filter(|at| columns[*at].priority > 0).max_by_key(|at| (columns[*at].priority, *at));
            let Some(last) = last else { break };
            kept.retain(|at| *at != last);
        }
        let widths = widths(columns, &kept, room);
        let mut x = 0u16;
        let shown = kept.into_iter().zip(widths).map(|(at, width)| {
            let place = (at, x, width, columns[at].align);
            x = x.saturating_add(width).saturating_add(GAP);
            place
        });
        Self { shown: shown.collect() }
    }

    fn titles(&self, pen: &mut Pen<'_>, area: Rect, columns: &[Column]) {
        let style = pen.theme.style(Role::Dim);
        for &(at, x, width, align) in &self.shown {
            let title = &columns[at].title;
            let shift = match align {
                Align::Left => 0,
                Align::Right => width.saturating_sub(crate::page::chars(title)),
            };
            pen.text((area.x + x + shift, area.y), clip(area, x, width).saturating_sub(shift), title, style);
        }
    }

    fn row(&self, pen: &mut Pen<'_>, area: Rect, row: &Row) {
        let theme = pen.theme;
        for &(at, x, width, align) in &self.shown {
            let Some(cell) = row.cells.get(at) else {
                continue;
            };
            let width = clip(area, x, width);
            let pieces: Pieces<'_> = fit(cell, usize::from(width), &theme);
            let shift = match align {
                Align::Left => 0,
                Align::Right => width.saturating_sub(u16::try_from(pieces_width(&pieces)).unwrap_or(width)),
            };
            pen.pieces((area.x + x + shift, area.y), width - shift, &pieces);
        }
    }
}

/// What of a column is inside the area.
fn clip(area: Rect, x: u16, width: u16) -> u16 {
    width.min(area.width.saturating_sub(x))
}

fn least(column: &Column) -> u16 {
    match column.width {
        Width::Cells(cells) => cells,
        Width::Range { least, want } => least.min(want),
        Width::Rest(least) => least,
    }
}

fn gaps(kept: &[usize]) -> u32 {
    u32::from(GAP) * kept.len().saturating_sub(1) as u32
}

fn need(columns: &[Column], kept: &[usize]) -> u32 {
    gaps(kept) + kept.iter().map(|at| u32::from(least(&columns[*at]))).sum::<u32>()
}

/// Everybody's least, then ranges up to what they want, cell by cell alike, then the rests.
fn widths(columns: &[Column], kept: &[usize], room: u16) -> Vec<u16> {
    let mut widths: Vec<u16> = kept.iter().map(|at| least(&columns[*at])).collect();
    squeeze(&mut widths, columns, kept, need(columns, kept).saturating_sub(u32::from(room)));
    let mut left = u32::from(room).saturating_sub(need(columns, kept));
    loop {
        let before = left;
        for (width, at) in widths.iter_mut().zip(kept) {
            if let Width::Range { want, .. } = columns[*at].width
                && *width < want
                && left > 0
            {
                *width += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    let rests = kept.iter().filter(|at| matches!(columns[**at].width, Width::Rest(_))).count() as u32;
    let mut after = rests;
    for (width, at) in widths.iter_mut().zip(kept) {
        if matches!(columns[*at].width, Width::Rest(_)) {
            let part = left / after;
            *width += u16::try_from(part).unwrap_or(0);
            left -= part;
            after -= 1;
        }
    }
    widths
}

/// Where not even the least widths fit, the texts give way before the numbers do.
fn squeeze(widths: &mut [u16], columns: &[Column], kept: &[usize], mut over: u32) {
    for (width, at) in widths.iter_mut().zip(kept) {
        if !matches!(columns[*at].width, Width::Cells(_)) {
            let taken = u32::from(width.saturating_sub(1)).min(over);
            *width -= u16::try_from(taken).unwrap_or(0);
            over -= taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(columns: &[Column], room: u16) -> Vec<(usize, u16, u16)> {
        Columns::new(columns, room).shown.into_iter().map(|(at, x, width, _)| (at, x, width)).collect()
    }

    #[test]
    fn columns_leave_by_priority_and_the_rest_takes_what_is_left() {
        let columns = [
            Column::new("verdict", Width::Cells(10)),
            Column::new("where", Width::Range { least: 4, want: 8 }).priority(2),
            Column::new("what", Width::Rest(10)),
            Column::new("node", Width::Cells(6)).priority(3),
        ];
        assert_eq!(shown(&columns, 50), [(0, 0, 10), (1, 12, 8), (2, 22, 20), (3, 44, 6)]);
        assert_eq!(shown(&columns, 30), [(0, 0, 10), (1, 12, 6), (2, 20, 10)]);
        assert_eq!(shown(&columns, 22), [(0, 0, 10), (2, 12, 10)]);
        assert_eq!(shown(&columns, 15), [(0, 0, 10), (2, 12, 3)]);
    }
}
