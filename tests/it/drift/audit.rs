//! The audit log by the real program: who made a difference, when, from where, and what the log cannot say. No secret of a body is shown.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn log(&self, name: &str, events: &[Value]) -> String {
        self.write(name, lines(events).as_bytes())
    }

    #[track_caller]
    fn diff(&self, args: &[&str], input: &[u8], code: i32) -> String {
        let mut child = Command::new(env!("CARGO_BIN_EXE_holdup"))
            .arg("diff")
            .args(args)
            .env("XDG_STATE_HOME", self.0.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        for planted in ["hunter2", "aHVudGVyMg", "hunter3", "aHVudGVyMw"] {
            assert!(!out.contains(planted) && !err.contains(planted), "{out}\n{err}");
        }
        out
    }

    #[track_caller]
    fn json(&self, args: &[&str], code: i32) -> Value {
        serde_json::from_str(&self.diff(&[args, &["-o", "json"]].concat(), b"", code)).unwrap()
    }
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn cart(replicas: i64, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart", "namespace": "shop"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

/// With the entry of the manager that wrote replicas.
fn owned(mut live: Value, manager: &str, time: &str) -> Value {
    live["metadata"]["managedFields"] =
        json!([{"manager": manager, "operation": "Update", "time": time, "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    live
}

/// A request as the API server logs it.
fn event(user: &str, verb: &str, manager: &str, at: &str) -> Value {
    json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": at, "stage": "ResponseComplete",
        "requestURI": format!("/apis/apps/v1/namespaces/shop/deployments/cart?fieldManager={manager}&fieldValidation=Strict"), "verb": verb,
        "user": {"username": user, "groups": ["dev", "system:authenticated"]}, "sourceIPs": ["10.0.0.7"], "userAgent": "kubectl/v1.36.0 (linux/amd64) kubernetes/abc",
        "objectRef": {"resource": "deployments", "namespace": "shop", "name": "cart", "apiGroup": "apps", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200}, "requestReceivedTimestamp": at, "stageTimestamp": at})
}

fn patched(mut event: Value, patch: Value, response: Value) -> Value {
    event["requestObject"] = patch;
    event["responseObject"] = response;
    event
}

fn scaled(user: &str, manager: &str, replicas: i64, at: &str) -> Value {
    patched(event(user, "patch", manager, at), json!({"spec": {"replicas": replicas}}), cart(replicas, "i:1"))
}

fn field<'a>(found: &'a Value, path: &str) -> &'a Value {
    let all = found["fields"].as_array().unwrap();
    all.iter().find(|field| field["path"] == path).unwrap_or_else(|| panic!("{path}: {found}"))
}

const IMAGE: &str = "spec.template.spec.containers[name=c].image";

#[test]
fn with_bodies_the_requests_that_changed_a_field_are_named() {
    let files = Files::new("bodies");
    let [wanted, live] = [cart(3, "i:1"), owned(cart(5, "i:2"), "kubectl-scale", "2026-05-04T09:50:02Z")];
    let [wanted, live] = [files.write("w.json", wanted.to_string().as_bytes()), files.write("l.json", live.to_string().as_bytes())];
    let mut refused = scaled("mallory", "kubectl-edit", 5, "2026-05-04T09:49:00.000000Z");
    refused["responseStatus"]["code"] = json!(403);
    let mut dry = scaled("mallory", "kubectl-edit", 5, "2026-05-04T09:49:01.000000Z");
    dry["requestURI"] = json!("/apis/apps/v1/namespaces/shop/deployments/cart?dryRun=All");
    let mut received = scaled("mallory", "kubectl-edit", 5, "2026-05-04T09:49:02.000000Z");
    received["stage"] = json!("RequestReceived");
    let mut status = scaled("mallory", "kubectl-edit", 5, "2026-05-04T09:49:03.000000Z");
    status["objectRef"]["subresource"] = json!("status");
    let mut elsewhere = scaled("mallory", "kubectl-edit", 5, "2026-05-04T09:49:04.000000Z");
    elsewhere["objectRef"]["namespace"] = json!("pay");
    let image = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "i:2"}]);
    let mut set = patched(event("carol", "patch", "kubectl-set", "2026-05-04T10:00:00.000000Z"), image, cart(5, "i:2"));
    set["impersonatedUser"] = json!({"username": "deployer"});
    let log = files.log(
        "audit.log",
        &[
            patched(event("ci", "create", "kubectl-create", "2026-05-04T08:00:00.000000Z"), cart(3, "i:1"), cart(3, "i:1")),
            refused,
            dry,
            received,
            status,
            elsewhere,
            scaled("alice", "kubectl-scale", 5, "2026-05-04T09:50:02.123456Z"),
            // An update that sends what is there already did not change it.
            patched(event("bob", "update", "kubectl-label", "2026-05-04T09:55:00.000000Z"), cart(5, "i:1"), cart(5, "i:1")),
            set,
        ],
    );
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    let who = &field(&found, "spec.replicas")["who"];
    assert_eq!((&who["by"], &who["times"]), (&json!("field"), &json!(1)), "{found}");
    assert_eq!(
        who["last"],
        json!({"user": "alice", "groups": ["dev", "system:authenticated"], "sourceIPs": ["10.0.0.7"], "userAgent": "kubectl/v1.36.0 (linux/amd64) kubernetes/abc",
            "verb": "patch", "subresource": "", "manager": "kubectl-scale", "at": "2026-05-04T09:50:02.123456Z"})
    );
    let who = &field(&found, IMAGE)["who"];
    assert_eq!((&who["last"]["user"], &who["last"]["as"]), (&json!("carol"), &json!("deployer")));
    let reach =
        json!({"from": "2026-05-04T08:00:00.000000Z", "to": "2026-05-04T10:00:00.000000Z", "events": 9, "unread": 0, "hasBodies": true});
    assert_eq!(found["auditLog"], reach);
    let text = files.diff(&["--live", &live, "-f", &wanted, "--audit", &log], b"", 1);
    assert!(text.contains("who: alice (dev, system:authenticated) from 10.0.0.7 with kubectl/v1.36.0 (linux/amd64) kubernetes/abc, patch at 2026-05-04T09:50:02.123456Z"), "{text}");
    assert!(text.contains("The audit log reaches from 2026-05-04T08:00:00.000000Z to 2026-05-04T10:00:00.000000Z: 9 events."), "{text}");
}

