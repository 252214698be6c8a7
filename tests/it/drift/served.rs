//! The diff of a cluster by the real program: which sources it finds there, what it opens for them, and what it says where it may not.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::server::{Cluster, Request, Server, refusal};
use crate::terminal::Terminal;

pub const SOON: Duration = Duration::from_secs(60);

pub fn holdup(server: &Server, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command.args(args).args(["--server", &server.url]).env("TERM", "xterm-256color").env("TZ", "UTC").env_remove("NO_COLOR");
    for (name, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served").join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        command.env(name, folder);
    }
    command.env("KUBECONFIG", "/nonexistent/kubeconfig");
    command
}

#[track_caller]
pub fn text(server: &Server, args: &[&str], expected: i32) -> String {
    let output = holdup(server, &[&["diff"], args].concat()).output().expect("it starts");
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(expected), "{args:?}\n{out}\n{err}");
    out
}

#[track_caller]
pub fn diff(server: &Server, args: &[&str], expected: i32) -> Value {
    serde_json::from_str(&text(server, &[args, &["-o", "json"]].concat(), expected)).expect("JSON")
}

/// A ConfigMap that Helm installed, as it is now.
pub fn settings() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "2"}, "metadata": {"name": "settings", "namespace": "shop",
        "annotations": {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"},
        "labels": {"app.kubernetes.io/managed-by": "Helm"}}})
}

/// One of Helm's records; `layers` of base64, as its driver writes them.
pub fn record(kind: &str, revision: i64, status: &str) -> Value {
    let manifest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {k: '1'}\n";
    let info = json!({"status": status, "last_deployed": "2026-05-04T10:12:00Z"});
    let release = json!({"name": "shop", "namespace": "shop", "version": revision, "info": info, "manifest": manifest}).to_string();
    let layers = if kind == "Secret" { 2 } else { 1 };
    let packed = (0..layers).fold(release, |text, _| STANDARD.encode(text));
    let labels = json!({"owner": "helm", "name": "shop", "status": status, "version": revision.to_string()});
    let name = format!("sh.helm.release.v1.shop.v{revision}");
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop", "labels": labels}, "data": {"release": packed}})
}

#[test]
fn the_dashboard_opens_helms_records_when_somebody_asks_for_the_diff_and_not_before() {
    for kind in ["Secret", "ConfigMap"] {
        let cluster = [record(kind, 1, "superseded"), record(kind, 2, "deployed"), record(kind, 3, "failed")];
        let server = cluster.into_iter().fold(Cluster::default().with(settings()), Cluster::with).serve();
        let mut terminal = Terminal::start(&holdup(&server, &[]));
        terminal.wait_for(SOON, "Nothing is stuck");
        terminal.press(":");
        terminal.press("configmap shop/settings");
        terminal.wait_for(SOON, "ConfigMap");
        terminal.press("\r");
        terminal.wait_for(SOON, "How it is meant to be");
        let plural = if kind == "Secret" { "secrets" } else { "configmaps" };
        let records = format!("/api/v1/namespaces/shop/{plural}/sh.helm.release.v1.shop");
        assert!(!server.was_asked(&records), "{kind}: opened before anybody asked");
        terminal.press("d");
        terminal.wait_for(SOON, "helm release shop, revision 2");
        terminal.wait_for(SOON, "data.k");
        assert!(!server.was_asked(&format!("{records}.v1")), "{kind}: history was opened");
        terminal.press("x");
        terminal.wait_for(SOON, "revision 3 (failed)");
        terminal.press("q");
        assert_eq!(terminal.await_end(SOON), 0);
    }
}

#[test]
fn a_record_that_cannot_be_read_costs_only_itself() {
    let mut broken = record("Secret", 3, "failed");
    broken["data"]["release"] = "%%%".into();
    let server = Cluster::default().with(settings()).with(record("Secret", 2, "deployed")).with(broken).serve();
    let found = diff(&server, &["configmap/settings", "-n", "shop"], 1);
    assert!(found["desiredSource"].as_str().is_some_and(|source| source.starts_with("helm release shop, revision 2")), "{found:#}");
    assert!(found["unchecked"].to_string().contains("sh.helm.release.v1.shop.v3: the release is no base64"), "{found:#}");
}

