//! The one planted set: objects, manifests and logs with a secret in every channel.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::word;

/// Each is planted once or more, under the name of how it got there.
pub const CHANNELS: &[&str] = &[
    "data",
    "stringdata",
    "applied",
    "appliedstring",
    "kapp",
    "qbec",
    "rancher",
    "kubecfg",
    "kopf",
    "helmvalue",
    "helmmanifest",
    "helmnotes",
    "mapvalue",
    "mapmanifest",
    "env",
    "initenv",
    "argument",
    "flag",
    "userinfo",
    "configkey",
    "properties",
    "annotation",
    "event",
    "waiting",
    "terminated",
    "condition",
    "argoparameter",
    "argovalues",
    "argorepo",
    "argocondition",
    "fluxvalue",
    "fluxsubstitute",
    "fluxcondition",
    "custom",
    "log",
    "previouslog",
    "bare",
    "manifest",
    "manifestenv",
    "broken",
    "wrongtype",
    "auditbody",
    "auditpatch",
    "refusal",
    "token",
    "server",
    "proxy",
    "kubeconfig",
    "rule",
    "generated",
];

fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// Packed, as several tools keep their copies.
fn packed(text: &str) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    STANDARD.encode(packer.finish().unwrap())
}

/// The login of the shop, with copies of itself by every tool that keeps one.
fn secret() -> Value {
    let copy = |fields: Value| {
        let mut copy = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop"}});
        copy.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        copy.to_string()
    };
    let plain = |channel: &str| copy(json!({"stringData": {"password": word(channel)}}));
    let applied = copy(json!({"data": {"password": base64(&word("applied"))}, "stringData": {"other": word("appliedstring")}}));
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop", "uid": "s1", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": applied,
            "kapp.k14s.io/original": plain("kapp"), "kapp.k14s.io/original-diff-md5": "x",
            "qbec.io/last-applied": packed(&plain("qbec")),
            "objectset.rio.cattle.io/applied": packed(&plain("rancher")),
            "kubecfg.ksonnet.io/last-applied-configuration": plain("kubecfg"),
            "kopf.zalando.org/last-handled-configuration": plain("kopf")},
            "managedFields": [{"manager": "kubectl-edit", "operation": "Update", "time": "2026-05-04T09:30:00Z", "fieldsV1": {"f:data": {"f:password": {}}}}]},
        "data": {"password": base64(&word("data"))}, "stringData": {"token": word("stringdata")}})
}

/// A release in either driver; what it installed holds secrets too.
fn record(kind: &str, [value, manifest]: [&str; 2], name: &str) -> Value {
    let text = format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\nstringData: {{password: {}}}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {{k: '1'}}\n",
        word(manifest)
    );
    let notes = format!("Log in with password={}", word("helmnotes"));
    let release = json!({"name": name, "namespace": "shop", "version": 1, "info": {"status": "deployed", "last_deployed": "2026-05-04T09:00:00Z", "notes": notes},
        "config": {"auth": {"password": word(value)}, "url": format!("postgres://u:{}@db", word(value))}, "manifest": text});
    let mut once = GzEncoder::new(Vec::new(), Compression::fast());
    once.write_all(release.to_string().as_bytes()).unwrap();
    let once = STANDARD.encode(once.finish().unwrap());
    let data = if kind == "Secret" { base64(&once) } else { once };
    json!({"apiVersion": "v1", "kind": kind, "type": "helm.sh/release.v1", "data": {"release": data}, "metadata": {"namespace": "shop",
        "name": format!("sh.helm.release.v1.{name}.v1"), "labels": {"owner": "helm", "name": name, "status": "deployed", "version": "1"}}})
}

fn pod_spec() -> Value {
    json!({"initContainers": [{"name": "init", "image": "i:1", "env": [{"name": "API_KEY", "value": word("initenv")}]}],
        "containers": [{"name": "app", "image": "registry.test/app:1", "args": ["--db-password", word("argument"), format!("--token={}", word("flag"))],
            "env": [{"name": "DB_PASSWORD", "value": word("env")}, {"name": "DB_URL", "value": format!("postgres://app:{}@db:5432/shop", word("userinfo"))},
                {"name": "MODE", "value": "safe"}]}]})
}

