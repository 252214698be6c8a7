//! The reader against `serde_json::Value`, on generated and on mutated input.

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

use super::Reader;

/// The next value as a tree, by nothing but the reader's own calls. Numbers that are not whole are stepped over and read from their bytes.
fn tree(r: &mut Reader<'_>) -> Value {
    match r.peek() {
        b'{' => {
            let mut map = Map::new();
            r.object();
            while let Some(key) = r.key() {
                let value = tree(r);
                map.insert(String::from_utf8_lossy(&key).into_owned(), value);
            }
            Value::Object(map)
        }
        b'[' => {
            let mut list = Vec::new();
            r.list();
            while r.item() {
                list.push(tree(r));
            }
            Value::Array(list)
        }
        b'"' => r.str().map_or(Value::Null, |text| Value::String(text.into_owned())),
        b't' | b'f' => r.bool().map_or(Value::Null, Value::Bool),
        b'-' | b'0'..=b'9' => number(r),
        _ => {
            r.skip();
            Value::Null
        }
    }
}

fn number(r: &mut Reader<'_>) -> Value {
    let start = r.position();
    if let Some(n) = r.int() {
        // JSON knows a minus before zero: serde keeps it as a float.
        return if n == 0 && r.since(start)[0] == b'-' { Value::from(-0.0) } else { Value::from(n) };
    }
    serde_json::from_slice::<Number>(r.since(start)).map_or(Value::Null, Value::Number)
}

/// The whole input as a tree, if it is one.
fn whole(bytes: &[u8]) -> Option<Value> {
    let mut r = Reader::new(bytes);
    let value = tree(&mut r);
    r.is_at_end().then_some(value)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z0-9./:-]{0,24}", "\\PC{0,12}", r#"["\\/\n\t\u{0}\u{8}\u{1F600}é]{0,9}"#]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9_f64..1e9).prop_map(Value::from),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..8).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// JSON as somebody else might write it: with or without spaces, with every character escaped or none.
fn spelled(value: &Value, spaces: bool, escapes: bool) -> String {
    let text = if spaces { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.unwrap();
    if !escapes {
        return text;
    }
    let mut out = String::new();
    let (mut inside, mut behind) = (false, false);
    for c in text.chars() {
        if inside && c.is_alphabetic() && !behind {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
        inside ^= c == '"' && !behind;
        behind = c == '\\' && !behind;
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_equals_what_serde_reads(value in value(), spaces: bool, escapes: bool) {
        let json = spelled(&value, spaces, escapes);
        let expected: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(whole(json.as_bytes()), Some(expected));
    }

    #[test]
    fn what_is_stepped_over_ends_where_it_was_read(value in value(), spaces: bool, escapes: bool) {
        let json = spelled(&value, spaces, escapes);
        let (mut reads, mut skips) = (Reader::new(json.as_bytes()), Reader::new(json.as_bytes()));
        tree(&mut reads);
        skips.skip();
        prop_assert_eq!(reads.position(), skips.position());
    }

    #[test]
    fn mutated_input_is_read_as_serde_does_or_found_unsound(
        value in value(), at in any::<prop::sample::Index>(), byte: u8, cut: bool,
    ) {
        let mut json = serde_json::to_vec(&value).unwrap();
        let at = at.index(json.len());
        if cut { json.truncate(at) } else { json[at] = byte }
        // What serde refuses may be read: it is no JSON, and nothing is promised but an end.
        if let Ok(expected) = serde_json::from_slice::<Value>(&json) {
            prop_assert_eq!(whole(&json), Some(expected));
        } else {
            whole(&json);
        }
    }

    #[test]
    fn truncated_input_is_never_sound(value in value(), at in any::<prop::sample::Index>()) {
        let json = serde_json::to_vec(&serde_json::json!({ "k": value })).unwrap();
        let cut = &json[..at.index(json.len())];
        prop_assert_eq!(whole(cut), None);
        let mut skips = Reader::new(cut);
        skips.skip();
        prop_assert!(!skips.is_sound());
    }

    #[test]
    fn noise_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        whole(&bytes);
        Reader::new(&bytes).skip();
    }
}

#[test]
fn a_value_of_another_type_is_stepped_over() {
    let mut r = Reader::new(br#"{"a":{"b":[1]},"c":"7","d":[],"e":7,"f":null,"g":1.5,"h":99999999999999999999}"#);
    assert!(r.object());
    let mut next = || r.key().map(|k| k[0]).unwrap_or(0);
    assert_eq!(next(), b'a');
    assert_eq!(r.int(), None);
    r.key();
    assert_eq!(r.bool(), None);
    r.key();
    assert!(!r.object());
    r.key();
    assert_eq!(r.str(), None);
    r.key();
    assert!(!r.list());
    r.key();
    assert_eq!(r.int(), None);
    r.key();
    assert_eq!(r.int(), None);
    assert!(r.key().is_none() && r.is_at_end());
}

#[test]
fn keys_are_unescaped_and_a_second_one_is_given_too() {
    let mut r = Reader::new(br#"{"\u006eame":"a","name":"b"}"#);
    assert!(r.object());
    let mut seen = Vec::new();
    while let Some(key) = r.key() {
        seen.push((String::from_utf8_lossy(&key).into_owned(), r.str().unwrap().into_owned()));
    }
    assert_eq!(seen, [("name".into(), "a".into()), ("name".into(), "b".into())]);
}

#[test]
fn nesting_costs_no_stack() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let mut r = Reader::new(deep.as_bytes());
    r.skip();
    assert!(r.is_at_end());
}

#[test]
fn a_jump_ends_where_a_step_ends() {
    let lists = [
        r#"[{"a":{"b":{}}}]"#,
        "[]",
        r#"[{"a":[1],"s":2}]"#,
        r#"["],\"x"]"#,
        r#"["]",{"a":{"l":[1],"s":2}}]"#,
        r#"[{"a":["]},","spec"]}]"#,
        "{}",
        "7",
    ];
    for list in lists {
        for after in [r#","x":1}"#, r#"},"x":1}"#, "}", r#",{"x":[]}"#] {
            let json = format!("{list}{after}");
            let (mut jumps, mut steps) = (Reader::new(json.as_bytes()), Reader::new(json.as_bytes()));
            steps.skip();
            jumps.jump();
            assert_eq!(jumps.position(), steps.position(), "{json}");
        }
    }
}
