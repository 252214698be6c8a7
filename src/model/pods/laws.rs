//! Laws: what rows, templates and extras put together equals the direct reading, for pods of every kind of owner, among siblings
//! that differ in revision, node, size and damage.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::model::{Batch, Cluster, Condition, Delta, Kind, Place, Pod, PodObject};

use super::normal::token_suffix;

/// Who made the pod.
#[derive(Debug, Clone, Copy)]
enum Maker {
    ReplicaSet,
    DaemonSet,
    StatefulSet,
    Job,
    IndexedJob,
    Node,
    Nobody,
}

/// One generated pod; small numbers, so that siblings and collisions are common.
#[derive(Debug, Clone)]
struct Sample {
    maker: Maker,
    family: u8,
    ordinal: u8,
    suffix: String,
    node: u8,
    state: u8,
    /// Siblings may have other resources (resize, admission) or another revision.
    variant: u8,
    odd: u8,
}

fn sample() -> impl Strategy<Value = Sample> {
    use Maker::*;
    let maker = prop::sample::select(vec![ReplicaSet, DaemonSet, StatefulSet, Job, IndexedJob, Node, Nobody]);
    (maker, 0..3_u8, 0..4_u8, "[a-z0-9]{5}", 0..4_u8, 0..10_u8, 0..4_u8, 0..12_u8).prop_map(
        |(maker, family, ordinal, suffix, node, state, variant, odd)| Sample { maker, family, ordinal, suffix, node, state, variant, odd },
    )
}

impl Sample {
    fn name(&self) -> String {
        let Self { family, ordinal, suffix, .. } = self;
        match self.maker {
            Maker::ReplicaSet => format!("web{family}-7d4b9c6f5d-{suffix}"),
            Maker::DaemonSet => format!("agent{family}-{suffix}"),
            Maker::StatefulSet => format!("db{family}-{ordinal}"),
            Maker::Job => format!("migrate{family}-{suffix}"),
            Maker::IndexedJob => format!("batch{family}-{ordinal}-{suffix}"),
            Maker::Node => format!("kube-proxy-node-{ordinal}"),
            Maker::Nobody => format!("bare{family}{suffix}"),
        }
    }

    /// Empty for a pod that is not bound.
    fn node(&self) -> String {
        if self.state == 2 { String::new() } else { format!("node-{}", self.node) }
    }

    fn owner(&self) -> Value {
        let (api, kind, name) = match self.maker {
            Maker::ReplicaSet => ("apps/v1", "ReplicaSet", format!("web{}-7d4b9c6f5d", self.family)),
            Maker::DaemonSet => ("apps/v1", "DaemonSet", format!("agent{}", self.family)),
            Maker::StatefulSet => ("apps/v1", "StatefulSet", format!("db{}", self.family)),
            Maker::Job => ("batch/v1", "Job", format!("migrate{}", self.family)),
            Maker::IndexedJob => ("batch/v1", "Job", format!("batch{}", self.family)),
            Maker::Node => ("v1", "Node", format!("node-{}", self.ordinal)),
            Maker::Nobody => return json!([]),
        };
        let uid = format!("00000000-0000-4000-8000-0000000{:02}{:03}", self.family, kind.len());
        json!([{"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": true, "blockOwnerDeletion": true}])
    }

