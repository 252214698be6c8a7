//! A saved object as what was asked for: what is another value now has changed since. Values that are hidden behind tags are compared by
//! their tags, which say something only if both were made with the same key. Reads no file and no clock.

use serde_json::Value;

use super::audit::settle;
use super::diff::{Diff, FieldDiff};
use super::object::Object;
use super::source::Desired;
use super::turns::{Mark, Turns};
use super::verdict::Verdict;
use super::watched;
use crate::model::Time;
use crate::redact::hide_tags;

/// Id of the source.
pub const BASELINE: &str = "baseline";

/// Whether tags of the two sides can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The same key made both.
    Same,
    /// Two keys: equal values have different tags.
    Other,
    /// The file does not say under which key it was written.
    Unsaid,
}

impl Desired {
    /// What a saved object says.
    pub fn of_baseline(file: &str, saved: Option<Time>, object: Object) -> Self {
        let at = saved.map(Time::rfc3339).unwrap_or_default();
        let since = if at.is_empty() { String::new() } else { format!(", saved {at}") };
        Self { source: BASELINE, title: format!("baseline {file}{since}"), at, object }
    }
}

/// A saved object was whole: what differs now changed since, whoever asked for it. Defaults, the server and controllers stay what they are.
pub(super) fn since(field: &mut FieldDiff) {
    if !matches!(field.verdict, Verdict::Pending | Verdict::Drift | Verdict::Unknown) {
        return;
    }
    field.verdict = Verdict::Drift;
    field.reason = match (&field.owner, &field.live) {
        (_, None) => "gone since the baseline was saved; a removal leaves no trace of who did it".to_owned(),
        (Some(owner), Some(_)) if owner.time.is_empty() => format!("changed since the baseline was saved: {} wrote it", owner.manager),
        (Some(owner), Some(_)) => {
            format!("changed since the baseline was saved: {} wrote it, at or before {}", owner.manager, owner.time)
        }
        (None, Some(_)) => "changed since the baseline was saved; nobody is recorded as its owner".to_owned(),
    };
}

/// Tags of different keys differ although the values may be equal: then nothing is known, and what would tell is said.
pub fn unsettle(diff: &mut Diff, keys: Keys) {
    let why = match keys {
        Keys::Same => return,
        Keys::Other => "the baseline was redacted under another user's key, so whether the value changed is not known",
        Keys::Unsaid => "another value, or the same under another key: the baseline does not say under which it was redacted",
    };
    for field in diff.fields.iter_mut().filter(|field| !field.verdict.is_quiet()) {
        if let (Some(desired), Some(live)) = (&field.desired, &field.live)
            && may_be_equal(desired, live)
        {
            field.verdict = Verdict::Unknown;
            field.reason = format!("{why}; a baseline saved by the user who compares would tell");
        }
    }
}

/// Whether the two sides have tags, and nothing but their tags tells them apart.
fn may_be_equal(one: &Value, other: &Value) -> bool {
    let (one, other) = (one.to_string(), other.to_string());
    let (hidden, other_hidden) = (hide_tags(&one), hide_tags(&other));
    hidden != one && hidden == other_hidden
}

/// Approves what was already as it is now when the baseline was saved; `since` is how live differs from the baseline.
pub fn approve(diff: &mut Diff, since: &Diff, title: &str) {
    let changed = |field: &FieldDiff| {
        let touches = |other: &FieldDiff| {
            let (own, other) = (field.path.steps(), other.path.steps());
            own.iter().zip(other).all(|(a, b)| a == b)
        };
        since.fields.iter().filter(|other| other.verdict != Verdict::Equal).any(touches)
    };
    for field in &mut diff.fields {
        let deviates = matches!(field.verdict, Verdict::Drift | Verdict::Conflict | Verdict::Unknown);
        if deviates && !changed(field) {
            field.reason = format!("the {title} has it as it is now; {} without it: {}", field.verdict.id(), field.reason);
            field.verdict = Verdict::Approved;
        }
    }
}

/// Says of the differences of an object what its saved states, the oldest first, mean beside what it is now.
pub fn remember(diff: &mut Diff, saved: &[Desired], live: &Object) {
    let can_be = |field: &&mut FieldDiff| !matches!(field.verdict, Verdict::Equal | Verdict::Defaulted | Verdict::Server);
    for field in diff.fields.iter_mut().filter(can_be) {
        let mut turns = Turns::default();
        saved.iter().for_each(|saved| watched::see(&saved.object, &field.path, &mut turns, &saved.at));
        watched::see(live, &field.path, &mut turns, "");
        settle(field, &turns, &Mark::of(field.desired.as_ref()), "between baselines");
    }
}
