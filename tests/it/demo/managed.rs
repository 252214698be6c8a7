//! managedFields as the API server would keep them: who wrote which fields, and when.

use serde_json::{Map, Value, json};

use super::world::rfc3339;

/// An entry for these fields.
pub fn entry(manager: &str, operation: &str, api_version: &str, at: i64, fields: &Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": api_version, "time": rfc3339(at), "fieldsType": "FieldsV1", "fieldsV1": owned(fields)})
}

/// What one edit changed: nobody comes to own the name of a container by changing its image.
pub fn edit(manager: &str, api_version: &str, at: i64, fields: &Value) -> Value {
    let mut entry = entry(manager, "Update", api_version, at, fields);
    forget_keys(&mut entry["fieldsV1"]);
    entry
}

/// Whoever changes a value owns it alone from then on.
pub fn disown(fields: &mut Value, changed: &Value) {
    let (Some(fields), Some(changed)) = (fields.as_object_mut(), changed.as_object()) else { return };
    for (name, inner) in changed {
        let Some(own) = fields.get_mut(name) else { continue };
        disown(own, inner);
        let is_leaf = inner.as_object().is_none_or(serde_json::Map::is_empty);
        if is_leaf || own.as_object().is_some_and(serde_json::Map::is_empty) {
            fields.shift_remove(name);
        }
    }
}

fn forget_keys(fields: &mut Value) {
    for (name, inner) in fields.as_object_mut().into_iter().flatten() {
        if let Some(inner) = inner.as_object_mut().filter(|_| name.starts_with("k:")) {
            inner.shift_remove(".");
            inner.shift_remove("f:name");
        }
        forget_keys(inner);
    }
}

/// The same for the status, which controllers and kubelets write.
pub fn status_entry(manager: &str, api_version: &str, at: i64, fields: &Value) -> Value {
    let mut entry = entry(manager, "Update", api_version, at, &json!({"status": fields}));
    entry["subresource"] = json!("status");
    entry
}

pub fn of_pod(template: &Value, created: i64, changed: Option<i64>) -> Value {
    let made = entry(
        "kube-controller-manager",
        "Update",
        "v1",
        created,
        &json!({"metadata": {"labels": template["metadata"]["labels"], "generateName": ""}, "spec": bare(&template["spec"])}),
    );
    let mut all = vec![made];
    let statuses = json!({"conditions": [{"type": "Ready", "status": ""}, {"type": "ContainersReady", "status": ""}], "containerStatuses": "", "hostIP": "", "phase": "", "podIP": "", "startTime": ""});
    all.extend(changed.map(|at| status_entry("kubelet", "v1", at, &statuses)));
    Value::from(all)
}

/// A spec without what the API server and its admission plugins add.
fn bare(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if let Some(spec) = spec.as_object_mut() {
        for added in ["volumes", "tolerations", "serviceAccount", "serviceAccountName", "priority", "preemptionPolicy"] {
            spec.shift_remove(added);
        }
    }
    spec
}

/// `f:` for fields, `k:` for items of lists with a key; everything else is owned whole.
fn owned(value: &Value) -> Value {
    let mut fields = Map::new();
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                fields.insert(format!("f:{name}"), owned(value));
            }
        }
        Value::Array(items) => {
            for item in items {
                let Some(key) = ["name", "type", "containerPort", "mountPath"].iter().find(|key| !item[**key].is_null()) else { continue };
                let mut inner = owned(item);
                inner["."] = json!({});
                fields.insert(format!("k:{}", json!({*key: item[*key]})), inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Value::Object(fields)
}
