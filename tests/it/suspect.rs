//! The change beside what fails: which difference is named for which obstacle, with what it says of times and revisions, and when it is
//! silent.

use holdup::app::{Content, Document, Effect, Msg};
use holdup::desired::{Fetched, Object, compare};
use holdup::diagnose::{Blocker, Facts, Layer, Report};
use holdup::model::ObjectRef;
use holdup::redact::Redactor;
use serde_json::{Value, json};

use crate::incident;

/// What is applied, what was done to it since by whom and when, and what fails since when.
struct Case {
    object: &'static str,
    applied: Value,
    /// Where in the object, the value, by whom, when.
    edits: Vec<(&'static str, Value, &'static str, &'static str)>,
    layer: Layer,
    since: Option<&'static str>,
    /// The container that fails.
    container: &'static str,
    /// The image and environment that revision 11 had; "" if there is no earlier revision.
    before: &'static str,
}

fn deployment() -> Value {
    let container = |name: &str, image: &str| {
        json!({"name": name, "image": image, "env": [{"name": "MODE", "value": "safe"}],
            "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}}, "resources": {"limits": {"memory": "256Mi"}, "requests": {"memory": "256Mi"}}})
    };
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart", "namespace": "shop", "annotations": {}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "cart"}}, "template": {"metadata": {"labels": {"app": "cart"}},
            "spec": {"containers": [container("cart", "cart:1.8.2"), container("sidecar", "sidecar:1.0")]}}}})
}

fn quota() -> Value {
    json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "compute", "namespace": "shop", "annotations": {}}, "spec": {"hard": {"pods": "20"}}})
}

impl Default for Case {
    fn default() -> Self {
        Self {
            object: "Deployment/shop/cart",
            applied: deployment(),
            edits: Vec::new(),
            layer: Layer::Runtime,
            since: Some("11:45:12"),
            container: "cart",
            before: "",
        }
    }
}

/// The fields that an edit at this place owns, as the API server writes them.
fn owned(pointer: &str, object: &Value) -> Value {
    let (mut at, mut keys) = (object, Vec::new());
    for part in pointer.trim_start_matches('/').split('/') {
        let index = part.parse::<usize>().ok().filter(|_| at.is_array());
        at = match index {
            Some(index) => &at[index],
            None => &at[part],
        };
        keys.push(index.map_or_else(|| format!("f:{part}"), |_| format!("k:{}", json!({"name": at["name"]}))));
    }
    keys.into_iter().rev().fold(json!({}), |inner, key| json!({ key: inner }))
}

impl Case {
    fn live(&self) -> Value {
        let mut live = self.applied.clone();
        let entry = |manager: &str, time: &str, fields: &Value| json!({"manager": manager, "operation": "Update", "time": time, "fieldsType": "FieldsV1", "fieldsV1": fields});
        let base = json!({"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}, "f:spec": {"f:selector": {}}});
        let mut entries = vec![entry("kubectl-client-side-apply", "2026-05-01T08:00:00Z", &base)];
        for (place, value, by, at) in &self.edits {
            let (parent, name) = place.rsplit_once('/').unwrap();
            live.pointer_mut(parent).unwrap()[name] = value.clone();
            entries.push(entry(by, &format!("2026-05-{at}Z"), &owned(place, &live)));
        }
        live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = self.applied.to_string().into();
        live["metadata"]["managedFields"] = json!(entries);
        live["metadata"]["uid"] = "d1".into();
        live
    }

    /// Revision 12 is as live is, 11 had another image.
    fn revisions(&self) -> Vec<Value> {
        let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "cart", "uid": "d1", "controller": true}]);
        let set = |number: &str, template: &Value| {
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": format!("cart-{number}"), "namespace": "shop", "ownerReferences": owner,
                "creationTimestamp": "2026-05-01T08:00:00Z", "annotations": {"deployment.kubernetes.io/revision": number}}, "spec": {"template": template}})
        };
        if self.before.is_empty() {
            return Vec::new();
        }
        let live = self.live()["spec"]["template"].clone();
        let mut before = live.clone();
        before["spec"]["containers"][0]["image"] = self.before.into();
        vec![set("12", &live), set("11", &before)]
    }

    fn blocker(&self) -> Blocker {
        let object = incident::object(self.object);
        let blocker = incident::blocker(self.layer, "some-cause", "some-key", "it does not run", self.since.unwrap_or("11:45:12"));
        let affected: Vec<ObjectRef> = vec![incident::object("Deployment/shop/cart")];
        let facts = Facts::from_iter([("container", self.container)].into_iter().filter(|(_, name)| !name.is_empty()));
        Blocker { root: object, affected: affected.into(), facts, since: blocker.since.filter(|_| self.since.is_some()), ..blocker }
    }

    /// The line on the object's page; "" if there is none.
    fn said(&self) -> String {
        let redactor = Redactor::new(&[7; 32]);
        let live = Object::new(self.live(), &redactor);
        let fetched =
            Fetched { live: &live, files: &[], releases: &[], related: &crate::drift::shared(&self.revisions()), redactor: &redactor };
        let comparison = compare(&fetched, Vec::new());
        let mut stage = incident::stage();
        let blocker = self.blocker();
        stage.settled.report = Report { blockers: vec![blocker.into()], ..incident::report() };
        stage.resize(200, 40).keys("<enter>");
        let asked = stage.effects.iter().find_map(|effect| if let Effect::Fetch(wanted) = effect { Some(wanted.clone()) } else { None });
        let wanted = asked.expect("a blocker's page asks for the diff of what is declared");
        assert_eq!((wanted.object.as_str(), wanted.document), (self.object, Document::Diff));
        stage.send(Msg::Fetched { wanted, result: Ok(Content::Diff(Box::new(comparison))) });
        let frame = stage.frame();
        let line = frame.lines().find(|line| line.trim_start().starts_with("Changed"));
        let line = line.map(|line| line.split_once("  ").map_or(line, |(_, rest)| rest.trim_start()));
        line.map_or(String::new(), |line| {
            line.split_once(&format!("{}  ", place(self.object))).map_or(line, |(_, rest)| rest).trim().to_owned()
        })
    }
}

