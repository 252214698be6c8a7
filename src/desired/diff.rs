//! The comparison of one object with what was asked for. Looks at nothing but its arguments.

use std::sync::Arc;

use serde_json::Value;

use super::accept::Approval;
use super::audit::Who;
use super::managers::{Class, Operation};
use super::object::{Identity, Object};
use super::owner::{self, Entry, Trail, Whole};
use super::path::Path;
use super::phenomena;
use super::place::{Cx, Place};
use super::risk::Risk;
use super::shape::{self, Shape};
use super::turns::Relapse;
use super::verdict::Verdict;
use super::{applied, tracking, walk};

/// An object beside what was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    pub object: Identity,
    /// Places that differ, as they follow one another in the objects.
    pub fields: Vec<FieldDiff>,
}

/// A place where the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDiff {
    pub path: Path,
    /// Redacted; `None` is absent.
    pub desired: Option<Value>,
    pub live: Option<Value>,
    pub verdict: Verdict,
    pub risk: Option<Risk>,
    pub owner: Option<Owner>,
    /// The evidence that decided.
    pub reason: String,
    pub told: Told,
}

/// What others tell of a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The rule that covers it, whatever its verdict.
    pub approval: Option<Approval>,
    /// The requests behind it, by the audit log.
    pub who: Option<Who>,
    /// It had been put right, and went wrong again.
    pub again: Option<Relapse>,
}

/// Who owns a field, by its own word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub manager: String,
    pub operation: Operation,
    pub subresource: String,
    /// The manager's last write; this field was written at or before it. "" if it is not told.
    pub time: String,
    pub class: Class,
}

/// What else is known beside the two sides.
#[derive(Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// What the deployed release of a package says: as good as an annotation with what was last applied.
    pub released: Option<&'a Object>,
    /// Other objects of the cluster: autoscalers that target it, the definition of its kind.
    pub related: &'a [Arc<Value>],
}

/// Compares an object with what was asked for.
pub fn diff(desired: &Object, live: &Object, evidence: Evidence<'_>) -> Diff {
    let entries = owner::entries(live.value());
    let copy = current_copy(live, &entries).filter(|copy| is_declaration(&copy.object, desired.value()));
    let own = tracking::own(&entries, desired.value(), live.value(), copy.map(|copy| copy.annotation));
    let applied = evidence.released.map(Object::value).or(copy.map(|copy| &copy.object));
    let object = live.identity();
    let version = |side: &'_ Object| side.value().get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (asked, stored) = (version(desired), version(live));
    let exact = shape::is_exact(&asked, &object.kind);
    let cx = Cx {
        group: &object.group,
        kind: &object.kind,
        desired: desired.value(),
        live: live.value(),
        own,
        applied,
        autoscaler: phenomena::autoscaler(evidence.related, (&object.kind, &object.namespace, &object.name)),
        is_custom: !shape::is_built_in(&object.group),
        is_exact: exact,
        wrong_keys: desired.wrong_keys(),
        entries,
    };
    let trail = Trail::root(&cx.entries);
    let kind = if exact { &asked } else { &stored };
    let root = Place {
        cx: &cx,
        path: Path::default(),
        shape: Shape::of(kind, &object.kind, evidence.related),
        desired: Some(desired.value()),
        live: Some(live.value()),
        applied,
        trail,
        desired_parent: None,
        live_parent: None,
        live_grandparent: None,
        applied_parent: None,
        is_duplicate: false,
        is_unlisted: false,
        whole: None,
    };
    let mut fields: Vec<FieldDiff> = converted(&asked, &stored).into_iter().chain(walk::walk(&root)).collect();
    fields.extend(stored_as_data(desired, live, &fields));
    Diff { object: live.identity(), fields }
}

/// The copy of the tool that still applies the object; one whose writer has gone is history.
fn current_copy<'a>(live: &'a Object, entries: &[Entry<'_>]) -> Option<&'a applied::Copy> {
    live.copies().iter().find(|copy| {
        let notes = Trail::root(entries).field("metadata", Whole::No).field("annotations", Whole::No);
        let writers: Vec<usize> = notes.field(copy.annotation, Whole::No).owners().collect();
        let own = tracking::own(entries, live.value(), live.value(), Some(copy.annotation));
        let is_current =
            |i: &usize| own.iter().any(|o| entries[*o].manager == entries[*i].manager) || entries[*i].manager == "kubectl-last-applied";
        writers.is_empty() || writers.iter().any(is_current)
    })
}

/// `kubectl replace` keeps a copy of what it sends, which may be the whole object as it was read: that declares nothing.
fn is_declaration(copy: &Value, desired: &Value) -> bool {
    let has_uid = |object: &Value| object.pointer("/metadata/uid").is_some();
    !has_uid(copy) || has_uid(desired)
}

/// The server converts between the versions of a kind, so another one is no difference.
fn converted(asked: &str, stored: &str) -> Option<FieldDiff> {
    (asked != stored && !asked.is_empty() && !stored.is_empty()).then(|| FieldDiff {
        path: Path::default().field("apiVersion"),
        desired: Some(asked.into()),
        live: Some(stored.into()),
        verdict: Verdict::Equal,
        risk: None,
        owner: None,
        reason: "another API version of the same kind; the server converts".to_owned(),
        told: Told::default(),
    })
}

/// What was written as text and is stored in base64.
fn stored_as_data(desired: &Object, live: &Object, fields: &[FieldDiff]) -> Vec<FieldDiff> {
    let data = Path::default().field("data");
    let get = |side: &Object, key: &str| side.value().get("data").and_then(|data| data.get(key)).cloned();
    let differs = |path: &Path| fields.iter().any(|field| field.path == *path || field.path == data);
    let equal = |key: &String| {
        let path = data.field(key);
        let row = FieldDiff {
            desired: get(desired, key),
            live: get(live, key),
            verdict: Verdict::Equal,
            risk: None,
            owner: None,
            reason: "stringData is stored as data".to_owned(),
            told: Told::default(),
            path,
        };
        (!differs(&row.path) && !live.string_data().contains(key)).then_some(row)
    };
    desired.string_data().iter().filter_map(equal).collect()
}

impl Owner {
    pub(super) fn of(entry: &Entry<'_>) -> Self {
        Self {
            manager: entry.manager.to_owned(),
            operation: entry.operation,
            subresource: entry.subresource.to_owned(),
            time: entry.time.to_owned(),
            class: entry.class,
        }
    }
}
