//! Baselines by the real program: what changed since a snapshot, with secrets told apart by their tags and never shown.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::server::{Cluster, Server};

/// A folder of files, and whose key is used.
struct User {
    folder: std::path::PathBuf,
    state: &'static str,
}

impl User {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("baseline").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self { folder, state: "one" }
    }

    fn write(&self, name: &str, items: &[Value]) -> String {
        let path = self.folder.join(name);
        std::fs::write(&path, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[track_caller]
    fn run(&self, args: &[&str], code: i32) -> (String, String) {
        let state = self.folder.join(self.state);
        let output = Command::new(env!("CARGO_BIN_EXE_holdup")).args(args).env("XDG_STATE_HOME", state).output().unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        for planted in ["hunter2", "aHVudGVyMg", "aHVudGVyMw", "hunter3"] {
            assert!(!out.contains(planted) && !err.contains(planted), "{out}\n{err}");
        }
        (out, err)
    }

    /// A snapshot of everything, as of this time.
    fn snapshot(&self, name: &str, items: &[Value], now: &str) -> String {
        let (input, output) = (self.write(&format!("{name}.in.json"), items), self.folder.join(name));
        let output = output.to_str().unwrap().to_owned();
        self.run(&["snapshot", "--all", &output, "--from", &input, "--now", now], 0);
        output
    }

    #[track_caller]
    fn diff(&self, args: &[&str], code: i32) -> (Value, String) {
        let (out, err) = self.run(&[&["diff", "-o", "json"], args].concat(), code);
        (serde_json::from_str(&out).unwrap(), err)
    }
}

const SAVED: &str = "2026-05-01T08:00:00Z";

fn config(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": {"k": value}})
}

fn secret(encoded: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"}, "data": {"password": encoded}})
}

fn deployment(replicas: i64, image: &str) -> Value {
    let applied =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart", "namespace": "shop"}, "spec": {"replicas": 3}});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart", "namespace": "shop",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()},
        "managedFields": [{"manager": "kubectl-edit", "operation": "Update", "time": "2026-05-03T09:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

fn item<'a>(found: &'a Value, object: &str) -> &'a Value {
    let items = found["items"].as_array().unwrap();
    items.iter().find(|item| item["object"] == object).unwrap_or_else(|| panic!("{object}: {found}"))
}

#[test]
fn what_differs_from_a_baseline_is_drift_and_what_is_gone_is_listed() {
    let user = User::new("drift");
    let baseline = user.snapshot("b.json.gz", &[config("a", "1"), config("same", "1"), config("gone", "1"), deployment(3, "i:1")], SAVED);
    let live = user.snapshot(
        "live.json",
        &[config("a", "2"), config("same", "1"), config("new", "1"), deployment(5, "i:1")],
        "2026-05-04T10:00:00Z",
    );
    // A file says what is complete in it only if somebody looked at everything.
    let mut text: Value = serde_json::from_str(&std::fs::read_to_string(&live).unwrap()).unwrap();
    text["metadata"]["annotations"]["holdup.dev/coverage"] = json!(r#"[{"kind":"ConfigMap","state":"synced"}]"#);
    std::fs::write(&live, text.to_string()).unwrap();
    let (found, err) = user.diff(&["--from", &live, "--baseline", &baseline], 1);
    assert!(found["lint"][0]["fault"] == "gone" && err.contains("1 object that it has is gone"), "{err}");
    assert_eq!(found["kind"], "DiffList");
    let a = item(&found, "ConfigMap/shop/a");
    assert_eq!(a["desiredSource"].as_str().unwrap(), format!("baseline {baseline}, saved {SAVED}"));
    assert_eq!((&a["desiredAt"], &a["fields"][0]["verdict"]), (&json!(SAVED), &json!("drift")));
    assert_eq!(item(&found, "ConfigMap/shop/same")["fields"], json!([]));
    let cart = &item(&found, "Deployment/shop/cart")["fields"][0];
    assert_eq!(
        (&cart["path"], &cart["desired"], &cart["live"], &cart["verdict"]),
        (&json!("spec.replicas"), &json!(3), &json!(5), &json!("drift"))
    );
    assert!(cart["reason"].as_str().unwrap().starts_with("changed since the baseline was saved: kubectl-edit wrote it"), "{cart}");
    assert!(cart["risk"].is_string());
    let gone = &item(&found, "ConfigMap/shop/gone")["fields"][0];
    assert!(gone["verdict"] == "drift" && gone["reason"].as_str().unwrap().contains("deleted since"), "{gone}");
    assert!(!found["items"].to_string().contains("shop/new"), "what came later is in no baseline: {found}");
}

#[test]
fn equal_tags_are_equal_values_other_tags_changed_ones_and_another_key_says_nothing() {
    let mut user = User::new("tags");
    let [same, changed] = ["aHVudGVyMg==", "aHVudGVyMw=="].map(secret);
    let baseline = user.snapshot("b.json", std::slice::from_ref(&same), SAVED);
    assert!(std::fs::read_to_string(&baseline).unwrap().contains("redacted/"), "the value has a tag");
    let [same, changed] = [user.write("same.json", &[same]), user.write("changed.json", &[changed])];
    let (found, _) = user.diff(&["--live", &same, "--baseline", &baseline], 0);
    assert_eq!((&found["kind"], &found["fields"]), (&json!("Diff"), &json!([])));
    let (found, _) = user.diff(&["--live", &changed, "--baseline", &baseline], 1);
    assert_eq!((&found["fields"][0]["path"], &found["fields"][0]["verdict"]), (&json!("data.password"), &json!("drift")));
    // The same file under another user's key: no tag can be compared, and what would tell is said.
    user.state = "other";
    for live in [&same, &changed] {
        let (found, _) = user.diff(&["--live", live, "--baseline", &baseline], 0);
        let field = &found["fields"][0];
        assert_eq!(field["verdict"], "unknown", "{field}");
        assert!(field["reason"].as_str().unwrap().contains("a baseline saved by the user who compares would tell"), "{field}");
    }
    let mut unnamed: Value = serde_json::from_str(&std::fs::read_to_string(&baseline).unwrap()).unwrap();
    unnamed["metadata"]["annotations"].as_object_mut().unwrap().remove("holdup.dev/tags");
    std::fs::write(&baseline, unnamed.to_string()).unwrap();
    let (found, _) = user.diff(&["--live", &same, "--baseline", &baseline], 0);
    assert!(found["fields"][0]["reason"].as_str().unwrap().contains("does not say under which"), "{found}");
    // Values that nobody redacted yet are redacted now, both sides alike.
    let (found, _) = user.diff(&["--live", &changed, "--baseline", &same], 1);
    assert_eq!(found["fields"][0]["verdict"], "drift");
}

#[test]
fn beside_manifests_a_baseline_approves_what_was_there_already() {
    let user = User::new("approves");
    let baseline = user.snapshot("b.json", &[deployment(5, "i:1")], SAVED);
    let live = user.write("live.json", &[deployment(5, "i:2")]);
    let manifest = user.write("wanted.json", &[deployment(3, "i:1")]);
    let (found, _) = user.diff(&["--live", &live, "-f", &manifest, "--baseline", &baseline], 1);
    let fields = found["fields"].as_array().unwrap();
    let verdict = |path: &str| &fields.iter().find(|field| field["path"] == path).unwrap()["verdict"];
    assert_eq!((verdict("spec.replicas"), verdict("spec.template.spec.containers[name=c].image")), (&json!("approved"), &json!("drift")));
}

#[test]
fn a_baseline_that_met_nothing_says_so_and_one_that_cannot_be_read_stops() {
    let user = User::new("nothing");
    let baseline = user.snapshot("b.json", &[config("a", "1")], SAVED);
    let live = user.write("live.json", &[config("b", "1")]);
    let (found, err) = user.diff(&["--live", &live, "--baseline", &baseline], 3);
    assert_eq!(found["lint"][0]["fault"], "matches-nothing");
    assert!(err.contains("matches nothing"), "{err}");
    let (_, err) = user.run(&["diff", "--live", &live, "--baseline", "/nonexistent.json"], 2);
    assert!(err.contains("/nonexistent.json"), "{err}");
    // A snapshot of blockers says of config maps only that they exist: that is no baseline for what they hold.
    let shallow = user.folder.join("shallow.json");
    let shallow = shallow.to_str().unwrap();
    std::fs::write(
        shallow,
        json!({"kind": "List", "apiVersion": "v1", "metadata": {"annotations": {"holdup.dev/version": "1"}},
        "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "shop"}}]})
        .to_string(),
    )
    .unwrap();
    user.diff(&["--live", &live, "--baseline", shallow], 3);
}

#[test]
fn what_went_wrong_again_and_who_writes_against_whom_is_seen_between_baselines() {
    let user = User::new("history");
    let by = |manager: &str, replicas: i64, day: &str| {
        let mut object = deployment(replicas, "i:1");
        object["metadata"]["managedFields"][0]["manager"] = json!(manager);
        object["metadata"]["managedFields"][0]["time"] = json!(format!("2026-05-{day}T07:00:00Z"));
        object
    };
    let first = user.snapshot("1.json", &[by("kubectl-edit", 5, "01")], "2026-05-01T08:00:00Z");
    let second = user.snapshot("2.json", &[by("argocd-controller", 3, "02")], "2026-05-02T08:00:00Z");
    let live = user.write("live.json", &[by("kubectl-edit", 5, "03")]);
    // However they are named, the newest is what live is compared with.
    let (found, _) = user.diff(&["--live", &live, "--baseline", &second, "--baseline", &first], 1);
    assert!(found["desiredSource"].as_str().unwrap().starts_with(&format!("baseline {second}")));
    let field = &found["fields"][0];
    assert_eq!((&field["path"], &field["verdict"]), (&json!("spec.replicas"), &json!("conflict")));
    assert!(field["reason"].as_str().unwrap().starts_with("kubectl-edit and argocd-controller write it in turn"), "{field}");
    assert_eq!((&field["again"]["times"], &field["again"]["rightedBy"]), (&json!(2), &json!("argocd-controller")));
    let (text, _) = user.run(&["diff", "--live", &live, "--baseline", &first, "--baseline", &second], 1);
    assert!(text.contains("drifted again: 2 times in all; put right by argocd-controller at 2026-05-02T07:00:00Z, then changed by kubectl-edit at 2026-05-03T07:00:00Z"), "{text}");
    let (found, _) = user.diff(&["--live", &live, "--baseline", &second], 1);
    assert_eq!(found["fields"][0]["verdict"], "drift", "one baseline shows no turns");
}

fn binding(subject: &str) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "readers", "namespace": "shop"},
        "roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": subject}]})
}

