//! Which items of two or three lists belong together: by the keys of the API, else by a name that is unique, else by likeness. Never
//! by position where a key exists, and no duplicate is lost.

use std::collections::HashMap;

use serde_json::Value;

use super::equal::same;
use super::path::Step;
use super::shape::{Items, Shape};

/// Items that belong together.
#[derive(Debug)]
pub struct Row {
    pub step: Step,
    pub desired: Option<usize>,
    pub live: Option<usize>,
    pub applied: Option<usize>,
    /// Another item of the same list has the same key.
    pub is_duplicate: bool,
}

/// Two lists side by side.
#[derive(Debug)]
pub struct Aligned {
    pub rows: Vec<Row>,
    /// What both sides have stands in another order.
    pub is_reordered: bool,
}

/// The lists of a place: what is asked for, what is, and what was last applied.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    pub desired: &'a [Value],
    pub live: &'a [Value],
    pub applied: &'a [Value],
}

/// Above this many comparisons items without a key are paired by position.
const MANY: usize = 40_000;
/// Items that share less than this are two items, not one that changed.
const ALIKE: f64 = 0.5;

/// Puts the items side by side; `None` where a list is one value: scalars that have one owner, or whose order counts.
pub fn align(shape: Shape<'_>, name: &str, lists: Lists<'_>, keys: Option<Vec<String>>) -> Option<Aligned> {
    let items = || lists.desired.iter().chain(lists.live);
    let kind = shape.items();
    if !items().all(Value::is_object) && !matches!(kind, Items::Set) {
        return None;
    }
    let by_keys = match (kind, keys) {
        (Items::Keys(keys), _) | (Items::Unknown, Some(keys)) => Some(keys),
        (Items::Unknown | Items::Set | Items::AtomicSet | Items::Ordered, _) => None,
    };
    let rows = match by_keys {
        Some(keys) => by_identity(shape, lists, &|item, index| key(item, &keys, index)),
        None => match natural(name, lists) {
            Some(identity) => by_identity(shape, lists, &|item, index| identity(item).unwrap_or_else(|| position(index))),
            None => by_likeness(shape, lists),
        },
    };
    Some(Aligned { is_reordered: is_reordered(&rows), rows })
}

/// Whether another order of the same items is another value.
pub fn order_matters(name: &str, shape: Shape<'_>, one: &[Value], other: &[Value]) -> bool {
    match name {
        "initContainers" => true,
        "webhooks" => shape.name().starts_with("admissionregistration.Mutating"),
        "env" => references(one) != references(other),
        _ => matches!(shape.items(), Items::Ordered | Items::Unknown),
    }
}

/// Variables that use another one, and whether that one is defined before: only then `$(NAME)` is replaced.
fn references(env: &[Value]) -> Vec<(&str, &str, bool)> {
    let name = |item: &'_ Value| item.get("name").and_then(Value::as_str).map(str::len);
    let mut all = Vec::new();
    for (at, item) in env.iter().enumerate().filter(|(_, item)| name(item).is_some()) {
        let value = item.get("value").and_then(Value::as_str).unwrap_or_default();
        for (_, other) in env.iter().enumerate().filter(|(i, _)| *i != at) {
            let Some(used) = other.get("name").and_then(Value::as_str) else { continue };
            if value.contains(&format!("$({used})")) {
                let before = env[..at].iter().any(|e| e.get("name").and_then(Value::as_str) == Some(used));
                all.push((item.get("name").and_then(Value::as_str).unwrap_or_default(), used, before));
            }
        }
    }
    all.sort_unstable();
    all
}

fn position(index: usize) -> Step {
    Step::Index(index)
}

