//! Events: one entry per object, reason and text, with Kubernetes' two spellings made one.

use serde::Deserialize;

use super::{Meta, Text, Time, meta::or_default};

/// A core/v1 Event (events.k8s.io/v1 is the same object under another name).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    pub meta: Meta,
    /// `Warning` or `Normal`; not a severity to rely on.
    pub kind: Text,
    pub reason: Text,
    /// As received, without the prefix `(combined from similar events): `.
    pub message: Text,
    pub about: About,
    /// The component that wrote it: `kubelet`, `default-scheduler`.
    pub source: Text,
    /// The node whose kubelet wrote it.
    pub host: Text,
    pub count: i64,
    pub first: Option<Time>,
    /// When it happened last, as Kubernetes sorts events.
    pub last: Option<Time>,
}

api! {
    /// `involvedObject` or `regarding`.
    pub struct About {
        api_version: Text,
        kind: Text,
        namespace: Text,
        name: Text,
        uid: Text,
        field_path: Text,
    }
}

impl About {
    /// The container that `fieldPath` names: `spec.containers{web}`.
    pub fn container(&self) -> Option<&str> {
        self.field_path.split_once('{').map(|(_, rest)| rest.trim_end_matches('}'))
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    metadata: Meta,
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: Text,
    #[serde(deserialize_with = "or_default")]
    reason: Text,
    #[serde(deserialize_with = "or_default")]
    message: Text,
    #[serde(deserialize_with = "or_default")]
    note: Text,
    #[serde(deserialize_with = "or_default")]
    involved_object: About,
    #[serde(deserialize_with = "or_default")]
    regarding: About,
    #[serde(deserialize_with = "or_default")]
    source: Source,
    #[serde(deserialize_with = "or_default")]
    deprecated_source: Source,
    #[serde(deserialize_with = "or_default")]
    reporting_component: Text,
    #[serde(deserialize_with = "or_default")]
    reporting_controller: Text,
    #[serde(deserialize_with = "or_default")]
    count: i64,
    #[serde(deserialize_with = "or_default")]
    deprecated_count: i64,
    #[serde(deserialize_with = "or_default")]
    series: Series,
    #[serde(deserialize_with = "super::time::optional")]
    event_time: Option<Time>,
    #[serde(deserialize_with = "super::time::optional")]
    first_timestamp: Option<Time>,
    #[serde(deserialize_with = "super::time::optional")]
    last_timestamp: Option<Time>,
    #[serde(deserialize_with = "super::time::optional")]
    deprecated_first_timestamp: Option<Time>,
    #[serde(deserialize_with = "super::time::optional")]
    deprecated_last_timestamp: Option<Time>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Source {
    #[serde(deserialize_with = "or_default")]
    component: Text,
    #[serde(deserialize_with = "or_default")]
    host: Text,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    #[serde(deserialize_with = "or_default")]
    count: i64,
    #[serde(deserialize_with = "super::time::optional")]
    last_observed_time: Option<Time>,
}

/// Event recorders write it before the newest text once ten texts were alike.
const COMBINED: &str = "(combined from similar events): ";

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Wire::deserialize(d)?.into())
    }
}

impl From<Wire> for Event {
    fn from(w: Wire) -> Self {
        let message = first_of(w.message, w.note);
        let message = message.strip_prefix(COMBINED).map(Into::into).unwrap_or(message);
        let first = w.first_timestamp.or(w.deprecated_first_timestamp).or(w.event_time).or(w.metadata.created);
        let last = w.series.last_observed_time.or(w.last_timestamp).or(w.deprecated_last_timestamp).or(w.event_time).or(first);
        let component = first_of(w.source.component, w.deprecated_source.component);
        Self {
            kind: w.kind,
            reason: w.reason,
            message,
            about: if w.involved_object.kind.is_empty() { w.regarding } else { w.involved_object },
            source: first_of(component, first_of(w.reporting_component, w.reporting_controller)),
            host: first_of(w.source.host, w.deprecated_source.host),
            count: [w.series.count, w.count, w.deprecated_count].into_iter().find(|n| *n > 0).unwrap_or(1),
            first,
            last,
            meta: w.metadata,
        }
    }
}

fn first_of(a: Text, b: Text) -> Text {
    if a.is_empty() { b } else { a }
}
