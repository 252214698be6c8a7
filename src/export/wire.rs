//! The report as JSON and YAML: fields may be added, never removed or changed in meaning.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::Exported;
use crate::diagnose::{self, Verdict};
use crate::model::{CoverageState, Kind, ObjectRef, Time};

/// `apiVersion` of everything the program writes.
pub const API_VERSION: &str = "holdup.dev/v1";

/// One line of JSON, blocker by blocker: that of a large cluster is never held as a whole.
pub fn json(out: &mut dyn Write, e: &Exported<'_>) {
    let head = written(&head(e));
    put(out, head.strip_suffix('}').unwrap_or(&head));
    list(out, "blockers", e.report.blockers.iter().map(|b| written(&blocker(e, b))));
    list(out, "quiet", e.report.quiet.iter().map(|q| written(&quiet(q))));
    put(out, "}\n");
}

fn list(out: &mut dyn Write, name: &str, items: impl Iterator<Item = String>) {
    put(out, &format!(",\"{name}\":["));
    for (at, item) in items.enumerate() {
        put(out, if at == 0 { "" } else { "," });
        put(out, &item);
    }
    put(out, "]");
}

/// Whoever listens says what became of it.
fn put(out: &mut dyn Write, text: &str) {
    let _told = out.write_str(text);
}

fn written(value: &impl Serialize) -> String {
    escape(&serde_json::to_string(value).expect(PLAIN))
}

const PLAIN: &str = "plain data with text keys can always be written";

/// Characters that would turn a terminal's text around, or hide in it, as JSON escapes: outside of strings there are none.
pub(super) fn escape(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if super::clean::is_dangerous(c) {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// The same as YAML.
pub fn yaml(mut out: &mut dyn Write, e: &Exported<'_>) {
    // Whoever listens says what became of it; the data itself can always be written.
    let _told = serde_saphyr::to_fmt_writer(&mut out, &Harmless(e));
}

/// A report of which no string would be obeyed by a terminal; each blocker is made when it is written.
struct Harmless<'a>(&'a Exported<'a>);

impl Serialize for Harmless<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let e = self.0;
        let head = harmless(&head(e));
        let head = head.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(Some(head.clone().count() + 2))?;
        for (name, value) in head {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("blockers", &Each(e, &e.report.blockers, |e, b| harmless(&blocker(e, b))))?;
        map.serialize_entry("quiet", &Each(e, &e.report.quiet, |_, q| harmless(&quiet(q))))?;
        map.end()
    }
}

/// What is made of each, one after another.
struct Each<'a, T>(&'a Exported<'a>, &'a [Arc<T>], fn(&Exported<'_>, &T) -> Value);

impl<T> Serialize for Each<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(exported, all, each) = self;
        serializer.collect_seq(all.iter().map(|one| each(exported, one)))
    }
}

fn harmless(value: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(value).expect(PLAIN);
    super::clean::clean_all(&mut value);
    value
}

/// All but blockers and what is quiet, which come last.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    api_version: &'static str,
    kind: &'static str,
    now: String,
    context: Option<&'a str>,
    scope: Scope<'a>,
    complete: bool,
    summary: Summary,
    coverage: Vec<Coverage>,
}

#[derive(serde::Serialize)]
struct Scope<'a> {
    namespaces: Option<&'a [String]>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    pods: usize,
    workloads: usize,
    stuck_pods: usize,
    stuck_workloads: usize,
    blocked: usize,
    delayed: usize,
    quiet: usize,
}

#[derive(serde::Serialize)]
struct Coverage {
    kind: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

#[derive(serde::Serialize)]
struct Blocker<'a> {
    id: &'a str,
    layer: &'static str,
    cause: &'static str,
    verdict: &'static str,
    key: &'a str,
    root: String,
    since: Option<String>,
    clock: Option<Clock<'a>>,
    deadline: Option<String>,
    title: String,
    summary: String,
    affected: Vec<String>,
    pods: usize,
    services: Vec<String>,
    facts: BTreeMap<&'static str, String>,
    evidence: Vec<Evidence>,
    next: String,
    consequences: Vec<Consequence>,
    unchecked: Vec<Unchecked<'a>>,
    controls: [&'static str; 0],
}

#[derive(serde::Serialize)]
struct Clock<'a> {
    kind: &'static str,
    what: &'a str,
    at: Option<String>,
}

#[derive(serde::Serialize)]
struct Evidence {
    object: String,
    path: String,
    message: String,
    at: Option<String>,
}

