//! Desired versus live as text, JSON and YAML.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::clean::{self, clean};
use super::text::Paint;
use super::wire::{API_VERSION, escape};
use crate::desired::{ANY_DRIFT, Diff, FieldDiff, Operation, Verdict};

/// An object with its differences and where the desired side comes from.
pub struct Compared {
    pub diff: Diff,
    /// `None`: nothing says what was asked for.
    pub source: Option<String>,
}

/// One object as itself, several as a list.
pub fn json(all: &[Compared]) -> String {
    escape(&serde_json::to_string(&wire(all)).expect("plain data with text keys can always be written"))
}

/// The same as YAML.
pub fn yaml(all: &[Compared]) -> String {
    let mut value = wire(all);
    clean::clean_all(&mut value);
    serde_saphyr::to_string(&value).expect("plain data with text keys can always be written")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    api_version: &'static str,
    kind: &'static str,
    object: String,
    desired_source: Option<&'a str>,
    summary: BTreeMap<&'static str, usize>,
    fields: Vec<Field<'a>>,
}

#[derive(Serialize)]
struct Field<'a> {
    path: String,
    desired: Option<&'a Value>,
    live: Option<&'a Value>,
    verdict: &'static str,
    risk: Option<&'a str>,
    controls: Vec<&'static str>,
    owner: Option<Owner<'a>>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Owner<'a> {
    manager: &'a str,
    operation: &'static str,
    time: Option<&'a str>,
    subresource: &'a str,
    class: &'static str,
}

fn wire(all: &[Compared]) -> Value {
    let items: Vec<Wire<'_>> = all.iter().map(one).collect();
    let value = match items.as_slice() {
        [item] => serde_json::to_value(item),
        items => {
            serde_json::to_value(items).map(|items| serde_json::json!({"apiVersion": API_VERSION, "kind": "DiffList", "items": items}))
        }
    };
    value.expect("plain data with text keys can always be written")
}

fn one(compared: &Compared) -> Wire<'_> {
    Wire {
        api_version: API_VERSION,
        kind: "Diff",
        object: compared.diff.object.to_string(),
        desired_source: compared.source.as_deref(),
        summary: summary(&compared.diff),
        fields: compared.diff.fields.iter().map(field).collect(),
    }
}

fn summary(diff: &Diff) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for field in &diff.fields {
        *counts.entry(field.verdict.id()).or_default() += 1;
    }
    counts
}

fn field(field: &FieldDiff) -> Field<'_> {
    Field {
        path: field.path.to_string(),
        desired: field.desired.as_ref(),
        live: field.live.as_ref(),
        verdict: field.verdict.id(),
        risk: field.risk.as_ref().map(|risk| risk.text.as_str()),
        controls: controls(field),
        owner: field.owner.as_ref().map(|owner| Owner {
            manager: &owner.manager,
            operation: operation(owner.operation),
            time: Some(owner.time.as_str()).filter(|time| !time.is_empty()),
            subresource: &owner.subresource,
            class: owner.class.id(),
        }),
        reason: &field.reason,
    }
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    }
}

fn controls(field: &FieldDiff) -> Vec<&'static str> {
    let class = field.risk.as_ref().map(|risk| risk.class.controls()).unwrap_or_default();
    let any = if field.verdict.is_loud() { ANY_DRIFT } else { &[] };
    let mut all: Vec<&'static str> = any.iter().chain(class).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What a person needs: each difference that somebody has to look at, with its reason; the rest is counted.
pub fn text(all: &[Compared], paint: Paint) -> String {
    let mut out = String::new();
    for (i, compared) in all.iter().enumerate() {
        let gap = if i > 0 { "\n" } else { "" };
        let source = compared.source.as_deref().unwrap_or("nothing says what was asked for");
        let _ = writeln!(out, "{gap}{}", clean(&format!("{} · desired: {source}", compared.diff.object)));
        let (shown, folded): (Vec<_>, Vec<_>) = compared.diff.fields.iter().partition(|field| is_shown(field.verdict));
        shown.iter().for_each(|field| row(&mut out, field, paint));
        let _ = writeln!(out, "{}", footer(&shown, &folded));
    }
    out
}

fn is_shown(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Pending | Verdict::Drift | Verdict::Conflict | Verdict::InvalidDesired | Verdict::Unknown => true,
        Verdict::Equal | Verdict::Defaulted | Verdict::Server | Verdict::Admission | Verdict::Controller | Verdict::Approved => false,
    }
}

fn row(out: &mut String, field: &FieldDiff, paint: Paint) {
    let colour = |code: &str, text: String| match paint {
        Paint::Plain => text,
        Paint::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
    };
    let path = field.path.to_string();
    let path = if path.is_empty() { "the whole object" } else { &path };
    let _ = writeln!(out, "  {}", clean(path));
    for (sign, code, side) in [("-", "31", &field.desired), ("+", "32", &field.live)] {
        for line in side.iter().flat_map(lines) {
            let _ = writeln!(out, "{}", colour(code, format!("  {sign} {}", clean(&line))));
        }
    }
    let owner = field.owner.as_ref().map_or("owner unknown".to_owned(), |owner| format!("{} ({})", owner.manager, owner.class.id()));
    let risk = field.risk.as_ref().map_or(String::new(), |risk| format!(" · {}", risk.text));
    let _ = writeln!(out, "    {}", clean(&format!("{} · {owner}{risk} · {}", field.verdict.id(), field.reason)));
}

/// A text as it is, line by line; anything else as YAML.
fn lines(value: &Value) -> Vec<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serde_saphyr::to_string(value).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    text.lines().map(str::to_owned).collect()
}

fn footer(shown: &[&FieldDiff], folded: &[&FieldDiff]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    folded.iter().for_each(|field| *counts.entry(field.verdict.id()).or_default() += 1);
    let rest: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" Explained and not shown: {}.", rest.join(", ")) };
    match shown.len() {
        0 => format!("  No drift.{rest}"),
        1 => format!("  1 difference.{rest}"),
        n => format!("  {n} differences.{rest}"),
    }
}