fn place(object: &str) -> &str {
    object.split_once('/').map_or(object, |(_, place)| place)
}

const IMAGE: &str = "/spec/template/spec/containers/0/image";
const ENV: &str = "/spec/template/spec/containers/0/env/0/value";
const BY_SET: &str = "kubectl-set";

#[test]
fn an_image_that_was_set_before_pulls_failed_is_named_with_what_the_revision_before_had() {
    let case = Case {
        edits: vec![(IMAGE, json!("cart:1.9.0"), BY_SET, "04T11:44:32")],
        layer: Layer::Image,
        before: "cart:1.8.2",
        ..Case::default()
    };
    assert_eq!(
        case.said(),
        "spec.containers[name=cart].image: cart:1.8.2 → cart:1.9.0, by kubectl-set at 11:44:32, 40s before pulls failed; revision 11 had it as asked for  d"
    );
    let other = Case { before: "cart:1.8.1", ..case };
    assert!(other.said().ends_with("40s before pulls failed; revision 11 had cart:1.8.1  d"), "{}", other.said());
    let same = Case { before: "cart:1.9.0", ..other };
    assert!(same.said().ends_with("40s before pulls failed; revision 11 had it too  d"), "{}", same.said());
}

#[test]
fn a_variable_or_command_of_the_container_that_crashes_is_named_and_that_of_another_is_not() {
    let env = Case { edits: vec![(ENV, json!("fast"), "kubectl-edit", "04T11:41:10")], ..Case::default() };
    assert_eq!(
        env.said(),
        "spec.containers[name=cart].env[name=MODE].value: safe → fast, by kubectl-edit at 11:41:10, 4 min before the crashes began  d"
    );
    let other = Case { container: "sidecar", edits: vec![(ENV, json!("fast"), "kubectl-edit", "04T09:41:10")], ..Case::default() };
    assert_eq!(other.said(), "");
    let command = "/spec/template/spec/containers/0/command";
    let command = Case { edits: vec![(command, json!(["run", "--fast"]), "kubectl-patch", "04T11:45:12")], ..Case::default() };
    assert!(command.said().contains("command: absent → 2 lines, by kubectl-patch at 11:45:12, as the crashes began"), "{}", command.said());
}

#[test]
fn a_probe_that_was_changed_is_named_when_it_is_not_ready() {
    let probe = "/spec/template/spec/containers/0/readinessProbe/httpGet/path";
    let case = Case { edits: vec![(probe, json!("/wrong"), "kubectl-edit", "04T11:43:10")], layer: Layer::Readiness, ..Case::default() };
    assert_eq!(
        case.said(),
        "spec.containers[name=cart].readinessProbe.httpGet.path: /ready → /wrong, by kubectl-edit at 11:43:10, 2 min before it was not ready  d"
    );
}

