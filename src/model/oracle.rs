//! A second opinion for tests: serde reads what the reader reads, and the two must agree on every object of the cases, whole or damaged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::kept::Kept;
use super::kinds::second_opinion;
use super::squeeze::{Dictionary, Scratch};
use super::{
    Event, Given, IntOrText, Kind, Object, Pairs, PodObject, Quantity, Text, Time, event::Wire, meta::short, read_object, read_whole_pod,
};

/// `null` is what Go writes for an empty list or map: it counts as absent.
pub(super) fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a time"))
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(text) => text,
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => other.to_string(),
        };
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a quantity"))
    }
}

impl<'de> Deserialize<'de> for IntOrText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(text) => Ok(Self::Text(text.into())),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.as_i64().map(Self::Int).ok_or_else(|| serde::de::Error::custom("neither number nor text"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self(!String::deserialize(d)?.is_empty()))
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Wire::deserialize(d)?.into())
    }
}

pub(super) fn short_annotations<'de, D: Deserializer<'de>>(d: D) -> Result<Pairs, D::Error> {
    let all = Option::<BTreeMap<Text, Text>>::deserialize(d)?.unwrap_or_default();
    Ok(all.into_iter().filter(|(k, v)| short(k, v)).collect())
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ManagedEntry {
    #[serde(deserialize_with = "or_default")]
    time: Option<Time>,
    #[serde(deserialize_with = "or_default")]
    subresource: Text,
}

pub(super) fn newest_change<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Time>, D::Error> {
    let entries = Option::<Vec<ManagedEntry>>::deserialize(d)?.unwrap_or_default();
    Ok(entries.iter().filter(|e| e.subresource.is_empty()).filter_map(|e| e.time).max())
}

/// Every object in the cases of the integration tests.
fn objects() -> Vec<Value> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let folders = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()));
    let cases = files.filter(|p| p.extension().is_some_and(|e| e == "json"));
    let read = |path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap();
    cases.flat_map(|path| read(path)["objects"].as_array().cloned().unwrap_or_default()).collect()
}

fn kind_of(object: &Value) -> Kind {
    Kind::of(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""))
}

/// What serde reads, without what is left out on purpose.
fn expected(kind: Kind, json: &[u8]) -> serde_json::Result<Object> {
    let mut object = second_opinion(kind, json)?;
    if let Object::ReplicaSet(set) = &mut object {
        set.forget_unwanted();
    }
    Ok(object)
}

/// Calls `f` with the object after each single replacement of a value in it.
fn each_damage(object: &Value, damage: &Value, f: &mut impl FnMut(&Value)) {
    fn paths(value: &Value, path: &str, out: &mut Vec<String>) {
        out.push(path.to_owned());
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(k, v)| paths(v, &format!("{path}/{}", k.replace('~', "~0").replace('/', "~1")), out))
            }
            Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| paths(v, &format!("{path}/{i}"), out)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut all = Vec::new();
    paths(object, "", &mut all);
    for path in all {
        let mut damaged = object.clone();
        *damaged.pointer_mut(&path).unwrap() = damage.clone();
        f(&damaged);
    }
}

/// Packing gives the object back, and other bytes than those of an object that differs.
fn assert_is_kept(object: &mut Object, dictionary: &mut Dictionary) {
    let (name, mut scratch) = (object.meta().name.clone(), Scratch::default());
    for name in [&*name, "Kind/name"] {
        let kept = Kept::new(name, object, Some(dictionary), &mut scratch);
        assert_eq!((&kept.open(dictionary), kept.name(), kept.namespace()), (&*object, name, &*object.meta().namespace));
        object.meta_mut().generation += 1;
        assert_ne!(Kept::new(name, object, Some(dictionary), &mut scratch), kept);
        object.meta_mut().generation -= 1;
        if !dictionary.is_full() {
            dictionary.learn(&scratch.all);
        }
    }
}

#[test]
fn every_object_of_the_cases_is_read_as_serde_reads_it() {
    let objects = objects();
    let (mut equal, mut dictionary) = (0, Dictionary::default());
    for object in &objects {
        let (kind, json) = (kind_of(object), serde_json::to_vec(object).unwrap());
        if kind == Kind::Pod
            && let Ok(expected) = serde_json::from_slice::<PodObject>(&json)
        {
            assert_eq!(read_whole_pod(&json), Some(expected), "{object}");
        }
        match expected(kind, &json) {
            Ok(expected) => assert_eq!(read_object(kind, &json), Some(expected), "{object}"),
            // A container that never started has begun in 1970, which the model keeps as absent and serde as a reason to give up.
            Err(e) => assert!(e.to_string().contains("not a time") && read_object(kind, &json).is_some(), "{e}: {object}"),
        }
        if let Some(mut object) = read_object(kind, &json) {
            assert_is_kept(&mut object, &mut dictionary);
        }
        equal += 1;
    }
    assert!(equal > 500, "{equal} objects");
}

#[test]
fn a_damaged_object_keeps_the_rest_and_never_blinds_a_kind() {
    let mut dictionary = Dictionary::default();
    for (n, object) in objects().iter().enumerate().filter(|(n, _)| n % 8 == 0) {
        let kind = kind_of(object);
        const LIST: usize = 4;
        let damages = [json!(null), json!("x"), json!(7), json!({"": ""}), json!([null, {}])];
        each_damage(object, &damages[n / 8 % damages.len()], &mut |damaged| {
            let json = serde_json::to_vec(damaged).unwrap();
            let mut read = read_object(kind, &json);
            read.iter_mut().for_each(|object| assert_is_kept(object, &mut dictionary));
            // Serde gives up where a type is wrong; what it can read must be the same. It takes a list for a struct: nobody else does.
            if let Some(expected) = expected(kind, &json).ok().filter(|_| n / 8 % damages.len() != LIST) {
                assert_eq!(read, Some(expected).filter(|o| !o.meta().name.is_empty()), "{damaged}");
            } else if damaged["metadata"]["name"].as_str().is_some_and(|name| !name.is_empty()) {
                assert!(read.is_some(), "{damaged}");
            }
        });
    }
}
