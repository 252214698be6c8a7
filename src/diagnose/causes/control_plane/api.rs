//! Parts of the API that somebody else serves, or that definitions add.

use crate::diagnose::backends::Backend;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key};
use crate::model::{APIService, Condition, CustomResourceDefinition, Kind, Object, ObjectRef, Time};

pub(super) const SERVICE: Cause = Cause {
    id: "apiservice-unavailable",
    title: "An aggregated API does not answer",
    explanation: "An APIService hands a group of the API to a Service in the cluster, and that one does not answer. Who reads this group \
                  fails, and so does everything that must know all groups: autoscalers lose their metrics, and no namespace can be \
                  deleted.",
    told_apart: "hpa-scaling-inactive and namespace-discovery-failed are what follows from it.",
    cure: "Repair what the APIService points to, or delete the APIService if nothing serves it any more.",
    docs: "concepts/extend-kubernetes/api-extension/apiserver-aggregation/",
    needs: &[Kind::Service, Kind::EndpointSlice],
    judge: Judge::Object(service),
    ..super::ROW
};

pub(super) const DEFINITION: Cause = Cause {
    id: "crd-not-established",
    title: "A custom resource is not served",
    explanation: "The CustomResourceDefinition exists and its API is not served: its names are taken by another one, or it is being \
                  installed.",
    told_apart: "A missing definition is not there at all; here it is and is refused.",
    cure: "Rename what is in conflict, or delete the other definition.",
    docs: "tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
    judge: Judge::Object(definition),
    ..super::ROW
};

/// Checked again every 30 s; a backend that is replaced is gone for as long as it takes to start.
const RESTART: i64 = 120;

fn service(cx: &Cx<'_>, object: &Object) -> Option<Finding> {
    let Object::APIService(api) = object else { return None };
    let condition = Condition::find(&api.status.conditions, "Available").filter(|c| !c.is_true())?;
    let since = condition.last_transition_time;
    let root = ObjectRef::new("APIService", "", &api.meta.name);
    let backend = api.spec.service.as_ref().map(|s| Backend::of(cx, &s.namespace, &s.name));
    let finding = verdict(cx, &root, condition, backend.as_ref())
        .title(format!("API {} does not answer: {}", group_version(api), reason(condition, backend.as_ref())))
        .because(format!("APIService {} is not available ({}): {}.", root.name, condition.reason, condition.message.trim_end_matches('.')))
        .next(next(&root, backend.as_ref()))
        .since(since)
        .fact("reason", &condition.reason)
        .fact("groupVersion", group_version(api))
        .evidence(root, "status.conditions[type=Available].message", &*condition.message, since);
    let Some(backend) = backend else { return Some(finding) };
    let finding = finding.fact("service", &backend.reference);
    Some(backend.workloads(cx).into_iter().fold(finding, Finding::waits_on))
}

fn group_version(api: &APIService) -> String {
    if api.spec.group.is_empty() { api.meta.name.to_string() } else { format!("{}/{}", api.spec.group, api.spec.version) }
}

fn verdict(cx: &Cx<'_>, root: &ObjectRef, condition: &Condition, backend: Option<&Backend<'_>>) -> Finding {
    let repaired = backend.is_some_and(|b| b.ready.is_some_and(|n| n > 0)) && is_about_backend(&condition.reason);
    let fresh = condition.last_transition_time.is_some_and(|at| !cx.passed(at.plus(RESTART)));
    if repaired || (fresh && backend.is_none_or(|b| !b.service.is_absent())) {
        let until = condition.last_transition_time.map(|at: Time| at.plus(RESTART));
        return Finding::delayed(Key::object(root), root.clone()).clock(ClockKind::Retry, "availability check, every 30 s", until);
    }
    Finding::blocked(Key::object(root), root.clone())
}

/// Reasons that the API server finds by looking at the Service, not by calling it.
fn is_about_backend(reason: &str) -> bool {
    matches!(reason, "ServiceNotFound" | "MissingEndpoints" | "EndpointsNotFound")
}

fn reason(condition: &Condition, backend: Option<&Backend<'_>>) -> String {
    match backend {
        Some(b) if b.service.is_absent() => format!("Service {} does not exist", b.reference.place()),
        Some(b) if b.is_dead() => format!("Service {} has no ready endpoint", b.reference.place()),
        Some(_) | None => condition.reason.to_string(),
    }
}

fn next(root: &ObjectRef, backend: Option<&Backend<'_>>) -> String {
    let service = backend.map_or("its backend".to_owned(), |b| format!("Service {}", b.reference.place()));
    format!("Repair {service}, or, if nothing serves this API any more, delete {root}.")
}

fn definition(cx: &Cx<'_>, object: &Object) -> Option<Finding> {
    let Object::CustomResourceDefinition(crd) = object else { return None };
    let bad = |kind: &str| Condition::find(&crd.status.conditions, kind).filter(|c| &*c.status == "False");
    let root: ObjectRef = reference(crd);
    let condition = bad("NamesAccepted").or(bad("Established"))?;
    let since = condition.last_transition_time;
    let installing = &*condition.kind == "Established" && since.is_some_and(|at| !cx.passed(at.plus(30)));
    let finding = if installing {
        Finding::delayed(Key::object(&root), root.clone()).clock(ClockKind::Retry, "installation", since.map(|at| at.plus(30)))
    } else {
        Finding::blocked(Key::object(&root), root.clone())
    };
    Some(
        finding
            .title(format!("{} is not served: {}", root.name, condition.reason))
            .because(format!(
                "the definition is there and its API is not served ({}): {}.",
                condition.reason,
                condition.message.trim_end_matches('.')
            ))
            .next("Rename what is in conflict, or delete the definition that holds the name.")
            .since(since)
            .fact("reason", &condition.reason)
            .evidence(root, format!("status.conditions[type={}].message", condition.kind), &*condition.message, since),
    )
}

fn reference(crd: &CustomResourceDefinition) -> ObjectRef {
    ObjectRef::new("CustomResourceDefinition", "", &crd.meta.name)
}