/// Without managedFields, and with a copy that says something else.
fn deployment() -> Value {
    let mut spec = pod_spec();
    let whole = |spec: &Value| json!({"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}});
    let applied =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": whole(&spec)});
    spec["containers"][0]["env"][0]["value"] = word("bare").into();
    spec["containers"][0]["image"] = "registry.test/app:2".into();
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "d1", "creationTimestamp": "2026-05-04T09:00:00Z", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": applied.to_string(), "note": format!("ask https://bob:{}@wiki.test", word("annotation"))}},
        "spec": whole(&spec), "status": {"replicas": 1, "unavailableReplicas": 1, "conditions": [{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable",
            "lastTransitionTime": "2026-05-04T09:40:00Z", "message": format!("login failed: password={}", word("condition"))}]}})
}

fn owned_by(kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": true}])
}

/// A pod that cannot start, and says why in too many words.
fn pods() -> Vec<Value> {
    let message = |channel: &str| format!("back-off pulling https://puller:{}@registry.test/app:2", word(channel));
    let status = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False", "lastTransitionTime": "2026-05-04T09:41:00Z"}],
        "containerStatuses": [{"name": "app", "ready": false, "restartCount": 3, "image": "", "imageID": "",
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": message("waiting")}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-05-04T09:50:00Z", "message": format!("Authorization: Bearer {}", word("terminated"))}}}]});
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-1", "namespace": "shop", "uid": "r1", "ownerReferences": owned_by("Deployment", "web", "d1"),
        "annotations": {"deployment.kubernetes.io/revision": "1"}}, "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec()}}});
    let mut spec = pod_spec();
    spec["nodeName"] = "n1".into();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1-a", "namespace": "shop", "uid": "p1", "labels": {"app": "web"},
        "creationTimestamp": "2026-05-04T09:40:00Z", "ownerReferences": owned_by("ReplicaSet", "web-1", "r1")}, "spec": spec, "status": status});
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1", "namespace": "shop"}, "type": "Warning", "reason": "Failed", "count": 4,
        "firstTimestamp": "2026-05-04T09:41:00Z", "lastTimestamp": "2026-05-04T09:55:00Z", "source": {"component": "kubelet"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1-a", "uid": "p1"}, "message": message("event")});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    vec![set, pod, event, node]
}

fn logs() -> Vec<Value> {
    let log = |previous: bool, channel: &str| {
        json!({"apiVersion": "holdup.dev/v1", "kind": "Log", "metadata": {"name": "web-1-a", "namespace": "shop"}, "container": "app", "previous": previous,
            "lines": ["starting", format!("connecting to postgres://app:{}@db:5432", word(channel)), format!("{{\"password\":\"{}\"}}", word(channel))]})
    };
    vec![log(false, "log"), log(true, "previouslog")]
}

/// What Argo CD and Flux keep of the objects that they apply.
fn keepers() -> Vec<Value> {
    let source = json!({"repoURL": format!("https://git:{}@git.test/shop.git", word("argorepo")), "helm": {
        "parameters": [{"name": "db.password", "value": word("argoparameter")}], "values": format!("auth:\n  password: {}\n", word("argovalues"))}});
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "shop", "namespace": "argocd"}, "spec": {"source": source},
        "status": {"sync": {"status": "OutOfSync", "revision": "abc"}, "conditions": [{"type": "ComparisonError", "message": format!("cannot fetch https://git:{}@git.test", word("argocondition"))}],
            "resources": [{"kind": "ConfigMap", "version": "v1", "namespace": "shop", "name": "tracked", "status": "OutOfSync"}]}});
    let release = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "cart", "namespace": "shop"},
        "spec": {"values": {"auth": {"password": word("fluxvalue")}}}, "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "UpgradeFailed",
            "message": format!("upgrade failed: --set auth.password={}", word("fluxcondition"))}]}});
    let kustomization = json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "apps", "namespace": "shop"},
        "spec": {"postBuild": {"substitute": {"DB_PASSWORD": word("fluxsubstitute")}}}, "status": {"inventory": {"entries": [{"id": "shop_tracked__ConfigMap", "v": "v1"}]}}});
    let applied =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "tracked", "namespace": "shop"}, "data": {"k": "1"}});
    let tracked = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "tracked", "namespace": "shop",
        "labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "shop"},
        "annotations": {"argocd.argoproj.io/tracking-id": "shop:/ConfigMap:shop/tracked", "kubectl.kubernetes.io/last-applied-configuration": applied.to_string()}}, "data": {"k": "2"}});
    vec![application, release, kustomization, tracked]
}

