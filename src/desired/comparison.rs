//! One object beside everything that says what was asked for: a diff for each source, most trusted first, and who owns what where
//! nothing says it. Reads no file, no clock and no cluster.

use serde_json::Value;

use super::accept::{self, Labels, Rule, Tally};
use super::diff::{Diff, Evidence, FieldDiff, Owner, diff};
use super::disagree::{self, Disagreement};
use super::gitops::{self, Told};
use super::helm::{self, Release};
use super::ignored::{self, Rules, Sides};
use super::managers::Class;
use super::object::{Identity, Object};
use super::oracle::Probed;
use super::source::{self, Desired, Fetched};
use super::turns::Mark;
use super::verdict::Verdict;
use super::{baseline, body, owner, weigh::Direction};
use crate::model::Time;

/// An object and what its sources say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub object: Identity,
    /// Those of the live object.
    pub labels: Labels,
    /// `metadata.generation` of the live object.
    pub generation: Option<i64>,
    /// Most trusted first; empty where nothing says what was asked for.
    pub against: Vec<Against>,
    /// In the order of managedFields.
    pub owners: Vec<Owned>,
    /// Where the sources say different things.
    pub disagreements: Vec<Disagreement>,
    /// What the tools say that apply it from a repository.
    pub told: Vec<Told>,
    /// Rules of theirs that hold for nothing here, are not evaluated, or were never declared.
    pub notes: Vec<String>,
    /// What has to be known of its Helm release: upgrades that have not ended, records that are not read.
    pub release: Vec<String>,
    /// How server-side dry runs went, where they were asked for.
    pub probed: Option<Probed>,
    /// What could not be read that might say what was asked for, or explain a difference.
    pub unchecked: Vec<Unchecked>,
    /// There is more to open that is opened only when somebody asks for the comparison itself: Helm's records.
    pub is_sealed: bool,
}

/// What was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    pub kind: String,
    pub namespace: Option<String>,
    pub why: String,
}

impl std::fmt::Display for Unchecked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.namespace.as_ref().map_or(String::new(), |namespace| format!(" in {namespace}"));
        write!(f, "not checked: {}{place}: {}", self.kind, self.why)
    }
}

/// What one source says, and how live differs from it: worst first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Against {
    pub source: &'static str,
    pub title: String,
    /// When it was asked for; "" if it is not known.
    pub at: String,
    /// What the source does not know.
    pub cannot: &'static str,
    pub diff: Diff,
}

/// What a manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    pub owner: Owner,
    /// The first of its paths.
    pub paths: Vec<String>,
    pub count: usize,
}

/// More paths of one manager nobody reads.
const PATHS: usize = 40;

/// Compares the live object with each source.
pub fn compare(fetched: &Fetched<'_>, unchecked: Vec<Unchecked>) -> Comparison {
    compare_with(None, fetched, unchecked)
}

/// Compares the live object with what is given, and with each source behind that.
pub fn compare_with(given: Option<Desired>, fetched: &Fetched<'_>, unchecked: Vec<Unchecked>) -> Comparison {
    let live = fetched.live;
    let given_release = given.clone().filter(|given| given.source == "helm").map(|given| given.object);
    let evidence = Evidence { released: given_release.as_ref().or(source::released(fetched)), related: fetched.related };
    let rules = ignored::rules(live.value(), fetched.related);
    let newer = helm::newer(fetched.releases, live.value());
    let is_deployed = |desired: &Desired| desired.source == "helm" && !newer.iter().any(|release| desired.is_of(release));
    let mut notes = rules.notes.clone();
    let mut objects = Vec::new();
    let of = |desired: Desired| {
        let mut diff = against(&desired, live, evidence);
        let sides = Sides { desired: desired.object.value(), live: live.value() };
        newer.iter().filter(|_| is_deployed(&desired)).for_each(|release| half_way(&mut diff, release, live));
        diff.fields.iter_mut().for_each(|field| approve(field, &rules, sides));
        ignored::undeclared(sides).into_iter().for_each(|note| {
            if !notes.contains(&note) {
                notes.push(note);
            }
        });
        let cannot = desired.cannot();
        objects.push(desired.object);
        Against { source: desired.source, cannot, title: desired.title, at: desired.at, diff }
    };
    let is_other = |desired: &Desired| given.as_ref().is_none_or(|given| (given.source, &given.title) != (desired.source, &desired.title));
    let others: Vec<Desired> = source::desired(fetched).into_iter().filter(is_other).collect();
    let against: Vec<Against> = given.into_iter().chain(others).map(of).collect();
    let objects: Vec<&Value> = objects.iter().map(Object::value).collect();
    let redacted = |text: String| fetched.redactor.text(&text).into_owned();
    Comparison {
        object: live.identity(),
        labels: live.labels(),
        generation: live.value().pointer("/metadata/generation").and_then(Value::as_i64),
        disagreements: disagree::disagreements(&against, &objects, live.value()),
        against,
        told: gitops::told(live.value(), fetched.related).into_iter().map(|told| told.redacted(&redacted)).collect(),
        notes: notes.into_iter().map(redacted).collect(),
        release: helm::notes(fetched.releases, live),
        owners: owner::entries(live.value()).iter().map(owned).collect(),
        probed: None,
        unchecked,
        is_sealed: false,
    }
}

