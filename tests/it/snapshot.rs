//! Snapshots by the real program: what is written and opened again names the same blockers, and holds no secret.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn holdup(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_holdup")).args(args).env("NO_COLOR", "1").output().expect("the program starts")
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let folders = fs::read_dir(root).expect("cases").filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir() && !p.ends_with("drift"));
    let mut files: Vec<PathBuf> = folders.flat_map(|f| fs::read_dir(f).expect("a folder").filter_map(|e| Some(e.ok()?.path()))).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    files.sort();
    files
}

fn report(args: &[&str]) -> Value {
    let output = holdup(args);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_snapshot_names_the_same_blockers_as_what_it_was_made_of() {
    let folder = folder("same-blockers");
    for file in cases() {
        let case: Value = serde_json::from_slice(&fs::read(&file).expect("readable")).expect("JSON");
        let (now, name) = (case["now"].as_str().expect("a time"), file.file_stem().expect("a name").to_string_lossy().into_owned());
        let (input, output) = (folder.join(format!("{name}.json")), folder.join(format!("{name}.snapshot.json.gz")));
        fs::write(&input, json!({"apiVersion": "v1", "kind": "List", "items": case["objects"]}).to_string()).expect("written");
        let (input, output) = (input.to_string_lossy(), output.to_string_lossy());
        let written = holdup(&["snapshot", &output, "--from", &input, "--now", now]);
        assert!(written.status.success(), "{name}: {}", String::from_utf8_lossy(&written.stderr));
        let before = report(&["report", "--from", &input, "--now", now, "-o", "json"]);
        let after = report(&["report", "--from", &output, "-o", "json"]);
        assert_eq!(after["blockers"], before["blockers"], "{name}");
        assert_eq!(after["summary"]["pods"], before["summary"]["pods"], "{name}");
    }
}

#[test]
fn no_secret_reaches_a_snapshot_of_everything() {
    let folder = folder("secrets");
    let (input, output) = (folder.join("in.json"), folder.join("out.json"));
    let planted = "hunter2-canary";
    let encoded = "aHVudGVyMi1jYW5hcnk=";
    let applied = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"password": planted}}).to_string();
    let objects = json!([
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied}}, "data": {"password": encoded}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cfg", "namespace": "shop"}, "data": {"url": format!("postgres://u:{planted}@db/x")}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "DB_PASSWORD", "value": planted}]}]}, "status": {"phase": "Running", "message": format!("Bearer {planted}")}},
    ]);
    fs::write(&input, json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).expect("written");
    let written = holdup(&["snapshot", "--all", &output.to_string_lossy(), "--from", &input.to_string_lossy()]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let text = fs::read_to_string(&output).expect("there");
    assert!(text.contains("\"name\":\"db\"") && text.contains("\"name\":\"a\""), "the objects are there");
    assert!(!text.contains(planted) && !text.contains(encoded), "a secret is in the snapshot");
}

#[test]
fn a_snapshot_is_private_and_replaces_nothing_without_force() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("private");
    let (input, output) = (folder.join("in.json"), folder.join("out.json"));
    fs::write(&input, json!({"apiVersion": "v1", "kind": "List", "items": []}).to_string()).expect("written");
    let args = |force: bool| {
        let mut args = vec!["snapshot".to_owned(), output.display().to_string(), "--from".to_owned(), input.display().to_string()];
        args.extend(force.then(|| "--force".to_owned()));
        args
    };
    let run = |force| holdup(&args(force).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(run(false).status.code(), Some(0));
    assert_eq!(output.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(run(false).status.code(), Some(2), "an existing file is kept");
    assert_eq!(run(true).status.code(), Some(0));
}
