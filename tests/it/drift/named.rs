//! What `holdup diff` is told to compare, by the real program: kinds by every name, manifests that declare nothing, and what a file cannot prove gone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("named").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, value: &Value) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[track_caller]
fn diff(args: &[&str], expected: i32) -> String {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff-state");
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    let output = command.arg("diff").args(args).env("XDG_STATE_HOME", state).stdin(Stdio::null()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(expected), "{args:?}\n{text}");
    text
}

/// An object whose last-applied copy says the same.
fn applied(kind: &str, version: &str, name: &str) -> Value {
    let wanted = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop", "annotations": {}}});
    let mut live = wanted.clone();
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": wanted.to_string()});
    live
}

fn config(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": {"k": value}})
}

fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

#[test]
fn a_kind_goes_by_all_its_names_in_every_file_and_by_no_other() {
    let files = Files::new("kinds");
    let objects = [applied("Deployment", "apps/v1", "cart"), applied("Service", "v1", "cart"), applied("Service", "v1", "other")];
    let live = files.write("live.json", &list(&objects));
    for option in ["--live", "--from"] {
        for name in ["deploy/cart", "deployments/cart", "Deployment/cart", "deployment.apps/cart", "deployments.v1.apps/shop/cart"] {
            let text = diff(&[option, &live, name], 0);
            assert!(text.starts_with("Deployment/shop/cart") && !text.contains("Service/"), "{option} {name}: {text}");
        }
        let text = diff(&[option, &live, "deploy/cart", "svc/other"], 0);
        assert!(text.contains("Service/shop/other") && !text.contains("Service/shop/cart"), "{option}: {text}");
        for name in ["svc/nobody", "deploy/other", "cronjob/cart", "deploy.batch/cart"] {
            let text = diff(&[option, &live, name], 2);
            assert!(text.contains(&format!("{name} is not in the input")), "{option}: {text}");
        }
    }
}

#[test]
fn manifests_that_declare_nothing_are_an_error_and_no_clean_result() {
    let files = Files::new("nothing");
    let live = files.write("live.json", &list(&[applied("Deployment", "apps/v1", "cart")]));
    for (name, text) in
        [("empty.yaml", ""), ("comment.yaml", "# nothing\n---\n"), ("null.json", "null"), ("list.json", r#"{"kind":"List","items":[]}"#)]
    {
        let wanted = files.write(name, &json!(text));
        let said = diff(&["--live", &live, "-f", &wanted], 2);
        assert!(said.contains(&format!("{name} declares nothing")), "{said}");
    }
    assert!(diff(&["--from", &live, "-f", "-"], 2).contains("standard input declares nothing"));
    assert!(diff(&["--from", "-", "-f", "-"], 2).contains("named twice"));
    let elsewhere = files.write("elsewhere.json", &config("a", "1"));
    assert!(diff(&["--from", &live, "-f", &elsewhere, "-n", "other"], 2).contains("declare nothing in namespace other"));
}

#[test]
fn of_an_object_that_is_declared_twice_the_last_counts_and_that_is_said() {
    let files = Files::new("twice");
    let live = files.write("live.json", &list(&[config("a", "1"), config("b", "1")]));
    let wanted = files.write("wanted.json", &list(&[config("a", "1"), config("b", "1"), config("a", "2")]));
    let text = diff(&["--live", &live, "-f", &wanted], 1);
    assert!(text.contains("- 2") && text.contains("ConfigMap/shop/a is declared in") && text.contains("said last counts"), "{text}");
}

#[test]
fn what_a_file_does_not_hold_is_gone_only_where_it_holds_all_of_the_kind() {
    let files = Files::new("unread");
    let wanted = files.write("wanted.json", &list(&[config("a", "1"), applied("Deployment", "apps/v1", "web")]));
    let live = files.write("live.json", &list(&[applied("Deployment", "apps/v1", "cart")]));
    let text = diff(&["--from", &live, "-f", &wanted], 1);
    assert!(text.contains("Deployment/shop/web") && text.contains("not applied yet, or deleted"), "{text}");
    let text = diff(&["--from", &live, "-f", &wanted, "cm/a"], 3);
    assert!(text.contains("ConfigMap/shop/a") && text.contains("not in the input") && !text.contains("deleted"), "{text}");
    let text = diff(&["--live", &live, "-f", &wanted, "cm/a"], 1);
    assert!(text.contains("not applied yet, or deleted"), "{text}");
}
