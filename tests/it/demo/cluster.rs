//! What stands around the workloads of the demo: namespaces, services with their slices, quotas, budgets, claims, leases.

use serde_json::{Value, json};

use super::declared;
use super::script::{number, text};
use super::workloads::Workload;
use super::world::{Said, World, hash, micro, rfc3339, uid};

const LONG_AGO: i64 = 41 * 86_400;

fn meta(world: &World, kind: &str, namespace: &str, name: &str, age: i64) -> Value {
    let mut meta = json!({"name": name});
    if !namespace.is_empty() {
        meta["namespace"] = json!(namespace);
    }
    meta["uid"] = json!(uid(&format!("{kind}/{namespace}/{name}")));
    meta["resourceVersion"] = json!("");
    meta["creationTimestamp"] = json!(rfc3339(world.epoch - age));
    meta
}

/// Everything that no workload owns.
pub fn add(world: &mut World, base: &Value) {
    let mut names: Vec<String> = ["default", "kube-node-lease", "kube-public"].map(str::to_owned).to_vec();
    names.extend(base["namespaces"].as_array().unwrap().iter().map(text));
    for name in &names {
        let mut meta_of = meta(world, "Namespace", "", name, LONG_AGO);
        meta_of["labels"] = json!({"kubernetes.io/metadata.name": name});
        let namespace = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": meta_of, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
        let is_own = !name.starts_with("kube-") && name != "default";
        world.put(if is_own { declared::applied(namespace) } else { namespace });
        world.put(
            json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": meta(world, "ServiceAccount", name, "default", LONG_AGO)}),
        );
        world.put(json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta(world, "ConfigMap", name, "kube-root-ca.crt", LONG_AGO), "data": {"ca.crt": ""}}));
    }
    for class in base["classes"].as_array().unwrap() {
        let mut meta = meta(world, "StorageClass", "", &text(&class["name"]), LONG_AGO);
        meta["annotations"] = json!({"storageclass.kubernetes.io/is-default-class": text(&class["default"])});
        world.put(declared::applied(json!({"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": meta, "provisioner": class["provisioner"], "parameters": {"type": "gp3"},
            "reclaimPolicy": "Delete", "allowVolumeExpansion": true, "volumeBindingMode": "WaitForFirstConsumer"})));
    }
    let meta_of = meta(world, "CSIDriver", "", "ebs.csi.aws.com", LONG_AGO);
    world.put(declared::applied(json!({"kind": "CSIDriver", "apiVersion": "storage.k8s.io/v1", "metadata": meta_of, "spec": {"attachRequired": true, "podInfoOnMount": false, "volumeLifecycleModes": ["Persistent"], "storageCapacity": false, "fsGroupPolicy": "File"}})));
    for (name, value) in [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)] {
        let meta = meta(world, "PriorityClass", "", name, LONG_AGO);
        world.put(json!({"kind": "PriorityClass", "apiVersion": "scheduling.k8s.io/v1", "metadata": meta, "value": value, "preemptionPolicy": "PreemptLowerPriority"}));
    }
    for quota in base["quotas"].as_array().unwrap() {
        let meta = meta(world, "ResourceQuota", &text(&quota["in"]), &text(&quota["name"]), LONG_AGO);
        let hard = json!({"pods": text(&quota["pods"])});
        world.put(declared::applied(json!({"kind": "ResourceQuota", "apiVersion": "v1", "metadata": meta, "spec": {"hard": hard}, "status": {"hard": hard, "used": {"pods": "0"}}})));
    }
    leases(world);
}

