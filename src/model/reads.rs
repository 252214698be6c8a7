//! Read: what a look-up depended on, and what a change touches. Equal reads meet.

use std::hash::{Hash, Hasher};

use super::Kind;

/// A dependency, as a hash of what was looked at. Two that collide cost one judgement too many, never one too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(u64);

#[derive(Hash)]
enum Tag<'a> {
    Object(Kind, &'a str, &'a str),
    Set(Kind, Option<&'a str>),
    PodsOf(&'a str),
    PodsOn(&'a str),
    EventsOf(&'a str, &'a str, &'a str),
    Owned(Kind, &'a str),
    Coverage(Kind),
}

impl Read {
    /// One object by name, whether it exists or not.
    pub fn object(kind: Kind, namespace: &str, name: &str) -> Self {
        Self::of(&Tag::Object(kind, namespace, name))
    }

    /// All objects of a kind in a namespace, or in all.
    pub fn set(kind: Kind, namespace: Option<&str>) -> Self {
        Self::of(&Tag::Set(kind, namespace))
    }

    /// Pods whose controller has this uid.
    pub fn pods_of(uid: &str) -> Self {
        Self::of(&Tag::PodsOf(uid))
    }

    /// Pods bound to a node.
    pub fn pods_on(node: &str) -> Self {
        Self::of(&Tag::PodsOn(node))
    }

    /// Events about an object.
    pub fn events_of(kind: &str, namespace: &str, name: &str) -> Self {
        Self::of(&Tag::EventsOf(kind, namespace, name))
    }

    /// Objects of a kind whose controller has this uid.
    pub fn owned(kind: Kind, uid: &str) -> Self {
        Self::of(&Tag::Owned(kind, uid))
    }

    /// How much of a kind we may see.
    pub fn coverage(kind: Kind) -> Self {
        Self::of(&Tag::Coverage(kind))
    }

    fn of(tag: &Tag<'_>) -> Self {
        let mut hasher = std::hash::DefaultHasher::new();
        tag.hash(&mut hasher);
        Self(hasher.finish())
    }
}
