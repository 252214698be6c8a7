//! What the API server would refuse or drop of a desired document: a field that does not exist, a value of the wrong type.

use serde_json::Value;

use super::equal::quantity;
use super::place::Place;
use super::shape::{Leaf, Shape};

/// Why what is asked for at this place cannot be stored as it is written.
pub fn find(place: &Place<'_>) -> Option<String> {
    let desired = place.desired?;
    if let ("data", key) = place.names()
        && place.cx.kind == "Secret"
        && place.cx.wrong_keys.iter().any(|wrong| wrong == key)
    {
        return Some("a value of stringData must be text; the server refuses it".to_owned());
    }
    if place.is_unlisted && place.live.is_none() {
        return Some("the kind has no such field in this version: a typo or a field of another version, which the server drops".to_owned());
    }
    let wanted = wrong_type(place.shape, desired)?;
    Some(format!("{wanted}; the server refuses {}", name_of(desired)))
}

/// Why nobody can say what is asked for here: it is encrypted, or holds a variable that something else fills in.
pub fn unreadable(place: &Place<'_>) -> Option<&'static str> {
    let desired = place.desired?.as_str()?;
    if desired.starts_with("ENC[") && desired.ends_with(']') {
        return Some("the manifest is encrypted here; whoever applies it knows the value");
    }
    let live = place.live.and_then(Value::as_str).unwrap_or_default();
    is_template_of(desired, live).then_some("the manifest holds a variable here, which whoever applies it fills in")
}

/// Whether the one text can become the other by filling in its `${…}`.
fn is_template_of(template: &str, text: &str) -> bool {
    let Some((before, rest)) = template.split_once("${") else { return false };
    let (Some((_, mut after)), Some(mut text)) = (rest.split_once('}'), text.strip_prefix(before)) else { return false };
    while let Some((fixed, rest)) = after.split_once("${") {
        let (Some((_, next)), Some(at)) = (rest.split_once('}'), text.find(fixed)) else { return false };
        (after, text) = (next, &text[at + fixed.len()..]);
    }
    text.ends_with(after)
}

fn wrong_type(shape: Shape<'_>, desired: &Value) -> Option<&'static str> {
    let is_text = desired.is_string();
    match shape.leaf() {
        Leaf::Text | Leaf::Time | Leaf::Duration | Leaf::Bytes if !is_text => Some("the field must be text, so put it in quotes"),
        Leaf::Integer | Leaf::Number if !desired.is_number() => Some("the field must be a number"),
        Leaf::Boolean if !desired.is_boolean() => Some("the field must be true or false"),
        Leaf::Quantity if quantity(desired).is_none() => Some("the field must be a quantity"),
        Leaf::Either if matches!(shape, Shape::Known(_)) => wrong_either(desired),
        Leaf::Struct | Leaf::Map if !desired.is_object() => Some("the field must be a map"),
        Leaf::List if !desired.is_array() => Some("the field must be a list"),
        Leaf::Text
        | Leaf::Integer
        | Leaf::Number
        | Leaf::Boolean
        | Leaf::Quantity
        | Leaf::Either
        | Leaf::Time
        | Leaf::Duration
        | Leaf::Bytes
        | Leaf::Any
        | Leaf::Struct
        | Leaf::List
        | Leaf::Map
        | Leaf::Unknown => None,
    }
}

/// A number, the name of a port, or a percentage; digits in quotes are neither.
fn wrong_either(desired: &Value) -> Option<&'static str> {
    match desired {
        Value::String(text) if !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()) => {
            Some("a number in quotes is taken for a name or a percentage, which need a letter or a percent sign")
        }
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Some("the field must be a number or text"),
        Value::String(_) | Value::Number(_) | Value::Null => None,
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean here",
        Value::Number(_) => "a number here",
        Value::String(_) => "this text",
        Value::Array(_) => "a list here",
        Value::Object(_) => "a map here",
    }
}

#[cfg(test)]
mod tests {
    use super::is_template_of;

    #[test]
    fn a_text_with_variables_can_become_what_fits_around_them() {
        for (template, text, expected) in [
            ("${A}", "x", true),
            ("web:${TAG}", "web:1.2", true),
            ("${HOST}:${PORT}/x", "h:80/x", true),
            ("web:${TAG}", "cart:1.2", false),
            ("web:1", "web:2", false),
            ("${A", "x", false),
        ] {
            assert_eq!(is_template_of(template, text), expected, "{template} {text}");
        }
    }
}
