//! Text with roles: spans say what a word means, never how it looks.

use std::borrow::Cow;

/// Text that is a constant or was made for this frame. It may hold anything the cluster sent: `ui` makes it harmless.
pub type Str = Cow<'static, str>;

/// What a piece of text means. A screen has these five colours beside plain text and no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    #[default]
    Plain,
    /// Nothing will change until somebody acts. Red is for this alone.
    Blocked,
    /// A mechanism at work will retry or finish.
    Delayed,
    /// As it should be.
    Fine,
    /// Selection, keys, links.
    Accent,
    /// Context.
    Dim,
}

/// Where a piece of text loses characters when its place is too narrow. The mark of a cut is `…`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// The end goes.
    #[default]
    End,
    /// The middle goes; the last five characters, which tell pods of one owner apart, stay with their dash.
    Pod,
    /// The middle goes; the tag or digest stays.
    Image,
    /// The start goes: of a path the end tells.
    Start,
}

/// A piece of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub text: Str,
    pub role: Role,
    pub cut: Cut,
    /// Bold: only for what is selected or new.
    pub strong: bool,
    /// Underlined: what a search found.
    pub found: bool,
}

/// One line, or one paragraph where lines are wrapped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub spans: Vec<Span>,
    /// When wrapped, the second and later lines are indented by so many cells.
    pub hang: u16,
}

/// Lines to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The window: lines from `first` on.
    pub lines: Vec<Line>,
    /// The place in the whole text of the first line of the window.
    pub first: usize,
    /// How many lines the whole text has.
    pub len: usize,
    pub wrap: Wrap,
}

/// What happens to a line that is longer than its pane is wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// It goes on below.
    #[default]
    Words,
    /// It is cut; so many of its first cells are scrolled out at the left.
    Sideways(usize),
}

impl<T: Into<Str>> From<T> for Span {
    fn from(text: T) -> Self {
        Self::new(Role::Plain, text)
    }
}

impl Span {
    pub fn new(role: Role, text: impl Into<Str>) -> Self {
        Self { text: text.into(), role, ..Self::default() }
    }

    pub fn cut(self, cut: Cut) -> Self {
        Self { cut, ..self }
    }

    pub fn strong(self) -> Self {
        Self { strong: true, ..self }
    }

    pub fn found(self) -> Self {
        Self { found: true, ..self }
    }
}

impl Line {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn role(mut self, role: Role, text: impl Into<Str>) -> Self {
        self.spans.push(Span::new(role, text));
        self
    }

    pub fn plain(self, text: impl Into<Str>) -> Self {
        self.role(Role::Plain, text)
    }

    pub fn dim(self, text: impl Into<Str>) -> Self {
        self.role(Role::Dim, text)
    }

    pub fn accent(self, text: impl Into<Str>) -> Self {
        self.role(Role::Accent, text)
    }

    pub fn blocked(self, text: impl Into<Str>) -> Self {
        self.role(Role::Blocked, text)
    }

    pub fn delayed(self, text: impl Into<Str>) -> Self {
        self.role(Role::Delayed, text)
    }

    pub fn fine(self, text: impl Into<Str>) -> Self {
        self.role(Role::Fine, text)
    }

    pub fn span(mut self, span: Span) -> Self {
        self.spans.push(span);
        self
    }

    /// These spans behind the present ones.
    pub fn then(mut self, other: Self) -> Self {
        self.spans.extend(other.spans);
        self
    }

    pub fn hang(self, hang: u16) -> Self {
        Self { hang, ..self }
    }

    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.text.is_empty())
    }

    /// The text without roles.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| &*span.text).collect()
    }

    /// How many characters it has; for names and our own words also how many cells it takes.
    pub fn chars(&self) -> u16 {
        self.spans.iter().map(|span| chars(&span.text)).fold(0, u16::saturating_add)
    }
}

/// How many characters a text has, as a width.
pub fn chars(text: &str) -> u16 {
    u16::try_from(text.chars().take(usize::from(u16::MAX)).count()).unwrap_or(u16::MAX)
}

impl<T: Into<Str>> From<T> for Line {
    fn from(text: T) -> Self {
        Self::new().plain(text)
    }
}

impl Text {
    /// A whole text that is wrapped and not longer than its pane can be scrolled.
    pub fn whole(lines: Vec<Line>) -> Self {
        Self { first: 0, len: lines.len(), lines, wrap: Wrap::Words }
    }
}