/// Who leads, renewed for as long as it leads; and the API that the metrics server stands behind.
fn leases(world: &mut World) {
    for name in ["kube-controller-manager", "kube-scheduler"] {
        let holder = format!("ip-10-0-0-10_{}", uid(name));
        let meta = meta(world, "Lease", "kube-system", name, LONG_AGO);
        let renewed = micro(world.epoch - 4);
        world.put(json!({"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": meta,
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "acquireTime": micro(world.epoch - 9 * 86_400), "renewTime": renewed, "leaseTransitions": 3}}));
        let name = name.to_owned();
        world.at(world.epoch + 6, move |world| super::nodes::again(world, "kube-system".to_owned(), name));
    }
    let mut meta = meta(world, "APIService", "", "v1beta1.metrics.k8s.io", LONG_AGO);
    meta["labels"] = json!({"k8s-app": "metrics-server"});
    world.put(declared::applied(json!({"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "metadata": meta,
        "spec": {"service": {"namespace": "kube-system", "name": "metrics-server", "port": 443}, "group": "metrics.k8s.io", "version": "v1beta1", "insecureSkipTLSVerify": true, "groupPriorityMinimum": 100, "versionPriority": 100},
        "status": {"conditions": [{"type": "Available", "status": "True", "lastTransitionTime": rfc3339(world.epoch - LONG_AGO + 60), "reason": "Passed", "message": "all checks passed"}]}})));
}

/// The Service in front of a workload, the claims behind it.
pub fn add_around(world: &mut World, line: &Value, namespace: &str, name: &str, ordinals: &[(i64, String)]) {
    let age = super::script::age(&line["age"]);
    if let Some(service) = line["service"].as_str() {
        let headless = !line["claim"].is_null();
        let address = if headless { "None".to_owned() } else { format!("10.96.{}.{}", hash(service) % 200, hash(service) / 256 % 250 + 2) };
        let mut meta = meta(world, "Service", namespace, service, age);
        meta["labels"] = json!({"app.kubernetes.io/name": name});
        let port = &line["port"];
        world.put(declared::applied(json!({"kind": "Service", "apiVersion": "v1", "metadata": meta,
            "spec": {"ports": [{"name": "http", "protocol": if *port == 53 { "UDP" } else { "TCP" }, "port": if *port == 10250 { json!(443) } else { port.clone() }, "targetPort": port}], "selector": {"app.kubernetes.io/name": name}, "clusterIP": address, "clusterIPs": [address],
                "type": "ClusterIP", "sessionAffinity": "None", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"}, "status": {"loadBalancer": {}}})));
    }
    if !line["claim"].is_null() {
        for (ordinal, node) in ordinals {
            claim(world, line, namespace, &format!("data-{name}-{ordinal}"), Some(node), name);
        }
    }
}

/// The class that a claim of this workload asks for.
fn class_of(line: &Value) -> String {
    line["class"].as_str().unwrap_or("gp3").to_owned()
}

/// The template of the claims of a StatefulSet.
pub fn claim_template(line: &Value) -> Value {
    if line["claim"].is_null() {
        return Value::Null;
    }
    json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": line["claim"]}}, "storageClassName": class_of(line), "volumeMode": "Filesystem"}, "status": {"phase": "Pending"}})
}

/// A claim, bound to a volume in the zone of the node if there is one.
pub fn claim(world: &mut World, line: &Value, namespace: &str, name: &str, node: Option<&str>, app: &str) {
    let age = if node.is_some() { super::script::age(&line["age"]) } else { world.epoch - world.now };
    let class = class_of(line);
    let mut about = meta(world, "PersistentVolumeClaim", namespace, name, age);
    about["labels"] = json!({"app.kubernetes.io/name": app});
    about["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    let volume = format!("pvc-{}", text(&about["uid"]));
    let mut spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": line["claim"]}}});
    let Some(node) = node else {
        spec["storageClassName"] = json!(class);
        spec["volumeMode"] = json!("Filesystem");
        world.put(
            json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": about, "spec": spec, "status": {"phase": "Pending"}}),
        );
        let key = ("PersistentVolumeClaim".to_owned(), namespace.to_owned(), name.to_owned());
        for after in [0, 15, 30, 45, 60, 75, 90, 105, 120] {
            let (key, message) = (key.clone(), format!("storageclass.storage.k8s.io \"{class}\" not found"));
            world.after(after, move |world| {
                world.event(
                    &key,
                    &Said {
                        kind: "Warning",
                        reason: "ProvisioningFailed",
                        message: &message,
                        from: "persistentvolume-controller",
                        host: "",
                        field: "",
                    },
                )
            });
        }
        return;
    };
    let zone = world.get("Node", "", node).unwrap()["metadata"]["labels"]["topology.kubernetes.io/zone"].clone();
    about["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes", "volume.beta.kubernetes.io/storage-provisioner": "ebs.csi.aws.com",
        "volume.kubernetes.io/selected-node": node, "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"});
    spec["volumeName"] = json!(volume);
    spec["storageClassName"] = json!(class);
    spec["volumeMode"] = json!("Filesystem");
    let reference = json!({"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name, "uid": about["uid"], "apiVersion": "v1"});
    world.put(json!({"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": about, "spec": spec,
        "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": line["claim"]}}}));
    let mut about = meta(world, "PersistentVolume", "", &volume, age);
    about["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"});
    about["finalizers"] = json!(["external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection"]);
    world.put(json!({"kind": "PersistentVolume", "apiVersion": "v1", "metadata": about,
        "spec": {"capacity": {"storage": line["claim"]}, "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": format!("vol-{:017x}", hash(&volume) >> 4), "fsType": "ext4"}, "accessModes": ["ReadWriteOnce"], "claimRef": reference,
            "persistentVolumeReclaimPolicy": "Delete", "storageClassName": class, "volumeMode": "Filesystem",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "topology.ebs.csi.aws.com/zone", "operator": "In", "values": [zone]}]}]}}},
        "status": {"phase": "Bound", "lastPhaseTransitionTime": rfc3339(world.epoch - age)}}));
    let attachment = format!("csi-{:016x}{:016x}", hash(&volume), hash(node));
    let about = meta(world, "VolumeAttachment", "", &attachment, age);
    world.put(json!({"kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", "metadata": about,
        "spec": {"attacher": "ebs.csi.aws.com", "source": {"persistentVolumeName": volume}, "nodeName": node}, "status": {"attached": true}}));
}

