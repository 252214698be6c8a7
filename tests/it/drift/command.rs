//! `holdup diff` by the real program: what it prints, and the exit codes that scripts rely on.

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A folder of files for one test.
struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[track_caller]
fn diff(args: &[&str], expected: i32) -> (String, String) {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff-state");
    let output = Command::new(env!("CARGO_BIN_EXE_holdup")).arg("diff").args(args).env("XDG_STATE_HOME", state).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(expected), "{args:?}\n{out}\n{err}");
    (out, err)
}

fn config(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data})
}

#[test]
fn it_exits_by_what_it_found() {
    let files = Files::new("exits");
    let [one, other] = [
        files.write("one.json", &config("a", &json!({"k": "1"})).to_string()),
        files.write("other.json", &config("a", &json!({"k": "2"})).to_string()),
    ];
    let (text, _) = diff(&["--live", &one, "--desired", &one], 0);
    assert!(text.contains("No drift."), "{text}");
    let (text, _) = diff(&["--live", &one, "-f", &other], 1);
    assert!(text.contains("data.k") && text.contains("- 2") && text.contains("+ 1") && text.contains("drift"), "{text}");
    let (text, _) = diff(&["--live", &one], 3);
    assert!(text.contains("nothing says what was asked for"), "{text}");
    let (_, err) = diff(&["--live", "/nonexistent/file", "-f", &other], 2);
    assert!(err.contains("/nonexistent/file cannot be read"), "{err}");
    let broken = files.write("broken.yaml", "{: nonsense");
    let (_, err) = diff(&["--live", &one, "-f", &broken], 2);
    assert!(err.contains("holds no Kubernetes object"), "{err}");
}

#[test]
fn where_admission_alone_differs_nothing_drifted_and_what_it_did_is_listed() {
    let files = Files::new("admission");
    let own = json!({"manager": "kubectl", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {r#"k:{"name":"c"}"#: {".": {}, "f:name": {}, "f:image": {}}}}}}}});
    let pod = |spec: Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"template": {"spec": spec}}});
    let wanted = pod(json!({"containers": [{"name": "c", "image": "i:1"}]}));
    let mut live = pod(json!({"hostNetwork": true, "nodeSelector": {"pool": "a"}, "containers": [{"name": "c", "image": "i:1"}]}));
    live["metadata"]["managedFields"] = json!([own]);
    let [live, wanted] =
        [("live", live), ("wanted", wanted)].map(|(name, object)| files.write(&format!("{name}.json"), &object.to_string()));
    let (text, _) = diff(&["--live", &live, "-f", &wanted], 0);
    assert!(text.contains("No drift: the cluster's admission wrote the 2 that differ."), "{text}");
    assert!(text.contains("spec.template.spec.hostNetwork") && text.contains("weaker"), "{text}");
    assert!(text.contains("spec.template.spec.nodeSelector · admission · "), "{text}");
    assert!(!text.contains("difference"), "{text}");
}

/// A custom object with so many levels of maps below it.
fn nested(levels: usize) -> Value {
    let spec = (0..levels).fold(json!("x"), |below, _| json!({"a": below}));
    json!({"apiVersion": "example.net/v1", "kind": "Deep", "metadata": {"name": "d", "namespace": "shop"}, "spec": spec})
}

#[test]
fn an_object_may_be_nested_as_deeply_whatever_it_is_read_from() {
    let files = Files::new("nested");
    for (levels, is_read) in [(64, true), (98, true), (100, false), (140, false)] {
        let object = nested(levels);
        let yaml = serde_saphyr::to_string(&object).unwrap();
        let list = json!({"kind": "List", "apiVersion": "v1", "items": [object.clone(), config("other", &json!({"k": "1"}))]});
        for (name, text, others) in [("d.json", object.to_string(), false), ("d.yaml", yaml, false), ("l.json", list.to_string(), true)] {
            let path = files.write(name, &text);
            for args in [&["--live", &path, "-f", &path][..], &["--from", &path]] {
                let is_from = args[0] == "--from";
                let code = if is_from && (is_read || others) {
                    3
                } else if is_read || others {
                    0
                } else {
                    2
                };
                let (out, err) = diff(args, code);
                assert_eq!(out.contains("Deep.example.net/shop/d"), is_read, "{levels} {args:?}: {out}{err}");
                assert_eq!(
                    err.contains("is nested deeper than 100 levels, which no Kubernetes object is"),
                    !is_read,
                    "{levels} {args:?}: {out}{err}"
                );
                assert_eq!(out.contains("ConfigMap/shop/other"), others, "{levels} {args:?}: {out}{err}");
            }
        }
    }
}

#[test]
fn one_object_is_a_diff_and_several_are_a_list() {
    let files = Files::new("several");
    let live =
        files.write("live.json", &json!({"kind": "List", "items": [config("a", &json!({"k": "1"})), config("b", &json!({}))]}).to_string());
    let wanted = files.write("wanted.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: '1'}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n");
    let (text, _) = diff(&["--live", &live, "-f", &wanted, "-o", "json"], 1);
    let list: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(list["kind"], "DiffList");
    assert_eq!(list["items"][0]["object"], "ConfigMap/shop/a");
    assert_eq!(list["items"][1]["fields"][0]["verdict"], "pending");
    let (text, _) = diff(&["--live", &live, "-f", &wanted, "-o", "json", "configmap/a"], 0);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["kind"], "Diff");
}

