//! Rules about what a pod may do: pod security levels, and OpenShift's security context constraints.

use super::refusal;
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{Namespace, ObjectRef};

pub(super) const POD_SECURITY: Cause = Cause {
    id: "podsecurity-violation",
    title: "The namespace's pod security level forbids this pod",
    explanation: "The namespace enforces a Pod Security level (baseline or restricted) and the template does not meet it. Workloads \
                  themselves are accepted with a warning only; their pods are refused.",
    told_apart: "scc-denied is OpenShift's own mechanism; webhook-denied and validating-admission-policy-denied are rules somebody wrote.",
    cure: "Harden the pod template as the refusal lists it, or lower the level in the namespace's label.",
    docs: "concepts/security/pod-security-standards/",
    judge: Judge::Workload(pod_security),
    ..super::ROW
};

pub(super) const SCC: Cause = Cause {
    id: "scc-denied",
    title: "No security context constraint allows this pod",
    explanation: "On OpenShift every pod must fit one SecurityContextConstraints that its service account may use. Often the template \
                  fixes a user or group ID that lies outside the range which the namespace was given.",
    told_apart: "podsecurity-violation names a level (baseline, restricted); here every SCC that was tried is listed with what it objects to.",
    cure: "Leave user and group IDs out so that the namespace's range applies, or grant a fitting SCC to the service account.",
    docs: "concepts/security/pod-security-standards/",
    judge: Judge::Workload(scc),
    ..super::ROW
};

const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

fn pod_security(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let said = texts::captures(r#"violates PodSecurity "(?P<level>[a-z]+):(?P<version>[^"]+)": (?P<detail>.+)$"#, refusal.message)?;
    let (level, detail) = (&said["level"], &said["detail"]);
    let name = &workload.meta().namespace;
    let root = ObjectRef::new("Namespace", "", name);
    let enforced = cx.get::<Namespace>("", name).is().and_then(|ns| ns.meta.label(ENFORCE));
    let finding = if enforced.is_some_and(|now| now != level) {
        let title = format!("namespace {name} no longer enforces {level}, the controller has not retried yet");
        refusal.lifted(cx, Key::object(&root), root.clone(), "the level that refused them is no longer enforced").title(title)
    } else {
        let finding = Finding::blocked(Key::object(&root), root.clone())
            .title(format!("namespace {name} enforces pod security level {level}"))
            .because(format!(
                "namespace {name} enforces level {level}, which the pod template does not meet: {}.",
                checks(detail).join(", ")
            ))
            .next(format!("Harden the template of {}: {detail}; or lower the label {ENFORCE} of namespace {name}.", workload.reference()));
        refusal.prove(finding)
    };
    let finding = enforced.iter().fold(finding, |f, now| f.evidence(root.clone(), format!("metadata.labels[{ENFORCE:?}]"), *now, None));
    Some(finding.fact("level", level).fact("version", &said["version"]).fact("checks", checks(detail).join(", ")))
}

/// The names of the checks, without what is in parentheses after each: `runAsNonRoot != true`.
fn checks(detail: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut outside = String::new();
    for c in detail.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside.split(',').map(|check| check.trim().to_owned()).filter(|check| !check.is_empty()).collect()
}

fn scc(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let detail = texts::capture(r"(?i)unable to validate against any security context constraints?: (.+)$", refusal.message)?;
    let name = &workload.meta().namespace;
    let root = ObjectRef::new("Namespace", "", name);
    let account = Some(&*workload.template().spec.service_account_name).filter(|a| !a.is_empty()).unwrap_or("default");
    let objections = objections(detail);
    let finding = Finding::blocked(Key::object(&root), root.clone())
        .title(format!("no security context constraint (SCC) allows {}", workload.reference().place()))
        .because(format!("no SecurityContextConstraints that service account {account} may use allows the pod: {}.", objections.join("; ")))
        .next(format!(
            "Drop the fixed user and group IDs from the template of {}, or grant service account {account} a fitting SCC.",
            workload.reference()
        ))
        .fact("serviceAccount", account)
        .fact("objections", objections.join("; "));
    let annotations = cx.get::<Namespace>("", name).is().map(|ns| &ns.meta);
    let ranges = ["openshift.io/sa.scc.uid-range", "openshift.io/sa.scc.supplemental-groups"];
    let known = ranges.iter().filter_map(|key| Some((key, annotations?.annotation(key)?)));
    let finding = known.fold(finding, |f, (key, range)| f.evidence(root.clone(), format!("metadata.annotations[{key:?}]"), range, None));
    Some(refusal.prove(finding))
}

/// What single constraints object to, shortest first to read: constraints that the account may not use at all say nothing about the pod.
fn objections(detail: &str) -> Vec<String> {
    let inner = detail.trim().trim_start_matches('[').trim_end_matches(']');
    let mut found = Vec::new();
    for part in inner.split("provider ").map(|p| p.trim().trim_end_matches(',')) {
        let about_pod = !part.is_empty() && !texts::matches(r"(?i)not usable by user or serviceaccount", part);
        if about_pod && !found.contains(&part.to_owned()) {
            found.push(part.to_owned());
        }
    }
    if found.is_empty() { vec![detail.to_owned()] } else { found }
}
