//! Incidents rebuilt from public reports: what is said of each must be its layer, cause and verdict, with the facts that a reader needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use holdup::archive::Archive;
use holdup::diagnose::{Blocker, Report, Verdict, cause};
use holdup::model::Cluster;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::picture;

/// Cases that are not yet judged right although their cause has a row, each with what is missing.
const GAPS: &[(&str, &str)] = &[];

#[derive(Deserialize)]
struct Case {
    id: String,
    now: String,
    objects: Vec<Value>,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    layer: String,
    #[serde(default)]
    layer_also_ok: Vec<String>,
    #[serde(default)]
    cause_any_of: Vec<String>,
    verdict: String,
    #[serde(default)]
    verdict_also_ok: Vec<String>,
    #[serde(default)]
    subject_any_of: Vec<String>,
    #[serde(default)]
    affected: Vec<String>,
    #[serde(default)]
    must_not_flag: Vec<String>,
    #[serde(default)]
    facts_must_appear: Vec<Value>,
    #[serde(default)]
    prefer_root: Vec<String>,
    #[serde(default)]
    split_ok: bool,
}

#[test]
fn every_incident_is_judged_as_its_report_was_solved() {
    let mut failures = Vec::new();
    for case in cases() {
        let wrong = judge(&case);
        let gap = GAPS.iter().any(|(id, _)| *id == case.id);
        if gap && wrong.is_empty() {
            failures.push(format!("{}: is right now, take it out of the gaps", case.id));
        } else if !gap && is_known(&case) {
            failures.extend(wrong.into_iter().map(|what| format!("{}: {what}", case.id)));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A case is judged from the day one of its causes has a row.
fn is_known(case: &Case) -> bool {
    case.expect.verdict == "healthy" || case.expect.cause_any_of.iter().any(|id| cause(id).is_some())
}

fn cases() -> Vec<Case> {
    let only = std::env::var("CASE").ok();
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases"), &mut paths);
    paths.sort();
    let texts = paths.iter().map(|p| (p, std::fs::read_to_string(p).expect("readable")));
    let all = texts.map(|(p, text)| serde_json::from_str::<Case>(&text).unwrap_or_else(|e| panic!("{}: {e}", p.display())));
    all.filter(|case| only.as_ref().is_none_or(|o| case.id.contains(o.as_str()))).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("folder of cases").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_none_or(|name| name != "drift") {
            collect(&path, paths);
        } else if path.extension().is_some_and(|e| e == "json") {
            paths.push(path);
        }
    }
}

fn judge(case: &Case) -> Vec<String> {
    let list = json!({"kind": "List", "apiVersion": "v1", "items": case.objects}).to_string();
    let archive = Archive::from_bytes(&case.id, list.as_bytes()).expect("a list");
    let mut cluster = Cluster::default();
    for delta in archive.deltas() {
        cluster.apply(delta);
    }
    let report = picture::judge(&cluster, &case.now);
    if std::env::var("CASE").is_ok() {
        eprintln!("{}\n{report:#?}", case.id);
    }
    compare(case, &report)
}

fn compare(case: &Case, report: &Report) -> Vec<String> {
    let expect = &case.expect;
    let owners = Owners::of(&case.objects);
    let blocked = || report.blockers.iter().filter(|b| b.verdict == Verdict::Blocked);
    if expect.verdict == "healthy" {
        let delayed_ok = expect.verdict_also_ok.iter().any(|v| v == "delayed");
        let wrong = report.blockers.iter().filter(|b| b.verdict == Verdict::Blocked || !delayed_ok);
        return wrong.map(|b| format!("is healthy, yet {} {} is said", b.cause, b.root)).collect();
    }
    let mine: BTreeSet<String> = expect.subject_any_of.iter().chain(&expect.affected).cloned().collect();
    let mut wrong: Vec<String> = blocked()
        .map(|b| plain(&b.root.to_string()))
        .filter(|root| {
            let own = expect.must_not_flag.contains(root);
            own || (!mine.contains(root) && owners.above(root).iter().any(|o| expect.must_not_flag.contains(o)))
        })
        .map(|root| format!("{root} is flagged and is fine"))
        .collect();
    let Some(answer) = answer(expect, report, &mine) else {
        if !expect.verdict_also_ok.iter().any(|v| v == "healthy") {
            wrong.push(format!("nothing is said of it; expected {:?}", expect.cause_any_of));
        }
        return wrong;
    };
    wrong.extend(differences(expect, answer));
    wrong.extend(lost(expect, answer, report, &owners));
    if blocked().next().is_some_and(|first| expect.verdict == "blocked" && first.id != answer.id) {
        wrong.push(format!("{} stands above {}", report.blockers[0].id, answer.id));
    }
    wrong
}

/// The blocker that is judged: one with a preferred root, else the first that touches the subject.
fn answer<'a>(expect: &Expect, report: &'a Report, mine: &BTreeSet<String>) -> Option<&'a Blocker> {
    let blockers = || report.blockers.iter().map(|b| &**b);
    let rooted = |root: &String| blockers().find(|b| plain(&b.root.to_string()) == *root);
    let touching = || blockers().find(|b| !touched(b).is_disjoint(mine));
    expect.prefer_root.iter().find_map(rooted).or_else(touching)
}

