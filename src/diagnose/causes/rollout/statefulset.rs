//! StatefulSets that go in order: everything waits for the first pod that is not ready.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload};
use crate::model::{Pod, StatefulSet, Time};

const ROW: Cause = Cause { docs: "concepts/workloads/controllers/statefulset/", symptom: true, ..super::ROW };

pub(super) const BROKEN_REVISION: Cause = Cause {
    id: "statefulset-broken-revision",
    title: "A broken pod keeps the corrected template away",
    explanation: "The StatefulSet updates in order and waits for a pod that is not ready, also where that pod still has an older template: \
                  it is never replaced by the newer one on its own, so correcting the template or rolling back does not help.",
    told_apart: "statefulset-ordered-stall waits for a pod that has the newest template.",
    cure: "Delete the broken pod by hand once the template is right.",
    judge: Judge::Workload(broken_revision),
    ..ROW
};

pub(super) const ORDERED_STALL: Cause = Cause {
    id: "statefulset-ordered-stall",
    title: "A StatefulSet waits for one of its pods",
    explanation: "With podManagementPolicy OrderedReady pods are made, removed and updated one after the other: while one is not ready, \
                  those after it are not made and no update goes on.",
    told_apart: "The pod itself says what it lacks; this row says who waits for it. Parallel makes all pods at once.",
    cure: "Fix the pod that is waited for.",
    judge: Judge::Workload(ordered_stall),
    ..ROW
};

/// The pod that everything waits for.
struct Waited<'a> {
    set: &'a StatefulSet,
    pod: Pod<'a>,
    ordinal: i64,
    /// Since when it is not ready.
    since: Option<Time>,
    /// Ordinals that have no pod.
    missing: i64,
}

impl<'a> Waited<'a> {
    fn find(cx: &Cx<'a>, workload: Workload<'a>) -> Option<Self> {
        let Workload::StatefulSet(set) = workload else { return None };
        if &*set.spec.pod_management_policy == "Parallel" {
            return None;
        }
        let pods = cx.pods_of(&set.meta.uid);
        let at = |ordinal: i64| pods.iter().copied().find(|p| ordinal_of(&p.name()) == Some(ordinal));
        let first = set.spec.ordinals.start;
        let ordinals = || first..first + workload.desired().min(MOST_ORDINALS);
        // A pod that is missing or on its way out is waited for too, but then it is not this pod that says why.
        let (ordinal, pod) = ordinals().map(|o| (o, at(o))).find(|(_, p)| !p.is_some_and(Pod::is_ready))?;
        let pod = pod.filter(|p| p.deleted().is_none())?;
        let since = pod.ready_since().or(pod.created());
        Some(Self { set, pod, ordinal, since, missing: ordinals().filter(|o| at(*o).is_none()).count() as i64 })
    }

    fn is_updating(&self) -> bool {
        self.set.status.current_revision != self.set.status.update_revision && !self.set.status.update_revision.is_empty()
    }
}

/// More than anybody runs; a wrong number must not cost a second.
const MOST_ORDINALS: i64 = 10_000;

/// The number at the end of a StatefulSet pod's name.
fn ordinal_of(name: &str) -> Option<i64> {
    name.rsplit_once('-').and_then(|(_, ordinal)| ordinal.parse().ok())
}

/// A pod that is being started is not ready for a while.
const USUAL_START: i64 = 60;
/// As long as a Deployment has by default to make progress.
const TOO_LONG: i64 = 600;

fn broken_revision(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let waited = Waited::find(cx, workload)?;
    let status = &waited.set.status;
    let hash = waited.pod.label("controller-revision-hash")?;
    let partition = waited.set.spec.update_strategy.rolling_update.as_ref().and_then(|r| r.partition).unwrap_or(0);
    let meant_to_change = &*waited.set.spec.update_strategy.kind != "OnDelete" && waited.ordinal >= partition;
    if !meant_to_change || !waited.is_updating() || hash == &*status.update_revision || !cx.older(waited.since, USUAL_START) {
        return None;
    }
    let root = workload.reference();
    let name = waited.pod.name();
    Some(
        Finding::blocked(Key::object(&root), root.clone())
            .title(format!("{name} is broken and keeps the newest template of {} away", root.place()))
            .because(format!(
                "pod {name} still has revision {hash} and is not ready; in order, nothing is updated before it is ready, itself included."
            ))
            .next(format!("Once the template is right, delete the pod: kubectl -n {} delete pod {name}.", root.namespace))
            .since(waited.since)
            .missing(waited.missing)
            .fact("pod", &name)
            .fact("revision", hash)
            .fact("updateRevision", &status.update_revision)
            .evidence(waited.pod.reference(), "metadata.labels[controller-revision-hash]", hash, None)
            .evidence(root, "status.updateRevision", &*status.update_revision, None)
            .waits_on(waited.pod.reference()),
    )
}

fn ordered_stall(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let waited = Waited::find(cx, workload)?;
    if (waited.missing == 0 && !waited.is_updating()) || !cx.older(waited.since, USUAL_START) {
        return None;
    }
    let root = workload.reference();
    let name = waited.pod.name();
    let what = match (waited.missing, waited.is_updating()) {
        (0, _) => "the update".to_owned(),
        (n, true) => format!("{n} pods and the update"),
        (1, false) => "1 pod".to_owned(),
        (n, false) => format!("{n} pods"),
    };
    let finding = if cx.older(waited.since, TOO_LONG) {
        Finding::blocked(Key::object(&root), root.clone())
    } else {
        let until = waited.since.map(|at| at.plus(TOO_LONG));
        Finding::delayed(Key::object(&root), root.clone()).clock(ClockKind::Budget, format!("start of {name}"), until)
    };
    Some(
        finding
            .title(format!("{} waits for {name}: {what} come after it", root.place()))
            .because(format!("pods are made and updated in order, and {name} is not ready: {what} of {} wait for it.", root.place()))
            .next(format!("Fix {name}: nothing goes on before it is ready."))
            .since(waited.since)
            .missing(waited.missing)
            .fact("pod", &name)
            .evidence(waited.pod.reference(), "status.conditions[type=Ready].status", "False", waited.since)
            .waits_on(waited.pod.reference()),
    )
}
