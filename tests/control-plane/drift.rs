//! Desired versus live on a real API server: what kubectl and others leave behind, judged by the real binary.

use crate::holdup;
use crate::plane::Plane;
use crate::wait::{eventually, seconds};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Runs `holdup diff -o json`, which must exit with this code.
pub fn diff(plane: &Plane, kubeconfig: &Path, arguments: &[&str], code: i32) -> Value {
    let output = holdup::run(plane, kubeconfig, &[&["diff", "-o", "json", "--request-timeout=30s"], arguments].concat());
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "holdup diff {arguments:?}\n{out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|why| panic!("holdup diff {arguments:?}: {why}\n{out}\n{err}"))
}

/// What it says on standard error when it cannot run.
fn refusal(plane: &Plane, arguments: &[&str]) -> String {
    let output = holdup::run(plane, &plane.holdup_kubeconfig(), &[&["diff"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn loud(diff: &Value) -> Vec<&Value> {
    let fields = diff["fields"].as_array().into_iter().flatten();
    fields.filter(|field| matches!(field["verdict"].as_str(), Some("drift" | "pending" | "conflict" | "invalid-desired"))).collect()
}

#[track_caller]
fn written_by<'a>(diff: &'a Value, path: &str, manager: &str) -> &'a Value {
    let found = loud(diff).into_iter().find(|field| field["path"] == path);
    let field = found.unwrap_or_else(|| panic!("no drift at {path}: {diff:#}"));
    assert_eq!((&field["verdict"], &field["owner"]["manager"]), (&json!("drift"), &json!(manager)), "{field:#}");
    field
}

pub fn file(plane: &Plane, name: &str, text: &str) -> String {
    let path = plane.folder().join(name);
    fs::write(&path, text).expect("the file can be written");
    path.display().to_string()
}

/// Somebody who may read everything, and whose requests are in the audit log as holdup's own.
pub fn auditor(plane: &Plane) -> PathBuf {
    plane.kubeconfig("auditor", "{token: token-of-auditor}", "default")
}

#[track_caller]
pub fn kubectl(plane: &Plane, arguments: &[&str]) -> String {
    plane.kubectl(arguments).unwrap_or_else(|why| panic!("kubectl {arguments:?}: {why}"))
}

const WEB: &str = include_str!("scenarios/drift.yaml");
const IMAGE: &str = "spec.template.spec.containers[name=main].image";

/// What was applied has no drift; each hand behind it is named.
pub fn hands_are_named(plane: &Plane) {
    let manifest = file(plane, "drift-client.yaml", &WEB.replace("NAMESPACE", "drift-client"));
    eventually(seconds(30), "the manifests are applied", || plane.kubectl(&["apply", "-f", &manifest]));
    let holdup = plane.holdup_kubeconfig();
    let named = |code| diff(plane, &holdup, &["deploy/web", "-n", "drift-client"], code);
    let found = named(0);
    assert_eq!(found["desiredSource"], "last-applied annotation of kubectl", "{found:#}");
    assert!(found["desiredAt"].is_string() && found["cannotShow"].is_string(), "{found:#}");
    let all = diff(plane, &holdup, &["-f", &manifest], 0);
    assert_eq!(all["items"].as_array().map(Vec::len), Some(4), "{all:#}");
    assert!(all["items"].as_array().into_iter().flatten().all(|one| loud(one).is_empty()), "{all:#}");

    kubectl(plane, &["set", "image", "deploy/web", "main=registry.test/web:2", "-n", "drift-client"]);
    kubectl(plane, &["scale", "deploy/web", "--replicas=3", "-n", "drift-client"]);
    kubectl(plane, &["patch", "deploy/web", "-n", "drift-client", "-p", r#"{"spec":{"minReadySeconds":7}}"#]);
    let edited = plane
        .kubectl_command(&["edit", "cm/settings", "-n", "drift-client"])
        .env("KUBE_EDITOR", "sed -i /^..colour/s/blue/green/")
        .output();
    assert!(edited.expect("kubectl starts").status.success());
    let found = named(1);
    let image = written_by(&found, IMAGE, "kubectl-set");
    assert_eq!((&image["desired"], &image["live"]), (&json!("registry.test/web:1"), &json!("registry.test/web:2")));
    assert!(image["risk"].is_string() && image["owner"]["class"] == "person", "{image:#}");
    assert_eq!(written_by(&found, "spec.replicas", "kubectl")["owner"]["subresource"], "scale");
    written_by(&found, "spec.minReadySeconds", "kubectl-patch");
    assert_eq!(loud(&found).len(), 3, "{found:#}");
    written_by(&diff(plane, &holdup, &["cm/settings", "-n", "drift-client"], 1), "data.colour", "kubectl-edit");
    let all = diff(plane, &holdup, &["--all", "-n", "drift-client"], 1);
    let items = all["items"].as_array().expect("items");
    assert_eq!(items.len(), 3, "{all:#}");
    assert_eq!(
        (&items[0]["object"], &items[1]["object"]),
        (&json!("Deployment/drift-client/web"), &json!("ConfigMap/drift-client/settings"))
    );
}

/// An autoscaler that sets replicas does what it is there for.
pub fn an_autoscaler_owns_replicas(plane: &Plane) {
    let text = WEB.replace("NAMESPACE", "drift-scaled").replace("replicas: 0", "replicas: 1");
    let scaler = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {namespace: drift-scaled, name: web}\n\
        spec: {minReplicas: 2, maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
    plane.apply(&(text + scaler));
    eventually(seconds(60), "the autoscaler scales to its least", || {
        let web = plane.api.get("/apis/apps/v1/namespaces/drift-scaled/deployments/web")?;
        if web["spec"]["replicas"] == 2 { Ok(()) } else { Err(web["spec"]["replicas"].to_string()) }
    });
    let found = diff(plane, &plane.holdup_kubeconfig(), &["deploy/web", "-n", "drift-scaled"], 0);
    let field = found["fields"].as_array().into_iter().flatten().find(|field| field["path"] == "spec.replicas");
    let field = field.unwrap_or_else(|| panic!("replicas are left out: {found:#}"));
    assert_eq!((&field["verdict"], &field["owner"]["manager"]), (&json!("controller"), &json!("kube-controller-manager")), "{field:#}");
    assert!(field["reason"].as_str().is_some_and(|reason| reason.contains("HorizontalPodAutoscaler web")), "{field:#}");
}

/// Applied on the server: manifests show no drift; without them what the applier owns is what there is to compare with.
pub fn appliers_are_told_apart(plane: &Plane) {
    let text = WEB.replace("NAMESPACE", "drift-server");
    let manifest = file(plane, "drift-server.yaml", &text);
    eventually(seconds(30), "the manifests are applied", || plane.kubectl(&["apply", "--server-side", "-f", &manifest]));
    let holdup = plane.holdup_kubeconfig();
    diff(plane, &holdup, &["-f", &manifest], 0);
    let found = diff(plane, &holdup, &["deploy/web", "-n", "drift-server"], 0);
    assert!(
        found["desiredSource"].as_str().is_some_and(|source| source.starts_with("server-side apply by kubectl, last applied")),
        "{found:#}"
    );
    assert!(found["cannotShow"].as_str().is_some_and(|cannot| cannot.starts_with("values")), "{found:#}");
    kubectl(plane, &["set", "env", "deploy/web", "SPEED=high", "-n", "drift-server"]);
    let found = diff(plane, &holdup, &["deploy/web", "-n", "drift-server"], 1);
    written_by(&found, "spec.template.spec.containers[name=main].env[name=SPEED]", "kubectl-set");
    kubectl(plane, &["set", "env", "deploy/web", "SPEED-", "-n", "drift-server"]);

    let other = file(plane, "drift-other.yaml", &text.replace("web:1", "web:9"));
    kubectl(plane, &["apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", &other]);
    let found = diff(plane, &holdup, &["-f", &manifest, "deploy/web"], 1);
    let image = written_by(&found, IMAGE, "other");
    assert!(image["reason"].as_str().is_some_and(|reason| reason.contains("second applier")), "{image:#}");
    diff(plane, &holdup, &["-f", &other], 0);
}

/// What does not exist and what may not be read are two things.
pub fn forbidden_is_not_missing(plane: &Plane) {
    kubectl(plane, &["create", "ns", "drift-rights"]);
    kubectl(plane, &["create", "secret", "generic", "hidden", "--from-literal=word=a-planted-secret", "-n", "drift-rights"]);
    let holdup = plane.holdup_kubeconfig();
    let found = diff(plane, &holdup, &["secret/hidden", "-n", "drift-rights"], 3);
    assert!(found["unread"].as_str().is_some_and(|why| why.contains("secrets \"hidden\" is forbidden")), "{found:#}");
    assert!(refusal(plane, &["deploy/nowhere", "-n", "drift-rights"]).contains("deployments.apps \"nowhere\" not found"));
    assert!(refusal(plane, &["gadget/one"]).contains("the cluster has no kind gadget"));
    assert!(refusal(plane, &[]).contains("nothing is named"));
    let manifest = file(plane, "nowhere.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nowhere, namespace: drift-rights}\n");
    let found = diff(plane, &holdup, &["-f", &manifest], 1);
    assert_eq!((&found["fields"][0]["verdict"], &found["fields"][0]["live"]), (&json!("pending"), &Value::Null), "{found:#}");
    let text = kubectl(plane, &["get", "secret", "hidden", "-n", "drift-rights", "-o", "yaml"]);
    let own = file(plane, "hidden.yaml", &text);
    let found = diff(plane, &auditor(plane), &["-f", &own], 0);
    assert!(!found.to_string().contains("YS1wbGFudGVkLXNlY3JldA"), "{found:#}");
}

/// Kinds that the cluster learns later, by their definitions.
pub fn custom_kinds_are_compared(plane: &Plane) {
    plane.apply(include_str!("scenarios/drift-definition.yaml"));
    let manifest = file(plane, "gizmo.yaml", include_str!("scenarios/drift-custom.yaml"));
    eventually(seconds(30), "the custom object is accepted", || plane.kubectl(&["apply", "-f", &manifest]));
    let auditor = auditor(plane);
    diff(plane, &auditor, &["gizmo/one"], 0);
    let patch = r#"{"spec":{"size":"huge"}}"#;
    kubectl(plane, &["patch", "gizmo", "one", "--type=merge", "-p", patch]);
    for arguments in [&["gizmos.drift.test/one"][..], &["-f", &manifest]] {
        written_by(&diff(plane, &auditor, arguments, 1), "spec.size", "kubectl-patch");
    }
}

/// A release says what was asked for, also of what is gone; its records are opened only by who may.
pub fn a_release_is_compared(plane: &Plane) {
    kubectl(plane, &["create", "ns", "drift-helm"]);
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {k: '1'}\n---\n\
        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n";
    for (revision, status) in [(1, "superseded"), (2, "deployed"), (3, "failed")] {
        let info = json!({"status": status, "last_deployed": "2026-05-04T10:12:00Z"});
        let release = json!({"name": "shop", "namespace": "drift-helm", "version": revision, "info": info, "manifest": manifest});
        let name = format!("sh.helm.release.v1.shop.v{revision}");
        let labels = json!({"owner": "helm", "name": "shop", "status": status, "version": revision.to_string()});
        let record = json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
            "metadata": {"name": name, "labels": labels}, "stringData": {"release": base64(&release.to_string())}});
        plane.api.create("/api/v1/namespaces/drift-helm/secrets", &record).expect("the record is stored");
    }
    let notes = json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "drift-helm"});
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "2"}, "metadata": {"name": "kept", "annotations": notes,
        "labels": {"app.kubernetes.io/managed-by": "Helm"}}});
    plane.api.create("/api/v1/namespaces/drift-helm/configmaps", &live).expect("the object is stored");
    let auditor = auditor(plane);
    let found = diff(plane, &auditor, &["--release", "shop", "-n", "drift-helm"], 1);
    let of =
        |name: &str| found["items"].as_array().into_iter().flatten().find(|one| one["object"] == format!("ConfigMap/drift-helm/{name}"));
    assert_eq!(of("gone").expect("gone is listed")["fields"][0]["verdict"], "pending", "{found:#}");
    assert_eq!(loud(of("kept").expect("kept is listed"))[0]["path"], "data.k", "{found:#}");
    let found = diff(plane, &auditor, &["cm/kept", "-n", "drift-helm"], 1);
    assert!(found["desiredSource"].as_str().is_some_and(|source| source.starts_with("helm release shop, revision 2")), "{found:#}");
    assert_eq!(found["otherSources"].as_array().map(Vec::len), Some(1), "{found:#}");
    let blind = diff(plane, &plane.holdup_kubeconfig(), &["cm/kept", "-n", "drift-helm"], 3);
    assert!(blind["unchecked"][0]["why"].as_str().is_some_and(|why| why.contains("forbidden")), "{blind:#}");
    diff(plane, &plane.holdup_kubeconfig(), &["--release", "shop", "-n", "drift-helm"], 3);
    let nowhere = holdup::run(plane, &auditor, &["diff", "--release", "shop", "-n", "default"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("no record of a Helm release shop in namespace default"));
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Whatever is read back and compared with itself has no differences to look at: every kind that is served, with what it holds.
pub fn everything_equals_itself(plane: &Plane) {
    plane.apply(include_str!("scenarios/drift-kinds.yaml"));
    let names = kubectl(plane, &["api-resources", "--verbs=list,get", "-o", "name"]);
    // What changes by itself between two reads says nothing.
    let kinds = names
        .lines()
        .filter(|name| !["events", "leases.coordination.k8s.io", "componentstatuses"].iter().any(|left| name.starts_with(left)));
    let (mut seen, mut empty) = (0, Vec::new());
    for kind in kinds {
        let text = kubectl(plane, &["get", kind, "-A", "-o", "json", "--show-managed-fields"]);
        let list: Value = serde_json::from_str(&text).expect("kubectl prints JSON");
        let count = list["items"].as_array().map_or(0, Vec::len);
        if count == 0 {
            empty.push(kind);
            continue;
        }
        seen += 1;
        let path = file(plane, "self.json", &text);
        // What went or was changed by its controller meanwhile is read again.
        eventually(seconds(20), &format!("{kind} equal themselves"), || {
            let text = plane.kubectl(&["get", kind, "-A", "-o", "json", "--show-managed-fields"])?;
            fs::write(&path, text).map_err(|why| why.to_string())?;
            let output = holdup::run(plane, &auditor(plane), &["diff", "-o", "json", "-f", &path]);
            let found: Value =
                serde_json::from_slice(&output.stdout).map_err(|why| format!("{why}: {}", String::from_utf8_lossy(&output.stderr)))?;
            let one = std::slice::from_ref(&found);
            let items = found["items"].as_array().map_or(one, Vec::as_slice);
            let said: Vec<String> = items.iter().flat_map(|o| loud(o).into_iter().map(|f| format!("{} {f}", o["object"]))).collect();
            if output.status.code() == Some(0) && said.is_empty() { Ok(()) } else { Err(said.join("\n")) }
        });
    }
    assert!(seen >= 40, "only {seen} kinds were there; empty were {empty:?}");
}
