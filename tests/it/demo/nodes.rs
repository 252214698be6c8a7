//! The nodes of the demo, their leases, and what a lost kubelet leaves behind.

use serde_json::{Value, json};

use super::pods::say;
use super::script::text;
use super::world::{Said, World, micro, rfc3339, uid};

pub fn number(node: &str) -> u64 {
    let zone = match node.as_bytes()[0] {
        b'a' => 10,
        b'b' => 20,
        b'c' => 30,
        _ => 40,
    };
    zone + u64::from(node.as_bytes()[node.len() - 1] - b'0')
}

pub fn ip(node: &str) -> String {
    format!("10.0.{}.{}", number(node) / 10, number(node) + 4)
}

/// Adds the nodes of one line of the script.
pub fn add(world: &mut World, line: &Value) {
    for name in line["names"].as_array().unwrap() {
        let name = text(name);
        let node = node(world, &name, line);
        world.put(node);
        let made = world.epoch - 41 * 86_400;
        world.put(json!({"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": name, "uid": uid(&format!("csinode/{name}")), "creationTimestamp": rfc3339(made)},
            "spec": {"drivers": [{"name": "ebs.csi.aws.com", "nodeID": format!("i-{:017x}", super::world::hash(&name) >> 4), "topologyKeys": ["topology.ebs.csi.aws.com/zone"], "allocatable": {"count": 25}}]}}));
        renew(world, name);
    }
}

fn node(world: &World, name: &str, line: &Value) -> Value {
    let made = world.epoch - 41 * 86_400 + i64::try_from(number(name)).unwrap();
    let heartbeat = world.epoch - i64::try_from(number(name) * 7 % 240).unwrap() - 20;
    let mut labels = json!({"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": if name.starts_with("gpu") { "g5.4xlarge" } else { "m7i.2xlarge" }, "topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": line["zone"]});
    for (key, value) in line["labels"].as_object().into_iter().flatten() {
        labels[key] = value.clone();
    }
    let cores = line["cpu"].as_i64().unwrap();
    let memory: i64 = text(&line["memory"]).trim_end_matches("Gi").parse::<i64>().unwrap() * 1024 * 1024;
    let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"type": kind, "status": status, "lastHeartbeatTime": rfc3339(heartbeat), "lastTransitionTime": rfc3339(made + 30), "reason": reason, "message": message});
    let taints: Vec<Value> = line["taints"].as_array().into_iter().flatten().map(|taint| taint_of(&text(taint))).collect();
    let number = number(name);
    let mut spec = json!({"podCIDR": format!("10.244.{number}.0/24"), "podCIDRs": [format!("10.244.{number}.0/24")], "providerID": format!("aws:///{}/i-{:017x}", text(&line["zone"]), super::world::hash(name) >> 4)});
    if !taints.is_empty() {
        spec["taints"] = json!(taints);
    }
    json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": uid(&format!("node/{name}")), "resourceVersion": "", "creationTimestamp": rfc3339(made), "labels": labels,
            "annotations": {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
        "spec": spec,
        "status": {
            "capacity": {"cpu": cores.to_string(), "ephemeral-storage": "104845292Ki", "hugepages-2Mi": "0", "memory": format!("{}Ki", memory - 786_432), "pods": "110"},
            "allocatable": {"cpu": format!("{}m", cores * 1000 - 90), "ephemeral-storage": "95551679124", "hugepages-2Mi": "0", "memory": format!("{}Ki", memory - 1_884_160), "pods": "110"},
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")],
            "addresses": [{"type": "InternalIP", "address": ip(name)}, {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {"machineID": format!("{:032x}", super::world::hash(name)), "systemUUID": uid(name), "bootID": uid(&format!("{name}/boot")), "kernelVersion": "6.12.53", "osImage": "Bottlerocket OS 1.49.0",
                "containerRuntimeVersion": "containerd://2.1.5", "kubeletVersion": world.version, "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}}})
}

/// `gpu=true:NoSchedule`
fn taint_of(text: &str) -> Value {
    let (pair, effect) = text.split_once(':').unwrap();
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    json!({"key": key, "value": value, "effect": effect})
}

/// A kubelet renews its lease every ten seconds, for as long as it lives.
pub fn renew(world: &mut World, name: String) {
    let first = world.epoch - 10 + i64::try_from(number(&name) % 10).unwrap();
    let lease = json!({"kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": name, "namespace": "kube-node-lease", "uid": uid(&format!("lease/{name}")), "resourceVersion": "", "creationTimestamp": rfc3339(world.epoch - 41 * 86_400),
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid(&format!("node/{name}"))}]},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": micro(first)}});
    world.put(lease);
    world.at(first + 10, move |world| again(world, "kube-node-lease".to_owned(), name));
}

/// Renews a lease now and every ten seconds.
pub fn again(world: &mut World, namespace: String, name: String) {
    if world.silent.contains(&name) {
        return;
    }
    let now = micro(world.now);
    world.change("Lease", &namespace, &name, |lease| lease["spec"]["renewTime"] = json!(now));
    world.after(10, move |world| again(world, namespace, name));
}

/// What the node lifecycle controller does fifty seconds after the last sign of life.
pub fn lose(world: &mut World, name: &str) {
    let now = rfc3339(world.now);
    world.change("Node", "", name, |node| {
        for condition in node["status"]["conditions"].as_array_mut().unwrap() {
            condition["status"] = json!("Unknown");
            condition["lastTransitionTime"] = json!(now);
            condition["reason"] = json!("NodeStatusUnknown");
            condition["message"] = json!("Kubelet stopped posting node status.");
        }
        node["spec"]["taints"] = json!([
            {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule", "timeAdded": now},
            {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": now}]);
    });
    world.lost.push(name.to_owned());
    let about = ("Node".to_owned(), String::new(), name.to_owned());
    let message = format!("Node {name} status is now: NodeNotReady");
    world.event(&about, &Said { kind: "Normal", reason: "NodeNotReady", message: &message, from: "node-controller", host: "", field: "" });
    let pods: Vec<_> =
        world.pods.iter().filter(|(_, pod)| pod.is_on_lost_node(world)).map(|(key, pod)| (key.clone(), pod.workload.clone())).collect();
    for (key, workload) in pods {
        world.touch(&workload);
        say(world, &key, "Warning", "NodeNotReady", "Node is not ready");
        if !workload.starts_with("kube-system/cilium") && !workload.starts_with("kube-system/kube-proxy") {
            say(world, &key, "Normal", "TaintManagerEviction", &format!("Marking for deletion Pod {}/{}", key.0, key.1));
        }
    }
}

/// `kubectl drain` marks the node before it evicts anything.
pub fn cordon(world: &mut World, name: &str, by: &str) {
    let (now, at) = (rfc3339(world.now), world.now);
    let owner = super::managed::entry(by, "Update", "v1", at, &json!({"spec": {"unschedulable": true}}));
    world.change("Node", "", name, |node| {
        node["metadata"]["managedFields"] = json!([owner]);
        node["spec"]["unschedulable"] = json!(true);
        node["spec"]["taints"] = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": now}]);
    });
    world.cordoned.push(name.to_owned());
    let about = ("Node".to_owned(), String::new(), name.to_owned());
    let message = format!("Node {name} status is now: NodeNotSchedulable");
    world.event(&about, &Said { kind: "Normal", reason: "NodeNotSchedulable", message: &message, from: "kubelet", host: name, field: "" });
}
