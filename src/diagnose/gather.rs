//! Gather: which findings stand together. It keeps them by cause and key as they come and go, and knows which groups changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::HashMap;

use super::engine::Found;
use super::{Cause, Key};

/// A group by its number, which it keeps as long as it has members.
pub(super) type Number = u32;

/// What a group is made of.
#[derive(Debug)]
pub(super) struct Members {
    pub cause: &'static Cause,
    pub key: Key,
    /// In no order but that in which they were joined last.
    pub found: Vec<Arc<Found>>,
    /// What came and what went since they were joined last.
    pub came: Vec<Arc<Found>>,
    pub went: Vec<Arc<Found>>,
}

/// Findings of one cause that name the same wider key, by their own.
type Family = BTreeMap<Key, Vec<Arc<Found>>>;

type Name = (&'static str, Key);

/// All findings but the quiet ones, by group.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    groups: Vec<Option<Members>>,
    free: Vec<Number>,
    numbers: HashMap<Name, Number>,
    families: HashMap<Name, Family>,
    changed: BTreeSet<Number>,
}

impl Gathered {
    /// One finding more. A wider key is taken as soon as two keys share it.
    pub fn add(&mut self, f: &Arc<Found>) {
        let Some(wider) = &f.finding.wider else { return self.put(f.finding.key.clone(), f.clone()) };
        let family = self.families.entry((f.cause.id, wider.clone())).or_default();
        family.entry(f.finding.key.clone()).or_default().push(f.clone());
        if family.len() == 1 {
            return self.put(f.finding.key.clone(), f.clone());
        }
        let others = family.iter().filter(|(key, _)| **key != f.finding.key).map(|(key, found)| (key.clone(), found.clone()));
        let alone = (family.len() == 2 && family[&f.finding.key].len() == 1).then(|| others.collect::<Vec<_>>());
        for (key, found) in alone.into_iter().flatten() {
            found.into_iter().for_each(|f| self.shift(&key, wider, f));
        }
        self.put(wider.clone(), f.clone());
    }

    /// The same one less.
    pub fn remove(&mut self, f: &Arc<Found>) {
        let Some(wider) = &f.finding.wider else { return self.take(&f.finding.key, f) };
        let name = (f.cause.id, wider.clone());
        let Some(family) = self.families.get_mut(&name) else { return };
        let shared = family.len() > 1;
        if let Some(found) = family.get_mut(&f.finding.key) {
            found.retain(|other| !Arc::ptr_eq(other, f));
            if found.is_empty() {
                family.remove(&f.finding.key);
            }
        }
        let left = (shared && family.len() == 1).then(|| family.clone());
        if family.is_empty() {
            self.families.remove(&name);
        }
        self.take(if shared { wider } else { &f.finding.key }, f);
        for (key, found) in left.into_iter().flatten() {
            found.into_iter().for_each(|f| self.shift(wider, &key, f));
        }
    }

    /// Some of the groups that changed since this was last asked; those without members are gone.
    pub fn take_changed(&mut self, most: usize) -> BTreeSet<Number> {
        let rest = self.changed.iter().nth(most).copied().map(|next| self.changed.split_off(&next));
        std::mem::replace(&mut self.changed, rest.unwrap_or_default())
    }

    /// Whether more of them did.
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// How many numbers are in use at most.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// The findings of a group, in the order in which they were joined last.
    pub fn found(&self, number: Number) -> &[Arc<Found>] {
        self.groups.get(number as usize).and_then(Option::as_ref).map_or(&[], |members| &members.found)
    }

    pub fn members(&mut self, number: Number) -> Option<&mut Members> {
        self.groups.get_mut(number as usize)?.as_mut()
    }

    /// Gives the number of a group without members back.
    pub fn close(&mut self, number: Number) {
        if let Some(members) = self.groups.get_mut(number as usize).and_then(|slot| slot.take_if(|members| members.found.is_empty())) {
            self.numbers.remove(&(members.cause.id, members.key));
            self.free.push(number);
        }
    }

    fn shift(&mut self, from: &Key, to: &Key, f: Arc<Found>) {
        self.take(from, &f);
        self.put(to.clone(), f);
    }

    fn put(&mut self, key: Key, f: Arc<Found>) {
        let number = match self.numbers.get(&(f.cause.id, key.clone())) {
            Some(number) => *number,
            None => self.open(f.cause, key),
        };
        self.changed.insert(number);
        if let Some(members) = self.members(number) {
            members.came.push(f.clone());
            members.found.push(f);
        }
    }

    fn open(&mut self, cause: &'static Cause, key: Key) -> Number {
        let number = self.free.pop().unwrap_or_else(|| {
            self.groups.push(None);
            Number::try_from(self.groups.len() - 1).unwrap_or(Number::MAX)
        });
        self.numbers.insert((cause.id, key.clone()), number);
        self.groups[number as usize] = Some(Members { cause, key, found: Vec::new(), came: Vec::new(), went: Vec::new() });
        number
    }

    fn take(&mut self, key: &Key, f: &Arc<Found>) {
        let Some(number) = self.numbers.get(&(f.cause.id, key.clone())).copied() else { return };
        self.changed.insert(number);
        if let Some(members) = self.members(number) {
            members.went.push(f.clone());
            members.found.retain(|other| !Arc::ptr_eq(other, f));
        }
    }
}
