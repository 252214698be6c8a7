//! Jobs that have failed for good.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload};
use crate::model::{Condition, CronJob, Job, Kind, Meta, ObjectRef, Phase, Seen, Terminated, Time};

const ROW: Cause = Cause { docs: "concepts/workloads/controllers/job/", ..super::ROW };

pub(super) const BACKOFF_LIMIT: Cause = Cause {
    id: "job-backoff-limit",
    title: "A Job failed too often",
    explanation: "More pods (or, with restartPolicy OnFailure, containers) of the Job failed than backoffLimit allows. The Job is Failed for \
                  good; only a new one can succeed.",
    told_apart: "job-deadline ran out of time; job-pod-failure-policy was ended by a rule at the first failure of a kind.",
    cure: "Fix what the last failed pod says, then create the Job anew.",
    judge: Judge::Workload(backoff_limit),
    ..ROW
};

pub(super) const DEADLINE: Cause = Cause {
    id: "job-deadline",
    title: "A Job ran longer than it may",
    explanation: "activeDeadlineSeconds after its start the Job was ended, whatever its pods were doing; time spent pending counts.",
    told_apart: "job-backoff-limit ends a Job by failures, not by time.",
    cure: "Find what took so long, or raise activeDeadlineSeconds; then create the Job anew.",
    judge: Judge::Workload(deadline),
    ..ROW
};

pub(super) const FAILURE_POLICY: Cause = Cause {
    id: "job-pod-failure-policy",
    title: "A rule of the Job ended it at a pod's failure",
    explanation: "podFailurePolicy has a rule FailJob that matched an exit code or a condition of a failed pod.",
    told_apart: "job-backoff-limit counts failures; a rule ends the Job at the first one that matches.",
    cure: "Fix what the exit code or condition stands for, then create the Job anew.",
    judge: Judge::Workload(failure_policy),
    ..ROW
};

pub(super) const FAILED_INDEXES: Cause = Cause {
    id: "job-failed-indexes",
    title: "Indexes of a Job have failed",
    explanation: "An indexed Job with backoffLimitPerIndex has indexes that failed for good, or more of them than maxFailedIndexes allows.",
    told_apart: "job-backoff-limit counts failures of the whole Job.",
    cure: "Fix what the pods of those indexes say, then create the Job anew.",
    judge: Judge::Workload(failed_indexes),
    ..ROW
};

fn deadline(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let (job, condition) = failed(workload)?;
    let seconds = job.spec.active_deadline_seconds.map_or("activeDeadlineSeconds".to_owned(), |s| format!("{s} s"));
    let finding = (&*condition.reason == "DeadlineExceeded").then(|| ended(cx, workload, job, condition))??;
    let next = "Find what took so long, or raise activeDeadlineSeconds; then create the Job anew.";
    Some(
        finding
            .title(format!("Job {} ran longer than {seconds}", workload.reference().place()))
            .next(next)
            .fact("activeDeadlineSeconds", seconds),
    )
}

fn failure_policy(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let (job, condition) = failed(workload)?;
    let finding = (&*condition.reason == "PodFailurePolicy").then(|| ended(cx, workload, job, condition))??;
    Some(finding.title(format!("a rule of Job {} ended it: {}", workload.reference().place(), condition.message)))
}

fn failed_indexes(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let (job, condition) = failed(workload)?;
    let finding =
        matches!(&*condition.reason, "FailedIndexes" | "MaxFailedIndexesExceeded").then(|| ended(cx, workload, job, condition))??;
    Some(finding.title(format!("indexes of Job {} have failed", workload.reference().place())))
}

/// Every reason without a row of its own too: the Job is over all the same.
fn backoff_limit(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Some((job, condition)) = failed(workload) else { return backing_off(cx, workload) };
    let others = ["DeadlineExceeded", "PodFailurePolicy", "FailedIndexes", "MaxFailedIndexesExceeded"];
    if others.contains(&&*condition.reason) {
        return None;
    }
    let finding = ended(cx, workload, job, condition)?;
    let limit = limit(job);
    let title = if &*condition.reason == "BackoffLimitExceeded" {
        format!("Job {} failed for good: {}", workload.reference().place(), times(job.status.failed, limit))
    } else {
        format!("Job {} failed for good: {}", workload.reference().place(), condition.reason)
    };
    Some(finding.title(title).fact("backoffLimit", limit))
}

