//! Refusal: what the API server last answered a controller that wanted to make a pod (or what comes before one), as far as it still stands.

use crate::diagnose::{ClockKind, Cx, Finding, Key, Workload, texts};
use crate::model::{Condition, Event, Job, Kind, Meta, ObjectRef, Read, ReplicaSet, Time};

/// The newest refusal that keeps a workload short, and where it is written.
pub struct Refusal<'a> {
    /// As received: the controller's prefix is still there.
    pub message: &'a str,
    /// Who was refused: a Deployment's refusals are on its ReplicaSet.
    pub object: ObjectRef,
    pub path: String,
    pub at: Option<Time>,
    pub first: Option<Time>,
    /// Pods that should exist and do not.
    pub lacking: i64,
    /// The longest pause between two tries of this controller, in seconds.
    longest_pause: i64,
}

/// A controller's object that makes pods, short of some.
struct Maker<'a> {
    object: ObjectRef,
    meta: &'a Meta,
    lacking: i64,
    /// Holds while the last try failed; only ReplicaSets and Deployments have one.
    condition: Option<(&'static str, &'a Condition)>,
    /// When it got what it wanted last.
    served: Option<Time>,
}

/// 5 ms doubled up to this: the queues of ReplicaSet, StatefulSet, DaemonSet and CronJob controllers
/// (client-go `DefaultTypedControllerRateLimiter`).
const LONGEST_PAUSE: i64 = 1000;
/// 1 s doubled up to this (job_controller.go `MaxJobApiBackOff`).
const LONGEST_PAUSE_OF_JOBS: i64 = 60;

/// The refusal that keeps a workload short; `None` while it is not short, or while nothing shows that a refusal still stands.
pub fn of<'a>(cx: &Cx<'a>, workload: Workload<'a>) -> Option<Refusal<'a>> {
    let meta = workload.meta();
    cx.unless_lacking(Read::object(workload.kind(), &meta.namespace, &meta.name), || find(cx, workload))
}

fn find<'a>(cx: &Cx<'a>, workload: Workload<'a>) -> Option<Refusal<'a>> {
    let makers = makers(cx, workload);
    let mut refusals: Vec<Refusal<'a>> = makers.iter().filter_map(|maker| refusal(cx, maker)).collect();
    let lacking = refusals.iter().map(|r| r.lacking).sum();
    refusals.sort_by_key(|r| r.at);
    let mut newest = refusals.pop()?;
    newest.lacking = lacking;
    Some(newest)
}

impl Refusal<'_> {
    /// The part after the controller's own words: the API server's answer.
    pub fn answer(&self) -> &str {
        texts::capture(PREFIX, self.message).unwrap_or(self.message)
    }

    /// The refusal as evidence of a finding, with the time since when it holds and the pods that it costs.
    pub fn prove(&self, finding: Finding) -> Finding {
        let finding = finding.since(self.first).missing(self.lacking);
        finding.evidence(self.object.clone(), self.path.clone(), self.message, self.at)
    }

    /// What refused has changed since: the controller's next try goes through.
    pub fn lifted(&self, cx: &Cx<'_>, key: Key, root: ObjectRef, why: &str) -> Finding {
        let minutes = self.longest_pause / 60;
        let finding = Finding::delayed(key, root)
            .clock(ClockKind::Retry, "create back-off of the controller", self.next_try(cx))
            .because(format!("{why}; its controller tries again on its own, at the latest {minutes} min after the refusal."))
            .next(format!("Wait for the next try, or bring it forward: any change of {} {} does.", self.object.kind, self.object.place()));
        self.prove(finding)
    }

    /// When the controller tries next. Pauses double, so the next is about as long as all before it together.
    pub fn next_try(&self, cx: &Cx<'_>) -> Option<Time> {
        let last = self.at?;
        let so_far = self.first.map_or(self.longest_pause, |first| last.since(first));
        let likely = last.plus(so_far.clamp(1, self.longest_pause));
        Some(if cx.passed(likely) { last.plus(self.longest_pause) } else { likely })
    }

    /// Whether every try for at least `seconds` ended so: what fails now and then has gone through in between.
    pub fn lasts(&self, seconds: i64) -> bool {
        self.first.zip(self.at).is_some_and(|(first, last)| last.since(first) >= seconds)
    }
}

const PREFIX: &str = r"(?i)^(?:error creating(?: job)?: |create (?:pod|claim) \S+ (?:for pod \S+ )?in statefulset \S+ failed error: |failed to create new replica set \S+: )(.+)$";

