//! Where desired state comes from: what each source says, what it cannot say, and which of them is asked first.

use holdup::desired::{Comparison, Fetched, FieldDiff, Object, Saying, compare};
use holdup::export::diff::{Compared, Compilation};
use serde_json::{Value, json};

use super::redactor;

pub fn found(live: &Value, related: &[Value]) -> Comparison {
    let redactor = redactor();
    let live = Object::new(live.clone(), &redactor);
    compare(&Fetched { live: &live, files: &[], releases: &[], related: &super::shared(related), redactor: &redactor }, Vec::new())
}

pub fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": "apps/v1", "time": "2026-05-04T11:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": fields})
}

#[track_caller]
pub fn at<'a>(found: &'a Comparison, source: &str, path: &str) -> &'a FieldDiff {
    let against = found.against.iter().find(|against| against.source == source);
    let against = against.unwrap_or_else(|| panic!("no source {source}: {found:#?}"));
    against.diff.fields.iter().find(|field| field.path.to_string() == path).unwrap_or_else(|| panic!("nothing at {path}: {against:#?}"))
}

/// A Deployment that was applied on the server, without any copy of what was applied.
fn applied() -> Value {
    let main = r#"k:{"name":"main"}"#;
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "u", "managedFields": [
            entry("kubectl", "Apply", &json!({"f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {"f:metadata": {"f:labels": {"f:app": {}}},
                "f:spec": {"f:containers": {main: {".": {}, "f:name": {}, "f:image": {}, "f:args": {}}}}}}})),
            entry("kube-controller-manager", "Update", &json!({"f:metadata": {"f:annotations": {".": {}, "f:deployment.kubernetes.io/revision": {}}}}))],
            "annotations": {"deployment.kubernetes.io/revision": "1"}},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "progressDeadlineSeconds": 600, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "web:1", "args": ["--fast"], "imagePullPolicy": "IfNotPresent"}]}}}})
}

#[test]
fn an_object_that_is_applied_on_the_server_is_compared_with_what_its_applier_owns() {
    let found = found(&applied(), &[]);
    let against = &found.against[0];
    assert_eq!((against.source, against.at.as_str()), ("managed-fields", "2026-05-04T11:00:00Z"));
    assert!(against.title.starts_with("server-side apply by kubectl"), "{}", against.title);
    assert!(against.cannot.starts_with("values"), "{}", against.cannot);
    let loud: Vec<&FieldDiff> = against.diff.fields.iter().filter(|field| field.verdict.is_loud()).collect();
    assert!(loud.is_empty(), "{loud:#?}");
    assert_eq!(at(&found, "managed-fields", "spec.progressDeadlineSeconds").verdict.id(), "defaulted");
}

#[test]
fn what_somebody_took_from_the_applier_is_drift_and_its_earlier_value_is_not_claimed() {
    let mut live = applied();
    let fields = live["metadata"]["managedFields"].as_array_mut().unwrap();
    let main = r#"k:{"name":"main"}"#;
    fields[0]["fieldsV1"]["f:spec"]["f:template"]["f:spec"]["f:containers"][main].as_object_mut().unwrap().remove("f:image");
    fields.push(entry("kubectl-set", "Update", &json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {main: {"f:image": {}}}}}}})));
    live["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2".into();
    let found = found(&live, &[]);
    let image = at(&found, "managed-fields", "spec.template.spec.containers[name=main].image");
    assert_eq!((image.verdict.id(), &image.desired), ("drift", &None));
    assert_eq!(image.owner.as_ref().map(|owner| owner.manager.as_str()), Some("kubectl-set"));
    assert!(image.reason.ends_with("ownership does not tell"), "{}", image.reason);
}

