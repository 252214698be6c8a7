//! What becomes of a pod in the demo: bound, pulled, started, ready, crashing, waiting, gone.

use serde_json::{Value, json};

use super::pods::{Stage, say, terminated};
use super::world::{PodKey, World};
use super::{nodes, workloads};

/// Lets a new pod begin its life; `then` says what is odd about it.
pub fn begin(world: &mut World, pod: PodKey, then: &Value) {
    if let Some(message) = then["unschedulable"].as_str() {
        let message = message.to_owned();
        return world.after(1, move |world| {
            stage(world, &pod, Stage::Unschedulable(message.clone()));
            world.render();
            say(world, &pod, "Warning", "FailedScheduling", &message);
        });
    }
    let then = then.clone();
    world.after(1, move |world| {
        let node = place(world, &pod);
        bind(world, &pod, &node);
        if let Some(error) = then["image-error"].as_str() {
            let error = error.to_owned();
            world.after(1, move |world| pull_fails(world, pod, error, 10));
        } else {
            world.after(1, move |world| start(world, pod, &then));
        }
    });
}

/// The node with the fewest pods among those that fit, as a scheduler without opinions would choose.
fn place(world: &World, pod: &PodKey) -> String {
    let spec = &world.pods[pod].template["spec"];
    let tolerates = spec["tolerations"].as_array().unwrap().iter().any(|toleration| toleration["key"] == "gpu");
    let wants_gpu = spec["nodeSelector"]["pool"] == "gpu";
    let is_fit = |name: &&str| {
        let is_gpu = name.starts_with("gpu");
        !world.lost.iter().chain(&world.cordoned).chain(&world.silent).chain(&world.kept_free).any(|gone| gone == name)
            && (if is_gpu { tolerates } else { !wants_gpu })
    };
    let count = |name: &&str| world.pods.values().filter(|pod| pod.node.as_ref().is_some_and(|(node, _)| node == name)).count();
    let nodes = world.objects.keys().filter(|key| key.0 == "Node").map(|key| key.2.as_str());
    nodes.filter(is_fit).min_by_key(|name| (count(name), *name)).unwrap().to_owned()
}

fn bind(world: &mut World, pod: &PodKey, node: &str) {
    let now = world.now;
    world.pods.get_mut(pod).unwrap().node = Some((node.to_owned(), now));
    stage(world, pod, Stage::Creating);
    world.render();
    say(world, pod, "Normal", "Scheduled", &format!("Successfully assigned {}/{} to {node}", pod.0, pod.1));
}

fn stage(world: &mut World, pod: &PodKey, stage: Stage) {
    if let Some(sim) = world.pods.get_mut(pod) {
        sim.stage = stage;
        let workload = sim.workload.clone();
        world.touch(&workload);
    }
}

/// A pull that fails, waits twice as long as before, and fails again.
#[expect(clippy::needless_pass_by_value, reason = "it is made where it is handed over")]
fn pull_fails(world: &mut World, pod: PodKey, error: String, wait: i64) {
    if !world.pods.get(&pod).is_some_and(super::pods::SimPod::is_active) {
        return;
    }
    let image = world.pods[&pod].container()["image"].as_str().unwrap().to_owned();
    say(world, &pod, "Normal", "Pulling", &format!("Pulling image \"{image}\""));
    say(world, &pod, "Warning", "Failed", &format!("Failed to pull image \"{image}\": {error}"));
    say(world, &pod, "Warning", "Failed", "Error: ErrImagePull");
    stage(world, &pod, Stage::Waiting { reason: "ErrImagePull".to_owned(), message: error.clone() });
    world.render();
    let (again, backing_off, message) = (pod.clone(), pod.clone(), error.clone());
    world.after(3, move |world| {
        let text = format!("Back-off pulling image \"{image}\"");
        say(world, &backing_off, "Normal", "BackOff", &text);
        say(world, &backing_off, "Warning", "Failed", "Error: ImagePullBackOff");
        stage(
            world,
            &backing_off,
            Stage::Waiting { reason: "ImagePullBackOff".to_owned(), message: format!("{text}: ErrImagePull: {message}") },
        );
    });
    world.after(wait + 2, move |world| pull_fails(world, again, error, (wait * 2).min(300)));
}

