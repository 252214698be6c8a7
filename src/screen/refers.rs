//! What an object refers to by name, and how an object that is no workload is doing in a word.

use std::collections::BTreeSet;

use crate::model::{Condition, Object, ObjectRef, PodSpec};

/// Objects that a pod's spec names, sorted. `pod` is the pod's name, for claims named after it.
pub(super) fn of_spec(spec: &PodSpec, namespace: &str, pod: &str) -> Vec<ObjectRef> {
    let here = |kind: &'static str, name: &str| ObjectRef::new(kind, namespace, name);
    let mut found: BTreeSet<ObjectRef> = spec.claims(pod).iter().map(|claim| here("PersistentVolumeClaim", claim)).collect();
    for container in spec.all_containers() {
        let sources = container.env.iter().filter_map(|env| env.value_from.as_ref());
        for source in sources {
            found.extend(source.secret_key_ref.iter().map(|key| here("Secret", &key.name)));
            found.extend(source.config_map_key_ref.iter().map(|key| here("ConfigMap", &key.name)));
        }
        for source in &container.env_from {
            found.extend(source.secret_ref.iter().map(|secret| here("Secret", &secret.name)));
            found.extend(source.config_map_ref.iter().map(|map| here("ConfigMap", &map.name)));
        }
    }
    for volume in &spec.volumes {
        found.extend(volume.secret.iter().map(|secret| here("Secret", &secret.secret_name)));
        found.extend(volume.config_map.iter().map(|map| here("ConfigMap", &map.name)));
        for source in volume.projected.iter().flat_map(|projected| &projected.sources) {
            found.extend(source.secret.iter().map(|secret| here("Secret", &secret.name)));
            found.extend(source.config_map.iter().map(|map| here("ConfigMap", &map.name)));
        }
    }
    found.extend(spec.image_pull_secrets.iter().map(|secret| here("Secret", &secret.name)));
    let account = if spec.service_account_name.is_empty() { "default" } else { &spec.service_account_name };
    found.insert(here("ServiceAccount", account));
    found.extend(Some(&spec.priority_class_name).filter(|name| !name.is_empty()).map(|name| ObjectRef::new("PriorityClass", "", name)));
    found.extend(Some(&spec.runtime_class_name).filter(|name| !name.is_empty()).map(|name| ObjectRef::new("RuntimeClass", "", name)));
    found.into_iter().filter(|object| !object.name.is_empty()).collect()
}

/// `Bound`, `Ready`, `cordoned`: the state of an object that makes no pods.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds have no state to tell")]
pub(super) fn state(object: &Object) -> String {
    if object.meta().deleted.is_some() {
        return "being deleted".to_owned();
    }
    match object {
        Object::Node(node) => match (node.is_ready(), node.spec.unschedulable) {
            (true, false) => "Ready".to_owned(),
            (true, true) => "Ready, cordoned".to_owned(),
            (false, _) => "not Ready".to_owned(),
        },
        Object::PersistentVolumeClaim(claim) => claim.status.phase.to_string(),
        Object::PersistentVolume(volume) => volume.status.phase.to_string(),
        Object::Namespace(namespace) => namespace.status.phase.to_string(),
        Object::HorizontalPodAutoscaler(autoscaler) => format!("wants {}", autoscaler.status.desired_replicas),
        Object::PodDisruptionBudget(budget) => format!("{} may go", budget.status.disruptions_allowed),
        Object::Other(other) => conditions_word(&other.status.conditions, &other.status.phase),
        _ => String::new(),
    }
}

fn conditions_word(conditions: &[Condition], phase: &str) -> String {
    let telling = ["Ready", "Available", "Healthy"].into_iter().find_map(|kind| Condition::find(conditions, kind));
    match telling {
        Some(condition) if condition.is_true() => condition.kind.to_string(),
        Some(condition) => format!("not {}", condition.kind),
        None => phase.to_owned(),
    }
}

/// The conditions that an object reports of itself.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds have none")]
pub(super) fn conditions(object: &Object) -> &[Condition] {
    match object {
        Object::Deployment(o) => &o.status.conditions,
        Object::ReplicaSet(o) => &o.status.conditions,
        Object::StatefulSet(o) => &o.status.conditions,
        Object::DaemonSet(o) => &o.status.conditions,
        Object::Job(o) => &o.status.conditions,
        Object::Node(o) => &o.status.conditions,
        Object::Namespace(o) => &o.status.conditions,
        Object::PersistentVolumeClaim(o) => &o.status.conditions,
        Object::Service(o) => &o.status.conditions,
        Object::Ingress(o) => &o.status.conditions,
        Object::HorizontalPodAutoscaler(o) => &o.status.conditions,
        Object::PodDisruptionBudget(o) => &o.status.conditions,
        Object::APIService(o) => &o.status.conditions,
        Object::CustomResourceDefinition(o) => &o.status.conditions,
        Object::Other(o) => &o.status.conditions,
        _ => &[],
    }
}
