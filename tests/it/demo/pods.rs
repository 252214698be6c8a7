//! The pods of the demo: what the scheduler and a kubelet would make of each, and how they write it.

use serde_json::{Value, json};

use super::world::{Said, World, rfc3339, uid};

/// A pod and how far it got.
#[derive(Clone)]
pub struct SimPod {
    pub namespace: String,
    pub name: String,
    /// `namespace/name` of what made it, and the revision.
    pub workload: String,
    pub revision: String,
    /// labels, annotations and spec as the controller made them.
    pub template: Value,
    pub owner: Value,
    pub created: i64,
    pub node: Option<(String, i64)>,
    pub stage: Stage,
    pub ready_since: i64,
    pub restarts: u32,
    pub last: Value,
    pub deleted: Option<i64>,
    pub finalizers: Vec<String>,
}

#[derive(Clone, PartialEq)]
pub enum Stage {
    New,
    Unschedulable(String),
    Creating,
    Init { started: i64 },
    Waiting { reason: String, message: String },
    Running { started: i64, ready: bool },
    Done { started: i64, finished: i64, exit: i32 },
}

impl SimPod {
    pub fn container(&self) -> &Value {
        &self.template["spec"]["containers"][0]
    }

    pub fn is_ready(&self, world: &World) -> bool {
        matches!(self.stage, Stage::Running { ready: true, .. }) && !self.is_on_lost_node(world)
    }

    pub fn is_active(&self) -> bool {
        self.deleted.is_none() && !matches!(self.stage, Stage::Done { .. })
    }

    pub fn is_on_lost_node(&self, world: &World) -> bool {
        self.node.as_ref().is_some_and(|(node, _)| world.lost.contains(node))
    }

    pub fn ip(&self) -> String {
        let at = super::world::hash(&format!("{}/{}", self.namespace, self.name));
        let node = self.node.as_ref().map_or(0, |(node, _)| super::nodes::number(node));
        format!("10.244.{node}.{}", at % 240 + 10)
    }

