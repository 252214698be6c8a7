//! Lists and single objects: bytes of files, put together while they are sent.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::play::{Slot, Stage};
use super::super::{ArchivedKind, named};
use super::body::ArchiveBody;
use super::request::{Form, Query};
use super::select::Selection;
use super::status::{Refusal, with_body};
use super::table;

/// How much is put together before it is sent.
const PIECE: usize = 256 << 10;

/// A list that is read and sent piece by piece.
pub(super) struct ListBody {
    stage: Arc<Stage>,
    slots: std::vec::IntoIter<Slot>,
    is_first: bool,
    /// What comes before the objects and after them; taken when sent.
    head: Option<Vec<u8>>,
    tail: Option<&'static [u8]>,
    form: Form,
    size: Option<u64>,
}

impl ListBody {
    pub(super) fn size(&self) -> Option<u64> {
        self.size
    }

    pub(super) fn next(&mut self) -> Option<io::Result<Bytes>> {
        let mut piece = self.head.take().unwrap_or_default();
        piece.reserve(PIECE);
        while piece.len() < PIECE {
            let Some(slot) = self.slots.next() else {
                piece.extend_from_slice(self.tail.take().unwrap_or_default());
                break;
            };
            if !std::mem::take(&mut self.is_first) {
                piece.push(b',');
            }
            if let Err(error) = self.append(slot, &mut piece) {
                return Some(Err(error));
            }
        }
        (!piece.is_empty()).then(|| Ok(Bytes::from(piece)))
    }

    fn append(&self, slot: Slot, piece: &mut Vec<u8>) -> io::Result<()> {
        match self.form {
            Form::Partial => piece.extend_from_slice(&partial(&self.stage.bytes(slot)?)),
            Form::Json | Form::Table | Form::Aggregated(_) | Form::Protobuf => self.stage.append(slot, piece)?,
        }
        Ok(())
    }
}

impl Stage {
    /// Appends an object to a list: as it lies in the file, unless its secrets must go.
    fn append(&self, slot: Slot, to: &mut Vec<u8>) -> io::Result<()> {
        if self.hides.is_some() {
            to.extend_from_slice(&self.bytes(slot)?);
            return Ok(());
        }
        self.read(slot, to)
    }

    /// Appends the bytes of an object as they lie in the file.
    fn read(&self, slot: Slot, to: &mut Vec<u8>) -> io::Result<()> {
        let span = self.entry(slot).span;
        let length = usize::try_from(span.len()).unwrap_or(usize::MAX);
        let start = to.len();
        to.resize(start + length, 0);
        let read = self.archive.sources[span.source as usize].read_at(&mut to[start..], span.start)?;
        if read < length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was served"));
        }
        Ok(())
    }

    /// The object by itself, with kind and API version.
    pub(super) fn bytes(&self, slot: Slot) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(slot, &mut bytes)?;
        let entry = self.entry(slot);
        if let Some(kind) = self.archive.kinds.get(entry.kind as usize).filter(|_| entry.is_bare) {
            bytes = named(kind, &bytes);
        }
        match &self.hides {
            Some(redactor) => {
                redactor.object_bytes(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the object is no JSON"))
            }
            None => Ok(bytes),
        }
    }
}

/// Answers a list.
pub(super) fn list(
    stage: &Arc<Stage>,
    kind: &ArchivedKind,
    namespace: Option<&str>,
    query: &Query,
    form: Form,
) -> Result<Response<ArchiveBody>, Refusal> {
    let selection = Selection::read(&kind.plural, query.get("fieldSelector"), query.get("labelSelector"))
        .map_err(|message| Refusal::BadRequest { message })?;
    let (mut slots, version) = stage.list(kind, namespace);
    if let Some(name) = selection.only_name() {
        slots.retain(|slot| *stage.entry(*slot).name == *name);
    }
    if let Some(after) = query.get("continue").map(after) {
        let after = after.ok_or_else(|| Refusal::BadRequest { message: "continue key is not valid".to_owned() })?;
        // They are in the order of namespace and name.
        slots.drain(..slots.partition_point(|slot| (&*stage.entry(*slot).namespace, &*stage.entry(*slot).name) <= after));
    }
    let limit = query.number("limit").and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let mut meta = json!({"resourceVersion": version.to_string()});
    let rest = if selection.is_everything() { slots.len().saturating_sub(limit) } else { page(stage, &selection, &mut slots, limit)? };
    slots.truncate(limit);
    if let Some(last) = slots.last().map(|slot| stage.entry(*slot)).filter(|_| rest > 0) {
        meta["continue"] = json!(format!("{}~{}", last.namespace, last.name));
        if selection.is_everything() {
            meta["remainingItemCount"] = json!(rest);
        }
    }
    if form == Form::Table {
        return Ok(table::list(stage, kind, &slots, &meta, query));
    }
    Ok(with_body(StatusCode::OK, "application/json", ArchiveBody::list(body(stage, kind, slots, &meta, form))))
}

