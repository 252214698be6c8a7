//! The API server's own audit log joined to differences: user and time of each edit, turns of two writers, and who scaled.

use crate::drift::{auditor, diff, file, kubectl};
use crate::drift_owners::{IMAGE, manifest};
use crate::plane::Plane;
use crate::wait::{eventually, seconds};
use serde_json::{Value, json};

/// kubectl as somebody else than the administrator.
fn as_user(plane: &Plane, user: &str, arguments: &[&str]) {
    let kubeconfig = plane.kubeconfig(user, &format!("{{token: token-of-{user}}}"), "default");
    let output = plane
        .kubectl_command(arguments)
        .env("KUBECONFIG", kubeconfig)
        .env("KUBE_EDITOR", "sed -i /^..colour/s/blue/green/")
        .output()
        .expect("kubectl starts");
    assert!(output.status.success(), "kubectl {arguments:?} as {user}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The difference at a path, with what the log says of it.
#[track_caller]
fn field<'a>(found: &'a Value, path: &str) -> &'a Value {
    let mut fields = found["fields"].as_array().into_iter().flatten();
    fields.find(|field| field["path"] == path).unwrap_or_else(|| panic!("nothing at {path}: {found:#}"))
}

/// The one request of this user that wrote this object, as its line in the log says.
fn logged(plane: &Plane, user: &str, (namespace, name, subresource): (&str, &str, &str)) -> Value {
    let log = plane.audit_log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_it = |line: &Value| {
        let object = &line["objectRef"];
        let part = object["subresource"].as_str().unwrap_or_default();
        line["user"]["username"] == user && object["namespace"] == namespace && object["name"] == name && part == subresource
    };
    let found: Vec<Value> = lines.filter(is_it).collect();
    assert_eq!(found.len(), 1, "requests of {user} for {name}");
    found.into_iter().next().expect("there is one")
}

/// Each edit is told with the user whom the API server knew, the time at which it was asked, and the tool.
pub fn users_are_named(plane: &Plane) {
    let space = "drift-log";
    kubectl(plane, &["create", "ns", space]);
    let settings =
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{namespace: {space}, name: settings}}\ndata: {{colour: blue}}\n");
    let path = file(plane, "drift-log.yaml", &(manifest(space, "web") + &settings));
    kubectl(plane, &["apply", "-f", &path]);
    as_user(plane, "alice", &["set", "image", "deploy/web", "main=registry.test/web:2", "-n", space]);
    as_user(plane, "bob", &["scale", "deploy/web", "--replicas=1", "-n", space]);
    as_user(plane, "alice", &["edit", "cm/settings", "-n", space]);
    let log = plane.audit_file().display().to_string();
    let auditor = auditor(plane);
    let web = diff(plane, &auditor, &["deploy/web", "-n", space, "--audit", &log], 1);
    let settings = diff(plane, &auditor, &["cm/settings", "-n", space, "--audit", &log], 1);
    for (found, path, user, object, manager) in [
        (&web, IMAGE, "alice", (space, "web", ""), "kubectl-set"),
        (&web, "spec.replicas", "bob", (space, "web", "scale"), "kubectl"),
        (&settings, "data.colour", "alice", (space, "settings", ""), "kubectl-edit"),
    ] {
        let (line, field) = (logged(plane, user, object), field(found, path));
        let (who, last) = (&field["who"], &field["who"]["last"]);
        assert_eq!((&who["by"], &who["times"]), (&json!("field"), &json!(1)), "{field:#}");
        assert_eq!((&last["user"], &last["at"]), (&json!(user), &line["requestReceivedTimestamp"]), "{field:#}\n{line:#}");
        assert_eq!(
            (&last["verb"], &last["manager"], &last["sourceIPs"]),
            (&line["verb"], &json!(manager), &line["sourceIPs"]),
            "{field:#}"
        );
        assert!(last["userAgent"].as_str().is_some_and(|agent| agent.starts_with("kubectl/")), "{field:#}");
    }
    assert_eq!((&web["auditLog"]["unread"], &web["auditLog"]["hasBodies"]), (&json!(0), &json!(true)), "{web:#}");
}

