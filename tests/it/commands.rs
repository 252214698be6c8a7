//! Commands by the real program: what they print, and the exit codes that scripts rely on.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_holdup"))
        .args(args)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .env("XDG_STATE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("commands-state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes it.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

#[expect(clippy::needless_pass_by_value, reason = "it is made where it is handed over")]
fn list(items: Value) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

fn pod(name: &str, ready: bool) -> Value {
    let state = if ready {
        json!({"running": {"startedAt": "2026-05-04T10:00:05Z"}})
    } else {
        json!({"waiting": {"reason": "InvalidImageName", "message": "couldn't parse image reference"}})
    };
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-05-04T10:00:00Z"},
        "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "Not A Reference"}]},
        "status": {"phase": if ready { "Running" } else { "Pending" },
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": if ready { "True" } else { "False" }, "lastTransitionTime": "2026-05-04T10:00:01Z"}],
            "containerStatuses": [{"name": "app", "ready": ready, "restartCount": 0, "image": "", "state": state}]}})
}

#[track_caller]
fn code(args: &[&str], input: &str, expected: i32) -> (String, String) {
    let output = run(args, input);
    let (out, err) = (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(output.status.code(), Some(expected), "{args:?}\n{out}\n{err}");
    (out, err)
}

#[test]
fn a_report_exits_by_what_it_found() {
    code(&["report", "--from", "-"], &list(json!([pod("a", true)])), 0);
    let (text, _) = code(&["report", "--from", "-"], &list(json!([pod("a", true), pod("b", false)])), 1);
    assert!(text.contains("BLOCKED") && text.contains("Pod shop/b"), "{text}");
    let (_, err) = code(&["report", "--from", "-"], &list(json!([])), 0);
    assert!(err.contains("nothing to judge"), "{err}");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let (text, _) = code(&["report", "--from", "-"], &list(json!([namespace])), 0);
    assert!(text.contains("Nothing to judge") && !text.contains("Nothing is stuck"), "{text}");
    code(&["report", "--from", "-"], "this is no kubernetes", 2);
    code(&["report", "--from", "/nonexistent/file"], "", 2);
    code(&["report", "--wrong-option"], "", 2);
}

#[test]
fn pods_that_may_not_be_read_are_not_called_healthy() {
    let coverage = json!([{"kind": "Pod", "state": "denied", "namespace": null, "message": "pods is forbidden"}]).to_string();
    let node = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let file = json!({"apiVersion": "v1", "kind": "List", "metadata": {"annotations": {"holdup.dev/coverage": coverage}}, "items": [node]});
    let (text, _) = code(&["report", "--from", "-"], &file.to_string(), 3);
    assert!(text.contains("Could not see enough") && !text.contains("Nothing is stuck"), "{text}");
}

#[test]
fn a_report_of_one_object_tells_only_what_holds_it_up() {
    let input = list(json!([pod("a", true), pod("b", false)]));
    code(&["report", "pod/a", "--from", "-"], &input, 0);
    code(&["report", "--from", "-", "pod/a"], &input, 0);
    code(&["report", "po/b", "--from", "-"], &input, 1);
    let (_, err) = code(&["report", "pod/c", "--from", "-"], &input, 2);
    assert!(err.contains("pod/c"), "{err}");
}

#[test]
fn all_forms_say_the_same() {
    let input = list(json!([pod("b", false)]));
    let (text, _) = code(&["report", "-o", "json", "--from", "-"], &input, 1);
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&report["apiVersion"], &report["kind"]), (&json!("holdup.dev/v1"), &json!("Report")));
    let title = report["blockers"][0]["title"].as_str().expect("a title").to_owned();
    let (yaml, _) = code(&["report", "-o", "yaml", "--from", "-"], &input, 1);
    let from_yaml: Value = serde_saphyr::from_str(&yaml).expect("YAML");
    assert_eq!(from_yaml["blockers"], report["blockers"]);
    for form in ["text", "markdown"] {
        let (out, _) = code(&["report", "-o", form, "--from", "-"], &input, 1);
        let plain: String = out.replace('\\', "");
        assert!(plain.contains(&title), "{form}: {out}");
        assert!(!out.contains('\u{1b}'), "colours without a terminal");
    }
}

