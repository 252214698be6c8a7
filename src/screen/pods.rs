//! What a pod's state is in a word, as `kubectl get pods` shows it, and which of its containers matters.

use super::Scene;
use super::thing::Thing;
use crate::diagnose::{Blocker, Workload};
use crate::model::{ContainerRole, ContainerStatus, Job, Object, ObjectRef, Phase, Pod, ReplicaSet, Seen};
use crate::page::About;

/// The column STATUS of `kubectl get pods`.
pub(super) fn status(pod: Pod<'_>) -> String {
    let status = pod.status();
    if pod.deleted().is_some() {
        return if &*status.reason == "NodeLost" { "Unknown".to_owned() } else { "Terminating".to_owned() };
    }
    let init = pod.container_statuses().filter(|(role, _)| *role == ContainerRole::Init).map(|(_, status)| status);
    if let Some(word) = init.filter_map(init_word).next() {
        return word;
    }
    let app = pod.container_statuses().filter(|(role, _)| *role == ContainerRole::App).map(|(_, status)| status);
    if let Some(word) = app.filter_map(word).next() {
        return word;
    }
    if !status.reason.is_empty() {
        return status.reason.to_string();
    }
    match pod.phase() {
        Phase::Pending => "Pending",
        Phase::Running if pod.is_ready() => "Running",
        Phase::Running => "Running, not ready",
        Phase::Succeeded => "Completed",
        Phase::Failed => "Failed",
        Phase::Unknown => "Unknown",
    }
    .to_owned()
}

fn init_word(status: &ContainerStatus) -> Option<String> {
    match (&status.state.waiting, &status.state.terminated) {
        (Some(waiting), _) if !waiting.reason.is_empty() && &*waiting.reason != "PodInitializing" => {
            Some(format!("Init:{}", waiting.reason))
        }
        (_, Some(ended)) if ended.exit_code != 0 => Some(format!("Init:{}", ended_word(&ended.reason, ended.exit_code))),
        _ if status.state.running.is_some() && status.started != Some(true) => Some(format!("Init:{}", status.name)),
        _ => None,
    }
}

fn word(status: &ContainerStatus) -> Option<String> {
    match (&status.state.waiting, &status.state.terminated) {
        (Some(waiting), _) if !waiting.reason.is_empty() => Some(waiting.reason.to_string()),
        (_, Some(ended)) if ended.exit_code != 0 => Some(ended_word(&ended.reason, ended.exit_code)),
        _ => None,
    }
}

fn ended_word(reason: &str, code: i64) -> String {
    if reason.is_empty() { format!("ExitCode:{code}") } else { reason.to_owned() }
}

/// The container whose logs tell most: the first that waits, crashes or is not ready, init containers first; else the first.
pub(super) fn container_that_matters(pod: Pod<'_>) -> Option<String> {
    let odd = |(role, status): &(ContainerRole, &ContainerStatus)| match role {
        ContainerRole::Init => status.state.terminated.as_ref().map_or(status.started != Some(true), |ended| ended.exit_code != 0),
        ContainerRole::App => !status.ready && status.state.terminated.as_ref().is_none_or(|ended| ended.exit_code != 0),
    };
    // What has not begun has no logs: a container that ran once tells more.
    let ran = |status: &ContainerStatus| status.restart_count > 0 || status.state.running.is_some() || status.state.terminated.is_some();
    let odd_ones: Vec<&ContainerStatus> = pod.container_statuses().filter(odd).map(|(_, status)| status).collect();
    let found = odd_ones.iter().find(|status| ran(status)).or(odd_ones.first()).map(|status| status.name.to_string());
    let default = || pod.annotation("kubectl.kubernetes.io/default-container").map(str::to_owned);
    found.or_else(default).or_else(|| pod.spec().containers.first().map(|container| container.name.to_string()))
}

/// What keys such as *logs* are about for an object: the pod whose logs tell most, if there is one.
pub(super) fn about(scene: &Scene<'_>, object: &ObjectRef, blocker: &Blocker) -> About {
    of(scene, object, stuck(scene, object, blocker))
}

/// The first pod below an object that a blocker holds up, looked for among as many as a frame has time for.
pub(super) fn stuck(scene: &Scene<'_>, object: &ObjectRef, blocker: &Blocker) -> Option<ObjectRef> {
    const LOOKED_AT: usize = 200;
    if &*object.kind == "Pod" {
        return None;
    }
    blocker.pod_names.iter().take(LOOKED_AT).find(|pod| below(scene, pod).as_ref() == Some(object)).cloned()
}

/// The same, where no blocker is known.
pub(super) fn of(scene: &Scene<'_>, object: &ObjectRef, stuck: Option<ObjectRef>) -> About {
    let pod = if &*object.kind == "Pod" { Some(object.clone()) } else { stuck.or_else(|| worst(scene, object)) };
    let found = pod.as_ref().and_then(|pod| scene.cluster.pod(&pod.namespace, &pod.name));
    About {
        object: object.to_string(),
        pod: pod.filter(|_| found.is_some()).map(|pod| pod.to_string()),
        container: found.and_then(container_that_matters),
        declared: None,
    }
}

fn below(scene: &Scene<'_>, pod: &ObjectRef) -> Option<ObjectRef> {
    scene.cluster.pod(&pod.namespace, &pod.name).map(|pod| scene.cluster.top_owner(pod))
}

/// Of the pods of an object, the first that is not plain, else the first.
fn worst(scene: &Scene<'_>, object: &ObjectRef) -> Option<ObjectRef> {
    let pods = of_object(scene, object);
    pods.iter().find(|pod| !pod.is_plain()).or(pods.first()).map(|pod| pod.reference())
}

/// The pods below a workload, or on a node; sorted by name.
pub(super) fn of_object<'a>(scene: &Scene<'a>, object: &ObjectRef) -> Vec<Pod<'a>> {
    let cluster = scene.cluster;
    let Seen::Is(thing) = scene.find(object) else { return Vec::new() };
    let mut pods: Vec<Pod<'a>> = match (thing, thing.workload()) {
        (Thing::Pod(pod), _) => vec![pod],
        (Thing::Object(_), Some(Workload::Deployment(o))) => {
            cluster.owned::<ReplicaSet>(&o.meta.uid).iter().flat_map(|set| cluster.pods_of(&set.meta.uid)).collect()
        }
        (Thing::Object(_), Some(Workload::CronJob(o))) => {
            cluster.owned::<Job>(&o.meta.uid).iter().flat_map(|job| cluster.pods_of(&job.meta.uid)).collect()
        }
        (Thing::Object(Object::Node(node)), None) => cluster.pods_on(&node.meta.name).collect(),
        (Thing::Object(found), _) => cluster.pods_of(&found.meta().uid).collect(),
    };
    pods.sort_by_key(|pod| pod.name());
    pods
}