pub fn add_policies(world: &mut World, base: &Value) {
    for line in base["budgets"].as_array().unwrap() {
        let (namespace, name, app) = (text(&line["in"]), text(&line["name"]), text(&line["app"]));
        let mut spec = json!({"selector": {"matchLabels": {"app.kubernetes.io/name": app}}});
        for field in ["minAvailable", "maxUnavailable"] {
            if !line[field].is_null() {
                spec[field] = line[field].clone();
            }
        }
        let meta = meta(world, "PodDisruptionBudget", &namespace, &name, LONG_AGO);
        world.put(declared::applied(json!({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": meta, "spec": spec,
            "status": {"conditions": [{"type": "DisruptionAllowed", "status": "Unknown", "observedGeneration": 1, "lastTransitionTime": rfc3339(world.epoch - LONG_AGO + 60), "reason": "", "message": ""}]}})));
        count_budget(world, &format!("{namespace}/{app}"));
    }
    for line in base["autoscalers"].as_array().unwrap() {
        let replicas = world.workloads[&format!("{}/{}", text(&line["in"]), text(&line["deployment"]))].replicas;
        let meta = meta(world, "HorizontalPodAutoscaler", &text(&line["in"]), &text(&line["name"]), LONG_AGO);
        let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"type": kind, "status": status, "lastTransitionTime": rfc3339(world.epoch - LONG_AGO + 60), "reason": reason, "message": message});
        world.put(declared::applied(json!({"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2", "metadata": meta,
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": line["deployment"], "apiVersion": "apps/v1"}, "minReplicas": line["min"], "maxReplicas": line["max"],
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": line["cpu"]}}}]},
            "status": {"currentReplicas": replicas, "desiredReplicas": replicas, "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 61, "averageValue": "305m"}}}],
                "conditions": [condition("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size"),
                    condition("ScalingActive", "True", "ValidMetricFound", "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)"),
                    condition("ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range")]}})));
    }
}

