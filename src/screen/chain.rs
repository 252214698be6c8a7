//! The chain: one line from manifest to serving pod that shows where an object stops, and when it passed what it passed.

use super::Scene;
use super::ages::Ages;
use super::pods;
use super::thing::Thing;
use super::words::mark;
use crate::diagnose::{Blocker, Layer, Verdict, Workload};
use crate::model::{Condition, ContainerRole, ContainerStatus, Meta, Object, ObjectRef, Phase, Pod, ReplicaSet, Seen, Time};
use crate::page::Line;

/// One link of the chain.
struct Step {
    name: String,
    reach: Reach,
}

/// How far an object got.
enum Reach {
    Done(Option<Time>),
    /// Some of its pods are through.
    Part(usize, usize),
    /// It stops here; how many pods are through nevertheless.
    Here(Verdict, Option<(usize, usize)>),
    Ahead,
    /// It may not be read, so nobody can say.
    Unknown,
}

/// The chain of any object, in lines that end between two links.
pub(super) fn chain(scene: &Scene<'_>, object: &ObjectRef, blockers: &[&Blocker], ages: &Ages) -> Vec<Line> {
    let room = scene.size.0.saturating_sub(2);
    let mut lines: Vec<Line> = Vec::new();
    for step in steps(scene, object, blockers) {
        let step = link(Line::new(), step, ages);
        match lines.last_mut() {
            Some(line) if line.chars() + step.chars() + 5 <= room => *line = std::mem::take(line).dim(" ─ ").then(step),
            Some(line) => {
                *line = std::mem::take(line).dim(" ─");
                lines.push(Line::new().dim("  ").then(step));
            }
            None => lines.push(step),
        }
    }
    lines
}

fn link(line: Line, step: Step, ages: &Ages) -> Line {
    let counted = |line: Line, of: Option<(usize, usize)>| match of {
        Some((done, all)) if done > 0 => line.plain(format!(" {done} of {all}")),
        Some(_) | None => line,
    };
    match step.reach {
        Reach::Done(None) => line.fine(step.name),
        Reach::Done(Some(at)) => line.fine(step.name).dim(format!(" {}", ages.minute(at))),
        Reach::Part(done, all) => line.delayed(step.name).plain(format!(" {done} of {all}")),
        Reach::Here(verdict, of) => {
            let (role, shape) = mark(verdict);
            counted(line.role(role, format!("{shape} {}", step.name)), of)
        }
        Reach::Ahead => line.dim(format!("· {}", step.name)),
        Reach::Unknown => line.dim(format!("? {}", step.name)),
    }
}

fn steps(scene: &Scene<'_>, object: &ObjectRef, blockers: &[&Blocker]) -> Vec<Step> {
    let Seen::Is(thing) = scene.find(object) else { return absent(scene, object) };
    let pods: Vec<Pod<'_>> = pods::of_object(scene, object).into_iter().filter(|pod| pod.deleted().is_none()).collect();
    let mut steps = match (thing, thing.workload()) {
        (Thing::Pod(pod), _) => {
            let mut steps = vec![Step { name: "created".to_owned(), reach: Reach::Done(pod.created()) }];
            steps.extend(pod_steps(&[pod], 1, blockers));
            steps
        }
        (Thing::Object(_), Some(workload)) => {
            let pods = of_newest_revision(scene, workload, pods);
            let mut steps = vec![applied(workload.meta()), admission(blockers)];
            steps.extend(made(scene, workload, &pods, blockers));
            steps.extend(pod_steps(&pods, wanted(workload, pods.len()), blockers));
            steps
        }
        (Thing::Object(found), None) => object_steps(scene, found, blockers),
    };
    steps.extend(elsewhere(blockers));
    steps
}

fn object_steps(scene: &Scene<'_>, found: &Object, blockers: &[&Blocker]) -> Vec<Step> {
    if let Object::Node(node) = found {
        let registered = Step { name: "registered".to_owned(), reach: Reach::Done(node.meta.created) };
        return vec![registered, condition_step("ready", node.condition("Ready"), Layer::Node, blockers)];
    }
    let mut steps = vec![applied(found.meta()), admission(blockers)];
    if let Object::PersistentVolumeClaim(claim) = found {
        let bound = &*claim.status.phase == "Bound";
        let name = if bound { format!("bound to {}", claim.spec.volume_name) } else { "bound".to_owned() };
        steps.push(Step { name, reach: reach(bound, Layer::Storage, blockers) });
    }
    if let Object::Service(service) = found {
        steps.push(endpoints(scene, &service.meta, blockers));
    }
    steps
}

