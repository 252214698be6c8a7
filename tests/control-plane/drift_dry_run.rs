//! Server-side dry runs on a real API server with a policy that mutates: what it decides, what it refuses, and that nothing is stored.

use crate::drift::{auditor, diff, file, kubectl};
use crate::plane::Plane;
use crate::wait::{eventually, seconds};
use serde_json::{Value, json};

/// The only place in which holdup sends what is no read.
pub const NAMESPACE: &str = "drift-dry";

/// Defaults, admission and drift are told apart; who may not patch is told so, and gets the offline verdicts.
pub fn the_server_decides(plane: &Plane) {
    plane.apply(include_str!("scenarios/drift-dry-run.yaml"));
    let manifest = file(plane, "drift-dry.yaml", MANIFEST);
    eventually(seconds(60), "the policy mutates", || {
        kubectl(plane, &["delete", "configmap", "settings", "-n", NAMESPACE, "--ignore-not-found"]);
        plane.kubectl(&["apply", "-f", &manifest])?;
        let found = plane.api.get("/api/v1/namespaces/drift-dry/configmaps/settings")?;
        if found["data"]["team"] == "a" { Ok(()) } else { Err(found["data"].to_string()) }
    });
    kubectl(plane, &["patch", "configmap", "settings", "-n", NAMESPACE, "--type=merge", "-p", r#"{"data":{"k":"2"}}"#]);
    let before = stored(plane);
    let auditor = auditor(plane);
    let found = diff(plane, &auditor, &["cm/settings", "-n", NAMESPACE, "--dry-run=server"], 1);
    assert_eq!(found["dryRun"], json!({"apply": null, "create": null}), "{found:#}");
    let verdicts = ["image", "team", "k"].map(|key| at(&found, &format!("data.{key}"))["verdict"].clone());
    assert_eq!(verdicts, [json!("admission"), json!("admission"), json!("drift")], "{found:#}");
    assert!(
        at(&found, "data.team")["reason"].as_str().is_some_and(|reason| reason.contains("a new object gets it from admission")),
        "{found:#}"
    );

    let found = diff(plane, &auditor, &["deploy/web", "-n", NAMESPACE, "--dry-run=server"], 0);
    assert_eq!(found["dryRun"], json!({"apply": null, "create": null}), "{found:#}");
    let defaulted = found["fields"].as_array().into_iter().flatten().filter(|field| field["verdict"] == "defaulted");
    let by_server =
        defaulted.filter(|field| field["reason"].as_str().is_some_and(|reason| reason.contains("a new object gets it by default")));
    assert!(by_server.count() >= 5, "{found:#}");

    let refused = diff(plane, &plane.holdup_kubeconfig(), &["cm/settings", "-n", NAMESPACE, "--dry-run=server"], 1);
    for (probe, verb) in [("apply", "the verb patch"), ("create", "the verb create")] {
        assert!(refused["dryRun"][probe].as_str().is_some_and(|why| why.contains(verb)), "{refused:#}");
    }
    assert_eq!(stored(plane), before, "something was stored");
}

const MANIFEST: &str = "apiVersion: v1
kind: ConfigMap
metadata: {namespace: drift-dry, name: settings}
data: {image: 'fluent:2', k: '1'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: drift-dry, name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: 'registry.test/web:1', ports: [{containerPort: 80}]}
";

/// Names and versions of everything in the namespace that a dry run touches.
fn stored(plane: &Plane) -> Vec<(Value, Value)> {
    let paths = ["/api/v1/namespaces/drift-dry/configmaps", "/apis/apps/v1/namespaces/drift-dry/deployments"];
    let lists = paths.map(|path| plane.api.get(path).expect("the list"));
    let items = lists.iter().flat_map(|list| list["items"].as_array().into_iter().flatten());
    items.map(|item| (item["metadata"]["name"].clone(), item["data"].clone())).collect()
}

#[track_caller]
fn at<'a>(found: &'a Value, path: &str) -> &'a Value {
    let fields = found["fields"].as_array().into_iter().flatten();
    fields.clone().find(|field| field["path"] == path).unwrap_or_else(|| panic!("nothing at {path}: {found:#}"))
}
