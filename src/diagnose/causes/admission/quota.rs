//! Quotas that stand in the way of a pod.

use super::refusal;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Layer, Stage, Workload, texts};
use crate::model::{Kind, ObjectRef, Quantity, ResourceQuota, Seen};

pub(super) const EXCEEDED: Cause = Cause {
    id: "quota-exceeded",
    layer: Layer::Admission,
    stage: Stage::Creation,
    generic: false,
    symptom: false,
    title: "A resource quota is full",
    explanation: "The namespace's ResourceQuota leaves no room for another pod: the API server refuses to create it.",
    told_apart: "quota-requires-resources refuses a pod that names no requests at all; here it names them and they do not fit.",
    cure: "Raise the quota, lower the requests, or free what others in the namespace use.",
    docs: "concepts/policy/resource-quotas/",
    needs: &[Kind::ResourceQuota],
    clears: 60,
    judge: Judge::Workload(exceeded),
};

/// The longest pause of a controller that creates ReplicaSets' pods: 5 ms doubled up to 1000 s.
const LONGEST_BACK_OFF: i64 = 1000;

fn exceeded(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let texts = texts::captures(
        r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>.+?), used: (?P<used>.+?), limited: (?P<limited>\S+)$",
        refusal.message,
    )?;
    let namespace = &workload.meta().namespace;
    let quota = ObjectRef::new("ResourceQuota", namespace, &texts["quota"]);
    let lacking = match cx.get::<ResourceQuota>(namespace, &texts["quota"]) {
        Seen::Is(q) => lacking(q, &texts["requested"]),
        Seen::Absent => Vec::new(),
        Seen::Unknown => vec![texts["limited"].to_owned()],
    };
    let finding = if lacking.is_empty() {
        let retry = refusal.at.map(|at| at.plus(LONGEST_BACK_OFF));
        Finding::delayed(Key::object(&quota), quota.clone())
            .clock(ClockKind::Retry, "the controller's create back-off", retry)
            .title(format!("quota {} has room again, the controller has not retried yet", quota.place()))
            .because("the quota leaves room now; the controller tries again on its own, at the latest 16 min 40 s after the last refusal.")
            .next("Wait for the retry, or touch the workload (an annotation will do) to bring it forward.")
    } else {
        Finding::blocked(Key::object(&quota), quota.clone())
            .title(format!("quota {} is full: {}", quota.place(), lacking.join(", ")))
            .because(format!(
                "quota {} refuses another pod: requested {}, used {}, limited to {}.",
                quota.name, &texts["requested"], &texts["used"], &texts["limited"]
            ))
            .next(format!(
                "Raise {} of quota {}, lower the requests, or free what others in {namespace} use.",
                lacking.join(", "),
                quota.name
            ))
    };
    let finding = finding
        .fact("quota", &quota.name)
        .fact("requested", &texts["requested"])
        .fact("used", &texts["used"])
        .fact("limited", &texts["limited"]);
    Some(refusal.prove(finding.missing(workload.desired() - workload.current())))
}

/// What the quota, as it is now, lacks for the request: `pods 6 of 6`.
fn lacking(quota: &ResourceQuota, requested: &str) -> Vec<String> {
    let amounts = requested.split(',').filter_map(|pair| pair.split_once('='));
    let short = amounts.filter_map(|(name, amount)| {
        let hard = quota.status.hard.get(name).or_else(|| quota.spec.hard.get(name))?;
        let used = quota.status.used.get(name)?;
        let after = used.nano() + Quantity::parse(amount)?.nano();
        (after > hard.nano()).then(|| format!("{name} {} of {}", used.text(), hard.text()))
    });
    short.collect()
}
