//! DaemonSets that are not available on every node they want.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload};
use crate::model::{IntOrText, Rounding, Time};

pub(super) const UNAVAILABLE: Cause = Cause {
    id: "daemonset-unavailable",
    title: "A DaemonSet is not available on every node",
    explanation: "The DaemonSet lacks an available pod on some node. An update stops as soon as maxUnavailable nodes (1 by default) are \
                  without one, so a single bad node can hold it up everywhere.",
    told_apart: "A consequence wherever the pod or its node says what is wrong.",
    cure: "Fix the pods on the named nodes, or raise maxUnavailable for the update.",
    docs: "concepts/workloads/controllers/daemonset/",
    symptom: true,
    judge: Judge::Workload(unavailable),
    ..super::ROW
};

/// A pod that is being started is not available for a while.
const USUAL_START: i64 = 60;
const TOO_LONG: i64 = 600;

fn unavailable(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::DaemonSet(set) = workload else { return None };
    let status = &set.status;
    let desired = status.desired_number_scheduled;
    let lacking = desired - status.number_available;
    let waiting = cx.unready_pods_of(&set.meta.uid);
    let since = waiting.iter().filter_map(|p| p.ready_since().or(p.created())).min();
    if lacking <= 0 || !cx.older(since, USUAL_START) {
        return None;
    }
    let root = workload.reference();
    let mut nodes: Vec<&str> = waiting.iter().filter_map(|p| p.node()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let places = if nodes.is_empty() { String::new() } else { format!(" on {}", shown(&nodes)) };
    let held = held_update(workload).map(|text| format!("; {text}")).unwrap_or_default();
    Some(
        verdict(cx, since, &root)
            .title(format!("{} is not available{places}", root.place()))
            .because(format!("{} of {desired} nodes have an available pod; it is missing{places}{held}.", status.number_available))
            .next(format!("Fix the pods of {}{places}.", root.place()))
            .since(since)
            .fact("nodes", shown(&nodes))
            .fact("available", format!("{} of {desired}", status.number_available))
            .fact("updated", format!("{} of {desired}", status.updated_number_scheduled))
            .evidence(root, "status.numberAvailable", format!("{} of {desired}", status.number_available), since),
    )
}

fn verdict(cx: &Cx<'_>, since: Option<Time>, root: &crate::model::ObjectRef) -> Finding {
    if cx.older(since, TOO_LONG) {
        return Finding::blocked(Key::object(root), root.clone());
    }
    Finding::delayed(Key::object(root), root.clone()).clock(ClockKind::Budget, "start of its pods", since.map(|at| at.plus(TOO_LONG)))
}

/// `n1, n2, n3 and 4 more`.
fn shown(nodes: &[&str]) -> String {
    match nodes.len() {
        0..=4 => nodes.join(", "),
        n => format!("{} and {} more", nodes[..3].join(", "), n - 3),
    }
}

/// An update that maxUnavailable keeps from going on.
fn held_update(workload: Workload<'_>) -> Option<String> {
    let Workload::DaemonSet(set) = workload else { return None };
    let status = &set.status;
    let rolling = set.spec.update_strategy.rolling_update.as_ref();
    let one = IntOrText::Int(1);
    let most = rolling.and_then(|r| r.max_unavailable.as_ref()).unwrap_or(&one).of(status.desired_number_scheduled, Rounding::Up);
    let lacking = status.desired_number_scheduled - status.number_available;
    (status.updated_number_scheduled < status.desired_number_scheduled && lacking >= most).then(|| {
        format!(
            "the update stands still at {} of {}, maxUnavailable {most} is used up",
            status.updated_number_scheduled, status.desired_number_scheduled
        )
    })
}
