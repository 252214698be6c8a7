//! What managedFields say on a real API server, row by row of the table in src/desired: who owns a path after each kind of request,
//! and what holdup makes of it.

use crate::drift::{auditor, file, kubectl};
use crate::holdup;
use crate::plane::Plane;
use crate::wait::{eventually, seconds};
use serde_json::{Value, json};

const DEPLOYMENT: &str = include_str!("scenarios/drift-owned.yaml");
pub const IMAGE: &str = "spec.template.spec.containers[name=main].image";

pub fn manifest(namespace: &str, name: &str) -> String {
    DEPLOYMENT.replace("NAMESPACE", namespace).replace("NAME", name)
}

/// What `holdup diff` says, whatever code it ends with.
pub fn found(plane: &Plane, arguments: &[&str]) -> Value {
    let output = holdup::run(plane, &auditor(plane), &[&["diff", "-o", "json", "--request-timeout=30s"], arguments].concat());
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    serde_json::from_str(&out).unwrap_or_else(|why| panic!("holdup diff {arguments:?}: {why}\n{out}\n{err}"))
}

/// A path, its verdict, its owner ("" for nobody) and words of its reason.
pub type Row = (&'static str, &'static str, &'static str, &'static str);

/// Every row holds, and nothing else needs anybody.
#[track_caller]
pub fn rows_hold(found: &Value, rows: &[Row]) {
    let fields: Vec<&Value> = found["fields"].as_array().into_iter().flatten().collect();
    let mut wrong = Vec::new();
    for (path, verdict, owner, words) in rows {
        let Some(field) = fields.iter().find(|field| field["path"] == *path) else {
            wrong.push(format!("nothing at {path}"));
            continue;
        };
        let said = (&field["verdict"], field["owner"]["manager"].as_str().unwrap_or_default());
        if said != (&json!(verdict), owner) || !field["reason"].as_str().is_some_and(|reason| reason.contains(words)) {
            wrong.push(format!("{path}, expected {verdict} by {owner:?}, {words:?}: {field}"));
        }
    }
    let is_loud =
        |field: &&&Value| matches!(field["verdict"].as_str(), Some("drift" | "pending" | "conflict" | "unknown" | "invalid-desired"));
    let surplus = fields.iter().filter(is_loud).filter(|field| !rows.iter().any(|(path, ..)| field["path"] == *path));
    wrong.extend(surplus.map(|field| format!("not expected: {field}")));
    assert!(wrong.is_empty(), "{}: {}", found["object"], wrong.join("\n"));
}

/// The managers that own a path, as the API server has it.
fn owners(plane: &Plane, path: &str, pointer: &str) -> Vec<String> {
    let object = plane.api.get(path).expect("the object is there");
    let entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let owned = entries.iter().filter(|entry| entry["fieldsV1"].pointer(pointer).is_some());
    owned.map(|entry| entry["manager"].as_str().unwrap_or_default().to_owned()).collect()
}

fn deployment(namespace: &str, name: &str) -> String {
    format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
}