/// A custom resource whose name in URLs nobody can guess.
fn data(mode: &str) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Datum", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"mode": mode}})
}

fn of_data(mut event: Value) -> Value {
    event["objectRef"] = json!({"resource": "data", "namespace": "shop", "name": "a", "apiGroup": "example.com", "apiVersion": "v1"});
    event
}

#[test]
fn a_custom_kind_is_known_by_what_the_server_answered_or_by_its_usual_name() {
    let files = Files::new("custom");
    let [wanted, live] = [files.write("w.json", data("a").to_string().as_bytes()), files.write("l.json", data("b").to_string().as_bytes())];
    let told = of_data(patched(event("alice", "patch", "kubectl-edit", "2026-05-04T09:50:02Z"), json!({"spec": {"mode": "b"}}), data("b")));
    let log = files.log("told.log", std::slice::from_ref(&told));
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    assert_eq!(field(&found, "spec.mode")["who"]["last"]["user"], "alice", "{found}");
    let mut other = told.clone();
    other["responseObject"]["kind"] = "Other".into();
    other["objectRef"]["resource"] = "datums".into();
    let log = files.log("other.log", &[other]);
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    assert_eq!(field(&found, "spec.mode").get("who"), None, "another kind of the same name: {found}");
    let mut usual = of_data(event("bob", "patch", "kubectl-edit", "2026-05-04T09:50:02Z"));
    usual["objectRef"]["resource"] = "datums".into();
    let log = files.log("usual.log", &[usual]);
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    assert_eq!(field(&found, "spec.mode")["who"]["last"]["user"], "bob", "{found}");
}

#[test]
fn a_list_of_events_is_read_one_by_one() {
    let files = Files::new("list");
    let [wanted, live] =
        [files.write("w.json", cart(3, "i:1").to_string().as_bytes()), files.write("l.json", cart(5, "i:1").to_string().as_bytes())];
    let [bob, alice] = [("bob", 4, "2026-05-04T09:40:00Z"), ("alice", 5, "2026-05-04T09:50:00Z")]
        .map(|(user, n, at)| scaled(user, "kubectl-scale", n, at));
    let list = json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": [bob, alice]});
    let log = files.log("audit.log", &[list]);
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    assert_eq!(
        (&field(&found, "spec.replicas")["who"]["last"]["user"], &found["auditLog"]["events"]),
        (&json!("alice"), &json!(2)),
        "{found}"
    );
}

#[test]
fn a_name_that_the_server_made_up_is_in_its_answer() {
    let files = Files::new("generated");
    let [wanted, live] =
        [files.write("w.json", cart(3, "i:1").to_string().as_bytes()), files.write("l.json", cart(5, "i:1").to_string().as_bytes())];
    let mut asked = cart(5, "i:1");
    asked["metadata"] = json!({"generateName": "ca", "namespace": "shop"});
    let mut made = patched(event("carol", "create", "kubectl-create", "2026-05-04T08:00:00Z"), asked, cart(5, "i:1"));
    made["objectRef"].as_object_mut().unwrap().remove("name");
    let log = files.log("audit.log", &[made]);
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    assert_eq!(field(&found, "spec.replicas")["who"]["last"]["user"], "carol", "{found}");
}

