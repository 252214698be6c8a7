//! Drift beside what fails: of an object's differences, the one that touches the failing path or was written just before it began.

use super::Scene;
use super::ages::Ages;
use super::diff::values;
use crate::app::Document;
use crate::desired::FieldDiff;
use crate::diagnose::{Blocker, Layer};
use crate::model::{ObjectRef, Time};
use crate::page::Line;

/// Fields that can be behind what stops in a layer.
const TOUCHING: &[(Layer, &[&str])] = &[
    (Layer::Admission, &["securityContext", "hostNetwork", "hostPID", "resources", "hard", "rules", "serviceAccountName", "replicas"]),
    (
        Layer::Scheduling,
        &[
            "nodeSelector",
            "affinity",
            "tolerations",
            "resources",
            "topologySpreadConstraints",
            "schedulerName",
            "priorityClassName",
            "hostPort",
        ],
    ),
    (Layer::Storage, &["volumes", "volumeMounts", "volumeClaimTemplates", "storageClassName"]),
    (Layer::Image, &["image", "imagePullSecrets", "imagePullPolicy"]),
    (Layer::Init, &["initContainers"]),
    (Layer::Runtime, &["image", "command", "args", "env", "envFrom", "resources", "securityContext", "volumeMounts", "livenessProbe"]),
    (Layer::Readiness, &["readinessProbe", "startupProbe", "livenessProbe", "ports", "selector", "env", "image"]),
    (Layer::Rollout, &["strategy", "updateStrategy", "paused", "progressDeadlineSeconds", "minReadySeconds", "image"]),
    (Layer::Termination, &["finalizers", "terminationGracePeriodSeconds", "lifecycle"]),
];

/// So long before it began a change is worth naming, in seconds.
const BEFORE: i64 = 600;
/// What began is seen by a controller that needs a while, and times are whole seconds.
const AFTER: i64 = 5;

/// `nodeSelector: absent → pool: gpu, by kubectl-edit at 11:41:40, 20s before it began`; nothing where no difference is known that has
/// to do with it.
pub(super) fn line(scene: &Scene<'_>, object: &ObjectRef, blockers: &[&Blocker], ages: &Ages) -> Option<Line> {
    let comparison = scene.app.documents.get(&object.to_string(), Document::Diff)?.comparison()?;
    let loud: Vec<&FieldDiff> = comparison.against.first()?.diff.fields.iter().filter(|field| field.verdict.is_loud()).collect();
    let worst = loud.iter().max_by_key(|field| weight(field, blockers)).filter(|field| weight(field, blockers) > 0)?;
    let path = worst.path.to_string();
    let line = Line::from(format!("{}: ", path.strip_prefix("spec.template.").unwrap_or(&path))).then(values(worst));
    let line = match &worst.owner {
        Some(owner) => {
            let at = Time::parse(&owner.time).map_or(String::new(), |at| format!(" at {}", ages.clock(at)));
            line.plain(format!(", by {}{at}", owner.manager))
        }
        None => line,
    };
    let line = match blockers.iter().filter_map(|blocker| before(worst, blocker)).min() {
        Some(seconds @ 1..) => line.plain(format!(", {} before it began", short(seconds))),
        Some(_) => line.plain(", as it began"),
        None => line,
    };
    let more = loud.len() - 1;
    let line = if more > 0 { line.dim(format!("; and {more} more")) } else { line };
    Some(line.accent("  d"))
}

/// A change that touches the failing path and was written just before it weighs most.
fn weight(field: &FieldDiff, blockers: &[&Blocker]) -> usize {
    let touches = blockers.iter().any(|blocker| touches(field, blocker.layer));
    let before = blockers.iter().any(|blocker| before(field, blocker).is_some());
    2 * usize::from(touches) + usize::from(before)
}

fn touches(field: &FieldDiff, layer: Layer) -> bool {
    let names = TOUCHING.iter().find(|(of, _)| *of == layer).map_or(&[][..], |(_, names)| names);
    field.path.fields().any(|name| names.contains(&name))
}

/// Seconds from the owner's last write to the beginning, if that is not long.
fn before(field: &FieldDiff, blocker: &Blocker) -> Option<i64> {
    let wrote = Time::parse(&field.owner.as_ref()?.time)?;
    Some(blocker.since?.since(wrote)).filter(|seconds| (-AFTER..=BEFORE).contains(seconds))
}

fn short(seconds: i64) -> String {
    if seconds < 120 { format!("{seconds}s") } else { format!("{} min", seconds / 60) }
}