#[test]
fn records_that_may_not_be_opened_are_not_called_missing() {
    let server = Cluster::default().with(settings()).without("/api/v1/namespaces/shop/secrets").serve();
    let found = diff(&server, &["configmap/settings", "-n", "shop"], 3);
    assert_eq!(found["unchecked"][0]["kind"], "Helm release");
    assert!(found["unchecked"][0]["why"].as_str().is_some_and(|why| why.contains("forbidden")), "{found:#}");
    let server = Cluster::default().with(settings()).serve();
    let found = diff(&server, &["configmap/settings", "-n", "shop"], 3);
    assert!(found["unchecked"][0]["why"].as_str().is_some_and(|why| why.contains("no record of it is there")), "{found:#}");
}

/// A Deployment and its ReplicaSets after a rollout by a tool that leaves no copy of what it wants.
fn rollout() -> Cluster {
    let template =
        |image: &str| json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": image}]}});
    let keeper = |revision: &str, image: &str| {
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": format!("web-{revision}"), "namespace": "shop",
            "labels": {"app": "web"}, "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "u", "controller": true}]}, "spec": {"template": template(image)}})
    };
    let fields =
        json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {r#"k:{"name":"main"}"#: {".": {}, "f:name": {}, "f:image": {}}}}}}});
    let managed =
        json!([{"manager": "helm", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": fields}]);
    let live = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "u", "managedFields": managed},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template("web:2")}});
    Cluster::default().with(live).with(keeper("1", "web:1")).with(keeper("2", "web:2"))
}

#[test]
fn a_rollout_alone_does_not_exit_1() {
    let found = diff(&rollout().serve(), &["deployment/web", "-n", "shop"], 0);
    assert!(found["desiredSource"].as_str().is_some_and(|source| source.starts_with("revision 1")), "{found:#}");
    assert_eq!((&found["fields"][0]["verdict"], &found["fields"][0]["live"]), (&json!("unknown"), &json!("web:2")), "{found:#}");
    let unread = rollout().without("/apis/apps/v1/namespaces/shop/replicasets").serve();
    let found = diff(&unread, &["deployment/web", "-n", "shop"], 3);
    assert_eq!(found["unchecked"][0]["kind"], "ReplicaSet", "{found:#}");
}

/// A ConfigMap that an application tracks, changed since it was applied.
fn tracked() -> Value {
    let mut applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "1"}, "metadata": {"name": "settings", "namespace": "shop",
        "annotations": {"argocd.argoproj.io/tracking-id": "shop:/ConfigMap:shop/settings"}}});
    let copy = applied.to_string();
    applied["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = copy.into();
    applied["data"]["k"] = "2".into();
    applied
}

#[test]
fn the_application_of_an_object_is_read_and_its_rules_approve() {
    let rules = json!({"ignoreDifferences": [{"group": "", "kind": "ConfigMap", "jsonPointers": ["/data/k"]}]});
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "shop", "namespace": "argocd"},
        "spec": rules, "status": {"resources": [{"kind": "ConfigMap", "namespace": "shop", "name": "settings", "status": "Synced"}]}});
    let server = Cluster::default().with(tracked()).with(application).serve();
    let found = diff(&server, &["configmap/settings", "-n", "shop"], 0);
    assert_eq!(
        (&found["trackedBy"][0]["object"], &found["trackedBy"][0]["state"]),
        (&json!("Application.argoproj.io/argocd/shop"), &json!("Synced"))
    );
    assert_eq!(found["fields"][0]["verdict"], "approved", "{found:#}");
    assert!(text(&server, &["configmap/settings", "-n", "shop"], 0).contains("Argo CD application argocd/shop: Synced"));
}

#[test]
fn a_claimant_that_may_not_be_read_is_not_checked_and_nothing_is_approved() {
    let server = Cluster::default()
        .with(tracked())
        .without("/apis/argoproj.io/v1alpha1/applications")
        .without("/apis/argoproj.io/v1alpha1/namespaces")
        .serve();
    let found = diff(&server, &["configmap/settings", "-n", "shop"], 1);
    assert_eq!(found["unchecked"][0]["kind"], "Application", "{found:#}");
    assert!(found["unchecked"][0]["why"].as_str().is_some_and(|why| why.contains("forbidden")), "{found:#}");
    assert!(found.get("trackedBy").is_none(), "{found:#}");
}

