//! Tables: objects as `kubectl get` shows them.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::ArchivedKind;
use super::super::play::{Slot, Stage};
use super::body::ArchiveBody;
use super::columns::{Column, Shown, columns};
use super::request::Query;
use super::status::answer;
use crate::model::Time;

/// A list, or one object, as a Table.
pub(super) fn list(stage: &Arc<Stage>, kind: &ArchivedKind, slots: &[Slot], meta: &Value, query: &Query) -> Response<ArchiveBody> {
    let columns = columns(&kind.group, &kind.plural);
    let included = Included::of(query);
    let rows: Vec<Value> = slots.iter().filter_map(|slot| row(columns, &stage.bytes(*slot).ok()?, included, stage.now())).collect();
    answer(StatusCode::OK, &table(columns, meta, &rows))
}

/// The Table with one row that stands for an object in a watch. The columns are said each time: nobody need remember them.
pub(super) fn row_event(stage: &Stage, kind: &ArchivedKind, bytes: &[u8]) -> Vec<u8> {
    let columns = columns(&kind.group, &kind.plural);
    let rows: Vec<Value> = row(columns, bytes, Included::Metadata, stage.now()).into_iter().collect();
    let version = rows.first().map(|row| row["object"]["metadata"]["resourceVersion"].clone()).unwrap_or_default();
    table(columns, &json!({"resourceVersion": version}), &rows).to_string().into_bytes()
}

/// What of the object goes along with its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Included {
    Nothing,
    Metadata,
    Object,
}

impl Included {
    fn of(query: &Query) -> Self {
        match query.get("includeObject") {
            Some("None") => Self::Nothing,
            Some("Object") => Self::Object,
            Some(_) | None => Self::Metadata,
        }
    }
}

fn table(columns: &[Column], meta: &Value, rows: &[Value]) -> Value {
    let definitions: Vec<Value> = columns
        .iter()
        .map(|column| json!({"name": column.name, "type": column.kind(), "format": if column.name == "Name" { "name" } else { "" }, "description": "", "priority": column.priority}))
        .collect();
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": definitions, "rows": rows})
}

fn row(columns: &[Column], bytes: &[u8], included: Included, now: Option<Time>) -> Option<Value> {
    let object: Value = serde_json::from_slice(bytes).ok()?;
    let shown = Shown { object: &object, now };
    let cells: Vec<Value> = columns.iter().map(|column| (column.cell)(&shown)).collect();
    let mut row = json!({"cells": cells});
    match included {
        Included::Nothing => {}
        Included::Metadata => {
            row["object"] = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
        }
        Included::Object => row["object"] = object,
    }
    Some(row)
}
