//! The schema of a kind out of what an API server publishes of its group, in the form of a definition, so that it serves like one where
//! the definition may not be read or there is none. Reads no cluster.

use serde_json::{Map, Value, json};

/// Schemas refer to each other; deeper than this no field lies, and no kind has more nodes.
const DEEPEST: usize = 40;
const MOST: usize = 200_000;

/// What a definition of this kind would say; `None` where the document does not know it.
pub fn definition(document: &Value, (group, version, kind): (&str, &str, &str)) -> Option<Value> {
    let schemas = document.pointer("/components/schemas")?.as_object()?;
    let is_own = |own: &Value| own["group"] == group && own["version"] == version && own["kind"] == kind;
    let of_kind = |schema: &&Value| schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten().any(is_own);
    let root = schemas.values().find(of_kind)?;
    let mut left = MOST;
    let schema = Inlining { schemas, left: &mut left }.schema(root, 0);
    let versions = json!([{"name": version, "schema": {"openAPIV3Schema": schema}}]);
    Some(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {"group": group, "names": {"kind": kind}, "versions": versions}}))
}

struct Inlining<'a> {
    schemas: &'a Map<String, Value>,
    left: &'a mut usize,
}

impl Inlining<'_> {
    /// A schema with what it refers to in its place. What is too deep, as schemas that hold themselves are, is not known.
    fn schema(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST && *self.left > 0) else { return json!({}) };
        *self.left -= 1;
        let mut all = Map::new();
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten().chain(fields.contains_key("$ref").then_some(schema))
        {
            let referred = part["$ref"].as_str().and_then(|name| self.schemas.get(name.rsplit('/').next()?));
            if let Some(Value::Object(found)) = referred.map(|referred| self.schema(referred, depth + 1)) {
                all.extend(found);
            }
        }
        for (key, value) in fields.iter().filter(|(key, _)| !matches!(key.as_str(), "allOf" | "$ref" | "description")) {
            let value = match (key.as_str(), value) {
                ("properties", Value::Object(own)) => {
                    own.iter().map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1))).collect::<Map<_, _>>().into()
                }
                ("items" | "additionalProperties", Value::Object(_)) => self.schema(value, depth + 1),
                _ => value.clone(),
            };
            all.insert(key.clone(), value);
        }
        Value::Object(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_put_in_place_and_circles_end() {
        let document = json!({"components": {"schemas": {
            "x.Gizmo": {"x-kubernetes-group-version-kind": [{"group": "x.test", "version": "v1", "kind": "Gizmo"}], "type": "object",
                "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/x.Spec"}], "default": {}}}},
            "x.Spec": {"type": "object", "properties": {
                "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"], "items": {"$ref": "#/components/schemas/x.Port"}},
                "again": {"$ref": "#/components/schemas/x.Spec"}}},
            "x.Port": {"type": "object", "properties": {"port": {"type": "integer"}}}}}});
        let found = definition(&document, ("x.test", "v1", "Gizmo")).unwrap();
        let spec = found.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").unwrap();
        assert_eq!(spec.pointer("/properties/ports/items/properties/port/type"), Some(&json!("integer")));
        assert_eq!(spec.pointer("/properties/ports/x-kubernetes-list-map-keys/0"), Some(&json!("port")));
        assert!(spec.pointer("/properties/again/properties/again/properties/ports").is_some());
        assert_eq!(definition(&document, ("x.test", "v2", "Gizmo")), None);
        assert_eq!(definition(&json!({"components": {"schemas": {"a": null, "b": 3}}}), ("", "v1", "Pod")), None);
    }
}