#[test]
fn every_applier_is_a_source_and_what_nobody_owns_is_put_down_to_admission() {
    let mut live = applied();
    live["spec"]["template"]["spec"]["nodeSelector"] = json!({"pool": "gpu"});
    live["spec"]["template"]["spec"]["priorityClassName"] = "high".into();
    let other = entry("argocd-controller", "Apply", &json!({"f:spec": {"f:template": {"f:spec": {"f:nodeSelector": {}}}}}));
    live["metadata"]["managedFields"].as_array_mut().unwrap().push(other);
    let found = found(&live, &[]);
    let titles: Vec<&str> = found.against.iter().map(|against| against.title.split(',').next().unwrap()).collect();
    assert_eq!(titles, ["server-side apply by kubectl", "server-side apply by argocd-controller"]);
    let selector = at(&found, "managed-fields", "spec.template.spec.nodeSelector");
    assert!(selector.verdict.id() == "drift" && selector.reason.contains("second applier"), "{selector:?}");
    assert_eq!(at(&found, "managed-fields", "spec.template.spec.priorityClassName").verdict.id(), "admission");
}

#[test]
fn controllers_that_apply_are_no_source() {
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let live = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "view", "managedFields": [
        entry("clusterrole-aggregation-controller", "Apply", &json!({"f:rules": {}}))]}, "rules": rules});
    let found = found(&live, &[]);
    assert!(found.against.is_empty(), "{found:#?}");
    assert_eq!(found.owners.len(), 1);
}

/// A Deployment of Helm's, whose release is nowhere to be read, after a rollout that changed the image and took an argument away.
fn rolled_out() -> (Value, Vec<Value>) {
    let template = |image: &str, args: &Value| json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": image, "args": args}]}});
    let keeper = |revision: &str, template: Value| {
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": format!("web-{revision}"), "namespace": "shop",
            "annotations": {"deployment.kubernetes.io/revision": revision}, "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "u", "controller": true}]},
            "spec": {"template": template}})
    };
    let now = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web:2"}]}});
    let main = r#"k:{"name":"main"}"#;
    let live = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "u", "managedFields": [
            entry("ci-deployer", "Update", &json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {main: {".": {}, "f:name": {}, "f:image": {}}}}}}}))]},
        "spec": {"template": now}});
    (live, vec![keeper("1", template("web:1", &json!(["--old"]))), keeper("2", now)])
}

#[test]
fn an_ordinary_rollout_since_the_previous_revision_is_no_drift() {
    let (live, related) = rolled_out();
    let found = found(&live, &related);
    for path in ["spec.template.spec.containers[name=main].image", "spec.template.spec.containers[name=main].args"] {
        let field = at(&found, "revision", path);
        assert!(field.verdict.id() == "unknown" && field.reason.contains("by a rollout as it seems"), "{field:?}");
    }
    let text = holdup::export::diff::json(&Compilation::Named(vec![Compared::from(found)]));
    assert!(text.contains("anything but the pod template"), "{text}");
}

#[test]
fn what_a_person_changed_since_the_previous_revision_is_drift() {
    let (mut live, related) = rolled_out();
    live["metadata"]["managedFields"][0]["manager"] = "kubectl-edit".into();
    let found = found(&live, &related);
    assert_eq!(at(&found, "revision", "spec.template.spec.containers[name=main].image").verdict.id(), "drift");
}

#[test]
fn a_source_that_cannot_know_says_nothing_and_does_not_disagree() {
    let (mut live, related) = rolled_out();
    live["spec"]["replicas"] = 3.into();
    let mut asked = live.clone();
    asked["spec"]["replicas"] = 2.into();
    asked["metadata"]["managedFields"] = json!(null);
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": asked.to_string()});
    let found = found(&live, &related);
    let paths: Vec<String> = found.disagreements.iter().map(|row| row.path.to_string()).collect();
    assert_eq!(paths, ["spec.template.spec.containers[name=main].image", "spec.template.spec.containers[name=main].args"]);
    let image = &found.disagreements[0];
    assert_eq!(image.says, [Saying::Value(Some("web:2".into())), Saying::Value(Some("web:1".into()))]);
    assert_eq!(found.disagreements[1].says[0], Saying::Value(None));
}
