//! Secrets and config maps that a pod mounts and that are not there.

use super::{ROW, attach, mount, mounting::Mounting};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, texts};
use crate::model::{Job, Kind, ObjectRef, Seen, Time};

pub(super) const SECRET: Cause = Cause {
    id: "mount-secret-missing",
    title: "A pod mounts a Secret that does not exist",
    explanation: "The kubelet cannot set the volume up; the pod stays in ContainerCreating. It tries again, at the longest every two minutes.",
    told_apart: "config-secret-missing is about environment variables: there the container, not the pod, waits.",
    cure: "Create the Secret in the pod's namespace, correct its name, or mark the volume optional.",
    docs: "concepts/configuration/secret/",
    judge: Judge::Pods(mounts),
    ..ROW
};

pub(super) const CONFIG_MAP: Cause = Cause {
    id: "mount-configmap-missing",
    title: "A pod mounts a ConfigMap that does not exist",
    explanation: "The kubelet cannot set the volume up; the pod stays in ContainerCreating. It tries again, at the longest every two minutes.",
    told_apart: "config-configmap-missing is about environment variables: there the container, not the pod, waits.",
    cure: "Create the ConfigMap in the pod's namespace, correct its name, or mark the volume optional.",
    docs: "concepts/configuration/configmap/",
    ..ROW
};

/// The longest pause between two tries to mount.
pub(super) const MOUNT_RETRY: i64 = 122;
/// What is installed together arrives within this time.
const ARRIVES: i64 = 30;
/// A Job that makes something for an installation is done by then.
const MAKES: i64 = 600;

/// The one look at a pod that waits for its volumes: first what objects lack, then what was said last.
fn mounts(cx: &Cx<'_>, pod: crate::model::Pod<'_>) -> Option<(&'static str, Finding)> {
    let mounting = Mounting::of(cx, pod)?;
    absent(cx, &mounting).or_else(|| attach::refused(cx, &mounting)).or_else(|| mount::told(cx, &mounting))
}

/// A Secret or ConfigMap that the pod's volumes name.
struct Wanted {
    kind: Kind,
    name: String,
    volume: String,
}

fn wanted(mounting: &Mounting<'_>) -> Vec<Wanted> {
    let mut all = Vec::new();
    for v in &mounting.pod.spec().volumes {
        let mut push = |kind, name: &str, optional: bool| {
            if !optional && !name.is_empty() {
                all.push(Wanted { kind, name: name.to_owned(), volume: v.name.to_string() });
            }
        };
        if let Some(s) = &v.secret {
            push(Kind::Secret, &s.secret_name, s.optional);
        }
        if let Some(c) = &v.config_map {
            push(Kind::ConfigMap, &c.name, c.optional);
        }
        for source in v.projected.iter().flat_map(|p| &p.sources) {
            if let Some(s) = &source.secret {
                push(Kind::Secret, &s.name, s.optional);
            }
            if let Some(c) = &source.config_map {
                push(Kind::ConfigMap, &c.name, c.optional);
            }
        }
    }
    all
}

fn absent(cx: &Cx<'_>, mounting: &Mounting<'_>) -> Option<(&'static str, Finding)> {
    let said = mounting.event.and_then(|e| texts::captures(r#"(?i)(?P<kind>secret|configmap)s? "(?P<name>[^"]+)" not found"#, &e.message));
    let told = |w: &Wanted| said.as_ref().is_some_and(|c| c["name"] == w.name && c["kind"].eq_ignore_ascii_case(w.kind.row().name));
    let all = wanted(mounting);
    let missing = all.iter().find(|w| match cx.object(w.kind, mounting.pod.namespace(), &w.name) {
        // It is there by now, and the kubelet's next try finds it: only its last word keeps it here.
        Seen::Is(_) => told(w),
        Seen::Absent => true,
        Seen::Unknown => told(w),
    })?;
    let id = if missing.kind == Kind::Secret { SECRET.id } else { CONFIG_MAP.id };
    Some((id, finding(cx, mounting, missing)))
}

fn finding(cx: &Cx<'_>, mounting: &Mounting<'_>, wanted: &Wanted) -> Finding {
    let object = ObjectRef::new(wanted.kind.row().name, mounting.pod.namespace(), &wanted.name);
    let place = mounting.workload.place();
    let (key, root) = (Key::object(&object), mounting.workload.clone());
    let retry = mounting.event.and_then(|e| e.last).or(mounting.since).map(|at| at.plus(MOUNT_RETRY));
    let what = format!("{} {}", object.kind, object.place());
    let finding = if matches!(cx.object(wanted.kind, &object.namespace, &object.name), Seen::Is(_)) {
        Finding::delayed(key, root)
            .clock(ClockKind::Retry, "the kubelet's next try", retry)
            .title(format!("{what} is there by now, the kubelet has not tried again"))
            .because(format!("{place} mounts {what}, which did not exist at the last try and does now."))
            .next("Wait for the kubelet's next try, two minutes at the longest.")
    } else if let Some(job) = maker(cx, mounting, &wanted.name) {
        Finding::delayed(key, root)
            .clock(ClockKind::Retry, "the kubelet's next try", retry)
            .title(format!("{what} is not made yet"))
            .because(format!("{place} mounts {what}, which does not exist yet; {job} runs and is likely to make it."))
            .next(format!("Wait for {job}; if it ends and {} is still missing, look at its log.", object.name))
            .fact("made by", &job)
            .waits_on(job)
    } else if mounting.since.is_some_and(|at| !cx.passed(at.plus(ARRIVES))) {
        Finding::delayed(key, root)
            .clock(ClockKind::Retry, "the kubelet's next try", retry)
            .title(format!("{what} does not exist yet"))
            .because(format!("{place} mounts {what}, which does not exist; what is installed together may still arrive."))
            .next(format!("Wait a moment, then create {what}."))
    } else {
        Finding::blocked(key, root)
            .title(format!("{what} does not exist"))
            .because(format!(
                "{place} mounts {what} as volume {}, and it does not exist: the pod stays in ContainerCreating.",
                wanted.volume
            ))
            .next(format!("Create {what}, correct its name in {place}, or mark the volume optional."))
    };
    mounting.finish(finding.fact("missing", &object).fact("volume", &wanted.volume))
}

/// A Job of the same installation that began lately and runs: its name shares its beginning with what is missing.
fn maker(cx: &Cx<'_>, mounting: &Mounting<'_>, name: &str) -> Option<ObjectRef> {
    let begun = |j: &Job| j.status.start_time.or(j.meta.created);
    let young = |at: Option<Time>| at.is_some_and(|at| !cx.passed(at.plus(MAKES)));
    let first = |text: &str| text.split(['-', '.']).next().unwrap_or(text).to_owned();
    let jobs = cx.all::<Job>(Some(mounting.pod.namespace()));
    let mut fitting: Vec<&Job> = jobs.filter(|j| j.status.active > 0 && young(begun(j)) && first(&j.meta.name) == first(name)).collect();
    // Of several the one whose name says most of what is missing.
    let makes = |j: &Job| ["create", "gen", "init", "make", "setup", "bootstrap"].iter().any(|verb| j.meta.name.contains(verb));
    fitting.sort_by_key(|j| (!makes(j), std::cmp::Reverse(shared(&j.meta.name, name)), j.meta.name.clone()));
    fitting.first().map(|j| ObjectRef::new("Job", &j.meta.namespace, &j.meta.name))
}

fn shared(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}
