//! Refusals that say nothing about the pod: the API server had no time, or asked to come back later.

use super::refusal;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload, texts};

pub(super) const BUSY: Cause = Cause {
    id: "api-throttled-or-unavailable-create",
    title: "The API server was too busy to create it",
    explanation: "The API server throttled the request or could not answer in time. The controller tries again with growing pauses.",
    told_apart: "If the text names etcd, etcd-slow-or-down has it; if it names a webhook, webhook-unreachable.",
    cure: "Wait for the next try; if many workloads show it, look at the API server and its clients.",
    docs: "concepts/cluster-administration/flow-control/",
    judge: Judge::Workload(busy),
    ..super::ROW
};

const WORDS: &str = r"(?i)too many requests|unable to handle the request|rate limiter wait returned an error|the server was unable to return a response in the time allotted|request did not complete within the allotted timeout|could not be completed at this time";

fn busy(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let other = texts::matches(r#"(?i)etcdserver:|calling webhook|admission webhook"#, refusal.message);
    let text = Some(refusal.answer()).filter(|text| !other && texts::matches(WORDS, text))?;
    let root = workload.reference();
    let finding = Finding::delayed(Key::object(&root), root)
        .clock(ClockKind::Retry, "create back-off of the controller", refusal.next_try(cx))
        .title(format!("the API server was too busy to create pods of {}", workload.reference().place()))
        .because(format!("the API server put the request off: {text}."))
        .next("Wait for the next try; if it goes on, look at the load of the API server.");
    Some(refusal.prove(finding))
}
