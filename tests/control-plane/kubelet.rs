//! Plays every kubelet: a bound pod gets the status that its annotation asks for, and leaves when it is deleted.

use crate::api::{Api, items};
use crate::pki::Identity;
use crate::{logs, pod_status};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// On a pod: what its kubelet writes, a name known to `pod_status`; without it the pod runs and is ready.
pub const PLAYS: &str = "holdup.test/plays";

pub struct Kubelet {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    alive: Alive,
    pub port: u16,
    api: Arc<Api>,
    _logs: logs::Endpoint,
}

/// The nodes whose kubelet still does its work.
type Alive = Arc<Mutex<BTreeSet<String>>>;

struct Round {
    api: Arc<Api>,
    alive: Alive,
    last_beat: Option<Instant>,
    /// What was written for a pod, by uid: a status is written once, and again when the annotation changes.
    written: BTreeSet<(String, String)>,
}

const PAUSE: Duration = Duration::from_millis(250);
const BEAT: Duration = Duration::from_secs(10);

impl Kubelet {
    pub fn start(api: Arc<Api>, port: u16, identity: &Identity) -> Self {
        let alive = Alive::default();
        let (stop, stopped) = mpsc::channel();
        let mut round = Round { api: Arc::clone(&api), alive: Arc::clone(&alive), last_beat: None, written: BTreeSet::new() };
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(PAUSE) == Err(mpsc::RecvTimeoutError::Timeout) {
                round.go();
            }
        });
        let endpoint = logs::Endpoint::open(port, identity);
        Self { stop: Some(stop), thread: Some(thread), alive, port, api, _logs: endpoint }
    }

    /// Adds a Ready node; `spec` and `labels` as in the Node object.
    pub fn add_node(&self, name: &str, labels: &Value, spec: &Value) {
        let mut node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec});
        node["metadata"]["labels"]["kubernetes.io/hostname"] = json!(name);
        self.api.create("/api/v1/nodes", &node).expect("the node is accepted");
        let status = node_status(name, self.port);
        self.api.patch(&format!("/api/v1/nodes/{name}/status"), &status).expect("the node's status is accepted");
        self.api.create(LEASES, &lease(name)).expect("the node's lease is accepted");
        self.alive.lock().expect("no panic while held").insert(name.to_owned());
    }

    /// The kubelet of this node falls silent: what the node controller writes after the grace period is written at once.
    pub fn lose_node(&self, name: &str) {
        self.alive.lock().expect("no panic while held").remove(name);
        let now = pod_status::now();
        let silent = |kind: &str| {
            json!({"type": kind, "status": "Unknown", "reason": "NodeStatusUnknown", "lastHeartbeatTime": now,
                "lastTransitionTime": now, "message": "Kubelet stopped posting node status."})
        };
        let conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(silent);
        let status = json!({"status": {"conditions": conditions}});
        self.api.patch(&format!("/api/v1/nodes/{name}/status"), &status).expect("the node's status is accepted");
        self.mark_pods_not_ready(name);
    }

    fn mark_pods_not_ready(&self, node: &str) {
        let pods = self.api.get(&format!("/api/v1/pods?fieldSelector=spec.nodeName={node}")).expect("pods can be listed");
        for pod in items(&pods) {
            let mut conditions = pod["status"]["conditions"].clone();
            for condition in conditions.as_array_mut().into_iter().flatten().filter(|condition| condition["type"] == "Ready") {
                condition["status"] = json!("False");
                condition["lastTransitionTime"] = json!(pod_status::now());
            }
            let status = json!({"status": {"conditions": conditions}});
            self.api.patch(&format!("{}/status", path(pod)), &status).expect("the pod's status is accepted");
        }
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Round {
    /// Whatever fails is tried again in the next round: the API server may be away for a while.
    fn go(&mut self) {
        let alive = self.alive.lock().expect("no panic while held").clone();
        if self.last_beat.is_none_or(|last| last.elapsed() > BEAT) {
            let renewed = alive.iter().all(|node| self.api.patch(&format!("{LEASES}/{node}"), &lease(node)).is_ok());
            self.last_beat = renewed.then(Instant::now);
        }
        let Ok(pods) = self.api.get("/api/v1/pods?fieldSelector=spec.nodeName!=&resourceVersion=0") else {
            return;
        };
        for pod in items(&pods) {
            let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
            if alive.contains(node) {
                self.tend(pod);
            }
        }
    }

    fn tend(&mut self, pod: &Value) {
        let meta = &pod["metadata"];
        let state = meta["annotations"][PLAYS].as_str().unwrap_or("running");
        let done = (meta["uid"].to_string(), state.to_owned());
        let written = if meta["deletionTimestamp"].is_string() {
            state == "never-ends" || self.api.delete_at_once(&path(pod)).is_ok()
        } else {
            !self.written.contains(&done) && self.write(pod, state).is_ok()
        };
        if written {
            self.written.insert(done);
        }
    }

    fn write(&self, pod: &Value, state: &str) -> Result<(), String> {
        let Some(written) = pod_status::written(pod, state) else {
            return Ok(());
        };
        self.api.patch(&format!("{}/status", path(pod)), &json!({"status": written.status}))?;
        for event in written.events {
            let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
            self.api.create(&format!("/api/v1/namespaces/{namespace}/events"), &event)?;
        }
        Ok(())
    }
}

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// What a kubelet renews every ten seconds.
fn lease(node: &str) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": node, "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": pod_status::now_in_micros()}})
}

fn path(pod: &Value) -> String {
    let field = |name: &str| pod["metadata"][name].as_str().unwrap_or_default().to_owned();
    format!("/api/v1/namespaces/{}/pods/{}", field("namespace"), field("name"))
}

fn node_status(name: &str, port: u16) -> Value {
    let now = pod_status::now();
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": "as the kubelet says",
            "lastHeartbeatTime": now, "lastTransitionTime": now})
    };
    let size = json!({"cpu": "16", "memory": "32Gi", "pods": "110", "ephemeral-storage": "100Gi"});
    json!({"status": {
        "capacity": size,
        "allocatable": size,
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "v1.37.2", "kubeProxyVersion": "",
            "containerRuntimeVersion": "containerd://2.1.0", "kernelVersion": "6.12", "osImage": "test", "machineID": "",
            "systemUUID": "", "bootID": ""},
        "conditions": [
            condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
            condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
            condition("PIDPressure", "False", "KubeletHasSufficientPID"),
            condition("Ready", "True", "KubeletReady"),
        ],
    }})
}