    /// The pod as the API server would hand it over.
    pub fn object(&self, world: &World) -> Value {
        let mut pod = json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": self.name, "namespace": self.namespace, "uid": uid(&format!("pod/{}/{}/{}", self.namespace, self.name, self.created)),
                "resourceVersion": "", "generation": 1, "creationTimestamp": rfc3339(self.created)},
            "spec": self.template["spec"], "status": self.status(world)});
        let meta = &mut pod["metadata"];
        if let Some(prefix) = self.owner["generateName"].as_str() {
            meta["generateName"] = json!(prefix);
        }
        if let Some(deleted) = self.deleted {
            meta["deletionTimestamp"] = json!(rfc3339(deleted + 30));
            meta["deletionGracePeriodSeconds"] = json!(30);
            meta["generation"] = json!(2);
        }
        meta["labels"] = self.template["metadata"]["labels"].clone();
        if !self.finalizers.is_empty() {
            meta["finalizers"] = json!(self.finalizers);
        }
        meta["ownerReferences"] = json!([self.owner["reference"]]);
        meta["managedFields"] = super::managed::of_pod(&self.template, self.created, self.changed());
        let spec = &mut pod["spec"];
        if let Some((node, _)) = &self.node {
            spec["nodeName"] = json!(node);
        }
        pod
    }

    /// When the kubelet wrote the status last.
    fn changed(&self) -> Option<i64> {
        let since = self.node.as_ref()?.1;
        Some(match self.stage {
            Stage::Init { started } | Stage::Running { started, .. } => started.max(self.ready_since).max(since),
            Stage::Done { finished, .. } => finished,
            Stage::New | Stage::Unschedulable(_) | Stage::Creating | Stage::Waiting { .. } => since,
        })
    }

    fn status(&self, world: &World) -> Value {
        let Some((node, bound)) = &self.node else {
            let mut status = json!({"phase": "Pending", "qosClass": "Burstable"});
            if let Stage::Unschedulable(message) = &self.stage {
                status["conditions"] = json!([{"type": "PodScheduled", "observedGeneration": 1, "status": "False", "lastProbeTime": null,
                    "lastTransitionTime": rfc3339(self.created), "reason": "Unschedulable", "message": message}]);
            }
            return status;
        };
        let ip = self.ip();
        let phase = match &self.stage {
            Stage::Running { .. } => "Running",
            Stage::Waiting { reason, .. } if reason == "CrashLoopBackOff" => "Running",
            Stage::Done { exit: 0, .. } => "Succeeded",
            Stage::Done { .. } => "Failed",
            Stage::New | Stage::Unschedulable(_) | Stage::Creating | Stage::Init { .. } | Stage::Waiting { .. } => "Pending",
        };
        let mut status = json!({"observedGeneration": 1, "phase": phase, "conditions": self.conditions(world, *bound),
            "hostIP": super::nodes::ip(node), "hostIPs": [{"ip": super::nodes::ip(node)}]});
        if self.has_sandbox() || matches!(self.stage, Stage::Done { .. }) {
            status["podIP"] = json!(ip);
            status["podIPs"] = json!([{"ip": ip}]);
        }
        status["startTime"] = json!(rfc3339(*bound));
        if let Some(init) = self.template["spec"]["initContainers"].get(0) {
            status["initContainerStatuses"] = json!([self.init_status(init)]);
        }
        status["containerStatuses"] = json!([self.container_status()]);
        status["qosClass"] = json!("Burstable");
        status
    }

    fn has_sandbox(&self) -> bool {
        matches!(self.stage, Stage::Init { .. } | Stage::Waiting { .. } | Stage::Running { .. })
    }

    fn conditions(&self, world: &World, bound: i64) -> Value {
        let name = self.container()["name"].as_str().unwrap_or_default();
        let lost = self.is_on_lost_node(world);
        let since_lost = world.get("Node", "", &self.node.as_ref().unwrap().0).map(|node| node["spec"]["taints"][0]["timeAdded"].clone());
        let (ready, since) = match self.stage {
            Stage::Running { ready, .. } => (ready, self.ready_since),
            Stage::Done { finished, .. } => (false, finished),
            Stage::New | Stage::Unschedulable(_) | Stage::Creating | Stage::Init { .. } | Stage::Waiting { .. } => (false, bound),
        };
        let waits_for_init = matches!(self.stage, Stage::Init { .. });
        let init = self.template["spec"]["initContainers"][0]["name"].as_str().unwrap_or_default();
        let condition = |kind: &str, is: bool, since: i64| json!({"type": kind, "observedGeneration": 1, "status": if is { "True" } else { "False" }, "lastProbeTime": null, "lastTransitionTime": rfc3339(since)});
        let why = |mut condition: Value, reason: &str, message: &str| {
            condition["reason"] = json!(reason);
            condition["message"] = json!(message);
            condition
        };
        let unready = format!("containers with unready status: [{name}]");
        let completed = matches!(self.stage, Stage::Done { exit: 0, .. });
        let mut all = vec![condition("PodReadyToStartContainers", self.has_sandbox(), if self.has_sandbox() { bound + 1 } else { since })];
        all.push(match waits_for_init {
            true => why(
                condition("Initialized", false, bound),
                "ContainersNotInitialized",
                &format!("containers with incomplete status: [{init}]"),
            ),
            false if completed => why(condition("Initialized", true, bound), "PodCompleted", ""),
            false => condition("Initialized", true, bound),
        });
        for kind in ["Ready", "ContainersReady"] {
            all.push(match (ready, completed) {
                (true, _) => condition(kind, true, since),
                (false, true) => why(condition(kind, false, since), "PodCompleted", ""),
                (false, false) => why(condition(kind, false, since), "ContainersNotReady", &unready),
            });
        }
        if lost && ready {
            all[2]["status"] = json!("False");
            all[2]["lastTransitionTime"] = since_lost.unwrap_or_default();
        }
        all.push(condition("PodScheduled", true, bound));
        if completed {
            all.iter_mut().filter(|c| c["message"] == "").for_each(|c| drop(c.as_object_mut().unwrap().shift_remove("message")));
        }
        Value::from(all)
    }

    fn init_status(&self, init: &Value) -> Value {
        let (state, started) = match &self.stage {
            Stage::Init { started } => (json!({"running": {"startedAt": rfc3339(*started)}}), true),
            Stage::Running { started, .. } => (terminated(self, 0, *started - 3, *started - 1), false),
            Stage::New | Stage::Unschedulable(_) | Stage::Creating | Stage::Waiting { .. } | Stage::Done { .. } => {
                (json!({"waiting": {"reason": "PodInitializing"}}), false)
            }
        };
        let image = init["image"].as_str().unwrap_or_default();
        json!({"name": init["name"], "state": state, "lastState": {}, "ready": false, "restartCount": 0, "image": image,
            "imageID": digest(image), "containerID": container_id(self, "init"), "started": started,
            "allocatedResources": init["resources"]["requests"], "resources": init["resources"]})
    }

    fn container_status(&self) -> Value {
        let container = self.container();
        let image = container["image"].as_str().unwrap_or_default();
        let (state, started) = match &self.stage {
            Stage::New | Stage::Unschedulable(_) | Stage::Creating => (json!({"waiting": {"reason": "ContainerCreating"}}), false),
            Stage::Init { .. } => (json!({"waiting": {"reason": "PodInitializing"}}), false),
            Stage::Waiting { reason, message } if message.is_empty() => (json!({"waiting": {"reason": reason}}), false),
            Stage::Waiting { reason, message } => (json!({"waiting": {"reason": reason, "message": message}}), false),
            Stage::Running { started, .. } => (json!({"running": {"startedAt": rfc3339(*started)}}), true),
            Stage::Done { started, finished, exit } => (terminated(self, *exit, *started, *finished), false),
        };
        let ran = started || self.restarts > 0 || matches!(self.stage, Stage::Done { .. });
        let mut status = json!({"name": container["name"], "state": state, "lastState": if self.last.is_null() { json!({}) } else { self.last.clone() },
            "ready": matches!(self.stage, Stage::Running { ready: true, .. }), "restartCount": self.restarts, "image": image,
            "imageID": if ran { digest(image) } else { String::new() }});
        if ran {
            status["containerID"] = json!(container_id(self, "main"));
        }
        status["started"] = json!(started);
        if ran {
            status["allocatedResources"] = container["resources"]["requests"].clone();
            status["resources"] = container["resources"].clone();
        }
        status
    }
}

