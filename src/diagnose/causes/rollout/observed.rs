//! Controllers that do not look: a change that nobody took notice of, a Job that nobody started.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload};
use crate::model::{ObjectRef, Time};

pub(super) const NOT_OBSERVING: Cause = Cause {
    id: "controller-not-observing",
    title: "The controller has not looked at the newest change",
    explanation: "metadata.generation is ahead of status.observedGeneration: the object was changed and its controller has not acted since. \
                  That takes milliseconds; when it lasts, kube-controller-manager does not run or does not get to this object.",
    told_apart: "A rollout that is slow has been observed: its conditions and ReplicaSets are those of the newest generation.",
    cure: "Look at kube-controller-manager: its lease, its pod, its certificate.",
    docs: "concepts/architecture/controller/",
    judge: Judge::Workload(not_observing),
    ..super::ROW
};

pub(super) const JOB_NOT_STARTED: Cause = Cause {
    id: "job-not-started",
    title: "Nobody has started the Job",
    explanation: "A Job that is not suspended gets a start time from its controller at once. Without one, kube-controller-manager does not \
                  work, or spec.managedBy hands the Job to another controller that does not.",
    told_apart: "job-suspended waits on purpose; a Job whose pods are refused has a start time.",
    cure: "Look at the controller that spec.managedBy names, else at kube-controller-manager.",
    docs: "concepts/workloads/controllers/job/",
    judge: Judge::Workload(job_not_started),
    ..super::ROW
};

/// Controllers observe within milliseconds; only what lasts is worth a word.
const AT_ONCE: i64 = 10;
/// Longer than another instance needs to take over the lease.
const TAKE_OVER: i64 = 60;

fn lease() -> ObjectRef {
    ObjectRef::new("Lease", "kube-system", "kube-controller-manager")
}

fn not_observing(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let (meta, observed) = (workload.meta(), workload.observed_generation()?);
    let changed = meta.changed.or(if meta.generation <= 1 { meta.created } else { None });
    if observed >= meta.generation {
        return None;
    }
    let root = workload.reference();
    let finding = ignored(cx, root.clone(), changed)?;
    Some(
        finding
            .title(format!("nobody has acted on the newest change of {}", root.place()))
            .because(format!(
                "{} is at generation {} and its controller has observed {observed}: kube-controller-manager does not act on it.",
                root.place(),
                meta.generation
            ))
            .next("Look at kube-controller-manager: its lease, its pod, its certificate and its access to the API.")
            .missing(workload.desired() - workload.current())
            .fact("generation", meta.generation)
            .fact("observedGeneration", observed)
            .evidence(root.clone(), "metadata.generation", meta.generation.to_string(), changed)
            .evidence(root, "status.observedGeneration", observed.to_string(), None),
    )
}

fn job_not_started(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Job(job) = workload else { return None };
    if job.spec.suspend || job.status.start_time.is_some() || !job.status.conditions.is_empty() {
        return None;
    }
    let root = workload.reference();
    let own = matches!(&*job.spec.managed_by, "" | "kubernetes.io/job-controller");
    let by = if own { "kube-controller-manager" } else { &job.spec.managed_by };
    let finding = ignored(cx, root.clone(), job.meta.created)?;
    let finding = finding
        .title(format!("{by} has not started {}", root.place()))
        .because(format!("{} is not suspended and has no start time: {by} has not taken it up.", root.place()))
        .next(format!("Look at {by}."))
        .missing(workload.desired())
        .fact("managedBy", by)
        .evidence(root, "status.startTime", "absent", job.meta.created);
    Some(if own { finding } else { Finding { waits_on: Vec::new(), wider: None, ..finding } })
}

/// What the controller manager should have done since, and has not; many such objects are one finding.
fn ignored(cx: &Cx<'_>, root: ObjectRef, changed: Option<Time>) -> Option<Finding> {
    if changed.is_some_and(|at| !cx.passed(at.plus(AT_ONCE))) {
        return None;
    }
    let waited = changed.filter(|at| !cx.passed(at.plus(TAKE_OVER)));
    let finding = match waited {
        Some(at) => Finding::delayed(Key::object(&root), root).clock(ClockKind::Retry, "leader election", Some(at.plus(TAKE_OVER))),
        None => Finding::blocked(Key::object(&root), root),
    };
    Some(finding.since(changed).wider(Key::object(&lease())).waits_on(lease()))
}
