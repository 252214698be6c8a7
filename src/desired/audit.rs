//! Who made a difference, by the API server's audit log: requests are taken in one by one, and of each difference only the first and the
//! last request behind it are kept. Reads no file.

use std::sync::Arc;

use serde_json::Value;

use super::body::{self, Touch};
use super::diff::FieldDiff;
use super::path::Path;
use super::turns::{Mark, Turns};
use super::verdict::Verdict;
use crate::model::Time;

/// A request that wrote, as the log tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Whom the API server knew it from.
    pub user: String,
    pub groups: Vec<String>,
    /// Whom that user acted as; "" if nobody.
    pub acted_as: String,
    pub sources: Vec<String>,
    /// What the client says that it is.
    pub agent: String,
    pub verb: String,
    pub subresource: String,
    /// As the log writes it.
    pub at: String,
    /// The name under which it wrote: that of the request, else that of its program.
    pub manager: String,
}

/// What the log holds of a request beside who made it; bodies are redacted.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    pub request: Option<Value>,
    pub response: Option<Value>,
}

/// The requests behind a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    pub by: Proof,
    pub first: Arc<Request>,
    pub last: Arc<Request>,
    pub times: usize,
}

/// How it is known that these are the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// They changed the field.
    Field,
    /// The field's manager wrote the object with them, no later than managedFields say.
    Manager,
    /// They wrote the object; which field, the log does not hold.
    Object,
}

impl Proof {
    /// The word in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Field => "field",
            Self::Manager => "manager",
            Self::Object => "object",
        }
    }
}

/// A difference that is looked for in a log.
pub struct Trace {
    path: Path,
    live: Mark,
    desired: Mark,
    is_gone: bool,
    owner: Option<(String, String, Option<Time>)>,
    known: Option<Mark>,
    turns: Turns,
    field: Span,
    /// Changes to values that it has no longer.
    before: Span,
    manager: Span,
    object: Span,
}

/// The first and the last of several.
#[derive(Default)]
struct Span(Option<(Arc<Request>, Arc<Request>, usize)>);

impl Span {
    fn add(&mut self, request: &Arc<Request>) {
        self.0 = Some(match self.0.take() {
            Some((first, _, n)) => (first, request.clone(), n + 1),
            None => (request.clone(), request.clone(), 1),
        });
    }

    fn who(&self, by: Proof) -> Option<Who> {
        self.0.as_ref().map(|(first, last, times)| Who { by, first: first.clone(), last: last.clone(), times: *times })
    }
}

/// What managedFields say is by the second, and a request takes a while.
const SLACK: i64 = 2;

impl Trace {
    /// A trace for a difference; `None` where nobody did anything.
    pub fn of(field: &FieldDiff) -> Option<Self> {
        if matches!(field.verdict, Verdict::Equal | Verdict::Defaulted | Verdict::Server) {
            return None;
        }
        let owner = field.owner.as_ref().map(|o| (o.manager.clone(), o.subresource.clone(), Time::parse(&o.time)));
        Some(Self {
            path: field.path.clone(),
            live: Mark::of(field.live.as_ref()),
            desired: Mark::of(field.desired.as_ref()),
            is_gone: field.path.steps().is_empty() && field.live.is_none(),
            owner,
            known: None,
            turns: Turns::default(),
            field: Span::default(),
            before: Span::default(),
            manager: Span::default(),
            object: Span::default(),
        })
    }

    /// Takes in a request that wrote the object, in the order of the log.
    pub fn see(&mut self, request: &Arc<Request>, bodies: &Bodies) {
        if request.subresource == "status" {
            return;
        }
        if matches!(request.verb.as_str(), "delete" | "deletecollection") {
            if self.is_gone {
                self.field.add(request);
            }
            return;
        }
        self.object.add(request);
        let is_in_time = |bound: &Option<Time>| bound.zip(Time::parse(&request.at)).is_none_or(|(bound, at)| at.since(bound) <= SLACK);
        let is_owner = |(manager, subresource, time): &(String, String, Option<Time>)| {
            *manager == request.manager && *subresource == request.subresource && is_in_time(time)
        };
        if self.owner.as_ref().is_some_and(is_owner) {
            self.manager.add(request);
        }
        self.change(request, bodies);
    }

