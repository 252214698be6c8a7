//! CronJobs that start no run.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload};
use crate::model::{ActiveJob, Condition, CronJob, Event, Job, ObjectRef, Seen};

const ROW: Cause = Cause { docs: "concepts/workloads/controllers/cron-jobs/", ..super::ROW };

pub(super) const FORBID_ACTIVE: Cause = Cause {
    id: "cronjob-forbid-active",
    title: "A CronJob skips runs because of the one before",
    explanation: "With concurrencyPolicy Forbid no run is started while status.active names one. The named Job may really run, or it may \
                  have ended and the entry is stale: then no run is ever started again.",
    told_apart: "The event is the same in both cases; only the Job itself tells which it is.",
    cure: "Stale: delete the Job that status.active names. Running: shorten it, or allow more time between runs.",
    symptom: true,
    judge: Judge::Workload(forbid_active),
    ..ROW
};

pub(super) const BAD_SCHEDULE: Cause = Cause {
    id: "cronjob-bad-schedule",
    title: "A CronJob's schedule cannot be read",
    explanation: "The schedule does not parse, or the time zone is not known to the controller: no run is ever started.",
    told_apart: "A suspended CronJob is told to wait; this one cannot know when.",
    cure: "Correct spec.schedule or spec.timeZone.",
    judge: Judge::Workload(bad_schedule),
    ..ROW
};

/// The controller takes a finished Job off the list within seconds.
const NOTICED: i64 = 60;

fn forbid_active(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::CronJob(cron) = workload else { return None };
    if &*cron.spec.concurrency_policy != "Forbid" {
        return None;
    }
    let namespace = &cron.meta.namespace;
    let skipped = cx.newest_event(&workload.reference(), &["JobAlreadyActive"]);
    cron.status.active.iter().find_map(|active| match cx.get::<Job>(namespace, &active.name) {
        Seen::Is(job) => match finished(job) {
            Some(end) => stale(cx, workload, job, end, skipped),
            None => busy(cx, cron, workload, job, skipped?),
        },
        Seen::Absent | Seen::Unknown => unseen(workload, active, skipped?),
    })
}

fn finished(job: &Job) -> Option<&Condition> {
    job.status.conditions.iter().find(|c| matches!(&*c.kind, "Complete" | "Failed") && c.is_true())
}

fn forbids(finding: Finding, workload: Workload<'_>, job: &str) -> Finding {
    finding.fact("active", job).fact("concurrencyPolicy", "Forbid").evidence(workload.reference(), "status.active[].name", job, None)
}

fn stale(cx: &Cx<'_>, workload: Workload<'_>, job: &Job, end: &Condition, skipped: Option<&Event>) -> Option<Finding> {
    let ended = end.last_transition_time.or(job.status.completion_time);
    if ended.is_some_and(|at| !cx.passed(at.plus(NOTICED))) {
        return None;
    }
    let root = workload.reference();
    let (name, how) = (&job.meta.name, end.kind.to_lowercase());
    let reference = ObjectRef::new("Job", &job.meta.namespace, name);
    let finding = Finding::blocked(Key::object(&root), root.clone())
        .title(format!("{} starts no run: it takes {name}, which is {how}, for running", root.place()))
        .because(format!("concurrencyPolicy is Forbid and status.active still names Job {name}, which is {how}: it has ended and is not running, yet no run is started."))
        .next(format!("Delete Job {name}: kubectl -n {} delete job {name}.", root.namespace))
        .since(ended)
        .evidence(reference, format!("status.conditions[type={}].status", end.kind), "True", ended);
    let finding = skipped.iter().fold(finding, |f, e| f.event(root.clone(), e));
    Some(forbids(finding, workload, name))
}

/// A run that is going on is no trouble by itself: only once another was skipped for it there is something to say.
fn busy(cx: &Cx<'_>, cron: &CronJob, workload: Workload<'_>, job: &Job, skipped: &Event) -> Option<Finding> {
    if skipped.last < job.meta.created {
        return None;
    }
    let root = workload.reference();
    let name = &job.meta.name;
    let usual = usual_length(cx, cron).map(|s| format!(" Earlier runs took up to {} min.", (s + 59) / 60)).unwrap_or_default();
    let finding = Finding::delayed(Key::object(&root), root.clone())
        .clock(ClockKind::Retry, format!("end of Job {name}, then schedule {}", cron.spec.schedule), None)
        .title(format!("{} skips runs while {name} is going on", root.place()))
        .because(format!(
            "concurrencyPolicy is Forbid and Job {name} is still running, so runs of schedule {} are skipped.{usual}",
            cron.spec.schedule
        ))
        .next(format!("Wait for Job {name}; if runs regularly overlap, give the schedule more time or change concurrencyPolicy."))
        .since(skipped.first)
        .fact("schedule", &cron.spec.schedule)
        .event(root, skipped);
    Some(forbids(finding, workload, name))
}

fn usual_length(cx: &Cx<'_>, cron: &CronJob) -> Option<i64> {
    let lengths = cx.owned::<Job>(&cron.meta.uid).into_iter().filter_map(|j| Some(j.status.completion_time?.since(j.status.start_time?)));
    lengths.max()
}

/// The Job cannot be looked at, so only the controller's word tells that runs are skipped.
fn unseen(workload: Workload<'_>, active: &ActiveJob, skipped: &Event) -> Option<Finding> {
    let root = workload.reference();
    let finding = Finding::delayed(Key::object(&root), root.clone())
        .clock(ClockKind::Retry, format!("end of Job {}", active.name), None)
        .title(format!("{} skips runs because of {}", root.place(), active.name))
        .because(format!("concurrencyPolicy is Forbid and status.active names Job {}, which cannot be looked at.", active.name))
        .next(format!("Look whether Job {} really runs; if not, delete it.", active.name))
        .since(skipped.first)
        .event(root, skipped);
    Some(forbids(finding, workload, &active.name))
}

const UNREADABLE: &[&str] =
    &["UnparseableSchedule", "UnParseableCronJobSchedule", "InvalidSchedule", "UnknownTimeZone", "UnsupportedSchedule"];

fn bad_schedule(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::CronJob(cron) = workload else { return None };
    let event = cx.newest_event(&workload.reference(), UNREADABLE)?;
    let corrected = cron.meta.changed.zip(event.last).is_some_and(|(changed, last)| changed > last);
    let started = cron.status.last_schedule_time.zip(event.last).is_some_and(|(started, last)| started > last);
    // A schedule with a time zone inside it is only warned about, and runs.
    if corrected || started || &*event.reason == "UnsupportedSchedule" {
        return None;
    }
    let root = workload.reference();
    Some(
        Finding::blocked(Key::object(&root), root.clone())
            .title(format!("the schedule of {} cannot be read: {}", root.place(), cron.spec.schedule))
            .because(format!("the controller cannot read when to start {}: {}.", root.place(), event.message.trim_end_matches('.')))
            .next("Correct spec.schedule or spec.timeZone.")
            .since(event.first)
            .fact("schedule", &cron.spec.schedule)
            .fact("timeZone", &cron.spec.time_zone)
            .evidence(root.clone(), "spec.schedule", &*cron.spec.schedule, None)
            .event(root, event),
    )
}
