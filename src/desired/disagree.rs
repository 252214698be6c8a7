//! Where sources of desired state disagree with each other: a row for each place, with what every source says there. Compares what was
//! found, and judges nothing.

use serde_json::Value;

use super::comparison::Against;
use super::diff::{FieldDiff, Owner};
use super::path::{Path, Step};
use super::verdict::Verdict;

/// A place at which not all sources say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    pub path: Path,
    pub live: Option<Value>,
    /// Who owns what live has there.
    pub owner: Option<Owner>,
    /// What each source says, in the order of the sources.
    pub says: Vec<Saying>,
}

/// What a source says of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saying {
    /// It cannot know.
    Nothing,
    /// `None`: it does not mention the place.
    Value(Option<Value>),
}

/// The rows for these sources, `objects` being what each of them asks for.
pub fn disagreements(against: &[Against], objects: &[&Value], live: &Value) -> Vec<Disagreement> {
    let mut found: Vec<Disagreement> = Vec::new();
    for field in against.iter().flat_map(|against| &against.diff.fields).filter(|field| is_of_interest(field)) {
        let is_known = found.iter().any(|row| row.path.starts_with(&field.path) || field.path.starts_with(&row.path));
        if !is_known && let Some(row) = row(&field.path, field.owner.as_ref(), (against, objects, live)) {
            found.push(row);
        }
    }
    found
}

/// What the server fills in is the same for every source.
fn is_of_interest(field: &FieldDiff) -> bool {
    !matches!(field.verdict, Verdict::Equal | Verdict::Server | Verdict::Defaulted)
}

fn row(path: &Path, owner: Option<&Owner>, (against, objects, live): (&[Against], &[&Value], &Value)) -> Option<Disagreement> {
    let says: Vec<(Saying, bool)> = against.iter().zip(objects).map(|(against, object)| says(path, against, object)).collect();
    let told: Vec<&(Saying, bool)> = says.iter().filter(|(says, _)| *says != Saying::Nothing).collect();
    // Those that say what live says may spell it in different ways.
    let agree = |(a, is_live_a): &(Saying, bool), (b, is_live_b): &(Saying, bool)| a == b || *is_live_a && *is_live_b;
    let is_one = told.windows(2).all(|pair| agree(pair[0], pair[1]));
    (!is_one).then(|| Disagreement {
        path: path.clone(),
        live: at(live, path).cloned(),
        owner: owner.cloned(),
        says: says.into_iter().map(|(says, _)| says).collect(),
    })
}

/// What a source says, and whether that means what live has.
fn says(path: &Path, against: &Against, object: &Value) -> (Saying, bool) {
    let value = at(object, path);
    let is_template = path.fields().take(2).eq(["spec", "template"]);
    let is_blind = match against.source {
        "revision" => !is_template,
        "managed-fields" => value.is_none(),
        _ => false,
    };
    let differs = |field: &FieldDiff| is_of_interest(field) && (field.path.starts_with(path) || path.starts_with(&field.path));
    let is_live = !against.diff.fields.iter().any(differs);
    (if is_blind { Saying::Nothing } else { Saying::Value(value.cloned()) }, is_live)
}

/// What stands at a path.
pub(super) fn at<'a>(object: &'a Value, path: &Path) -> Option<&'a Value> {
    path.steps().iter().try_fold(object, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Index(index) => value.get(index),
        Step::Item(keys) => value.as_array()?.iter().find(|item| keys.iter().all(|(key, value)| has(item, key, value))),
    })
}

/// Whether an item has this value under this key. Ports have their protocol as a key even where it is left to its default.
pub(super) fn has(item: &Value, key: &str, value: &str) -> bool {
    match item.get(key).or_else(|| item.get("metadata").and_then(|metadata| metadata.get(key))) {
        Some(Value::String(own)) => own == value,
        Some(own) => {
            let own = own.to_string();
            own == value
        }
        None => key == "protocol" && value == "TCP",
    }
}
