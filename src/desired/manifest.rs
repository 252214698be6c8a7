//! Manifests as people write them: JSON, YAML, several documents, lists; read as kubectl reads them. One odd document costs only itself.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Options};

use crate::model::nesting;

/// What a text of manifests holds.
#[derive(Debug, Default)]
pub struct Manifests {
    /// Not yet redacted.
    pub objects: Vec<Value>,
    /// What could not be read: the line where it begins, and why.
    pub odd: Vec<(usize, String)>,
}

/// How the parser of JSON says so.
const JSON_TOO_DEEP: &str = "recursion limit exceeded";

/// Reads all documents of a text.
pub fn read(text: &str) -> Manifests {
    let mut found = Manifests::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            found.take(1, value);
            return found;
        }
        Err(error) if error.to_string().starts_with(JSON_TOO_DEEP) => {
            found.deep(text);
            return found;
        }
        Err(_) => {}
    }
    let mut start = 1;
    let mut lines: Vec<&str> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t'])) {
            Some(rest) => {
                found.document(start, &lines.join("\n"));
                (start, lines) = (number + 1, vec![rest]);
            }
            None if line.trim_end() == "..." => {}
            None => lines.push(line),
        }
    }
    found.document(start, &lines.join("\n"));
    found
}

impl Manifests {
    fn document(&mut self, line: usize, text: &str) {
        let is_empty = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        if is_empty {
            return;
        }
        match serde_saphyr::from_str_with_options::<Value>(text, options()) {
            Ok(value) => self.take(line, value),
            Err(error) => self.odd.push((line, fault(&error))),
        }
    }

    /// JSON that is nested too deep: of a list the other items are taken.
    fn deep(&mut self, text: &str) {
        let list = serde_json::from_str::<BTreeMap<String, &RawValue>>(text).unwrap_or_default();
        let items = list.get("items").and_then(|items| serde_json::from_str::<Vec<&RawValue>>(items.get()).ok()).unwrap_or_default();
        if items.is_empty() {
            self.odd.push((1, nesting::TOO_DEEP.to_owned()));
        }
        for item in items {
            match serde_json::from_str::<Value>(item.get()) {
                Ok(value) => self.take(1, value),
                Err(_) => self.odd.push((1, nesting::TOO_DEEP.to_owned())),
            }
        }
    }

    fn object(&mut self, line: usize, object: Value) {
        if nesting::is_too_deep(&object) {
            self.odd.push((line, nesting::TOO_DEEP.to_owned()));
        } else {
            self.objects.push(object);
        }
    }

    /// An object, or what a list holds.
    fn take(&mut self, line: usize, value: Value) {
        match value {
            Value::Null => {}
            Value::Array(items) => items.into_iter().for_each(|item| self.take(line, item)),
            Value::Object(mut fields) => {
                let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
                match fields.get_mut("items") {
                    Some(Value::Array(items)) if kind.ends_with("List") => {
                        std::mem::take(items).into_iter().for_each(|item| self.take(line, item))
                    }
                    _ if kind.is_empty() => self.odd.push((line, "is no Kubernetes object: it has no kind".to_owned())),
                    _ => self.object(line, Value::Object(fields)),
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => self.odd.push((line, "is no Kubernetes object".to_owned())),
        }
    }
}

/// YAML as the API's own tools read it: `yes` is true and 0644 is 420.
fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: false,
        legacy_octal_numbers: true,
        budget: serde_saphyr::budget! {
            max_depth: nesting::DEEPEST_DOCUMENT,
            max_nodes: nesting::MOST_VALUES,
            max_events: 4 * nesting::MOST_VALUES,
            max_total_scalar_bytes: nesting::LARGEST_TEXT,
        },
    }
}

/// What is wrong with a text that is no YAML, in the user's words.
fn fault(error: &Error) -> String {
    let error = error.without_snippet();
    if matches!(error, Error::Budget { breach: BudgetBreach::Depth { .. }, .. }) {
        return nesting::TOO_DEEP.to_owned();
    }
    // The parser's advice is for who writes programs with it.
    let why = error.to_string().replace(", set DuplicateKeyPolicy in Options if acceptable", "");
    format!("is no valid YAML: {}", why.lines().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_said_without_advice_for_programmers() {
        let found = read("kind: ConfigMap\ndata: {k: a, k: b}\n");
        let (_, why) = &found.odd[0];
        assert!(why.contains("duplicate mapping key: k at line 2") && !why.contains("Options"), "{why}");
    }

    #[test]
    fn documents_and_lists_are_flattened_and_an_odd_one_costs_only_itself() {
        let found =
            read("# c\n---\nkind: A\nmode: 0644\non: yes\n---\n{: broken\n---\nkind: List\nitems:\n- kind: B\n- kind: C\n---\nname: x\n");
        let kinds: Vec<&str> = found.objects.iter().filter_map(|o| o["kind"].as_str()).collect();
        assert_eq!(kinds, ["A", "B", "C"]);
        assert_eq!(found.objects[0]["mode"], 420);
        assert_eq!(found.odd.len(), 2);
    }

    #[test]
    fn json_is_read_too() {
        assert_eq!(read(r#"{"kind": "PodList", "items": [{"kind": "Pod"}, 3]}"#).objects.len(), 1);
    }
}