/// Two appliers that force one field in turn: one look shows who wrote last, the log shows both.
pub fn turns_are_seen(plane: &Plane) {
    let space = "drift-log-turns";
    kubectl(plane, &["create", "ns", space]);
    let of = |value: &str| {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{namespace: {space}, name: fought}}\ndata: {{a: x, b: x, c: x, d: x, k: '{value}'}}\n"
        );
        file(plane, &format!("fought-{value}.yaml"), &text)
    };
    let [one, two] = ["1", "2"].map(of);
    for (user, manager, path) in [("alice", "one", &one), ("bob", "two", &two), ("alice", "one", &one), ("bob", "two", &two)] {
        let named = format!("--field-manager={manager}");
        as_user(plane, user, &["apply", "--server-side", "--force-conflicts", &named, "-f", path]);
    }
    let auditor = auditor(plane);
    let blind = diff(plane, &auditor, &["-f", &one], 1);
    assert_eq!((&field(&blind, "data.k")["verdict"], &field(&blind, "data.k")["owner"]["manager"]), (&json!("drift"), &json!("two")));
    let found = diff(plane, &auditor, &["-f", &one, "--audit", &plane.audit_file().display().to_string()], 1);
    let fought = field(&found, "data.k");
    assert_eq!((&fought["verdict"], &fought["who"]["last"]["user"]), (&json!("conflict"), &json!("bob")), "{fought:#}");
    let names = |reason: &str| reason.starts_with("two and one write it in turn");
    assert!(fought["reason"].as_str().is_some_and(names), "{fought:#}");
}

/// An autoscaler scales to its least, then somebody scales by hand: both go through the scale subresource.
pub fn scalers_are_told_apart(plane: &Plane) {
    let space = "drift-log-scaled";
    let text = manifest(space, "web").replace("replicas: 0", "replicas: 1");
    let scaler = format!(
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{namespace: {space}, name: web}}\n\
         spec: {{minReplicas: 2, maxReplicas: 4, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}}}\n"
    );
    kubectl(plane, &["create", "ns", space]);
    plane.apply(&(text + &scaler));
    eventually(seconds(60), "the autoscaler scales to its least", || {
        let web = plane.api.get(&format!("/apis/apps/v1/namespaces/{space}/deployments/web"))?;
        if web["spec"]["replicas"] == 2 { Ok(()) } else { Err(web["spec"]["replicas"].to_string()) }
    });
    let (auditor, log) = (auditor(plane), plane.audit_file().display().to_string());
    let replicas = |code| field(&diff(plane, &auditor, &["deploy/web", "-n", space, "--audit", &log], code), "spec.replicas").clone();
    let by_autoscaler = replicas(0);
    let said = (&by_autoscaler["verdict"], &by_autoscaler["owner"]["manager"], &by_autoscaler["owner"]["subresource"]);
    assert_eq!(said, (&json!("controller"), &json!("kube-controller-manager"), &json!("scale")), "{by_autoscaler:#}");
    let user = &by_autoscaler["who"]["last"]["user"];
    assert_eq!(user, "system:serviceaccount:kube-system:horizontal-pod-autoscaler", "{by_autoscaler:#}");
    as_user(plane, "bob", &["scale", "deploy/web", "--replicas=3", "-n", space]);
    let by_hand = replicas(1);
    let said = (&by_hand["verdict"], &by_hand["owner"]["manager"], &by_hand["who"]["last"]["user"]);
    assert_eq!(said, (&json!("drift"), &json!("kubectl"), &json!("bob")), "{by_hand:#}");
    assert!(by_hand["reason"].as_str().is_some_and(|reason| reason.contains("scaled it by hand")), "{by_hand:#}");
    kubectl(plane, &["delete", "hpa/web", "deploy/web", "-n", space]);
}