/// The slice of the Service in front of a workload, as its pods are now.
pub fn slice(world: &World, workload: &Workload) -> Option<Value> {
    let service = world.get("Service", &workload.namespace, &workload.service)?;
    let port = &service["spec"]["ports"][0];
    let mut endpoints = Vec::new();
    for pod in world.pods.values().filter(|pod| pod.workload == workload.key()) {
        let Some((node, _)) = pod.node.as_ref().filter(|_| pod.is_active() || pod.deleted.is_some()) else { continue };
        if matches!(pod.stage, super::pods::Stage::Creating) {
            continue;
        }
        let ready = pod.is_ready(world);
        let zone = &world.get("Node", "", node)?["metadata"]["labels"]["topology.kubernetes.io/zone"];
        endpoints.push(json!({"addresses": [pod.ip()], "conditions": {"ready": ready && pod.deleted.is_none(), "serving": ready, "terminating": pod.deleted.is_some()},
            "targetRef": {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": uid(&format!("pod/{}/{}/{}", pod.namespace, pod.name, pod.created))}, "nodeName": node, "zone": zone}));
    }
    let name = format!("{}-{}", workload.service, &uid(&workload.key())[..5]);
    let mut about = meta(world, "EndpointSlice", &workload.namespace, &name, world.epoch - workload.created);
    about["generateName"] = json!(format!("{}-", workload.service));
    about["labels"] = json!({"app.kubernetes.io/name": workload.name, "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io", "kubernetes.io/service-name": workload.service});
    about["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Service", "name": workload.service, "uid": service["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}]);
    Some(
        json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": about, "addressType": "IPv4", "endpoints": endpoints,
        "ports": [{"name": port["name"], "port": port["targetPort"], "protocol": port["protocol"]}]}),
    )
}

/// Counts the healthy pods of a workload into the budget that covers it.
pub fn count_budget(world: &mut World, workload: &str) {
    let (namespace, app) = workload.split_once('/').unwrap();
    let covers = |budget: &&Value| {
        budget["kind"] == "PodDisruptionBudget"
            && budget["metadata"]["namespace"] == namespace
            && budget["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] == app
    };
    let Some(mut budget) = world.objects.values().find(covers).cloned() else { return };
    let expected = number(world.workloads[workload].replicas);
    let healthy = world.pods.values().filter(|pod| pod.workload == workload && pod.is_active() && pod.is_ready(world)).count() as u64;
    let desired = match (budget["spec"]["minAvailable"].as_u64(), budget["spec"]["maxUnavailable"].as_u64()) {
        (Some(least), _) => least,
        (None, most) => expected - most.unwrap_or(0),
    };
    let allowed = healthy.saturating_sub(desired);
    let is_first = budget["status"]["conditions"][0]["status"] == "Unknown";
    let mut condition = budget["status"]["conditions"][0].clone();
    let status = if allowed > 0 { "True" } else { "False" };
    if condition["status"] != status && !is_first {
        condition["lastTransitionTime"] = json!(rfc3339(world.now));
    }
    condition["status"] = json!(status);
    condition["reason"] = json!(if allowed > 0 { "SufficientPods" } else { "InsufficientPods" });
    budget["status"] = json!({"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected, "conditions": [condition]});
    world.put(budget);
}

/// Counts the pods of a namespace into its quota.
pub fn count_quota(world: &mut World, namespace: &str) {
    let used =
        world.pods.values().filter(|pod| pod.namespace == namespace && !matches!(pod.stage, super::pods::Stage::Done { .. })).count();
    if world.get("ResourceQuota", namespace, "compute").is_some() {
        world.change("ResourceQuota", namespace, "compute", |quota| quota["status"]["used"]["pods"] = json!(used.to_string()));
    }
}

/// What the quota of a namespace says to one more pod.
pub fn quota_refusal(world: &World, namespace: &str) -> Option<String> {
    let quota = world.get("ResourceQuota", namespace, "compute")?;
    let (hard, used) = (text(&quota["status"]["hard"]["pods"]), text(&quota["status"]["used"]["pods"]));
    (used.parse::<i64>().unwrap() >= hard.parse::<i64>().unwrap())
        .then(|| format!("exceeded quota: compute, requested: pods=1, used: pods={used}, limited: pods={hard}"))
}
