//! The controllers of the demo: what Deployments, StatefulSets, DaemonSets and Jobs make, and how they write their status.

use serde_json::{Value, json};

use super::managed;
use super::pods::{SimPod, Stage, say};
use super::world::{Said, World, hash, rfc3339, uid};

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Deployment,
    StatefulSet,
    DaemonSet,
    Job,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
        }
    }

    fn api_version(self) -> &'static str {
        if self == Self::Job { "batch/v1" } else { "apps/v1" }
    }
}

pub struct Workload {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
    pub created: i64,
    pub replicas: i64,
    pub surge: i64,
    pub unavailable: i64,
    pub recreate: bool,
    pub claims: Value,
    pub service: String,
    pub revisions: Vec<Revision>,
    /// Who changed the template, when, and which fields.
    pub edits: Vec<(String, i64, Value)>,
    pub generation: i64,
    /// When the rollout last got on, and whether it ran out of time since.
    pub progress: i64,
    pub timed_out: bool,
    pub available: (bool, i64),
    pub refused: Option<(String, i64)>,
    pub extra: Value,
    pub ended: Option<i64>,
}

#[derive(Clone)]
pub struct Revision {
    pub hash: String,
    pub template: Value,
    pub made: i64,
    pub replicas: i64,
    /// Of its ReplicaSet: counts how often that was scaled.
    pub generation: i64,
    /// What becomes of its pods.
    pub then: Value,
}

impl Workload {
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    pub fn newest(&self) -> &Revision {
        self.revisions.last().unwrap()
    }

    pub fn set_name(&self, revision: &Revision) -> String {
        format!("{}-{}", self.name, revision.hash)
    }

    pub fn uid(&self) -> String {
        uid(&format!("{}/{}", self.kind.name(), self.key()))
    }

    fn meta(&self, at: &str) -> Value {
        json!({"name": self.name, "namespace": self.namespace, "uid": self.uid(), "resourceVersion": "", "generation": self.generation, "creationTimestamp": at,
            "labels": {"app.kubernetes.io/name": self.name, "app.kubernetes.io/part-of": self.namespace}})
    }

    fn pods<'a>(&'a self, world: &'a World) -> impl Iterator<Item = &'a SimPod> {
        world.pods.values().filter(move |pod| pod.workload == self.key())
    }

