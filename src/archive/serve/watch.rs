//! Watches: what is there at first, what a playing recording changes, and bookmarks.

use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::json;
use tokio::time::{Instant, Sleep, sleep_until};

use super::super::play::{Due, Slot, Stage};
use super::super::{ArchivedKind, Change};
use super::body::ArchiveBody;
use super::list::partial;
use super::request::{Form, Query};
use super::select::Selection;
use super::status::{Refusal, with_body};
use super::table;

const PIECE: usize = 256 << 10;
/// The API server sends a bookmark about once a minute.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// Where the client names no limit: the API server takes between 30 and 60 minutes.
const LONGEST: Duration = Duration::from_secs(1800);

/// A watch while it is open.
pub(super) struct WatchBody {
    stage: Arc<Stage>,
    kind: ArchivedKind,
    namespace: Option<String>,
    selection: Selection,
    form: Form,
    /// What is there at first; then, if asked for, the mark that this was all.
    first: std::vec::IntoIter<Slot>,
    mark: Option<u64>,
    /// The step from which on changes are sent, and the next one of this kind.
    at: usize,
    next: Option<Due>,
    /// What the client has seen of what it selects.
    seen: HashSet<(String, String)>,
    ends: Instant,
    bookmark: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

/// Answers a watch.
pub(super) fn watch(
    stage: &Arc<Stage>,
    kind: &ArchivedKind,
    namespace: Option<&str>,
    query: &Query,
    form: Form,
) -> Result<Response<ArchiveBody>, Refusal> {
    let selection = Selection::read(&kind.plural, query.get("fieldSelector"), query.get("labelSelector"))
        .map_err(|message| Refusal::BadRequest { message })?;
    let version = query.get("resourceVersion").unwrap_or("0");
    let version: u64 = version.parse().map_err(|_| Refusal::BadRequest { message: format!("invalid resource version \"{version}\"") })?;
    let all = query.is("sendInitialEvents");
    let (slots, present) = stage.list(kind, namespace);
    let has_first = all || version == 0;
    let at = stage.step_after(if has_first { present } else { version }, kind);
    let now = Instant::now();
    let ends = now + query.number("timeoutSeconds").map_or(LONGEST, Duration::from_secs).min(LONGEST * 2);
    let mut body = WatchBody {
        stage: Arc::clone(stage),
        kind: kind.clone(),
        namespace: namespace.map(str::to_owned),
        selection,
        form,
        first: if has_first { slots.clone() } else { Vec::new() }.into_iter(),
        mark: all.then_some(present),
        at,
        next: stage.next(at, kind, namespace),
        seen: HashSet::new(),
        ends,
        bookmark: query.is("allowWatchBookmarks").then(|| now + BOOKMARKS),
        timer: Box::pin(sleep_until(ends)),
    };
    if !has_first {
        body.note_seen(&slots);
    }
    Ok(with_body(StatusCode::OK, "application/json", ArchiveBody::watch(body)))
}

impl WatchBody {
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let piece = self.piece();
            match piece {
                Ok(piece) if piece.is_empty() => {}
                Ok(piece) => return Poll::Ready(Some(Ok(piece.into()))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            if Instant::now() >= self.ends {
                return Poll::Ready(None);
            }
            let wake = [Some(self.ends), self.bookmark, self.next.map(|due| due.at)].into_iter().flatten().min();
            self.timer.as_mut().reset(wake.unwrap_or(self.ends));
            if self.timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// What is to be sent by now: first what is there, then the mark, then changes, and bookmarks in between.
    fn piece(&mut self) -> io::Result<Vec<u8>> {
        let mut piece = Vec::new();
        while piece.len() < PIECE {
            let Some(slot) = self.first.next() else { break };
            self.event(slot, Change::Added, &mut piece)?;
        }
        if self.first.len() > 0 {
            return Ok(piece);
        }
        if let Some(version) = self.mark.take() {
            piece.extend_from_slice(&self.bookmark(version, "{\"k8s.io/initial-events-end\":\"true\"}"));
        }
        let now = Instant::now();
        while let Some(due) = self.next.filter(|due| due.at <= now && piece.len() < PIECE) {
            self.event(Slot::Step(due.step), self.stage.change(due.step), &mut piece)?;
            self.at = due.step + 1;
            self.next = self.stage.next(self.at, &self.kind, self.namespace.as_deref());
        }
        if let Some(at) = self.bookmark.filter(|at| *at <= now) {
            self.bookmark = Some(at + BOOKMARKS);
            let version = self.stage.version_at(self.at);
            piece.extend_from_slice(&self.bookmark(version, "{}"));
        }
        Ok(piece)
    }

    /// A change as this client sees it: what it does not select is not there for it.
    fn event(&mut self, slot: Slot, change: Change, piece: &mut Vec<u8>) -> io::Result<()> {
        let bytes = self.stage.bytes(slot)?;
        let change = if self.selection.is_everything() { Some(change) } else { self.seen_as(slot, change, &bytes) };
        let what = match change {
            None => return Ok(()),
            Some(Change::Added) => "ADDED",
            Some(Change::Modified) => "MODIFIED",
            Some(Change::Deleted) => "DELETED",
        };
        let object = match self.form {
            Form::Table => table::row_event(&self.stage, &self.kind, &bytes),
            Form::Partial => partial(&bytes),
            Form::Json | Form::Aggregated(_) | Form::Protobuf => bytes,
        };
        piece.extend_from_slice(format!("{{\"type\":\"{what}\",\"object\":").as_bytes());
        append_line(piece, &object);
        piece.extend_from_slice(b"}\n");
        Ok(())
    }

    fn seen_as(&mut self, slot: Slot, change: Change, bytes: &[u8]) -> Option<Change> {
        let entry = self.stage.entry(slot);
        let key = (entry.namespace.to_string(), entry.name.to_string());
        if change == Change::Deleted || !self.selection.takes(bytes) {
            return self.seen.remove(&key).then_some(Change::Deleted);
        }
        Some(if self.seen.insert(key) { Change::Added } else { Change::Modified })
    }

    fn note_seen(&mut self, slots: &[Slot]) {
        if self.selection.is_everything() {
            return;
        }
        for slot in slots {
            if self.stage.bytes(*slot).is_ok_and(|bytes| self.selection.takes(&bytes)) {
                let entry = self.stage.entry(*slot);
                self.seen.insert((entry.namespace.to_string(), entry.name.to_string()));
            }
        }
    }

    fn bookmark(&self, version: u64, annotations: &str) -> Vec<u8> {
        let (kind, api_version) = match self.form {
            Form::Table => ("Table".to_owned(), "meta.k8s.io/v1".to_owned()),
            Form::Partial => ("PartialObjectMetadata".to_owned(), "meta.k8s.io/v1".to_owned()),
            Form::Json | Form::Aggregated(_) | Form::Protobuf => (self.kind.name.to_string(), self.kind.api_version()),
        };
        let mut object = json!({"kind": kind, "apiVersion": api_version, "metadata": {"resourceVersion": version.to_string(), "creationTimestamp": null}});
        if annotations != "{}" {
            object["metadata"]["annotations"] = serde_json::from_str(annotations).unwrap_or_default();
        }
        format!("{}\n", json!({"type": "BOOKMARK", "object": object})).into_bytes()
    }
}

/// Appends an object without the blanks and line ends between its parts: a watch has one line for each event.
fn append_line(line: &mut Vec<u8>, object: &[u8]) {
    if memchr::memchr2(b'\n', b'\r', object).is_none() {
        return line.extend_from_slice(object);
    }
    let (mut inside, mut escaped) = (false, false);
    for byte in object {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' if !inside => {}
            _ => line.push(*byte),
        }
        inside ^= *byte == b'"' && !escaped;
        escaped = inside && *byte == b'\\' && !escaped;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_event_is_one_line() {
        let mut line = Vec::new();
        super::append_line(&mut line, b"{\n  \"a b\": \"x \\\" y\\\\\",\r\n\t\"c\": [1, 2]\n}");
        assert_eq!(String::from_utf8_lossy(&line), r#"{"a b":"x \" y\\","c":[1,2]}"#);
    }
}
