//! The smallest pairs of objects behind many complaints about tools that compare: verdict, risk and reason of each, and no secret shown.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use holdup::desired::{Diff, Evidence, FieldDiff, Object, Verdict, diff};
use holdup::export::Paint;
use holdup::export::diff::{self as export, Compared, Compilation, Remarks};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{line, redactor};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fragment {
    n: u32,
    about: String,
    object: String,
    #[serde(default)]
    stored: Option<String>,
    desired: Value,
    live: Value,
    #[serde(default)]
    applied: Value,
    #[serde(default)]
    applied_fields: Option<Value>,
    #[serde(default)]
    by: Option<Value>,
    #[serde(default)]
    owners: Vec<Entry>,
    #[serde(default)]
    schema: Option<Value>,
    #[serde(default)]
    related: Vec<Value>,
    expect: BTreeMap<String, String>,
    #[serde(default)]
    risk: Vec<String>,
    #[serde(default)]
    calm: Vec<String>,
    #[serde(default)]
    says: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Entry {
    manager: String,
    #[serde(default)]
    operation: Option<String>,
    #[serde(default)]
    subresource: Option<String>,
    fields: Value,
}

#[test]
fn each_complaint_gets_its_verdict() {
    let mut failures = Vec::new();
    for fragment in fragments() {
        let found = fragment.compare();
        let wrong = fragment.wrong(&found);
        failures.extend(wrong.into_iter().map(|what| format!("{} {}: {what}", fragment.n, fragment.about)));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn no_byte_of_a_planted_secret_is_shown() {
    for fragment in fragments() {
        let all = Compilation::Named(vec![Compared { diff: fragment.compare(), ..Compared::default() }]);
        let texts = [export::json(&all), export::text(&all, &Remarks::default(), Paint::Plain)];
        for (canary, text) in
            ["canary", "Y2FuYXJ5", "7977977", "Nzk3Nzk3Nw", "H4sI"].iter().flat_map(|c| texts.iter().map(move |text| (c, text)))
        {
            assert!(!text.contains(canary), "{}: {text}", fragment.about);
        }
    }
}

/// Each complaint has a number; those that are no pair of objects are tests of their own.
#[test]
fn every_complaint_is_a_test() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let files = ["drift/accept.rs", "drift/complaints.rs", "drift/served.rs", "drift/watched.rs", "canary/commands.rs", "diff_screen.rs"];
    let text: String = files.iter().map(|file| std::fs::read_to_string(folder.join(file)).unwrap()).collect();
    let named = text.split("fn fragment_").skip(1).filter_map(|rest| rest.split('_').next()?.parse().ok());
    let told: BTreeSet<u32> = fragments().iter().map(|fragment| fragment.n).chain(named).collect();
    let missing: Vec<u32> = (1..=90).filter(|n| !told.contains(n)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn fragments() -> Vec<Fragment> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/drift/fragments.yaml");
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

impl Fragment {
    fn compare(&self) -> Diff {
        let redactor = redactor();
        let mut live = self.named(&self.live);
        if let Some(version) = &self.stored {
            live["apiVersion"] = json!(version);
        }
        if let Some(applied) = self.last_applied() {
            let text = applied.to_string();
            live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = json!(text);
        }
        let hand = self.by.iter().map(|fields| json!({"manager": "kubectl-edit", "operation": "Update", "fieldsV1": fields}));
        let entries = self.owners.iter().map(|e| {
            json!({"manager": e.manager, "operation": e.operation.as_deref().unwrap_or("Update"), "subresource": e.subresource, "fieldsV1": e.fields})
        });
        let entries: Vec<Value> = hand.chain(entries).collect();
        if !entries.is_empty() {
            live["metadata"]["managedFields"] = json!(entries);
        }
        let related: Vec<Arc<Value>> = self.related.iter().cloned().chain(self.definition()).map(Arc::new).collect();
        let [desired, live] = [self.named(&self.desired), live].map(|side| Object::new(side, &redactor));
        diff(&desired, &live, Evidence { released: None, related: &related })
    }

    fn named(&self, fields: &Value) -> Value {
        let (version, kind) = self.object.split_once(' ').unwrap();
        let mut object = fields.clone();
        object["apiVersion"] = json!(version);
        object["kind"] = json!(kind);
        object["metadata"]["name"] = json!("x");
        object["metadata"]["namespace"] = json!("ns");
        object
    }

    fn last_applied(&self) -> Option<Value> {
        let fields = match (&self.applied_fields, self.applied.as_str()) {
            (Some(fields), _) => fields,
            (None, Some("none")) => return None,
            (None, Some("live")) => &self.live,
            (None, _) if self.applied.is_object() => &self.applied,
            (None, _) => &self.desired,
        };
        Some(self.named(fields))
    }

    fn definition(&self) -> Option<Value> {
        let (version, kind) = self.object.split_once(' ').unwrap();
        let (group, version) = version.split_once('/')?;
        let spec = self.schema.as_ref()?;
        let mut spec = spec.clone();
        spec["type"] = json!("object");
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
        Some(
            json!({"kind": "CustomResourceDefinition", "spec": {"group": group, "names": {"kind": kind}, "versions": [{"name": version, "schema": schema}]}}),
        )
    }

    fn wrong(&self, found: &Diff) -> Vec<String> {
        let at = |path: &str| found.fields.iter().find(|field| field.path.to_string() == path);
        let mut wrong = Vec::new();
        for (path, verdict) in &self.expect {
            match at(path) {
                None => wrong.push(format!("{path}: nothing, expected {verdict}")),
                Some(field) if field.verdict.id() != verdict => wrong.push(format!("expected {verdict}: {}", line(field))),
                Some(_) => {}
            }
        }
        let unsettled = |field: &&FieldDiff| field.verdict.is_loud() || matches!(field.verdict, Verdict::Unknown | Verdict::InvalidDesired);
        let surplus = found.fields.iter().filter(unsettled).filter(|field| !self.expect.contains_key(&field.path.to_string()));
        wrong.extend(surplus.map(|field| format!("not expected: {}", line(field))));
        let field = |path: &String| at(path).unwrap_or_else(|| panic!("{}: {path} is not there", self.about));
        wrong.extend(self.risk.iter().map(field).filter(|field| field.risk.is_none()).map(|field| format!("no risk: {}", line(field))));
        wrong.extend(self.calm.iter().map(field).filter(|field| field.risk.is_some()).map(|field| format!("risk: {}", line(field))));
        let silent = self.says.iter().filter(|(path, words)| !field(path).reason.contains(words.as_str()));
        wrong.extend(silent.map(|(path, words)| format!("does not say {words}: {}", line(field(path)))));
        wrong
    }
}