fn absent(scene: &Scene<'_>, object: &ObjectRef) -> Vec<Step> {
    let (name, reach) = if scene.find(object).is_absent() { ("not there", Reach::Ahead) } else { ("not seen", Reach::Unknown) };
    vec![Step { name: name.to_owned(), reach }]
}

fn applied(meta: &Meta) -> Step {
    Step { name: "manifest applied".to_owned(), reach: Reach::Done(meta.changed.or(meta.created)) }
}

fn stopped(layer: Layer, blockers: &[&Blocker]) -> Option<Verdict> {
    blockers.iter().filter(|blocker| blocker.layer == layer).map(|blocker| blocker.verdict).min()
}

fn reach(done: bool, layer: Layer, blockers: &[&Blocker]) -> Reach {
    match (stopped(layer, blockers), done) {
        (Some(verdict), _) => Reach::Here(verdict, None),
        (None, true) => Reach::Done(None),
        (None, false) => Reach::Ahead,
    }
}

fn admission(blockers: &[&Blocker]) -> Step {
    let name = if stopped(Layer::Admission, blockers).is_some() { "admission" } else { "admission passed" };
    Step { name: name.to_owned(), reach: reach(true, Layer::Admission, blockers) }
}

fn condition_step(name: &str, condition: Option<&Condition>, layer: Layer, blockers: &[&Blocker]) -> Step {
    let reach = match (stopped(layer, blockers), condition) {
        (Some(verdict), _) => Reach::Here(verdict, None),
        (None, Some(condition)) if condition.is_true() => Reach::Done(condition.last_transition_time),
        (None, _) => Reach::Ahead,
    };
    Step { name: name.to_owned(), reach }
}

/// How many pods are to get through.
fn wanted(workload: Workload<'_>, pods: usize) -> usize {
    usize::try_from(workload.desired()).unwrap_or(0).max(pods.min(1))
}

/// During a rollout the chain is that of the new pods: the old ones have gone through it long ago.
fn of_newest_revision<'a>(scene: &Scene<'_>, workload: Workload<'_>, pods: Vec<Pod<'a>>) -> Vec<Pod<'a>> {
    let Workload::Deployment(deployment) = workload else { return pods };
    match newest_set(scene, &deployment.meta) {
        Some(set) => pods.into_iter().filter(|pod| pod.owner().is_some_and(|owner| owner.uid == set.meta.uid)).collect(),
        None => pods,
    }
}

fn newest_set<'a>(scene: &Scene<'a>, deployment: &Meta) -> Option<&'a ReplicaSet> {
    let revision = |set: &&ReplicaSet| {
        (set.meta.annotation("deployment.kubernetes.io/revision").and_then(|r| r.parse::<u64>().ok()), set.meta.created)
    };
    scene.cluster.owned::<ReplicaSet>(&deployment.uid).into_iter().max_by_key(revision)
}

