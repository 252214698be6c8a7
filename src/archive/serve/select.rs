//! Label and field selectors, as the API server understands them.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// What a request selects.
#[derive(Debug, Default, Clone)]
pub(super) struct Selection {
    fields: Vec<Field>,
    labels: Vec<Label>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    path: String,
    value: String,
    equals: bool,
}

/// A requirement on one label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Label {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

/// Fields besides `metadata.name` and `metadata.namespace` that can be selected on; for custom kinds the API server knows no others.
const FIELDS: &[(&str, &[&str])] = &[
    (
        "pods",
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
    ),
    (
        "events",
        &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
    ),
    ("nodes", &["spec.unschedulable"]),
    ("namespaces", &["status.phase"]),
    ("secrets", &["type"]),
    ("jobs", &["status.successful"]),
    ("replicasets", &["status.replicas"]),
    ("replicationcontrollers", &["status.replicas"]),
    ("services", &["spec.clusterIP", "spec.type"]),
];

impl Selection {
    /// Reads both selectors of a request; the error is a sentence.
    pub(super) fn read(plural: &str, fields: Option<&str>, labels: Option<&str>) -> Result<Self, String> {
        let fields = fields.unwrap_or_default().split(',').filter(|term| !term.is_empty()).map(field).collect::<Result<Vec<_>, _>>()?;
        let known = FIELDS.iter().find(|(own, _)| *own == plural).map_or(&[][..], |(_, fields)| fields);
        if let Some(odd) =
            fields.iter().find(|field| !matches!(&*field.path, "metadata.name" | "metadata.namespace") && !known.contains(&&*field.path))
        {
            return Err(format!("field label not supported: {}", odd.path));
        }
        let labels = terms(labels.unwrap_or_default()).into_iter().map(label).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { fields, labels })
    }

    /// Whether everything is selected.
    pub(super) fn is_everything(&self) -> bool {
        self.fields.is_empty() && self.labels.is_empty()
    }

    /// The one name that is selected, so that nothing need be read to find it.
    pub(super) fn only_name(&self) -> Option<&str> {
        let named = self.fields.iter().find(|field| field.path == "metadata.name" && field.equals)?;
        Some(&named.value)
    }

    /// Whether this object is selected. Bytes that are no object are not.
    pub(super) fn takes(&self, bytes: &[u8]) -> bool {
        if self.is_everything() {
            return true;
        }
        let Some(object) = self.needed(bytes) else { return false };
        self.fields.iter().all(|field| (at(&object, &field.path) == field.value) == field.equals)
            && self.labels.iter().all(|label| label.takes(&object["metadata"]["labels"]))
    }
}

impl Selection {
    /// The parts of an object that are asked about; most of it never is, managed fields least of all.
    fn needed(&self, bytes: &[u8]) -> Option<Value> {
        let parts: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(bytes).ok()?;
        let mut object = Map::new();
        if let Some(metadata) = parts.get("metadata") {
            object.insert("metadata".to_owned(), serde_json::from_str::<Named>(metadata.get()).ok()?.into());
        }
        let roots = self.fields.iter().map(|field| field.path.split('.').next().unwrap_or_default());
        for root in roots.filter(|root| *root != "metadata") {
            let value = parts.get(root).and_then(|part| serde_json::from_str(part.get()).ok());
            object.insert(root.to_owned(), value.unwrap_or_default());
        }
        Some(Value::Object(object))
    }
}

/// Of metadata only what can be selected on.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: Value,
    namespace: Value,
    labels: Value,
}

impl From<Named> for Value {
    fn from(named: Named) -> Self {
        json!({"name": named.name, "namespace": named.namespace, "labels": named.labels})
    }
}

impl Label {
    fn takes(&self, labels: &Value) -> bool {
        let value = |key: &str| labels[key].as_str();
        let among = |values: &[String], value: &str| values.iter().any(|own| own == value);
        match self {
            Self::In(key, values) => value(key).is_some_and(|value| among(values, value)),
            Self::NotIn(key, values) => value(key).is_none_or(|value| !among(values, value)),
            Self::Exists(key) => value(key).is_some(),
            Self::Missing(key) => value(key).is_none(),
        }
    }
}

