//! `holdup diff --all` by the real program: worst first, what is gone, what nobody knows, and what follows from the whole; of a cluster
//! and of files alike.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::server::{Cluster, Server};
use crate::terminal::Terminal;

const SOON: Duration = Duration::from_secs(60);

/// Applied with `key: 1` by kubectl, which left a copy; now it has this value.
fn applied(kind: &str, name: &str, part: &Value, live: &Value) -> Value {
    let api = if kind == "Deployment" { "apps/v1" } else { "v1" };
    let whole = |part: &Value| {
        let mut whole = json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
        whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        whole
    };
    let mut object = whole(live);
    object["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": whole(part).to_string()});
    object
}

fn by(mut object: Value, manager: &str, since: &str) -> Value {
    object["metadata"]["creationTimestamp"] = since.into();
    object["metadata"]["managedFields"] =
        json!([{"manager": manager, "operation": "Update", "time": since, "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}]);
    object
}

fn config(place: &str) -> Value {
    let (namespace, name) = place.split_once('/').unwrap();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": {"k": "1"}})
}

/// The record of a release with two ConfigMaps and a ClusterRole.
fn release() -> Value {
    let manifest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {k: '1'}\n\
        ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost}\ndata: {k: '1'}\n\
        ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reader}\nrules: []\n";
    let info = json!({"status": "deployed", "last_deployed": "2026-05-04T10:12:00Z"});
    let release = json!({"name": "cart", "namespace": "shop", "version": 7, "info": info, "manifest": manifest}).to_string();
    let labels = json!({"owner": "helm", "name": "cart", "status": "deployed", "version": "7"});
    json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "data": {"release": STANDARD.encode(STANDARD.encode(release))},
        "metadata": {"name": "sh.helm.release.v1.cart.v7", "namespace": "shop", "labels": labels}})
}

/// A ConfigMap, a drifted and a weakened Deployment, a release of which one object is gone, and what somebody made by hand.
fn objects() -> Vec<Value> {
    let pod = |user: bool, image: &str| json!({"spec": {"template": {"spec": {"securityContext": {"runAsNonRoot": user}, "containers": [{"name": "c", "image": image}]}}}});
    let mut settings = config("shop/settings");
    settings["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "cart", "meta.helm.sh/release-namespace": "shop"});
    settings["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    let mut role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]});
    role["metadata"]["annotations"] = settings["metadata"]["annotations"].clone();
    role["metadata"]["labels"] = settings["metadata"]["labels"].clone();
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "bob", "namespace": "shop"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}, "subjects": [{"kind": "User", "name": "bob"}]});
    let mut owned = config("shop/owned");
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "x/v1", "kind": "Widget", "name": "w", "uid": "u"}]);
    vec![
        applied("ConfigMap", "well", &json!({"data": {"k": "1"}}), &json!({"data": {"k": "1"}})),
        applied("ConfigMap", "changed", &json!({"data": {"k": "1"}}), &json!({"data": {"k": "2"}})),
        applied("Deployment", "weakened", &pod(true, "i:1"), &pod(false, "i:1")),
        settings,
        role,
        release(),
        by(binding, "kubectl-create", "2026-03-24T10:00:00Z"),
        by(config("shop/scratch"), "kubectl-create", "2026-05-01T10:00:00Z"),
        by(config("elsewhere/scratch"), "kubectl-run", "2026-05-01T10:00:00Z"),
        by(config("shop/kube-root-ca.crt"), "kube-controller-manager", "2026-05-01T10:00:00Z"),
        owned,
    ]
}

fn holdup(args: &[&str]) -> Command {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("everything");
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command.args(["diff", "--all"]).args(args).env("XDG_STATE_HOME", state).env("KUBECONFIG", "/nonexistent/kubeconfig");
    command
}

#[track_caller]
fn text(args: &[&str], expected: i32) -> String {
    let output = holdup(args).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(expected), "{args:?}\n{out}\n{err}");
    assert!(!err.contains('\u{1b}'), "progress is for terminals: {err}");
    out
}

#[track_caller]
fn json_of(args: &[&str], expected: i32) -> Value {
    serde_json::from_str(&text(&[args, &["-o", "json"]].concat(), expected)).unwrap()
}

fn server(cluster: Cluster) -> Server {
    objects().into_iter().fold(cluster, Cluster::with).serve()
}

