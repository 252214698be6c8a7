//! Objects that a pod names and that the API server must find before it accepts the pod.

use super::refusal;
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{Namespace, ObjectRef, PriorityClass, RuntimeClass, Seen, ServiceAccount};

pub(super) const SERVICE_ACCOUNT: Cause = Cause {
    id: "serviceaccount-missing",
    title: "The service account does not exist",
    explanation: "A pod is only accepted if the service account that it runs as exists in its namespace.",
    told_apart: "rbac-forbidden is about what an existing account may do. Every namespace gets an account named default from the \
                 controller manager; if that one stays away, look there.",
    cure: "Create the service account, or name another one in the template.",
    docs: "concepts/security/service-accounts/",
    judge: Judge::Workload(service_account),
    ..super::ROW
};

pub(super) const PRIORITY_CLASS: Cause = Cause {
    id: "priorityclass-missing",
    title: "The priority class does not exist",
    explanation: "The template names a PriorityClass that the cluster does not have, so no pod is accepted.",
    told_apart: "quota-scope-uncovered has the class and lacks a quota for it.",
    cure: "Create the PriorityClass, or fix priorityClassName in the template.",
    docs: "concepts/scheduling-eviction/pod-priority-preemption/",
    judge: Judge::Workload(priority_class),
    ..super::ROW
};

pub(super) const RUNTIME_CLASS: Cause = Cause {
    id: "runtimeclass-missing-admission",
    title: "The runtime class does not exist",
    explanation: "The template names a RuntimeClass that the cluster does not have, so no pod is accepted.",
    told_apart: "sandbox-runtime-class has the class, and the node's runtime lacks the handler behind it.",
    cure: "Create the RuntimeClass, or fix runtimeClassName in the template.",
    docs: "concepts/containers/runtime-class/",
    judge: Judge::Workload(runtime_class),
    ..super::ROW
};

fn service_account(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let pattern = r#"(?i)error looking up service ?account (?P<ns>[^/\s]+)/(?P<name>[^:\s]+): .*not found"#;
    let said = texts::captures(pattern, refusal.message)?;
    let missing = ObjectRef::new("ServiceAccount", &said["ns"], &said["name"]);
    let exists = cx.get::<ServiceAccount>(&said["ns"], &said["name"]).map(|_| ());
    let young = &said["name"] == "default" && is_young(cx, &said["ns"]);
    Some(finding(cx, workload, &refusal, &Missing { what: "service account", field: "serviceAccountName", object: missing, exists, young }))
}

/// The controller manager makes the default account within a second or so of the namespace.
fn is_young(cx: &Cx<'_>, namespace: &str) -> bool {
    cx.get::<Namespace>("", namespace).is().is_some_and(|ns| ns.meta.created.is_some_and(|at| !cx.passed(at.plus(10))))
}

fn priority_class(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let name = texts::capture(r#"(?i)no PriorityClass with name "?([^"\s]+)"? was found"#, refusal.message)?;
    let object = ObjectRef::new("PriorityClass", "", name);
    let exists = cx.get::<PriorityClass>("", name).map(|_| ());
    Some(finding(cx, workload, &refusal, &Missing { what: "priority class", field: "priorityClassName", object, exists, young: false }))
}

fn runtime_class(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let name = texts::capture(r#"(?i)RuntimeClass(?:\.node\.k8s\.io)? "([^"]+)" not found"#, refusal.message)?;
    let object = ObjectRef::new("RuntimeClass", "", name);
    let exists = cx.get::<RuntimeClass>("", name).map(|_| ());
    Some(finding(cx, workload, &refusal, &Missing { what: "runtime class", field: "runtimeClassName", object, exists, young: false }))
}

struct Missing {
    what: &'static str,
    field: &'static str,
    object: ObjectRef,
    exists: Seen<()>,
    /// It is expected to come by itself.
    young: bool,
}

/// The API server's word holds until a look-up answers otherwise. What is missing cannot be shown: the root is who misses it.
fn finding(cx: &Cx<'_>, workload: Workload<'_>, refusal: &refusal::Refusal<'_>, missing: &Missing) -> Finding {
    let Missing { what, field, object, exists, young } = missing;
    let (key, root) = (Key::object(object), workload.reference());
    let place = object.place();
    let finding = match exists {
        Seen::Is(()) => {
            let title = format!("{what} {place} exists now, the controller has not retried yet");
            refusal.lifted(cx, key, root, &format!("the {what} that was missing exists now")).title(title)
        }
        Seen::Absent | Seen::Unknown if *young => {
            refusal.lifted(cx, key, root, "the namespace has just been made").title(format!("{what} {place} is about to be made"))
        }
        Seen::Absent | Seen::Unknown => {
            let named = format!("the template of {} names it in {field}", workload.reference().place());
            let finding = Finding::blocked(key, root)
                .title(format!("{what} {place} does not exist"))
                .because(format!("{what} {place} does not exist, and {named}."))
                .next(format!("Create {what} {place}, or fix {field} in {}.", workload.reference()))
                .evidence(workload.reference(), format!("spec.template.spec.{field}"), &*object.name, None);
            refusal.prove(finding)
        }
    };
    finding.fact("missing", object)
}