#[test]
fn who_deleted_everything_of_a_kind_deleted_what_is_gone() {
    let files = Files::new("collection");
    let (mut other, gone) = (cart(1, "i:1"), cart(3, "i:1"));
    other["metadata"]["name"] = "other".into();
    let wanted = files.write("w.json", json!({"apiVersion": "v1", "kind": "List", "items": [gone, other]}).to_string().as_bytes());
    let live = files.write("l.json", other.to_string().as_bytes());
    let deleted = |uri: &str, answer: Value| {
        let mut event = event("dave", "deletecollection", "kubectl", "2026-05-04T08:00:00Z");
        event["requestURI"] = format!("/apis/apps/v1/namespaces/shop/deployments{uri}").into();
        event["objectRef"].as_object_mut().unwrap().remove("name");
        event["responseObject"] = answer;
        event
    };
    let status = json!({"kind": "Status", "status": "Success"});
    let list = |name: &str| json!({"kind": "DeploymentList", "items": [{"metadata": {"name": name, "namespace": "shop"}}]});
    for (uri, answer, user) in [
        ("", status.clone(), json!("dave")),
        ("?labelSelector=app%3Dx", status, Value::Null),
        ("?labelSelector=app%3Dx", list("cart"), json!("dave")),
        ("?labelSelector=app%3Dx", list("till"), Value::Null),
    ] {
        let log = files.log("audit.log", &[deleted(uri, answer.clone())]);
        let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
        let whole = found["items"].as_array().unwrap().iter().find(|item| item["object"] == "Deployment/shop/cart").unwrap();
        assert_eq!(whole["fields"][0]["who"]["last"]["user"], user, "{uri} {answer}: {whole}");
    }
}

#[test]
fn without_bodies_it_is_the_manager_or_only_the_object_and_that_is_said() {
    let files = Files::new("metadata");
    let wanted = files.write("w.json", cart(3, "i:1").to_string().as_bytes());
    let live = files.write("l.json", owned(cart(5, "i:2"), "kubectl-edit", "2026-05-04T09:50:02Z").to_string().as_bytes());
    let log = files.log(
        "audit.log",
        &[
            event("alice", "patch", "kubectl-edit", "2026-05-04T09:50:02.900000Z"),
            event("bob", "update", "kubectl-label", "2026-05-04T09:55:00.000000Z"),
            event("alice", "patch", "kubectl-edit", "2026-05-04T11:00:00.000000Z"),
        ],
    );
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    let who = &field(&found, "spec.replicas")["who"];
    assert_eq!(
        (&who["by"], &who["last"]["user"], &who["last"]["at"]),
        (&json!("manager"), &json!("alice"), &json!("2026-05-04T09:50:02.900000Z"))
    );
    let who = &field(&found, IMAGE)["who"];
    assert_eq!((&who["by"], &who["times"], &who["first"]["user"]), (&json!("object"), &json!(3), &json!("alice")));
    let text = files.diff(&["--live", &live, "-f", &wanted, "--audit", &log], b"", 1);
    assert!(text.contains("which field, the log does not say") && text.contains("it has no bodies"), "{text}");
}