const OPEN_API: &str = "/openapi/v3/api/v1";

/// What a server publishes that honours dry runs of ConfigMaps, or does not.
fn published(parameters: &Value) -> Value {
    json!({"paths": {"/api/v1/namespaces/{namespace}/configmaps/{name}": {"patch": {"parameters": parameters}}}})
}

/// A ConfigMap with what was applied, one value rewritten by admission, one added by it, one by a default of the test's server, and one
/// by nobody who would do it again.
fn mutated() -> Value {
    let asked = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"},
        "data": {"image": "fluent:2", "k": "1", "password": "hunter2hunter2"}});
    let mut live = asked.clone();
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": asked.to_string()});
    live["metadata"]["managedFields"] = json!([{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:image": {}, "f:k": {}, "f:password": {}}}}]);
    live["data"] = json!({"image": "mirror/fluent:2", "k": "2", "password": "hunter2hunter2", "team": "a", "mode": "fast", "stray": "x"});
    live
}

/// Answers as a server with one default and one mutating policy does.
fn policy(request: &Request) -> (u16, Value) {
    let mut object: Value = serde_json::from_str(&request.body).expect("JSON");
    if request.method == "PATCH" {
        let mut live = mutated();
        live["data"]["k"] = object["data"]["k"].clone();
        return (200, live);
    }
    object["metadata"]["managedFields"] = json!([{"manager": "holdup-dry-run", "operation": "Update", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:image": {}, "f:k": {}, "f:password": {}, "f:mode": {}}}}]);
    for (key, value) in [("image", "mirror/fluent:2"), ("team", "a"), ("mode", "fast")] {
        object["data"][key] = value.into();
    }
    (201, object)
}

const SETTINGS: &[&str] = &["configmap/settings", "-n", "shop", "--dry-run=server"];

fn sent(server: &Server) -> Vec<Request> {
    server.seen().into_iter().filter(|request| request.method != "GET").collect()
}

fn verdict<'a>(found: &'a Value, path: &str) -> &'a Value {
    let fields = found["fields"].as_array().expect("fields");
    &fields.iter().find(|field| field["path"] == path).unwrap_or_else(|| panic!("nothing at {path}: {found:#}"))["verdict"]
}

#[test]
fn fragment_70_a_dry_run_tells_defaults_and_admission_from_drift_and_stores_nothing() {
    let parameters = json!([{"name": "dryRun", "in": "query"}]);
    let server = Cluster::default().with(mutated()).publishing(OPEN_API, published(&parameters)).trying(policy).serve();
    let without = diff(&server, &["configmap/settings", "-n", "shop"], 0);
    assert!(without.get("dryRun").is_none() && sent(&server).is_empty(), "nothing is sent unless it is asked for: {without:#}");
    let found = diff(&server, SETTINGS, 1);
    assert_eq!(found["dryRun"], json!({"apply": null, "create": null}), "{found:#}");
    let verdicts: Vec<&str> =
        ["image", "k", "team", "mode", "stray"].iter().filter_map(|key| verdict(&found, &format!("data.{key}")).as_str()).collect();
    assert_eq!(verdicts, ["admission", "drift", "admission", "defaulted", "drift"], "{found:#}");
    let sent = sent(&server);
    assert_eq!(sent.iter().map(|request| request.method.as_str()).collect::<Vec<_>>(), ["PATCH", "POST"]);
    assert!(sent.iter().all(|request| request.path.contains("?dryRun=All&")), "{sent:#?}");
    let bodies: Vec<Value> = sent.iter().map(|request| serde_json::from_str(&request.body).expect("JSON")).collect();
    assert_eq!((&bodies[0]["metadata"]["name"], &bodies[1]["metadata"]["generateName"]), (&json!("settings"), &json!("holdup-dry-run-")));
    assert!(bodies.iter().all(|body| body["data"]["password"] == "hunter2hunter2"), "no tag is sent in the place of a secret");
    assert!(!found.to_string().contains("hunter2hunter2"));
}

#[test]
fn fragment_73_the_server_is_asked_once_however_often_an_object_is_named() {
    let parameters = json!([{"name": "dryRun", "in": "query"}]);
    let server = Cluster::default().with(mutated()).publishing(OPEN_API, published(&parameters)).trying(policy).serve();
    diff(&server, &["configmap/settings", "configmaps/settings", "configmap/settings", "-n", "shop", "--dry-run=server"], 1);
    assert_eq!(sent(&server).iter().map(|request| request.method.as_str()).collect::<Vec<_>>(), ["PATCH", "POST"]);
}

#[test]
fn nothing_is_sent_to_a_server_that_does_not_say_that_it_honours_dry_runs() {
    let base = || Cluster::default().with(mutated()).trying(policy);
    for server in [base().publishing(OPEN_API, published(&json!([]))).serve(), base().serve()] {
        let found = diff(&server, SETTINGS, 0);
        assert!(found["dryRun"]["apply"].as_str().is_some_and(|why| why.contains("honour")), "{found:#}");
        assert!(sent(&server).is_empty());
    }
}

/// A server that answers every dry run alike.
fn refusing(answer: fn(&Request) -> (u16, Value)) -> Server {
    let parameters = json!([{"name": "dryRun", "in": "query"}]);
    Cluster::default().with(mutated()).publishing(OPEN_API, published(&parameters)).trying(answer).serve()
}

#[test]
fn fragment_68_reading_is_enough_and_a_dry_run_that_is_not_allowed_leaves_the_offline_verdicts() {
    let forbidden = refusing(|_| refusal(403, "Forbidden", "configmaps \"settings\" is forbidden: cannot patch, password=tr0ub4dor"));
    let offline = diff(&forbidden, &["configmap/settings", "-n", "shop"], 0);
    assert!(forbidden.seen().iter().all(|request| request.method == "GET"), "{:#?}", forbidden.seen());
    let found = diff(&forbidden, SETTINGS, 0);
    assert!(
        found["dryRun"]["apply"].as_str().is_some_and(|why| why.contains("the verb patch") && why.contains("--with dry-run")),
        "{found:#}"
    );
    assert!(found["dryRun"]["create"].as_str().is_some_and(|why| why.contains("the verb create")), "{found:#}");
    assert!(!found.to_string().contains("tr0ub4dor"), "{found:#}");
    assert_eq!((verdict(&found, "data.k"), &found["fields"]), (&json!("admission"), &offline["fields"]), "as without a dry run");
}

#[test]
fn fragment_69_a_webhook_that_takes_part_in_no_dry_run_leaves_admission_undecided() {
    let webhook = refusing(|_| refusal(400, "BadRequest", "admission webhook \"w.test\" does not support dry run"));
    let text = text(&webhook, SETTINGS, 0);
    assert!(text.contains("a webhook does not take part in dry runs, so admission stays undecided"), "{text}");
}

#[test]
fn fragment_81_a_secret_that_live_does_not_have_is_never_sent_nor_a_tag_in_its_place() {
    let parameters = json!([{"name": "dryRun", "in": "query"}]);
    let mut live = mutated();
    live["data"]["password"] = "an0ther-secret-now".into();
    let server = Cluster::default().with(live).publishing(OPEN_API, published(&parameters)).trying(policy).serve();
    let found = diff(&server, SETTINGS, 0);
    assert!(found["dryRun"]["apply"].as_str().is_some_and(|why| why.contains("a secret that live does not have")), "{found:#}");
    assert!(sent(&server).is_empty());
}

#[test]
fn the_keys_of_lists_come_from_what_the_server_publishes_where_the_definition_may_not_be_read() {
    let object = |ports: Value| json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "one", "namespace": "shop"}, "spec": {"ports": ports}});
    let (a, b) = (json!({"port": 1, "mode": "a"}), json!({"port": 2, "mode": "b"}));
    let asked = object(json!([a, b]));
    let mut live = object(json!([b, a]));
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": asked.to_string()});
    let document = json!({"components": {"schemas": {"K": {
        "x-kubernetes-group-version-kind": [{"group": "kustomize.toolkit.fluxcd.io", "version": "v1", "kind": "Kustomization"}], "type": "object", "properties": {
            "spec": {"type": "object", "properties": {"ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
                "items": {"type": "object", "properties": {"port": {"type": "integer"}, "mode": {"type": "string"}}}}}}}}}}});
    let hidden = || Cluster::default().with(live.clone()).without("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
    let found = diff(
        &hidden().publishing("/openapi/v3/apis/kustomize.toolkit.fluxcd.io/v1", document).serve(),
        &["kustomization/one", "-n", "shop"],
        0,
    );
    assert_eq!((&found["fields"][1]["path"], &found["fields"][1]["verdict"]), (&json!("spec.ports"), &json!("equal")), "{found:#}");
    assert_eq!(found["unchecked"], json!([]), "{found:#}");
    let found = diff(&hidden().serve(), &["kustomization/one", "-n", "shop"], 1);
    assert_eq!(found["unchecked"][0]["kind"], "CustomResourceDefinition", "{found:#}");
}