fn start(world: &mut World, pod: PodKey, then: &Value) {
    let Some(sim) = world.pods.get(&pod) else { return };
    let init = sim.template["spec"]["initContainers"].get(0).cloned();
    let image = init.as_ref().unwrap_or(sim.container())["image"].as_str().unwrap().to_owned();
    let name = init.as_ref().unwrap_or(sim.container())["name"].as_str().unwrap().to_owned();
    say_started(world, &pod, &image, &name);
    let now = world.now;
    if then["init-waits"] == true {
        log(world, &pod, &name, false, then);
        return stage(world, &pod, Stage::Init { started: now });
    }
    stage(world, &pod, Stage::Running { started: now, ready: false });
    world.pods.get_mut(&pod).unwrap().ready_since = now;
    if then["crash"].is_object() {
        let (after, then) = (then["crash"]["after"].as_i64().unwrap(), then.clone());
        return world.after(after, move |world| crash(world, pod, &then, 10));
    }
    if then["fail"].is_object() {
        let (after, then) = (then["fail"]["after"].as_i64().unwrap(), then.clone());
        return world.after(after, move |world| fail(world, &pod, &then));
    }
    let wait = then["ready-after"].as_i64().unwrap_or(8);
    if let Some(message) = then["unhealthy"].as_str() {
        for at in (5..wait).step_by(10) {
            let (pod, message) = (pod.clone(), message.to_owned());
            world.after(at, move |world| workloads::unhealthy(world, &pod, &message));
        }
    }
    world.after(wait, move |world| become_ready(world, &pod));
}

/// What the kubelet says of a start. An image that this node has not run before was pulled first.
fn say_started(world: &mut World, pod: &PodKey, image: &str, container: &str) {
    let sim = &world.pods[pod];
    let first = &world.workloads[&sim.workload].revisions[0].template["spec"]["containers"][0]["image"];
    if sim.restarts == 0 && first != image && image == sim.container()["image"] {
        let size = 40_000_000 + super::world::hash(image) % 90_000_000;
        say(world, pod, "Normal", "Pulling", &format!("Pulling image \"{image}\""));
        say(
            world,
            pod,
            "Normal",
            "Pulled",
            &format!("Successfully pulled image \"{image}\" in 812ms (812ms including waiting). Image size: {size} bytes."),
        );
    } else {
        say(
            world,
            pod,
            "Normal",
            "Pulled",
            &format!("Container image \"{image}\" already present on machine and can be accessed by the pod"),
        );
    }
    say(world, pod, "Normal", "Created", &format!("Created container: {container}"));
    say(world, pod, "Normal", "Started", &format!("Started container {container}"));
}

fn become_ready(world: &mut World, pod: &PodKey) {
    let now = world.now;
    let Some(sim) = world.pods.get_mut(pod) else { return };
    if let Stage::Running { started, .. } = sim.stage {
        sim.ready_since = now;
        sim.stage = Stage::Running { started, ready: true };
        workloads::got_on(world, pod);
    }
}

/// A container that ends, waits twice as long as before, and is started again; it looks ready for the moment it runs.
fn crash(world: &mut World, pod: PodKey, then: &Value, wait: i64) {
    let now = world.now;
    let exit = i32::try_from(then["crash"]["exit"].as_i64().unwrap()).unwrap();
    let Some(sim) = world.pods.get_mut(&pod) else { return };
    let Stage::Running { started, .. } = sim.stage else { return };
    sim.ready_since = now;
    sim.last = terminated(sim, exit, started, now);
    sim.stage = Stage::Done { started, finished: now, exit };
    let container = sim.container()["name"].as_str().unwrap().to_owned();
    let uid = super::world::uid(&format!("pod/{}/{}/{}", sim.namespace, sim.name, sim.created));
    let place = format!("{container} in pod {}_{}({uid})", pod.1, pod.0);
    log(world, &pod, &container, true, then);
    let text = match wait {
        10 => "10s".to_owned(),
        20 => "20s".to_owned(),
        40 => "40s".to_owned(),
        80 => "1m20s".to_owned(),
        160 => "2m40s".to_owned(),
        _ => "5m0s".to_owned(),
    };
    let message = format!("back-off {text} restarting failed container={container} pod={}_{}({uid})", pod.1, pod.0);
    stage(world, &pod, Stage::Waiting { reason: "CrashLoopBackOff".to_owned(), message });
    world.render();
    say(world, &pod, "Warning", "BackOff", &format!("Back-off restarting failed container {place}"));
    let then = then.clone();
    world.after(wait, move |world| {
        let now = world.now;
        let sim = world.pods.get_mut(&pod).unwrap();
        sim.restarts += 1;
        sim.stage = Stage::Running { started: now, ready: false };
        let (image, workload) = (sim.container()["image"].as_str().unwrap().to_owned(), sim.workload.clone());
        world.touch(&workload);
        say_started(world, &pod, &image, &container);
        let after = then["crash"]["after"].as_i64().unwrap();
        world.after(after, move |world| crash(world, pod, &then, (wait * 2).min(300)));
    });
}