/// Who makes the pods that are missing.
fn makers<'a>(cx: &Cx<'a>, workload: Workload<'a>) -> Vec<Maker<'a>> {
    let own = |lacking, condition| Maker { object: workload.reference(), meta: workload.meta(), lacking, condition, served: None };
    match workload {
        Workload::Deployment(d) => {
            let sets = cx.owned::<ReplicaSet>(&d.meta.uid);
            let mut makers: Vec<Maker<'a>> = sets.iter().filter_map(|rs| short_set(rs)).collect();
            makers.extend(workload.condition("Progressing").filter(|c| &*c.reason == NO_SET).map(|c| own(0, Some(("Progressing", c)))));
            if sets.is_empty() {
                makers.extend(failure(workload.conditions()).map(|c| own(workload.desired() - workload.current(), Some(c))));
            }
            makers
        }
        Workload::ReplicaSet(rs) => short_set(rs).into_iter().collect(),
        Workload::StatefulSet(_) | Workload::DaemonSet(_) | Workload::Job(_) => {
            let lacking = workload.desired() - workload.current();
            if lacking > 0 { vec![own(lacking, None)] } else { Vec::new() }
        }
        Workload::CronJob(c) if c.spec.suspend => Vec::new(),
        Workload::CronJob(c) => vec![Maker { served: c.status.last_schedule_time, ..own(0, None) }],
    }
}

/// The reason that a Deployment gives when its ReplicaSet itself is refused.
const NO_SET: &str = "ReplicaSetCreateError";

fn short_set<'a>(set: &'a ReplicaSet) -> Option<Maker<'a>> {
    let lacking = set.spec.replicas.unwrap_or(1) - set.status.replicas;
    let object = ObjectRef::new("ReplicaSet", &set.meta.namespace, &set.meta.name);
    (lacking > 0).then(|| Maker { object, meta: &set.meta, lacking, condition: failure(&set.status.conditions), served: None })
}

fn failure(conditions: &[Condition]) -> Option<(&'static str, &Condition)> {
    Condition::find(conditions, "ReplicaFailure").filter(|c| c.is_true() && &*c.reason != "FailedDelete").map(|c| ("ReplicaFailure", c))
}

/// ReplicaFailure keeps the first text for as long as it stands: it proves since when, an event tells the newest.
fn refusal<'a>(cx: &Cx<'a>, maker: &Maker<'a>) -> Option<Refusal<'a>> {
    let event = cx.newest_event(&maker.object, &["FailedCreate", NO_SET]).filter(|e| stands(cx, maker, e));
    let since = maker.condition.and_then(|(_, c)| c.last_transition_time);
    let (message, path, at) = match (event, maker.condition) {
        (Some(e), _) => (&*e.message, format!("event {}", e.reason), e.last),
        (None, Some((kind, c))) => (&*c.message, format!("status.conditions[type={kind}].message"), c.last_update_time.or(since)),
        (None, None) => return None,
    };
    let longest_pause = if maker.object.kind == "Job" { LONGEST_PAUSE_OF_JOBS } else { LONGEST_PAUSE };
    let first = since.or(event.and_then(|e| e.first));
    Some(Refusal { message, object: maker.object.clone(), path, at, first, lacking: maker.lacking, longest_pause })
}

/// Whether nothing shows that a later try went through: an event alone never proves that something is still so.
fn stands(cx: &Cx<'_>, maker: &Maker<'_>, event: &Event) -> bool {
    if maker.condition.is_some() {
        return true;
    }
    let later = |at: Option<Time>| at.zip(event.last).is_some_and(|(at, last)| at > last);
    let made = cx.pods_of(&maker.meta.uid).into_iter().any(|p| later(p.created()) || event_names(event, &p.name()));
    let started = cx.owned::<Job>(&maker.meta.uid).iter().any(|j| later(j.meta.created));
    let claimed = texts::capture(r"(?i)\bclaim (\S+) for pod ", &event.message)
        .is_some_and(|claim| matches!(cx.object(Kind::PersistentVolumeClaim, &maker.meta.namespace, claim), crate::model::Seen::Is(_)));
    !made && !started && !claimed && !later(maker.served)
}

/// `create Pod web-0 in StatefulSet web failed`: that pod is there now.
fn event_names(event: &Event, pod: &str) -> bool {
    texts::capture(r"(?i)^create pod (\S+) in statefulset ", &event.message) == Some(pod)
}
