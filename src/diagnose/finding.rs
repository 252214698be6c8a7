//! Finding: what one judge says of one subject, with its evidence.

use std::sync::Arc;

use crate::model::{Kind, ObjectRef, Time};

use super::Facts;

/// Whether it is worth waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing will change until somebody changes something.
    Blocked,
    /// A mechanism already at work will retry or finish; its clock is named.
    Delayed,
    /// On purpose: no blocker, shown on request with its reason.
    Quiet,
}

/// What the findings of a blocker share; with the cause it is the blocker's identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    pub fn object(object: &ObjectRef) -> Self {
        Self(object.to_string().into())
    }

    pub fn image(reference: &str) -> Self {
        Self(format!("image:{reference}").into())
    }

    pub fn registry(host: &str) -> Self {
        Self(format!("registry:{host}").into())
    }

    /// `taint` as kubectl writes it: `key=value:Effect`.
    pub fn taint(taint: impl std::fmt::Display) -> Self {
        Self(format!("taint:{taint}").into())
    }

    pub fn zone(name: &str) -> Self {
        Self(format!("zone:{name}").into())
    }

    pub fn resource(name: &str) -> Self {
        Self(format!("resource:{name}").into())
    }

    /// A scheduler that answers nobody.
    pub fn scheduler(name: &str) -> Self {
        Self(format!("scheduler:{name}").into())
    }

    /// A storage driver on one node.
    pub fn driver(name: &str, node: &str) -> Self {
        Self(format!("driver:{name}@{node}").into())
    }

    pub fn nodes(cause: &str, at: Time) -> Self {
        Self(format!("nodes:{cause}@{}", at.rfc3339()).into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn text(&self) -> Arc<str> {
        self.0.clone()
    }
}

/// What a claim rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Evidence {
    pub object: ObjectRef,
    /// Field path, or `event FailedMount`.
    pub path: Box<str>,
    /// As received, or the value of the field.
    pub message: Box<str>,
    pub at: Option<Time>,
}

/// What runs out or retries, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    pub kind: ClockKind,
    /// The field or mechanism: `progressDeadlineSeconds`, `crash back-off`.
    pub what: String,
    pub at: Option<Time>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockKind {
    Deadline,
    Retry,
    Budget,
    Grace,
    Provisioning,
}

impl ClockKind {
    pub fn id(self) -> &'static str {
        match self {
            Self::Deadline => "deadline",
            Self::Retry => "retry",
            Self::Budget => "budget",
            Self::Grace => "grace",
            Self::Provisioning => "provisioning",
        }
    }
}

/// What a judge says. Made with [`Finding::blocked`], [`Finding::delayed`] or [`Finding::quiet`], then filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub verdict: Verdict,
    pub key: Key,
    /// Taken instead of `key` as soon as two keys share it.
    pub wider: Option<Key>,
    /// The object that shows it, or whose change would lift it.
    pub root: ObjectRef,
    /// The earliest time for which the objects prove that it has held without a gap.
    pub since: Option<Time>,
    pub clock: Option<Clock>,
    /// One line, plain words, without a number of pods: `registry.example.net answers 401`.
    pub title: Arc<str>,
    /// One or two sentences that say why; the numbers of pods and workloads are put before it.
    pub because: Box<str>,
    pub next: Arc<str>,
    pub facts: Facts,
    pub evidence: Vec<Arc<Evidence>>,
    /// Objects it depends on: if one of them is held up itself, this becomes its consequence.
    pub waits_on: Vec<ObjectRef>,
    /// Workloads it holds up besides the subject's own.
    pub affected: Vec<ObjectRef>,
    /// Pods that should exist and do not.
    pub missing: u32,
    /// Kinds that would have told more, and may not be read.
    pub unchecked: Vec<(Kind, String)>,
}

impl Finding {
    /// Nothing will change until somebody changes something.
    pub fn blocked(key: Key, root: ObjectRef) -> Self {
        Self::new(Verdict::Blocked, key, root)
    }

