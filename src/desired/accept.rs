//! Accept rules: deviations that somebody answers for, with a reason and an end. They turn a difference into *approved*; what it risks is
//! said all the same. Reads no file and no clock.

use std::collections::BTreeMap;

use serde_json::Value;

use super::diff::{Diff, FieldDiff};
use super::equal::{quantity, same};
use super::object::Identity;
use super::path::Step;
use super::pattern::{self, Pattern};
use super::shape::Shape;
use super::verdict::Verdict;
use super::weigh::Direction;
use crate::model::{Quantity, Selector, Time};
use crate::redact::hide_tags;

/// A deviation that is accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Where it is written: `accept.toml:3`.
    pub id: String,
    /// `None`: any; "" is Kubernetes' core group.
    pub group: Option<String>,
    /// `*`: any.
    pub kind: String,
    /// With `*` for any part of it; `None`: any.
    pub namespace: Option<String>,
    pub name: Option<String>,
    /// Labels of the object; without terms: any.
    pub selector: Selector,
    pub path: Pattern,
    pub bounds: Bounds,
    /// Only what this manager wrote.
    pub manager: Option<String>,
    /// Who answers for it; "" if nobody is named.
    pub owner: String,
    pub reason: String,
    /// From then on it accepts nothing.
    pub expires: Option<Time>,
}

/// What the live value may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// One of these; empty: any.
    pub values: Vec<Value>,
    pub min: Option<Quantity>,
    pub max: Option<Quantity>,
    /// The field may be gone, and nothing else.
    pub absent: bool,
}

/// The rule behind an approved difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub rule: String,
    pub owner: String,
    pub reason: String,
    pub expires: Option<Time>,
}

/// Labels of an object.
pub type Labels = BTreeMap<String, String>;

/// What rules met so far: one entry a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(Vec<Met>);

/// What one rule met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Met {
    /// Differences that it covers, now or before it expired.
    pub covered: usize,
    /// Of those, what weakens an object, at a place that the rule does not name itself.
    pub weakened: usize,
    /// Objects that it is about.
    pub objects: usize,
    /// The group of an object that has its kind and name, but is of another group.
    pub elsewhere: Option<String>,
}

/// Turns the differences that rules cover into *approved*, and notes what each rule met. What is spelling, what the server or a controller
/// rightly keeps, and what cannot be stored stays what it is.
pub fn approve(rules: &[Rule], labels: &Labels, diff: &mut Diff, now: Time, tally: &mut Tally) {
    tally.0.resize(tally.0.len().max(rules.len()), Met::default());
    let identity = &diff.object;
    let own: Vec<usize> = (0..rules.len()).filter(|i| rules[*i].is_about(identity, labels)).collect();
    for (i, (rule, met)) in rules.iter().zip(&mut tally.0).enumerate() {
        if own.contains(&i) {
            met.objects += 1;
        } else if rule.is_named(identity) {
            met.elsewhere = Some(identity.group.clone());
        }
    }
    for field in diff.fields.iter_mut().filter(|field| field.verdict != Verdict::Equal) {
        let found = Found::of(rules, &own, field, now);
        for i in &found.covering {
            tally.0[*i].covered += 1;
            tally.0[*i].weakened += usize::from(is_weakened_unnamed(&rules[*i], field));
        }
        found.settle(rules, field);
    }
}

impl Tally {
    pub(super) fn met(&self, rule: usize) -> Met {
        self.0.get(rule).cloned().unwrap_or_default()
    }
}

/// A rule for a whole part of an object covers weakenings that nobody had in mind.
fn is_weakened_unnamed(rule: &Rule, field: &FieldDiff) -> bool {
    let is_weaker = field.risk.as_ref().is_some_and(|risk| risk.direction == Direction::Weakening);
    is_weaker && rule.path.steps().len() < field.path.steps().len() && rule.bounds == Bounds::default() && rule.manager.is_none()
}

/// Which rules are about a difference.
#[derive(Default)]
struct Found {
    covering: Vec<usize>,
    /// The one that approves it.
    approving: Option<usize>,
    /// Why one that is about this place does not.
    refused: Option<String>,
}

impl Found {
    fn of(rules: &[Rule], own: &[usize], field: &FieldDiff, now: Time) -> Self {
        let mut found = Self::default();
        for i in own.iter().copied().filter(|i| rules[*i].path.covers(&field.path)) {
            match rules[i].refuses(field, now) {
                None => {
                    found.covering.push(i);
                    found.approving = found.approving.or(Some(i));
                }
                Some(refusal) => {
                    if refusal.has_expired {
                        found.covering.push(i);
                    }
                    found.refused = Some(refusal.why);
                }
            }
        }
        if found.approving.is_none() {
            found.in_parts(rules, own, field, now);
        }
        found
    }

