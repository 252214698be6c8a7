//! What was fetched because somebody opened it: the object's yaml, its events, its diff, its logs; the newest few are kept.

use crate::desired::Comparison;
use crate::model::Time;
use crate::page::About;

/// Which text of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    Yaml,
    Events,
    /// Beside what was asked for.
    Diff,
    /// Of one container, the last 500 lines.
    Logs,
    /// Of its run before this one.
    Previous,
}

/// One document to fetch, by `kind`, about what the page said it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// `Kind/ns/name`: the object whose page it is for.
    pub object: String,
    pub document: Document,
    /// Whose logs: `Pod/ns/name`.
    pub pod: Option<String>,
    pub container: Option<String>,
    pub asked: Asked,
}

/// Who asked for a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    #[default]
    ByUser,
    /// Something else was opened, where it may be told in a line: what is opened only on request stays closed.
    Ahead,
    /// The user, who agreed to server-side dry runs.
    DryRun,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Lines of yaml or of a log, redacted.
    Lines(Vec<String>),
    /// Newest first.
    Events(Vec<EventLine>),
    Diff(Box<Comparison>),
}

/// An event as it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventLine {
    pub at: Option<Time>,
    /// `Normal`, `Warning`.
    pub kind: String,
    pub reason: String,
    pub message: String,
    pub count: u32,
    pub source: String,
}

/// A document and how far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub wanted: Wanted,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Here(Content),
    /// Why not, and what to do.
    Failed(String),
}

/// Enough to go back a few steps without asking again.
const KEPT: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    kept: Vec<Fetched>,
}

impl Wanted {
    pub(super) fn new(object: &str, document: Document, about: Option<&About>) -> Self {
        let about = about.cloned().unwrap_or_default();
        Self { object: object.to_owned(), document, pod: about.pod, container: about.container, asked: Asked::ByUser }
    }
}

impl Documents {
    pub fn get(&self, object: &str, document: Document) -> Option<&Fetched> {
        self.kept.iter().rev().find(|kept| kept.wanted.object == object && kept.wanted.document == document)
    }

    /// The diffs that are here and may be fetched anew: dry runs are made when somebody asks for one, never by themselves.
    pub fn diffs(&self) -> impl Iterator<Item = &Wanted> {
        let is_plain = |kept: &&Fetched| kept.comparison().is_some() && kept.wanted.asked != Asked::DryRun;
        self.kept.iter().filter(is_plain).map(|kept| &kept.wanted)
    }

    /// Of each kind one is pending, the newest: what was asked for before gets no answer, and is asked for again when it is opened.
    pub(super) fn ask(&mut self, wanted: Wanted) {
        self.kept.retain(|kept| kept.wanted.document != wanted.document || kept.state != State::Waiting);
        self.put(Fetched { wanted, state: State::Waiting });
    }

    /// An answer to a question that nobody asks any more is dropped.
    pub(super) fn answer(&mut self, wanted: &Wanted, result: Result<Content, String>) {
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.wanted == *wanted) {
            kept.state = result.map_or_else(State::Failed, State::Here);
        }
    }

    fn put(&mut self, fetched: Fetched) {
        let (object, document) = (fetched.wanted.object.clone(), fetched.wanted.document);
        self.kept.retain(|kept| kept.wanted.object != object || kept.wanted.document != document);
        self.kept.push(fetched);
        if self.kept.len() > KEPT {
            self.kept.remove(0);
        }
    }
}

impl Fetched {
    pub fn lines(&self) -> &[String] {
        match &self.state {
            State::Here(Content::Lines(lines)) => lines,
            State::Here(Content::Events(_) | Content::Diff(_)) | State::Waiting | State::Failed(_) => &[],
        }
    }

    pub fn events(&self) -> &[EventLine] {
        match &self.state {
            State::Here(Content::Events(events)) => events,
            State::Here(Content::Lines(_) | Content::Diff(_)) | State::Waiting | State::Failed(_) => &[],
        }
    }

    /// Whether there is nothing more to get for somebody who asks for this very document.
    pub(super) fn is_enough(&self) -> bool {
        match (&self.state, self.wanted.asked) {
            (State::Failed(_), _) | (State::Waiting, Asked::Ahead) => false,
            (State::Waiting, Asked::ByUser | Asked::DryRun) => true,
            (State::Here(_), Asked::ByUser | Asked::Ahead | Asked::DryRun) => {
                !self.comparison().is_some_and(|comparison| comparison.is_sealed)
            }
        }
    }

    pub fn comparison(&self) -> Option<&Comparison> {
        match &self.state {
            State::Here(Content::Diff(comparison)) => Some(comparison),
            State::Here(Content::Lines(_) | Content::Events(_)) | State::Waiting | State::Failed(_) => None,
        }
    }
}