#[test]
fn logs_may_be_several_packed_or_piped_and_are_read_oldest_first() {
    let files = Files::new("several");
    let [wanted, live] = [cart(3, "i:1"), cart(5, "i:1")].map(|o| o.to_string());
    let [wanted, live] = [files.write("w.json", wanted.as_bytes()), files.write("l.json", live.as_bytes())];
    let old = lines(&[scaled("alice", "kubectl-scale", 5, "2026-05-04T08:00:00.000000Z")]);
    let new = lines(&[
        scaled("ci", "argocd-controller", 3, "2026-05-04T09:00:00.000000Z"),
        scaled("bob", "kubectl-edit", 5, "2026-05-04T10:00:00.000000Z"),
    ]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(old.as_bytes()).unwrap();
    let old = files.write("old.log.gz", &packed.finish().unwrap());
    let text = files.diff(&["--live", &live, "-f", &wanted, "--audit", "-", "--audit", &old, "-o", "json"], new.as_bytes(), 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    let who = &field(&found, "spec.replicas")["who"];
    assert_eq!((&who["first"]["user"], &who["last"]["user"], &who["times"]), (&json!("alice"), &json!("bob"), &json!(2)));
    let again = &field(&found, "spec.replicas")["again"];
    assert_eq!((&again["times"], &again["rightedBy"]), (&json!(2), &json!("argocd-controller")));
    assert_eq!(files.diff(&["--live", &live, "-f", &wanted, "--audit", "/nonexistent"], b"", 2), "");
}

#[test]
fn two_that_write_in_turn_are_a_conflict_with_both_names() {
    let files = Files::new("conflict");
    let [wanted, live] = [cart(3, "i:1"), owned(cart(5, "i:1"), "kube-controller-manager", "2026-05-04T10:00:00Z")].map(|o| o.to_string());
    let [wanted, live] = [files.write("w.json", wanted.as_bytes()), files.write("l.json", live.as_bytes())];
    let turn = |user: &str, manager: &str, replicas: i64, hour: usize| {
        scaled(user, manager, replicas, &format!("2026-05-04T{hour:02}:00:00.000000Z"))
    };
    let hpa = "system:serviceaccount:kube-system:horizontal-pod-autoscaler";
    let log = files.log(
        "audit.log",
        &[
            turn("ci", "argocd-controller", 3, 7),
            turn(hpa, "kube-controller-manager", 5, 8),
            turn("ci", "argocd-controller", 3, 9),
            turn(hpa, "kube-controller-manager", 5, 10),
        ],
    );
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    let replicas = field(&found, "spec.replicas");
    assert_eq!(replicas["verdict"], "conflict", "{replicas}");
    let reason = replicas["reason"].as_str().unwrap();
    assert!(reason.starts_with("kube-controller-manager and argocd-controller write it in turn, last at"), "{reason}");
    let accept =
        files.write("accept.toml", b"[[accept]]\nkind = \"Deployment\"\nname = \"cart\"\npath = \"spec.replicas\"\nreason = \"known\"\n");
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log, "--accept", &accept], 0);
    assert_ne!(field(&found, "spec.replicas")["verdict"], "conflict", "what somebody accepted stays that");
}

#[test]
fn secrets_in_bodies_are_hidden_before_they_are_compared() {
    let files = Files::new("secrets");
    let secret = |value: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"}, "data": {"password": value}});
    let wanted = files.write("w.json", secret("aHVudGVyMg==").to_string().as_bytes());
    let live = files.write("l.json", secret("aHVudGVyMw==").to_string().as_bytes());
    let mut write = patched(
        event("alice", "patch", "kubectl-edit", "2026-05-04T08:00:00.000000Z"),
        json!({"stringData": {"password": "hunter3"}}),
        secret("aHVudGVyMw=="),
    );
    write["objectRef"] = json!({"resource": "secrets", "namespace": "shop", "name": "db", "apiVersion": "v1"});
    write["requestURI"] = json!("/api/v1/namespaces/shop/secrets/db?fieldManager=kubectl-edit");
    let mut without = write.clone();
    without.as_object_mut().unwrap().remove("responseObject");
    for (name, event) in [("both.log", write), ("request.log", without)] {
        let log = files.log(name, &[event]);
        let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
        let who = &field(&found, "data.password")["who"];
        assert_eq!((&who["by"], &who["last"]["user"]), (&json!("field"), &json!("alice")), "{name}: {found}");
    }
}

#[test]
fn what_is_no_event_costs_only_itself() {
    let files = Files::new("odd");
    let [wanted, live] = [cart(3, "i:1"), owned(cart(5, "i:1"), "kubectl-edit", "2026-05-01T00:00:00Z")].map(|o| o.to_string());
    let [wanted, live] = [files.write("w.json", wanted.as_bytes()), files.write("l.json", live.as_bytes())];
    let mut odd = scaled("alice", "x", 5, "2026-05-04T08:00:00.000000Z");
    odd["requestObject"] = json!([null, {"op": 3, "path": ["x"]}, "y"]);
    odd["responseObject"] = json!({"kind": "Status", "spec": {"replicas": 5}});
    let text = format!("nonsense\n{{\n\n[]\n{}", lines(&[odd, json!({"stage": "ResponseComplete"})]));
    let log = files.write("audit.log", text.as_bytes());
    let found = files.json(&["--live", &live, "-f", &wanted, "--audit", &log], 1);
    assert_eq!((&found["auditLog"]["events"], &found["auditLog"]["unread"]), (&json!(2), &json!(3)));
    assert_eq!(field(&found, "spec.replicas")["who"]["by"], "object");
    let empty = files.write("empty.log", b"");
    let text = files.diff(&["--live", &live, "-f", &wanted, "--audit", &empty], b"", 1);
    assert!(text.contains("who: not in the audit log") && text.contains("The audit log holds no event"), "{text}");
    let later = files.log(
        "later.log",
        &[event("bob", "patch", "x", "2026-05-04T08:00:00Z")].map(|mut event| {
            event["objectRef"]["name"] = json!("other");
            event
        }),
    );
    let text = files.diff(&["--live", &live, "-f", &wanted, "--audit", &later], b"", 1);
    assert!(text.contains("not in the audit log, which begins later"), "{text}");
}
