//! The revision before the present one, out of ReplicaSets and ControllerRevisions. It knows the pod template only.

use std::sync::Arc;

use serde_json::Value;

/// A pod template that an object had.
#[derive(Clone, Debug)]
pub struct Revision {
    pub number: i64,
    /// The object that kept it.
    pub keeper: String,
    pub created: String,
    pub cause: Option<String>,
    template: Value,
}

/// The revisions among `related` that belong to this object, newest first.
pub fn revisions(live: &Value, related: &[Arc<Value>]) -> Vec<Revision> {
    let uid = live.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
    let mut all: Vec<Revision> = related.iter().filter(|object| is_owned(object, uid)).filter_map(|object| revision(object)).collect();
    all.sort_by_key(|revision| std::cmp::Reverse(revision.number));
    all
}

fn is_owned(object: &Value, uid: &str) -> bool {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    !uid.is_empty() && owners.into_iter().flatten().any(|owner| owner.get("uid").and_then(Value::as_str) == Some(uid))
}

fn revision(object: &Value) -> Option<Revision> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let (number, mut template) = match text("/kind")? {
        "ReplicaSet" => {
            (text("/metadata/annotations/deployment.kubernetes.io~1revision")?.parse().ok()?, object.pointer("/spec/template")?.clone())
        }
        "ControllerRevision" => (object.get("revision")?.as_i64()?, object.pointer("/data/spec/template")?.clone()),
        _ => return None,
    };
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.shift_remove("pod-template-hash");
    }
    // A ControllerRevision is a patch that replaces the template.
    if let Some(fields) = template.as_object_mut() {
        fields.shift_remove("$patch");
    }
    Some(Revision {
        number,
        keeper: format!("{} {}", text("/kind")?, text("/metadata/name").unwrap_or_default()),
        created: text("/metadata/creationTimestamp").unwrap_or_default().to_owned(),
        cause: text("/metadata/annotations/kubernetes.io~1change-cause").map(str::to_owned),
        template,
    })
}

impl Revision {
    /// The object as it would be with this template.
    pub fn of(&self, live: &Value) -> Value {
        let mut object = live.clone();
        if let Some(template) = object.pointer_mut("/spec/template") {
            *template = self.template.clone();
        }
        object
    }
}
