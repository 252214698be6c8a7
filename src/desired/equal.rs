//! When two values mean the same: quantities, durations and times by value, sets in any order, what the server drops as absent.
//! Says nothing of why values differ.

use serde_json::{Map, Value};

use super::align;
use super::shape::{Items, Leaf, Shape};
use crate::model::{Quantity, Time};

/// Whether the two sides of a place mean the same; absent is a value too. `field` is the name of the place, `parent` of what holds it.
pub fn same(shape: Shape<'_>, (parent, field): (&str, &str), one: Option<&Value>, other: Option<&Value>) -> bool {
    match (present(one), present(other)) {
        (None, None) => true,
        (Some(value), None) | (None, Some(value)) => means_nothing(shape, field, value),
        (Some(one), Some(other)) => one == other || same_values(shape, (parent, field), one, other),
    }
}

/// A value that is there; null is not.
pub fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|v| !v.is_null())
}

/// Whether this value says no more than its absence.
pub fn means_nothing(shape: Shape<'_>, field: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value && !shape.keeps_zero(),
        Value::Number(value) => value.as_f64() == Some(0.0) && !shape.keeps_zero(),
        Value::String(value) => value.is_empty() && !shape.keeps_zero(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty() && is_hollow(shape, field),
    }
}

/// Whether an empty struct or map here is as good as none. Elsewhere its presence is the value: `emptyDir: {}`, a selector that takes all.
fn is_hollow(shape: Shape<'_>, field: &str) -> bool {
    match shape.leaf() {
        Leaf::Map => true,
        Leaf::Struct if shape.type_name().is_empty() => false,
        Leaf::Struct => !shape.keeps_zero() || HOLLOW.contains(&shape.type_name()),
        Leaf::Unknown | Leaf::Any => matches!(field, "labels" | "annotations" | "matchLabels" | "nodeSelector" | "data"),
        Leaf::Text
        | Leaf::Integer
        | Leaf::Number
        | Leaf::Boolean
        | Leaf::Quantity
        | Leaf::Either
        | Leaf::Time
        | Leaf::Duration
        | Leaf::Bytes
        | Leaf::List => false,
    }
}

/// Structs behind a pointer that say nothing when they are empty.
const HOLLOW: &[&str] = &[
    "core.PodSecurityContext",
    "core.SecurityContext",
    "core.ResourceRequirements",
    "core.Affinity",
    "core.NodeAffinity",
    "core.PodAffinity",
    "core.PodAntiAffinity",
    "core.Lifecycle",
    "core.Capabilities",
    "core.PodDNSConfig",
    "core.SessionAffinityConfig",
    "apps.StatefulSetPersistentVolumeClaimRetentionPolicy",
];

fn same_values(shape: Shape<'_>, (parent, field): (&str, &str), one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => same_maps(shape, field, a, b),
        (Value::Array(a), Value::Array(b)) => same_lists(shape, field, a, b),
        _ => same_leaves(shape.leaf(), (parent, field), one, other),
    }
}

fn same_maps(shape: Shape<'_>, name: &str, a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    let agree = |key: &String| same(shape.field(key), (name, key), a.get(key), b.get(key));
    a.keys().all(agree) && b.keys().filter(|key| !a.contains_key(*key)).all(agree)
}

fn same_lists(shape: Shape<'_>, name: &str, a: &[Value], b: &[Value]) -> bool {
    let item = |x: &Value, y: &Value| same(shape.item(), (name, ""), Some(x), Some(y));
    let pairwise = a.len() == b.len() && a.iter().zip(b).all(|(x, y)| item(x, y));
    if pairwise || a.len() != b.len() {
        return pairwise;
    }
    match shape.items() {
        Items::Keys(_) if align::order_matters(name, shape, a, b) => false,
        Items::Keys(_) | Items::Set | Items::AtomicSet => {
            let mut taken = vec![false; b.len()];
            a.iter().all(|x| {
                let free = b.iter().enumerate().position(|(i, y)| !taken[i] && item(x, y));
                free.inspect(|&i| taken[i] = true).is_some()
            })
        }
        Items::Ordered | Items::Unknown => false,
    }
}