/// backoffLimit as the API server defaults it.
fn limit(job: &Job) -> i64 {
    job.spec.backoff_limit.unwrap_or(6)
}

fn times(failed: i64, limit: i64) -> String {
    let failures = if failed == 1 { "failure" } else { "failures" };
    format!("{failed} {failures}, backoffLimit {limit}")
}

/// FailureTarget comes first, until all pods have ended (from 1.31).
fn failed(workload: Workload<'_>) -> Option<(&Job, &Condition)> {
    let Workload::Job(job) = workload else { return None };
    let conditions = &job.status.conditions;
    let found = Condition::find(conditions, "Failed").filter(|c| c.is_true());
    found.or_else(|| Condition::find(conditions, "FailureTarget").filter(|c| c.is_true())).map(|c| (job, c))
}

/// A Job that has ended holds nothing up where another run took its place.
fn ended(cx: &Cx<'_>, workload: Workload<'_>, job: &Job, condition: &Condition) -> Option<Finding> {
    let root = workload.reference();
    let (key, goes_on) = match Aftermath::of(cx, job) {
        Aftermath::Replaced => return None,
        Aftermath::Missed => (Key::object(&cx.top_controller(Kind::Job, &job.meta)), None),
        // What this run was to do is not done by the next one: it is over for the Job, and for nothing else.
        Aftermath::NextRun(cron) => (Key::object(&root), Some(cron)),
    };
    let reason = format!("{}: {}", condition.reason, condition.message.trim_end_matches('.'));
    let rest = goes_on.map_or(String::new(), |cron| {
        format!(" CronJob {} goes on: another run comes by its schedule {}.", cron.meta.name, cron.spec.schedule)
    });
    let next = "Fix what the last failed pod says, then create the Job anew";
    let next = goes_on.map_or_else(|| format!("{next}."), |_| format!("{next}, or wait for the next run of the schedule."));
    let finding = Finding::blocked(key, root.clone())
        .because(format!("the Job is Failed ({reason}) and is not tried again.{rest}"))
        .next(next)
        .since(condition.last_transition_time)
        .fact("failed", job.status.failed)
        .fact("reason", &condition.reason)
        .evidence(root, format!("status.conditions[type={}].message", condition.kind), &*condition.message, condition.last_transition_time);
    Some(last_failure(cx, job, finding))
}

/// The container that ended its last failed pod.
fn last_failure(cx: &Cx<'_>, job: &Job, finding: Finding) -> Finding {
    let failed = cx.pods_of(&job.meta.uid).into_iter().filter(|p| p.phase() == Phase::Failed);
    let exits = failed.flat_map(|pod| pod.container_statuses().map(move |(_, s)| (pod, s)));
    let bad = exits.filter_map(|(pod, s)| Some((pod, s, s.state.terminated.as_ref().filter(|t| t.exit_code != 0)?)));
    let Some((pod, status, exit)) = bad.max_by_key(|(_, _, t)| t.finished_at) else { return finding };
    let because = format!("{} Its last pod: container {} ended with exit code {}.", finding.because, status.name, exit.exit_code);
    let path = format!("status.containerStatuses[name={}].state.terminated", status.name);
    finding.because(because).fact("container", &status.name).fact("exitCode", exit.exit_code).evidence(
        pod.reference(),
        path,
        text(exit),
        exit.finished_at,
    )
}

fn text(exit: &Terminated) -> String {
    let message = if exit.message.is_empty() { String::new() } else { format!(", message: {}", exit.message.trim()) };
    format!("exitCode: {}, reason: {}{message}", exit.exit_code, exit.reason)
}

/// What became of the work that a failed Job was to do.
enum Aftermath<'a> {
    /// A later run has done it or is at it.
    Replaced,
    /// Nobody does it.
    Missed,
    /// The schedule starts another run.
    NextRun(&'a CronJob),
}