/// The text of a field; empty where it is not set, as the API server has it.
fn at(object: &Value, path: &str) -> String {
    let found = match path {
        "source" => &object["source"]["component"],
        "status.successful" => &object["status"]["succeeded"],
        path => path.split('.').fold(object, |value, key| &value[key]),
    };
    match (path, found) {
        ("spec.unschedulable" | "spec.hostNetwork", Value::Null) => "false".to_owned(),
        ("status.successful" | "status.replicas", Value::Null) => "0".to_owned(),
        (_, Value::Null | Value::Array(_) | Value::Object(_)) => String::new(),
        (_, Value::String(text)) => text.clone(),
        (_, Value::Bool(_) | Value::Number(_)) => found.to_string(),
    }
}

fn field(term: &str) -> Result<Field, String> {
    let (path, value, equals) = match (term.split_once("!="), term.split_once("=="), term.split_once('=')) {
        (Some((path, value)), _, _) => (path, value, false),
        (None, Some((path, value)), _) | (None, None, Some((path, value))) => (path, value, true),
        (None, None, None) => return Err(format!("invalid selector: '{term}'; can't understand '{term}'")),
    };
    Ok(Field { path: path.trim().to_owned(), value: value.trim().to_owned(), equals })
}

/// Splits at the commas that stand outside of parentheses.
fn terms(text: &str) -> Vec<&str> {
    let (mut open, mut start, mut terms) = (false, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => open = true,
            ')' => open = false,
            ',' if !open => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms.into_iter().map(str::trim).filter(|term| !term.is_empty()).collect()
}

fn label(term: &str) -> Result<Label, String> {
    let owned = |text: &str| text.trim().to_owned();
    if let Some((head, rest)) = term.split_once('(') {
        let values = rest.strip_suffix(')').ok_or_else(|| format!("unable to parse requirement: {term}"))?.split(',').map(owned).collect();
        return match head.split_whitespace().collect::<Vec<_>>()[..] {
            [key, "in"] => Ok(Label::In(owned(key), values)),
            [key, "notin"] => Ok(Label::NotIn(owned(key), values)),
            _ => Err(format!("unable to parse requirement: {term}")),
        };
    }
    if let Some((key, value)) = term.split_once("!=") {
        return Ok(Label::NotIn(owned(key), vec![owned(value)]));
    }
    if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(Label::In(owned(key), vec![owned(value)]));
    }
    match term.strip_prefix('!') {
        Some(key) => Ok(Label::Missing(owned(key))),
        None if term.contains(' ') => Err(format!("unable to parse requirement: {term}")),
        None => Ok(Label::Exists(owned(term))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &[u8] =
        br#"{"metadata":{"name":"a","labels":{"app":"web","tier":"x"}},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}"#;

    fn takes(fields: &str, labels: &str) -> bool {
        Selection::read("pods", Some(fields), Some(labels)).unwrap().takes(POD)
    }

    #[test]
    fn selectors_mean_what_they_mean_to_the_api_server() {
        for (fields, labels, expected) in [
            ("", "", true),
            ("spec.nodeName=n1,status.phase!=Failed", "", true),
            ("spec.nodeName=", "", false),
            ("status.podIP=", "", true),
            ("metadata.name==b", "", false),
            ("", "app=web,tier in (x, y),!gone,app", true),
            ("", "app!=web", false),
            ("", "app notin (db,web)", false),
            ("", "other!=x", true),
            ("", "other", false),
        ] {
            assert_eq!(takes(fields, labels), expected, "{fields} {labels}");
        }
    }

    #[test]
    fn an_unknown_field_is_an_error_and_never_everything() {
        assert_eq!(Selection::read("pods", Some("spec.color=red"), None).unwrap_err(), "field label not supported: spec.color");
        assert!(Selection::read("pods", Some("what"), None).is_err());
        assert!(Selection::read("pods", None, Some("a in b")).is_err());
    }
}