/// Keeps the first objects that are selected, up to the limit; says whether more may come.
fn page(stage: &Stage, selection: &Selection, slots: &mut Vec<Slot>, limit: usize) -> Result<usize, Refusal> {
    let mut kept = Vec::new();
    let all = std::mem::take(slots);
    let count = all.len();
    let mut seen = 0;
    for slot in all {
        if kept.len() == limit {
            break;
        }
        seen += 1;
        let bytes = stage.bytes(slot).map_err(|error| Refusal::BadRequest { message: error.to_string() })?;
        if selection.takes(&bytes) {
            kept.push(slot);
        }
    }
    *slots = kept;
    Ok(count - seen)
}

/// `namespace~name` of the last object that was sent.
fn after(token: &str) -> Option<(&str, &str)> {
    token.split_once('~')
}

fn body(stage: &Arc<Stage>, kind: &ArchivedKind, slots: Vec<Slot>, meta: &Value, form: Form) -> ListBody {
    let (name, api_version) = match form {
        Form::Partial => ("PartialObjectMetadataList".to_owned(), "meta.k8s.io/v1".to_owned()),
        Form::Json | Form::Table | Form::Aggregated(_) | Form::Protobuf => (format!("{}List", kind.name), kind.api_version()),
    };
    let head = format!("{{\"kind\":\"{name}\",\"apiVersion\":\"{api_version}\",\"metadata\":{meta},\"items\":[").into_bytes();
    let tail = b"]}\n";
    let objects: u64 = slots.iter().map(|slot| stage.entry(*slot).span.len()).sum();
    let size = (form == Form::Json && stage.hides.is_none())
        .then(|| head.len() as u64 + objects + slots.len().saturating_sub(1) as u64 + tail.len() as u64);
    ListBody { stage: Arc::clone(stage), slots: slots.into_iter(), is_first: true, head: Some(head), tail: Some(tail), form, size }
}

/// Answers one object.
pub(super) fn get(
    stage: &Arc<Stage>,
    kind: &ArchivedKind,
    namespace: &str,
    name: &str,
    query: &Query,
    form: Form,
) -> Result<Response<ArchiveBody>, Refusal> {
    let not_found = || Refusal::NotFound { plural: kind.plural.clone(), group: kind.group.to_string(), name: name.to_owned() };
    let slot = stage.get(kind, namespace, name).ok_or_else(not_found)?;
    let bytes = stage.bytes(slot).map_err(|error| Refusal::BadRequest { message: error.to_string() })?;
    Ok(match form {
        Form::Table => table::list(stage, kind, &[slot], &json!({}), query),
        Form::Partial => with_body(StatusCode::OK, "application/json", ArchiveBody::whole(partial(&bytes).into())),
        Form::Json | Form::Aggregated(_) | Form::Protobuf => {
            with_body(StatusCode::OK, "application/json", ArchiveBody::whole(bytes.into()))
        }
    })
}

/// The metadata of an object, in the envelope that stands for "nothing else was asked for".
pub(super) fn partial(bytes: &[u8]) -> Vec<u8> {
    #[derive(serde::Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        metadata: Option<&'a serde_json::value::RawValue>,
    }
    let metadata = serde_json::from_slice::<Outer<'_>>(bytes).ok().and_then(|outer| outer.metadata);
    let metadata = metadata.map_or("{}", serde_json::value::RawValue::get);
    format!("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{metadata}}}").into_bytes()
}
