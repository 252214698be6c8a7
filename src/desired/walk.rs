//! Walks down both sides of an object at once, puts lists side by side, and folds what was added or removed whole into one row.

use serde_json::Value;

use super::align::{self, Lists, Row};
use super::equal::present;
use super::owner::{Trail, Whole};
use super::path::{Path, Step};
use super::place::Place;
use super::shape::{Items, Shape};
use super::verdict::{self, Decision, Verdict};
use super::{FieldDiff, Owner, Told, defaults, fault, phenomena, risk};

/// The differences at a place and below it.
pub fn walk(place: &Place<'_>) -> Vec<FieldDiff> {
    if place.desired == place.live || is_left_out(place) {
        return Vec::new();
    }
    match (present(place.desired), present(place.live)) {
        (None, None) if place.desired.is_some() => vec![leaf(place)],
        (None, None) => Vec::new(),
        (Some(Value::Object(_)), Some(Value::Object(_))) => below(place),
        (Some(Value::Array(desired)), Some(Value::Array(live))) => list(place, desired, live),
        (Some(_), Some(_)) => vec![leaf(place)],
        (Some(value), None) => one_sided(&Place { live: None, ..place.clone() }, value),
        (None, Some(value)) => one_sided(&Place { desired: None, ..place.clone() }, value),
    }
}

/// Fields that say nothing of what was asked for: status, identity, and what the server counts.
fn is_left_out(place: &Place<'_>) -> bool {
    let name = place.path.last();
    match place.path.steps() {
        [Step::Field(_)] => matches!(name, "status" | "apiVersion" | "kind" | "sops"),
        [Step::Field(metadata), Step::Field(_)] if metadata == "metadata" => matches!(
            name,
            "name"
                | "namespace"
                | "generateName"
                | "uid"
                | "resourceVersion"
                | "generation"
                | "creationTimestamp"
                | "selfLink"
                | "clusterName"
                | "managedFields"
                | "deletionTimestamp"
                | "deletionGracePeriodSeconds"
        ),
        _ => place.path.passes(&["metadata", "creationTimestamp"]),
    }
}

/// The fields of a map or struct.
fn below(place: &Place<'_>) -> Vec<FieldDiff> {
    let names =
        |side: Option<&Value>| side.and_then(Value::as_object).map(|map| map.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let mut all = names(place.desired);
    all.extend(names(place.live).into_iter().filter(|name| place.desired.and_then(|d| d.get(name)).is_none()));
    all.iter().flat_map(|name| walk(&field(place, name))).collect()
}

fn field<'a>(place: &Place<'a>, name: &str) -> Place<'a> {
    let is_metadata = place.path.steps().is_empty() && name == "metadata";
    let shape = if is_metadata { super::shape::metadata() } else { place.shape.field(name) };
    let whole = if place.shape.is_atomic() { Whole::Yes } else { Whole::No };
    let exact = place.cx.is_exact || matches!(place.shape, Shape::Schema(_));
    Place {
        path: place.path.field(name),
        shape,
        whole: place.whole.or_else(|| whole_at(place, whole)),
        is_unlisted: exact && !shape.is_known() && !place.shape.takes_any_field() && !is_type_meta(name),
        ..under(place, [place.desired, place.live, place.applied].map(|side| side?.get(name)), place.trail.field(name, whole))
    }
}

/// Fields of embedded objects that the table leaves out.
fn is_type_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata" | "status")
}

fn under<'a>(place: &Place<'a>, [desired, live, applied]: [Option<&'a Value>; 3], trail: Trail<'a>) -> Place<'a> {
    Place {
        cx: place.cx,
        path: Path::default(),
        shape: Shape::Unknown,
        desired,
        live,
        applied: present(applied),
        trail,
        desired_parent: place.desired,
        live_parent: place.live,
        live_grandparent: place.live_parent,
        applied_parent: place.applied,
        is_duplicate: false,
        is_unlisted: false,
        whole: None,
    }
}

fn whole_at<'a>(place: &Place<'a>, whole: Whole) -> Option<super::place::Whole<'a>> {
    let here = super::place::Whole { shape: place.shape, desired: place.desired, applied: place.applied };
    (whole == Whole::Yes).then_some(here)
}

