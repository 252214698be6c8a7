//! What rules, baselines and logs tell of differences, as text and as JSON beside what was compared.

use serde::Serialize;

use crate::desired::audit::{Request, Who};
use crate::desired::{Approval, FieldDiff, Lint, Relapse};
use crate::model::Time;

/// What is said of a whole comparison.
#[derive(Debug, Default)]
pub struct Remarks {
    /// What is wrong with accept rules and baselines; `None` if there are none.
    pub lint: Option<Vec<Lint>>,
    /// How far the audit logs reach; `None` if there are none.
    pub log: Option<Reach>,
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
        if let Some(log) = &self.log {
            fields
                .insert("auditLog".to_owned(), serde_json::to_value(log.wire()).expect("plain data with text keys can always be written"));
        }
    }
}

fn linted(lint: &Lint) -> Linted<'_> {
    Linted { about: &lint.about, fault: lint.fault.id(), message: &lint.text }
}

pub(super) fn accepted(approval: &Approval) -> Accepted<'_> {
    Accepted { rule: &approval.rule, reason: &approval.reason, owner: &approval.owner, expires: approval.expires.map(Time::rfc3339) }
}

/// `spec.replicas · accepted: sale (accept.toml:3, until 2026-06-01)`: that it differs is known, and by whose word that is fine.
pub(super) fn approved(field: &FieldDiff) -> Option<String> {
    let approval = field.told.approval.as_ref().filter(|_| field.verdict == crate::desired::Verdict::Approved)?;
    let risk = field.risk.as_ref().map_or(String::new(), |risk| format!(" · {}", risk.text));
    Some(format!("{} · {}{risk}", field.path, approval.words()))
}

/// From when to when the audit logs reach, and what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// As the log writes it; "" if it holds nothing.
    pub from: String,
    pub to: String,
    pub events: usize,
    /// Lines that are no events, or too long.
    pub unread: usize,
    /// Some events have bodies: then it is known which field was written.
    pub has_bodies: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reached<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    events: usize,
    unread: usize,
    has_bodies: bool,
}

impl Reach {
    /// Takes in the time of an event.
    pub fn take(&mut self, at: &str, has_bodies: bool) {
        self.events += 1;
        self.has_bodies |= has_bodies;
        let Some(time) = Time::parse(at) else { return };
        if Time::parse(&self.from).is_none_or(|from| time < from) {
            at.clone_into(&mut self.from);
        }
        if Time::parse(&self.to).is_none_or(|to| time >= to) {
            at.clone_into(&mut self.to);
        }
    }

    fn wire(&self) -> Reached<'_> {
        let said = |time: &'_ String| !time.is_empty();
        Reached {
            from: Some(self.from.as_str()).filter(|_| said(&self.from)),
            to: Some(self.to.as_str()).filter(|_| said(&self.to)),
            events: self.events,
            unread: self.unread,
            has_bodies: self.has_bodies,
        }
    }

    /// `The audit log reaches from … to …: 1,204 events.`
    fn words(&self) -> String {
        let unread = if self.unread == 0 { String::new() } else { format!("; {} lines of it could not be read", self.unread) };
        if self.from.is_empty() {
            return format!("The audit log holds no event{unread}.");
        }
        let bodies = if self.has_bodies { "" } else { "; it has no bodies: it says who wrote an object, not which field" };
        format!("The audit log reaches from {} to {}: {} events{bodies}{unread}.", self.from, self.to, self.events)
    }
}

/// The requests behind a difference.
#[derive(Serialize)]
pub(super) struct Behind<'a> {
    by: &'static str,
    times: usize,
    first: Asked<'a>,
    last: Asked<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    user: &'a str,
    #[serde(rename = "as", skip_serializing_if = "str::is_empty")]
    acted_as: &'a str,
    groups: &'a [String],
    #[serde(rename = "sourceIPs")]
    sources: &'a [String],
    user_agent: &'a str,
    verb: &'a str,
    subresource: &'a str,
    manager: &'a str,
    at: &'a str,
}

pub(super) fn behind(who: &Who) -> Behind<'_> {
    Behind { by: who.by.id(), times: who.times, first: asked(&who.first), last: asked(&who.last) }
}

fn asked(request: &Request) -> Asked<'_> {
    Asked {
        user: &request.user,
        acted_as: &request.acted_as,
        groups: &request.groups,
        sources: &request.sources,
        user_agent: &request.agent,
        verb: &request.verb,
        subresource: &request.subresource,
        manager: &request.manager,
        at: &request.at,
    }
}

/// That a field had been put right before.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Relapsed<'a> {
    times: usize,
    by: &'a str,
    at: &'a str,
    righted_by: &'a str,
    righted_at: &'a str,
}

pub(super) fn relapsed(relapse: &Relapse) -> Relapsed<'_> {
    Relapsed { times: relapse.times, by: &relapse.by, at: &relapse.last, righted_by: &relapse.righted_by, righted_at: &relapse.righted }
}

impl Remarks {
    /// Who made a difference, where a log was asked, and that it is not the first time.
    pub(super) fn lines(&self, field: &FieldDiff) -> Vec<String> {
        let who = match (&field.told.who, &self.log) {
            (Some(who), _) => Some(format!("who: {}", who.words())),
            (None, Some(log)) => Some(format!("who: {}", nobody(field, log))),
            (None, None) => None,
        };
        who.into_iter().chain(field.told.again.as_ref().map(Relapse::words)).collect()
    }

    /// What is said below everything.
    pub(super) fn footer(&self) -> Option<String> {
        self.log.as_ref().map(Reach::words)
    }
}

fn nobody(field: &FieldDiff, log: &Reach) -> String {
    let written = field.owner.as_ref().and_then(|owner| Time::parse(&owner.time));
    match written.zip(Time::parse(&log.from)) {
        Some((written, from)) if written < from => format!("not in the audit log, which begins later, at {}", log.from),
        Some(_) | None => "not in the audit log".to_owned(),
    }
}
