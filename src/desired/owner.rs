//! Who owns which field, read from managedFields while one walks down an object. Proves ownership, never a value or an identity.

use serde_json::{Map, Value};

use super::managers::{self, Class, Operation};
use super::path::{Path, Step};

/// One entry of managedFields.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub manager: &'a str,
    pub operation: Operation,
    pub subresource: &'a str,
    /// The manager's last write; that of any single field is at or before it.
    pub time: &'a str,
    pub class: Class,
    fields: Option<&'a Map<String, Value>>,
}

/// All entries of an object; odd ones are left out.
pub fn entries(object: &Value) -> Vec<Entry<'_>> {
    let all = object.get("metadata").and_then(|m| m.get("managedFields")).and_then(Value::as_array);
    all.into_iter().flatten().filter_map(entry).collect()
}

fn entry(value: &Value) -> Option<Entry<'_>> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let manager = value.get("manager")?.as_str()?;
    let operation = if text("operation") == "Apply" { Operation::Apply } else { Operation::Update };
    Some(Entry {
        manager,
        operation,
        subresource: text("subresource"),
        time: text("time"),
        class: managers::class(manager, operation),
        fields: value.get("fieldsV1").and_then(Value::as_object),
    })
}

impl Entry<'_> {
    /// Whether it owns this place, by itself or as part of something that has one owner.
    pub fn holds(&self, path: &Path) -> bool {
        let Some(mut map) = self.fields else { return false };
        for step in path.steps() {
            let below = match step {
                Step::Field(name) => map.get(&format!("f:{name}")),
                Step::Index(at) => map.get(&format!("i:{at}")),
                Step::Item(keys) => map.iter().find(|(key, _)| has_keys(key, keys)).map(|(_, below)| below),
            };
            match below.and_then(Value::as_object) {
                Some(below) => map = below,
                None => return map.is_empty(),
            }
        }
        true
    }

    /// How many places it owns.
    pub fn size(&self) -> usize {
        self.fields.map_or(0, size)
    }
}

fn size(map: &Map<String, Value>) -> usize {
    let below: usize = map.values().filter_map(Value::as_object).map(size).sum();
    below + usize::from(is_member(map))
}

/// When the manager that owns an annotation last wrote; "" if nobody says so.
pub fn wrote_annotation(object: &Value, name: &str) -> String {
    let entries = entries(object);
    let notes = Trail::root(&entries).field("metadata", Whole::No).field("annotations", Whole::No);
    let times = notes.field(name, Whole::No).owners().map(|i| entries[i].time).max();
    times.unwrap_or_default().to_owned()
}

/// Whether a key of a tree of fields stands for the item with these values under these keys.
fn has_keys(key: &str, keys: &[(String, String)]) -> bool {
    let Some(own) = key.strip_prefix("k:").and_then(|json| serde_json::from_str::<Map<String, Value>>(json).ok()) else { return false };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    keys.iter().all(|(key, value)| own.get(key).is_some_and(|own| text(own) == *value))
}

/// What the entries say of one place: where each stands in its tree of fields.
#[derive(Clone, Debug, Default)]
pub struct Trail<'a> {
    at: Vec<(usize, Stand<'a>)>,
}

#[derive(Clone, Copy, Debug)]
enum Stand<'a> {
    At(&'a Map<String, Value>),
    /// Inside something that has one owner as a whole.
    Inside,
}

/// Whether what is left behind has one owner as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    Yes,
    No,
}

impl<'a> Trail<'a> {
    /// The root of an object.
    pub fn root(entries: &[Entry<'a>]) -> Self {
        Self { at: entries.iter().enumerate().filter_map(|(i, e)| Some((i, Stand::At(e.fields?)))).collect() }
    }

    /// A field of what is here. Names are raw behind `f:`; they may hold dots, slashes and quotes.
    pub fn field(&self, name: &str, whole: Whole) -> Self {
        let key = format!("f:{name}");
        self.step(whole, |map| map.get(&key))
    }

    /// The item of a list that has these values under these keys, or is this value.
    pub fn item(&self, item: Option<&Value>, index: Option<usize>, whole: Whole) -> Self {
        self.step(whole, |map| {
            let named = map.iter().find(|(key, _)| item.is_some_and(|item| is_item(key, item)));
            named.map(|(_, below)| below).or_else(|| map.get(&format!("i:{}", index?)))
        })
    }

    fn step(&self, whole: Whole, find: impl Fn(&'a Map<String, Value>) -> Option<&'a Value>) -> Self {
        let next = |&(i, stand): &(usize, Stand<'a>)| match stand {
            Stand::Inside => Some((i, Stand::Inside)),
            Stand::At(map) => match find(map).and_then(Value::as_object) {
                Some(below) => Some((i, Stand::At(below))),
                None => (whole == Whole::Yes && is_member(map)).then_some((i, Stand::Inside)),
            },
        };
        Self { at: self.at.iter().filter_map(next).collect() }
    }

    /// The entries that own what is here itself, not only something in it.
    pub fn owners(&self) -> impl Iterator<Item = usize> + '_ {
        let owns = |stand: &Stand<'_>| match stand {
            Stand::Inside => true,
            Stand::At(map) => is_member(map),
        };
        self.at.iter().filter(move |(_, stand)| owns(stand)).map(|(i, _)| *i)
    }

    /// The keys by which some entry tells items of the list here apart.
    pub fn keys(&self) -> Option<Vec<String>> {
        let maps = self.at.iter().filter_map(|(_, stand)| match stand {
            Stand::At(map) => Some(*map),
            Stand::Inside => None,
        });
        maps.flat_map(Map::keys).find_map(|key| {
            let keys: Map<String, Value> = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
            Some(keys.keys().cloned().collect())
        })
    }
}

