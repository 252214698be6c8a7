//! What the API server itself says by dry runs: what an apply would make of the object, and what a new one would get. That separates
//! defaults and admission from drift for good. Asks nobody; what is sent is made here, and so is what the answers decide.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::comparison::Comparison;
use super::diff::FieldDiff;
use super::disagree::at;
use super::object::Object;
use super::owner;
use super::verdict::Verdict;

/// What the server answered to an apply and to a creation, or why it did not.
#[derive(Clone, Debug)]
pub struct Answers {
    pub applied: Result<Object, String>,
    pub created: Result<Object, String>,
}

/// How the dry runs went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// Why no apply was tried out; `None`: it was.
    pub apply: Option<String>,
    /// Why no creation was.
    pub create: Option<String>,
}

impl Probed {
    /// The same in sentences.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let refused =
            |name: &str, why: &Option<String>| why.as_ref().map(|why| format!("server-side dry run of {name} was not made: {why}"));
        let all: Vec<String> = [refused("an apply", &self.apply), refused("a new object", &self.create)].into_iter().flatten().collect();
        match all.len() {
            0 => vec![
                "server-side dry run: the API server decided what is default, what is admission and what an apply would change".to_owned(),
            ],
            2 if self.apply == self.create => vec![format!("no server-side dry run: {}", self.apply.as_deref().unwrap_or_default())],
            _ => all,
        }
    }
}

/// What is asked for as it can be sent to the object that is there. The values of secrets are those of live, where the tags say that they
/// are the same.
///
/// # Errors
/// It holds a secret that live has not: a tag must never be stored in its place, not even in a dry run.
pub fn to_apply(desired: &Object, live: &Object, raw: &Value) -> Result<Value, String> {
    let mut values = BTreeMap::new();
    collect(live.value(), raw, &mut values);
    let mut object = unsealed(desired.value(), &values)?;
    if let Some(fields) = object.as_object_mut() {
        fields.shift_remove("status");
        let metadata = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink"] {
            metadata.as_object_mut().and_then(|metadata| metadata.shift_remove(key));
        }
        let namespace = raw.pointer("/metadata/namespace").cloned();
        if let (Some(metadata), Some(namespace)) = (metadata.as_object_mut(), namespace) {
            metadata.insert("namespace".to_owned(), namespace);
        }
    }
    Ok(object)
}

/// The same as a new object under a name that nobody has, without what can be had only once.
#[must_use]
pub fn to_create(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("name");
        metadata.shift_remove("ownerReferences");
        metadata.insert("generateName".to_owned(), "holdup-dry-run-".into());
    }
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for key in ["clusterIP", "clusterIPs", "healthCheckNodePort", "loadBalancerIP", "volumeName", "nodeName"] {
            spec.shift_remove(key);
        }
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            port.as_object_mut().and_then(|port| port.shift_remove("nodePort"));
        }
    }
    object
}

/// What each tag stands for: both are the same object.
fn collect(redacted: &Value, raw: &Value, values: &mut BTreeMap<String, String>) {
    match (redacted, raw) {
        (Value::String(tag), Value::String(value)) if is_sealed(tag) => {
            values.insert(tag.clone(), value.clone());
        }
        (Value::Array(redacted), Value::Array(raw)) => redacted.iter().zip(raw).for_each(|(a, b)| collect(a, b, values)),
        (Value::Object(redacted), Value::Object(raw)) => {
            redacted.iter().filter_map(|(key, a)| Some((a, raw.get(key)?))).for_each(|(a, b)| collect(a, b, values));
        }
        _ => {}
    }
}

fn is_sealed(text: &str) -> bool {
    text.contains("‹redacted:") || text.starts_with("redacted/")
}

fn unsealed(value: &Value, values: &BTreeMap<String, String>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) if is_sealed(text) => {
            let known = values
                .get(text)
                .ok_or("what is asked for holds a secret that live does not have, and a tag must not be sent in its place")?;
            known.as_str().into()
        }
        Value::Array(items) => items.iter().map(|item| unsealed(item, values)).collect::<Result<Vec<_>, _>>()?.into(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| Ok((key.clone(), unsealed(value, values)?)));
            Value::Object(fields.collect::<Result<Map<_, _>, String>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    })
}

impl Comparison {
    /// Decides by what the server answered how live differs from the most trusted source.
    pub fn decide(&mut self, answers: &Answers) {
        let why = |answer: &Result<Object, String>| answer.as_ref().err().cloned();
        self.probed = Some(Probed { apply: why(&answers.applied), create: why(&answers.created) });
        for field in self.against.first_mut().into_iter().flat_map(|first| &mut first.diff.fields) {
            judge(field, answers);
        }
    }
}

fn judge(field: &mut FieldDiff, answers: &Answers) {
    let is_settled = match field.verdict {
        Verdict::Equal | Verdict::Server | Verdict::Controller | Verdict::Approved | Verdict::Conflict | Verdict::InvalidDesired => true,
        Verdict::Defaulted | Verdict::Admission | Verdict::Pending | Verdict::Drift | Verdict::Unknown => false,
    };
    let decided = match &field.desired {
        _ if is_settled => None,
        Some(_) => answers.applied.as_ref().ok().and_then(|applied| declared(field, applied)),
        None => extra(field, answers),
    };
    if let Some((verdict, reason)) = decided {
        (field.verdict, field.reason) = (verdict, format!("{reason} (by dry run); without it: {}", field.reason));
    }
}

type Decided = Option<(Verdict, &'static str)>;

/// An apply would change it, or it would not.
fn declared(field: &FieldDiff, applied: &Object) -> Decided {
    let would_be = at(applied.value(), &field.path);
    match (would_be == field.live.as_ref(), &field.live) {
        (true, None) => Some((Verdict::InvalidDesired, "the server drops this field")),
        (true, Some(_)) => Some((Verdict::Admission, "the server turns what is asked for into what live has")),
        (false, _) if matches!(field.verdict, Verdict::Admission) => {
            Some((Verdict::Drift, "an apply would change it: admission rewrote it once, and would not today"))
        }
        (false, _) if field.verdict == Verdict::Unknown => Some((Verdict::Drift, "an apply would change it")),
        (false, _) => None,
    }
}

/// Nobody asked for it: a new object gets it as well, or it does not.
fn extra(field: &FieldDiff, answers: &Answers) -> Decided {
    let is_removed = |applied: &Object| at(applied.value(), &field.path).is_none();
    if answers.applied.as_ref().is_ok_and(is_removed) {
        return Some((Verdict::Pending, "an apply would remove it"));
    }
    let created = answers.created.as_ref().ok()?.value();
    let given = at(created, &field.path);
    if given.is_some() && given == field.live.as_ref() {
        // Ownership is recorded after defaults are filled in and before admission.
        let is_default = owner::entries(created).iter().any(|entry| entry.holds(&field.path));
        return Some(if is_default {
            (Verdict::Defaulted, "a new object gets it by default")
        } else {
            (Verdict::Admission, "a new object gets it from admission")
        });
    }
    match (given, field.verdict) {
        (Some(_), Verdict::Admission | Verdict::Unknown) => Some((Verdict::Drift, "a new object gets another value")),
        (None, Verdict::Admission | Verdict::Unknown) => {
            Some((Verdict::Drift, "a new object does not get it: neither a default nor admission is behind it"))
        }
        (Some(_) | None, _) => None,
    }
}
