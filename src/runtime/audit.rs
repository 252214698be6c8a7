//! Audit: logs of the API server, read line by line, of which only the requests behind the differences at hand are kept.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use color_eyre::{Result, eyre::WrapErr};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::desired::audit::{Bodies, Request, Trace};
use crate::desired::{Identity, Object};
use crate::export::diff::{Compared, Reach};
use crate::model::{KINDS, Time};
use crate::redact::Redactor;

/// No request is larger; a longer line is left out and counted.
const LONGEST: u64 = 16 << 20;

/// Looks for what is behind the differences, and tells them.
///
/// # Errors
/// A log cannot be read.
pub fn join(files: &[PathBuf], compared: &mut [Compared], redactor: &Redactor) -> Result<Reach> {
    let mut search = Search { traces: traces(compared), reach: Reach::default(), redactor };
    let mut logs = files.iter().map(|file| Log::open(file)).collect::<Result<Vec<_>>>()?;
    // Logs are rotated: the oldest is read first, however they were named.
    logs.sort_by_key(|log| log.begins);
    for log in logs {
        search.read(log);
    }
    for sought in search.traces.into_values().flatten() {
        if let Some(field) = compared.get_mut(sought.at).and_then(|compared| compared.diff.fields.get_mut(sought.field)) {
            sought.trace.tell(field);
        }
    }
    Ok(search.reach)
}

/// API group, namespace, name.
type Key = (String, String, String);

/// A difference that is looked for: which object, which of its differences.
struct Sought {
    kind: String,
    at: usize,
    field: usize,
    trace: Trace,
}

type Traces = HashMap<Key, Vec<Sought>>;

fn traces(compared: &[Compared]) -> Traces {
    let mut traces = Traces::new();
    for (at, compared) in compared.iter().enumerate() {
        let Identity { group, kind, namespace, name } = &compared.diff.object;
        for (field, difference) in compared.diff.fields.iter().enumerate() {
            if let Some(trace) = Trace::of(difference) {
                let key = (group.clone(), namespace.clone(), name.clone());
                traces.entry(key).or_default().push(Sought { kind: kind.clone(), at, field, trace });
            }
        }
    }
    traces
}

/// Whether a request to this resource can be about this kind. Who defines a kind names its resource as he likes: a body tells, else what
/// is usual is taken for it.
fn is_of(kind: &str, of: &ObjectRef<'_>, body: Option<&str>) -> bool {
    match (KINDS.iter().find(|row| row.name == kind && row.group == of.api_group), body) {
        (Some(known), _) => known.plural == of.resource,
        (None, Some(told)) => told == kind,
        (None, None) => {
            let lower = kind.to_lowercase();
            of.resource == plural(kind) || of.resource.strip_prefix(&lower).is_some_and(|end| matches!(end, "" | "s" | "es"))
        }
    }
}

/// As the API server's own tools guess it.
fn plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    match lower.as_bytes() {
        _ if lower == "endpoints" => lower,
        [.., b's' | b'x' | b'z'] | [.., b'c' | b's', b'h'] => lower + "es",
        [.., before, b'y'] if !b"aeiou".contains(before) => lower[..lower.len() - 1].to_owned() + "ies",
        _ => lower + "s",
    }
}

/// A log that is about to be read.
struct Log {
    name: String,
    lines: Box<dyn BufRead>,
    first: Vec<u8>,
    begins: Option<Time>,
}

impl Log {
    fn open(file: &Path) -> Result<Self> {
        let is_stdin = file == Path::new("-");
        let name = if is_stdin { "standard input".to_owned() } else { file.display().to_string() };
        let unreadable = || format!("the audit log {name} cannot be read");
        let raw: Box<dyn Read> = if is_stdin { Box::new(std::io::stdin()) } else { Box::new(File::open(file).wrap_err_with(unreadable)?) };
        let mut raw = BufReader::with_capacity(1 << 16, raw);
        let is_packed = raw.fill_buf().wrap_err_with(unreadable)?.starts_with(&[0x1F, 0x8B]);
        let mut lines: Box<dyn BufRead> = if is_packed { Box::new(BufReader::new(MultiGzDecoder::new(raw))) } else { Box::new(raw) };
        let mut first = Vec::new();
        line(&mut *lines, &mut first).wrap_err_with(unreadable)?;
        let begins = serde_json::from_slice::<Event<'_>>(&first).ok().and_then(|event| Time::parse(event.at()));
        Ok(Self { name, lines, first, begins })
    }
}

/// What came of reading a line.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Line,
    /// It is left out.
    TooLong,
    End,
}

/// Reads the next line.
fn line(lines: &mut dyn BufRead, into: &mut Vec<u8>) -> std::io::Result<Next> {
    into.clear();
    let read = lines.take(LONGEST).read_until(b'\n', into)?;
    if read == 0 {
        return Ok(Next::End);
    }
    if (read as u64) < LONGEST || into.ends_with(b"\n") {
        return Ok(Next::Line);
    }
    into.clear();
    loop {
        let rest = lines.fill_buf()?;
        let (used, ended) = memchr::memchr(b'\n', rest).map_or((rest.len(), rest.is_empty()), |at| (at + 1, true));
        lines.consume(used);
        if ended {
            return Ok(Next::TooLong);
        }
    }
}