impl Entry<'_> {
    /// The paths it owns, at most `most` of them, and how many there are.
    pub fn paths(&self, most: usize) -> (Vec<String>, usize) {
        let (mut found, mut count) = (Vec::new(), 0);
        if let Some(fields) = self.fields {
            collect(fields, "", most, (&mut found, &mut count));
        }
        (found, count)
    }
}

impl Entry<'_> {
    /// What of the object it owns, as the object has it; nothing if it owns nothing that is there.
    pub fn projected(&self, object: &Value) -> Option<Value> {
        project(self.fields?, object)
    }
}

fn project(fields: &Map<String, Value>, value: &Value) -> Option<Value> {
    let below = |(key, below): (&String, &Value), value: &Value| project(below.as_object()?, value).map(|kept| (key.clone(), kept));
    match value {
        _ if fields.is_empty() => Some(value.clone()),
        Value::Object(all) => {
            let owned = |(key, tree): (&String, &Value)| {
                let name = key.strip_prefix("f:")?;
                let (_, kept) = below((key, tree), all.get(name)?)?;
                Some((name.to_owned(), kept))
            };
            let kept: Map<String, Value> = fields.iter().filter_map(owned).collect();
            (!kept.is_empty() || is_member(fields)).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let owner_of = |item: &Value, index: usize| {
                let named = fields.iter().find(|(key, _)| is_item(key, item));
                named.or_else(|| fields.get_key_value(&format!("i:{index}")))
            };
            let kept = |(index, item): (usize, &Value)| below(owner_of(item, index)?, item).map(|(_, kept)| kept);
            let kept: Vec<Value> = items.iter().enumerate().filter_map(kept).collect();
            (!kept.is_empty() || is_member(fields)).then_some(Value::Array(kept))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => is_member(fields).then(|| value.clone()),
    }
}

/// Counts the leaves of a tree of fields, and keeps the paths of the first. The API server nests them no deeper than objects, which it
/// bounds.
fn collect(fields: &Map<String, Value>, path: &str, most: usize, (found, count): (&mut Vec<String>, &mut usize)) {
    for (key, below) in fields.iter().filter(|(key, _)| *key != ".") {
        // There are hundreds of leaves: what nobody will read is not spelt.
        let path = if found.len() < most { format!("{path}{}", step(key)) } else { String::new() };
        match below.as_object() {
            Some(below) if below.keys().any(|key| key != ".") => collect(below, &path, most, (&mut *found, &mut *count)),
            Some(_) | None => {
                *count += 1;
                if found.len() < most {
                    found.push(path.trim_start_matches('.').to_owned());
                }
            }
        }
    }
}

/// `f:spec` is `.spec`, `k:{"name":"web"}` is `[name=web]`, all others stand as they are.
fn step(key: &str) -> String {
    if let Some(name) = key.strip_prefix("f:") {
        return if name.contains(['.', '/']) { format!("[\"{name}\"]") } else { format!(".{name}") };
    }
    let keys = key.strip_prefix("k:").and_then(|keys| serde_json::from_str::<Map<String, Value>>(keys).ok());
    let Some(keys) = keys else { return format!("[{}]", key.split_once(':').map_or(key, |(_, rest)| rest)) };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    format!("[{}]", keys.join(","))
}

/// A leaf of the set, or a node that says so.
fn is_member(map: &Map<String, Value>) -> bool {
    map.is_empty() || map.contains_key(".")
}

/// `k:{"name":"web"}` is the item with that name, `v:"x"` the item "x". Prefixes that nobody knows yet match nothing.
fn is_item(key: &str, item: &Value) -> bool {
    if let Some(keys) = key.strip_prefix("k:") {
        let keys: Option<Map<String, Value>> = serde_json::from_str(keys).ok();
        return keys.is_some_and(|keys| keys.iter().all(|(name, value)| has(item, name, value)));
    }
    key.strip_prefix("v:").and_then(|text| serde_json::from_str::<Value>(text).ok()).is_some_and(|value| value == *item)
}

fn has(item: &Value, name: &str, value: &Value) -> bool {
    match item.get(name) {
        Some(own) => own == value,
        // The one key that the API fills in itself.
        None => name == "protocol" && value == "TCP",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_owner_of_a_keyed_item_is_found_and_a_parent_owns_no_child() {
        let object = json!({"metadata": {"managedFields": [
            {"manager": "a", "operation": "Update", "fieldsV1": {"f:spec": {"f:securityContext": {}, "f:selector": {}, "f:ports": {
                "k:{\"port\":53,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}}},
            {"manager": null}, 7]}});
        let entries = entries(&object);
        assert_eq!(entries.len(), 1);
        let spec = Trail::root(&entries).field("spec", Whole::No);
        let port = spec.field("ports", Whole::No).item(Some(&json!({"port": 53})), Some(0), Whole::No);
        assert_eq!(port.owners().count(), 1);
        assert_eq!(port.field("nodePort", Whole::No).owners().count(), 0);
        assert_eq!(spec.field("securityContext", Whole::No).field("runAsUser", Whole::No).owners().count(), 0);
        assert_eq!(spec.field("selector", Whole::No).field("app", Whole::Yes).owners().count(), 1);
        let (paths, count) = entries[0].paths(3);
        assert_eq!((paths.join(" ").as_str(), count), ("spec.securityContext spec.selector spec.ports[port=53,protocol=TCP].port", 3));
    }
}
