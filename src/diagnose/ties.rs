//! Ties: which groups hold an object up, and which wait for it. Kept by difference.

use std::collections::BTreeSet;

use crate::model::{HashMap, ObjectRef};

use super::gather::Number;
use super::group::Group;

/// An object as a hash of its name: names are many and long. Whoever asks for holders looks at them again.
type Mark = u64;

pub(super) fn mark(object: &ObjectRef) -> Mark {
    crate::model::hash_of(object)
}

/// What a group has to do with objects, sorted.
#[derive(Debug, Default)]
pub(super) struct Ends {
    holds: Box<[Mark]>,
    waits: Box<[Mark]>,
}

impl Ends {
    /// A group holds its root and all that it affects. It waits for what it names; and as a symptom for whatever else holds up
    /// one of its workloads.
    pub fn of(group: &Group) -> Self {
        let holds = [&group.words().root].into_iter().chain(&*group.affected).chain(&*group.pods);
        let symptom = if group.cause.symptom { &*group.affected } else { &[] };
        Self { holds: marks(holds), waits: marks(group.waits_on.iter().chain(symptom)) }
    }
}

fn marks<'a>(objects: impl Iterator<Item = &'a ObjectRef>) -> Box<[Mark]> {
    let mut marks: Vec<Mark> = objects.map(mark).collect();
    marks.sort_unstable();
    marks.dedup();
    marks.into()
}

#[derive(Debug, Default)]
pub(super) struct Ties {
    holders: HashMap<Mark, Vec<Number>>,
    waiters: HashMap<Mark, Vec<Number>>,
}

impl Ties {
    /// Ties a group anew. `concerned` takes those whose answer to [`Ties::edges`] may now be another.
    pub fn tie(&mut self, number: Number, before: &Ends, now: &Ends, concerned: &mut BTreeSet<Number>) {
        concerned.insert(number);
        for mark in without(&before.holds, &now.holds) {
            untie(&mut self.holders, mark, number);
            concerned.extend(self.waiters.get(&mark).into_iter().flatten());
        }
        for mark in without(&now.holds, &before.holds) {
            self.holders.entry(mark).or_default().push(number);
            concerned.extend(self.waiters.get(&mark).into_iter().flatten());
        }
        without(&before.waits, &now.waits).for_each(|mark| untie(&mut self.waiters, mark, number));
        without(&now.waits, &before.waits).for_each(|mark| self.waiters.entry(mark).or_default().push(number));
    }

    /// The groups that one waits on, sorted: those that hold an object that it names, itself only where it names what it affects;
    /// and for a symptom, what lies deeper and holds up one of its workloads.
    pub fn edges<'a>(&self, number: Number, group: &Group, other: impl Fn(Number) -> Option<&'a Group>) -> Vec<Number> {
        let itself = group.waits_on.iter().any(|object| group.affected.binary_search(object).is_ok());
        let mut to = Vec::new();
        for object in &*group.waits_on {
            to.extend(self.holders(object, &other).map(|(holder, _)| holder).filter(|holder| *holder != number || itself));
        }
        let deeper = |by: &Group| !by.cause.symptom || by.cause.layer < group.cause.layer;
        for object in group.affected.iter().filter(|_| group.cause.symptom) {
            let holders = self.holders(object, &other).filter(|(holder, by)| *holder != number && deeper(by));
            to.extend(holders.map(|(holder, _)| holder));
        }
        to.sort_unstable();
        to.dedup();
        to
    }

    fn holders<'a>(&self, object: &ObjectRef, other: &impl Fn(Number) -> Option<&'a Group>) -> impl Iterator<Item = (Number, &'a Group)> {
        let numbers = self.holders.get(&mark(object)).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, other(*number)?))).filter(|(_, group)| group.holds(object))
    }
}

/// What is in `these` and not in `those`; both are sorted.
fn without(these: &[Mark], those: &[Mark]) -> impl Iterator<Item = Mark> {
    let mut at = 0;
    these.iter().copied().filter(move |mark| {
        at += those[at..].iter().take_while(|other| *other < mark).count();
        those.get(at) != Some(mark)
    })
}

fn untie(map: &mut HashMap<Mark, Vec<Number>>, mark: Mark, number: Number) {
    if let Some(numbers) = map.get_mut(&mark) {
        numbers.retain(|other| *other != number);
        if numbers.is_empty() {
            map.remove(&mark);
        }
    }
}
