//! The objects of the test cases, each as its bytes.

use std::path::Path;

use holdup::model::Kind;
use serde_json::Value;

pub struct Corpus {
    pub objects: Vec<(Kind, Vec<u8>)>,
}

impl Corpus {
    /// Every object of every case whose kind is followed.
    pub fn open() -> Self {
        let mut objects = Vec::new();
        collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../it/cases")), &mut objects);
        assert!(objects.len() > 100, "the cases of tests/it are missing");
        Self { objects }
    }
}

fn collect(folder: &Path, objects: &mut Vec<(Kind, Vec<u8>)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).expect("a folder of cases").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, objects);
        } else if path.extension().is_some_and(|end| end == "json") {
            let text = std::fs::read(&path).expect("a case");
            walk(&serde_json::from_slice(&text).expect("a case is JSON"), objects);
        }
    }
}

/// Objects stand at any depth: in lists, and in the parts of a case.
fn walk(value: &Value, objects: &mut Vec<(Kind, Vec<u8>)>) {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = Kind::of(text("apiVersion"), text("kind"));
    if kind != Kind::Other && value.pointer("/metadata/name").is_some() {
        objects.push((kind, value.to_string().into_bytes()));
        return;
    }
    match value {
        Value::Object(map) => map.values().for_each(|value| walk(value, objects)),
        Value::Array(list) => list.iter().for_each(|value| walk(value, objects)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
