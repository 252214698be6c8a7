//! Limits that cannot be meant: memory in thousandths of a byte.

use super::ROW;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, Cx, Finding, Judge, Stage};
use crate::model::{Container, Pod, Quantity};

pub(super) const MILLI: Cause = Cause {
    id: "memory-limit-milli",
    stage: Stage::Starting,
    title: "A memory limit is written in thousandths of a byte",
    explanation: "The suffix m means thousandths. A limit of 128m is a fraction of a byte, and everything that is sized by it fails in its own words: the token's tmpfs is full, the sandbox is killed, the process is out of memory.",
    told_apart: "*no space left on device* on a node without DiskPressure, for a volume that takes its size from the limit.",
    cure: "Write Mi or M instead of m.",
    docs: "concepts/configuration/manage-resources-containers/",
    judge: Judge::Pod(milli),
    ..ROW
};

/// No container starts within less.
const SMALLEST: i128 = 4 * 1024 * 1024;

fn milli(cx: &Cx<'_>, pod: Pod<'_>) -> Option<Finding> {
    if pod.node().is_none() || pod.is_ready() || pod.container_statuses().any(|(_, s)| s.state.running.is_some()) {
        return None;
    }
    let (container, resource, limit) = pod.spec().all_containers().find_map(|c| tiny(c).map(|(r, q)| (c, r, q)))?;
    let meant = format!("{}i", limit.text().replace('m', "M"));
    let mut finding = standing::of_workload(cx, pod, Finding::blocked)
        .title(format!("container {} has a {resource} limit of {}: thousandths of a byte", container.name, limit.text()))
        .because(format!("{} is {} bytes: nothing that is sized by it can work.", limit.text(), bytes(limit)))
        .next(format!("Write {meant} instead of {} in the {resource} limit of container {}.", limit.text(), container.name))
        .fact("container", &container.name)
        .fact("limit", limit.text());
    if let Some(symptom) = cx.newest_event(&pod.reference(), &["FailedMount", "FailedCreatePodSandBox", "Failed", "BackOff"]) {
        finding = finding.event(pod.reference(), symptom);
    }
    let path = format!("spec.containers[name={}].resources.limits.{resource}", container.name);
    Some(standing::named(finding.evidence(pod.reference(), path, limit.text(), None)))
}

fn tiny(container: &Container) -> Option<(&'static str, &Quantity)> {
    ["memory", "ephemeral-storage"].into_iter().find_map(|resource| {
        let limit = container.resources.limits.get(resource)?;
        (limit.text().ends_with('m') && limit.value() < SMALLEST).then_some((resource, limit))
    })
}

fn bytes(limit: &Quantity) -> String {
    let milli = limit.milli();
    format!("{}.{:03}", milli.div_euclid(1000), milli.rem_euclid(1000))
}