    /// What was added or removed whole is accepted if each of its parts is.
    fn in_parts(&mut self, rules: &[Rule], own: &[usize], field: &FieldDiff, now: Time) {
        let ((None, Some(side)) | (Some(side), None)) = (&field.desired, &field.live) else { return };
        let is_gone = field.live.is_none();
        let holds = |i: &usize, value: Option<&Value>| {
            let rule = &rules[*i];
            rule.is_written_by(field) && !rule.has_expired(now) && rule.bounds.admit(rule.path.steps(), value)
        };
        let ways: Vec<Way<'_>> = own.iter().filter_map(|i| Some((*i, rules[*i].path.below(&field.path)?))).collect();
        let mut used = Vec::new();
        if !ways.is_empty() && is_covered(side, &ways, &|i, value| holds(&i, (!is_gone).then_some(value)), &mut used) {
            used.sort_unstable();
            used.dedup();
            self.approving = used.first().copied();
            self.covering.extend(used);
        }
    }

    fn settle(self, rules: &[Rule], field: &mut FieldDiff) {
        let is_open = match field.verdict {
            Verdict::Equal | Verdict::InvalidDesired | Verdict::Server | Verdict::Controller | Verdict::Approved => false,
            Verdict::Defaulted | Verdict::Admission | Verdict::Pending | Verdict::Drift | Verdict::Conflict | Verdict::Unknown => true,
        };
        match (self.approving, self.refused) {
            (Some(i), _) => {
                let approval = rules[i].approval();
                if is_open {
                    field.reason = format!("{}; {} without it: {}", approval.words(), field.verdict.id(), field.reason);
                    field.verdict = Verdict::Approved;
                }
                field.told.approval = Some(approval);
            }
            (None, Some(why)) if !field.verdict.is_quiet() => field.reason = format!("{}; {why}", field.reason),
            (None, Some(_) | None) => {}
        }
    }
}

/// A rule, and what is left of its way.
type Way<'a> = (usize, &'a [Step]);

