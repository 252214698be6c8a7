//! Read: what a look-up depended on, and what a change touches. Equal reads meet.

use super::Text;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;

use super::Kind;

/// A dependency, as a hash of what was looked at. Two that collide cost one judgement too many, never one too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(u64);

/// A table by names, which are short texts: its hasher is quicker with those than that of the standard library, and seeded as well.
pub type HashMap<K, V> = std::collections::HashMap<K, V, DefaultHashBuilder>;

/// Reads, each once.
pub type Reads = HashSet<Read, BuildHasherDefault<Hashed>>;

/// For tables of reads, which are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// What was looked at. A snapshot holds what the judges of its blockers looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Look<S> {
    /// One object: kind, namespace, name.
    Object(Kind, S, S),
    /// All objects of a kind, in a namespace or everywhere.
    Set(Kind, Option<S>),
    /// Pods whose controller has this uid.
    PodsOf(S),
    /// Pods bound to this node.
    PodsOn(S),
    /// Events about an object: the name of its kind, namespace, name.
    EventsOf(S, S, S),
    /// Objects of a kind whose controller has this uid.
    Owned(Kind, S),
    /// EndpointSlices of a Service: namespace, name.
    SlicesOf(S, S),
    /// How much of a kind we may see.
    Coverage(Kind),
}

impl Look<&str> {
    /// The same, kept apart from what it was borrowed from.
    pub fn to_owned(&self) -> Look<Text> {
        match *self {
            Self::Object(kind, namespace, name) => Look::Object(kind, namespace.into(), name.into()),
            Self::Set(kind, namespace) => Look::Set(kind, namespace.map(Into::into)),
            Self::PodsOf(uid) => Look::PodsOf(uid.into()),
            Self::PodsOn(node) => Look::PodsOn(node.into()),
            Self::EventsOf(kind, namespace, name) => Look::EventsOf(kind.into(), namespace.into(), name.into()),
            Self::Owned(kind, uid) => Look::Owned(kind, uid.into()),
            Self::SlicesOf(namespace, service) => Look::SlicesOf(namespace.into(), service.into()),
            Self::Coverage(kind) => Look::Coverage(kind),
        }
    }
}

impl Read {
    /// One object by name, whether it exists or not.
    pub fn object(kind: Kind, namespace: &str, name: &str) -> Self {
        Self::of(&Look::Object(kind, namespace, name))
    }

    /// All objects of a kind in a namespace, or in all.
    pub fn set(kind: Kind, namespace: Option<&str>) -> Self {
        Self::of(&Look::Set(kind, namespace))
    }

    /// Pods whose controller has this uid.
    pub fn pods_of(uid: &str) -> Self {
        Self::of(&Look::PodsOf(uid))
    }

    /// Pods bound to a node.
    pub fn pods_on(node: &str) -> Self {
        Self::of(&Look::PodsOn(node))
    }

    /// Events about an object.
    pub fn events_of(kind: &str, namespace: &str, name: &str) -> Self {
        Self::of(&Look::EventsOf(kind, namespace, name))
    }

    /// Objects of a kind whose controller has this uid.
    pub fn owned(kind: Kind, uid: &str) -> Self {
        Self::of(&Look::Owned(kind, uid))
    }

    /// EndpointSlices of a Service.
    pub fn slices_of(namespace: &str, service: &str) -> Self {
        Self::of(&Look::SlicesOf(namespace, service))
    }

    /// How much of a kind we may see.
    pub fn coverage(kind: Kind) -> Self {
        Self::of(&Look::Coverage(kind))
    }

    pub(super) fn hash(self) -> u64 {
        self.0
    }

    /// The same together with something else.
    pub(super) fn and(self, other: impl Hash) -> u64 {
        hasher().hash_one((self.0, other))
    }

    /// The dependency that a look makes.
    pub fn of(look: &Look<&str>) -> Self {
        Self(hasher().hash_one(look))
    }
}

/// A hash of anything, the same wherever it is asked for.
pub fn hash_of(value: &impl Hash) -> u64 {
    hasher().hash_one(value)
}

/// One for the whole process, so that equal things are equal everywhere.
fn hasher() -> &'static DefaultHashBuilder {
    static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);
    &HASHER
}