#[test]
fn requests_and_quotas_are_named_when_pods_find_no_room() {
    let memory = "/spec/template/spec/containers/0/resources/requests/memory";
    let case = Case {
        edits: vec![(memory, json!("64Gi"), "kubectl-set", "04T11:45:00")],
        layer: Layer::Scheduling,
        container: "",
        ..Case::default()
    };
    assert!(
        case.said().contains("requests.memory: 256Mi → 64Gi, by kubectl-set at 11:45:00, 12s before pods stayed pending"),
        "{}",
        case.said()
    );
    let quota = Case {
        object: "ResourceQuota/shop/compute",
        applied: quota(),
        edits: vec![("/spec/hard/pods", json!("3"), "kubectl-edit", "04T11:40:12")],
        layer: Layer::Admission,
        container: "",
        ..Case::default()
    };
    assert_eq!(quota.said(), "spec.hard.pods: 20 → 3, by kubectl-edit at 11:40:12, 5 min before pods were refused  d");
}

#[test]
fn of_several_changes_the_one_that_touches_what_fails_just_before_comes_first() {
    let replicas = ("/spec/replicas", json!(5), "kubectl-edit", "04T11:45:10");
    let case =
        Case { edits: vec![replicas, (IMAGE, json!("cart:1.9.0"), BY_SET, "04T11:42:12")], layer: Layer::Runtime, ..Case::default() };
    assert!(case.said().starts_with("spec.containers[name=cart].image: "), "{}", case.said());
    assert!(case.said().ends_with("3 min before the crashes began; and 1 more  d"), "{}", case.said());
}

#[test]
fn where_times_do_not_fit_nothing_is_said() {
    let image = |at: &'static str| Case { edits: vec![(IMAGE, json!("cart:1.9.0"), BY_SET, at)], layer: Layer::Image, ..Case::default() };
    assert_eq!(image("04T11:52:00").said(), "", "written after it began: a cure, perhaps, and no cause");
    let elsewhere =
        |at: &'static str| Case { edits: vec![("/spec/replicas", json!(5), BY_SET, at)], layer: Layer::Image, ..Case::default() };
    assert_eq!(elsewhere("04T09:00:00").said(), "", "long before, and not on the path");
    assert!(elsewhere("04T11:45:00").said().contains("12s before pulls failed"), "{}", elsewhere("04T11:45:00").said());
    let old = image("02T09:00:00").said();
    assert_eq!(old, "spec.containers[name=cart].image: cart:1.8.2 → cart:1.9.0, by kubectl-set at 05-02 09:00:00  d", "its time alone");
    let unknown = Case { since: None, ..image("04T11:44:00") };
    assert!(!unknown.said().contains("before") && unknown.said().contains("by kubectl-set at 11:44:00"), "{}", unknown.said());
    let unknown = Case { since: None, ..elsewhere("04T11:45:00") };
    assert_eq!(unknown.said(), "");
}

#[test]
fn where_nothing_drifted_the_rollout_just_before_is_named() {
    let rollout = |at: &str| {
        let mut applied = deployment();
        applied["spec"]["template"]["spec"]["containers"][0]["image"] = "cart:1.9.0".into();
        let case = Case { applied, before: "cart:1.8.2", ..Case::default() };
        let redactor = Redactor::new(&[7; 32]);
        let mut live = case.live();
        live["metadata"]["annotations"] = json!({});
        live["metadata"]["managedFields"] = json!([{"manager": "helm", "operation": "Update", "time": at, "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {r#"k:{"name":"cart"}"#: {".": {}, "f:name": {}, "f:image": {}}}}}}}}]);
        let live = Object::new(live, &redactor);
        let fetched =
            Fetched { live: &live, files: &[], releases: &[], related: &crate::drift::shared(&case.revisions()), redactor: &redactor };
        let comparison = compare(&fetched, Vec::new());
        let mut stage = incident::stage();
        stage.settled.report = Report { blockers: vec![case.blocker().into()], ..incident::report() };
        stage.resize(200, 40).keys("<enter>");
        let asked = stage.effects.iter().find_map(|effect| if let Effect::Fetch(wanted) = effect { Some(wanted.clone()) } else { None });
        stage.send(Msg::Fetched { wanted: asked.unwrap(), result: Ok(Content::Diff(Box::new(comparison))) });
        stage.frame()
    };
    let frame = rollout("2026-05-04T11:44:12Z");
    let line = "image: cart:1.8.2 → cart:1.9.0, by helm at 11:44:12, 60s before the crashes began; a rollout since revision 11";
    assert!(frame.contains(line), "{frame}");
    assert!(!rollout("2026-05-04T09:00:00Z").contains("Changed  "), "a rollout of hours before says nothing");
}
