//! A service account that may read one namespace and nothing else.

use crate::holdup;
use crate::plane::Plane;
use crate::wait::{eventually, seconds};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub const NAMESPACE: &str = "one-namespace";

/// Its scope falls back to the namespace of its context, it says what it may not see, and it still names the trouble there.
pub fn one_namespace(plane: &Plane) {
    plane.apply(include_str!("scenarios/one-namespace.yaml"));
    plane.apply(&holdup::printed(plane, &["rbac", "-n", NAMESPACE]));
    let role = plane.kubectl(&["get", "roles", "-n", NAMESPACE, "-o", "name"]).expect("roles can be listed");
    let role = role.trim().rsplit('/').next().unwrap_or_default().to_owned();
    let account = format!("--serviceaccount={NAMESPACE}:reader");
    plane.kubectl(&["create", "rolebinding", "reader", "-n", NAMESPACE, "--role", &role, &account]).expect("the role can be bound");
    let kubeconfig = kubeconfig_of_reader(plane);
    eventually(seconds(30), "the reader's report names the image", || judged(plane, &kubeconfig));
}

fn kubeconfig_of_reader(plane: &Plane) -> PathBuf {
    let token = plane.kubectl(&["create", "token", "reader", "-n", NAMESPACE]).expect("a token");
    plane.kubeconfig("reader", &format!("{{token: {}}}", token.trim()), NAMESPACE)
}

fn judged(plane: &Plane, kubeconfig: &Path) -> Result<(), String> {
    let report = holdup::report_as(plane, kubeconfig, &[])?;
    let namespaces = &report["scope"]["namespaces"];
    if *namespaces != serde_json::json!([NAMESPACE]) {
        return Err(format!("the scope is {namespaces}"));
    }
    let states = [("Node", None, "denied"), ("Pod", None, "denied"), ("Pod", Some(NAMESPACE), "synced")];
    if states.iter().any(|(kind, place, is)| state(&report, kind, *place) != Some(is)) || report["complete"] != true {
        return Err(format!("the coverage is {}", report["coverage"]));
    }
    match holdup::blockers(&report).collect::<Vec<_>>().as_slice() {
        [blocker] if blocker["cause"] == "image-not-found" && blocker["affected"][0] == "Deployment/one-namespace/web" => Ok(()),
        other => Err(holdup::lines(other)),
    }
}

/// What may be seen of a kind in a namespace, or in all that are not named.
fn state<'a>(report: &'a Value, kind: &str, namespace: Option<&str>) -> Option<&'a str> {
    let entries = report["coverage"].as_array()?;
    entries.iter().find(|entry| entry["kind"] == kind && entry["namespace"].as_str() == namespace)?["state"].as_str()
}