/// A release of two ConfigMaps, of which one was edited and one is gone.
fn released(files: &Files) -> String {
    let mut live = config("a", &json!({"k": "2"}));
    live["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    live["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    let manifest = |k: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{k: '{k}'}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: gone}}\n"
        )
    };
    let record = |revision: i64, status: &str, k: &str| {
        let release =
            json!({"name": "shop", "namespace": "shop", "version": revision, "info": {"status": status}, "manifest": manifest(k)});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("sh.helm.release.v1.shop.v{revision}"), "namespace": "shop"},
            "data": {"release": STANDARD.encode(release.to_string())}})
    };
    let items = json!({"kind": "List", "apiVersion": "v1", "items": [live, record(3, "deployed", "1"), record(4, "pending-upgrade", "2")]});
    files.write("release.json", &items.to_string())
}

#[test]
fn a_release_is_compared_from_files_as_well() {
    let files = Files::new("release");
    let all = released(&files);
    let (text, _) = diff(&["--from", &all, "--release", "shop", "-o", "json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    let item = |name: &str| {
        found["items"].as_array().into_iter().flatten().find(|item| item["object"] == format!("ConfigMap/shop/{name}")).unwrap()
    };
    assert_eq!((&item("a")["fields"][0]["path"], &item("gone")["fields"][0]["verdict"]), (&json!("data.k"), &json!("pending")), "{text}");
    assert_eq!(
        (&item("a")["desiredSource"], &item("a")["otherSources"]),
        (&json!("helm release shop, revision 3"), &json!(["helm release shop, revision 4 (pending-upgrade)"]))
    );
    diff(&["--from", &all, "--release", "shop", "configmap/a"], 1);
    let (_, err) = diff(&["--from", &all, "--release", "nowhere"], 2);
    assert!(err.contains("holds no record of a Helm release nowhere"), "{err}");
    let (_, err) = diff(&["--from", &all, "--release", "shop", "-n", "elsewhere"], 2);
    assert!(err.contains("no record"), "{err}");
}

/// `holdup diff` with nothing in PATH but this folder.
fn diff_in(path: &Path, args: &[&str]) -> (Option<i32>, String) {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff-state");
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    let output = command.arg("diff").args(args).env("XDG_STATE_HOME", state).env("PATH", path).output().unwrap();
    (output.status.code(), format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

#[cfg(unix)]
#[test]
fn a_folder_with_a_kustomization_is_built_by_kubectl_where_there_is_one() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::new("kustomize");
    let live = files.write("live.json", &config("prod-a", &json!({"k": "2"})).to_string());
    let overlay = files.0.join("overlay");
    std::fs::create_dir_all(&overlay).unwrap();
    std::fs::write(overlay.join("kustomization.yaml"), "namePrefix: prod-\nresources: [a.yaml]\n").unwrap();
    std::fs::write(overlay.join("a.yaml"), config("a", &json!({"k": "1"})).to_string()).unwrap();
    let [empty, tools, broken] = ["empty", "tools", "broken"].map(|name| files.0.join(name));
    let kubectl = |folder: &Path, script: &str| {
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join("kubectl");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    std::fs::create_dir_all(&empty).unwrap();
    kubectl(&tools, &format!("[ \"$1\" = kustomize ] && printf '%s' '{}'", config("prod-a", &json!({"k": "1"}))));
    kubectl(&broken, "echo 'no such resource' >&2; exit 1");
    let args = ["--live", &live, "-f", overlay.to_str().unwrap()];
    let (code, text) = diff_in(&tools, &args);
    assert!(code == Some(1) && text.contains("desired: manifest kustomization ") && text.contains("data.k"), "{text}");
    let (code, text) = diff_in(&empty, &args);
    assert!(
        code == Some(2) && text.contains("kubectl, which builds it, is not in PATH; build it where that is possible: kustomize build"),
        "{text}"
    );
    let (code, text) = diff_in(&broken, &args);
    assert!(code == Some(2) && text.contains("failed: no such resource"), "{text}");
}

#[test]
fn a_helm_release_among_the_objects_says_what_was_asked_for() {
    let files = Files::new("helm");
    let mut live = config("a", &json!({"k": "2"}));
    live["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    live["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
    let manifest = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: '1'}\n";
    let release =
        json!({"name": "shop", "namespace": "shop", "version": 3, "info": {"status": "deployed"}, "manifest": manifest}).to_string();
    let packed = STANDARD.encode(STANDARD.encode(release));
    let record = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "sh.helm.release.v1.shop.v3", "namespace": "shop"}, "data": {"release": packed}});
    let all = files.write("all.json", &json!({"kind": "List", "apiVersion": "v1", "items": [live, record]}).to_string());
    let (text, _) = diff(&["--from", &all, "configmap/a", "-o", "json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["desiredSource"], "helm release shop, revision 3");
    let fields = found["fields"].as_array().unwrap();
    assert_eq!(fields.len(), 1, "{text}");
    assert_eq!((&fields[0]["path"], &fields[0]["verdict"]), (&json!("data.k"), &json!("drift")));
}

#[test]
fn the_last_applied_annotation_and_the_revision_before_are_sources_too() {
    let files = Files::new("sources");
    let mut live = config("a", &json!({"k": "2"}));
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": config("a", &json!({"k": "1"})).to_string()});
    let (text, _) = diff(&["--live", &files.write("applied.json", &live.to_string()), "-o", "json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["desiredSource"], "last-applied annotation of kubectl");
    let template = |image: &str| json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}});
    let replica_set = |revision: &str, image: &str| {
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": format!("web-{revision}"), "namespace": "shop",
            "annotations": {"deployment.kubernetes.io/revision": revision}, "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "u", "controller": true}]},
            "spec": {"template": template(image)}})
    };
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "u"}, "spec": {"template": template("i:2")}});
    let items = json!({"kind": "List", "items": [deployment, replica_set("1", "i:1"), replica_set("2", "i:2")]});
    let (text, _) = diff(&["--from", &files.write("revisions.json", &items.to_string()), "deploy/web", "-o", "yaml"], 1);
    assert!(text.contains("revision 1 (ReplicaSet web-1") && text.contains("i:1"), "{text}");
}

