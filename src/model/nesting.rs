//! How deep an object may be nested, whatever it is read from, and what is said of one that is deeper: readers and judges go down by calling
//! themselves, and a file must not make them overflow.

use serde_json::Value;

/// Levels of maps and lists of one object. Definitions of custom kinds, the deepest there are, stay far below.
pub const DEEPEST: usize = 100;

/// What is wrong with a deeper one.
pub const TOO_DEEP: &str = "is nested deeper than 100 levels, which no Kubernetes object is";

/// A document may be a list: then a map with a list in it is around each object.
pub const DEEPEST_DOCUMENT: usize = DEEPEST + 2;

/// Values in one document: a list of a large cluster may be one.
pub const MOST_VALUES: usize = 100_000_000;

/// Bytes of text in one document.
pub const LARGEST_TEXT: usize = 4 << 30;

/// Whether a value has more levels than an object may have.
pub fn is_too_deep(value: &Value) -> bool {
    fn is_deeper(value: &Value, left: usize) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            Value::Array(items) => left == 0 || items.iter().any(|item| is_deeper(item, left - 1)),
            Value::Object(fields) => left == 0 || fields.values().any(|value| is_deeper(value, left - 1)),
        }
    }
    is_deeper(value, DEEPEST)
}