    fn labels(&self) -> Value {
        let zone = format!("zone-{}", self.node % 2);
        let owner = self.owner();
        let (name, uid) = (&owner[0]["name"], &owner[0]["uid"]);
        let mut labels = match self.maker {
            Maker::StatefulSet => {
                json!({"app": name, "apps.kubernetes.io/pod-index": self.ordinal.to_string(), "statefulset.kubernetes.io/pod-name": self.name()})
            }
            Maker::Job => {
                json!({"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name, "controller-uid": uid, "job-name": name})
            }
            Maker::IndexedJob => json!({"batch.kubernetes.io/job-completion-index": self.ordinal.to_string(), "job-name": name}),
            Maker::Nobody if self.odd == 0 => json!(null),
            Maker::Nobody => json!({"run": self.name()}),
            Maker::ReplicaSet | Maker::DaemonSet | Maker::Node => json!({"app": "x", "pod-template-hash": "7d4b9c6f5d"}),
        };
        if labels.is_object() {
            labels["topology.kubernetes.io/zone"] = json!(zone);
        }
        if self.odd == 1 {
            labels = json!({"a": "\u{1}", "b": "\u{1}\u{2}", "c": 7, "d": "\u{0}x", "e": "quote\"d"});
        }
        labels
    }

    fn spec(&self) -> Value {
        let token = format!("kube-api-access-{}", self.suffix);
        let cpu = if self.variant == 3 { "500m" } else { "100m" };
        let mounts = json!([{"name": token, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}, {"name": "data", "mountPath": "/data"}]);
        let mut spec = json!({
            "volumes": [{"name": token, "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}, {"configMap": {"name": "kube-root-ca.crt"}}]}}],
            "initContainers": [{"name": "proxy", "image": "mesh:1", "restartPolicy": "Always", "volumeMounts": mounts}],
            "containers": [
                {"name": "app", "image": format!("registry.example.com/team/app:{}", self.variant % 2), "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}, "env": [{"name": "NODE", "value": "nodeName"}], "volumeMounts": mounts},
                {"name": "side", "image": "side:1", "resources": {"limits": {"cpu": 1}}},
            ],
            "restartPolicy": "Always", "serviceAccountName": "default",
        });
        if !self.node().is_empty() {
            spec["nodeName"] = json!(self.node());
        }
        match self.maker {
            Maker::StatefulSet => {
                spec["hostname"] = json!(self.name());
                add(&mut spec["volumes"], json!({"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{}", self.name())}}));
            }
            Maker::DaemonSet => {
                let node = format!("node-{}", self.node);
                let term = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]});
                spec["affinity"] =
                    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}});
            }
            Maker::ReplicaSet | Maker::Job | Maker::IndexedJob | Maker::Node | Maker::Nobody => {}
        }
        match self.odd {
            2 => add(&mut spec["volumes"], json!({"name": "odd", "persistentVolumeClaim": {"claimName": "shared"}})),
            3 => add(&mut spec["volumes"], json!({"name": "odd", "persistentVolumeClaim": {"claimName": "x\u{1}"}})),
            4 => spec["containers"] = json!("none"),
            5 => spec = json!(null),
            6 => spec["schedulingGates"] = json!([{"name": "wait"}]),
            _ => {}
        }
        spec
    }

    fn status(&self) -> Value {
        let time = |n: u8| json!(format!("2026-05-04T10:{:02}:00Z", n));
        let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": time(self.ordinal)});
        let running = json!({"running": {"startedAt": time(1)}});
        let exited = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": time(0), "finishedAt": time(1), "containerID": "containerd://0"}});
        let container = |name: &str, ready: bool, restarts: u8, state: &Value, last: &Value| json!({"name": name, "image": "i", "imageID": "i@sha256:0", "containerID": "containerd://1", "ready": ready, "started": true, "restartCount": restarts, "state": state, "lastState": last});
        let all = |phase: &str, ready: &str, app: Value| {
            json!({
                "phase": phase,
                "conditions": [condition("PodReadyToStartContainers", "True"), condition("Initialized", "True"), condition("Ready", ready), condition("ContainersReady", ready), condition("PodScheduled", "True")],
                "hostIP": "10.0.0.1", "podIP": "10.1.0.7", "podIPs": [{"ip": "10.1.0.7"}], "startTime": time(0), "qosClass": "Burstable",
                "initContainerStatuses": [container("proxy", true, 0, &running, &json!({}))],
                "containerStatuses": [app, container("side", true, 0, &running, &json!({}))],
            })
        };
        match self.state {
            0 => all(
                "Running",
                "False",
                container("app", false, 3, &json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}}), &exited),
            ),
            1 => all("Running", "True", container("app", true, 2, &running, &exited)),
            2 => {
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available", "lastTransitionTime": time(2)}]})
            }
            3 => json!({"phase": "Succeeded", "conditions": [condition("Ready", "False")]}),
            4 => json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource"}),
            5 => json!(null),
            6 => {
                let mut status = all("Running", "True", container("app", true, 0, &running, &json!({})));
                add(&mut status["conditions"], json!({"type": "PodResizePending", "status": "True", "reason": "Deferred"}));
                status
            }
            _ => all("Running", "True", container("app", true, 0, &running, &json!({}))),
        }
    }

    fn object(&self) -> Value {
        let mut meta = json!({
            "name": self.name(), "namespace": format!("team-{}", self.family % 2), "uid": format!("0f{:02x}2c81-2e69-4434-8c96-ab88ac4f{}", self.ordinal, "00ad"),
            "resourceVersion": "7", "creationTimestamp": "2026-05-04T09:00:00Z", "labels": self.labels(),
            "annotations": {"note": "short", "kubectl.kubernetes.io/last-applied-configuration": "{}"}, "ownerReferences": self.owner(),
            "managedFields": [{"manager": "kubelet", "time": "2026-05-04T09:00:01Z", "fieldsV1": {"f:spec": {"f:nodeName": {}}}}],
        });
        match self.odd {
            7 => meta["deletionTimestamp"] = json!("2026-05-04T10:30:00Z"),
            8 => meta["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]),
            9 => meta["finalizers"] = json!(["example.com/a", "batch.kubernetes.io/job-tracking"]),
            10 => meta["uid"] = json!("no uuid"),
            11 => (meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"]) = (json!("2026-05-04T10:30:00Z"), json!(30)),
            _ => {}
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": self.spec(), "status": self.status()})
    }
}

fn add(list: &mut Value, item: Value) {
    list.as_array_mut().unwrap().push(item);
}

/// What serde makes of the same bytes, without what the model says that it leaves out.
fn direct(json: &[u8]) -> PodObject {
    let damaged: Value = serde_json::from_slice(json).unwrap();
    let mut pod = crate::model::read_whole_pod(json).unwrap_or_else(|| panic!("{damaged}"));
    if let Ok(second) = serde_json::from_slice::<PodObject>(json) {
        assert_eq!(pod, second);
    }
    let controller = pod.meta.controller().cloned();
    pod.meta.owners = controller.into_iter().collect();
    (pod.meta.generation, pod.meta.changed) = Default::default();
    let containers = pod.spec.init_containers.iter_mut().chain(&mut pod.spec.containers);
    let mounts = containers.flat_map(|c| &mut c.volume_mounts).map(|m| &mut m.name);
    for name in pod.spec.volumes.iter_mut().map(|v| &mut v.name).chain(mounts).filter(|n| token_suffix(n.as_bytes()).is_some()) {
        *name = "kube-api-access".into();
    }
    pod
}

/// The rule by which a pod is plain, over the whole object.
fn is_plain(pod: &PodObject) -> bool {
    let (meta, status) = (&pod.meta, &pod.status);
    let finalizers = meta.finalizers.is_empty() || meta.finalizers.iter().map(|f| &**f).eq(["batch.kubernetes.io/job-tracking"]);
    let holds = |kind: &str| Condition::find(&status.conditions, kind).is_some_and(Condition::is_true);
    let disturbed = ["DisruptionTarget", "PodResizePending", "PodResizeInProgress"].into_iter().any(holds) || !status.resize.is_empty();
    let runs = || holds("Ready") && status.container_statuses.iter().all(|c| c.ready && c.state.running.is_some());
    let calm = &*status.phase == "Succeeded" || &*status.phase == "Running" && runs();
    calm && !disturbed && finalizers && meta.deleted.is_none() && pod.spec.scheduling_gates.is_empty()
}

/// The pod as the cluster gives it back is the pod as it was read.
pub(super) fn holds(pod: Pod<'_>, json: &[u8]) {
    let (mut kept, mut read) = (pod.whole(), direct(json));
    assert_eq!(pod.is_plain(), is_plain(&read));
    assert_eq!(pod.restarts(), pod.container_statuses().map(|(_, s)| s.restart_count).sum::<i64>());
    for (key, value) in read.meta.labels.iter() {
        assert_eq!(pod.label(key), Some(value));
    }
    assert_eq!(pod.node().unwrap_or_default(), &*read.spec.node_name);
    assert_eq!(pod.spec().claims(&pod.name()), read.spec.claims(&read.meta.name));
    assert_eq!(pod.ready_since(), Condition::find(&read.status.conditions, "Ready").and_then(|c| c.last_transition_time));
    if pod.is_plain() {
        let exits = |p: &PodObject| {
            let all = p.status.init_container_statuses.iter().chain(&p.status.container_statuses);
            let restarted = all.filter(|c| c.restart_count > 0);
            restarted.map(|c| (c.name.clone(), c.restart_count, c.last_state.clone(), c.state.clone())).collect::<Vec<_>>()
        };
        assert_eq!((&kept.status.phase, exits(&kept)), (&read.status.phase, exits(&read)));
        assert_eq!(pod.is_ready(), Condition::find(&kept.status.conditions, "Ready").is_some_and(Condition::is_true));
        (kept.status, read.status, read.meta.annotations) = Default::default();
    } else {
        assert_eq!((pod.status(), pod.annotation("note")), (&read.status, read.meta.annotation("note")));
        assert_eq!(pod.spec().containers, read.spec.containers);
    }
    assert_eq!(kept, read);
}

/// One feed reads everything, remembering what it has seen, in batches of a few.
pub(super) fn cluster_of(pods: &[Vec<u8>], page: usize) -> Cluster {
    let mut cluster = Cluster::default();
    let (kind, place, epoch) = (Kind::Pod, Place::All, 1);
    cluster.apply(Delta::Began { kind, place: place.clone(), epoch });
    let mut batch = Batch::new(kind);
    for page in pods.chunks(page) {
        page.iter().for_each(|json| batch.upsert(json));
        cluster.apply(Delta::Batch { kind, place: place.clone(), epoch, batch: batch.take() });
    }
    cluster.apply(Delta::Synced { kind, place, epoch });
    cluster
}

fn named<'a>(cluster: &'a Cluster, json: &[u8]) -> Pod<'a> {
    let value: Value = serde_json::from_slice(json).unwrap();
    let meta = &value["metadata"];
    cluster.pod(meta["namespace"].as_str().unwrap(), meta["name"].as_str().unwrap()).unwrap()
}