#[test]
fn a_server_of_a_part_of_a_cluster_does_not_prove_its_other_kinds_gone() {
    let server = Cluster::default().with(settings()).serve();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served").join("part.yaml");
    let manifest = |version: &str, kind: &str| format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: shop}}\n");
    std::fs::write(&path, manifest("v1", "ReplicationController")).expect("a file");
    let said = text(&server, &["-f", path.to_str().expect("text")], 3);
    assert!(said.contains("serves only a part of a cluster") && !said.contains("declared"), "{said}");
    std::fs::write(&path, manifest("example.com/v1", "Widget")).expect("a file");
    let said = text(&server, &["-f", path.to_str().expect("text")], 1);
    assert!(said.contains("its definition is not installed"), "{said}");
}

/// A Deployment that kubectl applied with `replicas: 3`, as it is after so many writes.
fn scaled(replicas: i64, generation: i64) -> Value {
    let applied = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 3, "paused": false}});
    let mut live = applied.clone();
    live["spec"]["replicas"] = replicas.into();
    live["metadata"]["uid"] = "u".into();
    live["metadata"]["generation"] = generation.into();
    live["metadata"]["resourceVersion"] = (generation + 1).to_string().into();
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    live
}

#[test]
fn an_open_diff_is_fetched_anew_when_its_object_is_written() {
    let server = Cluster::default().with(scaled(3, 1)).serve();
    let mut terminal = Terminal::start(&holdup(&server, &[]));
    terminal.wait_for(SOON, "live");
    terminal.press(":");
    terminal.press("deploy shop/web");
    terminal.wait_for(SOON, "Deployment shop/web");
    terminal.press("\r");
    terminal.wait_for(SOON, "How it is meant to be");
    terminal.press("d");
    terminal.wait_for(SOON, "No drift");
    server.write(scaled(5, 2));
    terminal.wait_for(SOON, "3 → 5");
    server.write(scaled(3, 3));
    terminal.wait_for(SOON, "No drift");
    server.write(scaled(6, 4));
    terminal.wait_for(SOON, "drifted again: 2 times in all");
    terminal.press("w");
    terminal.wait_for(SOON, "Drifted again after it was put right");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

#[test]
fn the_palette_finds_an_object_of_a_custom_kind_and_reads_nothing_but_it() {
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "cart", "namespace": "argocd"},
        "spec": {"project": "default"}});
    let server = Cluster::default().with(scaled(3, 1)).with(application).serve();
    let mut terminal = Terminal::start(&holdup(&server, &[]));
    terminal.wait_for(SOON, "live");
    terminal.press(":");
    terminal.press("application argocd/cart");
    terminal.wait_for(SOON, "Application.argoproj.io argocd/cart");
    let all = "/apis/argoproj.io/v1alpha1/applications";
    assert!(!server.was_asked(&format!("{all}?")), "it is not listed to be named");
    terminal.press("\r");
    terminal.wait_for(SOON, "is not among what is followed");
    terminal.press("d");
    terminal.wait_for(SOON, "not followed: r asks again");
    terminal.press("y");
    terminal.wait_for(SOON, "project: default");
    assert!(server.was_asked("/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/cart"));
    assert!(!server.seen().iter().any(|request| request.path.contains("applications") && request.path.contains("watch")), "never watched");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}