    fn of_revision<'a>(&'a self, world: &'a World, revision: &'a Revision) -> impl Iterator<Item = &'a SimPod> {
        self.pods(world).filter(move |pod| pod.revision == revision.hash && pod.is_active())
    }

    /// The objects of this workload as they are now.
    pub fn objects(&self, world: &World) -> Vec<Value> {
        match self.kind {
            Kind::Deployment => {
                let shown = self.revisions.len().saturating_sub(3);
                let sets = self.revisions.iter().enumerate().skip(shown).map(|(at, revision)| self.replica_set(world, revision, at + 1));
                sets.chain([self.deployment(world)]).collect()
            }
            Kind::StatefulSet => vec![self.stateful_set(world)],
            Kind::DaemonSet => vec![self.daemon_set(world)],
            Kind::Job => vec![self.job(world)],
        }
    }

    fn deployment(&self, world: &World) -> Value {
        let mut meta = self.meta(&rfc3339(self.created));
        meta["annotations"] = json!({"deployment.kubernetes.io/revision": self.revisions.len().to_string()});
        let pods: Vec<&SimPod> = self.pods(world).filter(|pod| pod.is_active()).collect();
        let ready = pods.iter().filter(|pod| pod.is_ready(world)).count();
        let updated = self.of_revision(world, self.newest()).count();
        let mut status = json!({"observedGeneration": self.generation});
        for (field, count) in
            [("replicas", pods.len()), ("updatedReplicas", updated), ("readyReplicas", ready), ("availableReplicas", ready)]
        {
            if count > 0 {
                status[field] = json!(count);
            }
        }
        let missing = self.replicas.max(i64::try_from(pods.len()).unwrap()) - i64::try_from(ready).unwrap();
        if missing > 0 {
            status["unavailableReplicas"] = json!(missing);
        }
        status["conditions"] = self.conditions(world);
        let mut deployment = self.declare(json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": meta,
            "spec": {"replicas": self.replicas, "selector": {"matchLabels": self.labels()}, "template": self.newest().template,
                "strategy": self.strategy(), "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
            "status": status}));
        let entries = deployment["metadata"]["managedFields"].as_array_mut().unwrap();
        entries.push(managed::status_entry("kube-controller-manager", "apps/v1", self.progress, &json!({"availableReplicas": "", "conditions": [{"type": "Available"}, {"type": "Progressing"}], "observedGeneration": "", "replicas": ""})));
        deployment
    }

    fn strategy(&self) -> Value {
        if self.recreate {
            return json!({"type": "Recreate"});
        }
        let is_default = self.extra["surge"].is_null();
        let value = |count: i64| if is_default { json!("25%") } else { json!(count) };
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": value(self.unavailable), "maxSurge": value(self.surge)}})
    }

    fn labels(&self) -> Value {
        json!({"app.kubernetes.io/name": self.name})
    }

    fn is_complete(&self, world: &World) -> bool {
        let ready = self.of_revision(world, self.newest()).filter(|pod| pod.is_ready(world)).count();
        let all = self.pods(world).filter(|pod| pod.is_active()).count();
        i64::try_from(ready) == Ok(self.replicas) && all == ready
    }

    fn conditions(&self, world: &World) -> Value {
        let set = self.set_name(self.newest());
        let said = |kind: &str, status: &str, updated: i64, since: i64, reason: &str, message: &str| json!({"type": kind, "status": status, "lastUpdateTime": rfc3339(updated), "lastTransitionTime": rfc3339(since), "reason": reason, "message": message});
        let (available, since) = self.available;
        let mut all = vec![if available {
            said("Available", "True", since, since, "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            said("Available", "False", since, since, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
        }];
        let finished = self.is_complete(world) || self.progress == self.created;
        all.push(if self.timed_out {
            said(
                "Progressing",
                "False",
                self.progress + 600,
                self.progress + 600,
                "ProgressDeadlineExceeded",
                &format!("ReplicaSet \"{set}\" has timed out progressing."),
            )
        } else if finished {
            said(
                "Progressing",
                "True",
                self.progress,
                self.created,
                "NewReplicaSetAvailable",
                &format!("ReplicaSet \"{set}\" has successfully progressed."),
            )
        } else {
            said("Progressing", "True", self.progress, self.created, "ReplicaSetUpdated", &format!("ReplicaSet \"{set}\" is progressing."))
        });
        if let Some((message, since)) = &self.refused {
            all.push(said("ReplicaFailure", "True", *since, *since, "FailedCreate", message));
        }
        Value::from(all)
    }

    fn replica_set(&self, world: &World, revision: &Revision, number: usize) -> Value {
        let pods: Vec<&SimPod> = self.of_revision(world, revision).collect();
        let ready = pods.iter().filter(|pod| pod.is_ready(world)).count();
        let mut status = json!({"replicas": pods.len()});
        if !pods.is_empty() {
            status["fullyLabeledReplicas"] = json!(pods.len());
        }
        if ready > 0 {
            status["readyReplicas"] = json!(ready);
            status["availableReplicas"] = json!(ready);
        }
        status["observedGeneration"] = json!(revision.generation);
        if let Some((message, since)) = self.refused.as_ref().filter(|_| revision.hash == self.newest().hash) {
            status["conditions"] = json!([{"type": "ReplicaFailure", "status": "True", "lastTransitionTime": rfc3339(*since), "reason": "FailedCreate", "message": message}]);
        }
        let mut labels = self.labels();
        labels["pod-template-hash"] = json!(revision.hash);
        let mut template = revision.template.clone();
        template["metadata"]["labels"]["pod-template-hash"] = json!(revision.hash);
        let name = self.set_name(revision);
        json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": name, "namespace": self.namespace, "uid": uid(&format!("rs/{}/{name}", self.namespace)), "resourceVersion": "",
                "generation": status["observedGeneration"], "creationTimestamp": rfc3339(revision.made), "labels": template["metadata"]["labels"],
                "annotations": {"deployment.kubernetes.io/desired-replicas": self.replicas.to_string(), "deployment.kubernetes.io/max-replicas": (self.replicas + self.surge).to_string(), "deployment.kubernetes.io/revision": number.to_string()},
                "ownerReferences": [self.reference()]},
            "spec": {"replicas": revision.replicas, "selector": {"matchLabels": labels}, "template": template}, "status": status})
    }

    pub fn reference(&self) -> Value {
        json!({"apiVersion": self.kind.api_version(), "kind": self.kind.name(), "name": self.name, "uid": self.uid(), "controller": true, "blockOwnerDeletion": true})
    }

    fn stateful_set(&self, world: &World) -> Value {
        let pods: Vec<&SimPod> = self.pods(world).filter(|pod| pod.is_active()).collect();
        let ready = pods.iter().filter(|pod| pod.is_ready(world)).count();
        let revision = format!("{}-{}", self.name, self.newest().hash);
        let mut status = json!({"observedGeneration": self.generation, "replicas": pods.len(), "currentReplicas": pods.len(), "updatedReplicas": pods.len(),
            "currentRevision": revision, "updateRevision": revision, "collisionCount": 0, "availableReplicas": ready});
        if ready > 0 {
            status["readyReplicas"] = json!(ready);
        }
        let meta = self.meta(&rfc3339(self.created));
        let mut spec = json!({"replicas": self.replicas, "selector": {"matchLabels": self.labels()}, "template": self.newest().template});
        if !self.claims.is_null() {
            spec["volumeClaimTemplates"] = json!([self.claims]);
        }
        spec["serviceName"] = json!(self.service);
        spec["podManagementPolicy"] = json!("OrderedReady");
        spec["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
        spec["revisionHistoryLimit"] = json!(10);
        spec["persistentVolumeClaimRetentionPolicy"] = json!({"whenDeleted": "Retain", "whenScaled": "Retain"});
        self.declare(json!({"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": meta, "spec": spec, "status": status}))
    }

    fn daemon_set(&self, world: &World) -> Value {
        let all = self.pods(world).count();
        let ready = self.pods(world).filter(|pod| pod.is_ready(world)).count();
        let mut status = json!({"currentNumberScheduled": all, "numberMisscheduled": 0, "desiredNumberScheduled": all, "numberReady": ready,
            "observedGeneration": self.generation, "updatedNumberScheduled": all, "numberAvailable": ready});
        if ready < all {
            status["numberUnavailable"] = json!(all - ready);
        }
        let mut meta = self.meta(&rfc3339(self.created));
        meta["annotations"] = json!({"deprecated.daemonset.template.generation": "1"});
        self.declare(json!({"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": meta,
            "spec": {"selector": {"matchLabels": self.labels()}, "template": self.newest().template,
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}, "revisionHistoryLimit": 10},
            "status": status}))
    }

    fn job(&self, world: &World) -> Value {
        let failed = self.pods(world).filter(|pod| matches!(pod.stage, Stage::Done { exit, .. } if exit != 0)).count();
        let succeeded = self.pods(world).filter(|pod| matches!(pod.stage, Stage::Done { exit: 0, .. })).count();
        let active = self.pods(world).filter(|pod| pod.is_active()).count();
        let mut status = json!({});
        let condition = |kind: &str, reason: &str, message: &str, at: i64| json!({"type": kind, "status": "True", "lastProbeTime": rfc3339(at), "lastTransitionTime": rfc3339(at), "reason": reason, "message": message});
        match self.ended {
            Some(at) if failed > 0 => {
                let message = "Job has reached the specified backoff limit";
                status["conditions"] = json!([
                    condition("FailureTarget", "BackoffLimitExceeded", message, at),
                    condition("Failed", "BackoffLimitExceeded", message, at)
                ]);
            }
            Some(at) => {
                let message = "Reached expected number of succeeded pods";
                status["conditions"] = json!([
                    condition("SuccessCriteriaMet", "CompletionsReached", message, at),
                    condition("Complete", "CompletionsReached", message, at)
                ]);
            }
            None => {}
        }
        status["startTime"] = json!(rfc3339(self.created));
        if let Some(at) = self.ended.filter(|_| failed == 0) {
            status["completionTime"] = json!(rfc3339(at));
        }
        for (field, count) in [("active", active), ("succeeded", succeeded), ("failed", failed)] {
            if count > 0 {
                status[field] = json!(count);
            }
        }
        status["terminating"] = json!(0);
        status["uncountedTerminatedPods"] = json!({});
        status["ready"] = json!(0);
        let mut meta = self.meta(&rfc3339(self.created));
        meta["annotations"] = json!({"batch.kubernetes.io/cronjob-scheduled-timestamp": rfc3339(self.created)});
        meta["ownerReferences"] = json!([self.extra["owner"]]);
        json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": meta,
            "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 0, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": self.uid()}},
                "template": self.newest().template, "completionMode": "NonIndexed", "suspend": false, "podReplacementPolicy": "TerminatingOrFailed", "manualSelector": false},
            "status": status})
    }
}