#[derive(serde::Serialize)]
struct Consequence {
    layer: &'static str,
    cause: &'static str,
    verdict: &'static str,
    title: String,
    root: String,
    affected: Vec<String>,
    pods: usize,
}

#[derive(serde::Serialize)]
struct Unchecked<'a> {
    kind: &'static str,
    namespace: &'a str,
    why: String,
}

#[derive(serde::Serialize)]
struct Quiet<'a> {
    object: String,
    cause: &'static str,
    reason: &'a str,
    since: Option<String>,
}

fn head<'a>(e: &'a Exported<'_>) -> Head<'a> {
    let s = e.report.summary;
    Head {
        api_version: API_VERSION,
        kind: "Report",
        now: e.now.rfc3339(),
        context: e.context,
        scope: Scope { namespaces: e.namespaces },
        complete: e.complete,
        summary: Summary {
            pods: s.pods,
            workloads: s.workloads,
            stuck_pods: s.stuck_pods,
            stuck_workloads: s.stuck_workloads,
            blocked: s.blocked,
            delayed: s.delayed,
            quiet: s.quiet,
        },
        coverage: coverage(e),
    }
}

fn coverage(e: &Exported<'_>) -> Vec<Coverage> {
    let entry = |(kind, namespace, state): (Kind, Option<&str>, &CoverageState)| {
        let (id, message, since) = match state {
            CoverageState::Loading => ("loading", None, None),
            CoverageState::Synced => ("synced", None, None),
            CoverageState::Denied { message, since } => ("denied", Some(message), *since),
            CoverageState::Absent { message } => ("absent", Some(message), None),
            CoverageState::Stale { message, since } => ("stale", Some(message), *since),
        };
        let plain = id == "synced" && namespace.is_none();
        Coverage {
            kind: kind.row().name,
            state: id,
            count: (id != "denied" && id != "absent")
                .then(|| namespace.map_or_else(|| e.cluster.count(kind), |ns| e.cluster.count_in(kind, ns))),
            namespace: (!plain).then(|| namespace.map(str::to_owned)),
            message: message.map(|m| e.redactor.text(m).into_owned()),
            since: time(since),
        }
    };
    e.cluster.coverage().iter().map(entry).collect()
}

fn blocker<'a>(e: &Exported<'_>, b: &'a diagnose::Blocker) -> Blocker<'a> {
    let redact = |text: &str| e.redactor.text(text).into_owned();
    Blocker {
        id: &b.id,
        layer: b.layer.id(),
        cause: b.cause,
        verdict: verdict(b.verdict),
        key: &b.key,
        root: b.root.to_string(),
        since: time(b.since),
        clock: b.clock.as_ref().map(|c| Clock { kind: c.kind.id(), what: &c.what, at: time(c.at) }),
        deadline: time(b.clock.as_ref().and_then(|c| c.at)),
        title: redact(&b.title),
        summary: redact(&b.summary),
        affected: names(&b.affected),
        pods: b.pods,
        services: names(&b.services),
        facts: b.facts.iter().map(|(name, value)| (name, redact(value))).collect(),
        evidence: b.evidence.iter().map(|x| evidence(e, x)).collect(),
        next: redact(&b.next),
        consequences: b.consequences.iter().map(|c| consequence(e, c)).collect(),
        unchecked: b.unchecked.iter().map(|u| Unchecked { kind: u.kind, namespace: &u.namespace, why: redact(&u.why) }).collect(),
        controls: [],
    }
}

fn evidence(e: &Exported<'_>, x: &diagnose::Evidence) -> Evidence {
    Evidence { object: x.object.to_string(), path: x.path.to_string(), message: e.redactor.text(&x.message).into_owned(), at: time(x.at) }
}

fn consequence(e: &Exported<'_>, c: &diagnose::Consequence) -> Consequence {
    Consequence {
        layer: c.layer.id(),
        cause: c.cause,
        verdict: verdict(c.verdict),
        title: e.redactor.text(&c.title).into_owned(),
        root: c.root.to_string(),
        affected: names(&c.affected),
        pods: c.pods,
    }
}

fn quiet(q: &diagnose::Quiet) -> Quiet<'_> {
    Quiet { object: q.object.to_string(), cause: q.cause, reason: &q.reason, since: time(q.since) }
}

/// The word of the contract; quiet findings never become blockers.
pub(super) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Blocked => "blocked",
        Verdict::Delayed => "delayed",
        Verdict::Quiet => "quiet",
    }
}

/// References sorted by text, as the contract asks.
fn names(objects: &[ObjectRef]) -> Vec<String> {
    let mut names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

fn time(at: Option<Time>) -> Option<String> {
    at.map(Time::rfc3339)
}
