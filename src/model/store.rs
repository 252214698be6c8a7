//! Store: the objects of one kind, packed; in their own shape only while somebody looks at them.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::intern::push;
use super::kept::Kept;
use super::squeeze::{Dictionary, Scratch};
use super::{Object, Owner, Text};

/// Below a kilobyte, as in the views of pods.
const PAGE: usize = 16;

type Page = [OnceLock<Object>; PAGE];

/// Objects in slots, found by namespace and name.
#[derive(Debug, Default)]
pub(super) struct Store {
    kept: Vec<Option<Kept>>,
    free: Vec<u32>,
    /// Slots by namespace, each in the order of names.
    spaces: BTreeMap<Text, Vec<u32>>,
    /// Objects in their own shape by slot, in pages that exist where somebody looked.
    pages: Vec<OnceLock<Box<Page>>>,
    open: AtomicUsize,
    dictionary: Dictionary,
}

impl Store {
    pub(super) fn find(&self, namespace: &str, name: &str) -> Option<u32> {
        let slots = self.spaces.get(namespace)?;
        self.search(slots, name).ok().map(|i| slots[i])
    }

    /// The object in a slot. It stays open until views are dropped.
    pub(super) fn get(&self, at: u32) -> Option<&Object> {
        let kept = self.kept(at)?;
        let page = self.pages.get(at as usize / PAGE)?.get_or_init(empty_page);
        Some(page[at as usize % PAGE].get_or_init(|| {
            self.open.fetch_add(1, Ordering::Relaxed);
            kept.open(&self.dictionary)
        }))
    }

    /// The object, unless it is plainly well by its own words.
    pub(super) fn get_unwell(&self, at: u32) -> Option<&Object> {
        self.kept(at).filter(|kept| !kept.is_well()).and_then(|_| self.get(at))
    }

    /// The object if it is the wanted one; what is not wanted is looked at and closed again.
    pub(super) fn get_if(&self, at: u32, wanted: impl Fn(&Object) -> bool) -> Option<&Object> {
        self.look(at, wanted).filter(|wanted| *wanted).and_then(|_| self.get(at))
    }

    /// What somebody makes of the object, which does not stay open for that.
    pub(super) fn look<T>(&self, at: u32, of: impl FnOnce(&Object) -> T) -> Option<T> {
        match self.view(at) {
            Some(object) => Some(of(object)),
            None => self.kept(at).map(|kept| of(&kept.open(&self.dictionary))),
        }
    }

    /// Who made the object in a slot; the outer `None` where there is none. It is not opened for that.
    pub(super) fn controller(&self, at: u32) -> Option<Option<Owner>> {
        match self.view(at) {
            Some(object) => Some(object.meta().controller().cloned()),
            None => self.kept(at).map(|kept| kept.controller(&self.dictionary)),
        }
    }

    /// Packs an object as a store would keep it: in a slot that is taken with the dictionary that was used there, so that equal objects
    /// have equal bytes.
    pub(super) fn pack(&mut self, at: Option<u32>, name: &str, object: &mut Object, scratch: &mut Scratch) -> Kept {
        let known = at.and_then(|at| self.kept(at));
        let dictionary = known.is_none_or(Kept::uses_dictionary).then_some(&self.dictionary);
        let kept = Kept::new(name, object, dictionary, scratch);
        if !self.dictionary.is_full() {
            self.dictionary.learn(&scratch.all);
        }
        kept
    }

    pub(super) fn kept(&self, at: u32) -> Option<&Kept> {
        self.kept.get(at as usize)?.as_ref()
    }

    /// Slots of a namespace or of all, by namespace and name.
    pub(super) fn slots(&self, namespace: Option<&str>) -> impl Iterator<Item = u32> + use<'_> {
        let one = namespace.and_then(|namespace| self.spaces.get(namespace));
        let all = namespace.is_none().then(|| self.spaces.values()).into_iter().flatten();
        one.into_iter().chain(all).flatten().copied()
    }

    pub(super) fn len(&self, namespace: Option<&str>) -> usize {
        match namespace {
            Some(namespace) => self.spaces.get(namespace).map_or(0, Vec::len),
            None => self.kept.len() - self.free.len(),
        }
    }

    /// Takes in an object that is not there yet.
    pub(super) fn add(&mut self, kept: Kept) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            push(&mut self.kept, None);
            self.pages.resize_with(self.kept.len().div_ceil(PAGE), OnceLock::new);
            self.kept.len() as u32 - 1
        });
        if !self.spaces.contains_key(kept.namespace()) {
            self.spaces.insert(kept.namespace().into(), Vec::new());
        }
        let place = self.spaces.get(kept.namespace()).map_or(0, |slots| self.search(slots, kept.name()).unwrap_or_else(|i| i));
        if let Some(slots) = self.spaces.get_mut(kept.namespace()) {
            slots.insert(place, at);
        }
        self.kept[at as usize] = Some(kept);
        at
    }

    /// Puts a newer state of the same object into a slot; gives back what was there.
    pub(super) fn replace(&mut self, at: u32, kept: Kept) -> Option<Object> {
        let view = self.close(at);
        let old = self.kept.get_mut(at as usize)?.replace(kept)?;
        Some(view.unwrap_or_else(|| old.open(&self.dictionary)))
    }

    pub(super) fn remove(&mut self, at: u32) -> Option<Object> {
        let view = self.close(at);
        let kept = self.kept(at)?;
        let namespace = Text::from(kept.namespace());
        let place = self.spaces.get(&*namespace).and_then(|slots| self.search(slots, kept.name()).ok());
        if let Some((slots, place)) = self.spaces.get_mut(&*namespace).zip(place) {
            slots.remove(place);
            if slots.is_empty() {
                self.spaces.remove(&*namespace);
            }
        }
        self.free.push(at);
        self.kept[at as usize].take().map(|kept| view.unwrap_or_else(|| kept.open(&self.dictionary)))
    }

    /// Leaves an object open that was open anyway.
    pub(super) fn show(&mut self, at: u32, object: Object) {
        let Some(page) = self.pages.get_mut(at as usize / PAGE) else { return };
        page.get_or_init(empty_page);
        if let Some(page) = page.get_mut() {
            page[at as usize % PAGE] = OnceLock::from(object);
            *self.open.get_mut() += 1;
        }
    }

    /// How many were opened since views were dropped last.
    pub(super) fn opened(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub(super) fn drop_views(&mut self) {
        if std::mem::take(self.open.get_mut()) > 0 {
            self.pages.iter_mut().for_each(|page| drop(page.take()));
        }
    }

    fn view(&self, at: u32) -> Option<&Object> {
        self.pages.get(at as usize / PAGE)?.get()?[at as usize % PAGE].get()
    }

    fn close(&mut self, at: u32) -> Option<Object> {
        self.pages.get_mut(at as usize / PAGE)?.get_mut()?[at as usize % PAGE].take()
    }

    fn search(&self, slots: &[u32], name: &str) -> Result<usize, usize> {
        slots.binary_search_by(|at| self.kept(*at).map_or(&[][..], Kept::name_bytes).cmp(name.as_bytes()))
    }
}

fn empty_page() -> Box<Page> {
    Box::new(std::array::from_fn(|_| OnceLock::new()))
}