fn policy() -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "deny", "namespace": "shop"}, "spec": {"podSelector": {}}})
}

#[test]
fn a_snapshot_of_everything_holds_what_nobody_follows_and_is_a_baseline_for_the_cluster() {
    let user = User::new("cluster");
    let before = [config("a", "1"), config("gone", "1"), secret("aHVudGVyMg=="), binding("alice")];
    let serve = |objects: &[Value]| -> Server { objects.iter().cloned().fold(Cluster::default(), Cluster::with).serve() };
    let path = user.folder.join("b.json");
    let path = path.to_str().unwrap();
    let server = serve(&before);
    user.run(&["snapshot", "--all", path, "--server", &server.url], 0);
    let mut saved: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let kinds: Vec<&str> = saved["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"RoleBinding") && kinds.contains(&"Secret"), "{kinds:?}");
    // The definition of a kind may go, and its objects with it.
    saved["items"].as_array_mut().unwrap().push(policy());
    std::fs::write(path, saved.to_string()).unwrap();
    let server = serve(&[config("a", "2"), secret("aHVudGVyMw=="), binding("bob")]);
    let (found, err) = user.diff(&["--baseline", path, "--server", &server.url], 1);
    let first = |object: &str| item(&found, object)["fields"][0].clone();
    assert_eq!(first("ConfigMap/shop/a")["verdict"], "drift");
    assert_eq!(
        (first("Secret/shop/db")["path"].clone(), first("Secret/shop/db")["verdict"].clone()),
        (json!("data.password"), json!("drift"))
    );
    assert!(first("RoleBinding/shop/readers")["risk"].as_str().unwrap().starts_with("R4"), "{found}");
    for gone in ["ConfigMap/shop/gone", "NetworkPolicy/shop/deny"] {
        assert!(first(gone)["reason"].as_str().unwrap().contains("deleted since"), "{gone}");
    }
    assert!(err.contains("2 objects that it has are gone"), "{err}");
    let denied =
        Cluster::default().with(config("a", "1")).without("/api/v1/configmaps").without("/api/v1/namespaces/shop/configmaps").serve();
    let (found, _) = user.diff(&["--baseline", path, "--server", &denied.url], 1);
    assert!(!found["items"].to_string().contains("ConfigMap/shop/gone"), "what may not be read is not gone: {found}");
}
