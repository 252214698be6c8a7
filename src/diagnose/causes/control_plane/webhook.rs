//! Webhooks that fail closed and that nobody answers for: whatever they cover cannot be written, also where nobody has tried yet.

use crate::diagnose::backends::Backend;
use crate::diagnose::webhooks::{self, Hook};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key};
use crate::model::Kind;

pub(super) const OUTAGE: Cause = Cause {
    id: "webhook-outage",
    title: "A webhook that must approve writes is down",
    explanation: "The webhook fails closed (failurePolicy: Fail) and its Service has no ready endpoint or does not exist: every write that \
                  its rules cover is refused, in the whole cluster unless its selectors say less. Broad rules stop even node \
                  heartbeats and leases.",
    told_apart: "webhook-unreachable is a workload that was refused because of it; this is seen from the configuration alone, before \
                 anything is refused.",
    cure: "Bring the pods behind the webhook back, set failurePolicy: Ignore, or delete the configuration.",
    docs: "reference/access-authn-authz/extensible-admission-controllers/",
    symptom: true,
    needs: &[Kind::MutatingWebhookConfiguration, Kind::ValidatingWebhookConfiguration, Kind::Service, Kind::EndpointSlice],
    judge: Judge::ControlPlane(outages),
    ..super::ROW
};

/// What a cluster cannot do without: pods, what makes them, and the heartbeats of nodes and leaders.
const VITAL: &[(&str, &str)] = &[
    ("", "pods"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "jobs"),
    ("", "nodes"),
    ("coordination.k8s.io", "leases"),
];

/// A single pod that is replaced leaves a gap as long as its start.
const RESTART: i64 = 120;

fn outages(cx: &Cx<'_>) -> Vec<Finding> {
    webhooks::all(cx).into_iter().filter_map(|hook| outage(cx, hook)).collect()
}

fn outage(cx: &Cx<'_>, hook: Hook<'_>) -> Option<Finding> {
    let covered: Vec<&str> = VITAL.iter().filter(|(group, resource)| hook.covers(group, resource)).map(|(_, resource)| *resource).collect();
    let (namespace, name) = hook.service().filter(|_| hook.fails_closed() && !covered.is_empty())?;
    let backend = Backend::of(cx, namespace, name);
    if !backend.is_dead() {
        return None;
    }
    let root = hook.configuration();
    let fresh = backend.changed.filter(|at| !backend.service.is_absent() && !cx.passed(at.plus(RESTART)));
    let finding = match fresh {
        Some(at) => {
            Finding::delayed(Key::object(&root), root.clone()).clock(ClockKind::Budget, "start of its pods", Some(at.plus(RESTART)))
        }
        None => Finding::blocked(Key::object(&root), root.clone()),
    };
    let state = if backend.service.is_absent() { "does not exist" } else { "has no ready endpoint" };
    let webhook = &hook.webhook.name;
    let finding = finding
        .title(format!("webhook {webhook} is down: Service {} {state}", backend.reference.place()))
        .because(format!(
            "webhook {webhook} fails closed and Service {} {state}: writes of {} that it covers are refused.",
            backend.reference.place(),
            covered.join(", ")
        ))
        .next(format!("Bring the pods behind Service {} back, or set failurePolicy: Ignore in {root}.", backend.reference.place()))
        .since(backend.changed)
        .fact("webhook", webhook)
        .fact("service", &backend.reference)
        .fact("covers", covered.join(", "))
        .evidence(root, format!("webhooks[name={webhook}].failurePolicy"), "Fail", None)
        .evidence(backend.reference.clone(), "endpoints", state, backend.changed);
    Some(backend.workloads(cx).into_iter().fold(finding, Finding::waits_on))
}