#[test]
fn markdown_says_what_a_delayed_blocker_waits_for_and_until_when() {
    let progressing = json!({"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": "m", "lastUpdateTime": "2026-05-04T10:00:00Z",
        "lastTransitionTime": "2026-05-04T10:00:00Z"});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "d", "generation": 1,
        "creationTimestamp": "2026-05-04T10:00:00Z"}, "spec": {"replicas": 1, "progressDeadlineSeconds": 600, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1, "conditions": [progressing]}});
    let input = list(json!([deployment]));
    let (out, _) = code(&["report", "-o", "markdown", "--from", "-", "--now", "2026-05-04T10:06:50Z"], &input, 0);
    assert!(out.contains("| DELAYED, 3:10 left |"), "{out}");
    assert!(out.contains("**Clock:** deadline: progressDeadlineSeconds at 2026-05-04T10:10:00Z, 3:10 left"), "{out}");
}

#[test]
fn selectors_narrow_what_is_judged_and_one_that_cannot_be_read_is_an_error() {
    let input = list(json!([pod("b", false)]));
    code(&["report", "--from", "-", "--field-selector", "metadata.name=x"], &input, 0);
    code(&["report", "--from", "-", "-l", "app=x"], &input, 0);
    code(&["report", "--from", "-", "--field-selector", "spec.colour=red"], &input, 2);
    code(&["report", "--from", "-", "-n", "other"], &input, 0);
    code(&["report", "--from", "-", "-n", "shop"], &input, 1);
}

#[test]
fn without_a_cluster_it_says_what_it_tried_and_what_else_there_is() {
    let (_, err) = code(&["report"], "", 2);
    assert!(err.contains("/nonexistent/kubeconfig") && err.contains("holdup demo") && err.contains("--from"), "{err}");
}

#[test]
fn without_a_terminal_the_dashboard_names_the_report_and_the_demo_prints_one() {
    let (_, err) = code(&[], "", 2);
    assert!(err.contains("holdup report"), "{err}");
    let (out, _) = code(&["demo"], "", 0);
    assert!(out.contains("BLOCKED") && out.contains("quota"), "{out}");
}

#[test]
fn causes_rights_and_completions_come_from_the_tables() {
    let (out, _) = code(&["explain", "quota-exceeded"], "", 0);
    assert!(out.contains("ResourceQuota"), "{out}");
    let (_, err) = code(&["explain", "quota"], "", 2);
    assert!(err.contains("quota-exceeded"), "{err}");
    let (all, _) = code(&["explain"], "", 0);
    assert!(holdup::diagnose::CAUSES.iter().copied().flatten().all(|c| all.contains(c.id)));
    let (role, _) = code(&["rbac"], "", 0);
    assert!(role.contains("kind: ClusterRole") && !role.contains("secrets") && !role.contains("create"), "{role}");
    let (role, _) = code(&["rbac", "-n", "shop", "--with", "logs,secrets"], "", 0);
    assert!(role.contains("kind: Role") && role.contains("pods/log") && role.contains("secrets") && !role.contains("nodes"), "{role}");
    let (role, _) = code(&["rbac", "--with", "dry-run,gitops"], "", 0);
    assert!(role.contains("verbs: [create, patch]") && role.contains("resources: [applications]") && !role.contains("secrets"), "{role}");
    let (script, _) = code(&["completions", "bash"], "", 0);
    assert!(script.contains("holdup"), "{script}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let output =
        Command::new("sh").arg("-c").arg(format!("{} explain | head -1", env!("CARGO_BIN_EXE_holdup"))).output().expect("sh is there");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
