//! What we may see: per kind and namespace.

use std::collections::BTreeMap;

use super::{Kind, Text, Time};

/// What a look-up answers. `Unknown` is never `Absent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<T> {
    Is(T),
    /// The kind was read completely here, and it is not among it.
    Absent,
    /// Loading, denied, stale, or not in the input: nothing can be said.
    Unknown,
}

impl<T> Seen<T> {
    pub fn is(self) -> Option<T> {
        match self {
            Self::Is(t) => Some(t),
            Self::Absent | Self::Unknown => None,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Seen<U> {
        match self {
            Self::Is(t) => Seen::Is(f(t)),
            Self::Absent => Seen::Absent,
            Self::Unknown => Seen::Unknown,
        }
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

/// How much of a kind in one place was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoverageState {
    Loading,
    Synced,
    /// The API server refused.
    Denied {
        message: String,
        since: Option<Time>,
    },
    /// The server does not have it, or the input does not hold it.
    Absent {
        message: String,
    },
    /// It was read, and may have changed since.
    Stale {
        message: String,
        since: Option<Time>,
    },
}

/// Coverage of every kind, per namespace where it differs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coverage {
    kinds: BTreeMap<Kind, Places>,
}

/// One kind: for all namespaces, and for those that have an entry of their own.
#[derive(Debug, Clone, Default, PartialEq)]
struct Places {
    all: Option<CoverageState>,
    own: BTreeMap<Text, CoverageState>,
}

impl Coverage {
    /// `namespace: None` speaks for all namespaces that have no entry of their own.
    pub fn set(&mut self, kind: Kind, namespace: Option<&str>, state: CoverageState) {
        let places = self.kinds.entry(kind).or_default();
        match namespace {
            Some(namespace) => drop(places.own.insert(namespace.into(), state)),
            None => places.all = Some(state),
        }
    }

    pub fn get(&self, kind: Kind, namespace: &str) -> Option<&CoverageState> {
        let places = self.kinds.get(&kind)?;
        let own = if namespace.is_empty() { None } else { places.own.get(namespace) };
        own.or(places.all.as_ref())
    }

    /// Whether absence in this namespace proves something.
    pub fn is_synced(&self, kind: Kind, namespace: &str) -> bool {
        matches!(self.get(kind, namespace), Some(CoverageState::Synced))
    }

    /// Whether the kind was read in every namespace: needed before a look over all of them can prove absence.
    pub fn is_synced_everywhere(&self, kind: Kind) -> bool {
        self.is_synced(kind, "") && self.of(kind).all(|(_, s)| *s == CoverageState::Synced)
    }

    /// The API server's words, if it refused the kind in every place: then an empty list is no news.
    pub fn refused_everywhere(&self, kind: Kind) -> Option<&str> {
        let refusal = |state: &CoverageState| matches!(state, CoverageState::Denied { .. });
        let message =
            self.of(kind).find_map(|(_, state)| if let CoverageState::Denied { message, .. } = state { Some(&**message) } else { None });
        message.filter(|_| self.of(kind).all(|(_, state)| refusal(state)))
    }

    /// Whether the kind is still being read there: causes that need it stay silent.
    pub fn is_loading(&self, kind: Kind, namespace: &str) -> bool {
        matches!(self.get(kind, namespace), Some(CoverageState::Loading))
    }

    /// The entries of one kind: for all namespaces first.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = (Option<&str>, &CoverageState)> {
        self.kinds.get(&kind).into_iter().flat_map(Places::iter)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Kind, Option<&str>, &CoverageState)> {
        self.kinds.iter().flat_map(|(kind, places)| places.iter().map(|(ns, state)| (*kind, ns, state)))
    }
}

impl Places {
    fn iter(&self) -> impl Iterator<Item = (Option<&str>, &CoverageState)> {
        self.all.iter().map(|state| (None, state)).chain(self.own.iter().map(|(ns, state)| (Some(&**ns), state)))
    }
}