pub fn terminated(pod: &SimPod, exit: i32, started: i64, finished: i64) -> Value {
    let reason = if exit == 0 { "Completed" } else { "Error" };
    json!({"terminated": {"exitCode": exit, "reason": reason, "startedAt": rfc3339(started), "finishedAt": rfc3339(finished),
        "containerID": container_id(pod, "main")}})
}

fn container_id(pod: &SimPod, which: &str) -> String {
    let seed = super::world::hash(&format!("{}/{}/{which}/{}", pod.namespace, pod.name, pod.restarts));
    format!(
        "containerd://{:016x}{:016x}{:016x}{:016x}",
        seed,
        super::world::mix(seed),
        super::world::mix(seed + 1),
        super::world::mix(seed + 2)
    )
}

fn digest(image: &str) -> String {
    let seed = super::world::hash(image);
    let name = image.rsplit_once(':').map_or(image, |(name, _)| name);
    format!(
        "{name}@sha256:{:016x}{:016x}{:016x}{:016x}",
        seed,
        super::world::mix(seed),
        super::world::mix(seed + 1),
        super::world::mix(seed + 2)
    )
}

/// What one of the components says about a pod.
pub fn say(world: &mut World, pod: &(String, String), kind: &str, reason: &str, message: &str) {
    let Some(sim) = world.pods.get(pod) else { return };
    let node = sim.node.as_ref().map_or("", |(node, _)| node).to_owned();
    let container = match (&sim.stage, sim.template["spec"]["initContainers"].get(0)) {
        (Stage::Creating | Stage::Init { .. }, Some(init)) => format!("spec.initContainers{{{}}}", init["name"].as_str().unwrap()),
        _ => format!("spec.containers{{{}}}", sim.container()["name"].as_str().unwrap()),
    };
    let (from, host, field) = match reason {
        "Scheduled" | "FailedScheduling" => ("default-scheduler", "", ""),
        "TaintManagerEviction" => ("taint-eviction-controller", "", ""),
        "NodeNotReady" => ("node-controller", "", ""),
        _ => ("kubelet", node.as_str(), container.as_str()),
    };
    let about = ("Pod".to_owned(), pod.0.clone(), pod.1.clone());
    world.event(&about, &Said { kind, reason, message, from, host, field });
}
