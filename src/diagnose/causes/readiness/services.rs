//! Services that lead nowhere: nothing selected, nothing ready, or a port that nobody has. There is no event for any of these.

use super::ROW;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Stage, Verdict, backends};
use crate::model::{Endpoint, EndpointSlice, Endpoints, IntOrText, Kind, ObjectRef, Pairs, Phase, Pod, Selector, Service, ServicePort};

pub(super) const MATCHES_NOTHING: Cause = Cause {
    id: "service-selector-matches-nothing",
    stage: Stage::Cluster,
    title: "A Service selects no pod",
    explanation: "No pod in the Service's namespace has all labels of its selector, and no workload would make one. Pods and workloads are green, requests go nowhere.",
    told_apart: "service-no-ready-endpoints selects pods that are not ready. A Service without selector has its endpoints made by somebody else.",
    cure: "Make selector and labels agree.",
    docs: "concepts/services-networking/service/",
    judge: Judge::Service(super::nearest::matches_nothing),
    ..ROW
};

pub(super) const NO_READY: Cause = Cause {
    id: "service-no-ready-endpoints",
    stage: Stage::Cluster,
    symptom: true,
    title: "A Service has no ready endpoint",
    explanation: "The Service selects pods or a workload, and none of its pods is ready, so nothing answers.",
    told_apart: "What keeps the pods from being ready is the blocker; this is what it costs.",
    cure: "Make the pods behind it ready.",
    docs: "tasks/debug/debug-application/debug-service/",
    judge: Judge::Service(no_ready),
    ..ROW
};

pub(super) const PORT: Cause = Cause {
    id: "service-target-port-unresolved",
    stage: Stage::Cluster,
    title: "A Service's target port is a name that no container has",
    explanation: "The Service names its target port, and no selected pod declares a container port of that name. The slices list ready addresses without a port, so nothing is reachable.",
    told_apart: "Counting ready addresses calls this healthy: look at the slices' ports.",
    cure: "Name the port in the containers, or give the Service a number.",
    docs: "concepts/services-networking/service/",
    judge: Judge::Service(unresolved),
    ..ROW
};

/// What stands behind a Service that selects pods.
pub(super) enum Behind<'a> {
    Ready {
        slices: Vec<&'a EndpointSlice>,
        pods: Vec<Pod<'a>>,
    },
    NoneReady(Vec<Pod<'a>>),
    Nothing,
    /// What is needed may not be read.
    Unknown,
}

/// Slices first: that a Service is fine must cost little. Pods are looked at only where no slice has a ready endpoint.
pub(super) fn behind<'a>(cx: &Cx<'a>, service: &Service) -> Behind<'a> {
    let (namespace, name) = (&*service.meta.namespace, &*service.meta.name);
    let slices = cx.slices_of(namespace, name);
    if slices.iter().any(|s| s.endpoints.iter().any(Endpoint::is_ready)) {
        return Behind::Ready { slices, pods: Vec::new() };
    }
    let pods = selected(cx, service);
    if pods.iter().any(|p| p.is_ready() && p.deleted().is_none()) {
        // The slices are late, or not there to be read.
        let told = slices.is_empty() && has_addresses(cx, namespace, name).unwrap_or(true);
        return if told { Behind::Ready { slices, pods } } else { Behind::Unknown };
    }
    match pods.iter().filter(|p| !matches!(p.phase(), Phase::Succeeded | Phase::Failed)).count() {
        _ if pods.is_empty() && !cx.sees_all(Kind::Pod, Some(namespace)) => Behind::Unknown,
        _ if pods.is_empty() => Behind::Nothing,
        0 => Behind::Unknown,
        _ => Behind::NoneReady(pods),
    }
}

fn selected<'a>(cx: &Cx<'a>, service: &Service) -> Vec<Pod<'a>> {
    cx.pods_selected(&service.meta.namespace, &Selector::from_map(&service.spec.selector))
}

/// The older kind's word, where a file holds it.
fn has_addresses(cx: &Cx<'_>, namespace: &str, name: &str) -> Option<bool> {
    let endpoints = cx.all::<Endpoints>(Some(namespace)).find(|e| &*e.meta.name == name)?;
    Some(endpoints.subsets.iter().any(|s| !s.addresses.is_empty()))
}

/// Whether its endpoints come from its selector.
pub(super) fn selects(service: &Service) -> bool {
    service.selects()
}

pub(super) fn reference(service: &Service) -> ObjectRef {
    ObjectRef::new("Service", &service.meta.namespace, &service.meta.name)
}

/// `app=web, tier=front`
pub(super) fn labels(map: &Pairs) -> String {
    map.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(", ")
}