    fn change(&mut self, request: &Arc<Request>, bodies: &Bodies) {
        let Some((after, is_named)) = self.after(request, bodies) else { return };
        let Some(mark) = after else {
            // It changed something here; into what is not told.
            return self.before.add(request);
        };
        let has_changed = self.known.as_ref().map_or(is_named, |known| *known != mark);
        self.turns.see(mark.clone(), if has_changed { &request.manager } else { "" }, &request.at);
        if has_changed && mark == self.live {
            self.field.add(request);
        } else if has_changed {
            self.before.add(request);
        }
        self.known = Some(mark);
    }

    /// What the field is after a request, where that is told, and whether the request itself named it.
    fn after(&self, request: &Request, bodies: &Bodies) -> Option<(Option<Mark>, bool)> {
        let is_scale = request.subresource == "scale";
        if is_scale && !self.path.fields().eq(["spec", "replicas"]) {
            return None;
        }
        let touch = bodies.request.as_ref().map_or(Touch::Not, |body| match request.verb.as_str() {
            "patch" => body::patched(body, &self.path),
            _ => Touch::Value(body::at(body, &self.path)),
        });
        // An update sends every field: that it has this one says nothing of who changed it.
        let is_named = touch != Touch::Not && (request.verb != "update" || is_scale);
        match (&bodies.response, touch) {
            (Some(response), _) => {
                let is_written = is_named || self.is_written(response, request);
                Some((Some(Mark::of(body::at(response, &self.path))), is_written))
            }
            (None, Touch::Value(value)) => Some((Some(Mark::of(value)), is_named)),
            (None, Touch::Something) => Some((None, true)),
            (None, Touch::Not) => None,
        }
    }

    /// Whether what the server stored says that this request wrote the field.
    fn is_written(&self, response: &Value, request: &Request) -> bool {
        let at = Time::parse(&request.at);
        super::owner::entries(response).iter().any(|entry| {
            let is_now = Time::parse(entry.time).zip(at).is_some_and(|(time, at)| time.since(at).abs() <= SLACK);
            is_now && entry.manager == request.manager && entry.subresource == request.subresource && entry.holds(&self.path)
        })
    }

    /// Tells the difference what the log said of it.
    pub fn tell(self, field: &mut FieldDiff) {
        let spans =
            [(&self.field, Proof::Field), (&self.before, Proof::Field), (&self.manager, Proof::Manager), (&self.object, Proof::Object)];
        field.told.who = spans.into_iter().find_map(|(span, by)| span.who(by));
        settle(field, &self.turns, &self.desired, "the audit log");
    }
}

/// Says what the turns of a field mean: that two write against each other, that it went wrong again. What somebody accepted stays that.
pub fn settle(field: &mut FieldDiff, turns: &Turns, desired: &Mark, seen_in: &str) {
    let can_be = matches!(field.verdict, Verdict::Drift | Verdict::Pending | Verdict::Controller | Verdict::Unknown);
    if let Some(fight) = turns.fight().filter(|_| can_be && field.told.approval.is_none()) {
        field.reason = format!("{} ({seen_in}); {} without that: {}", fight.words(), field.verdict.id(), field.reason);
        field.verdict = Verdict::Conflict;
    }
    if field.told.again.is_none() && field.verdict != Verdict::Equal {
        field.told.again = turns.relapse(desired);
    }
}

impl Who {
    /// `alice from 10.0.0.7 with kubectl/v1.36.0, patch at …; the first of 3 was by bob, at …`.
    pub fn words(&self) -> String {
        let proof = match self.by {
            Proof::Field => "",
            Proof::Manager => " (as this manager, no later than the field)",
            Proof::Object => " (wrote this object at that time; which field, the log does not say)",
        };
        let first = match self.times {
            1 => String::new(),
            n => format!("; the first of {n} by {} at {}", self.first.name(), self.first.at),
        };
        format!("{}{proof}{first}", self.last.words())
    }
}

impl Request {
    /// The user, and whom he acted as.
    pub fn name(&self) -> String {
        if self.acted_as.is_empty() { self.user.clone() } else { format!("{} as {}", self.user, self.acted_as) }
    }

    fn words(&self) -> String {
        let groups = if self.groups.is_empty() { String::new() } else { format!(" ({})", self.groups.join(", ")) };
        let from = if self.sources.is_empty() { String::new() } else { format!(" from {}", self.sources.join(", ")) };
        let agent = if self.agent.is_empty() { String::new() } else { format!(" with {}", self.agent) };
        let part = if self.subresource.is_empty() { String::new() } else { format!(" of {}", self.subresource) };
        format!("{}{groups}{from}{agent}, {}{part} at {}", self.name(), self.verb, self.at)
    }
}
