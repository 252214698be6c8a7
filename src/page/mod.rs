//! The view model: what stands on the screen as plain data, made by `screen` and drawn by `ui`; it holds no widget, no colour and no size of a terminal.
//!
//! A [`Page`] is a header line, a [`Layout`] of [`Pane`]s, a footer line and perhaps an [`Overlay`]. A pane holds one [`Block`], a
//! [`List`] or a [`Text`]. Both hold their whole length and a *window*: the rows from `first` on that can be visible. `ui::draw`
//! answers with [`Shown`], how many rows of each pane it showed, so that the next window is as long as the pane.
//!
//! Rows are known by a stable id (a blocker's id, an object reference, a field path), never by their place.

mod list;
mod text;

pub use list::{About, Align, Column, List, Opens, Row, Width};
pub use text::{Cut, Line, Role, Span, Str, Text, Wrap, chars};

/// One frame of the program, complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The id of the screen, as in `screen::SCREENS`.
    pub screen: &'static str,
    /// The title of the terminal's window: `holdup: 4 blocked`.
    pub title: String,
    pub header: Header,
    pub body: Layout,
    pub footer: Footer,
    /// Seconds until an age or countdown on it reads differently though nothing changed; none if none does.
    pub changes_in: Option<u32>,
    /// What logs, events and yaml are about where no row says so.
    pub about: Option<About>,
    /// Drawn over the upper part of the body; while it is there its pane has the focus.
    pub overlay: Option<Overlay>,
}

/// The first line: parts from the left, then parts that end at the right edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub left: Vec<Part>,
    pub right: Vec<Part>,
}

/// A piece of the header that is shown whole or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub line: Line,
    /// 0 stays (and is shortened if it must be); of the others the highest number leaves first when the line is too narrow.
    pub priority: u8,
}

/// How the panes share the body: above one another, or side by side with a line between them.
#[expect(clippy::large_enum_variant, reason = "a page has a handful of them, made once a frame")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    Pane(Pane),
    Rows(Vec<(Size, Self)>),
    Columns(Vec<(Size, Self)>),
}

impl Default for Layout {
    fn default() -> Self {
        Self::Rows(Vec::new())
    }
}

/// What a part of a layout gets of the height of its rows, or of the width of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So many cells; for a pane with a title the title's line counts.
    Cells(u16),
    /// As many as its content takes, between these two; the title's line counts. In columns this is `most`.
    Content { least: u16, most: u16 },
    /// A share of what the others leave, by weight.
    Rest(u16),
}

/// A titled part of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// Stable within a screen: focus, selection and scrolling are remembered under it.
    pub id: &'static str,
    /// Stands in the rule above the pane; without it there is no rule.
    pub title: Option<Line>,
    /// At the right end of that rule.
    pub note: Option<Line>,
    pub block: Block,
    pub focus: Focus,
}

/// Whether keys move in a pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// It can never have the focus.
    #[default]
    Never,
    /// Another pane has it.
    Elsewhere,
    Here,
}

/// What a pane shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    List(List),
    Text(Text),
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Footer {
    /// Keys that work here, most useful first; as many as fit are shown.
    Hints(Vec<Hint>),
    /// Something is being typed here.
    Prompt(Prompt),
    /// A sentence that stands until the next key.
    Notice(Line),
}

impl Default for Footer {
    fn default() -> Self {
        Self::Hints(Vec::new())
    }
}

/// A key and what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    pub key: Str,
    pub does: Str,
}

/// A line that is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Before the text: `/`, `:`, `snapshot to `.
    pub label: Str,
    pub text: String,
    /// The cursor stands before this character of `text` (counted in characters).
    pub cursor: usize,
    /// Behind the text: what was not understood, how many match.
    pub note: Line,
}

/// A pane over the body: palette, picker, help, message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// Stands between the pane's title and its block.
    pub prompt: Option<Prompt>,
    pub pane: Pane,
}

/// What `ui::draw` showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    pub panes: Vec<PaneShown>,
}