fn no_ready(cx: &Cx<'_>, service: &Service) -> Option<Finding> {
    if !selects(service) {
        return None;
    }
    let pods = match behind(cx, service) {
        Behind::NoneReady(pods) => pods,
        Behind::Nothing => Vec::new(),
        Behind::Ready { .. } | Behind::Unknown => return None,
    };
    let workloads = backends::workloads_of(cx, service);
    if workloads.is_empty() || is_off(cx, &workloads, &pods) {
        return None;
    }
    let root = reference(service);
    let since = pods.iter().filter_map(|p| standing::unready_since(*p)).max();
    let names: Vec<String> = workloads.iter().map(ToString::to_string).collect();
    let mut finding = Finding::delayed(Key::object(&root), root.clone())
        .title(format!("Service {} has no ready endpoint", root.place()))
        .because(format!("Service {} selects {}, none of whose pods is ready.", root.place(), names.join(", ")))
        .next(format!("Make the pods of {} ready.", names.join(", ")))
        .fact("selector", labels(&service.spec.selector))
        .since(since)
        .clock(ClockKind::Provisioning, "pods becoming ready", None)
        .evidence(root, "spec.selector", labels(&service.spec.selector), None);
    if cx.older(since.or(service.meta.created), 2 * super::unready::SETTLE) {
        finding.verdict = Verdict::Blocked;
        finding.clock = None;
    }
    finding.waits_on = workloads.into_iter().chain(pods.iter().map(|p| p.reference())).collect();
    Some(finding)
}

/// Nothing should run behind it now.
fn is_off(cx: &Cx<'_>, workloads: &[ObjectRef], pods: &[Pod<'_>]) -> bool {
    pods.is_empty() && workloads.iter().all(|w| cx.workload(w).is_some_and(|w| w.desired() == 0))
}

fn unresolved(cx: &Cx<'_>, service: &Service) -> Option<Finding> {
    let named: Vec<&ServicePort> = service.spec.ports.iter().filter(|p| matches!(p.target_port, IntOrText::Text(_))).collect();
    if named.is_empty() || !selects(service) {
        return None;
    }
    let Behind::Ready { slices, pods } = behind(cx, service) else { return None };
    let port = named.into_iter().find(|p| !is_served(p, &slices))?;
    let pods = if pods.is_empty() { selected(cx, service) } else { pods };
    let ready: Vec<&Pod<'_>> = pods.iter().filter(|p| p.is_ready()).collect();
    if ready.is_empty() || ready.iter().any(|p| declares(**p, port)) {
        return None;
    }
    let root = reference(service);
    let target = &port.target_port;
    let declared = declared(&ready);
    let mut finding = Finding::blocked(Key::object(&root), root.clone())
        .title(format!("Service {}: targetPort {target} is on no container", root.place()))
        .because(format!(
            "targetPort {target} is a name, and the ready pods behind the Service declare {declared}: they get addresses without a port."
        ))
        .next(format!("Name a container port {target} in the pods, or set targetPort of port {} to a number.", port.port))
        .fact("targetPort", target)
        .fact("declaredPorts", &declared)
        .since(service.meta.changed.or(service.meta.created))
        .evidence(root, format!("spec.ports[port={}].targetPort", port.port), format!("targetPort: {target}"), service.meta.changed);
    if let Some(slice) = slices.first() {
        let ports: Vec<&str> = slice.ports.iter().map(|p| &*p.name).collect();
        let object = ObjectRef::new("EndpointSlice", &slice.meta.namespace, &slice.meta.name);
        finding = finding.evidence(object, "ports", format!("ports: [{}]", ports.join(", ")), None);
    }
    Some(finding)
}

/// A slice with this port: slices are split by the ports that their pods have. Without slices the pods decide.
fn is_served(port: &ServicePort, slices: &[&EndpointSlice]) -> bool {
    slices.iter().any(|s| !s.endpoints.is_empty() && s.ports.iter().any(|p| p.name == port.name && p.port.is_some()))
}

fn declares(pod: Pod<'_>, port: &ServicePort) -> bool {
    let IntOrText::Text(name) = &port.target_port else { return true };
    pod.spec().all_containers().any(|c| c.ports.iter().any(|p| p.name == *name))
}

fn declared(pods: &[&Pod<'_>]) -> String {
    let mut names: Vec<String> = pods
        .iter()
        .flat_map(|p| p.spec().all_containers().flat_map(|c| &c.ports))
        .map(|p| if p.name.is_empty() { p.container_port.to_string() } else { format!("{} ({})", p.name, p.container_port) })
        .collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "no port at all".to_owned() } else { names.join(", ") }
}