/// `ReplicaSet cart-6d4 (8 of 8 pods made)`.
fn made(scene: &Scene<'_>, workload: Workload<'_>, pods: &[Pod<'_>], blockers: &[&Blocker]) -> Option<Step> {
    let wanted = wanted(workload, pods.len());
    let maker = match workload {
        Workload::Deployment(deployment) => {
            format!("ReplicaSet {} ", newest_set(scene, &deployment.meta)?.meta.name)
        }
        Workload::StatefulSet(_) | Workload::DaemonSet(_) | Workload::Job(_) | Workload::CronJob(_) | Workload::ReplicaSet(_) => {
            String::new()
        }
    };
    if wanted == 0 {
        let reach = reach(false, Layer::Rollout, blockers);
        return Some(Step { name: format!("{maker}wants no pods"), reach });
    }
    let name = if maker.is_empty() {
        format!("{} of {wanted} pods made", pods.len())
    } else {
        format!("{maker}({} of {wanted} pods made)", pods.len())
    };
    let reach = if pods.len() >= wanted {
        Reach::Done(None)
    } else if pods.is_empty() {
        Reach::Ahead
    } else {
        Reach::Part(pods.len(), wanted)
    };
    let name = if matches!(reach, Reach::Part(..)) { format!("{maker}pods made") } else { name };
    Some(Step { name, reach })
}

/// What pods go through, with the layer that says when they do not.
const STAGES: [(&str, Layer); 6] = [
    ("scheduling", Layer::Scheduling),
    ("storage", Layer::Storage),
    ("image", Layer::Image),
    ("init", Layer::Init),
    ("running", Layer::Runtime),
    ("ready", Layer::Readiness),
];

fn pod_steps(pods: &[Pod<'_>], wanted: usize, blockers: &[&Blocker]) -> Vec<Step> {
    let passed: Vec<usize> = pods.iter().map(|pod| stages_passed(*pod)).collect();
    let step = |(nth, (name, layer)): (usize, &(&str, Layer))| {
        let through = passed.iter().filter(|passed| **passed > nth).count();
        let reach = match stopped(*layer, blockers) {
            Some(verdict) => Reach::Here(verdict, Some((through, wanted))),
            None if wanted > 0 && through >= wanted => Reach::Done(newest(pods, *layer)),
            None if through > 0 => Reach::Part(through, wanted),
            None => Reach::Ahead,
        };
        Step { name: (*name).to_owned(), reach }
    };
    STAGES.iter().enumerate().map(step).collect()
}

/// When the last of the pods got through, where a condition says so.
fn newest(pods: &[Pod<'_>], layer: Layer) -> Option<Time> {
    let condition = match layer {
        Layer::Scheduling => "PodScheduled",
        Layer::Storage => "PodReadyToStartContainers",
        Layer::Init => "Initialized",
        Layer::Readiness => "Ready",
        Layer::Admission | Layer::Image | Layer::Runtime | Layer::Rollout | Layer::Node | Layer::Termination | Layer::ControlPlane => {
            return None;
        }
    };
    let told = pods.iter().filter_map(|pod| pod.condition(condition)?.last_transition_time).max();
    told.or_else(|| pods.iter().filter(|_| layer == Layer::Readiness).filter_map(|pod| pod.ready_since()).max())
}

/// How many of the stages a pod has behind it.
fn stages_passed(pod: Pod<'_>) -> usize {
    if pod.is_plain() {
        return STAGES.len();
    }
    let app: Vec<&ContainerStatus> =
        pod.container_statuses().filter(|(role, _)| *role == ContainerRole::App).map(|(_, status)| status).collect();
    let begun = |status: &ContainerStatus| status.state.running.is_some() || status.state.terminated.is_some() || status.restart_count > 0;
    let any_begun = pod.container_statuses().any(|(_, status)| begun(status));
    let pulling = pod.container_statuses().any(|(_, status)| status.state.waiting.as_ref().is_some_and(|waiting| is_pull(&waiting.reason)));
    let sandbox = any_begun || pulling || pod.condition("PodReadyToStartContainers").is_some_and(Condition::is_true);
    let initialised = pod.condition("Initialized").is_some_and(Condition::is_true);
    let all_begun = !app.is_empty() && app.iter().all(|status| begun(status));
    let running = app
        .iter()
        .all(|status| status.state.running.is_some() || status.state.terminated.as_ref().is_some_and(|ended| ended.exit_code == 0));
    let passes = [
        pod.node().is_some(),
        sandbox,
        any_begun && !pulling,
        initialised && all_begun,
        running && all_begun,
        pod.is_ready() || pod.phase() == Phase::Succeeded,
    ];
    passes.into_iter().take_while(|passes| *passes).count()
}

/// Reasons for which a container waits for its image.
fn is_pull(reason: &str) -> bool {
    matches!(
        reason,
        "ErrImagePull"
            | "ImagePullBackOff"
            | "InvalidImageName"
            | "ErrImageNeverPull"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed"
    )
}

fn endpoints(scene: &Scene<'_>, meta: &Meta, blockers: &[&Blocker]) -> Step {
    let slices = scene.cluster.all::<crate::model::EndpointSlice>(Some(&meta.namespace)).filter(|slice| slice.service() == &*meta.name);
    let endpoints: Vec<bool> = slices.flat_map(|slice| &slice.endpoints).map(|endpoint| endpoint.conditions.ready != Some(false)).collect();
    let ready = endpoints.iter().filter(|ready| **ready).count();
    let reach = match stopped(Layer::Readiness, blockers) {
        Some(verdict) => Reach::Here(verdict, Some((ready, endpoints.len()))),
        None if !endpoints.is_empty() && ready == endpoints.len() => Reach::Done(None),
        None if ready > 0 => Reach::Part(ready, endpoints.len()),
        None => Reach::Ahead,
    };
    Step { name: "endpoints ready".to_owned(), reach }
}

/// What stands in the way outside the chain: the rollout, the node, the end, the control plane.
fn elsewhere(blockers: &[&Blocker]) -> Vec<Step> {
    let layers =
        [(Layer::Rollout, "rollout"), (Layer::Node, "node"), (Layer::Termination, "termination"), (Layer::ControlPlane, "control plane")];
    let here = |(layer, name): (Layer, &str)| {
        stopped(layer, blockers).map(|verdict| Step { name: name.to_owned(), reach: Reach::Here(verdict, None) })
    };
    layers.into_iter().filter_map(here).collect()
}