/// Does what the Deployment controller would do next: scale the new set up, the old ones down.
pub fn reconcile(world: &mut World, key: &str) {
    let Some(workload) = world.workloads.get(key).filter(|workload| workload.kind == Kind::Deployment) else { return };
    let newest = workload.newest().clone();
    let name = workload.set_name(&newest);
    let old: Vec<(String, String)> =
        workload.pods(world).filter(|pod| pod.revision != newest.hash).map(|pod| (pod.namespace.clone(), pod.name.clone())).collect();
    let old_active: Vec<_> = old.iter().filter(|key| world.pods[*key].is_active()).cloned().collect();
    let ready = workload.pods(world).filter(|pod| pod.is_active() && pod.is_ready(world)).count();
    let new_ready = workload.of_revision(world, &newest).filter(|pod| pod.is_ready(world)).count();
    let count = |n: usize| i64::try_from(n).unwrap();
    let (replicas, surge, unavailable) = (workload.replicas, workload.surge, workload.unavailable);
    if workload.recreate {
        if !old_active.is_empty() {
            scale_down(world, key, count(old_active.len()));
            old_active.iter().for_each(|pod| super::acts::delete(world, pod));
        }
        if old.iter().all(|key| !world.pods.contains_key(key)) {
            scale_up(world, key, &name, replicas);
        }
        return;
    }
    let room = replicas + surge - count(old_active.len()) - newest.replicas;
    scale_up(world, key, &name, (newest.replicas + room.max(0)).min(replicas));
    let newest = world.workloads[key].newest().clone();
    let spare = count(old_active.len()) + newest.replicas - (replicas - unavailable) - (newest.replicas - count(new_ready));
    let spare = spare.min(count(ready) - (replicas - unavailable)).min(count(old_active.len())).max(0);
    for pod in old_active.iter().take(usize::try_from(spare).unwrap()) {
        super::acts::delete(world, pod);
    }
    if spare > 0 {
        scale_down(world, key, spare);
    }
}