/// The key fields of an item. One that is absent has its default, which the API knows for one key only.
fn key(item: &Value, keys: &[String], index: usize) -> Step {
    if keys.iter().all(|key| item.get(key).is_none()) {
        return position(index);
    }
    let value = |key: &String| match item.get(key) {
        Some(value) => plain(value),
        None if key == "protocol" => "TCP".to_owned(),
        None => String::new(),
    };
    Step::Item(keys.iter().map(|key| (key.clone(), value(key))).collect())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

type Identity = fn(&Value) -> Option<Step>;

/// A name by which each item of both lists is told apart, if there is one.
fn natural(name: &str, lists: Lists<'_>) -> Option<Identity> {
    let own: &[Identity] = match name {
        "volumeClaimTemplates" => &[|item| named(item, &[("name", "/metadata/name")])],
        "subjects" => &[|item| some_of(item, &[("kind", "/kind"), ("name", "/name"), ("namespace", "/namespace")])],
        "tolerations" => &[|item| some_of(item, &[("key", "/key"), ("effect", "/effect"), ("operator", "/operator"), ("value", "/value")])],
        "metrics" => &[|item| {
            some_of(
                item,
                &[
                    ("type", "/type"),
                    ("resource.name", "/resource/name"),
                    ("containerResource.container", "/containerResource/container"),
                    ("containerResource.name", "/containerResource/name"),
                    ("pods.metric.name", "/pods/metric/name"),
                    ("object.metric.name", "/object/metric/name"),
                    ("external.metric.name", "/external/metric/name"),
                ],
            )
        }],
        "envFrom" => &[|item| {
            some_of(item, &[("prefix", "/prefix"), ("configMapRef.name", "/configMapRef/name"), ("secretRef.name", "/secretRef/name")])
        }],
        "paths" => &[|item| named(item, &[("path", "/path")])],
        _ => &[
            |item| named(item, &[("name", "/name")]),
            |item| named(item, &[("key", "/key")]),
            |item| named(item, &[("id", "/id")]),
            |item| named(item, &[("type", "/type")]),
            |item| named(item, &[("host", "/host")]),
            |item| named(item, &[("kind", "/kind"), ("name", "/name")]),
        ],
    };
    own.iter().copied().find(|identity| [lists.desired, lists.live].iter().all(|list| is_unique(list, *identity)))
}

fn is_unique(list: &[Value], identity: Identity) -> bool {
    let steps: Option<Vec<String>> = list.iter().map(|item| Some(format!("{:?}", identity(item)?))).collect();
    steps.is_some_and(|mut steps| {
        steps.sort_unstable();
        steps.windows(2).all(|pair| pair[0] != pair[1])
    })
}

/// All of these fields, or nothing.
fn named(item: &Value, fields: &[(&str, &str)]) -> Option<Step> {
    let scalar = |pointer: &str| item.pointer(pointer).filter(|v| v.is_string() || v.is_number()).map(plain);
    fields.iter().map(|(name, pointer)| Some(((*name).to_owned(), scalar(pointer)?))).collect::<Option<Vec<_>>>().map(Step::Item)
}

/// Those of these fields that are there.
fn some_of(item: &Value, fields: &[(&str, &str)]) -> Option<Step> {
    let scalar = |pointer: &str| item.pointer(pointer).filter(|v| v.is_string() || v.is_number()).map(plain);
    let keys: Vec<_> = fields.iter().filter_map(|(name, pointer)| Some(((*name).to_owned(), scalar(pointer)?))).collect();
    (!keys.is_empty()).then_some(Step::Item(keys))
}

/// Rows in the order of live, then what only desired has.
fn by_identity(shape: Shape<'_>, lists: Lists<'_>, identity: &dyn Fn(&Value, usize) -> Step) -> Vec<Row> {
    let named = |list: &[Value]| list.iter().enumerate().map(|(i, item)| identity(item, i)).collect::<Vec<_>>();
    let (desired, live, applied) = (named(lists.desired), named(lists.live), named(lists.applied));
    let of_live = partners(shape, (&live, lists.live), (&desired, lists.desired));
    let applied_to_desired = partners(shape, (&desired, lists.desired), (&applied, lists.applied));
    let applied_to_live = partners(shape, (&live, lists.live), (&applied, lists.applied));
    let is_repeated = |all: &[Step], step: &Step| all.iter().filter(|other| *other == step).count() > 1;
    let mut rows = Vec::new();
    for (l, step) in live.iter().enumerate() {
        let d = of_live[l];
        let applied = d.map_or(applied_to_live[l], |d| applied_to_desired[d]);
        rows.push(Row { step: step.clone(), desired: d, live: Some(l), applied, is_duplicate: is_repeated(&live, step) });
    }
    for (d, step) in desired.iter().enumerate().filter(|(d, _)| !of_live.contains(&Some(*d))) {
        let applied = applied_to_desired[d];
        rows.push(Row { step: step.clone(), desired: Some(d), live: None, applied, is_duplicate: is_repeated(&desired, step) });
    }
    rows
}

/// For each item of one list the item of the other with the same key. Among several, equal ones go together, then the last ones: of
/// duplicate variables the last one wins.
fn partners(shape: Shape<'_>, (names, items): (&[Step], &[Value]), (others, other_items): (&[Step], &[Value])) -> Vec<Option<usize>> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, step) in others.iter().enumerate() {
        places.entry(format!("{step:?}")).or_default().push(i);
    }
    let keys: Vec<String> = names.iter().map(|step| format!("{step:?}")).collect();
    let mut found = vec![None; items.len()];
    for equal_only in [true, false] {
        for i in (0..items.len()).rev().filter(|i| found[*i].is_none()).collect::<Vec<_>>() {
            let Some(free) = places.get_mut(&keys[i]) else { continue };
            let is_equal = |other: &usize| !equal_only || same(shape.item(), ("", ""), Some(&items[i]), Some(&other_items[*other]));
            if let Some(at) = free.iter().rposition(is_equal) {
                found[i] = Some(free.remove(at));
            }
        }
    }
    found
}

