//! What Argo CD and Flux are told to ignore, taken as approval of the differences it covers. An exemption counts only where it was
//! declared: one that somebody put on the live object by hand would approve itself.

use std::sync::Arc;

use serde_json::Value;

use super::diff::FieldDiff;
use super::disagree::has;
use super::gitops::{self, Tool, text};
use super::object::Identity;
use super::path::{Path, Step};

/// Something that a tool leaves alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Whose rule it is, in words.
    by: String,
    /// JSON pointers, in parts.
    pointers: Vec<Vec<String>>,
    managers: Vec<String>,
    reach: Reach,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reach {
    /// What pointers and managers say.
    #[default]
    Named,
    /// What nobody declared.
    Extras,
    Everything,
}

/// The rules that hold for an object, and what there is to say of those that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
    pub notes: Vec<String>,
}

/// The two sides of which a difference was found.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub desired: &'a Value,
    pub live: &'a Value,
}

/// The rules of those who claim the object.
pub fn rules(live: &Value, related: &[Arc<Value>]) -> Rules {
    let mut found = Rules::default();
    let object = Identity::of(live);
    for (claim, keeper) in gitops::keepers(live, related) {
        let by = format!("{} {}", claim.tool.title(), claim.name);
        match claim.tool {
            Tool::Argo => {
                found.argo(&by, keeper.pointer("/spec/ignoreDifferences"), &object);
                let namespace = text(keeper, "/metadata/namespace");
                related.iter().filter(|value| is_settings(value, namespace)).for_each(|settings| found.settings(settings, &object));
            }
            Tool::Kustomization => found.flux(&by, keeper.pointer("/spec/ignore"), live),
            Tool::HelmRelease => found.flux(&by, keeper.pointer("/spec/driftDetection/ignore"), live),
        }
    }
    found
}

/// The ConfigMap in which Argo CD keeps what holds for all applications.
fn is_settings(value: &Value, namespace: &str) -> bool {
    text(value, "/kind") == "ConfigMap" && text(value, "/metadata/name") == "argocd-cm" && text(value, "/metadata/namespace") == namespace
}

impl Rules {
    fn argo(&mut self, by: &str, list: Option<&Value>, object: &Identity) {
        for told in list.and_then(Value::as_array).into_iter().flatten() {
            let get = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default();
            let is_empty_or = |key: &str, own: &str| get(key).is_empty() || is_like(get(key), own);
            if !is_like(get("kind"), &object.kind) || !is_empty_or("name", &object.name) || !is_empty_or("namespace", &object.namespace) {
                continue;
            }
            if !is_like(get("group"), &object.group) {
                let (kind, group) = (get("kind"), get("group"));
                self.notes.push(format!("a rule of {by} for {kind} names the group {group:?} and so matches nothing here"));
                continue;
            }
            self.take(by, told);
        }
    }

    /// `resource.customizations.ignoreDifferences.<group>_<kind>`, or `all`.
    fn settings(&mut self, settings: &Value, object: &Identity) {
        let own = if object.group.is_empty() { object.kind.clone() } else { format!("{}_{}", object.group, object.kind) };
        for name in ["all", &own] {
            let key = format!("resource.customizations.ignoreDifferences.{name}");
            let Some(yaml) = settings.get("data").and_then(|data| data.get(&key)).and_then(Value::as_str) else { continue };
            match serde_saphyr::from_str::<Value>(yaml) {
                Ok(told) => self.take("argocd-cm", &told),
                Err(_) => self.notes.push(format!("{key} of argocd-cm is no valid YAML and holds for nothing")),
            }
        }
    }

    fn take(&mut self, by: &str, told: &Value) {
        let texts = |key: &str| told.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let pointers = texts("jsonPointers").map(parts).collect();
        let managers = texts("managedFieldsManagers").map(str::to_owned).collect();
        self.notes.extend(texts("jqPathExpressions").map(|jq| format!("not evaluated: {by} ignores what the jq expression {jq} selects")));
        self.rules.push(Rule { by: by.to_owned(), pointers, managers, reach: Reach::Named });
    }

    fn flux(&mut self, by: &str, list: Option<&Value>, live: &Value) {
        let of_live = |told: &&Value| told.get("target").filter(|target| !target.is_null()).is_none_or(|target| is_target(target, live));
        for told in list.and_then(Value::as_array).into_iter().flatten().filter(of_live) {
            let paths = told.get("paths").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            self.rules.push(Rule { by: by.to_owned(), pointers: paths.map(parts).collect(), ..Rule::default() });
        }
    }

    /// Whose rule approves a difference.
    pub fn approves(&self, field: &FieldDiff, sides: Sides<'_>) -> Option<String> {
        let exempt = exemptions(sides);
        let rule = self.rules.iter().chain(&exempt).find(|rule| rule.covers(field, sides))?;
        Some(rule.by.clone())
    }
}

/// Selectors of Flux: what is left out matches everything, names are regular expressions of which plain ones are understood.
fn is_target(target: &Value, live: &Value) -> bool {
    let own = Identity::of(live);
    let pairs = [("group", &own.group), ("kind", &own.kind), ("namespace", &own.namespace), ("name", &own.name)];
    let get = |key: &str| target.get(key).and_then(Value::as_str).unwrap_or_default();
    let selects = |key: &str, place: &str| {
        let labels = live.pointer(place);
        get(key).split(',').filter(|part| !part.is_empty()).all(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            labels.and_then(|labels| labels.get(name.trim())).and_then(Value::as_str) == Some(value.trim().trim_start_matches('='))
        })
    };
    pairs.iter().all(|(key, own)| get(key).is_empty() || get(key).trim_start_matches('^').trim_end_matches('$') == own.as_str())
        && selects("labelSelector", "/metadata/labels")
        && selects("annotationSelector", "/metadata/annotations")
}