/// What live has as a newer revision of the release asks for was written by an upgrade that has not ended: nobody drifted, and no
/// webhook rewrote it.
fn half_way(diff: &mut Diff, newer: &Release, live: &Object) {
    let Some(asked) = helm::object(newer, &live.identity()) else { return };
    for field in &mut diff.fields {
        let by_helm = field.owner.as_ref().is_none_or(|owner| owner.class == Class::Package);
        let is_open = matches!(field.verdict, Verdict::Drift | Verdict::Admission | Verdict::Unknown | Verdict::Pending);
        if by_helm && is_open && Mark::of(body::at(asked.value(), &field.path)) == Mark::of(field.live.as_ref()) {
            field.reason = format!("live has what {} asks for, an upgrade that never became the deployed one", newer.title());
            field.verdict = Verdict::Pending;
        }
    }
}

/// What a tool that applies the object leaves alone on purpose is approved; risk is judged whoever approves.
fn approve(field: &mut FieldDiff, rules: &Rules, sides: Sides<'_>) {
    let needs_it = field.verdict.is_loud() || field.verdict == Verdict::Unknown;
    if let Some(by) = needs_it.then(|| rules.approves(field, sides)).flatten() {
        field.reason = format!("left alone by {by}; else it would be {}: {}", field.verdict.id(), field.reason);
        field.verdict = Verdict::Approved;
    }
}

impl Comparison {
    /// The same with what somebody has to look at first.
    #[must_use]
    pub fn worst_first(mut self) -> Self {
        self.against.iter_mut().for_each(|against| against.diff.fields.sort_by_key(FieldDiff::rank));
        self
    }

    /// The same after rules have decided about the differences.
    #[must_use]
    pub fn approved(mut self, rules: &[Rule], now: Time) -> Self {
        for against in &mut self.against {
            accept::approve(rules, &self.labels, &mut against.diff, now, &mut Tally::default());
            against.diff.fields.sort_by_key(FieldDiff::rank);
        }
        self
    }
}

/// The object beside what one source says.
pub fn against(desired: &Desired, live: &Object, evidence: Evidence<'_>) -> Diff {
    let mut diff = diff(&desired.object, live, evidence);
    match desired.source {
        "revision" => diff.fields.iter_mut().for_each(|field| since_revision(field, live)),
        "managed-fields" => diff.fields.iter_mut().for_each(beyond_ownership),
        baseline::BASELINE => diff.fields.iter_mut().for_each(baseline::since),
        _ => {}
    }
    diff
}

/// A revision was wanted once: what others than people have changed since was asked for as well, by a rollout; only nobody here can say
/// by whom. So was what is gone, since a removal leaves no trace.
fn since_revision(field: &mut FieldDiff, live: &Object) {
    let by_person = field.owner.as_ref().is_some_and(|owner| owner.class == Class::Person);
    let is_told = field.owner.is_some() || live.value().pointer("/metadata/managedFields").is_some();
    if field.verdict == Verdict::Pending || field.verdict == Verdict::Drift && is_told && !by_person {
        let by = field.owner.as_ref().map_or("the tool that declares the object", |owner| &owner.manager);
        field.reason = format!("{by} changed it since this revision, by a rollout as it seems; a manifest or release would tell");
        field.verdict = Verdict::Unknown;
    }
}

/// Ownership holds no values: what another one wrote may be new, or may have been another value before.
fn beyond_ownership(field: &mut FieldDiff) {
    if field.verdict == Verdict::Drift && field.desired.is_none() {
        field.reason.push_str("; whether it was applied with another value before, ownership does not tell");
    }
}

fn owned(entry: &owner::Entry<'_>) -> Owned {
    let (paths, count) = entry.paths(PATHS);
    Owned { owner: Owner::of(entry), paths, count }
}

/// A value as one reads it: a text line by line, anything else as YAML; absent has no line.
pub fn written(value: Option<&Value>) -> Vec<String> {
    let text = match value {
        None => return Vec::new(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Array(_) | Value::Object(_))) => serde_saphyr::to_string(value).unwrap_or_default(),
        Some(value @ (Value::Null | Value::Bool(_) | Value::Number(_))) => value.to_string(),
    };
    text.lines().map(str::to_owned).collect()
}

impl FieldDiff {
    /// Whether it weakens the object's security.
    pub fn is_weaker(&self) -> bool {
        self.risk.as_ref().is_some_and(|risk| risk.direction == Direction::Weakening)
    }

    /// Smaller is worse: what somebody has to look at, then what weakens the object, then by class of risk.
    fn rank(&self) -> impl Ord + use<> {
        let risk = self.risk.as_ref().map(|risk| risk.class);
        (self.verdict.rank(), !self.is_weaker(), risk.is_none(), risk)
    }
}