/// Whether two scalars are spellings of the same value.
pub fn same_leaves(leaf: Leaf, (parent, field): (&str, &str), one: &Value, other: &Value) -> bool {
    match leaf {
        Leaf::Quantity => quantities(one, other),
        Leaf::Duration => texts(one, other).is_some_and(|(a, b)| duration(a).is_some_and(|d| Some(d) == duration(b))),
        Leaf::Time => texts(one, other).is_some_and(|(a, b)| Time::parse(a).is_some_and(|t| Some(t) == Time::parse(b))),
        Leaf::Bytes => texts(one, other).is_some_and(|(a, b)| unwrapped(a) == unwrapped(b)),
        Leaf::Integer | Leaf::Number => numbers(one, other),
        Leaf::Unknown | Leaf::Any => {
            numbers(one, other)
                || (is_amount(parent) || is_amount(field)) && quantities(one, other)
                || is_duration(field) && texts(one, other).is_some_and(|(a, b)| duration(a).is_some_and(|d| Some(d) == duration(b)))
        }
        Leaf::Text if is_duration(field) => texts(one, other).is_some_and(|(a, b)| duration(a).is_some_and(|d| Some(d) == duration(b))),
        Leaf::Text | Leaf::Boolean | Leaf::Either | Leaf::Struct | Leaf::List | Leaf::Map => false,
    }
}

fn texts<'a>(one: &'a Value, other: &'a Value) -> Option<(&'a str, &'a str)> {
    Some((one.as_str()?, other.as_str()?))
}

fn numbers(one: &Value, other: &Value) -> bool {
    one.is_number() && other.is_number() && one.as_f64() == other.as_f64() && one.is_f64() != other.is_f64()
}

/// The value of a quantity, written as text or as a number.
pub fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text),
        Value::Number(number) => Quantity::parse(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn quantities(one: &Value, other: &Value) -> bool {
    quantity(one).zip(quantity(other)).is_some_and(|(a, b)| a.nano() == b.nano())
}

/// Names under which custom resources without a schema keep amounts.
fn is_amount(name: &str) -> bool {
    matches!(
        name,
        "requests" | "limits" | "capacity" | "hard" | "nominalQuota" | "borrowingLimit" | "lendingLimit" | "storage" | "sizeLimit"
    )
}

/// Fields of cert-manager whose text is a Go duration.
fn is_duration(field: &str) -> bool {
    matches!(field, "duration" | "renewBefore")
}

/// A Go duration in thousand-millionths of a second: `90m`, `1h30m0s`.
pub fn duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount = Quantity::parse(&rest[..digits])?.nano();
        let length = rest[digits..].find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len() - digits);
        let unit = match &rest[digits..digits + length] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        total = total.checked_add(amount.checked_mul(unit)? / 1_000_000_000)?;
        rest = &rest[digits + length..];
    }
    (!text.is_empty()).then_some(sign * total)
}

/// Base64 without the line breaks that the server takes out.
fn unwrapped(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn durations_are_compared_by_what_they_last() {
        assert_eq!(duration("90m"), duration("1h30m0s"));
        assert_eq!(duration("8760h"), duration("8760h0m0s"));
        assert_eq!(duration("1.5h"), duration("90m"));
        for text in ["", "abc", "5", "5 m", "1d", "."] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_and_a_text_are_never_taken_for_each_other_where_both_have_a_meaning() {
        assert!(!same_leaves(Leaf::Either, ("", "targetPort"), &json!(80), &json!("80")));
        assert!(same_leaves(Leaf::Quantity, ("limits", "cpu"), &json!(4), &json!("4")));
        assert!(!same_leaves(Leaf::Text, ("", "value"), &json!(4), &json!("4")));
        assert!(same_leaves(Leaf::Integer, ("", "replicas"), &json!(1), &json!(1.0)));
    }
}