fn by_likeness(shape: Shape<'_>, lists: Lists<'_>) -> Vec<Row> {
    let pairs = pairs(shape, lists.desired, lists.live);
    let mut used = vec![false; lists.applied.len()];
    let mut applied = |d: Option<usize>, l: Option<usize>| {
        let wanted: Vec<&Value> = d.map(|i| &lists.desired[i]).into_iter().chain(l.map(|i| &lists.live[i])).collect();
        let exact = |item: &Value| wanted.iter().any(|w| same(shape.item(), ("", ""), Some(item), Some(w)));
        let close = |item: &Value| wanted.iter().any(|w| alike(shape.item(), item, w) >= ALIKE);
        let free = |test: &dyn Fn(&Value) -> bool| lists.applied.iter().enumerate().position(|(i, item)| !used[i] && test(item));
        let found = free(&exact).or_else(|| free(&close));
        found.inspect(|&i| used[i] = true)
    };
    let mut rows = Vec::new();
    for l in 0..lists.live.len() {
        let d = pairs.iter().find(|(_, live)| *live == l).map(|(desired, _)| *desired);
        rows.push(Row { step: position(l), desired: d, live: Some(l), applied: applied(d, Some(l)), is_duplicate: false });
    }
    for d in (0..lists.desired.len()).filter(|d| !pairs.iter().any(|(desired, _)| desired == d)) {
        rows.push(Row { step: position(d), desired: Some(d), live: None, applied: applied(Some(d), None), is_duplicate: false });
    }
    rows
}

/// Equal items first, then those most alike.
fn pairs(shape: Shape<'_>, desired: &[Value], live: &[Value]) -> Vec<(usize, usize)> {
    if desired.len() * live.len() > MANY {
        return (0..desired.len().min(live.len())).map(|i| (i, i)).collect();
    }
    let mut candidates = Vec::new();
    for (d, one) in desired.iter().enumerate() {
        for (l, other) in live.iter().enumerate() {
            let score = if same(shape.item(), ("", ""), Some(one), Some(other)) { 2.0 } else { alike(shape.item(), one, other) };
            if score >= ALIKE {
                candidates.push((score, d, l));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.abs_diff(a.2).cmp(&b.1.abs_diff(b.2))).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut used_d, mut used_l, mut pairs) = (vec![false; desired.len()], vec![false; live.len()], Vec::new());
    for (_, d, l) in candidates {
        if !used_d[d] && !used_l[l] {
            (used_d[d], used_l[l]) = (true, true);
            pairs.push((d, l));
        }
    }
    // Where one item is left on each side, it is the same one with other fields.
    let left = |used: &[bool]| used.iter().enumerate().filter(|(_, used)| !**used).map(|(i, _)| i).collect::<Vec<_>>();
    if let ([d], [l]) = (left(&used_d).as_slice(), left(&used_l).as_slice())
        && desired[*d].is_object()
        && live[*l].is_object()
    {
        pairs.push((*d, *l));
    }
    pairs
}

/// Which part of the fields of two items agree.
fn alike(shape: Shape<'_>, one: &Value, other: &Value) -> f64 {
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return f64::from(u8::from(one == other));
    };
    let names: Vec<&String> = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).collect();
    let (mut agree, mut all) = (0.0, 0.0);
    for name in names {
        let (x, y) = (a.get(name), b.get(name));
        all += 1.0;
        agree += match (x, y) {
            (x, y) if same(shape.field(name), ("", name), x, y) => 1.0,
            (Some(Value::Object(_)), Some(Value::Object(_))) | (Some(Value::Array(_)), Some(Value::Array(_))) => 0.5,
            _ => 0.0,
        };
    }
    if all == 0.0 { 1.0 } else { agree / all }
}

fn is_reordered(rows: &[Row]) -> bool {
    let desired: Vec<usize> = rows.iter().filter(|row| row.live.is_some()).filter_map(|row| row.desired).collect();
    desired.windows(2).any(|pair| pair[0] > pair[1])
}
