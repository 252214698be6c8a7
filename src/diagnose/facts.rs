//! Facts: what a finding names besides its words, by name. Most findings have a handful, and a blocker with one finding shares them.

use std::sync::Arc;

/// Sorted by name. A copy is the same piece of memory until one of the two is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Facts(Arc<Vec<(&'static str, Box<str>)>>);

impl Facts {
    pub fn insert(&mut self, name: &'static str, value: impl Into<Box<str>>) {
        let all = Arc::make_mut(&mut self.0);
        match all.binary_search_by(|(other, _)| (*other).cmp(name)) {
            Ok(at) => all[at].1 = value.into(),
            Err(at) => all.insert(at, (name, value.into())),
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, &**value))
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Box<str>> {
        Arc::make_mut(&mut self.0).iter_mut().map(|(_, value)| value)
    }

    /// Gives spare room back.
    pub(super) fn shrink(&mut self) {
        if self.0.capacity() > self.0.len() {
            Arc::make_mut(&mut self.0).shrink_to_fit();
        }
    }
}

impl<T: Into<Box<str>>> FromIterator<(&'static str, T)> for Facts {
    fn from_iter<I: IntoIterator<Item = (&'static str, T)>>(facts: I) -> Self {
        let mut all = Self::default();
        facts.into_iter().for_each(|(name, value)| all.insert(name, value));
        all.shrink();
        all
    }
}