/// How much of one pane was visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaneShown {
    pub id: &'static str,
    /// The place in the whole list or text of the first row that was drawn.
    pub first: usize,
    /// How many rows (logical lines of a text) were drawn whole.
    pub rows: usize,
    /// How many lines of the screen the block had, so how many one-line rows would fit.
    pub height: usize,
    /// Columns of the block.
    pub width: usize,
}

impl Page {
    /// All panes of the body in reading order, then the overlay's.
    pub fn panes(&self) -> Vec<&Pane> {
        let mut all = Vec::new();
        self.body.collect(&mut all);
        all.extend(self.overlay.as_ref().map(|overlay| &overlay.pane));
        all
    }

    pub fn pane(&self, id: &str) -> Option<&Pane> {
        self.panes().into_iter().find(|pane| pane.id == id)
    }

    /// The pane that keys move in: the overlay's, if there is one.
    pub fn focused(&self) -> Option<&Pane> {
        self.panes().into_iter().rfind(|pane| pane.focus == Focus::Here)
    }

    /// The row under the cursor; none if it is gone.
    pub fn row(&self) -> Option<&Row> {
        self.focused()?.list()?.row()
    }

    /// What keys such as *logs* are about: the row under the cursor, else the page.
    pub fn about(&self) -> Option<&About> {
        self.row().and_then(|row| row.about.as_ref()).or(self.about.as_ref())
    }

    /// Every line that was made from what the cluster says; not what the user types.
    pub fn each_line(&mut self, change: &mut dyn FnMut(&mut Line)) {
        self.header.left.iter_mut().chain(&mut self.header.right).for_each(|part| change(&mut part.line));
        self.body.each_pane(&mut |pane| pane.each_line(change));
        if let Footer::Notice(line) = &mut self.footer {
            change(line);
        }
        if let Some(overlay) = &mut self.overlay {
            overlay.pane.each_line(change);
        }
    }

    pub fn prompt(&self) -> Option<&Prompt> {
        let typed = match &self.footer {
            Footer::Prompt(prompt) => Some(prompt),
            Footer::Hints(_) | Footer::Notice(_) => None,
        };
        typed.or_else(|| self.overlay.as_ref()?.prompt.as_ref())
    }
}

impl Layout {
    fn each_pane(&mut self, change: &mut dyn FnMut(&mut Pane)) {
        match self {
            Self::Pane(pane) => change(pane),
            Self::Rows(parts) | Self::Columns(parts) => parts.iter_mut().for_each(|(_, part)| part.each_pane(change)),
        }
    }

    fn collect<'a>(&'a self, into: &mut Vec<&'a Pane>) {
        match self {
            Self::Pane(pane) => into.push(pane),
            Self::Rows(parts) | Self::Columns(parts) => {
                for (_, part) in parts {
                    part.collect(into);
                }
            }
        }
    }
}

impl Pane {
    fn each_line(&mut self, change: &mut dyn FnMut(&mut Line)) {
        self.title.iter_mut().chain(&mut self.note).for_each(&mut *change);
        match &mut self.block {
            Block::List(list) => {
                list.rows.iter_mut().flat_map(|row| row.cells.iter_mut().chain(&mut row.below)).for_each(&mut *change);
                list.foot.iter_mut().chain(&mut list.empty).for_each(change);
            }
            Block::Text(text) => text.lines.iter_mut().for_each(change),
        }
    }

    pub fn list(&self) -> Option<&List> {
        match &self.block {
            Block::List(list) => Some(list),
            Block::Text(_) => None,
        }
    }

    pub fn text(&self) -> Option<&Text> {
        match &self.block {
            Block::Text(text) => Some(text),
            Block::List(_) => None,
        }
    }
}

impl Part {
    pub fn new(priority: u8, line: Line) -> Self {
        Self { line, priority }
    }
}

impl Hint {
    pub fn new(key: impl Into<Str>, does: impl Into<Str>) -> Self {
        Self { key: key.into(), does: does.into() }
    }
}

impl Shown {
    pub fn pane(&self, id: &str) -> Option<&PaneShown> {
        self.panes.iter().find(|pane| pane.id == id)
    }
}