struct Search<'a> {
    traces: Traces,
    reach: Reach,
    redactor: &'a Redactor,
}

impl Search<'_> {
    fn read(&mut self, mut log: Log) {
        let mut bytes = std::mem::take(&mut log.first);
        let mut next = Ok(Next::Line);
        loop {
            match next {
                Ok(Next::Line) if bytes.trim_ascii().is_empty() => {}
                Ok(Next::Line) => self.event(&bytes),
                Ok(Next::TooLong) => self.reach.unread += 1,
                Ok(Next::End) => return,
                Err(error) => {
                    eprintln!("holdup: the audit log {} cannot be read to its end ({error}); what came before is used", log.name);
                    return;
                }
            }
            next = line(&mut *log.lines, &mut bytes);
        }
    }

    fn event(&mut self, bytes: &[u8]) {
        // A list would do for an event too, field by field.
        let read = bytes.trim_ascii_start().starts_with(b"{").then(|| serde_json::from_slice::<Event<'_>>(bytes).ok()).flatten();
        match read {
            // A webhook is sent several at once.
            Some(Event { items: Some(items), .. }) => items.iter().for_each(|item| self.event(item.get().as_bytes())),
            Some(event) => self.take(&event),
            None => self.reach.unread += 1,
        }
    }

    fn take(&mut self, event: &Event<'_>) {
        self.reach.take(event.at(), event.request_object.is_some() || event.response_object.is_some());
        let Some(of) = event.object_ref.as_ref().filter(|_| event.wrote()) else { return };
        if event.verb == "deletecollection" {
            return self.collection(event, of);
        }
        // A namespace is said to lie in itself; a name that the server made up is only in its answer.
        let namespace = if of.resource == "namespaces" { "" } else { &of.namespace };
        let name = if of.name.is_empty() { event.answer().unwrap_or_default().metadata.name } else { of.name.clone() };
        let key = (of.api_group.to_string(), namespace.to_owned(), name.into_owned());
        let Some(traces) = self.traces.get_mut(&key) else { return };
        // What a subresource answers is of another kind.
        let answer = event.answer().filter(|_| of.subresource.is_empty());
        let is_told = |kind: &&str| !matches!(*kind, "" | "Status" | "Table" | "PartialObjectMetadata");
        let kind = answer.as_ref().map(|answer| &*answer.kind).filter(is_told);
        let mut traces = traces.iter_mut().filter(|sought| is_of(&sought.kind, of, kind)).peekable();
        if traces.peek().is_none() {
            return;
        }
        let request = Arc::new(event.request(self.redactor));
        let body = |raw: Option<&RawValue>| raw.and_then(|raw| hidden(raw, of, self.redactor));
        let bodies = Bodies { request: body(event.request_object), response: body(event.response_object) };
        traces.for_each(|sought| sought.trace.see(&request, &bodies));
    }

    /// Everything of a kind went, or what the answer lists; of what a selector chose nothing is known without an answer.
    fn collection(&mut self, event: &Event<'_>, of: &ObjectRef<'_>) {
        let listed = event.answer().and_then(|answer| answer.items);
        if listed.is_none() && ["labelSelector", "fieldSelector"].iter().any(|selector| query(&event.uri, selector).is_some()) {
            return;
        }
        let is_meant = |(group, namespace, name): &Key| {
            let lies_there = of.namespace.is_empty() || *namespace == of.namespace;
            let is_listed = |item: &Head<'_>| item.metadata.name == *name && (item.metadata.namespace == *namespace);
            *group == of.api_group && lies_there && listed.as_ref().is_none_or(|items| items.iter().any(is_listed))
        };
        let gone = self.traces.iter_mut().filter(|(key, _)| is_meant(key)).flat_map(|(_, all)| all.iter_mut());
        let mut gone = gone.filter(|sought| is_of(&sought.kind, of, None)).peekable();
        if gone.peek().is_some() {
            let request = Arc::new(event.request(self.redactor));
            gone.for_each(|sought| sought.trace.see(&request, &Bodies::default()));
        }
    }
}

/// A body without its secrets. A patch does not say of which kind it is, so it is told, or nobody would know a Secret.
fn hidden(raw: &RawValue, of: &ObjectRef<'_>, redactor: &Redactor) -> Option<serde_json::Value> {
    let mut value: serde_json::Value = serde_json::from_str(raw.get()).ok()?;
    if let serde_json::Value::Object(fields) = &mut value {
        if fields.get("kind").is_some_and(|kind| kind == "Status") {
            return None;
        }
        if of.resource == "secrets" && of.api_group.is_empty() {
            fields.insert("kind".to_owned(), "Secret".into());
            fields.insert("apiVersion".to_owned(), "v1".into());
        }
        return Some(Object::new(value, redactor).value().clone());
    }
    // Of the steps of a patch only the places are used.
    let steps = value.as_array_mut()?;
    steps.iter_mut().filter_map(serde_json::Value::as_object_mut).for_each(|step| {
        step.remove("value");
    });
    Some(value)
}

