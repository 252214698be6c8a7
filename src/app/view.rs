//! Where the user is: a stack of views, each with its panes, cursors and scrolling, so that going back never loses the place.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::Filter;

/// One step of the way the user went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub at: At,
    /// The pane with the focus; until the user chooses, the screen's first.
    pub focus: Option<&'static str>,
    pub filter: Filter,
    /// What is looked for in a document.
    pub search: String,
    pub reading: Reading,
    spots: BTreeMap<&'static str, Spot>,
}

/// How a diff is being read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// So many sources after the most trusted one; it goes round.
    pub source: usize,
    /// All sources are shown side by side instead.
    pub side_by_side: bool,
    /// What is explained is shown as well.
    pub explained: bool,
    /// Rows that show everything they know, by id.
    pub unfolded: BTreeSet<String>,
}

/// What a view shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum At {
    #[default]
    Triage,
    /// A blocker, by its id.
    Blocker(String),
    /// An object, `Kind/ns/name`, and which side of it.
    Object {
        object: String,
        tab: Tab,
    },
    /// Everything beside what was asked for.
    Drift,
    Coverage,
    /// What is quiet on purpose, and what is muted.
    Quiet,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tab {
    #[default]
    Why,
    Tree,
    Events,
    Diff,
    Yaml,
    Logs,
    Previous,
}

/// The place in one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The selected row of a list.
    pub select: Select,
    /// How many rows stand above the selected one on the screen; it keeps this line when the order changes.
    pub line: usize,
    /// Where the selected row last was in its list: the cursor's place when the row is gone.
    pub index: usize,
    /// The first line of a text.
    pub top: Top,
}

/// Which row of a list is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Select {
    /// The first, whichever that is: the user has not chosen.
    #[default]
    First,
    Id(String),
    /// The one at this place, whose id is not known yet, because it was not in the window.
    At(usize),
}

/// Which part of a text is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    Line(usize),
    /// Its end.
    End,
}

impl Default for Top {
    fn default() -> Self {
        Self::Line(0)
    }
}

impl View {
    pub fn new(at: At) -> Self {
        Self { at, ..Self::default() }
    }

    /// The place in a pane; the beginning where nobody has moved yet.
    pub fn spot(&self, pane: &str) -> Spot {
        self.spots.get(pane).cloned().unwrap_or_default()
    }

    pub(super) fn spot_mut(&mut self, pane: &'static str) -> &mut Spot {
        self.spots.entry(pane).or_default()
    }
}

impl Tab {
    pub const ALL: [Self; 7] = [Self::Why, Self::Tree, Self::Events, Self::Diff, Self::Yaml, Self::Logs, Self::Previous];

    pub fn title(self) -> &'static str {
        match self {
            Self::Why => "why",
            Self::Tree => "tree",
            Self::Events => "events",
            Self::Diff => "diff",
            Self::Yaml => "yaml",
            Self::Logs => "logs",
            Self::Previous => "previous",
        }
    }

    pub(super) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    pub(super) fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }
}

impl Spot {
    /// Where a list of `len` rows begins on the screen when the selected row is at `index` and `height` rows fit.
    pub fn first(&self, index: usize, len: usize, height: usize) -> usize {
        let line = self.line.min(height.saturating_sub(1));
        index.saturating_sub(line).min(len.saturating_sub(height))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_keeps_its_line_where_the_list_allows_it() {
        let spot = Spot { line: 3, ..Spot::default() };
        assert_eq!(spot.first(10, 100, 20), 7);
        assert_eq!(spot.first(2, 100, 20), 0);
        assert_eq!(spot.first(99, 100, 20), 80);
        assert_eq!(spot.first(4, 6, 20), 0);
        assert_eq!(spot.first(9, 100, 2), 8);
        assert_eq!(spot.first(0, 0, 0), 0);
    }
}
