//! What all objects share: metadata, conditions, references.

use std::borrow::Cow;
use std::sync::Arc;

use super::pack::{pack_fields, packed_api};
use super::pull::Pull;
use super::read::Reader;
use super::{Pairs, Time};

/// Text as kept: up to 24 bytes stand where it stands.
pub type Text = compact_str::CompactString;

/// The parts of `metadata` that diagnosis reads.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize), serde(default))]
pub struct Meta {
    pub name: Text,
    pub namespace: Text,
    pub uid: Text,
    pub generation: i64,
    #[cfg_attr(test, serde(rename = "creationTimestamp"))]
    pub created: Option<Time>,
    /// When deletion was asked for plus the grace period: Kubernetes writes the sum.
    #[cfg_attr(test, serde(rename = "deletionTimestamp"))]
    pub deleted: Option<Time>,
    #[cfg_attr(test, serde(rename = "deletionGracePeriodSeconds"))]
    pub grace: i64,
    pub labels: Pairs,
    /// Short annotations only; last-applied copies and other documents are left out.
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::short_annotations"))]
    pub annotations: Pairs,
    pub finalizers: Vec<Text>,
    #[cfg_attr(test, serde(rename = "ownerReferences"))]
    pub owners: Vec<Owner>,
    /// The newest time at which somebody wrote something other than a subresource (from managedFields).
    #[cfg_attr(test, serde(rename = "managedFields", deserialize_with = "super::oracle::newest_change"))]
    pub changed: Option<Time>,
}

pack_fields!(Meta { name, namespace, uid, generation, created, deleted, grace, labels, annotations, finalizers, owners, changed });

impl Pull for Meta {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        if !r.object() {
            return None;
        }
        let mut it = Self::default();
        while let Some(key) = r.key() {
            match &*key {
                b"name" => it.name = Pull::pull(r).unwrap_or_default(),
                b"namespace" => it.namespace = Pull::pull(r).unwrap_or_default(),
                b"uid" => it.uid = Pull::pull(r).unwrap_or_default(),
                b"generation" => it.generation = r.int().unwrap_or_default(),
                b"creationTimestamp" => it.created = r.time(),
                b"deletionTimestamp" => it.deleted = r.time(),
                b"deletionGracePeriodSeconds" => it.grace = r.int().unwrap_or_default(),
                b"labels" => it.labels = Pull::pull(r).unwrap_or_default(),
                b"annotations" => it.annotations = annotations(r),
                b"finalizers" => it.finalizers = Pull::pull(r).unwrap_or_default(),
                b"ownerReferences" => it.owners = Pull::pull(r).unwrap_or_default(),
                b"managedFields" => it.changed = newest_change(r),
                _ => r.skip(),
            }
        }
        Some(it)
    }
}

impl Meta {
    /// The owner with `controller: true`, else the only owner.
    pub fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|o| o.controller).or(match self.owners.as_slice() {
            [only] => Some(only),
            _ => None,
        })
    }

    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key)
    }

    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key)
    }
}

packed_api! {
    /// An entry of `metadata.ownerReferences`.
    pub struct Owner {
        api_version: Text,
        kind: Text,
        name: Text,
        uid: Text,
        controller: bool,
    }

    /// An entry of `status.conditions`, of any kind.
    pub struct Condition {
        #[serde(rename = "type")]
        kind: Text,
        status: Text,
        reason: Text,
        message: Text,
        last_transition_time: Option<Time>,
        last_update_time: Option<Time>,
        last_heartbeat_time: Option<Time>,
    }
}

impl Condition {
    /// `status: "True"`.
    pub fn is_true(&self) -> bool {
        &*self.status == "True"
    }

    /// The condition of this type, if the list has one.
    pub fn find<'a>(list: &'a [Self], kind: &str) -> Option<&'a Self> {
        list.iter().find(|c| &*c.kind == kind)
    }
}

impl Owner {
    /// The API group: empty for core.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// An object by name: `Kind/namespace/name`, or `Kind.group/namespace/name` where the kind is not Kubernetes' own.
/// The same object is named again and again: a copy is the same piece of memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef(Arc<Named>);

/// What an object is called.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Named {
    pub kind: Cow<'static, str>,
    /// Empty for cluster-scoped objects.
    pub namespace: Text,
    pub name: Text,
}

impl std::ops::Deref for ObjectRef {
    type Target = Named;

    fn deref(&self) -> &Named {
        &self.0
    }
}

impl ObjectRef {
    pub fn new(kind: impl Into<Cow<'static, str>>, namespace: &str, name: &str) -> Self {
        Self(Arc::new(Named { kind: kind.into(), namespace: namespace.into(), name: name.into() }))
    }

    /// Reads `Kind/namespace/name`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/');
        let (kind, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self::new(kind.to_owned(), namespace, name))
    }

    /// `namespace/name`, or the name alone for a cluster-scoped object: how people write it.
    pub fn place(&self) -> String {
        if self.namespace.is_empty() { self.name.to_string() } else { format!("{}/{}", self.namespace, self.name) }
    }
}

impl std::fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// Documents in annotations (last-applied, Helm, dashboards) are long, may hold secrets, and explain nothing here.
pub(super) fn short(key: &str, value: &str) -> bool {
    value.len() <= 256 && !key.ends_with("last-applied-configuration")
}

/// The short annotations; the others are never copied.
pub(super) fn annotations(r: &mut Reader<'_>) -> Pairs {
    Pairs::pull_if(r, short).unwrap_or_default()
}

/// The newest time among entries without subresource: what a person or a controller wanted, not what was observed.
fn newest_change(r: &mut Reader<'_>) -> Option<Time> {
    let mut newest = None;
    if !r.list() {
        return newest;
    }
    while r.item() {
        let (mut time, mut subresource) = (None, false);
        if !r.object() {
            continue;
        }
        while let Some(key) = r.key() {
            match &*key {
                b"time" => time = r.time(),
                b"subresource" => subresource = r.raw().is_some_and(|s| !s.is_empty()),
                _ => r.skip(),
            }
        }
        newest = newest.max(time.filter(|_| !subresource));
    }
    newest
}
