//! How an object is meant to be, in a line or two of Kubernetes' own words.

use super::ages::Ages;
use super::thing::Thing;
use crate::diagnose::Workload;
use crate::model::{
    CronJob, DaemonSet, Deployment, HorizontalPodAutoscaler, Job, Meta, Node, Object, PersistentVolumeClaim, Pod, PodDisruptionBudget,
    Quantity, ReplicaSet, Service, StatefulSet,
};
use crate::page::Line;

pub(super) fn meant(thing: Thing<'_>, ages: &Ages) -> Vec<Line> {
    let (facts, history) = match (thing, thing.workload()) {
        (Thing::Pod(pod), _) => (pod_facts(pod), pod_history(pod, ages)),
        (Thing::Object(object), Some(workload)) => (workload_facts(workload, ages), history(object.meta(), ages)),
        (Thing::Object(object), None) => (object_facts(object), history(object.meta(), ages)),
    };
    let mut lines = vec![Line::from(facts.join(" · ")), Line::new().dim(history.join(" · "))];
    lines.retain(|line| !line.is_empty());
    lines
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most kinds have nothing to say here")]
fn object_facts(object: &Object) -> Vec<String> {
    match object {
        Object::Node(node) => node_facts(node),
        Object::PersistentVolumeClaim(claim) => claim_facts(claim),
        Object::Service(service) => service_facts(service),
        Object::HorizontalPodAutoscaler(autoscaler) => autoscaler_facts(autoscaler),
        Object::PodDisruptionBudget(budget) => budget_facts(budget),
        _ => Vec::new(),
    }
}

fn pod_history(pod: Pod<'_>, ages: &Ages) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(pod.created().map(|at| format!("created {}", ages.clock(at))));
    facts.extend(pod.owner().map(|owner| format!("owned by {} {}", owner.kind, owner.name)));
    facts.extend(pod.deleted().map(|at| format!("deletion asked for, grace until {}", ages.clock(at))));
    let finalizers = pod.finalizers();
    facts.extend((!finalizers.is_empty()).then(|| format!("finalizers {}", finalizers.join(", "))));
    facts
}

/// When it was made and changed, whose it is, and what holds it back from going.
fn history(meta: &Meta, ages: &Ages) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(meta.created.map(|at| format!("created {}", ages.clock(at))));
    facts.extend(meta.changed.map(|at| format!("last changed {}", ages.clock(at))));
    facts.extend(meta.controller().map(|owner| format!("owned by {} {}", owner.kind, owner.name)));
    facts.extend(meta.deleted.map(|at| format!("deletion asked for, grace until {}", ages.clock(at))));
    if !meta.finalizers.is_empty() {
        facts.push(format!("finalizers {}", meta.finalizers.join(", ")));
    }
    facts
}

fn workload_facts(workload: Workload<'_>, ages: &Ages) -> Vec<String> {
    match workload {
        Workload::Deployment(deployment) => deployment_facts(deployment),
        Workload::StatefulSet(set) => stateful_facts(set),
        Workload::DaemonSet(set) => daemon_facts(set),
        Workload::Job(job) => job_facts(job),
        Workload::CronJob(job) => cron_facts(job, ages),
        Workload::ReplicaSet(set) => replica_facts(set),
    }
}

fn deployment_facts(deployment: &Deployment) -> Vec<String> {
    let spec = &deployment.spec;
    let mut facts = vec![format!("replicas {}", spec.replicas.unwrap_or(1))];
    facts.extend(deployment.meta.annotation("deployment.kubernetes.io/revision").map(|revision| format!("revision {revision}")));
    match (&*spec.strategy.kind, &spec.strategy.rolling_update) {
        ("Recreate", _) => facts.push("strategy Recreate".to_owned()),
        (_, Some(rolling)) => {
            facts.extend(rolling.max_surge.as_ref().map(|surge| format!("max surge {surge}")));
            facts.extend(rolling.max_unavailable.as_ref().map(|least| format!("max unavailable {least}")));
        }
        (_, None) => {}
    }
    facts.push(format!("progress deadline {} s", spec.progress_deadline_seconds.unwrap_or(600)));
    facts.extend((spec.min_ready_seconds > 0).then(|| format!("ready for {} s", spec.min_ready_seconds)));
    facts.extend(spec.paused.then(|| "paused".to_owned()));
    facts
}

fn stateful_facts(set: &StatefulSet) -> Vec<String> {
    let spec = &set.spec;
    let mut facts = vec![format!("replicas {}", spec.replicas.unwrap_or(1))];
    facts.push(if &*spec.pod_management_policy == "Parallel" { "all pods at once".to_owned() } else { "one pod after another".to_owned() });
    facts.extend((!spec.service_name.is_empty()).then(|| format!("service {}", spec.service_name)));
    let partition = spec.update_strategy.rolling_update.as_ref().and_then(|rolling| rolling.partition).filter(|partition| *partition > 0);
    facts.extend(partition.map(|partition| format!("update only from ordinal {partition} on")));
    facts.extend((&*spec.update_strategy.kind == "OnDelete").then(|| "updated on delete".to_owned()));
    let claims: Vec<&str> = spec.volume_claim_templates.iter().map(|claim| &*claim.meta.name).collect();
    facts.extend((!claims.is_empty()).then(|| format!("a claim each: {}", claims.join(", "))));
    facts
}

fn daemon_facts(set: &DaemonSet) -> Vec<String> {
    let mut facts = vec![format!("a pod on {} nodes", set.status.desired_number_scheduled)];
    facts.extend((&*set.spec.update_strategy.kind == "OnDelete").then(|| "updated on delete".to_owned()));
    facts
}

