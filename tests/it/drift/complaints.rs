//! Complaints about tools that compare which are no pair of objects: what is asked how often, in which order, and what never counts.
//! The others by number: 41 in `watched`, 63 to 65 in `accept`, 68 to 70, 73 and 81 in `served`, 83 in `canary`, 86 and 88 to 90 in
//! `diff_screen`.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use holdup::desired::{Evidence, Object, diff};
use serde_json::{Value, json};

use super::server::Cluster;
use super::{cases, compare, redactor};

#[track_caller]
fn run(args: &[&str], code: i32) -> Value {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("complaints");
    let output =
        Command::new(env!("CARGO_BIN_EXE_holdup")).args(["diff", "-o", "json"]).args(args).env("XDG_STATE_HOME", state).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    serde_json::from_str(&out).unwrap()
}

fn file(name: &str, items: &[Value]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn fragment_62_objects_of_one_name_and_two_kinds_are_two() {
    let service =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"ports": [{"port": 80}]}});
    let class =
        json!({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "a"}, "spec": {"controller": "x"}});
    let path = file("complaint-62.json", &[service.clone(), class.clone()]);
    let turned = file("complaint-62-turned.json", &[class, service]);
    let found = run(&["--live", &path, "-f", &turned], 0);
    let fields: Vec<&Value> = found["items"].as_array().unwrap().iter().map(|item| &item["fields"]).collect();
    assert_eq!(fields, [&json!([]), &json!([])]);
}

#[test]
fn fragment_74_a_record_is_opened_once_for_all_objects_of_its_release() {
    let names: Vec<String> = (0..30).map(|at| format!("c{at}")).collect();
    let manifest: String =
        names.iter().map(|name| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: '1'}}\n")).collect();
    let release =
        json!({"name": "shop", "namespace": "shop", "version": 1, "info": {"status": "deployed"}, "manifest": manifest}).to_string();
    let record = json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "data": {"release": STANDARD.encode(STANDARD.encode(release))},
        "metadata": {"name": "sh.helm.release.v1.shop.v1", "namespace": "shop", "labels": {"owner": "helm", "name": "shop", "status": "deployed", "version": "1"}}});
    let config = |name: &String| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop", "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "annotations": {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"}}, "data": {"k": "2"}})
    };
    let server = names.iter().map(config).fold(Cluster::default().with(record), Cluster::with).serve();
    for args in [&["--release", "shop", "-n", "shop"][..], &["--all", "-n", "shop"]] {
        let before = server.seen().len();
        let found = run(&[args, &["--server", &server.url]].concat(), 1);
        assert_eq!(found["items"].as_array().map(Vec::len), Some(30), "{args:?}");
        let opened = server.seen().into_iter().skip(before).filter(|request| request.path.contains("secrets/sh.helm.release.v1.shop.v1"));
        assert_eq!(opened.count(), 1, "{args:?}");
    }
}

#[test]
fn fragment_75_what_only_its_status_says_changes_nothing() {
    for case in cases() {
        let before = super::json(compare(&case));
        let mut case = case;
        case.live["status"] =
            json!({"observedGeneration": 9, "conditions": [{"type": "Ready", "lastTransitionTime": "2026-05-04T10:00:00Z"}]});
        case.live["metadata"]["resourceVersion"] = json!("999");
        case.live["metadata"]["generation"] = json!(99);
        assert_eq!(super::json(compare(&case)), before, "{}", case.id);
    }
}

#[test]
fn fragment_76_the_same_input_says_the_same_in_whatever_order_it_comes() {
    for mut case in cases() {
        let before = super::json(compare(&case));
        case.context.reverse();
        turn(&mut case.desired);
        assert_eq!(super::json(compare(&case)).len(), before.len(), "{}", case.id);
        turn(&mut case.desired);
        case.context.reverse();
        assert_eq!(super::json(compare(&case)), before, "{}", case.id);
    }
}

/// The fields of every object in another order.
fn turn(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let turned: Vec<(String, Value)> = std::mem::take(fields).into_iter().rev().collect();
            fields.extend(turned);
            fields.values_mut().for_each(turn);
        }
        Value::Array(items) => items.iter_mut().for_each(turn),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn fragment_87_what_the_server_keeps_for_itself_is_left_out_without_being_asked() {
    let plain = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "x", "namespace": "n"}, "spec": {"template": {"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]}}, "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {"volumeName": "v"}}]}});
    let mut live = plain.clone();
    for (name, value) in [
        ("uid", json!("u")),
        ("resourceVersion", json!("7")),
        ("generation", json!(3)),
        ("creationTimestamp", json!("2026-05-04T10:00:00Z")),
        ("selfLink", json!("/x")),
        ("deletionTimestamp", json!("2026-05-04T10:00:00Z")),
        ("deletionGracePeriodSeconds", json!(30)),
        ("managedFields", json!([{"manager": "x", "operation": "Update", "fieldsV1": {}}])),
    ] {
        live["metadata"][name] = value;
    }
    live["status"] = json!({"replicas": 1});
    live["spec"]["template"]["metadata"]["creationTimestamp"] = Value::Null;
    live["spec"]["volumeClaimTemplates"][0]["metadata"]["creationTimestamp"] = Value::Null;
    let [desired, live] = [plain, live].map(|side| Object::new(side, &redactor()));
    let found = diff(&desired, &live, Evidence { released: None, related: &[] });
    assert!(found.fields.is_empty(), "{}", found.fields.iter().map(super::line).collect::<Vec<_>>().join("\n"));
}
