//! Desired versus live: differences rebuilt from public reports must be found, explained and weighed as those reports were understood.

mod accept;
mod audit;
mod baseline;
mod command;
mod complaints;
mod everything;
mod fragments;
mod gitops;
mod laws;
mod named;
mod part;
mod releases;
mod served;
pub mod server;
mod sources;
mod watched;

use std::path::Path;
use std::sync::Arc;

use holdup::desired::{Diff, Evidence, FieldDiff, Object, Verdict, diff};
use holdup::export::diff::{Compared, Compilation};
use holdup::redact::Redactor;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    id: String,
    desired: Value,
    live: Value,
    #[serde(default)]
    context: Vec<Value>,
    expect_diff: Vec<Expected>,
    must_be_empty: bool,
}

#[derive(Clone, Deserialize)]
struct Expected {
    path: String,
    class: String,
    #[serde(default)]
    class_also_ok: Vec<String>,
    #[serde(default)]
    risky: bool,
    #[serde(default)]
    no_risk: bool,
    #[serde(default)]
    by: Option<String>,
}

#[test]
fn every_difference_is_judged_as_its_report_understood_it() {
    let mut failures = Vec::new();
    for case in cases() {
        let found = compare(&case);
        if std::env::var("CASE").is_ok() {
            found.fields.iter().for_each(|field| eprintln!("{}", line(field)));
        }
        failures.extend(wrong(&case, &found).into_iter().map(|what| format!("{}: {what}", case.id)));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn cases() -> Vec<Case> {
    let only = std::env::var("CASE").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases/drift");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| serde_json::from_str::<Case>(&std::fs::read_to_string(path).unwrap()).unwrap();
    paths.iter().map(read).filter(|case| case.id.contains(&only)).collect()
}

/// Objects as they are handed to a comparison.
pub fn shared(objects: &[Value]) -> Vec<Arc<Value>> {
    objects.iter().cloned().map(Arc::new).collect()
}

/// A comparison as scripts read it.
fn json(diff: Diff) -> String {
    holdup::export::diff::json(&Compilation::Named(vec![Compared { diff, ..Compared::default() }]))
}

fn redactor() -> Redactor {
    Redactor::new(&[7; 32])
}

fn line(field: &FieldDiff) -> String {
    let owner = field.owner.as_ref().map_or("nobody", |owner| &owner.manager);
    let risk = field.risk.as_ref().map_or("-", |risk| &risk.text);
    let show = |side: &Option<Value>| side.as_ref().map_or("absent".to_owned(), Value::to_string);
    format!("{} {} → {}: {} by {owner} [{risk}] {}", field.path, show(&field.desired), show(&field.live), field.verdict.id(), field.reason)
}

fn compare(case: &Case) -> Diff {
    let redactor = redactor();
    let [desired, live] = [&case.desired, &case.live].map(|side| Object::new(side.clone(), &redactor));
    diff(&desired, &live, Evidence { released: None, related: &shared(&case.context) })
}

/// Cases quote also names that need no quotes.
fn plainly(expected: &Expected) -> Expected {
    let path = expected.path.split("[\"").map(|part| match part.split_once("\"]") {
        Some((name, rest)) if !name.contains(['.', '/']) => format!(".{name}{rest}"),
        Some(_) => format!("[\"{part}"),
        None => part.to_owned(),
    });
    Expected { path: path.collect(), ..expected.clone() }
}

fn wrong(case: &Case, found: &Diff) -> Vec<String> {
    let mut wrong = Vec::new();
    for expected in &case.expect_diff {
        let expected = &plainly(expected);
        let at = |field: &&FieldDiff| field.path.to_string() == expected.path;
        let under = |field: &&FieldDiff| expected.path.starts_with(&field.path.to_string());
        let Some(field) = found.fields.iter().find(at).or_else(|| found.fields.iter().find(under)) else {
            if expected.class != "equal" {
                wrong.push(format!("{}: nothing, expected {}", expected.path, expected.class));
            }
            continue;
        };
        let verdict = field.verdict.id();
        if verdict != expected.class && !expected.class_also_ok.iter().any(|class| class == verdict) {
            wrong.push(format!("expected {}: {}", expected.class, line(field)));
        }
        if expected.risky && field.risk.is_none() || expected.no_risk && field.risk.is_some() {
            wrong.push(format!("risk: {}", line(field)));
        }
        let named = expected.by.as_ref().filter(|_| field.verdict != Verdict::Admission && field.live.is_some());
        let owner = field.owner.as_ref().map_or("nobody", |owner| &owner.manager);
        if named.is_some_and(|by| !by.contains(owner)) {
            wrong.push(format!("expected to be by {named:?}: {}", line(field)));
        }
    }
    let expected = |field: &FieldDiff| {
        let loud = case.expect_diff.iter().filter(|e| matches!(e.class.as_str(), "drift" | "pending"));
        loud.map(plainly).any(|e| e.path.starts_with(&field.path.to_string()))
    };
    let loud = found.fields.iter().filter(|field| field.verdict.is_loud() && (case.must_be_empty || !expected(field)));
    wrong.extend(loud.map(|field| format!("not expected: {}", line(field))));
    let unsure = found.fields.iter().filter(|field| matches!(field.verdict, Verdict::Unknown | Verdict::InvalidDesired));
    wrong.extend(unsure.map(|field| format!("not expected: {}", line(field))));
    wrong
}