impl<'a> Aftermath<'a> {
    fn of(cx: &Cx<'a>, job: &Job) -> Self {
        let later: Vec<&Job> = siblings(cx, job).into_iter().filter(|other| other.meta.created > job.meta.created).collect();
        let owner = job.meta.controller().filter(|o| &*o.kind == "CronJob");
        let cron = owner.map(|o| cx.get::<CronJob>(&job.meta.namespace, &o.name));
        match cron {
            // Of a schedule the newest run speaks.
            Some(_) if !later.is_empty() => Self::Replaced,
            Some(Seen::Is(cron)) if cron.status.last_successful_time > job.meta.created => Self::Replaced,
            Some(Seen::Is(cron)) if !cron.spec.suspend && has_worked(cx, job, cron) => Self::NextRun(cron),
            Some(_) => Self::Missed,
            None if later.into_iter().any(|other| !is_failed(other)) => Self::Replaced,
            None => Self::Missed,
        }
    }
}

/// Whether the last run before this one succeeded: then one failure is no pattern yet.
fn has_worked(cx: &Cx<'_>, job: &Job, cron: &CronJob) -> bool {
    let before = siblings(cx, job).into_iter().filter(|other| other.meta.created < job.meta.created).max_by_key(|other| other.meta.created);
    cron.status.last_successful_time.is_some() && !before.is_some_and(is_failed)
}

fn is_failed(job: &Job) -> bool {
    Condition::find(&job.status.conditions, "Failed").is_some_and(Condition::is_true)
}

/// Other Jobs for the same work: of the same owner, or, without one, with the same labels of their own.
fn siblings<'a>(cx: &Cx<'a>, job: &Job) -> Vec<&'a Job> {
    let same: Box<dyn Fn(&Job) -> bool> = match job.meta.controller() {
        Some(owner) => Box::new(|other: &Job| other.meta.controller().is_some_and(|o| o.uid == owner.uid)),
        None => Box::new(|other: &Job| !own_labels(&job.meta).is_empty() && own_labels(&other.meta) == own_labels(&job.meta)),
    };
    cx.all::<Job>(Some(&job.meta.namespace)).filter(|other| other.meta.name != job.meta.name && same(other)).collect()
}

/// Labels without those that the controller adds, which name the single Job.
fn own_labels(meta: &Meta) -> Vec<(&str, &str)> {
    let made = |key: &str| matches!(key.rsplit('/').next().unwrap_or(key), "controller-uid" | "job-name");
    meta.labels.iter().filter(|(k, _)| !made(k)).collect()
}

/// Between a failure and the next pod: 10 s doubled with each failure, up to 10 min (job_controller.go).
fn backing_off(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Job(job) = workload else { return None };
    let status = &job.status;
    let over = status.conditions.iter().any(|c| matches!(&*c.kind, "Complete" | "SuccessCriteriaMet") && c.is_true());
    if over || job.spec.suspend || status.failed == 0 || status.active > 0 || status.terminating > 0 {
        return None;
    }
    let root: ObjectRef = workload.reference();
    let last = last_exit(cx, job);
    let pause = 10_i64.saturating_mul(1 << (status.failed - 1).clamp(0, 6)).min(600);
    let finding = Finding::delayed(Key::object(&root), root.clone())
        .clock(ClockKind::Retry, "Job back-off", last.map(|at| at.plus(pause)))
        .title(format!("Job {} waits before its next try: {}", root.place(), times(status.failed, limit(job))))
        .because(format!("{} tries failed, {} are allowed; the next pod comes after the back-off.", status.failed, limit(job)))
        .next("Look at the pod that failed last: the same cause will fail the next.")
        .since(last)
        .fact("failed", status.failed)
        .fact("backoffLimit", limit(job))
        .evidence(root, "status.failed", status.failed.to_string(), last);
    Some(last_failure(cx, job, finding))
}

fn last_exit(cx: &Cx<'_>, job: &Job) -> Option<Time> {
    let pods = cx.pods_of(&job.meta.uid);
    let exits = pods.iter().flat_map(|p| p.container_statuses()).filter_map(|(_, s)| s.state.terminated.as_ref()?.finished_at);
    exits.max()
}
