//! Indexes: from owner, node and event subject to what belongs to them.

use std::collections::{BTreeMap, BTreeSet};

/// Namespace and name.
pub(super) type Place = (Box<str>, Box<str>);

/// A map from a key to places, without empty entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    map: BTreeMap<Box<str>, BTreeSet<Place>>,
}

impl Index {
    pub(super) fn add(&mut self, key: &str, place: &Place) {
        if !key.is_empty() {
            self.map.entry(key.into()).or_default().insert(place.clone());
        }
    }

    pub(super) fn remove(&mut self, key: &str, place: &Place) {
        if let Some(set) = self.map.get_mut(key) {
            set.remove(place);
            if set.is_empty() {
                self.map.remove(key);
            }
        }
    }

    pub(super) fn get(&self, key: &str) -> impl Iterator<Item = &Place> {
        self.map.get(key).into_iter().flatten()
    }
}
