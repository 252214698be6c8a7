//! What rules, baselines and logs tell of differences, as text and as JSON beside what was compared.

use serde::Serialize;

use crate::desired::{Approval, FieldDiff, Lint};

/// What is said of a whole comparison.
#[derive(Debug, Default)]
pub struct Remarks {
    /// What is wrong with accept rules and baselines; `None` if there are none.
    pub lint: Option<Vec<Lint>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Linted<'a> {
    about: &'a str,
    fault: &'static str,
    message: &'a str,
}

/// A rule that covers a difference.
#[derive(Serialize)]
pub(super) struct Accepted<'a> {
    rule: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    owner: &'a str,
    expires: Option<String>,
}

impl Remarks {
    /// Adds what is said to what is printed.
    pub(super) fn add(&self, value: &mut serde_json::Value) {
        let serde_json::Value::Object(fields) = value else { return };
        if let Some(lint) = &self.lint {
            let lint: Vec<Linted<'_>> = lint.iter().map(linted).collect();
            fields.insert("lint".to_owned(), serde_json::to_value(lint).expect("plain data with text keys can always be written"));
        }
    }
}

fn linted(lint: &Lint) -> Linted<'_> {
    Linted { about: &lint.about, fault: lint.fault.id(), message: &lint.text }
}

pub(super) fn accepted(approval: &Approval) -> Accepted<'_> {
    Accepted {
        rule: &approval.rule,
        reason: &approval.reason,
        owner: &approval.owner,
        expires: approval.expires.map(crate::model::Time::rfc3339),
    }
}

/// `spec.replicas · accepted: sale (accept.toml:3, until 2026-06-01)`: that it differs is known, and by whose word that is fine.
pub(super) fn approved(field: &FieldDiff) -> Option<String> {
    let approval = field.told.approval.as_ref().filter(|_| field.verdict == crate::desired::Verdict::Approved)?;
    let risk = field.risk.as_ref().map_or(String::new(), |risk| format!(" · {}", risk.text));
    Some(format!("{} · {}{risk}", field.path, approval.words()))
}
