//! Redacts objects: knows where Kubernetes objects keep secrets and copies of themselves.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::{Redactor, names, notes, tag};

/// Deeper than any real object; a value below is taken away whole.
const DEEPEST: usize = 120;

pub(super) fn redact(redactor: &Redactor, object: &mut Value) {
    Walk { redactor, depth: 0, has_changed: &Cell::new(false) }.value(object);
}

/// One walk over an object; `depth` counts also through JSON that is kept as text inside JSON.
#[derive(Clone, Copy)]
struct Walk<'a> {
    redactor: &'a Redactor,
    depth: usize,
    /// Something was taken out: a copy that is kept as text is written anew only then.
    has_changed: &'a Cell<bool>,
}

impl Walk<'_> {
    fn value(self, value: &mut Value) {
        if self.depth > DEEPEST {
            return self.seal(value);
        }
        let below = Self { depth: self.depth + 1, ..self };
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => below.string(text),
            Value::Array(items) => below.array(items),
            Value::Object(fields) => below.fields(fields),
        }
    }

    fn fields(self, fields: &mut Map<String, Value>) {
        let kind = text_of(fields, "kind").unwrap_or_default().to_owned();
        let secret_value = text_of(fields, "name").is_some_and(names::looks_secret);
        for (key, value) in fields.iter_mut() {
            match (key.as_str(), kind.as_str()) {
                ("data", "Secret") => self.each(value, Self::seal_base64),
                ("stringData", "Secret") => self.each(value, Self::seal),
                ("data", "ConfigMap") => self.config(value),
                ("metadata", _) => self.metadata(value, &kind),
                ("value", _) if secret_value => self.seal(value),
                // Names of fields, never values.
                ("managedFields", _) => {}
                (key, _) if value.is_string() && names::is_secret_field(key) => self.seal(value),
                _ => self.value(value),
            }
        }
    }

    /// `data` and `stringData`: each value by itself; what is no map of values is sealed whole.
    fn each(self, data: &mut Value, seal: fn(Self, &mut Value)) {
        match data {
            Value::Null => {}
            Value::Object(entries) => entries.values_mut().for_each(|value| seal(self, value)),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                seal(self, data);
            }
        }
    }

    /// A ConfigMap is public by intent, but often holds an environment, and Helm may keep its releases in one.
    fn config(self, data: &mut Value) {
        let Value::Object(entries) = data else {
            return self.value(data);
        };
        for (key, value) in entries.iter_mut() {
            let packed = value.as_str().is_some_and(is_packed);
            if names::looks_secret(key) || packed {
                self.seal(value);
            } else {
                self.value(value);
            }
        }
    }

    fn metadata(self, metadata: &mut Value, kind: &str) {
        let Value::Object(fields) = metadata else {
            return self.value(metadata);
        };
        for (key, value) in fields.iter_mut() {
            match (key.as_str(), &mut *value) {
                ("managedFields", _) => {}
                ("annotations", Value::Object(annotations)) => {
                    for (name, value) in annotations.iter_mut() {
                        self.annotation(name, value, kind);
                    }
                }
                _ => self.value(value),
            }
        }
    }

    /// Any annotation may be a copy of the object. As JSON it is redacted as the object would be; a copy in another
    /// form (YAML, packed) is sealed whole if it may hold values.
    fn annotation(self, name: &str, value: &mut Value, kind: &str) {
        let Value::String(text) = value else {
            return self.value(value);
        };
        let name_of_it = name.rsplit('/').next().unwrap_or(name);
        if names::looks_secret(name_of_it) && !notes::is_setting(name_of_it, text) {
            return self.seal(value);
        }
        if let Some(mut copy) = parsed(text) {
            if let (Value::Object(fields), false) = (&mut copy, kind.is_empty()) {
                let bare = !fields.contains_key("kind");
                if bare {
                    fields.insert("kind".to_owned(), Value::from(kind));
                }
                if self.changes(&mut copy) {
                    if let (Value::Object(fields), true) = (&mut copy, bare) {
                        fields.shift_remove("kind");
                    }
                    *text = copy.to_string();
                }
                return;
            }
            return self.string(text);
        }
        if is_copy(name) || is_packed(text) || is_yaml_manifest(text) {
            self.seal(value);
        } else {
            self.string(text);
        }
    }

    /// Whether there was something to take out of this value.
    fn changes(self, value: &mut Value) -> bool {
        let before = self.has_changed.replace(false);
        self.value(value);
        let now = self.has_changed.get();
        self.has_changed.set(before || now);
        now
    }

    fn string(self, text: &mut String) {
        if let Some(mut inner) = parsed(text) {
            if self.changes(&mut inner) {
                *text = inner.to_string();
            }
            return;
        }
        let redacted = self.redactor.text(text);
        if redacted != *text {
            *text = redacted.into_owned();
            self.has_changed.set(true);
        }
    }

    /// Arguments may come as two items: `--password`, `hunter2`.
    fn array(self, items: &mut [Value]) {
        let mut after_secret_flag = false;
        for item in items {
            let flag = item.as_str().is_some_and(is_secret_flag);
            if after_secret_flag && !flag && item.is_string() {
                self.seal(item);
            } else {
                self.value(item);
            }
            after_secret_flag = flag;
        }
    }

    fn seal(self, value: &mut Value) {
        let text = match &*value {
            Value::Null | Value::Bool(_) => return,
            Value::String(text) if is_no_secret(text) => return,
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
        };
        *value = Value::String(tag::in_text(self.redactor, &text));
        self.has_changed.set(true);
    }

    fn seal_base64(self, value: &mut Value) {
        let text = match &*value {
            Value::Null => return,
            Value::String(text) if text.is_empty() || tag::is_base64(text) => return,
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
        };
        *value = Value::String(tag::in_base64(self.redactor, &text));
        self.has_changed.set(true);
    }
}

fn text_of<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key)?.as_str()
}

/// Nothing to hide: a tag, nothing at all, a switch, or a reference to another variable.
fn is_no_secret(text: &str) -> bool {
    let reference = text
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .is_some_and(|name| !name.is_empty() && !name.contains(['$', '(', ')']));
    tag::is(text) || reference || matches!(text, "" | "true" | "false")
}

/// JSON that is kept as text.
fn parsed(text: &str) -> Option<Value> {
    let first = text.trim_start().bytes().next()?;
    matches!(first, b'{' | b'[').then(|| serde_json::from_str(text).ok()).flatten()
}

fn is_secret_flag(text: &str) -> bool {
    let name = text.trim_start_matches('-');
    let dashes = text.len() - name.len();
    (1..=2).contains(&dashes) && !name.contains(['=', ' ', '\n']) && names::looks_secret(name)
}

/// Annotations in which tools keep the whole object in a form of their own.
fn is_copy(name: &str) -> bool {
    name.contains("last-applied")
        || name.contains("last-handled")
        || name.starts_with("kapp.k14s.io/original")
        || name == "objectset.rio.cattle.io/applied"
}

/// gzip, then base64 (once or, as Helm does, twice).
fn is_packed(text: &str) -> bool {
    text.starts_with("H4sI") || text.starts_with("SDRzS")
}

fn is_yaml_manifest(text: &str) -> bool {
    let has = |prefix: &str| text.lines().any(|line| line.trim_start_matches([' ', '-']).starts_with(prefix));
    (has("kind:") && text.contains("Secret")) || has("env:") || has("stringData:")
}
