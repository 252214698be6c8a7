//! Decides which pane gets which part of the body.

use ratatui::layout::Rect;

use super::rules::Rules;
use super::theme::Theme;
use super::{list, text};
use crate::page::{Block, Layout, Pane, Size};

/// A `Rest` is given at least so many lines before a `Content` gets more than its least.
const REST_LEAST: u16 = 4;

/// A pane with its place; its rule is the first line of it.
pub(super) struct Placed<'a> {
    pub pane: &'a Pane,
    pub area: Rect,
}

pub(super) fn place<'a>(layout: &'a Layout, area: Rect, theme: &Theme, rules: &mut Rules, into: &mut Vec<Placed<'a>>) {
    match layout {
        Layout::Pane(pane) => {
            if pane.title.is_some() && !area.is_empty() {
                rules.across(Rect { height: 1, ..area });
            }
            into.push(Placed { pane, area });
        }
        Layout::Rows(parts) => {
            let wants: Vec<_> = parts.iter().map(|(size, part)| (*size, want(*size, part, area.width, theme))).collect();
            let mut y = area.y;
            for (height, (_, part)) in share(&wants, area.height).into_iter().zip(parts) {
                place(part, Rect { y, height, ..area }, theme, rules, into);
                y += height;
            }
        }
        Layout::Columns(parts) => {
            let mut x = area.x;
            for (width, (_, part)) in widths(parts, area.width).into_iter().zip(parts) {
                if x > area.x && x < area.right() {
                    rules.down(Rect { x, width: 1, ..area });
                    x += 1;
                }
                place(part, Rect { x, width, ..area }, theme, rules, into);
                x += width;
            }
        }
    }
}

fn widths(parts: &[(Size, Layout)], width: u16) -> Vec<u16> {
    let separators = u16::try_from(parts.len().saturating_sub(1)).unwrap_or(u16::MAX);
    let wants: Vec<_> = parts.iter().map(|(size, _)| (*size, u16::MAX)).collect();
    share(&wants, width.saturating_sub(separators))
}

/// How many lines a part with that size would take.
pub(super) fn want(size: Size, part: &Layout, width: u16, theme: &Theme) -> u16 {
    match size {
        Size::Cells(cells) => cells,
        Size::Content { most, .. } => measure(part, width, most, theme),
        Size::Rest(_) => 0,
    }
}

/// The lines a layout takes at that width, as far as `most`.
fn measure(layout: &Layout, width: u16, most: u16, theme: &Theme) -> u16 {
    match layout {
        Layout::Pane(pane) => {
            let rule = u16::from(pane.title.is_some());
            let lines = match &pane.block {
                Block::List(list) => list::measure(list, width, usize::from(most), theme),
                Block::Text(text) => text::measure(text, width, usize::from(most), theme),
            };
            rule.saturating_add(u16::try_from(lines).unwrap_or(most)).min(most)
        }
        Layout::Rows(parts) => {
            let lines = parts.iter().map(|(_, part)| measure(part, width, most, theme));
            lines.fold(0, u16::saturating_add).min(most)
        }
        Layout::Columns(parts) => {
            let lines = widths(parts, width).into_iter().zip(parts).map(|(width, (_, part))| measure(part, width, most, theme));
            lines.max().unwrap_or(0)
        }
    }
}

/// Shares out a length: fixed sizes, then content as far as the rests keep their least, then the rests by weight.
fn share(parts: &[(Size, u16)], total: u16) -> Vec<u16> {
    let mut given: Vec<u16> = parts
        .iter()
        .map(|(size, want)| match *size {
            Size::Cells(cells) => cells,
            Size::Content { least, most } => (*want).clamp(least.min(most), most),
            Size::Rest(_) => 0,
        })
        .collect();
    let weights: u32 = parts.iter().map(|(size, _)| weight(*size)).sum();
    let spare = if weights > 0 { REST_LEAST } else { 0 };
    let mut over = sum(&given).saturating_add(u32::from(spare)).saturating_sub(u32::from(total));
    for (given, (size, _)) in given.iter_mut().zip(parts).rev() {
        if let Size::Content { least, .. } = size {
            over -= take(given, *least, over);
        }
    }
    over = sum(&given).saturating_sub(u32::from(total));
    for given in given.iter_mut().rev() {
        over -= take(given, 0, over);
    }
    let mut left = u32::from(total).saturating_sub(sum(&given));
    let mut weights = weights;
    for (given, (size, _)) in given.iter_mut().zip(parts) {
        let weight = weight(*size);
        if weight > 0 {
            let part = left * weight / weights;
            *given = u16::try_from(part).unwrap_or(u16::MAX);
            left -= part;
            weights -= weight;
        }
    }
    given
}

fn sum(given: &[u16]) -> u32 {
    given.iter().copied().map(u32::from).sum()
}

fn weight(size: Size) -> u32 {
    match size {
        Size::Rest(weight) => u32::from(weight.max(1)),
        Size::Cells(_) | Size::Content { .. } => 0,
    }
}

/// Takes up to `over` from what is above `least`; answers how much it was.
fn take(given: &mut u16, least: u16, over: u32) -> u32 {
    let taken = u32::from(given.saturating_sub(least)).min(over);
    *given -= u16::try_from(taken).unwrap_or(*given);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_share_what_the_others_leave() {
        let content = Size::Content { least: 2, most: 9 };
        assert_eq!(share(&[(Size::Cells(1), 0), (Size::Rest(1), 0), (content, 5)], 20), [1, 14, 5]);
        assert_eq!(share(&[(Size::Rest(1), 0), (Size::Rest(2), 0)], 20), [6, 14]);
    }

    #[test]
    fn content_shrinks_to_its_least_before_a_rest_starves() {
        let content = Size::Content { least: 2, most: 9 };
        assert_eq!(share(&[(Size::Rest(1), 0), (content, 9)], 10), [4, 6]);
        assert_eq!(share(&[(Size::Rest(1), 0), (content, 9)], 5), [3, 2]);
        assert_eq!(share(&[(Size::Cells(8), 0), (content, 9), (Size::Rest(1), 0)], 3), [3, 0, 0]);
    }
}