/// Whether each leaf of a value lies at the end of some way.
fn is_covered(value: &Value, ways: &[Way<'_>], holds: &dyn Fn(usize, &Value) -> bool, used: &mut Vec<usize>) -> bool {
    if let Some((i, _)) = ways.iter().find(|(i, rest)| rest.is_empty() && holds(*i, value)) {
        used.push(*i);
        return true;
    }
    let through = |leads: &dyn Fn(&Step) -> bool| -> Vec<Way<'_>> {
        ways.iter().filter_map(|(i, rest)| rest.split_first().filter(|(step, _)| leads(step)).map(|(_, rest)| (*i, rest))).collect()
    };
    match value {
        Value::Object(fields) if !fields.is_empty() && !ways.is_empty() => {
            fields.iter().all(|(name, value)| is_covered(value, &through(&|step| pattern::leads_to_field(step, name)), holds, used))
        }
        Value::Array(items) if !items.is_empty() && !ways.is_empty() => items
            .iter()
            .enumerate()
            .all(|(at, item)| is_covered(item, &through(&|step| pattern::leads_to_item(step, at, item)), holds, used)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

struct Refusal {
    has_expired: bool,
    why: String,
}

impl Rule {
    /// The narrowest rule for a difference: this place of this object and the value that it has now; of a value that is too long to be
    /// written, this place as its owner wrote it. Whoever accepts it adds why and until when.
    pub fn of(object: &Identity, field: &FieldDiff) -> Self {
        let values = field.live.iter().filter(|value| is_short(value)).cloned().collect();
        let bounds = Bounds { values, absent: field.live.is_none(), ..Bounds::default() };
        let manager = field.owner.as_ref().filter(|_| bounds == Bounds::default()).map(|owner| owner.manager.clone());
        Self {
            group: Some(object.group.clone()),
            kind: object.kind.clone(),
            namespace: Some(object.namespace.clone()).filter(|namespace| !namespace.is_empty()),
            name: Some(object.name.clone()),
            path: Pattern::from(field.path.clone()),
            bounds,
            manager,
            ..Self::default()
        }
    }

    /// Whether it is about this object.
    fn is_about(&self, identity: &Identity, labels: &Labels) -> bool {
        self.is_named(identity)
            && self.group.as_ref().is_none_or(|group| *group == identity.group)
            && self.selector.matches(|key| labels.get(key).map(String::as_str))
    }

    /// Whether kind, namespace and name are those of the rule.
    fn is_named(&self, identity: &Identity) -> bool {
        let fits = |own: &Option<String>, other: &str| own.as_ref().is_none_or(|own| glob(own, other));
        glob(&self.kind, &identity.kind) && fits(&self.namespace, &identity.namespace) && fits(&self.name, &identity.name)
    }

    /// Why it does not accept the difference, although it is about its place.
    fn refuses(&self, field: &FieldDiff, now: Time) -> Option<Refusal> {
        if !self.is_written_by(field) {
            let manager = self.manager.as_deref().unwrap_or_default();
            return Some(Refusal { has_expired: false, why: format!("{} accepts it from {manager} only", self.id) });
        }
        if !self.bounds.admit(field.path.steps(), field.live.as_ref()) {
            // Whoever writes a rule may have written a secret into it in clear.
            let only = if is_hidden(field) { "a value that is not shown here".to_owned() } else { self.bounds.words() };
            return Some(Refusal { has_expired: false, why: format!("{} accepts it only as {only}", self.id) });
        }
        self.has_expired(now).then(|| Refusal { has_expired: true, why: format!("{} accepted it and has expired", self.id) })
    }

    fn is_written_by(&self, field: &FieldDiff) -> bool {
        self.manager.as_ref().is_none_or(|manager| field.owner.as_ref().is_some_and(|owner| glob(manager, &owner.manager)))
    }

    pub(super) fn has_expired(&self, now: Time) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    fn approval(&self) -> Approval {
        Approval { rule: self.id.clone(), owner: self.owner.clone(), reason: self.reason.clone(), expires: self.expires }
    }
}

impl Approval {
    /// `accepted: hotfix until 1.8.4 is out (accept.toml:3, by alice, until 2026-06-01)`.
    pub fn words(&self) -> String {
        let owner = if self.owner.is_empty() { String::new() } else { format!(", by {}", self.owner) };
        let until = self.expires.map_or(String::new(), |at| format!(", until {}", day(at)));
        format!("accepted: {} ({}{owner}{until})", self.reason, self.rule)
    }
}

/// The day on which something ends, of a time at which it is over.
pub(super) fn day(over: Time) -> String {
    let mut text = over.plus(-1).rfc3339();
    text.truncate(10);
    text
}

impl Bounds {
    /// Whether the live value is within them; `None`: the field is gone.
    fn admit(&self, steps: &[Step], live: Option<&Value>) -> bool {
        let Some(live) = live else { return self.absent || *self == Self::default() };
        if self.absent {
            return false;
        }
        let amount = || quantity(live).map(|amount| amount.nano());
        let within = |bound: &Option<Quantity>, holds: fn(i128, i128) -> bool| {
            bound.as_ref().is_none_or(|bound| amount().is_some_and(|amount| holds(amount, bound.nano())))
        };
        (self.values.is_empty() || self.values.iter().any(|value| is_like(steps, value, live)))
            && within(&self.min, |amount, bound| amount >= bound)
            && within(&self.max, |amount, bound| amount <= bound)
    }

    /// Why no value at all is within them.
    pub fn contradiction(&self) -> Option<String> {
        let (min, max) = (self.min.as_ref(), self.max.as_ref());
        if let (Some(min), Some(max)) = (min, max)
            && min.nano() > max.nano()
        {
            return Some(format!("accepts nothing: min {} is more than max {}; are they the wrong way round?", min.text(), max.text()));
        }
        let is_some = !self.values.is_empty() || min.is_some() || max.is_some();
        (self.absent && is_some).then(|| "accepts nothing: a field that is absent has no value, and both are asked for".to_owned())
    }

    fn words(&self) -> String {
        let values: Vec<String> = self.values.iter().map(Value::to_string).collect();
        let values = (!values.is_empty()).then(|| values.join(" or "));
        let min = self.min.as_ref().map(|min| format!("{} or more", min.text()));
        let max = self.max.as_ref().map(|max| format!("{} or less", max.text()));
        let absent = self.absent.then(|| "absent".to_owned());
        [values, min, max, absent].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Whether two values mean the same at a place of which the schema is not at hand.
fn is_like(steps: &[Step], one: &Value, other: &Value) -> bool {
    let mut names = steps.iter().rev().filter_map(|step| match step {
        Step::Field(name) => Some(name.as_str()),
        Step::Item(_) | Step::Index(_) => None,
    });
    let field = names.next().unwrap_or_default();
    same(Shape::Unknown, (names.next().unwrap_or_default(), field), Some(one), Some(other))
}

/// Whether a value can be read in a file of rules, which knows no null.
fn is_short(value: &Value) -> bool {
    fn has_null(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            Value::Array(items) => items.iter().any(has_null),
            Value::Object(fields) => fields.values().any(has_null),
        }
    }
    !has_null(value) && value.to_string().len() <= LONGEST
}

/// A longer value is no line that anybody reads.
const LONGEST: usize = 500;

/// Whether a text is what a pattern says, in which `*` stands for any part.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => {
            let Some(behind) = text.strip_prefix(start) else { return false };
            let mut ends = behind.char_indices().map(|(at, _)| at).chain([behind.len()]);
            ends.any(|at| glob(rest, &behind[at..]))
        }
    }
}
/// Whether one of its sides is a secret, or holds one.
fn is_hidden(field: &FieldDiff) -> bool {
    let sides = [&field.desired, &field.live].into_iter().flatten();
    sides.map(Value::to_string).any(|text| hide_tags(&text) != text)
}