/// A cluster of which nothing may be told in full.
pub fn objects() -> Vec<Value> {
    let helm = json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop", "annotations": helm, "labels": {"app.kubernetes.io/managed-by": "Helm"}},
        "data": {"k": "2", "SESSION_KEY": word("configkey"), "app.properties": format!("db.password={}\nmode=safe\n", word("properties"))}});
    let custom = json!({"apiVersion": "example.test/v1", "kind": "Database", "metadata": {"name": "db", "namespace": "shop"}, "spec": {"adminPassword": word("custom"),
        "template": {"kind": "Secret", "stringData": {"x": word("generated")}}}});
    let few = vec![
        secret(),
        record("Secret", ["helmvalue", "helmmanifest"], "shop"),
        record("ConfigMap", ["mapvalue", "mapmanifest"], "cart"),
        deployment(),
        settings,
        custom,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
    ];
    [few, pods(), logs(), keepers()].concat()
}

/// What somebody asks for: other secrets than there are.
pub fn manifests() -> String {
    let env = json!([{"name": "DB_PASSWORD", "value": word("manifestenv")}]);
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"spec": {"containers": [{"name": "app", "image": "registry.test/app:3", "env": env}]}}}});
    let login = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop"}, "stringData": {"password": word("manifest"), "pin": 7}});
    format!("{login}\n---\n{web}\n")
}

/// Texts that end in the middle of a secret, or hold it where something else belongs.
pub fn broken() -> Vec<(&'static str, String)> {
    let secret = word("broken");
    vec![
        (
            "cut.json",
            format!("{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{{\"name\":\"login\"}},\"data\":{{\"password\":\"{secret}"),
        ),
        ("indented.yaml", format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\nstringData:\n  password: {secret}\n bad: [\n")),
        ("unclosed.yaml", format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\nstringData: {{password: \"{secret}\n")),
        (
            "twice.yaml",
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: login}}\nstringData: {{password: {secret}, password: {secret}}}\n"),
        ),
        (
            "wrong.yaml",
            format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: login, namespace: shop}}\ndata: {{password: [{0}, {{a: {0}}}]}}\nstringData: {0}\n",
                word("wrongtype")
            ),
        ),
    ]
}

/// Lines of an audit log with bodies.
pub fn audit() -> String {
    let event = |body: Value, at: &str| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": at, "stage": "ResponseComplete", "verb": "patch",
            "requestURI": "/api/v1/namespaces/shop/secrets/login?fieldManager=kubectl-edit", "user": {"username": "alice"}, "userAgent": "kubectl/v1.36.0",
            "objectRef": {"resource": "secrets", "namespace": "shop", "name": "login", "apiVersion": "v1"}, "responseStatus": {"code": 200}, "requestObject": body,
            "responseObject": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop"}, "data": {"password": base64(&word("auditbody"))}},
            "requestReceivedTimestamp": at, "stageTimestamp": at})
        .to_string()
    };
    let patch = json!({"stringData": {"password": word("auditpatch")}});
    let steps = json!([{"op": "replace", "path": "/data/password", "value": base64(&word("auditpatch"))}]);
    [event(patch, "2026-05-04T09:29:00Z"), event(steps, "2026-05-04T09:30:00Z"), format!("{{\"password\": \"{}\"", word("auditbody"))]
        .join("\n")
}
