//! Events: one entry per object, reason and text, with Kubernetes' two spellings made one.

use super::pack::{pack_fields, packed_api};
use super::pull::{Pull, api};
use super::read::Reader;
use super::{Meta, Text, Time};

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

pack_fields!(Event { meta, kind, reason, message, about, source, host, count, first, last });

packed_api! {
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

api! {
    /// Both spellings as they come.
    pub struct Wire {
        metadata: Meta,
        #[serde(rename = "type")]
        kind: Text,
        reason: Text,
        message: Text,
        note: Text,
        involved_object: About,
        regarding: About,
        source: Source,
        deprecated_source: Source,
        reporting_component: Text,
        reporting_controller: Text,
        count: i64,
        deprecated_count: i64,
        series: Series,
        event_time: Option<Time>,
        first_timestamp: Option<Time>,
        last_timestamp: Option<Time>,
        deprecated_first_timestamp: Option<Time>,
        deprecated_last_timestamp: Option<Time>,
    }

    pub struct Source {
        component: Text,
        host: Text,
    }

    pub struct Series {
        count: i64,
        last_observed_time: Option<Time>,
    }
}

/// Event recorders write it before the newest text once ten texts were alike.
const COMBINED: &str = "(combined from similar events): ";

impl Pull for Event {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        Wire::pull(r).map(Into::into)
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
