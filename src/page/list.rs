//! A list: columns, a window of rows and the id of the selected one; trees are lists whose first cell begins with guides.

use super::{Line, Str};

/// Rows of the same columns, one of them perhaps selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// With any title here the list begins with a line of titles.
    pub columns: Vec<Column>,
    /// The window: rows from `first` on.
    pub rows: Vec<Row>,
    /// The place in the whole list of the first row of the window.
    pub first: usize,
    /// How many rows the whole list has.
    pub len: usize,
    /// The id of the selected row. An id that no row of the list has means: that row is gone.
    pub selected: Option<Str>,
    /// Stands below the last row: `still reading: numbers grow`.
    pub foot: Option<Line>,
    /// Stands instead of rows: what would be here and why it is not.
    pub empty: Vec<Line>,
}

/// One row: a line of cells, and lines under it that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Stable, and unique within the list.
    pub id: Str,
    pub cells: Vec<Line>,
    /// Wrapped below the cells.
    pub below: Vec<Line>,
    /// Came a moment ago: bold.
    pub fresh: bool,
    /// Where enter goes.
    pub opens: Option<Opens>,
    /// What logs, events and yaml asked for here are about.
    pub about: Option<About>,
}

/// The object that keys such as *logs* are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// `Kind/ns/name`.
    pub object: String,
    /// The pod whose logs tell most, if there is one.
    pub pod: Option<String>,
    /// The container of that pod that matters.
    pub container: Option<String>,
    /// The object whose diff tells most, where it is another one: nobody writes a pod of a workload by hand.
    pub declared: Option<String>,
}

/// Where enter on a row goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opens {
    /// A blocker, by its id.
    Blocker(String),
    /// An object: `Kind/ns/name`, `Kind.group/ns/name`.
    Object(String),
    /// The diff of an object.
    Diff(String),
    /// A layer by its label, or all of them.
    Layer(Option<Str>),
    /// A namespace of the picker; none is all of them.
    Namespace(Option<String>),
    /// A screen, by its id.
    Screen(&'static str),
    /// An action, by its id.
    Action(&'static str),
    /// These terms go into the filter of the triage screen.
    Filter(String),
    /// The row shows everything it knows, or no longer.
    Unfold(String),
    /// These words go into the palette, to be added to.
    Query(String),
}

/// A column: its title and what happens to it when the pane is narrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    pub title: Str,
    pub width: Width,
    pub align: Align,
    /// 0 stays always; of the others the highest number leaves first when not even the least widths fit.
    pub priority: u8,
}

/// How wide a column is. Who makes the list knows all of it, `ui` only a window: widths that come from the content are given here,
/// so that they do not jump while one scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Cells(u16),
    /// Between these two; what is missing is taken from all such columns alike.
    Range {
        least: u16,
        want: u16,
    },
    /// What the others leave, but not less than this.
    Rest(u16),
}

impl Default for Width {
    fn default() -> Self {
        Self::Rest(1)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    #[default]
    Left,
    /// Numbers.
    Right,
}

impl List {
    /// The selected row, if it is in the window.
    pub fn row(&self) -> Option<&Row> {
        let selected = self.selected.as_ref()?;
        self.rows.iter().find(|row| row.id == *selected)
    }

    /// The place in the whole list of a row of the window.
    pub fn index(&self, id: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.id == id).map(|at| self.first + at)
    }

    pub fn has_titles(&self) -> bool {
        self.columns.iter().any(|column| !column.title.is_empty())
    }
}

impl Row {
    pub fn new(id: impl Into<Str>, cells: Vec<Line>) -> Self {
        Self { id: id.into(), cells, ..Self::default() }
    }

    pub fn opens(self, opens: Opens) -> Self {
        Self { opens: Some(opens), ..self }
    }

    pub fn about(self, about: About) -> Self {
        Self { about: Some(about), ..self }
    }

    pub fn below(self, below: Vec<Line>) -> Self {
        Self { below, ..self }
    }
}

impl Column {
    pub fn new(title: impl Into<Str>, width: Width) -> Self {
        Self { title: title.into(), width, ..Self::default() }
    }

    pub fn right(self) -> Self {
        Self { align: Align::Right, ..self }
    }

    /// May leave when there is no room; the highest number leaves first.
    pub fn priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}
