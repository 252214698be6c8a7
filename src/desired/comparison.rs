//! One object beside everything that says what was asked for: a diff for each source, most trusted first, and who owns what where
//! nothing says it. Reads no file, no clock and no cluster.

use serde_json::Value;

use super::diff::{Diff, Evidence, FieldDiff, Owner, diff};
use super::object::Object;
use super::source::{self, Desired, Fetched};
use super::verdict::Verdict;
use super::{owner, weigh::Direction};

/// An object and what its sources say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// `metadata.generation` of the live object.
    pub generation: Option<i64>,
    /// Most trusted first; empty where nothing says what was asked for.
    pub against: Vec<Against>,
    /// In the order of managedFields.
    pub owners: Vec<Owned>,
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
    let live = fetched.live;
    let evidence = Evidence { released: source::released(fetched), related: fetched.related };
    let of = |desired: source::Desired| {
        let mut diff = against(&desired, live, evidence);
        diff.fields.sort_by_key(FieldDiff::rank);
        Against { source: desired.source, cannot: desired.cannot(), title: desired.title, at: desired.at, diff }
    };
    Comparison {
        generation: live.value().pointer("/metadata/generation").and_then(Value::as_i64),
        against: source::desired(fetched).into_iter().map(of).collect(),
        owners: owner::entries(live.value()).iter().map(owned).collect(),
        unchecked,
        is_sealed: false,
    }
}

/// The object beside what one source says. A revision was wanted once: what declared objects have changed since was asked for as well,
/// only nobody here can say by whom.
pub fn against(desired: &Desired, live: &Object, evidence: Evidence<'_>) -> Diff {
    let mut diff = diff(&desired.object, live, evidence);
    if desired.source == "revision" {
        for field in diff.fields.iter_mut().filter(|field| field.verdict == Verdict::Pending) {
            let by = field.owner.as_ref().map_or("the tool that declares the object", |owner| &owner.manager);
            field.reason = format!("{by} changed it since this revision, by a rollout as it seems; a manifest or release would tell");
            field.verdict = Verdict::Unknown;
        }
    }
    diff
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
