//! An object ready to be compared: redacted before anything else looks at it, with Secrets in the form in which they are stored.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::accept::Labels;
use super::applied::{self, Copy};
use crate::redact::Redactor;

/// A redacted object. There is no other way to make one, so nothing behind it can show a secret.
#[derive(Clone, Debug)]
pub struct Object {
    value: Value,
    copies: Vec<Copy>,
    string_data: Vec<String>,
    wrong_keys: Vec<String>,
}

impl Object {
    /// Takes secrets out, reads the copies that tools left in annotations, and stores `stringData` as the server does.
    pub fn new(mut value: Value, redactor: &Redactor) -> Self {
        let mut copies = applied::copies(&value);
        for copy in &mut copies {
            name(&mut copy.object, &value);
            store_string_data(&mut copy.object);
            redactor.object(&mut copy.object);
        }
        let (string_data, wrong_keys) = store_string_data(&mut value);
        redactor.object(&mut value);
        Self { value, copies, string_data, wrong_keys }
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What tools last applied, by their own word.
    pub fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// The same as objects of their own: what is in them was taken out with the rest.
    pub fn copied(&self) -> impl Iterator<Item = (&Copy, Self)> {
        let of = |copy: &Copy| Self { value: copy.object.clone(), copies: Vec::new(), string_data: Vec::new(), wrong_keys: Vec::new() };
        self.copies.iter().map(move |copy| (copy, of(copy)))
    }

    /// Keys that were written in `stringData`.
    pub fn string_data(&self) -> &[String] {
        &self.string_data
    }

    /// Keys whose value in `stringData` was no text.
    pub fn wrong_keys(&self) -> &[String] {
        &self.wrong_keys
    }

    pub fn labels(&self) -> Labels {
        let labels = self.value.pointer("/metadata/labels").and_then(Value::as_object);
        labels.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    }

    pub fn name(&self) -> &str {
        self.value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
    }

    pub fn identity(&self) -> Identity {
        Identity::of(&self.value)
    }
}

/// What an object is called. The version is no part of it: the server converts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    pub group: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

impl Identity {
    pub fn of(object: &Value) -> Self {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let version = text("/apiVersion");
        let group = version.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_owned());
        Self { group, kind: text("/kind"), namespace: text("/metadata/namespace"), name: text("/metadata/name") }
    }

    /// Whether the other one can be the same object; a manifest may leave the namespace out.
    pub fn is_like(&self, other: &Self) -> bool {
        let groups = |a: &str, b: &str| a == b || MOVED.contains(&(a, self.kind.as_str())) && !b.is_empty();
        let namespaces = self.namespace == other.namespace || self.namespace.is_empty() || other.namespace.is_empty();
        let group = groups(&self.group, &other.group) || groups(&other.group, &self.group);
        group && self.kind == other.kind && self.name == other.name && namespaces
    }
}

/// Kinds that once were served by another group.
const MOVED: &[(&str, &str)] = &[
    ("extensions", "Deployment"),
    ("extensions", "DaemonSet"),
    ("extensions", "ReplicaSet"),
    ("extensions", "Ingress"),
    ("extensions", "NetworkPolicy"),
];

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let own = self.group.is_empty() || super::shape::is_built_in(&self.group);
        let group = if own { String::new() } else { format!(".{}", self.group) };
        write!(f, "{}{group}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// Some copies leave out what they are copies of, by which the redactor knows a Secret.
fn name(copy: &mut Value, object: &Value) {
    if let Value::Object(fields) = copy {
        for key in ["apiVersion", "kind"] {
            if let (false, Some(value)) = (fields.contains_key(key), object.get(key)) {
                fields.insert(key.to_owned(), value.clone());
            }
        }
    }
}

/// Moves `stringData` of a Secret into `data`, as the server does; later wins. Tells the keys, and those whose value is no text.
fn store_string_data(object: &mut Value) -> (Vec<String>, Vec<String>) {
    let is_secret =
        object.get("kind").and_then(Value::as_str) == Some("Secret") && object.get("apiVersion").and_then(Value::as_str) == Some("v1");
    let Value::Object(fields) = object else { return (Vec::new(), Vec::new()) };
    if !is_secret {
        return (Vec::new(), Vec::new());
    }
    if let Some(Value::Object(data)) = fields.get_mut("data") {
        data.values_mut().filter(|v| v.is_null()).for_each(|v| *v = Value::from(""));
    }
    let Some(Value::Object(texts)) = fields.get("stringData").cloned() else { return (Vec::new(), Vec::new()) };
    fields.shift_remove("stringData");
    let data = fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if !data.is_object() {
        *data = Value::Object(Map::new());
    }
    let wrong = texts.iter().filter(|(_, v)| !v.is_string() && !v.is_null()).map(|(k, _)| k.clone()).collect();
    let keys = texts.keys().cloned().collect();
    if let Value::Object(data) = data {
        data.extend(texts.into_iter().map(|(key, value)| (key, stored(&value))));
    }
    (keys, wrong)
}

fn stored(value: &Value) -> Value {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    // A tag that stands for a text has another form where base64 is expected.
    match text.strip_prefix("‹redacted:").and_then(|rest| rest.strip_suffix('›')) {
        Some(digits) => Value::from(format!("redacted/{digits}")),
        None => Value::from(STANDARD.encode(text)),
    }
}