/// The objects as a file in which their kinds are whole, but for those that are named.
fn file(name: &str, but: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("everything");
    std::fs::create_dir_all(&folder).unwrap();
    let kinds = [
        ("", "ConfigMap"),
        ("", "Secret"),
        ("apps", "Deployment"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
    ];
    let whole = kinds.into_iter().filter(|(_, kind)| !but.contains(kind));
    let coverage: Vec<Value> = whole.map(|(group, kind)| json!({"group": group, "kind": kind, "state": "synced"})).collect();
    let notes = json!({"holdup.dev/captured-at": "2026-05-04T10:12:00Z", "holdup.dev/coverage": Value::from(coverage).to_string()});
    let path = folder.join(name);
    std::fs::write(&path, json!({"kind": "List", "apiVersion": "v1", "metadata": {"annotations": notes}, "items": objects()}).to_string())
        .unwrap();
    path.to_str().unwrap().to_owned()
}

fn named(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().filter_map(|one| one["object"].as_str()).collect()
}

#[test]
fn a_cluster_and_a_file_of_it_give_the_same_answers() {
    let server = server(Cluster::default());
    let path = file("same.json", &[]);
    for found in [json_of(&["--server", &server.url], 1), json_of(&["--from", &path], 1)] {
        let worst_first =
            ["Deployment/shop/weakened", "ClusterRole//reader", "ConfigMap/shop/changed", "ConfigMap/shop/settings", "ConfigMap/shop/well"];
        assert_eq!(named(&found["items"])[..1], worst_first[..1], "{found:#}");
        let mut all = named(&found["items"]);
        all.sort_unstable();
        let mut expected = worst_first.to_vec();
        expected.sort_unstable();
        assert_eq!(all, expected, "{found:#}");
        assert_eq!((&found["kind"], &found["complete"]), (&json!("DiffList"), &json!(true)));
        assert_eq!(found["gone"], json!([{"object": "ConfigMap/shop/lost", "inventory": "helm release cart, revision 7"}]));
        assert_eq!(named(&found["unmanaged"]), ["ConfigMap/shop/scratch", "RoleBinding/shop/bob"]);
        assert_eq!(named(&found["unclaimed"]), ["ConfigMap/elsewhere/scratch", "ConfigMap/shop/scratch", "RoleBinding/shop/bob"]);
        assert_eq!(
            found["rebuild"]["by"],
            json!([{"namespace": "elsewhere", "owner": "kubectl-run", "objects": 1}, {"namespace": "shop", "owner": "kubectl-create", "objects": 2}])
        );
        assert_eq!((&found["rebuild"]["objects"], &found["rebuild"]["can"]), (&json!(8), &json!(5)));
        let bob = found["exceptions"].as_array().unwrap().iter().find(|one| one["object"] == "RoleBinding/shop/bob").unwrap();
        assert_eq!(bob["what"], "subject bob reads secrets in shop (ClusterRole reader)");
        assert_eq!((&bob["manager"], &bob["since"]), (&json!("kubectl-create"), &json!("2026-03-24T10:00:00Z")));
    }
    assert!(server.seen().iter().all(|request| request.method == "GET"));
}

#[test]
fn the_questions_are_answered_in_words() {
    let found = text(&["--from", &file("words.json", &[])], 1);
    for line in [
        "5 objects say what was asked for; with drift: 3.",
        "Gone: an inventory lists it, and the cluster does not have it: 1.\n  ConfigMap/shop/lost  listed by helm release cart, revision 7",
        "  ConfigMap/shop/scratch  kubectl-create, 3 days ago",
        "Can this cluster be rebuilt from source? 5 of 8 objects can; 3 cannot.\n  shop: 2 (kubectl-create 2)\n  elsewhere: 1 (kubectl-run 1)",
        "  RoleBinding/shop/bob  subject bob reads secrets in shop (ClusterRole reader), added by kubectl-create 41 days ago, in no source",
        "Claimed by nobody: no source and no label that names an owner: 3.",
    ] {
        assert!(found.contains(line), "{line}\nis not in\n{found}");
    }
    assert!(!found.contains("ConfigMap/shop/well"), "what is as it was asked for is counted, not shown: {found}");
    assert!(!found.contains("Drifted again"), "{found}");
}

#[test]
fn what_may_not_be_read_is_never_gone() {
    let server = server(Cluster::default().without("/api/v1/configmaps").without("/api/v1/namespaces/shop/configmaps"));
    let found = json_of(&["--server", &server.url], 1);
    assert_eq!(found["gone"], json!([]), "{found:#}");
    let unchecked = found["unchecked"].to_string();
    assert!(unchecked.contains("ConfigMap lost of an inventory") && unchecked.contains("forbidden"), "{found:#}");
    let found = json_of(&["--from", &file("part.json", &["ConfigMap"])], 1);
    assert_eq!(found["gone"], json!([]), "a file that does not hold all of a kind proves nothing: {found:#}");
    assert!(found["unchecked"].to_string().contains("not in the input"), "{found:#}");
}

#[test]
fn records_that_may_not_be_read_leave_it_open_whether_an_object_can_be_made_again() {
    let server = server(Cluster::default().without("/api/v1/secrets").without("/api/v1/namespaces/shop/secrets"));
    let found = json_of(&["--server", &server.url], 1);
    assert_eq!((&found["rebuild"]["can"], &found["rebuild"]["unknown"]), (&json!(3), &json!(2)), "{found:#}");
    assert!(found["unchecked"].to_string().contains("Helm release"), "{found:#}");
    assert_eq!(found["gone"], json!([]));
}

#[test]
fn secrets_are_listed_without_what_they_hold() {
    let server = server(Cluster::default());
    json_of(&["--server", &server.url], 1);
    let lists = server.seen().into_iter().filter(|request| request.path.starts_with("/api/v1/secrets"));
    let lists: Vec<String> = lists.map(|request| request.accept).collect();
    assert!(!lists.is_empty() && lists.iter().all(|accept| accept.contains("as=PartialObjectMetadataList")), "{lists:?}");
}

#[test]
fn a_namespace_narrows_what_is_looked_at_and_a_selector_leaves_open_what_is_gone() {
    let server = server(Cluster::default());
    let found = json_of(&["--server", &server.url, "-n", "elsewhere"], 3);
    assert_eq!((&found["items"], &found["gone"]), (&json!([]), &json!([])), "{found:#}");
    assert_eq!(named(&found["unclaimed"]), ["ConfigMap/elsewhere/scratch"]);
    let found = json_of(&["--server", &server.url, "-l", "app.kubernetes.io/managed-by=Helm"], 1);
    assert_eq!(found["gone"], json!([]));
    assert!(found["unchecked"].to_string().contains("with a selector"), "{found:#}");
}

#[test]
fn stopped_it_says_what_it_has_and_how_far_it_came() {
    let server = server(Cluster::default().silent("/apis/rbac.authorization.k8s.io/v1/clusterroles"));
    let mut child = holdup(&["--server", &server.url]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + SOON;
    while !server.was_asked("/apis/rbac.authorization.k8s.io/v1/clusterroles") {
        assert!(Instant::now() < until, "it never came to the roles");
        std::thread::yield_now();
    }
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut found = String::new();
    child.stdout.take().unwrap().read_to_string(&mut found).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{found}");
    assert!(found.contains("Deployment/shop/weakened") && found.contains("runAsNonRoot"), "{found}");
    assert!(found.contains("Stopped after ") && found.contains("at clusterroles"), "{found}");
    assert!(!found.contains("rebuilt from source"), "{found}");
}

#[test]
fn on_a_terminal_it_tells_how_far_it_is_and_ends_on_ctrl_c() {
    let server = server(Cluster::default().silent("/apis/rbac.authorization.k8s.io/v1/clusterroles"));
    let mut terminal = Terminal::start(&holdup(&["--server", &server.url]));
    terminal.wait_for(SOON, "10 of 12 kinds: clusterroles");
    terminal.press("\u{3}");
    terminal.wait_for(SOON, "Stopped after 10 of 12 kinds, at clusterroles");
    assert_eq!(terminal.await_end(SOON), 1);
}

#[test]
fn the_dashboard_compares_everything_when_asked_and_opens_helms_records_by_a_key_of_their_own() {
    let server = server(Cluster::default());
    let mut terminal = Terminal::start(&dashboard(&["--server", &server.url]));
    terminal.wait_for(SOON, "shop/weakened is rolling out");
    assert!(!server.was_asked("/apis/rbac.authorization.k8s.io/v1/rolebindings"), "nothing is read before it is asked for");
    terminal.press("w");
    terminal.wait_for(SOON, "weakened");
    terminal.wait_for(SOON, "objects can");
    let record = "/api/v1/namespaces/shop/secrets/sh.helm.release.v1.cart";
    assert!(!server.was_asked(record), "Secrets stay closed");
    terminal.press("H");
    terminal.wait_for(SOON, "shop/lost");
    assert!(server.was_asked(record));
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

#[test]
fn the_dashboard_compares_everything_in_a_file_and_opens_what_it_found() {
    let mut terminal = Terminal::start(&dashboard(&["--from", &file("screen.json", &[])]));
    terminal.wait_for(SOON, "as of");
    terminal.press("w");
    terminal.wait_for(SOON, "objects can");
    for key in ["\t", "j", "\r", "j", "\r"] {
        terminal.press(key);
    }
    terminal.wait_for(SOON, "RoleBinding/bob");
    terminal.wait_for(SOON, "kubectl-create");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

fn dashboard(args: &[&str]) -> Command {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("everything");
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command.args(args).env("XDG_STATE_HOME", state).env("KUBECONFIG", "/nonexistent/kubeconfig").env("TERM", "xterm");
    command
}
