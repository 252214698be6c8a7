//! Requests: what a server was asked, and whether that is exactly what a first sync needs.

use std::collections::BTreeMap;
use std::time::Duration;

use holdup::archive::Archive;
use serde_json::{Value, json};

/// As many objects as a page holds.
const PAGE: u64 = 500;

/// What was asked since the last time this was asked for, by path and shape.
#[derive(Default)]
pub struct Seen {
    requests: BTreeMap<(String, &'static str), u64>,
    /// When the first list of pods began to be answered.
    pub pods: Option<Duration>,
}

impl Seen {
    pub fn note(&mut self, path: &str, query: &str) {
        *self.requests.entry((path.to_owned(), shape(query))).or_default() += 1;
    }

    pub fn json(&self, archive: &Archive) -> Value {
        let requests: BTreeMap<String, u64> =
            self.requests.iter().map(|((path, shape), count)| (format!("{path} {shape}"), *count)).collect();
        json!({"requests": requests, "all": requests.values().sum::<u64>(), "beyond": self.beyond(archive),
            "pods_ns": self.pods.map(|at| at.as_nanos() as u64)})
    }

    /// How many requests a first sync made too many or too few: each list once, by pages and a watch or as a stream, and all else once.
    fn beyond(&self, archive: &Archive) -> u64 {
        let count = |path: &String, shape| self.requests.get(&(path.clone(), shape)).copied().unwrap_or(0);
        let exact = |path: &String, shape| match shape {
            "page" => pages(archive, path),
            "watch" => u64::from(count(path, "page") > 0),
            _ => u64::from(count(path, "page") == 0 || shape == "get"),
        };
        let asked = self.requests.iter().map(|((path, shape), count)| count.abs_diff(exact(path, shape)));
        let paged = self.requests.keys().filter(|(path, shape)| *shape == "page" && count(path, "watch") == 0);
        asked.sum::<u64>() + paged.count() as u64
    }
}

/// As many as hold all objects of a list; a list of none has one.
fn pages(archive: &Archive, path: &str) -> u64 {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, namespace) = match parts[..] {
        ["apis", group, _, "namespaces", namespace, _] => (group, Some(namespace)),
        ["apis", group, ..] => (group, None),
        ["api", _, "namespaces", namespace, _] => ("", Some(namespace)),
        _ => ("", None),
    };
    let kind = archive.resource(group, parts.last().copied().unwrap_or_default());
    kind.map_or(1, |kind| (archive.objects(kind, namespace).len() as u64).div_ceil(PAGE).max(1))
}

fn shape(query: &str) -> &'static str {
    if query.contains("sendInitialEvents=true") {
        "stream"
    } else if query.contains("watch=true") {
        "watch"
    } else if query.contains("limit=") {
        "page"
    } else {
        "get"
    }
}
