//! What the API server may not or cannot accept: missing rights of the creator, and fields that are not valid.

use super::refusal;
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};

pub(super) const FORBIDDEN: Cause = Cause {
    id: "rbac-forbidden",
    title: "The creator lacks a right",
    explanation: "Whoever wants to create the object (a controller that acts as a service account, mostly) has no role that allows it.",
    told_apart: "Other refusals also say is forbidden; only this one says User … cannot … resource.",
    cure: "Grant the verb with a Role and a RoleBinding; it takes effect within seconds.",
    docs: "reference/access-authn-authz/rbac/",
    judge: Judge::Workload(forbidden),
    ..super::ROW
};

pub(super) const SPEC: Cause = Cause {
    id: "pod-spec-invalid",
    title: "The pod would not be valid",
    explanation: "The template was accepted, and a pod made from it is not valid: often a default of a LimitRange or a mutating webhook \
                  contradicts what the template says.",
    told_apart: "limitrange-violation is a bound that is not kept; here fields contradict each other or the API's rules.",
    cure: "Fix the field that the refusal names, or what fills it in.",
    docs: "concepts/workloads/pods/",
    judge: Judge::Workload(spec),
    ..super::ROW
};

fn forbidden(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let pattern = r#"(?i)User "(?P<user>[^"]+)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)""#;
    let said = texts::captures(pattern, refusal.message)?;
    let (user, verb, resource) = (&said["user"], &said["verb"], &said["resource"]);
    let root = workload.reference();
    let finding = Finding::blocked(Key::object(&root), root)
        .title(format!("{user} may not {verb} {resource}"))
        .because(format!("{user} has no right to {verb} {resource} in {}.", workload.meta().namespace))
        .next(format!("Bind {user} to a Role that allows {verb} on {resource} in namespace {}.", workload.meta().namespace))
        .fact("user", user)
        .fact("verb", verb)
        .fact("resource", resource);
    Some(refusal.prove(finding))
}

fn spec(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let said = texts::captures(r#"(?P<kind>[A-Z]\w+(?:\.[\w.]+)?) "(?P<name>[^"]*)" is invalid: (?P<errors>.+)$"#, refusal.message)?;
    let errors = &said["errors"];
    let field = texts::capture(r"^\[?((?:spec|metadata)[\w.\[\]]*)", errors);
    let root = workload.reference();
    let finding = Finding::blocked(Key::object(&root), root)
        .title(format!("{} of {} is not valid: {}", &said["kind"], workload.reference().place(), field.unwrap_or(errors)))
        .because(format!("the API server finds it not valid: {errors}."))
        .next(format!(
            "Fix {} in the template of {}, or what fills it in on admission.",
            field.unwrap_or("what is named"),
            workload.reference()
        ))
        .fact("errors", errors);
    Some(refusal.prove(field.iter().fold(finding, |f, path| f.fact("field", path))))
}