/// Takes pods from the revision before the newest.
fn scale_down(world: &mut World, key: &str, by: i64) {
    let workload = world.workloads.get_mut(key).unwrap();
    let at = workload.revisions.len() - 2;
    let before = workload.revisions[at].replicas;
    workload.revisions[at].replicas = before - by;
    workload.revisions[at].generation += 1;
    let set = workload.set_name(&workload.revisions[at]);
    scaled(world, key, &format!("Scaled down replica set {set} from {before} to {}", before - by));
}

fn scaled(world: &mut World, key: &str, message: &str) {
    let (namespace, name) = key.split_once('/').unwrap();
    let about = ("Deployment".to_owned(), namespace.to_owned(), name.to_owned());
    world.event(&about, &Said { kind: "Normal", reason: "ScalingReplicaSet", message, from: "deployment-controller", host: "", field: "" });
}

fn scale_up(world: &mut World, key: &str, set: &str, wanted: i64) {
    let now = world.now;
    let workload = world.workloads.get_mut(key).unwrap();
    let have = workload.newest().replicas;
    if wanted <= have {
        return;
    }
    workload.revisions.last_mut().unwrap().replicas = wanted;
    workload.revisions.last_mut().unwrap().generation += 1;
    workload.progress = now;
    world.touch(key);
    world.render();
    scaled(world, key, &format!("Scaled up replica set {set} from {have} to {wanted}"));
    for _ in have..wanted {
        create(world, key);
    }
}

/// Creates one more pod of the newest revision, if quota allows.
pub fn create(world: &mut World, key: &str) {
    let workload = &world.workloads[key];
    let revision = workload.newest().clone();
    let (namespace, set) = (workload.namespace.clone(), workload.set_name(&revision));
    let about = match workload.kind {
        Kind::Deployment => ("ReplicaSet".to_owned(), namespace.clone(), set.clone()),
        Kind::StatefulSet | Kind::DaemonSet | Kind::Job => (workload.kind.name().to_owned(), namespace.clone(), workload.name.clone()),
    };
    let from = match workload.kind {
        Kind::Deployment => "replicaset-controller",
        Kind::StatefulSet => "statefulset-controller",
        Kind::DaemonSet => "daemonset-controller",
        Kind::Job => "job-controller",
    };
    if let Some(refusal) = super::cluster::quota_refusal(world, &namespace) {
        let message = format!("pods \"{set}-{}\" is forbidden: {refusal}", world.suffix(5));
        let text = format!("Error creating: {message}");
        let now = world.now;
        let workload = world.workloads.get_mut(key).unwrap();
        workload.refused.get_or_insert((message, now));
        world.touch(key);
        world.event(&about, &Said { kind: "Warning", reason: "FailedCreate", message: &text, from, host: "", field: "" });
        return;
    }
    let pod = new_pod(world, key, &revision, None);
    let name = pod.1.clone();
    world.event(
        &about,
        &Said { kind: "Normal", reason: "SuccessfulCreate", message: &created_message(&about, &name), from, host: "", field: "" },
    );
    super::acts::begin(world, pod, &revision.then);
}