/// A Job's pod that ends and may not be tried again.
fn fail(world: &mut World, pod: &PodKey, then: &Value) {
    let now = world.now;
    let exit = i32::try_from(then["fail"]["exit"].as_i64().unwrap()).unwrap();
    let Some(sim) = world.pods.get(pod) else { return };
    let Stage::Running { started, .. } = sim.stage else { return };
    let (container, key) = (sim.container()["name"].as_str().unwrap().to_owned(), sim.workload.clone());
    log(world, pod, &container, false, then);
    stage(world, pod, Stage::Done { started, finished: now, exit });
    world.workloads.get_mut(&key).unwrap().ended = Some(now);
    world.render();
    let (namespace, name) = key.split_once('/').unwrap();
    let about = ("Job".to_owned(), namespace.to_owned(), name.to_owned());
    let said = super::world::Said {
        kind: "Warning",
        reason: "BackoffLimitExceeded",
        message: "Job has reached the specified backoff limit",
        from: "job-controller",
        host: "",
        field: "",
    };
    world.event(&about, &said);
}

/// A readiness probe that fails from now on.
pub fn unready(world: &mut World, pod: &PodKey, message: &str, then: &Value) {
    let now = world.now;
    let sim = world.pods.get_mut(pod).unwrap();
    let Stage::Running { started, .. } = sim.stage else { return };
    sim.ready_since = now;
    sim.stage = Stage::Running { started, ready: false };
    let (container, workload) = (sim.container()["name"].as_str().unwrap().to_owned(), sim.workload.clone());
    world.touch(&workload);
    log(world, pod, &container, false, then);
    for after in [0, 10, 20] {
        let (pod, message) = (pod.clone(), message.to_owned());
        world.after(after, move |world| workloads::unhealthy(world, &pod, &message));
    }
}

/// Deletes a pod: one without a node is gone at once, the others when the kubelet has stopped them.
pub fn delete(world: &mut World, pod: &PodKey) {
    let now = world.now;
    let Some(sim) = world.pods.get_mut(pod) else { return };
    if sim.deleted.is_some() {
        return;
    }
    let (workload, is_bound) = (sim.workload.clone(), sim.node.is_some());
    world.touch(&workload);
    if !is_bound {
        return forget(world, pod);
    }
    sim_deleted(world, pod, now);
    let container = world.pods[pod].container()["name"].as_str().unwrap().to_owned();
    say(world, pod, "Normal", "Killing", &format!("Stopping container {container}"));
    let pod = pod.clone();
    world.after(2, move |world| {
        forget(world, &pod);
        workloads::reconcile(world, &workload);
    });
}

fn sim_deleted(world: &mut World, pod: &PodKey, now: i64) {
    if let Some(sim) = world.pods.get_mut(pod) {
        sim.deleted = Some(now);
    }
}

fn forget(world: &mut World, pod: &PodKey) {
    if let Some(sim) = world.pods.remove(pod) {
        world.remove("Pod", &pod.0, &pod.1);
        world.touch(&sim.workload);
    }
}

/// Keeps what the container wrote, for `logs`.
fn log(world: &mut World, pod: &PodKey, container: &str, previous: bool, then: &Value) {
    if let Some(lines) = then["log"].as_array() {
        world.put(json!({"kind": "Log", "apiVersion": "holdup.dev/v1", "metadata": {"name": pod.1, "namespace": pod.0}, "container": container, "previous": previous, "lines": lines}));
    }
}

/// Puts a pod where it has been running for long.
pub fn settle(world: &mut World, pod: &PodKey, node: &str) {
    let sim = world.pods.get_mut(pod).unwrap();
    let created = sim.created;
    sim.node = Some((node.to_owned(), created + 1));
    sim.ready_since = created + 14 + i64::try_from(nodes::number(node) % 9).unwrap();
    sim.stage = Stage::Running { started: created + 5, ready: true };
    let workload = sim.workload.clone();
    world.touch(&workload);
}