#[test]
fn accepted_drift_is_no_failure_and_bad_rules_are() {
    let files = Files::new("accepted");
    let [live, wanted] = ["2", "1"].map(|k| files.write(&format!("{k}.json"), &config("a", &json!({"k": k, "other": "x"})).to_string()));
    let rules = "[[accept]]\nkind = \"ConfigMap\"\nname = \"a\"\npath = \"data.k\"\nvalue = \"2\"\nowner = \"alice\"\nreason = \"INC-42\"\nexpires = 2106-01-01\n";
    let accept = files.write("accept.toml", rules);
    let (text, err) = diff(&["--live", &live, "-f", &wanted, "--accept", &accept], 0);
    assert!(text.contains("data.k · accepted: INC-42 (") && text.contains("by alice, until 2106-01-01"), "{text}");
    assert!(err.is_empty(), "{err}");
    let (text, _) = diff(&["--live", &live, "-f", &wanted, "--accept", &accept, "-o", "json"], 0);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&found["fields"][0]["verdict"], &found["fields"][0]["accepted"]["reason"]), (&json!("approved"), &json!("INC-42")));
    assert_eq!(found["lint"], json!([]));
    let old = files.write("old.toml", &rules.replace("2106", "2020"));
    let (text, err) = diff(&["--live", &live, "-f", &wanted, "--accept", &old, "-o", "json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&found["fields"][0]["verdict"], &found["lint"][0]["fault"]), (&json!("drift"), &json!("expired")));
    assert!(err.contains("old.toml:1: expired after 2020-01-01"), "{err}");
    let elsewhere = files.write("elsewhere.toml", &rules.replace("data.k", "data.z"));
    let (_, err) = diff(&["--live", &live, "-f", &wanted, "--accept", &elsewhere], 1);
    assert!(err.contains("matches nothing"), "{err}");
    let wrong = files.write("wrong.toml", &rules.replace("reason", "raison"));
    let (_, err) = diff(&["--live", &live, "-f", &wanted, "--accept", &wrong], 2);
    assert!(err.contains("there is no raison"), "{err}");
}

#[test]
fn all_sources_stand_side_by_side_where_they_disagree() {
    let files = Files::new("table");
    let mut live = config("a", &json!({"k": "5", "same": "x", "only-live": "1"}));
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": config("a", &json!({"k": "2", "same": "y"})).to_string()});
    let live = files.write("live.json", &live.to_string());
    let asked = files.write("asked.json", &config("a", &json!({"k": "3", "same": "y"})).to_string());
    let (text, _) = diff(&["--live", &live, "-f", &asked, "--sources"], 1);
    let table = text.split("sources, most trusted first:").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(table.contains("1  manifest ") && table.contains("2  last-applied annotation of kubectl"), "{text}");
    let rows: Vec<&str> = table.lines().skip_while(|line| !line.contains("they disagree at")).map(str::trim).collect();
    assert_eq!(rows[..4], ["they disagree at data.k", "live  5", "1     3", "2     2"], "{text}");
    assert!(!table.contains("data.same") && !table.contains("only-live"), "{text}");
    let (text, _) = diff(&["--live", &live, "-f", &asked, "--sources", "-o", "json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["sources"].as_array().map(Vec::len), Some(2), "{text}");
    let row = &found["disagreements"][0];
    assert_eq!(
        (&row["path"], &row["live"], &row["says"][0]["value"], &row["says"][1]["value"]),
        (&json!("data.k"), &json!("5"), &json!("3"), &json!("2"))
    );
    let (text, _) = diff(&["--live", &live, "-f", &asked, "-o", "json"], 1);
    assert!(serde_json::from_str::<Value>(&text).unwrap().get("sources").is_none(), "{text}");
}
