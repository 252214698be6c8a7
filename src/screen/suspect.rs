//! A change beside what fails: of an object's differences, the one that touches the failing path or was written just before it began;
//! where nothing drifted, what the last rollout changed. What was written after it began, or long before and elsewhere, is not named.

use super::Scene;
use super::ages::Ages;
use super::diff::values;
use super::words::plural;
use crate::app::Document;
use crate::desired::{Comparison, FieldDiff, Step, Verdict, written};
use crate::diagnose::{Blocker, Layer};
use crate::model::{ObjectRef, Time};
use crate::page::Line;

/// Fields that can be behind what stops in a layer, and what began there.
const TOUCHING: &[(Layer, &str, &[&str])] = &[
    (
        Layer::Admission,
        "pods were refused",
        &[
            "securityContext",
            "hostNetwork",
            "hostPID",
            "hostIPC",
            "hostPath",
            "hostPort",
            "resources",
            "hard",
            "limits",
            "rules",
            "webhooks",
            "validations",
            "serviceAccountName",
            "priorityClassName",
            "replicas",
            "labels",
        ],
    ),
    (
        Layer::Scheduling,
        "pods stayed pending",
        &[
            "nodeSelector",
            "nodeName",
            "affinity",
            "tolerations",
            "taints",
            "unschedulable",
            "resources",
            "replicas",
            "topologySpreadConstraints",
            "schedulerName",
            "schedulingGates",
            "priorityClassName",
            "hostPort",
            "volumes",
        ],
    ),
    (Layer::Storage, "volumes were waited for", &["volumes", "volumeMounts", "volumeClaimTemplates", "storageClassName"]),
    (Layer::Image, "pulls failed", &["image", "imagePullSecrets", "imagePullPolicy", "serviceAccountName"]),
    (Layer::Init, "it waited in init", &["initContainers", "volumes"]),
    (
        Layer::Runtime,
        "the crashes began",
        &[
            "image",
            "command",
            "args",
            "env",
            "envFrom",
            "resources",
            "securityContext",
            "volumeMounts",
            "volumes",
            "livenessProbe",
            "startupProbe",
            "lifecycle",
            "serviceAccountName",
            "data",
        ],
    ),
    (
        Layer::Readiness,
        "it was not ready",
        &[
            "readinessProbe",
            "startupProbe",
            "livenessProbe",
            "readinessGates",
            "ports",
            "selector",
            "command",
            "args",
            "env",
            "envFrom",
            "image",
            "resources",
            "data",
        ],
    ),
    (
        Layer::Rollout,
        "the rollout stopped",
        &[
            "strategy",
            "updateStrategy",
            "paused",
            "suspend",
            "progressDeadlineSeconds",
            "minReadySeconds",
            "replicas",
            "image",
            "resources",
        ],
    ),
    (Layer::Node, "the node was lost", &["taints", "unschedulable"]),
    (
        Layer::Termination,
        "it stayed",
        &["finalizers", "terminationGracePeriodSeconds", "lifecycle", "minAvailable", "maxUnavailable", "deletionProtection"],
    ),
    (Layer::ControlPlane, "it failed", &["webhooks", "failurePolicy", "caBundle", "service", "replicas"]),
];

/// So long before it began a change is worth naming, in seconds.
const BEFORE: i64 = 600;
/// What began is seen by a controller that needs a while, and times are whole seconds.
const AFTER: i64 = 5;

/// When a change was written, seen from what began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// So many seconds before; a little later still counts, since who sees it needs a while.
    Just(i64),
    LongBefore,
    /// One of the two times is not told.
    Unknown,
    After,
}

/// A change and what it may be behind.
struct Suspect<'a> {
    field: &'a FieldDiff,
    blocker: &'a Blocker,
    weight: usize,
    when: When,
}

/// `nodeSelector: absent → pool: gpu, by kubectl-edit at 11:41:40, 20s before pods stayed pending`; nothing where no change is known
/// that has to do with it.
pub(super) fn line(scene: &Scene<'_>, object: &ObjectRef, blockers: &[&Blocker], ages: &Ages) -> Option<Line> {
    let comparison = scene.app.documents.get(&object.to_string(), Document::Diff)?.comparison()?;
    let loud: Vec<&FieldDiff> = comparison.against.first()?.diff.fields.iter().filter(|field| field.verdict.is_loud()).collect();
    let drift = worst(loud.iter().copied(), blockers);
    let suspect = drift.or_else(|| rollout(comparison, blockers))?;
    let more = if suspect.field.verdict.is_loud() { loud.len() - 1 } else { 0 };
    let line = said(&suspect, ages).dim(before_that(comparison, suspect.field));
    let line = if more > 0 { line.dim(format!("; and {more} more")) } else { line };
    Some(line.accent("  d"))
}

