//! Where a path leads in the body of a request: in a whole object, or in a patch that says only what changes.

use serde_json::Value;

use super::path::{Path, Step};

/// What a patch does to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touch<'a> {
    /// It says nothing of it.
    Not,
    /// This is the value now; `None`: it is gone.
    Value(Option<&'a Value>),
    /// It changes something there; what is not told.
    Something,
}

/// The value at a place of a whole object.
pub fn at<'a>(object: &'a Value, path: &Path) -> Option<&'a Value> {
    path.steps().iter().try_fold(object, |value, step| below(value, step))
}

fn below<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Field(name) => value.get(name),
        Step::Index(at) => value.get(at),
        Step::Item(keys) => value.as_array()?.iter().find(|item| keys.iter().all(|(key, value)| is_key(item, key, value))),
    }
}

fn is_key(item: &Value, key: &str, expected: &str) -> bool {
    // Templates of claims are told apart by the name in their metadata.
    match item.get(key).or_else(|| item.get("metadata")?.get(key)) {
        Some(Value::String(text)) => text == expected,
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string().as_str() == expected,
        None => key == "protocol" && expected == "TCP",
        Some(Value::Null | Value::Array(_) | Value::Object(_)) => false,
    }
}

/// What a patch does to a place: one that merges, one that is applied, or a list of steps.
pub fn patched<'a>(patch: &'a Value, path: &Path) -> Touch<'a> {
    match patch {
        Value::Array(steps) => by_steps(steps, path),
        Value::Object(_) => merged(patch, path.steps()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Touch::Not,
    }
}

fn merged<'a>(patch: &'a Value, steps: &[Step]) -> Touch<'a> {
    let Some((step, rest)) = steps.split_first() else { return Touch::Value(Some(patch)) };
    if patch.get("$patch").is_some() {
        return Touch::Something;
    }
    match (step, below(patch, step)) {
        (_, Some(Value::Null)) => Touch::Value(None),
        (_, Some(value)) => merged(value, rest),
        // A list without keys is replaced whole.
        (Step::Index(_), None) if patch.is_array() => Touch::Value(None),
        (Step::Field(_) | Step::Item(_) | Step::Index(_), None) => Touch::Not,
    }
}

/// Steps name places by position, so they are told apart by the names of fields alone.
fn by_steps<'a>(steps: &[Value], path: &Path) -> Touch<'a> {
    let names: Vec<&str> = path.fields().collect();
    let touches = |step: &Value| {
        let is_test = step.get("op").and_then(Value::as_str) == Some("test");
        let pointer = step.get("path").and_then(Value::as_str).unwrap_or_default();
        let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
        let fields: Vec<String> = parts.filter(|part| part != "-" && part.parse::<usize>().is_err()).collect();
        !is_test && !pointer.is_empty() && fields.iter().zip(&names).all(|(a, b)| a == b)
    };
    if steps.iter().any(touches) { Touch::Something } else { Touch::Not }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desired::Pattern;
    use serde_json::json;

    fn path(text: &str) -> Path {
        Pattern::parse(text).expect("a path").steps().iter().fold(Path::default(), |path, step| path.join(step.clone()))
    }

    #[test]
    fn a_path_leads_through_keyed_items() {
        let object = json!({"spec": {"ports": [{"port": 53}, {"port": 53, "protocol": "UDP", "nodePort": 3}]}});
        assert_eq!(at(&object, &path("spec.ports[port=53,protocol=UDP].nodePort")), Some(&json!(3)));
        assert_eq!(at(&object, &path("spec.ports[port=53,protocol=TCP]")), Some(&json!({"port": 53})));
        assert_eq!(at(&object, &path("spec.ports[port=54]")), None);
    }

    #[test]
    fn a_patch_touches_what_it_names_and_what_it_takes_away() {
        let patch = json!({"metadata": {"labels": null}, "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "a", "image": "i"}]}}}});
        assert_eq!(patched(&patch, &path("spec.replicas")), Touch::Value(Some(&json!(3))));
        assert_eq!(patched(&patch, &path("spec.template.spec.containers[name=a].image")), Touch::Value(Some(&json!("i"))));
        assert_eq!(patched(&patch, &path("spec.template.spec.containers[name=b].image")), Touch::Not);
        assert_eq!(patched(&patch, &path("metadata.labels.app")), Touch::Value(None));
        assert_eq!(patched(&patch, &path("spec.paused")), Touch::Not);
        assert_eq!(patched(&json!({"spec": {"$patch": "replace"}}), &path("spec.replicas")), Touch::Something);
        let steps = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "i"}]);
        assert_eq!(patched(&steps, &path("spec.template.spec.containers[name=a].image")), Touch::Something);
        assert_eq!(patched(&steps, &path("spec.replicas")), Touch::Not);
        assert_eq!(patched(&json!([{"op": "test", "path": "/spec"}]), &path("spec.replicas")), Touch::Not);
    }
}
