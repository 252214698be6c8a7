//! What fields of some objects were, while somebody looked: from it comes whether two write against each other, and whether something went
//! wrong again. Bounded, whatever is watched; reads no clock.

use std::collections::VecDeque;

use super::audit::settle;
use super::body;
use super::comparison::Comparison;
use super::object::{Identity, Object};
use super::owner;
use super::path::Path;
use super::turns::{Mark, Turns};
use super::verdict::Verdict;

/// Objects that were looked at, the latest last.
const OBJECTS: usize = 64;
/// Places of one object that differed at some time.
const PLACES: usize = 64;

/// What was seen so far.
#[derive(Clone, Debug, Default)]
pub struct Watched(VecDeque<(Identity, Vec<(Path, Turns)>)>);

impl Watched {
    /// Takes in how an object is now, and says of its differences what their turns mean.
    pub fn see(&mut self, live: &Object, comparison: &mut Comparison) {
        let places = self.places(live.identity());
        let differing = comparison.against.iter().flat_map(|against| &against.diff.fields);
        let can_be = |verdict| !matches!(verdict, Verdict::Equal | Verdict::Defaulted | Verdict::Server);
        for path in differing.filter(|field| can_be(field.verdict)).map(|field| &field.path) {
            if places.len() < PLACES && !places.iter().any(|(known, _)| known == path) {
                places.push((path.clone(), Turns::default()));
            }
        }
        for (path, turns) in places.iter_mut() {
            see(live, path, turns, "");
        }
        for field in comparison.against.iter_mut().flat_map(|against| &mut against.diff.fields) {
            if let Some((_, turns)) = places.iter().find(|(path, _)| *path == field.path) {
                let right = Mark::of(field.desired.as_ref());
                settle(field, turns, &right, "seen while watching");
            }
        }
    }

    fn places(&mut self, object: Identity) -> &mut Vec<(Path, Turns)> {
        let known = self.0.iter().position(|(identity, _)| *identity == object).and_then(|at| self.0.remove(at));
        if known.is_none() && self.0.len() >= OBJECTS {
            self.0.pop_front();
        }
        self.0.push_back(known.unwrap_or((object, Vec::new())));
        let last = self.0.len() - 1;
        &mut self.0[last].1
    }
}

/// Takes in what a place of an object is, and who wrote it last; `saved` is when the object was so, if nobody's write tells.
pub(super) fn see(object: &Object, path: &Path, turns: &mut Turns, saved: &str) {
    let entries = owner::entries(object.value());
    let last = entries.iter().filter(|entry| entry.holds(path)).max_by_key(|entry| entry.time);
    let (by, at) = last.map_or(("", saved), |entry| (entry.manager, entry.time));
    turns.see(Mark::of(body::at(object.value(), path)), by, if at.is_empty() { saved } else { at });
}