fn differences(expect: &Expect, answer: &Blocker) -> Vec<String> {
    let mut wrong = Vec::new();
    let verdict = if answer.verdict == Verdict::Blocked { "blocked" } else { "delayed" };
    if answer.layer.id() != expect.layer && !expect.layer_also_ok.iter().any(|l| l == answer.layer.id()) {
        wrong.push(format!("layer is {}, expected {}", answer.layer.id(), expect.layer));
    }
    if !expect.cause_any_of.iter().any(|c| c == answer.cause) {
        wrong.push(format!("cause is {}, expected {:?}", answer.cause, expect.cause_any_of));
    }
    if verdict != expect.verdict && !expect.verdict_also_ok.iter().any(|v| v == verdict) {
        wrong.push(format!("verdict is {verdict}, expected {}", expect.verdict));
    }
    let text = haystack(answer);
    let missing = expect.facts_must_appear.iter().filter(|fact| !alternatives(fact).iter().any(|f| appears(f, &text)));
    wrong.extend(missing.map(|fact| format!("does not mention {fact}")));
    wrong
}

/// Objects that belong into the same blocker and are not in it. Claims, nodes, services and the like only need to be named.
fn lost(expect: &Expect, answer: &Blocker, report: &Report, owners: &Owners) -> Vec<String> {
    let subjects: BTreeSet<String> = expect.subject_any_of.iter().cloned().collect();
    let others = report.blockers.iter().filter(|b| expect.split_ok && !touched(b).is_disjoint(&subjects));
    let have: BTreeSet<String> = touched(answer).into_iter().chain(others.flat_map(|b| touched(b))).collect();
    let text = haystack(answer);
    let inside = |object: &String| {
        let mut parts = object.splitn(3, '/');
        let (kind, name) = (parts.next().unwrap_or(""), parts.nth(1).unwrap_or(""));
        have.contains(object)
            || !owners.above(object).is_disjoint(&have)
            || have.iter().any(|h| owners.above(h).contains(object))
            || (!WORKLOADS.contains(&kind) && appears(name, &text))
    };
    expect.affected.iter().filter(|object| !inside(object)).map(|object| format!("{object} is not grouped under it")).collect()
}

const WORKLOADS: [&str; 7] = ["Pod", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"];

fn touched(blocker: &Blocker) -> BTreeSet<String> {
    [&blocker.root].into_iter().chain(&*blocker.affected).map(|o| plain(&o.to_string())).collect()
}

/// Cases name kinds without their group.
fn plain(reference: &str) -> String {
    let (kind, rest) = reference.split_once('/').unwrap_or((reference, ""));
    format!("{}/{rest}", kind.split('.').next().unwrap_or(kind))
}

fn haystack(b: &Blocker) -> String {
    let facts: Vec<String> = b.facts.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    let evidence: Vec<String> = b.evidence.iter().map(|e| format!("{}\n{}\n{}", e.object, e.path, e.message)).collect();
    format!("{}\n{}\n{}\n{}\n{}", b.root, b.title, b.summary, facts.join("\n"), evidence.join("\n")).to_lowercase()
}

fn alternatives(fact: &Value) -> Vec<&str> {
    fact.as_array().map_or_else(|| fact.as_str().into_iter().collect(), |all| all.iter().filter_map(Value::as_str).collect())
}

/// Whether the words stand in the text: letter case, quotes, spaces and punctuation do not count.
fn appears(needle: &str, text: &str) -> bool {
    let all: Vec<char> = text.chars().collect();
    let letters: Vec<usize> = (0..all.len()).filter(|i| all[*i].is_ascii_alphanumeric()).collect();
    let wanted: Vec<char> = needle.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let Some(last) = wanted.last() else { return text.contains(needle) };
    let joins =
        |next: Option<&char>| next.is_some_and(|c| if last.is_ascii_digit() { c.is_ascii_digit() } else { c.is_ascii_alphanumeric() });
    letters.windows(wanted.len()).any(|window| {
        let (first, end) = (window[0], window[wanted.len() - 1]);
        window.iter().map(|i| all[*i]).eq(wanted.iter().copied())
            && !(first > 0 && all[first - 1].is_ascii_alphanumeric())
            && !joins(all.get(end + 1))
    })
}

/// Who owns whom, by uid.
struct Owners {
    above: BTreeMap<String, Vec<String>>,
}

impl Owners {
    fn of(objects: &[Value]) -> Self {
        let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
        let name = |o: &Value| {
            let m = &o["metadata"];
            format!("{}/{}/{}", text(&o["kind"]), text(&m["namespace"]), text(&m["name"]))
        };
        let by_uid: BTreeMap<String, String> = objects.iter().map(|o| (text(&o["metadata"]["uid"]), name(o))).collect();
        let owners = |o: &Value| {
            let refs = o["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
            refs.iter().filter_map(|r| by_uid.get(&text(&r["uid"])).cloned()).collect()
        };
        Self { above: objects.iter().map(|o| (name(o), owners(o))).collect() }
    }

    fn above(&self, object: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut todo = vec![object.to_owned()];
        while let Some(next) = todo.pop() {
            for owner in self.above.get(&next).into_iter().flatten() {
                if found.insert(owner.clone()) {
                    todo.push(owner.clone());
                }
            }
        }
        found
    }
}
