//! Helm's releases by the real program: an upgrade that has not ended stands beside what is deployed, a manifest that cannot be read costs
//! only itself, and records of Helm 2 are told apart.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::served::{diff, holdup, record, settings, text};
use super::server::{Cluster, Server};
use crate::terminal::Terminal;

/// The same record with another manifest.
fn declaring(mut record: Value, manifest: &str) -> Value {
    let packed = record["data"]["release"].as_str().expect("packed").to_owned();
    let plain = STANDARD.decode(STANDARD.decode(packed).expect("base64")).expect("base64");
    let mut release: Value = serde_json::from_slice(&plain).expect("JSON");
    release["manifest"] = manifest.into();
    record["data"]["release"] = STANDARD.encode(STANDARD.encode(release.to_string())).into();
    record
}

fn config(name: &str, k: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: '{k}'}}\n")
}

/// Revision 2 is deployed with `k: 1`; revision 3 was to write what this manifest says.
fn upgrading(status: &str, manifest: &str) -> Server {
    let newer = declaring(record("Secret", 3, status), manifest);
    Cluster::default().with(settings()).with(record("Secret", 2, "deployed")).with(newer).serve()
}

#[test]
fn an_upgrade_that_has_not_ended_is_named_beside_what_is_deployed() {
    let server = upgrading("pending-upgrade", &config("settings", "2"));
    for args in [&["--release", "shop", "-n", "shop"][..], &["configmap/settings", "-n", "shop"]] {
        let found = diff(&server, args, 1);
        assert!(found["desiredSource"].as_str().is_some_and(|title| title.contains("revision 2")), "{found:#}");
        assert!(found["otherSources"].to_string().contains("revision 3 (pending-upgrade)"), "{found:#}");
        assert!(found["notes"][0].as_str().is_some_and(|note| note.contains("revision 3 (pending-upgrade)")), "{found:#}");
        let field = &found["fields"][0];
        assert_eq!((&field["path"], &field["verdict"]), (&json!("data.k"), &json!("pending")), "{found:#}");
        assert!(field["reason"].as_str().is_some_and(|reason| reason.contains("revision 3 (pending-upgrade)")), "{found:#}");
        let told = text(&server, args, 1);
        assert!(told.contains("revision 3 (pending-upgrade) is newer"), "{told}");
        let table = text(&server, &[args, &["--sources"]].concat(), 1);
        assert!(table.contains("2  helm release shop, revision 3 (pending-upgrade)"), "{table}");
    }
}

#[test]
fn a_failed_upgrade_that_drops_an_object_says_so_of_it() {
    let server = upgrading("failed", &config("other", "2"));
    let found = diff(&server, &["configmap/settings", "-n", "shop"], 1);
    assert_eq!(found["fields"][0]["verdict"], "drift", "{found:#}");
    let note = found["notes"][0].as_str().unwrap_or_default();
    assert!(note.contains("revision 3 (failed)") && note.contains("does not declare this object"), "{found:#}");
}

#[test]
fn the_dashboard_names_the_upgrade_too() {
    let server = upgrading("pending-upgrade", &config("settings", "2"));
    let mut terminal = Terminal::start(&holdup(&server, &[]));
    terminal.wait_for(super::served::SOON, "Nothing is stuck");
    terminal.press(":");
    terminal.press("configmap shop/settings");
    terminal.wait_for(super::served::SOON, "ConfigMap");
    terminal.press("\r");
    terminal.wait_for(super::served::SOON, "How it is meant to be");
    terminal.press("d");
    terminal.wait_for(super::served::SOON, "revision 3 (pending-upgrade) is newer");
    terminal.press("X");
    terminal.wait_for(super::served::SOON, "X back to one source");
    terminal.press("q");
    assert_eq!(terminal.await_end(super::served::SOON), 0);
}

#[test]
fn a_manifest_that_cannot_be_read_is_named_with_its_record_and_costs_only_itself() {
    let manifest = config("settings", "1") + "---\nkind: {broken\n" + &config("settings-2", "1");
    let server = Cluster::default().with(settings()).with(declaring(record("Secret", 2, "deployed"), &manifest)).serve();
    for args in [&["--release", "shop", "-n", "shop"][..], &["configmap/settings", "-n", "shop"]] {
        let told = text(&server, args, 1);
        assert!(told.contains("sh.helm.release.v1.shop.v2: line 6 of its manifest is no valid YAML"), "{told}");
        assert!(told.contains("the other 2 objects of it are compared") && told.contains("data.k"), "{told}");
    }
    let server = Cluster::default().with(settings()).with(declaring(record("Secret", 2, "deployed"), "kind: {broken\n")).serve();
    let told = text(&server, &["--release", "shop", "-n", "shop"], 3);
    assert!(told.contains("sh.helm.release.v1.shop.v2: line 1 of its manifest is no valid YAML"), "{told}");
    assert!(told.contains("nothing else is declared in it"), "{told}");
}

/// A record as Tiller kept it.
fn tillers(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"release": "H4sIAAAAAAAA/w=="}, "metadata": {"name": format!("{name}.v1"), "namespace": "kube-system",
        "labels": {"OWNER": "TILLER", "NAME": name, "STATUS": "DEPLOYED", "VERSION": "1"}}})
}

#[test]
fn records_of_helm_2_are_recognised_and_not_decoded() {
    let server = Cluster::default().with(settings()).with(tillers("old")).serve();
    let output = holdup(&server, &["diff", "--release", "old", "-n", "shop"]).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("old was installed by Helm 2") && told.contains("kube-system"), "{told}");
    let told = text(&server, &["--all"], 3);
    assert!(told.contains("1 release was installed by Helm 2"), "{told}");
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("tiller.json");
    let items = json!({"kind": "List", "apiVersion": "v1", "items": [settings(), tillers("old")]});
    std::fs::write(&file, items.to_string()).expect("written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_holdup"))
        .args(["diff", "--release", "old", "--from"])
        .arg(&file)
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("old was installed by Helm 2"), "{told}");
}

#[test]
fn an_object_that_tiller_labelled_says_why_nothing_says_what_was_asked_for() {
    let mut old = settings();
    old["metadata"]["annotations"] = json!({});
    old["metadata"]["labels"] = json!({"heritage": "Tiller", "release": "old"});
    let server = Cluster::default().with(old).serve();
    let told = text(&server, &["configmap/settings", "-n", "shop"], 3);
    assert!(told.contains("installed by Helm 2"), "{told}");
}
