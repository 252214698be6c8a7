//! Readiness gates: conditions that somebody else must set before the pod counts as ready.

use super::{ROW, unready};
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding};
use crate::model::{Condition, Deployment, ObjectRef, Pod};

pub(super) const GATES: Cause = Cause {
    id: "readiness-gates-not-ready",
    title: "A readiness gate is not set",
    explanation: "All containers are ready; the pod's readiness gates name conditions that an outside controller (a load balancer's, mostly) has to set to True, and it has not.",
    told_apart: "READY shows every container ready: no probe is failing.",
    cure: "Repair the controller that owns the gate, or what it waits for; or take the gate out of the template.",
    docs: "concepts/workloads/pods/pod-lifecycle/",
    ..ROW
};

/// Who sets gates of these families: namespace and name of the Deployment where it usually runs.
const OWNERS: [(&str, &str, &str); 2] = [
    ("target-health.elbv2.k8s.aws", "kube-system", "aws-load-balancer-controller"),
    ("target-health.alb.ingress.k8s.aws", "kube-system", "alb-ingress-controller"),
];

pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    let gates: Vec<&str> = pod.spec().readiness_gates.iter().map(|g| &*g.condition_type).collect();
    let closed: Vec<&str> = gates.iter().copied().filter(|g| !unready::holds(pod, g)).collect();
    let gate = *closed.first()?;
    let since = pod.condition("ContainersReady").filter(|c| Condition::is_true(c))?.last_transition_time.or(standing::unready_since(pod));
    let lasting = cx.older(since, unready::SETTLE);
    let state = pod.condition(gate);
    let how = match state {
        Some(condition) => format!("is {}, not True", condition.status),
        None => "is not set at all".to_owned(),
    };
    let mut finding = standing::of_workload(cx, pod, if lasting { Finding::blocked } else { Finding::delayed })
        .title(format!("readiness gate {gate} is not set"))
        .because(format!("all containers are ready, and condition {gate} of the pod {how}: its controller has not let the pod in."))
        .next(format!("Look at the controller that sets {gate} (its pods, its log, its rights), or take the gate out of the template."))
        .fact("gate", closed.join(", "))
        .since(since)
        .clock(ClockKind::Provisioning, "the gate's controller", since.map(|at| at.plus(unready::SETTLE)));
    if let Some(condition) = state.filter(|c| !c.message.is_empty() || !c.reason.is_empty()) {
        finding = finding.evidence(
            pod.reference(),
            format!("status.conditions[type={gate}]"),
            format!("{}: {}", condition.reason, condition.message),
            condition.last_transition_time,
        );
    }
    if let Some(ready) = pod.condition("Ready") {
        finding = finding.evidence(pod.reference(), "status.conditions[type=Ready].message", &*ready.message, ready.last_transition_time);
    }
    finding.waits_on.extend(owner(cx, gate));
    Some(finding)
}

fn owner(cx: &Cx<'_>, gate: &str) -> Option<ObjectRef> {
    let (_, namespace, name) = OWNERS.iter().find(|(family, ..)| gate.starts_with(family))?;
    cx.get::<Deployment>(namespace, name).is().map(|d| ObjectRef::new("Deployment", &d.meta.namespace, &d.meta.name))
}
