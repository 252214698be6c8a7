//! Each cause has a file in `causes/`: cases in which it is found, and near misses in which it must not be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdup::diagnose::{CAUSES, Report, Verdict};
use serde::Deserialize;
use serde_json::Value;

use crate::picture;

const NOW: &str = "2026-05-04T10:12:00Z";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cases: Vec<Case>,
}

/// One small cluster and what is said of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    now: Option<String>,
    /// Kinds that may not be read.
    #[serde(default)]
    unknown: Vec<String>,
    /// Whole objects, or `base` (a file in `bases/`) with a merge `patch`.
    objects: Vec<Value>,
    /// Blockers that must be there.
    #[serde(default)]
    expect: Vec<Expect>,
    /// Causes that must be quiet, with their object: `{cause: Kind/ns/name}`.
    #[serde(default)]
    quiet: BTreeMap<String, String>,
    /// Causes that must not be found: neither as blocker nor as consequence.
    #[serde(default)]
    not: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    cause: String,
    verdict: String,
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    root: Option<String>,
    #[serde(default)]
    affected: Vec<String>,
    #[serde(default)]
    pods: Option<usize>,
    #[serde(default)]
    since: Option<String>,
    #[serde(default)]
    facts: BTreeMap<String, String>,
    /// Parts of title, summary, next or evidence.
    #[serde(default)]
    says: Vec<String>,
    /// Causes of its consequences.
    #[serde(default)]
    consequences: Vec<String>,
    #[serde(default)]
    unchecked: Vec<String>,
}

#[test]
fn every_cause_is_found_where_it_is_and_not_where_it_only_looks_so() {
    let mut failures = Vec::new();
    for (cause, file) in files() {
        for case in &file.cases {
            failures.extend(check(case).into_iter().map(|what| format!("{cause} › {}: {what}", case.name)));
        }
        let found = file
            .cases
            .iter()
            .any(|c| c.expect.iter().any(|e| e.cause == cause || e.consequences.contains(&cause)) || c.quiet.contains_key(&cause));
        let near = file.cases.iter().any(|c| c.not.contains(&cause));
        if !found || !near {
            failures.push(format!("{cause}: needs a case that expects it, and a near miss that says it is not"));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_cause_has_its_file_and_every_file_its_cause() {
    let rows: Vec<String> = CAUSES.iter().copied().flatten().map(|c| c.id.to_owned()).collect();
    let files: Vec<String> = files().into_keys().collect();
    let missing: Vec<&String> = rows.iter().filter(|r| !files.contains(r)).collect();
    let strange: Vec<&String> = files.iter().filter(|f| !rows.contains(f)).collect();
    assert!(missing.is_empty() && strange.is_empty(), "without file: {missing:?}; without row: {strange:?}");
}

fn files() -> BTreeMap<String, File> {
    let only = std::env::var("CAUSE").ok();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/causes");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("folder of causes").filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    let yaml = paths.into_iter().filter(|p| p.extension().is_some_and(|e| e == "yaml"));
    let named = yaml.map(|p| (p.file_stem().expect("a name").to_string_lossy().into_owned(), p));
    named.filter(|(name, _)| only.as_ref().is_none_or(|o| o == name)).map(|(name, p)| (name, parse(&p))).collect()
}

fn parse(path: &Path) -> File {
    let text = std::fs::read_to_string(path).expect("readable");
    serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn check(case: &Case) -> Vec<String> {
    let objects: Vec<Value> = case.objects.iter().map(resolve).collect();
    let cluster = picture::of(&objects, &case.unknown);
    let report = picture::judge(&cluster, case.now.as_deref().unwrap_or(NOW));
    let mut wrong: Vec<String> = case.expect.iter().flat_map(|e| compare(e, &report)).collect();
    for cause in &case.not {
        if report.blockers.iter().any(|b| b.cause == cause || b.consequences.iter().any(|c| c.cause == cause)) {
            wrong.push(format!("{cause} is found"));
        }
    }
    for (cause, object) in &case.quiet {
        if !report.quiet.iter().any(|q| q.cause == cause && q.object.to_string() == *object) {
            wrong.push(format!("{cause} is not quiet for {object}: {:?}", report.quiet));
        }
    }
    wrong
}

fn compare(e: &Expect, report: &Report) -> Vec<String> {
    let same = |b: &&std::sync::Arc<holdup::diagnose::Blocker>| b.cause == e.cause && e.key.as_ref().is_none_or(|k| **k == *b.key);
    let Some(b) = report.blockers.iter().find(same) else {
        let got: Vec<String> =
            report.blockers.iter().map(|b| format!("{} {:?}", b.id, b.consequences.iter().map(|c| c.cause).collect::<Vec<_>>())).collect();
        return vec![format!("{} {} is not found; found {got:?}", e.cause, e.key.as_deref().unwrap_or(""))];
    };
    let mut wrong = Vec::new();
    let verdict = if b.verdict == Verdict::Blocked { "blocked" } else { "delayed" };
    let affected: Vec<String> = b.affected.iter().map(ToString::to_string).collect();
    let mut differ = |what: &str, got: String, want: &str| {
        if got != want {
            wrong.push(format!("{what} is {got}, expected {want}"))
        }
    };
    differ("verdict", verdict.into(), &e.verdict);
    if let Some(root) = &e.root {
        differ("root", b.root.to_string(), root);
    }
    if let Some(since) = &e.since {
        differ("since", b.since.map_or("null".into(), |t| t.rfc3339()), since);
    }
    if let Some(pods) = e.pods {
        differ("pods", b.pods.to_string(), &pods.to_string());
    }
    for (name, value) in &e.facts {
        differ(name, b.facts.get(name.as_str()).unwrap_or_default().to_owned(), value);
    }
    let text = format!("{}\n{}\n{}\n{:?}", b.title, b.summary, b.next, b.evidence);
    wrong.extend(e.affected.iter().filter(|a| !affected.contains(a)).map(|a| format!("{a} is not affected: {affected:?}")));
    wrong.extend(e.says.iter().filter(|s| !text.contains(s.as_str())).map(|s| format!("does not say {s:?}: {text}")));
    let consequences: Vec<&str> = b.consequences.iter().map(|c| c.cause).collect();
    wrong.extend(
        e.consequences.iter().filter(|c| !consequences.contains(&c.as_str())).map(|c| format!("{c} is no consequence: {consequences:?}")),
    );
    let unchecked: Vec<&str> = b.unchecked.iter().map(|u| u.kind).collect();
    wrong.extend(
        e.unchecked.iter().filter(|k| !unchecked.contains(&k.as_str())).map(|k| format!("{k} is not among the unchecked: {unchecked:?}")),
    );
    wrong
}

/// A whole object as it is, or a base with its patch.
fn resolve(object: &Value) -> Value {
    let Some(base) = object["base"].as_str() else { return object.clone() };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/causes/bases/{base}.yaml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut value: Value = serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    merge(&mut value, &object["patch"]);
    value
}

/// JSON merge patch (RFC 7386): maps are merged, null removes, everything else replaces.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        if !patch.is_null() {
            *target = patch.clone();
        }
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let map = target.as_object_mut().expect("made a map above");
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