fn worst<'a>(fields: impl Iterator<Item = &'a FieldDiff>, blockers: &[&'a Blocker]) -> Option<Suspect<'a>> {
    let suspects = fields.flat_map(|field| blockers.iter().filter_map(move |blocker| suspect(field, blocker)));
    // The first of those that weigh as much: differences come worst first.
    suspects.reduce(|best, next| if next.weight > best.weight { next } else { best })
}

/// A rollout is no drift, but it is what changed: named only if it touches what fails and came just before it.
fn rollout<'a>(comparison: &'a Comparison, blockers: &[&'a Blocker]) -> Option<Suspect<'a>> {
    let before = comparison.against.iter().find(|against| against.source == "revision")?;
    let changed = before.diff.fields.iter().filter(|field| matches!(field.verdict, Verdict::Unknown) || field.verdict.is_loud());
    worst(changed, blockers).filter(|suspect| suspect.weight == MOST)
}

/// A change that touches the failing path and was written just before it.
const MOST: usize = 5;

fn suspect<'a>(field: &'a FieldDiff, blocker: &'a Blocker) -> Option<Suspect<'a>> {
    let when = when(field, blocker);
    let weight = match (touches(field, blocker), when) {
        (_, When::After) | (false, When::LongBefore | When::Unknown) => return None,
        (true, When::Just(_)) => MOST,
        (true, When::Unknown) => 3,
        (true, When::LongBefore) => 2,
        (false, When::Just(_)) => 1,
    };
    Some(Suspect { field, blocker, weight, when })
}

/// Whether it is on the path that fails; what belongs to another container than the failing one is not.
fn touches(field: &FieldDiff, blocker: &Blocker) -> bool {
    let names = TOUCHING.iter().find(|(of, ..)| *of == blocker.layer).map_or(&[][..], |(.., names)| names);
    field.path.fields().any(|name| names.contains(&name)) && !is_elsewhere(field, blocker)
}

fn is_elsewhere(field: &FieldDiff, blocker: &Blocker) -> bool {
    // Of very many only some are named.
    let Some(failing) = blocker.facts.get("container").filter(|names| names.matches(", ").count() < 7) else { return false };
    let mut steps = field.path.steps().iter().skip_while(|step| !matches!(step, Step::Field(name) if name.ends_with("ontainers")));
    let Some(Step::Item(keys)) = steps.nth(1) else { return false };
    // Several failing containers are one fact, parted by commas.
    keys.iter().any(|(key, name)| key == "name" && !failing.split(", ").any(|one| one == name))
}

/// The owner's last write is the latest that the field can have been written.
fn when(field: &FieldDiff, blocker: &Blocker) -> When {
    let wrote = field.owner.as_ref().and_then(|owner| Time::parse(&owner.time));
    let (Some(wrote), Some(since)) = (wrote, blocker.since) else { return When::Unknown };
    match since.since(wrote) {
        seconds if seconds < -AFTER => When::After,
        seconds if seconds <= BEFORE => When::Just(seconds),
        _ => When::LongBefore,
    }
}

fn said(suspect: &Suspect<'_>, ages: &Ages) -> Line {
    let Suspect { field, blocker, when, .. } = suspect;
    let path = field.path.to_string();
    let line = Line::from(format!("{}: ", path.strip_prefix("spec.template.").unwrap_or(&path))).then(values(field));
    let line = match &field.owner {
        Some(owner) => {
            let at = Time::parse(&owner.time).map_or(String::new(), |at| format!(" at {}", ages.clock(at)));
            line.plain(format!(", by {}{at}", owner.manager))
        }
        None => line,
    };
    let began = TOUCHING.iter().find(|(of, ..)| *of == blocker.layer).map_or("it began", |(_, began, _)| began);
    match when {
        When::Just(seconds @ 1..) => line.plain(format!(", {} before {began}", short(*seconds))),
        When::Just(_) => line.plain(format!(", as {began}")),
        When::LongBefore | When::Unknown | When::After => line,
    }
}

/// `; revision 11 had cart:1.8.2`, where that is not what was asked for: an earlier revision tells a pod template.
fn before_that(comparison: &Comparison, field: &FieldDiff) -> String {
    let Some(before) = comparison.against.iter().find(|against| against.source == "revision") else { return String::new() };
    if !field.path.passes(&["spec", "template"]) {
        return String::new();
    }
    let number = before.title.split(" (").next().unwrap_or("the revision before");
    let path = field.path.to_string();
    match before.diff.fields.iter().find(|other| other.path.to_string() == path) {
        None => format!("; {number} had it too"),
        Some(other) if std::ptr::eq(other, field) => format!("; a rollout since {number}"),
        Some(other) if other.desired == field.desired => format!("; {number} had it as asked for"),
        Some(other) => match written(other.desired.as_ref()).as_slice() {
            [] => format!("; {number} had none"),
            [line] => format!("; {number} had {line}"),
            lines => format!("; {number} had {}", plural(lines.len(), "line")),
        },
    }
}

fn short(seconds: i64) -> String {
    if seconds < 120 { format!("{seconds}s") } else { format!("{} min", seconds / 60) }
}