fn replica_facts(set: &ReplicaSet) -> Vec<String> {
    let mut facts = vec![format!("replicas {}", set.spec.replicas.unwrap_or(1))];
    facts.extend(set.meta.annotation("deployment.kubernetes.io/revision").map(|revision| format!("revision {revision}")));
    facts
}

fn job_facts(job: &Job) -> Vec<String> {
    let spec = &job.spec;
    let mut facts = vec![format!("completions {}", spec.completions.map_or("any".to_owned(), |n| n.to_string()))];
    facts.push(format!("parallelism {}", spec.parallelism.unwrap_or(1)));
    facts.push(format!("back-off limit {}", spec.backoff_limit.unwrap_or(6)));
    facts.extend(spec.active_deadline_seconds.map(|seconds| format!("deadline {seconds} s")));
    facts.extend(spec.suspend.then(|| "suspended".to_owned()));
    facts.push(format!("{} succeeded, {} failed", job.status.succeeded, job.status.failed));
    facts
}

fn cron_facts(job: &CronJob, ages: &Ages) -> Vec<String> {
    let mut facts = vec![format!("schedule {}", job.spec.schedule)];
    facts.extend((!job.spec.time_zone.is_empty()).then(|| job.spec.time_zone.to_string()));
    facts.extend(job.spec.suspend.then(|| "suspended".to_owned()));
    facts.extend(job.status.last_schedule_time.map(|at| format!("last scheduled {}", ages.clock(at))));
    facts.extend(job.status.last_successful_time.map(|at| format!("last succeeded {}", ages.clock(at))));
    facts
}

fn pod_facts(pod: Pod<'_>) -> Vec<String> {
    let spec = pod.spec();
    let mut facts = vec![pod.node().map_or("on no node yet".to_owned(), |node| format!("on {node}"))];
    facts.push(requests(pod));
    facts.push(format!("service account {}", if spec.service_account_name.is_empty() { "default" } else { &spec.service_account_name }));
    facts.extend((!spec.priority_class_name.is_empty()).then(|| format!("priority {}", spec.priority_class_name)));
    facts.extend((!spec.restart_policy.is_empty()).then(|| format!("restart {}", spec.restart_policy)));
    facts.retain(|fact| !fact.is_empty());
    facts
}

/// What the scheduler reserves for it.
fn requests(pod: Pod<'_>) -> String {
    let spec = pod.spec();
    let one = |name: &str| format!("{name} {}", Quantity::spell(name, spec.requested(name)));
    let all: Vec<String> = spec.requested_resources().into_iter().map(one).collect();
    if all.is_empty() { "requests nothing".to_owned() } else { format!("requests {}", all.join(", ")) }
}

fn node_facts(node: &Node) -> Vec<String> {
    let allocatable = |name: &str| node.status.allocatable.get(name).map(|amount| format!("{name} {}", amount.text()));
    let mut facts: Vec<String> = ["cpu", "memory", "pods"].into_iter().filter_map(allocatable).collect();
    facts.extend((!node.status.node_info.kubelet_version.is_empty()).then(|| format!("kubelet {}", node.status.node_info.kubelet_version)));
    facts.extend(node.spec.unschedulable.then(|| "cordoned".to_owned()));
    facts.extend(node.spec.taints.iter().map(|taint| format!("taint {taint}")));
    facts
}

fn claim_facts(claim: &PersistentVolumeClaim) -> Vec<String> {
    let mut facts = vec![match &claim.spec.storage_class_name {
        None => "the default class".to_owned(),
        Some(class) if class.is_empty() => "no class".to_owned(),
        Some(class) => format!("class {class}"),
    }];
    facts.extend(claim.spec.resources.requests.get("storage").map(|size| format!("asks for {}", size.text())));
    facts.push(claim.spec.access_modes.join(", "));
    facts.push(format!("phase {}", claim.status.phase));
    facts.retain(|fact| !fact.is_empty());
    facts
}

fn service_facts(service: &Service) -> Vec<String> {
    let selector: Vec<String> = service.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let ports: Vec<String> = service.spec.ports.iter().map(|port| format!("{} → {}", port.port, port.target_port)).collect();
    let kind = if service.spec.kind.is_empty() { "ClusterIP" } else { &service.spec.kind };
    let selector = if selector.is_empty() { "selects no pods by itself".to_owned() } else { format!("selects {}", selector.join(", ")) };
    vec![kind.to_owned(), selector, format!("ports {}", ports.join(", "))]
}

fn autoscaler_facts(autoscaler: &HorizontalPodAutoscaler) -> Vec<String> {
    let (spec, status) = (&autoscaler.spec, &autoscaler.status);
    let target = format!("scales {} {}", spec.scale_target_ref.kind, spec.scale_target_ref.name);
    vec![
        target,
        format!("from {} to {}", spec.min_replicas.unwrap_or(1), spec.max_replicas),
        format!("wants {} now, has {}", status.desired_replicas, status.current_replicas),
    ]
}

fn budget_facts(budget: &PodDisruptionBudget) -> Vec<String> {
    let spec = &budget.spec;
    let mut facts: Vec<String> = spec.min_available.iter().map(|least| format!("at least {least} available")).collect();
    facts.extend(spec.max_unavailable.iter().map(|most| format!("at most {most} unavailable")));
    facts.push(format!(
        "{} healthy of {} needed, {} may go",
        budget.status.current_healthy, budget.status.desired_healthy, budget.status.disruptions_allowed
    ));
    facts
}
