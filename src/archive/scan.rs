//! Finds the objects in a stretch of JSON: single ones, lists, lists in lists, arrays, and the events of a recording.

use std::time::Duration;

use crate::model::Time;

use super::cursor::{Broken, Cursor, Parsed};
use super::source::{Source, Span};

/// What a file holds at one place.
#[derive(Debug)]
pub(super) enum Piece {
    Object(Found),
    /// A list; its objects, which lie deeper, were handed over before. Its kind says what they are where they do not.
    List {
        head: Head,
        objects: usize,
        depth: usize,
    },
    /// An event of a recording.
    Step {
        what: String,
        at: Option<At>,
        object: Found,
    },
    /// Something that is no object, with the reason why it was left out.
    Odd {
        start: u64,
        why: String,
    },
    /// What `kubectl cluster-info dump` prints of a container's log.
    Log {
        place: String,
        lines: Vec<String>,
    },
}

/// When a step of a recording came; many may come in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub time: Time,
    pub millis: u16,
}

impl At {
    fn parse(text: &str) -> Option<Self> {
        let time = Time::parse(text)?;
        let fraction: String = text
            .get(19..)?
            .strip_prefix('.')
            .unwrap_or_default()
            .chars()
            .take_while(char::is_ascii_digit)
            .chain("000".chars())
            .take(3)
            .collect();
        Some(Self { time, millis: fraction.parse().unwrap_or(0) })
    }

    /// How long after an earlier moment this is; nothing if it was before.
    pub(super) fn since(self, earlier: Self) -> Duration {
        let millis = self.time.since(earlier.time) * 1000 + i64::from(self.millis) - i64::from(earlier.millis);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// One object and where its bytes lie.
#[derive(Debug)]
pub(super) struct Found {
    pub span: Span,
    pub head: Head,
    /// How deep it lies in lists.
    pub depth: usize,
}

/// What an object says of itself.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub version: u64,
    /// The newest time in it at which something happened; never a time to come.
    pub newest: Option<Time>,
    /// `holdup.dev/…` annotations.
    pub notes: Vec<(String, String)>,
    /// Levels of maps and lists in it.
    pub levels: usize,
    /// Of a Log: its container, and whether it is that of the run before.
    pub container: String,
    pub previous: bool,
}

/// Reads a stretch of a source and hands over what it finds, in order.
pub(super) fn scan(source: &Source, span: Span, found: &mut dyn FnMut(Piece)) {
    let mut cursor = Cursor::new(source, span.start, span.end);
    while let Some(byte) = cursor.skip_blanks() {
        let start = cursor.offset();
        match byte {
            b'{' | b'[' => {
                let mut scan = Scan { source: span.source, found, depth: 0 };
                if scan.value(&mut cursor).is_err() {
                    found(Piece::Odd { start, why: broken(&mut cursor) });
                    if !cursor.resume_after(start) {
                        return;
                    }
                }
            }
            // A byte-order mark, a comma between values of a hand-made file.
            0xEF | 0xBB | 0xBF | b',' => cursor.seek(start + 1),
            _ => line(&mut cursor, found),
        }
    }
}

/// A line that is no JSON: the mark between documents, the beginning of a log, or garbage.
fn line(cursor: &mut Cursor<'_>, found: &mut dyn FnMut(Piece)) {
    let start = cursor.offset();
    let line = cursor.line();
    if let Some(place) = line.strip_prefix(LOG_STARTS) {
        let place = String::from_utf8_lossy(place).trim_end_matches([' ', '=']).to_owned();
        let mut lines = Vec::new();
        while cursor.peek().is_some() {
            let line = cursor.line();
            if line.starts_with(LOG_ENDS) {
                break;
            }
            lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        found(Piece::Log { place, lines });
    } else if line != b"---" {
        let text = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
        found(Piece::Odd { start, why: format!("is neither JSON nor YAML: {text}") });
    }
}

/// `==== START logs for container web of pod shop/cart ====`
pub(super) const LOG_STARTS: &[u8] = b"==== START logs for container ";
const LOG_ENDS: &[u8] = b"==== END logs for container ";

fn broken(cursor: &mut Cursor<'_>) -> String {
    match cursor.peek() {
        None => "ends in the middle of an object; what was complete before is used".to_owned(),
        Some(_) => "is no valid JSON here; reading goes on at the next line that starts an object".to_owned(),
    }
}

struct Scan<'f> {
    source: u32,
    found: &'f mut dyn FnMut(Piece),
    depth: usize,
}

/// What was found out about a value while it was read.
#[derive(Default)]
struct Notes {
    head: Head,
    objects: Option<usize>,
    what: Option<String>,
    at: Option<At>,
    inner: Option<(Span, Head)>,
}

impl Scan<'_> {
    fn value(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        match cursor.skip_blanks() {
            Some(b'{') => self.object(cursor),
            Some(b'[') => self.array(cursor).map(drop),
            Some(_) => {
                let start = cursor.offset();
                cursor.skip()?;
                (self.found)(Piece::Odd { start, why: "is no object".to_owned() });
                Ok(())
            }
            None => Err(Broken),
        }
    }

    fn array(&mut self, cursor: &mut Cursor<'_>) -> Parsed<usize> {
        let mut count = 0;
        cursor.items(|cursor| {
            count += 1;
            self.value(cursor)
        })?;
        Ok(count)
    }

    fn list(&mut self, cursor: &mut Cursor<'_>) -> Parsed<usize> {
        self.depth += 1;
        let count = self.array(cursor)?;
        self.depth -= 1;
        Ok(count)
    }

