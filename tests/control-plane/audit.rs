//! What must hold after everything else: holdup has only read, and the run has cleaned up after itself.

use crate::plane::{HOLDUP, Plane};
use crate::wait::{eventually, seconds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Whatever holdup's users have asked for.
pub fn only_reads(plane: &Plane) {
    let mut verbs = BTreeMap::<String, (usize, String)>::new();
    for entry in entries(plane).into_iter().filter(|entry| !is_dry_run(entry)) {
        let verb = entry["verb"].as_str().unwrap_or("none").to_owned();
        verbs.entry(verb).or_insert_with(|| (0, entry["requestURI"].to_string())).0 += 1;
    }
    assert!(verbs.contains_key("list") && verbs.contains_key("watch"), "the audit log misses holdup's requests: {verbs:?}");
    let others: Vec<_> = verbs.iter().filter(|(verb, _)| !["get", "list", "watch"].contains(&verb.as_str())).collect();
    assert!(others.is_empty(), "holdup sent more than reads: {others:?}");
}

/// The one thing that is no read: in one scenario, where it is asked for by name, and with `dryRun=All`.
fn is_dry_run(entry: &Value) -> bool {
    let uri = entry["requestURI"].as_str().unwrap_or_default();
    let is_there = uri.contains(&format!("/namespaces/{}/", crate::drift_dry_run::NAMESPACE));
    matches!(entry["verb"].as_str(), Some("create" | "patch")) && is_there && uri.contains("?dryRun=All&")
}

/// What holdup has asked for, each request once, in the order in which the server began to answer.
pub fn requests(plane: &Plane) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let first = entries(plane).into_iter().filter(|entry| seen.insert(entry["auditID"].to_string()));
    first.map(|entry| entry["requestURI"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Requests of those under whose names holdup runs; the log holds what others wrote in a few namespaces as well. A line that was being
/// written when the server was killed is not counted.
fn entries(plane: &Plane) -> Vec<Value> {
    let is_ours = |entry: &Value| matches!(entry["user"]["username"].as_str(), Some(HOLDUP | "auditor" | READER));
    plane.audit_log().lines().filter_map(|line| serde_json::from_str(line).ok()).filter(is_ours).collect()
}

const READER: &str = "system:serviceaccount:one-namespace:reader";

/// Nothing in the temporary folder and no process that names it.
pub fn nothing_is_left(folder: &Path) {
    eventually(seconds(10), "folder and processes are gone", || {
        if folder.exists() {
            return Err(format!("{} is there", folder.display()));
        }
        let left = processes_that_name(folder);
        if left.is_empty() { Ok(()) } else { Err(left.join("\n")) }
    });
}

fn processes_that_name(folder: &Path) -> Vec<String> {
    let needle = folder.display().to_string();
    let commands = fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    commands.filter(|command| command.contains(&needle)).collect()
}