/// The pods that are left when each name has gone to the last that has it.
fn survivors(samples: &[Sample]) -> impl Iterator<Item = usize> {
    let place = |s: &Sample| (s.name(), s.family % 2);
    (0..samples.len()).filter(move |i| samples[i + 1..].iter().all(|later| place(later) != place(&samples[*i])))
}

fn bytes(samples: &[Sample]) -> Vec<Vec<u8>> {
    samples.iter().map(|s| serde_json::to_vec(&s.object()).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_rows_and_templates_put_together_is_what_was_read(samples in prop::collection::vec(sample(), 1..40), page in 1..9_usize) {
        let json = bytes(&samples);
        let cluster = cluster_of(&json, page);
        survivors(&samples).for_each(|i| holds(named(&cluster, &json[i]), &json[i]));
    }

    #[test]
    fn damage_to_one_pod_never_reaches_another(
        samples in prop::collection::vec(sample(), 2..20),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
    ) {
        let whole = bytes(&samples);
        let mut stream = whole.clone();
        for json in &mut stream {
            for (at, byte, cut) in &hits {
                let at = at.index(json.len().max(1));
                if *cut { json.truncate(at) } else if let Some(b) = json.get_mut(at) { *b = *byte }
            }
        }
        stream.extend_from_slice(&whole);
        let cluster = cluster_of(&stream, 7);
        survivors(&samples).for_each(|i| holds(named(&cluster, &whole[i]), &whole[i]));
    }

    #[test]
    fn everything_is_freed_with_the_last_pod(samples in prop::collection::vec(sample(), 1..40)) {
        let mut cluster = cluster_of(&bytes(&samples), 5);
        let (kind, place, epoch) = (Kind::Pod, Place::All, 2);
        cluster.apply(Delta::Began { kind, place: place.clone(), epoch });
        prop_assert_eq!(cluster.count(Kind::Pod), survivors(&samples).count());
        cluster.apply(Delta::Synced { kind, place, epoch });
        prop_assert!(cluster.pods_hold_nothing());
    }
}

#[test]
fn a_sibling_is_recognized_and_a_different_one_is_not() {
    let one = Sample { maker: Maker::StatefulSet, family: 0, ordinal: 0, suffix: "abcde".into(), node: 1, state: 9, variant: 0, odd: 99 };
    let two = Sample { ordinal: 1, suffix: "fghij".into(), node: 2, ..one.clone() };
    let three = Sample { ordinal: 2, variant: 3, ..one.clone() };
    let mut batch = Batch::new(Kind::Pod);
    bytes(&[one, two, three]).iter().for_each(|json| batch.upsert(json));
    assert_eq!(batch.specs(), 2, "the second is the first again, the third has other resources");
}