/// Applied by the client: what it owns, what others took, what nobody owns any more.
pub fn after_client_side_apply(plane: &Plane) {
    let space = "drift-owned-client";
    kubectl(plane, &["create", "ns", space]);
    let text = manifest(space, "web");
    let path = file(plane, "owned-client.yaml", &text);
    kubectl(plane, &["apply", "-f", &path]);
    let patch = |manager: &str, patch: &str| {
        kubectl(plane, &["patch", "deploy/web", "-n", space, "--field-manager", manager, "-p", patch]);
    };
    patch("kubectl-patch", r#"{"spec":{"minReadySeconds":7}}"#);
    patch("kubectl-patch", r#"{"metadata":{"annotations":{"note":null}}}"#);
    patch("robot", r#"{"metadata":{"labels":{"robot":"yes"}}}"#);
    patch("robot", r#"{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":9}}}}"#);
    patch("kube-controller-manager", r#"{"spec":{"template":{"spec":{"dnsPolicy":"Default"}}}}"#);
    let rows: &[Row] = &[
        ("spec.minReadySeconds", "drift", "kubectl-patch", "a tool that people use"),
        ("metadata.annotations.note", "drift", "", "a removal leaves neither owner nor trace"),
        ("metadata.labels.robot", "controller", "robot", "unidentified controller"),
        ("spec.template.spec.terminationGracePeriodSeconds", "drift", "robot", "an unidentified program"),
        ("spec.template.spec.dnsPolicy", "drift", "kube-controller-manager", "not a field that it is known to keep"),
        ("spec.strategy", "defaulted", "kubectl-client-side-apply", "the API's default"),
        ("spec.template.spec.restartPolicy", "defaulted", "kubectl-client-side-apply", "the API's default"),
    ];
    rows_hold(&found(plane, &["deploy/web", "-n", space]), rows);
    // A manifest that is newer: what it changes and what it no longer has.
    let newer = text.replace("progressDeadlineSeconds: 300", "progressDeadlineSeconds: 400").replace(", env: [{name: A, value: '1'}]", "");
    let newer = file(plane, "owned-client-newer.yaml", &newer);
    let more: &[Row] = &[
        ("spec.progressDeadlineSeconds", "pending", "kubectl-client-side-apply", "desired is newer"),
        ("spec.template.spec.containers[name=main].env", "pending", "kubectl-client-side-apply", "no longer asked for"),
    ];
    rows_hold(&found(plane, &["-f", &newer, "deploy/web", "-n", space]), &[rows, more].concat());
}

/// Applied on the server: defaults have no owner, what was taken by force has a new one.
pub fn after_server_side_apply(plane: &Plane) {
    let space = "drift-owned-server";
    kubectl(plane, &["create", "ns", space]);
    let text = manifest(space, "web");
    let path = file(plane, "owned-server.yaml", &text);
    kubectl(plane, &["apply", "--server-side", "-f", &path]);
    kubectl(plane, &["annotate", "deploy/web", "-n", space, "note-"]);
    let part = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{namespace: {space}, name: web}}\nspec: {{template: {{spec: {{containers: \
         [{{name: main, image: 'registry.test/web:9'}}]}}}}}}\n"
    );
    let part = file(plane, "owned-part.yaml", &part);
    kubectl(plane, &["apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", &part]);
    let newer = file(plane, "owned-server-newer.yaml", &text.replace("  minReadySeconds: 5\n", ""));
    rows_hold(
        &found(plane, &["-f", &newer, "deploy/web", "-n", space]),
        &[
            (IMAGE, "drift", "other", "second applier"),
            ("metadata.annotations.note", "drift", "", "somebody removed it"),
            ("spec.minReadySeconds", "pending", "kubectl", "the next apply removes it"),
            ("spec.template.spec.dnsPolicy", "defaulted", "", "the API's default"),
            ("spec.revisionHistoryLimit", "defaulted", "", "the API's default"),
        ],
    );
}

/// What the scale subresource, an object without managedFields, `kubectl create` and `kubectl replace` leave behind.
pub fn where_no_owner_is_left(plane: &Plane) {
    let space = "drift-owned-odd";
    kubectl(plane, &["create", "ns", space]);
    untraced_scale(plane, space);
    untracked_object(plane, space);
    orphan(plane, space);
    replaced(plane, space);
}

/// Nobody owned replicas, and after a scale request nobody does. Somebody owned them, and after a request for 0 nobody does.
fn untraced_scale(plane: &Plane, space: &str) {
    // Paused, so that the pods of these never come to be.
    let paused = manifest(space, "unscaled").replace("replicas: 0", "paused: true");
    let owned = manifest(space, "emptied").replace("replicas: 0", "replicas: 2\n  paused: true");
    for (name, text, replicas, words) in [
        ("unscaled", paused, "--replicas=3", "leaves no trace where nobody owned the field"),
        ("emptied", owned, "--replicas=0", "scaled to 0 through the scale subresource"),
    ] {
        let path = file(plane, &format!("{name}.yaml"), &text);
        kubectl(plane, &["apply", "--server-side", "-f", &path]);
        kubectl(plane, &["scale", "deploy", name, replicas, "-n", space]);
        assert_eq!(owners(plane, &deployment(space, name), "/f:spec/f:replicas"), [""; 0], "{name}");
        let found = found(plane, &["-f", &path, &format!("deploy/{name}"), "-n", space]);
        rows_hold(&found, &[("spec.replicas", "drift", "", words)]);
    }
}

/// Once its managedFields are gone, no later update brings them back; server-side apply does.
fn untracked_object(plane: &Plane, space: &str) {
    let path = file(plane, "untracked.yaml", &config(space, "untracked", "{a: '1', b: '1'}"));
    kubectl(plane, &["apply", "-f", &path]);
    kubectl(plane, &["patch", "cm/untracked", "-n", space, "--type=merge", "-p", r#"{"metadata":{"managedFields":[{}]}}"#]);
    kubectl(plane, &["patch", "cm/untracked", "-n", space, "--type=merge", "-p", r#"{"data":{"a":"2"}}"#]);
    let live = plane.api.get(&format!("/api/v1/namespaces/{space}/configmaps/untracked")).expect("it is there");
    assert_eq!(live["metadata"]["managedFields"], Value::Null, "{live:#}");
    rows_hold(&found(plane, &["cm/untracked", "-n", space]), &[("data.a", "drift", "", "no managedFields to say who wrote it")]);
    kubectl(plane, &["apply", "--server-side", "--force-conflicts", "-f", &path]);
    assert_eq!(owners(plane, &format!("/api/v1/namespaces/{space}/configmaps/untracked"), "/f:data/f:a"), ["kubectl"]);
}

/// What the creating client set once and nothing asks for any more.
fn orphan(plane: &Plane, space: &str) {
    let path = file(plane, "orphan.yaml", &config(space, "orphan", "{a: '1', b: '1', c: '1'}"));
    kubectl(plane, &["create", "-f", &path]);
    let path = file(plane, "orphan.yaml", &config(space, "orphan", "{a: '1', b: '1'}"));
    let found = found(plane, &["-f", &path, "cm/orphan", "-n", space]);
    rows_hold(&found, &[("data.c", "drift", "kubectl-create", "orphaned ownership")]);
}

/// `kubectl replace` writes the whole live object into the copy of what was applied.
fn replaced(plane: &Plane, space: &str) {
    let path = file(plane, "replaced.yaml", &config(space, "replaced", "{a: '1', b: '1'}"));
    kubectl(plane, &["apply", "-f", &path]);
    let live = kubectl(plane, &["get", "cm/replaced", "-n", space, "-o", "json"]).replace("\"a\": \"1\"", "\"a\": \"2\"");
    let whole = file(plane, "replaced.json", &live);
    kubectl(plane, &["replace", "-f", &whole]);
    let live = plane.api.get(&format!("/api/v1/namespaces/{space}/configmaps/replaced")).expect("it is there");
    let copy = live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].as_str().expect("a copy");
    assert!(copy.contains(r#""a":"2""#) && copy.contains("uid"), "{copy}");
    rows_hold(
        &found(plane, &["-f", &path, "cm/replaced", "-n", space]),
        &[("data.a", "drift", "kubectl-replace", "a tool that people use")],
    );
}

fn config(space: &str, name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{namespace: {space}, name: {name}}}\ndata: {data}\n")
}

/// What a policy adds and rewrites, on create, on a patch and on a plain update: the applier stays the owner of what it sent, also of
/// the whole of an atomic list; what is added elsewhere has no owner.
pub fn a_policy_mutates(plane: &Plane) {
    plane.apply(include_str!("scenarios/drift-policy.yaml"));
    kubectl(plane, &["create", "ns", "drift-mutated"]);
    let path = |name: &str| file(plane, &format!("mutated-{name}.yaml"), &manifest("drift-mutated", name));
    // Two that are there before the policy reaches their namespace.
    kubectl(plane, &["apply", "-f", &path("patched")]);
    kubectl(plane, &["apply", "-f", &path("updated")]);
    kubectl(plane, &["label", "ns", "drift-mutated", "mirrored=yes"]);
    let probe = path("probe");
    eventually(seconds(60), "the policy mutates", || {
        let text = plane.kubectl(&["create", "--dry-run=server", "-o", "json", "-f", &probe])?;
        if text.contains("mirror.test") { Ok(()) } else { Err(text) }
    });
    kubectl(plane, &["apply", "-f", &path("client")]);
    kubectl(plane, &["apply", "--server-side", "-f", &path("server")]);
    kubectl(plane, &["patch", "deploy/patched", "-n", "drift-mutated", "-p", r#"{"spec":{"minReadySeconds":7}}"#]);
    updated(plane);
    let client = ("kubectl-client-side-apply", "admission", ["admission rewrote it", "admission added it"]);
    // Without a copy of what was applied it cannot be told from a manifest that is newer, and the reason says so.
    let server = ("kubectl", "pending", ["or admission rewrote the value", "or admission added this"]);
    for (name, (owner, verdict, [rewrote, added]), by_hand) in [
        ("client", client, None),
        ("server", server, None),
        ("patched", client, Some(("spec.minReadySeconds", "drift", "kubectl-patch", ""))),
        ("updated", client, Some(("spec.minReadySeconds", "drift", "plain-update", "an unidentified program"))),
    ] {
        let rows: [Row; 3] = [
            (IMAGE, verdict, owner, rewrote),
            ("metadata.labels.injected", "admission", "", "an admission plugin added it"),
            ("spec.template.spec.tolerations[key=added,operator=Exists]", verdict, owner, added),
        ];
        let rows: Vec<Row> = rows.into_iter().chain(by_hand).collect();
        rows_hold(&found(plane, &["-f", &path(name), &format!("deploy/{name}"), "-n", "drift-mutated"]), &rows);
    }
}

/// The whole object, written back by a client that neither patches nor applies.
fn updated(plane: &Plane) {
    let path = deployment("drift-mutated", "updated");
    eventually(seconds(20), "nobody writes in between", || {
        let mut object = plane.api.get(&path)?;
        object["spec"]["minReadySeconds"] = json!(7);
        plane.api.replace(&format!("{path}?fieldManager=plain-update"), &object)
    });
}
