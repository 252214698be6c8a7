//! Policies that the API server evaluates itself.

use super::refusal;
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{ObjectRef, Seen, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};

pub(super) const DENIED: Cause = Cause {
    id: "validating-admission-policy-denied",
    title: "A ValidatingAdmissionPolicy refuses the pod",
    explanation: "An expression of a policy, bound to this namespace with the action Deny, does not hold for the pod.",
    told_apart: "webhook-denied comes from a service outside the API server; this policy is evaluated inside it and cannot be unreachable.",
    cure: "Make the template meet the policy, or change the policy or its binding.",
    docs: "reference/access-authn-authz/validating-admission-policy/",
    judge: Judge::Workload(denied),
    ..super::ROW
};

fn denied(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let pattern = r#"(?i)ValidatingAdmissionPolicy ['"](?P<policy>[^'"]+)['"](?: with binding ['"](?P<binding>[^'"]+)['"])? denied (?:the )?request: (?P<why>.+)$"#;
    let said = texts::captures(pattern, refusal.message)?;
    let (policy, why) = (&said["policy"], &said["why"]);
    let binding = said.name("binding").map(|m| m.as_str());
    let root = ObjectRef::new("ValidatingAdmissionPolicy", "", policy);
    let finding = if is_gone(cx, policy, binding) {
        let title = format!("policy {policy} no longer refuses, the controller has not retried yet");
        refusal.lifted(cx, Key::object(&root), root, "the policy or binding that refused them is gone or no longer denies").title(title)
    } else {
        let finding = Finding::blocked(Key::object(&root), root)
            .title(format!("policy {policy} refuses: {why}"))
            .because(format!("ValidatingAdmissionPolicy {policy} denies the pod: {why}."))
            .next(format!(
                "Change the template of {} so that the policy holds, or change policy {policy} or its binding.",
                workload.reference()
            ));
        refusal.prove(finding)
    };
    let finding = binding.iter().fold(finding, |f, b| f.fact("binding", b));
    Some(finding.fact("policy", policy).fact("says", why))
}

fn is_gone(cx: &Cx<'_>, policy: &str, binding: Option<&str>) -> bool {
    let unbound = binding.is_some_and(|name| match cx.get::<ValidatingAdmissionPolicyBinding>("", name) {
        Seen::Is(b) => &*b.spec.policy_name != policy || !b.spec.validation_actions.iter().any(|a| &**a == "Deny"),
        Seen::Absent => true,
        Seen::Unknown => false,
    });
    unbound || cx.get::<ValidatingAdmissionPolicy>("", policy).is_absent()
}
