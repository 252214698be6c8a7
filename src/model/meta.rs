//! What all objects share: metadata, conditions, references.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::Time;

/// Text as kept: no spare capacity.
pub type Text = Box<str>;

/// `null` is what Go writes for an empty list or map: it counts as absent.
pub(super) fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

/// The parts of `metadata` that diagnosis reads.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Meta {
    #[serde(deserialize_with = "or_default")]
    pub name: Text,
    #[serde(deserialize_with = "or_default")]
    pub namespace: Text,
    #[serde(deserialize_with = "or_default")]
    pub uid: Text,
    #[serde(rename = "resourceVersion", deserialize_with = "or_default")]
    pub version: Text,
    #[serde(deserialize_with = "or_default")]
    pub generation: i64,
    #[serde(rename = "creationTimestamp", deserialize_with = "super::time::optional")]
    pub created: Option<Time>,
    /// When deletion was asked for plus the grace period: Kubernetes writes the sum.
    #[serde(rename = "deletionTimestamp", deserialize_with = "super::time::optional")]
    pub deleted: Option<Time>,
    #[serde(rename = "deletionGracePeriodSeconds", deserialize_with = "or_default")]
    pub grace: i64,
    #[serde(deserialize_with = "or_default")]
    pub labels: BTreeMap<Text, Text>,
    /// Short annotations only; last-applied copies and other documents are left out.
    #[serde(deserialize_with = "short_annotations")]
    pub annotations: BTreeMap<Text, Text>,
    #[serde(deserialize_with = "or_default")]
    pub finalizers: Vec<Text>,
    #[serde(rename = "ownerReferences", deserialize_with = "or_default")]
    pub owners: Vec<Owner>,
    /// The newest time at which somebody wrote something other than a subresource (from managedFields).
    #[serde(rename = "managedFields", deserialize_with = "newest_change")]
    pub changed: Option<Time>,
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
        self.labels.get(key).map(|v| &**v)
    }

    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(|v| &**v)
    }
}

api! {
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    pub kind: Cow<'static, str>,
    /// Empty for cluster-scoped objects.
    pub namespace: Text,
    pub name: Text,
}

impl ObjectRef {
    pub fn new(kind: impl Into<Cow<'static, str>>, namespace: &str, name: &str) -> Self {
        Self { kind: kind.into(), namespace: namespace.into(), name: name.into() }
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
const LONGEST_ANNOTATION: usize = 256;

fn short_annotations<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<Text, Text>, D::Error> {
    let all = Option::<BTreeMap<Cow<'_, str>, Cow<'_, str>>>::deserialize(d)?.unwrap_or_default();
    let short = all.into_iter().filter(|(k, v)| v.len() <= LONGEST_ANNOTATION && !k.ends_with("last-applied-configuration"));
    Ok(short.map(|(k, v)| (k.into(), v.into())).collect())
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ManagedEntry {
    #[serde(deserialize_with = "super::time::optional")]
    time: Option<Time>,
    #[serde(deserialize_with = "or_default")]
    subresource: Text,
}

fn newest_change<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Time>, D::Error> {
    let entries = Option::<Vec<ManagedEntry>>::deserialize(d)?.unwrap_or_default();
    Ok(entries.iter().filter(|e| e.subresource.is_empty()).filter_map(|e| e.time).max())
}