/// What annotations or labels of the object take out of a tool's hands.
const EXEMPTING: &[(&str, &str, Reach)] = &[
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled", Reach::Everything),
    ("kustomize.toolkit.fluxcd.io/ssa", "ignore", Reach::Everything),
    ("kustomize.toolkit.fluxcd.io/ssa", "ifnotpresent", Reach::Everything),
    ("kustomize.toolkit.fluxcd.io/ssa", "merge", Reach::Extras),
    ("helm.toolkit.fluxcd.io/driftDetection", "disabled", Reach::Everything),
];

fn mark<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    ["/metadata/annotations", "/metadata/labels"].iter().find_map(|place| object.pointer(place)?.get(name)?.as_str())
}

fn exemptions(sides: Sides<'_>) -> Vec<Rule> {
    let is_declared = |name: &str, value: &str| {
        let says = |object| mark(object, name).is_some_and(|own| own.eq_ignore_ascii_case(value));
        says(sides.desired) && says(sides.live)
    };
    let declared = EXEMPTING.iter().filter(|(name, value, _)| is_declared(name, value));
    declared.map(|(name, value, reach)| Rule { by: format!("its declared {name}: {value}"), reach: *reach, ..Rule::default() }).collect()
}

/// Exemptions that live has and nobody declared.
pub fn undeclared(sides: Sides<'_>) -> Vec<String> {
    let by_hand = EXEMPTING.iter().filter(|(name, value, _)| {
        mark(sides.live, name).is_some_and(|own| own.eq_ignore_ascii_case(value)) && mark(sides.desired, name) != mark(sides.live, name)
    });
    by_hand.map(|(name, value, _)| format!("{name}: {value} was set in the cluster and is declared nowhere: it approves nothing")).collect()
}

impl Rule {
    fn covers(&self, field: &FieldDiff, sides: Sides<'_>) -> bool {
        let by_manager = || field.owner.as_ref().is_some_and(|owner| self.managers.contains(&owner.manager));
        match self.reach {
            Reach::Everything => true,
            Reach::Extras => field.desired.is_none(),
            Reach::Named => by_manager() || self.pointers.iter().any(|pointer| is_covered(pointer, field, sides)),
        }
    }
}

/// Whether a pointer names the place of the difference, what it is in, or all that differs inside.
fn is_covered(pointer: &[String], field: &FieldDiff, sides: Sides<'_>) -> bool {
    let places = [sides.live, sides.desired].map(|side| place(&field.path, side));
    places.into_iter().flatten().any(|place| {
        if pointer.len() <= place.len() {
            return place.starts_with(pointer);
        }
        let Some(rest) = pointer.strip_prefix(place.as_slice()) else { return false };
        without(field.desired.as_ref(), rest) == without(field.live.as_ref(), rest)
    })
}

/// The pointer of a path in an object; items are told by their position there.
fn place(path: &Path, object: &Value) -> Option<Vec<String>> {
    let mut at = Some(object);
    let mut place = Vec::new();
    for step in path.steps() {
        match step {
            Step::Field(name) => {
                at = at.and_then(|value| value.get(name));
                place.push(name.clone());
            }
            Step::Index(index) => {
                at = at.and_then(|value| value.get(index));
                place.push(index.to_string());
            }
            Step::Item(keys) => {
                let index = at?.as_array()?.iter().position(|item| keys.iter().all(|(key, value)| has(item, key, value)))?;
                at = at.and_then(|value| value.get(index));
                place.push(index.to_string());
            }
        }
    }
    Some(place)
}

/// A value without what a pointer names; what is empty then is absent.
fn without(value: Option<&Value>, pointer: &[String]) -> Option<Value> {
    let (first, rest) = pointer.split_first()?;
    let mut value = value?.clone();
    match &mut value {
        Value::Object(fields) => match without(fields.get(first), rest) {
            Some(left) => {
                fields.insert(first.clone(), left);
            }
            None => {
                fields.shift_remove(first);
            }
        },
        Value::Array(items) => {
            if let Some(index) = first.parse().ok().filter(|index: &usize| *index < items.len()) {
                match without(items.get(index), rest) {
                    Some(left) => items[index] = left,
                    None => {
                        items.remove(index);
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
    (!is_empty).then_some(value)
}

/// `*` stands for anything, at the beginning, at the end or alone.
fn is_like(pattern: &str, text: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) if !end.contains('*') => text.ends_with(end),
        (_, Some(start)) if !start.contains('*') => text.starts_with(start),
        _ => pattern == text,
    }
}

/// A JSON pointer in parts (RFC 6901).
fn parts(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pointers_name_places_by_position_and_are_unescaped() {
        assert_eq!(parts("/metadata/annotations/a~1b~0c"), ["metadata", "annotations", "a/b~c"]);
        let object = json!({"spec": {"containers": [{"name": "a"}, {"name": "b", "image": "x"}]}});
        let item = Step::Item(vec![("name".to_owned(), "b".to_owned())]);
        let path = Path::default().field("spec").field("containers").join(item).field("image");
        assert_eq!(place(&path, &object).unwrap(), ["spec", "containers", "1", "image"]);
        assert_eq!(without(Some(&json!({"a": {"b": 1}})), &parts("/a/b")), None);
        assert_eq!(without(Some(&json!([{"a": 1, "b": 2}])), &parts("/0/b")), Some(json!([{"a": 1}])));
        assert!(is_like("*", "apps") && is_like("*.io", "argoproj.io") && is_like("Deploy*", "Deployment") && !is_like("", "apps"));
    }
}