    fn object(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        let start = cursor.offset();
        let mut notes = Notes::default();
        let above = cursor.count_levels();
        cursor.fields(|cursor, key| match key {
            "items" if cursor.skip_blanks() == Some(b'[') => self.list(cursor).map(|count| notes.objects = Some(count)),
            "items" => cursor.skip().map(|()| notes.objects = Some(0)),
            "type" => cursor.text().map(|text| notes.what = text),
            "at" => cursor.text().map(|text| notes.at = text.as_deref().and_then(At::parse)),
            "object" if cursor.skip_blanks() == Some(b'{') => {
                let start = cursor.offset();
                let head = head(cursor)?;
                notes.inner = Some((self.span(start, cursor.offset()), head));
                Ok(())
            }
            key => field(cursor, key, &mut notes.head),
        })?;
        notes.head.levels = cursor.levels(above);
        let span = self.span(start, cursor.offset());
        let piece = self.piece(span, notes);
        (self.found)(piece);
        Ok(())
    }

    fn piece(&self, span: Span, notes: Notes) -> Piece {
        let Notes { head, objects, what, at, inner } = notes;
        let is_list = head.kind.ends_with("List") || head.kind.is_empty() || head.name.is_empty();
        match (objects, what, inner) {
            (Some(objects), _, _) if is_list => Piece::List { head, objects, depth: self.depth },
            (_, Some(what), Some((span, head))) if notes_an_event(&what) => {
                Piece::Step { what, at, object: Found { span, head, depth: self.depth } }
            }
            (_, _, _) => Piece::Object(Found { span, head, depth: self.depth }),
        }
    }

    fn span(&self, start: u64, end: u64) -> Span {
        Span { source: self.source, start, end }
    }
}

fn notes_an_event(what: &str) -> bool {
    matches!(what, "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR")
}

fn head(cursor: &mut Cursor<'_>) -> Parsed<Head> {
    let mut head = Head::default();
    let above = cursor.count_levels();
    cursor.fields(|cursor, key| field(cursor, key, &mut head))?;
    head.levels = cursor.levels(above);
    Ok(head)
}

/// A field of an object. Times count only where Kubernetes notes that something happened: `notAfter`, a deletion that is
/// to come or a date in somebody's spec say nothing about when the file was made.
fn field(cursor: &mut Cursor<'_>, key: &str, head: &mut Head) -> Parsed<()> {
    match key {
        "apiVersion" => head.api_version = cursor.text()?.unwrap_or_default(),
        "kind" => head.kind = cursor.text()?.unwrap_or_default(),
        "container" => head.container = cursor.text()?.unwrap_or_default(),
        "previous" if cursor.skip_blanks() == Some(b't') => head.previous = cursor.word() == b"true",
        "metadata" if cursor.skip_blanks() == Some(b'{') => metadata(cursor, head)?,
        "status" => times(cursor, head, STATUS_TIMES)?,
        "spec" if cursor.skip_blanks() == Some(b'{') => cursor.fields(|cursor, key| match key {
            "renewTime" | "acquireTime" => time(cursor, head),
            _ => cursor.skip(),
        })?,
        "lastTimestamp" | "firstTimestamp" | "eventTime" => time(cursor, head)?,
        "series" => times(cursor, head, &["lastObservedTime"])?,
        _ => cursor.skip()?,
    }
    Ok(())
}

const STATUS_TIMES: &[&str] = &[
    "lastTransitionTime",
    "lastUpdateTime",
    "lastProbeTime",
    "lastHeartbeatTime",
    "startTime",
    "startedAt",
    "finishedAt",
    "completionTime",
    "lastScheduleTime",
    "lastSuccessfulTime",
    "lastScaleTime",
];

fn metadata(cursor: &mut Cursor<'_>, head: &mut Head) -> Parsed<()> {
    cursor.fields(|cursor, key| {
        match key {
            "name" => head.name = cursor.text()?.unwrap_or_default(),
            "namespace" => head.namespace = cursor.text()?.unwrap_or_default(),
            "resourceVersion" => head.version = cursor.text()?.and_then(|text| text.parse().ok()).unwrap_or(0),
            "creationTimestamp" => time(cursor, head)?,
            "managedFields" => times(cursor, head, &["time"])?,
            "annotations" if cursor.skip_blanks() == Some(b'{') => annotations(cursor, head)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })
}

fn annotations(cursor: &mut Cursor<'_>, head: &mut Head) -> Parsed<()> {
    cursor.fields(|cursor, key| match key.strip_prefix("holdup.dev/") {
        None => cursor.skip(),
        Some(key) => {
            let value = cursor.text()?.unwrap_or_default();
            head.notes.push((key.to_owned(), value));
            Ok(())
        }
    })
}

/// All times under these keys, at any depth; managed fields are skipped from their `fieldsV1` on.
fn times(cursor: &mut Cursor<'_>, head: &mut Head, keys: &[&str]) -> Parsed<()> {
    match cursor.skip_blanks() {
        Some(b'{') => cursor.fields(|cursor, key| match key {
            "fieldsV1" => cursor.skip(),
            key if keys.contains(&key) => time(cursor, head),
            _ => times(cursor, head, keys),
        }),
        Some(b'[') => cursor.items(|cursor| times(cursor, head, keys)),
        _ => cursor.skip(),
    }
}

fn time(cursor: &mut Cursor<'_>, head: &mut Head) -> Parsed<()> {
    let time = cursor.text()?.and_then(|text| Time::parse(&text));
    head.newest = head.newest.max(time);
    Ok(())
}