fn list(place: &Place<'_>, desired: &[Value], live: &[Value]) -> Vec<FieldDiff> {
    let applied = place.applied.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let keys = if place.shape.is_known() { None } else { place.trail.keys() };
    let whole = if keys.is_none() && !matches!(place.shape.items(), Items::Keys(_) | Items::Set) { Whole::Yes } else { Whole::No };
    let name = place.path.last();
    let Some(aligned) = align::align(place.shape, name, Lists { desired, live, applied }, keys) else {
        return vec![leaf(place)];
    };
    let mut found = Vec::new();
    if aligned.is_reordered {
        found.push(reordered(place, align::order_matters(name, place.shape, desired, live)));
    }
    for row in aligned.rows {
        let item = item(place, row, (desired, live, applied), whole);
        let is_surplus = item.is_duplicate && (item.desired.is_none() || item.live.is_none());
        if is_surplus { found.push(leaf(&item)) } else { found.extend(walk(&item)) }
    }
    found
}

fn item<'a>(place: &Place<'a>, row: Row, (desired, live, applied): (&'a [Value], &'a [Value], &'a [Value]), whole: Whole) -> Place<'a> {
    let sides = [row.desired.map(|i| &desired[i]), row.live.map(|i| &live[i]), row.applied.and_then(|i| applied.get(i))];
    let trail = place.trail.item(sides[1].or(sides[0]), row.live, whole);
    Place {
        path: place.path.join(row.step),
        shape: place.shape.item(),
        is_duplicate: row.is_duplicate,
        whole: place.whole.or_else(|| whole_at(place, whole)),
        ..under(place, sides, trail)
    }
}

fn reordered(place: &Place<'_>, matters: bool) -> FieldDiff {
    if matters {
        let mut found = leaf(place);
        found.reason = format!("another order, which counts here; {}", found.reason);
        return found;
    }
    let decision = Decision { verdict: Verdict::Equal, owner: place.owners().first().copied(), reason: "reordered".to_owned() };
    found(place, decision, None)
}

/// Something that only one side has: judged leaf by leaf, and one row where all leaves agree on verdict and owner.
fn one_sided(place: &Place<'_>, value: &Value) -> Vec<FieldDiff> {
    let is_one = match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    if is_one || fault::find(place).is_some() || is_decided_whole(place) {
        return vec![leaf(place)];
    }
    let rows = match value {
        Value::Array(items) if place.desired.is_some() => list(place, items, &[]),
        Value::Array(items) => list(place, &[], items),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => below(place),
    };
    match agreed(place, &rows) {
        Some(row) => vec![folded(place, row, &rows)],
        None => rows,
    }
}

fn is_decided_whole(place: &Place<'_>) -> bool {
    place.desired.is_none() && (phenomena::by_server(place).is_some() || place.applied.is_none() && defaults::is_default(place))
}

/// The row that speaks for all: what is a default inside something added came with it, and so did what the server allocates for an item.
fn agreed<'a>(place: &Place<'_>, rows: &'a [FieldDiff]) -> Option<&'a FieldDiff> {
    let follows =
        |row: &FieldDiff| matches!(row.verdict, Verdict::Equal | Verdict::Defaulted) || row.verdict == Verdict::Server && place.is_item();
    let leads = rows.iter().find(|row| !follows(row));
    let first = leads.or_else(|| rows.iter().find(|row| row.verdict != Verdict::Equal)).or(rows.first())?;
    let agrees = |row: &FieldDiff| row.verdict == first.verdict && row.owner == first.owner;
    let may_differ = |row: &FieldDiff| row.verdict == Verdict::Equal || leads.is_some() && follows(row);
    rows.iter().all(|row| agrees(row) || may_differ(row)).then_some(first)
}

fn folded(place: &Place<'_>, row: &FieldDiff, rows: &[FieldDiff]) -> FieldDiff {
    let worst = rows.iter().filter_map(|row| row.risk.as_ref()).min_by_key(|risk| (risk.direction, risk.class)).cloned();
    let own = if row.verdict == Verdict::Equal { None } else { risk::judge(place) };
    let risk = match (worst, own) {
        (Some(worst), Some(own)) => Some(if (own.direction, own.class) <= (worst.direction, worst.class) { own } else { worst }),
        (worst, own) => worst.or(own),
    };
    let [desired, live] = [place.desired, place.live].map(|side| side.cloned());
    FieldDiff { path: place.path.clone(), desired, live, risk, ..row.clone() }
}

fn leaf(place: &Place<'_>) -> FieldDiff {
    let decision = verdict::decide(place);
    let risk = if decision.verdict == Verdict::Equal { None } else { risk::judge(place) };
    found(place, decision, risk)
}

fn found(place: &Place<'_>, decision: Decision, risk: Option<risk::Risk>) -> FieldDiff {
    let owner = decision.owner.map(|i| Owner::of(&place.cx.entries[i]));
    let [desired, live] = [place.desired, place.live].map(|side| present(side).cloned());
    FieldDiff {
        path: place.path.clone(),
        desired,
        live,
        verdict: decision.verdict,
        risk,
        owner,
        reason: decision.reason,
        told: Told::default(),
    }
}
