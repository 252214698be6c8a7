//! What somebody declared of an object in the demo: the copy that `kubectl apply` leaves in it, and what it owns from then on.

use holdup::model::Time;
use serde_json::{Value, json};

use super::managed;
use super::workloads::{Kind, Workload};
use super::world::rfc3339;

/// The manager of `kubectl apply`. A rollout by it rewrites the copy.
pub const APPLY: &str = "kubectl-client-side-apply";
/// `kubectl scale` names itself like this, and writes through the subresource.
pub const SCALE: &str = "kubectl";

const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The object as it is once it was applied; what the API server fills in is in no manifest.
pub fn applied(mut object: Value) -> Value {
    let mut manifest = object.clone();
    let fields = manifest.as_object_mut().unwrap();
    fields.shift_remove("status");
    let meta = fields["metadata"].as_object_mut().unwrap();
    ["uid", "resourceVersion", "creationTimestamp", "finalizers", "generation"].into_iter().for_each(|name| drop(meta.shift_remove(name)));
    meta.entry("annotations").or_insert_with(|| json!({}));
    if let Some(spec) = fields.get_mut("spec").and_then(Value::as_object_mut) {
        let filled = ["clusterIP", "clusterIPs", "sessionAffinity", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"];
        filled
            .into_iter()
            .chain(["finalizers"].into_iter().filter(|_| object["kind"] == "Namespace"))
            .for_each(|name| drop(spec.shift_remove(name)));
        if spec.is_empty() {
            fields.shift_remove("spec");
        }
    }
    let mut owned = manifest.clone();
    ["apiVersion", "kind"].into_iter().for_each(|name| drop(owned.as_object_mut().unwrap().shift_remove(name)));
    ["name", "namespace"].into_iter().for_each(|name| drop(owned["metadata"].as_object_mut().unwrap().shift_remove(name)));
    owned["metadata"]["annotations"][COPY] = json!("");
    let version = object["apiVersion"].as_str().unwrap().to_owned();
    let entry = managed::entry(APPLY, "Update", &version, made(&object), &owned);
    object["metadata"]["annotations"][COPY] = json!(manifest.to_string() + "\n");
    object["metadata"]["managedFields"] = json!([entry]);
    object
}

/// The same for something that somebody made without a manifest.
pub fn by_hand(mut object: Value, manager: &str) -> Value {
    let version = object["apiVersion"].as_str().unwrap().to_owned();
    let mut owned = object.clone();
    ["apiVersion", "kind", "metadata"].into_iter().for_each(|name| drop(owned.as_object_mut().unwrap().shift_remove(name)));
    let entry = managed::entry(manager, "Update", &version, made(&object), &owned);
    object["metadata"]["managedFields"] = json!([entry]);
    object
}

fn made(object: &Value) -> i64 {
    Time::parse(object["metadata"]["creationTimestamp"].as_str().unwrap()).unwrap().unix()
}

impl Workload {
    /// Puts the copy of what was applied last into the object, and says who owns what since.
    pub fn declare(&self, mut object: Value) -> Value {
        let (manifest, at) = self.manifest(&object);
        object["metadata"]["annotations"][COPY] = json!(manifest.to_string() + "\n");
        let version = object["apiVersion"].as_str().unwrap();
        let mut owned = json!({"metadata": {"annotations": {COPY: ""}, "labels": object["metadata"]["labels"]}, "spec": object["spec"]});
        owned["spec"]["template"] = self.applied_revision().1.clone();
        owned["spec"]["selector"] = json!("");
        let mut entries = vec![managed::entry(APPLY, "Update", version, at, &owned)];
        for (manager, at, fields) in self.edits.iter().filter(|(manager, ..)| manager != APPLY) {
            let mut edit = managed::edit(manager, version, *at, fields);
            if manager == SCALE {
                edit["subresource"] = json!("scale");
            }
            entries.iter_mut().for_each(|entry| managed::disown(&mut entry["fieldsV1"], &edit["fieldsV1"]));
            entries.push(edit);
        }
        object["metadata"]["managedFields"] = json!(entries);
        object
    }

    /// When the newest template was applied that came from a manifest, and that template.
    fn applied_revision(&self) -> (i64, &Value) {
        let applied = self.edits.iter().rposition(|(manager, ..)| manager == APPLY);
        let at = applied.map_or(self.created, |at| self.edits[at].1);
        let revision = self.revisions.iter().rev().find(|revision| revision.made <= at).unwrap_or(&self.revisions[0]);
        (at, &revision.template)
    }

    /// The manifest: without what the API server fills in, and with the replicas from before anybody scaled.
    fn manifest(&self, object: &Value) -> (Value, i64) {
        let (at, template) = self.applied_revision();
        let container = |container: &Value| {
            let mut kept = json!({});
            for field in ["image", "name", "command", "resources", "env", "ports", "readinessProbe", "volumeMounts"] {
                if !container[field].is_null() {
                    kept[field] = container[field].clone();
                }
            }
            kept
        };
        let mut spec = json!({});
        for list in ["initContainers", "containers"] {
            if let Some(containers) = template["spec"][list].as_array() {
                spec[list] = containers.iter().map(container).collect();
            }
        }
        for field in ["tolerations", "priorityClassName"].into_iter().filter(|_| self.kind == Kind::DaemonSet) {
            spec[field] = template["spec"][field].clone();
        }
        let labels = json!({"app.kubernetes.io/name": self.name});
        let mut manifest = json!({"apiVersion": object["apiVersion"], "kind": object["kind"],
            "metadata": {"annotations": {}, "labels": object["metadata"]["labels"], "name": self.name, "namespace": self.namespace},
            "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}});
        if self.kind != Kind::DaemonSet {
            manifest["spec"]["replicas"] = json!(self.declared_replicas());
        }
        for field in ["serviceName", "volumeClaimTemplates"] {
            if !object["spec"][field].is_null() {
                manifest["spec"][field] = object["spec"][field].clone();
            }
        }
        if self.kind == Kind::Deployment && (self.recreate || !self.extra["surge"].is_null()) {
            manifest["spec"]["strategy"] = object["spec"]["strategy"].clone();
        }
        (manifest, at)
    }

    fn declared_replicas(&self) -> i64 {
        self.extra["replicas"].as_i64().unwrap_or(self.replicas)
    }
}

/// What somebody made without a manifest: access for a person, and settings.
pub fn add_by_hand(world: &mut super::world::World, base: &Value) {
    for line in base["by-hand"].as_array().into_iter().flatten() {
        let by = line["by"].as_str().unwrap();
        let mut object = line.clone();
        ["by", "age"].into_iter().for_each(|name| drop(object.as_object_mut().unwrap().shift_remove(name)));
        let place = format!("{}/{}/{}", object["kind"], object["metadata"]["namespace"], object["metadata"]["name"]);
        object["metadata"]["uid"] = json!(super::world::uid(&place));
        object["metadata"]["resourceVersion"] = json!("");
        object["metadata"]["creationTimestamp"] = json!(rfc3339(world.epoch - super::script::age(&line["age"])));
        let object = if by == APPLY { applied(object) } else { by_hand(object, by) };
        world.put(object);
    }
}