    /// A mechanism already at work will retry or finish.
    pub fn delayed(key: Key, root: ObjectRef) -> Self {
        Self::new(Verdict::Delayed, key, root)
    }

    /// On purpose; `reason` is shown on request.
    pub fn quiet(root: ObjectRef, reason: impl Into<Box<str>>) -> Self {
        let mut finding = Self::new(Verdict::Quiet, Key::object(&root), root);
        finding.because = reason.into();
        finding
    }

    pub fn new(verdict: Verdict, key: Key, root: ObjectRef) -> Self {
        Self {
            verdict,
            key,
            wider: None,
            root,
            since: None,
            clock: None,
            title: Arc::default(),
            because: Box::default(),
            next: Arc::default(),
            facts: Facts::default(),
            evidence: Vec::new(),
            waits_on: Vec::new(),
            affected: Vec::new(),
            missing: 0,
            unchecked: Vec::new(),
        }
    }

    #[must_use]
    pub fn title(mut self, text: impl Into<Arc<str>>) -> Self {
        self.title = text.into();
        self
    }

    #[must_use]
    pub fn because(mut self, text: impl Into<Box<str>>) -> Self {
        self.because = text.into();
        self
    }

    /// What to change, for a blocked finding; what to watch for, for a delayed one.
    #[must_use]
    pub fn next(mut self, text: impl Into<Arc<str>>) -> Self {
        self.next = text.into();
        self
    }

    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts alike are handed over as they are")]
    pub fn fact(mut self, name: &'static str, value: impl ToString) -> Self {
        self.facts.insert(name, value.to_string());
        self
    }

    #[must_use]
    pub fn since(mut self, at: Option<Time>) -> Self {
        self.since = at;
        self
    }

    #[must_use]
    pub fn wider(mut self, key: Key) -> Self {
        self.wider = Some(key);
        self
    }

    #[must_use]
    pub fn clock(mut self, kind: ClockKind, what: impl Into<String>, at: Option<Time>) -> Self {
        self.clock = Some(Clock { kind, what: what.into(), at });
        self
    }

    #[must_use]
    pub fn evidence(mut self, object: ObjectRef, path: impl Into<String>, message: impl Into<String>, at: Option<Time>) -> Self {
        self.evidence.push(Arc::new(Evidence { object, path: path.into().into(), message: message.into().into(), at }));
        self
    }

    /// An event about an object, quoted.
    #[must_use]
    pub fn event(self, object: ObjectRef, event: &crate::model::Event) -> Self {
        self.evidence(object, format!("event {}", event.reason), &*event.message, event.last)
    }

    #[must_use]
    pub fn waits_on(mut self, object: ObjectRef) -> Self {
        self.waits_on.push(object);
        self
    }

    #[must_use]
    pub fn affecting(mut self, workload: ObjectRef) -> Self {
        self.affected.push(workload);
        self
    }

    #[must_use]
    pub fn missing(mut self, pods: i64) -> Self {
        self.missing = u32::try_from(pods.max(0)).unwrap_or(u32::MAX);
        self
    }

    /// As it is kept: without spare room, and naming this object, which the engine names too, as the same piece of memory.
    pub(super) fn packed(mut self, same: [Option<&ObjectRef>; 2]) -> Self {
        let same = |object: &mut ObjectRef| {
            if let Some(known) = same.iter().copied().flatten().find(|known| *known == object) {
                object.clone_from(known);
            }
        };
        same(&mut self.root);
        self.evidence.iter_mut().filter_map(Arc::get_mut).for_each(|evidence| same(&mut evidence.object));
        self.affected.iter_mut().chain(&mut self.waits_on).for_each(same);
        self.facts.shrink();
        self.evidence.shrink_to_fit();
        self.waits_on.shrink_to_fit();
        self.affected.shrink_to_fit();
        self.unchecked.shrink_to_fit();
        self
    }
}