/// An event of the log, as far as it matters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    /// Of a list of events.
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    stage: Cow<'a, str>,
    #[serde(borrow, default)]
    verb: Cow<'a, str>,
    #[serde(borrow, default, rename = "requestURI")]
    uri: Cow<'a, str>,
    #[serde(borrow, default)]
    user: User<'a>,
    #[serde(borrow, default)]
    impersonated_user: Option<User<'a>>,
    #[serde(borrow, default, rename = "sourceIPs")]
    sources: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    user_agent: Cow<'a, str>,
    #[serde(borrow, default)]
    object_ref: Option<ObjectRef<'a>>,
    #[serde(default)]
    response_status: Option<Status>,
    #[serde(borrow, default)]
    request_object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response_object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_received_timestamp: Cow<'a, str>,
    #[serde(borrow, default)]
    stage_timestamp: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
struct User<'a> {
    #[serde(borrow, default)]
    username: Cow<'a, str>,
    #[serde(borrow, default)]
    groups: Vec<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRef<'a> {
    #[serde(borrow, default)]
    resource: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    api_group: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(default)]
    code: i64,
}

/// What an answer is about: an object, or a list of them.
#[derive(Default, Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    metadata: Name<'a>,
    #[serde(default)]
    items: Option<Vec<Self>>,
}

#[derive(Default, Deserialize)]
struct Name<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
}

impl Event<'_> {
    fn at(&self) -> &str {
        if self.request_received_timestamp.is_empty() { &self.stage_timestamp } else { &self.request_received_timestamp }
    }

    fn answer(&self) -> Option<Head<'_>> {
        serde_json::from_str(self.response_object?.get()).ok()
    }

    /// Whether it changed something: it was answered, not refused, and not only tried.
    fn wrote(&self) -> bool {
        let writes = matches!(&*self.verb, "create" | "update" | "patch" | "delete" | "deletecollection");
        let is_done = matches!(&*self.stage, "ResponseComplete" | "");
        let is_refused = self.response_status.as_ref().is_some_and(|status| status.code >= 400);
        writes && is_done && !is_refused && query(&self.uri, "dryRun").is_none()
    }

    fn request(&self, redactor: &Redactor) -> Request {
        let text = |text: &str| redactor.text(text).into_owned();
        let agent = self.user_agent.split_once('/').map_or(&*self.user_agent, |(program, _)| program);
        Request {
            user: text(&self.user.username),
            groups: self.user.groups.iter().map(|group| text(group)).collect(),
            acted_as: self.impersonated_user.as_ref().map(|user| text(&user.username)).unwrap_or_default(),
            sources: self.sources.iter().map(|source| text(source)).collect(),
            agent: text(&self.user_agent),
            verb: self.verb.to_string(),
            subresource: self.object_ref.as_ref().map(|of| of.subresource.to_string()).unwrap_or_default(),
            at: self.at().to_owned(),
            manager: query(&self.uri, "fieldManager").map_or_else(|| text(agent), |manager| text(&manager)),
        }
    }
}

/// A parameter of a URI, decoded.
fn query(uri: &str, name: &str) -> Option<String> {
    let (_, query) = uri.split_once('?')?;
    let value = query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))?.1;
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_as_resources() {
        let known = ["NetworkPolicy", "Ingress", "Endpoints", "Gateway", "ConfigMap", "StorageClass"].map(plural);
        assert_eq!(known, ["networkpolicies", "ingresses", "endpoints", "gateways", "configmaps", "storageclasses"]);
    }

    #[test]
    fn parameters_are_decoded() {
        assert_eq!(query("/a?fieldManager=kubectl%2Dedit&x=1", "fieldManager").as_deref(), Some("kubectl-edit"));
        assert_eq!(query("/a?dryRun=All", "dryRun").as_deref(), Some("All"));
        assert_eq!(query("/a?fieldManager=%f", "fieldManager"), None);
        assert_eq!(query("/a", "dryRun"), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
        let long = [vec![b'x'; usize::try_from(LONGEST).expect("it fits") + 5], b"\nnext".to_vec()].concat();
        let (mut lines, mut bytes) = (BufReader::new(&*long), Vec::new());
        assert_eq!(line(&mut lines, &mut bytes).expect("readable"), Next::TooLong);
        assert_eq!((line(&mut lines, &mut bytes).expect("readable"), &*bytes), (Next::Line, &b"next"[..]));
        assert_eq!(line(&mut lines, &mut bytes).expect("readable"), Next::End);
        let mut lines: &[u8] = b"{\"a\":1}\n\n{\"b\":2}";
        let (mut bytes, mut read) = (Vec::new(), Vec::new());
        while line(&mut lines, &mut bytes).expect("readable") == Next::Line {
            read.push(String::from_utf8(bytes.clone()).expect("text"));
        }
        assert_eq!(read, ["{\"a\":1}\n", "\n", "{\"b\":2}"]);
    }
}
