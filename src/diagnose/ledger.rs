//! Ledger: who looked at what, and when the clock alone changes what is said. Entries are numbers, for a large cluster has
//! hundreds of thousands of them.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use crate::model::{HashMap, Hashed, Read, Time};

use super::subjects::Subject;

/// Subjects by what they looked at. An entry is taken out when what it names changes: its subjects are judged again then, and
/// enter themselves anew. What a subject looked at once and not again costs one judgement too many, never one too few.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    slots: Vec<Option<Slot>>,
    /// Slots that no entry names.
    free: Vec<u32>,
    numbers: HashMap<Arc<Subject>, u32>,
    readers: ByRead,
    due: BTreeSet<(Time, u32)>,
    /// Entries, and how many of them the last judgements of all subjects made: the others are stale.
    entries: usize,
    fresh: usize,
}

type ByRead = std::collections::HashMap<Read, Readers, BuildHasherDefault<Hashed>>;

#[derive(Debug)]
struct Slot {
    subject: Arc<Subject>,
    /// How many looks its last judgement took.
    looks: u32,
    due: Option<Time>,
}

/// Most things are looked at by one subject.
#[derive(Debug)]
enum Readers {
    One(u32),
    /// Sorted.
    #[expect(clippy::box_collection, reason = "eight bytes less in a table with tens of thousands of entries")]
    Many(Box<Vec<u32>>),
}

/// Stale entries that are no reason to clear up.
const SOME: usize = 4096;

impl Ledger {
    /// Enters what a judgement looked at, each look once. What was entered for the subject before stays until it changes.
    pub fn enter(&mut self, subject: &Subject, looks: &[Read], due: Option<Time>) {
        if looks.is_empty() && due.is_none() {
            return self.leave(subject);
        }
        let number = self.number(subject);
        for look in looks {
            self.entries += usize::from(add(&mut self.readers, *look, number));
        }
        let Some(slot) = self.slots.get_mut(number as usize).and_then(Option::as_mut) else { return };
        self.fresh = self.fresh + looks.len() - slot.looks as usize;
        slot.looks = looks.len() as u32;
        if let Some(at) = std::mem::replace(&mut slot.due, due) {
            self.due.remove(&(at, number));
        }
        self.due.extend(due.map(|at| (at, number)));
    }

    pub fn knows(&self, subject: &Subject) -> bool {
        self.numbers.contains_key(subject)
    }

    /// Whoever looked at this.
    pub fn take_readers(&mut self, read: &Read) -> Vec<Subject> {
        let numbers = self.readers.remove(read).map(Readers::into_vec).unwrap_or_default();
        self.entries -= numbers.len();
        numbers.into_iter().filter_map(|number| self.subject(number).map(|s| Subject::clone(s))).collect()
    }

    /// Whoever is to be judged again by this time.
    pub fn take_due(&mut self, now: Time) -> Vec<Subject> {
        let mut taken = Vec::new();
        while let Some((_, number)) = self.due.first().filter(|(at, _)| *at <= now).copied() {
            self.due.pop_first();
            if let Some(slot) = self.slots.get_mut(number as usize).and_then(Option::as_mut) {
                slot.due = None;
                taken.push(Subject::clone(&slot.subject));
            }
        }
        taken
    }

    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Clears up where most entries are stale. What subjects still live looked at cannot be told from what they do not look at
    /// any more: they are to be judged again, if clearing away those that are gone is not enough.
    pub fn clear_up(&mut self) -> Vec<Subject> {
        if self.is_tidy() {
            return Vec::new();
        }
        self.drop_gone();
        if self.is_tidy() {
            return Vec::new();
        }
        let old = std::mem::take(self);
        old.slots.into_iter().flatten().map(|slot| Subject::clone(&slot.subject)).collect()
    }

    fn is_tidy(&self) -> bool {
        self.entries <= 2 * self.fresh + SOME && self.slots.len() <= 2 * self.numbers.len() + SOME
    }

    fn drop_gone(&mut self) {
        let slots = &self.slots;
        let lives = |number: &u32| slots.get(*number as usize).is_some_and(Option::is_some);
        self.readers.retain(|_, readers| readers.retain(lives));
        self.entries = self.readers.values().map(Readers::len).sum();
        self.free = (0..self.slots.len() as u32).filter(|number| self.slots[*number as usize].is_none()).collect();
    }

    fn subject(&self, number: u32) -> Option<&Arc<Subject>> {
        self.slots.get(number as usize)?.as_ref().map(|slot| &slot.subject)
    }

    fn leave(&mut self, subject: &Subject) {
        let Some(number) = self.numbers.remove(subject) else { return };
        if let Some(slot) = self.slots[number as usize].take() {
            self.fresh -= slot.looks as usize;
            slot.due.map(|at| self.due.remove(&(at, number)));
        }
    }

    fn number(&mut self, subject: &Subject) -> u32 {
        if let Some(number) = self.numbers.get(subject) {
            return *number;
        }
        let number = self.free.pop().unwrap_or(self.slots.len() as u32);
        let subject = Arc::new(subject.clone());
        self.numbers.insert(Arc::clone(&subject), number);
        let new = Some(Slot { subject, looks: 0, due: None });
        match self.slots.get_mut(number as usize) {
            Some(slot) => *slot = new,
            None => self.slots.push(new),
        }
        number
    }
}

fn add(readers: &mut ByRead, look: Read, number: u32) -> bool {
    match readers.entry(look) {
        Entry::Vacant(entry) => {
            entry.insert(Readers::One(number));
            true
        }
        Entry::Occupied(mut entry) => entry.get_mut().add(number),
    }
}

impl Readers {
    fn add(&mut self, number: u32) -> bool {
        match self {
            Self::One(one) if *one == number => false,
            Self::One(one) => {
                let mut both = vec![*one, number];
                both.sort_unstable();
                *self = Self::Many(Box::new(both));
                true
            }
            Self::Many(many) => match many.binary_search(&number) {
                Ok(_) => false,
                Err(at) => {
                    many.insert(at, number);
                    true
                }
            },
        }
    }

    fn retain(&mut self, lives: impl Fn(&u32) -> bool) -> bool {
        match self {
            Self::One(one) => lives(one),
            Self::Many(many) => {
                many.retain(lives);
                many.shrink_to_fit();
                !many.is_empty()
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(many) => many.len(),
        }
    }

    fn into_vec(self) -> Vec<u32> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => *many,
        }
    }
}
