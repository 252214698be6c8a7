//! Kept: one object as few bytes. What it is called stands in front and is read without opening it.

use std::cell::RefCell;

use super::pack::{Pack, put, take};
use super::squeeze::{Dictionary, Scratch, squeeze, unsqueeze};
use super::{Object, Owner};

/// Flags, a mark if there is one, name, namespace, and the rest of the object, squeezed. With the same dictionary equal bytes are equal objects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept(Box<[u8]>);

thread_local! {
    /// Where objects are unsqueezed: thousands are opened one after another, and each needs some kilobytes for a moment.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

const MOST_ROOM: usize = 64 << 10;

/// A dictionary was used.
const SHARES: u8 = 1;
const WELL: u8 = 2;
const MARKED: u8 = 4;
const DOWN: u8 = 8;

impl Kept {
    /// Packs an object under the name that its store knows it by. What is kept has no spare capacity and was never moved.
    pub(super) fn new(name: &str, object: &mut Object, dictionary: Option<&Dictionary>, scratch: &mut Scratch) -> Self {
        let dictionary = dictionary.filter(|dictionary| dictionary.is_full());
        scratch.out.clear();
        let mark = object.serving_mark();
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let states = flag(object.is_well(), WELL) | flag(object.is_down(), DOWN);
        scratch.out.push(flag(dictionary.is_some(), SHARES) | flag(mark.is_some(), MARKED) | states);
        mark.iter().for_each(|mark| scratch.out.extend_from_slice(&mark.to_le_bytes()));
        put_key(&mut scratch.out, name);
        put_key(&mut scratch.out, &object.meta().namespace);
        scratch.all.clear();
        scratch.all.extend_from_slice(dictionary.map_or(&[], Dictionary::bytes));
        scratch.all.extend_from_slice(&scratch.out);
        let start = scratch.all.len();
        let meta = object.meta_mut();
        let own = std::mem::take(&mut meta.namespace);
        let named = (&*meta.name == name).then(|| std::mem::take(&mut meta.name));
        object.pack(&mut scratch.all);
        let meta = object.meta_mut();
        meta.namespace = own;
        named.into_iter().for_each(|name| meta.name = name);
        squeeze(dictionary, start, scratch);
        Self(scratch.out.as_slice().into())
    }

    /// The object in its own shape.
    pub(super) fn open(&self, dictionary: &Dictionary) -> Object {
        let mut object = self.read(dictionary, Object::unpack);
        let mut keys = self.keys();
        let (name, namespace) = (take_key(&mut keys), take_key(&mut keys));
        let meta = object.meta_mut();
        meta.namespace = namespace.into();
        if meta.name.is_empty() {
            meta.name = name.into();
        }
        object
    }

    /// Who made it. Nothing but its metadata is unpacked.
    pub(super) fn controller(&self, dictionary: &Dictionary) -> Option<Owner> {
        self.read(dictionary, Object::unpack_meta).controller().cloned()
    }

    /// What somebody reads in the packed object.
    fn read<T>(&self, dictionary: &Dictionary, of: impl FnOnce(&mut &[u8]) -> T) -> T {
        let mut rest = self.keys();
        take_key(&mut rest);
        take_key(&mut rest);
        let front = &self.0[..self.0.len() - rest.len()];
        ROOM.with_borrow_mut(|all| {
            all.clear();
            all.shrink_to(MOST_ROOM);
            all.extend_from_slice(if self.uses_dictionary() { dictionary.bytes() } else { &[] });
            all.extend_from_slice(front);
            let start = all.len();
            unsqueeze(rest, all);
            of(&mut &all[start..])
        })
    }

    pub(super) fn uses_dictionary(&self) -> bool {
        self.has(SHARES)
    }

    /// See [`Object::is_well`].
    pub(super) fn is_well(&self) -> bool {
        self.has(WELL)
    }

    /// See [`Object::is_down`].
    pub(super) fn is_down(&self) -> bool {
        self.has(DOWN)
    }

    fn has(&self, flag: u8) -> bool {
        self.0.first().is_some_and(|flags| flags & flag != 0)
    }

    pub(super) fn name(&self) -> &str {
        take_key(&mut self.keys())
    }

    /// The same for comparing: texts have the order of their bytes.
    pub(super) fn name_bytes(&self) -> &[u8] {
        take_bytes(&mut self.keys())
    }

    pub(super) fn namespace(&self) -> &str {
        let mut input = self.keys();
        take_key(&mut input);
        take_key(&mut input)
    }

    /// See [`Object::serving_mark`].
    pub(super) fn mark(&self) -> Option<u64> {
        let bytes = self.0.get(1..).filter(|_| self.has(MARKED))?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    fn keys(&self) -> &[u8] {
        self.0.get(if self.has(MARKED) { 9 } else { 1 }..).unwrap_or_default()
    }
}

impl Object {
    /// Plainly well by its own words, of the kinds that come by the thousand: there is nothing to say of it. Nothing else is meant by
    /// false.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds are few, or their own words do not tell")]
    pub fn is_well(&self) -> bool {
        let is_well = match self {
            Self::Node(o) => o.is_well(),
            Self::ReplicaSet(o) => o.meta.controller().is_some(),
            Self::PersistentVolumeClaim(o) => &*o.status.phase == "Bound" && o.status.conditions.is_empty(),
            Self::PersistentVolume(o) => matches!(&*o.status.phase, "Bound" | "Available"),
            Self::Deployment(o) => o.is_complete(),
            Self::StatefulSet(o) => o.is_complete(),
            Self::DaemonSet(o) => o.is_complete(),
            Self::Job(o) => o.is_complete(),
            Self::Event(_) | Self::EndpointSlice(_) | Self::Lease(_) => true,
            _ => false,
        };
        is_well && self.meta().deleted.is_none()
    }
}

impl Object {
    /// A workload that wants pods and has none that is ready.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what makes no pods wants none")]
    pub fn is_down(&self) -> bool {
        let (desired, ready) = match self {
            Self::Deployment(o) => (o.desired(), o.status.ready_replicas),
            Self::StatefulSet(o) => (o.desired(), o.status.ready_replicas),
            Self::DaemonSet(o) => (o.desired(), o.status.number_ready),
            Self::Job(o) => (o.desired(), o.status.ready),
            Self::ReplicaSet(o) => (o.desired(), o.status.ready_replicas),
            _ => (0, 0),
        };
        desired > 0 && ready == 0
    }
}

fn put_key(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn take_key<'a>(input: &mut &'a [u8]) -> &'a str {
    std::str::from_utf8(take_bytes(input)).unwrap_or_default()
}

fn take_bytes<'a>(input: &mut &'a [u8]) -> &'a [u8] {
    let length = take(input) as usize;
    let (bytes, rest) = input.split_at_checked(length).unwrap_or((input, &[]));
    *input = rest;
    bytes
}