fn created_message(about: &super::world::Key, pod: &str) -> String {
    match about.0.as_str() {
        "StatefulSet" => format!("create Pod {pod} in StatefulSet {} successful", about.2),
        _ => format!("Created pod: {pod}"),
    }
}

/// Adds a pod that nobody has looked at yet.
pub fn new_pod(world: &mut World, key: &str, revision: &Revision, made: Option<(i64, &str)>) -> (String, String) {
    let created = made.map_or(world.now, |(at, _)| at);
    let (namespace, kind, base) = {
        let workload = &world.workloads[key];
        (workload.namespace.clone(), workload.kind, workload.name.clone())
    };
    let ordinal = world.pods.values().filter(|pod| pod.workload == key).count();
    let mut template = revision.template.clone();
    let labels = &mut template["metadata"]["labels"];
    let (name, generate, reference) = match kind {
        Kind::Deployment => {
            let set = world.workloads[key].set_name(revision);
            labels["pod-template-hash"] = json!(revision.hash);
            let reference = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": uid(&format!("rs/{namespace}/{set}")), "controller": true, "blockOwnerDeletion": true});
            (format!("{set}-{}", world.suffix(5)), json!(format!("{set}-")), reference)
        }
        Kind::StatefulSet => {
            let name = format!("{base}-{ordinal}");
            labels["apps.kubernetes.io/pod-index"] = json!(ordinal.to_string());
            labels["controller-revision-hash"] = json!(format!("{base}-{}", revision.hash));
            labels["statefulset.kubernetes.io/pod-name"] = json!(name);
            (name, json!(format!("{base}-")), world.workloads[key].reference())
        }
        Kind::DaemonSet | Kind::Job => {
            if kind == Kind::DaemonSet {
                labels["controller-revision-hash"] = json!(revision.hash);
                labels["pod-template-generation"] = json!("1");
            }
            (format!("{base}-{}", world.suffix(5)), json!(format!("{base}-")), world.workloads[key].reference())
        }
    };
    super::templates::fill(&mut template, &name, kind, made.map(|(_, node)| node), &hash(&name).to_string());
    let pod = SimPod {
        namespace: namespace.clone(),
        name: name.clone(),
        workload: key.to_owned(),
        revision: revision.hash.clone(),
        template,
        owner: json!({"reference": reference, "generateName": generate}),
        created,
        node: None,
        stage: Stage::New,
        ready_since: created,
        restarts: 0,
        last: Value::Null,
        deleted: None,
        finalizers: Vec::new(),
    };
    world.pods.insert((namespace.clone(), name.clone()), pod);
    world.touch(key);
    world.render();
    (namespace, name)
}

/// A rollout that does not get on for ten minutes runs out of time.
pub fn watch_deadline(world: &mut World, key: String) {
    let progress = world.workloads[&key].progress;
    world.at(progress + 600, move |world| {
        if world.workloads[&key].is_complete(world) {
            return;
        }
        if world.workloads[&key].progress != progress {
            return watch_deadline(world, key);
        }
        world.workloads.get_mut(&key).unwrap().timed_out = true;
        world.touch(&key);
    });
}

/// Keeps what depends on the pods: whether enough are available.
pub fn observe(world: &mut World, key: &str) {
    let workload = &world.workloads[key];
    let ready = workload.pods(world).filter(|pod| pod.is_active() && pod.is_ready(world)).count();
    let available = i64::try_from(ready).unwrap() >= workload.replicas - workload.unavailable;
    let now = world.now;
    let workload = world.workloads.get_mut(key).unwrap();
    if workload.available.0 != available {
        workload.available = (available, now);
    }
}

/// Tells the Deployment that one of its pods is ready.
pub fn got_on(world: &mut World, pod: &(String, String)) {
    let Some(key) = world.pods.get(pod).map(|pod| pod.workload.clone()) else { return };
    let now = world.now;
    if let Some(workload) = world.workloads.get_mut(&key).filter(|workload| workload.kind == Kind::Deployment) {
        workload.progress = now;
        workload.timed_out = false;
    }
    world.touch(&key);
    reconcile(world, &key);
}

pub fn unhealthy(world: &mut World, pod: &(String, String), message: &str) {
    say(world, pod, "Warning", "Unhealthy", message);
}
