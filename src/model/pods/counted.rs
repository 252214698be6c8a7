//! Counted: values stored once, found by content, and freed with their last use. Ids are small and stable while in use.

use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::model::intern::push;

/// A value that users share by id.
#[derive(Debug)]
pub(in crate::model) struct Counted<T> {
    slots: Vec<Option<Slot<T>>>,
    free: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
struct Slot<T> {
    value: T,
    uses: u32,
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), table: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }
}

impl<T: Eq + Hash> Counted<T> {
    pub(in crate::model) fn get(&self, id: u32) -> Option<&T> {
        self.slots.get(id as usize)?.as_ref().map(|slot| &slot.value)
    }

    /// The value, to change what is no part of its content.
    pub(in crate::model) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.slots.get_mut(id as usize)?.as_mut().map(|slot| &mut slot.value)
    }

    pub(in crate::model) fn find(&self, value: &T) -> Option<u32> {
        let same = |id: &u32| self.get(*id).is_some_and(|v| v == value);
        self.table.find(self.hasher.hash_one(value), same).copied()
    }

    /// Values that hash like this part of them.
    pub(in crate::model) fn like<'a, P: Hash>(&'a self, part: &P) -> impl Iterator<Item = &'a T> + use<'a, T, P> {
        self.table.iter_hash(self.hasher.hash_one(part)).filter_map(|id| self.get(*id))
    }

    pub(in crate::model) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten().map(|slot| &mut slot.value)
    }

    /// The id of a value, used once more. `true` if it was not there.
    pub(in crate::model) fn take(&mut self, value: T) -> (u32, bool) {
        if let Some(id) = self.find(&value) {
            self.again(id);
            return (id, false);
        }
        let hash = self.hasher.hash_one(&value);
        let slot = Some(Slot { value, uses: 1 });
        let id = match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                push(&mut self.slots, slot);
                self.slots.len() as u32 - 1
            }
        };
        let (slots, hasher) = (&self.slots, &self.hasher);
        self.table.insert_unique(hash, id, |id| slots[*id as usize].as_ref().map_or(0, |slot| hasher.hash_one(&slot.value)));
        (id, true)
    }

    /// One more use.
    pub(in crate::model) fn again(&mut self, id: u32) -> u32 {
        if let Some(Some(slot)) = self.slots.get_mut(id as usize) {
            slot.uses += 1;
        }
        id
    }

    /// One use less; with the last the value is handed back and its id is free.
    pub(in crate::model) fn release(&mut self, id: u32) -> Option<T> {
        let slot = self.slots.get_mut(id as usize)?.as_mut()?;
        slot.uses -= 1;
        if slot.uses > 0 {
            return None;
        }
        let hash = self.hasher.hash_one(&slot.value);
        if let Ok(entry) = self.table.find_entry(hash, |n| *n == id) {
            entry.remove();
        }
        self.free.push(id);
        self.slots[id as usize].take().map(|slot| slot.value)
    }

    #[cfg(test)]
    pub(in crate::model) fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether the next release is the last.
    pub(in crate::model) fn is_last(&self, id: u32) -> bool {
        self.slots.get(id as usize).and_then(Option::as_ref).is_some_and(|slot| slot.uses == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lives_until_its_last_use_goes_and_its_id_is_used_again() {
        let mut counted = Counted::default();
        assert_eq!((counted.take("a"), counted.take("b"), counted.take("a")), ((0, true), (1, true), (0, false)));
        assert_eq!((counted.release(0), counted.find(&"a"), counted.release(0)), (None, Some(0), Some("a")));
        assert_eq!((counted.find(&"a"), counted.get(0), counted.get(1)), (None, None, Some(&"b")));
        assert_eq!((counted.take("c"), counted.len()), ((0, true), 2));
    }
}
