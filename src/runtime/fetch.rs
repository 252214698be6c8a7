//! Fetch: what is read only because somebody opened it: a whole object, its events, its logs. Redacted before anybody sees it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::app::{Content, Document, EventLine, Wanted};
use crate::archive::{Archive, Previous};
use crate::model::{Kind, ObjectRef};
use crate::redact::Redactor;

use super::snapshot;

/// Lines of a log that are shown.
const LOG_LINES: usize = 500;

/// Where whole objects come from.
#[derive(Clone)]
pub enum Store {
    Files(Arc<Archive>),
}

impl Store {
    /// The bytes of one object, or of all of a set; nothing where it is not there.
    ///
    /// # Errors
    /// The cluster cannot be read.
    pub async fn read(&self, wanted: &snapshot::Wanted) -> color_eyre::Result<Vec<Vec<u8>>> {
        match self {
            Self::Files(archive) => Ok(from_archive(archive, wanted)),
        }
    }

    /// Looks at these namespaces from now on, or all; files hold all of them already.
    pub fn look_at(&self, _namespaces: Option<BTreeSet<String>>) {
        match self {
            Self::Files(_) => {}
        }
    }
}

/// The document that was asked for; an error is a sentence for the screen.
///
/// # Errors
/// It does not exist, may not be read, or could not be had.
pub async fn fetch(store: &Store, wanted: &Wanted, redactor: &Redactor) -> Result<Content, String> {
    match store {
        Store::Files(archive) => from_files(archive, wanted, redactor),
    }
}

fn from_archive(archive: &Archive, wanted: &snapshot::Wanted) -> Vec<Vec<u8>> {
    let kind_of = |kind: &Kind| archive.kind(kind.row().group, kind.row().name);
    match wanted {
        snapshot::Wanted::Object(kind, namespace, name) => {
            kind_of(kind).and_then(|kind| archive.object(kind, namespace, name)).map(|o| o.bytes()).into_iter().collect()
        }
        // Kinds without a row lie in the archive under their own names.
        snapshot::Wanted::Set(Kind::Other, _) => {
            let others = archive.kinds().iter().filter(|kind| Kind::of(&kind.api_version(), &kind.name) == Kind::Other);
            others.flat_map(|kind| archive.objects(kind, None)).map(|o| o.bytes()).collect()
        }
        snapshot::Wanted::Set(kind, namespace) => {
            kind_of(kind).into_iter().flat_map(|kind| archive.objects(kind, namespace.as_deref())).map(|o| o.bytes()).collect()
        }
    }
}

fn from_files(archive: &Archive, wanted: &Wanted, redactor: &Redactor) -> Result<Content, String> {
    let object = ObjectRef::parse(&wanted.object).ok_or("that is no object")?;
    match wanted.document {
        Document::Yaml => bytes(archive, &object).and_then(|bytes| yaml(&bytes, redactor)),
        Document::Events => Ok(Content::Events(events(archive, &object, redactor))),
        Document::Logs => log(archive, wanted, Previous::No, redactor),
        Document::Previous => log(archive, wanted, Previous::Yes, redactor),
    }
}

fn bytes(archive: &Archive, object: &ObjectRef) -> Result<Vec<u8>, String> {
    let (kind, group) =
        object.kind.split_once('.').map_or_else(|| (&*object.kind, Kind::named(&object.kind).row().group), |(kind, group)| (kind, group));
    let found = archive.kind(group, kind).and_then(|kind| archive.object(kind, &object.namespace, &object.name));
    found.map(|archived| archived.bytes()).ok_or_else(|| format!("{object} is not in the input"))
}

/// An object as YAML, without managedFields, which nobody reads at three in the morning.
pub(super) fn yaml(json: &[u8], redactor: &Redactor) -> Result<Content, String> {
    let mut value: serde_json::Value = serde_json::from_slice(json).map_err(|e| format!("the object cannot be read: {e}"))?;
    redactor.object(&mut value);
    if let Some(metadata) = value.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let text = serde_saphyr::to_string(&value).map_err(|e| format!("the object cannot be written as YAML: {e}"))?;
    Ok(Content::Lines(text.lines().map(str::to_owned).collect()))
}

/// Events about an object, newest first, all reasons.
fn events(archive: &Archive, object: &ObjectRef, redactor: &Redactor) -> Vec<EventLine> {
    let kinds = [archive.kind("", "Event"), archive.kind("events.k8s.io", "Event")];
    let objects = kinds.into_iter().flatten().flat_map(|kind| archive.objects(kind, None));
    let mut lines: Vec<EventLine> = objects.filter_map(|archived| event_line(&archived.bytes(), object, redactor)).collect();
    lines.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.reason.cmp(&b.reason)));
    lines
}

/// One event as a line, if it is about this object.
pub(super) fn event_line(json: &[u8], object: &ObjectRef, redactor: &Redactor) -> Option<EventLine> {
    let read = crate::model::read_object(Kind::Event, json)?;
    let crate::model::Object::Event(event) = read else { return None };
    let about = &event.about;
    let kind = object.kind.split_once('.').map_or(&*object.kind, |(kind, _)| kind);
    let same = &*about.kind == kind && about.name == object.name && (about.namespace == object.namespace || object.namespace.is_empty());
    same.then(|| EventLine {
        at: event.last,
        kind: event.kind.to_string(),
        reason: event.reason.to_string(),
        message: redactor.text(&event.message).into_owned(),
        count: u32::try_from(event.count).unwrap_or(u32::MAX),
        source: event.source.to_string(),
    })
}

fn log(archive: &Archive, wanted: &Wanted, previous: Previous, redactor: &Redactor) -> Result<Content, String> {
    let pod = wanted.pod.as_deref().and_then(ObjectRef::parse).ok_or("no pod to read logs of")?;
    let container = wanted.container.as_deref().ok_or("no container to read logs of")?;
    let archived = archive.log(&pod.namespace, &pod.name, container, previous);
    let archived = archived.ok_or_else(|| {
        format!(
            "the input holds no {}log of container {container} of {}",
            if previous == Previous::Yes { "previous " } else { "" },
            pod.place()
        )
    })?;
    let value: serde_json::Value = serde_json::from_slice(&archived.bytes()).map_err(|e| format!("the log cannot be read: {e}"))?;
    let lines = value["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = lines.iter().filter_map(serde_json::Value::as_str);
    Ok(Content::Lines(tail(text.map(|line| redactor.text(line).into_owned()).collect())))
}

/// The last lines of a log.
pub(super) fn tail(mut lines: Vec<String>) -> Vec<String> {
    let over = lines.len().saturating_sub(LOG_LINES);
    lines.drain(..over);
    lines
}
