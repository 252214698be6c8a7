//! Pod: one pod as an API server writes it: its field order, managedFields of two managers, five conditions, 9.6 kB.

use std::fmt::Write;

use super::plan::{Maker, Owner, Plan, Pod, State};
use super::rng::Rng;
use super::spec::{Gap, Template, image};

/// Appends the pod's JSON.
pub fn write(out: &mut String, plan: &Plan, pod: &Pod, template: &Template) {
    let owner = &plan.owners[pod.owner];
    let mut rng = Rng::new(pod.seed);
    let uid = rng.uid();
    let times = Times::new(&mut rng);
    metadata(out, plan, pod, &uid, &mut rng, &times);
    out.push_str(r#","spec":"#);
    spec(out, plan, pod, template);
    out.push_str(r#","status":"#);
    status(out, pod, owner, &mut rng, &times);
    out.push('}');
}

/// When it was made, began to run, and became ready.
struct Times {
    created: String,
    started: String,
    ready: String,
    deleted: String,
}

impl Times {
    fn new(rng: &mut Rng) -> Self {
        let (day, hour, minute, second) = (1 + rng.below(28), rng.below(24), rng.below(60), rng.below(30));
        let at = |later: usize| format!("2026-04-{day:02}T{hour:02}:{minute:02}:{:02}Z", second + later);
        Self { created: at(0), started: at(2), ready: at(17), deleted: at(29) }
    }
}

fn is_bound(pod: &Pod) -> bool {
    pod.state != State::Unschedulable
}

fn metadata(out: &mut String, plan: &Plan, pod: &Pod, uid: &str, rng: &mut Rng, times: &Times) {
    let owner = &plan.owners[pod.owner];
    let namespace = &plan.namespaces[owner.namespace];
    let generate =
        if owner.maker == Maker::StatefulSet { &owner.name } else { pod.name.trim_end_matches(&pod.suffix).trim_end_matches('-') };
    let _ = write!(
        out,
        r#"{{"metadata":{{"name":"{}","generateName":"{generate}-","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{}","#,
        pod.name,
        1_000_000_000 + rng.below(900_000_000)
    );
    let _ = write!(out, r#""generation":1,"creationTimestamp":"{}","#, times.created);
    if pod.state == State::Terminating {
        let _ = write!(out, r#""deletionTimestamp":"{}","deletionGracePeriodSeconds":30,"#, times.deleted);
    }
    labels(out, plan, pod, owner);
    let _ = write!(
        out,
        r#""annotations":{{"checksum/config":"{}","kubectl.kubernetes.io/restartedAt":"2026-04-01T09:30:00Z","prometheus.io/path":"/metrics","prometheus.io/port":"9090","prometheus.io/scrape":"true"}},"#,
        Rng::new(owner.seed ^ 3).hex(64)
    );
    let (api, kind) = kind(owner.maker);
    let _ = write!(
        out,
        r#""ownerReferences":[{{"apiVersion":"{api}","kind":"{kind}","name":"{}","uid":"{}","controller":true,"blockOwnerDeletion":true}}],"#,
        owner.name, owner.uid
    );
    if owner.maker == Maker::Job && pod.state != State::Completed {
        out.push_str(r#""finalizers":["batch.kubernetes.io/job-tracking"],"#);
    }
    managed_fields(out, pod, owner, rng, times);
    out.push('}');
}

pub fn kind(maker: Maker) -> (&'static str, &'static str) {
    match maker {
        Maker::ReplicaSet => ("apps/v1", "ReplicaSet"),
        Maker::DaemonSet => ("apps/v1", "DaemonSet"),
        Maker::StatefulSet => ("apps/v1", "StatefulSet"),
        Maker::Job => ("batch/v1", "Job"),
    }
}

/// Nine labels, one of them the zone of the node.
fn labels(out: &mut String, plan: &Plan, pod: &Pod, owner: &Owner) {
    let app = &owner.app;
    let version = image(owner);
    let version = version.rsplit(':').next().unwrap_or_default();
    let _ = write!(
        out,
        r#""labels":{{"app":"{app}","app.kubernetes.io/component":"server","app.kubernetes.io/instance":"{app}","app.kubernetes.io/name":"{app}","app.kubernetes.io/version":"{version}","#
    );
    match owner.maker {
        Maker::ReplicaSet => {
            let _ = write!(out, r#""pod-template-hash":"{}","#, owner.hash);
        }
        Maker::DaemonSet => {
            let _ = write!(out, r#""controller-revision-hash":"{}","pod-template-generation":"3","#, owner.hash);
        }
        Maker::StatefulSet => {
            let ordinal = pod.name.rsplit('-').next().unwrap_or_default();
            let _ = write!(
                out,
                r#""apps.kubernetes.io/pod-index":"{ordinal}","controller-revision-hash":"{}","statefulset.kubernetes.io/pod-name":"{}","#,
                owner.hash, pod.name
            );
        }
        Maker::Job => {
            let (name, uid) = (&owner.name, &owner.uid);
            let _ = write!(
                out,
                r#""batch.kubernetes.io/controller-uid":"{uid}","batch.kubernetes.io/job-name":"{name}","controller-uid":"{uid}","job-name":"{name}","#
            );
        }
    }
    let zone = if is_bound(pod) { plan.zone(pod.node) } else { plan.zone(0) };
    let _ = write!(out, r#""team":"{}","topology.kubernetes.io/zone":"{zone}"}},"#, app.split('-').next().unwrap_or_default());
}

/// Two managers: whoever made the pod, and the kubelet.
fn managed_fields(out: &mut String, pod: &Pod, owner: &Owner, rng: &mut Rng, times: &Times) {
    let _ = write!(
        out,
        r#""managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"{}","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:annotations":{{".":{{}},"f:checksum/config":{{}},"f:kubectl.kubernetes.io/restartedAt":{{}},"f:prometheus.io/path":{{}},"f:prometheus.io/port":{{}},"f:prometheus.io/scrape":{{}}}},"f:generateName":{{}},"f:labels":{{".":{{}},"f:app":{{}},"f:app.kubernetes.io/component":{{}},"f:app.kubernetes.io/instance":{{}},"f:app.kubernetes.io/name":{{}},"f:app.kubernetes.io/version":{{}},"f:pod-template-hash":{{}},"f:team":{{}}}},"f:ownerReferences":{{".":{{}},"k:{{\"uid\":\"{}\"}}":{{}}}}}},"f:spec":{{"f:affinity":{{".":{{}},"f:podAntiAffinity":{{}}}},"f:containers":{{"#,
        times.created, owner.uid
    );
    for (i, name) in ["app", "metrics"].into_iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(
            out,
            r#"{comma}"k:{{\"name\":\"{name}\"}}":{{".":{{}},"f:env":{{".":{{}},"k:{{\"name\":\"DB_PASSWORD\"}}":{{".":{{}},"f:name":{{}},"f:valueFrom":{{".":{{}},"f:secretKeyRef":{{}}}}}},"k:{{\"name\":\"LOG_LEVEL\"}}":{{".":{{}},"f:name":{{}},"f:value":{{}}}}}},"f:image":{{}},"f:imagePullPolicy":{{}},"f:livenessProbe":{{".":{{}},"f:failureThreshold":{{}},"f:httpGet":{{".":{{}},"f:path":{{}},"f:port":{{}},"f:scheme":{{}}}},"f:periodSeconds":{{}}}},"f:name":{{}},"f:ports":{{".":{{}}}},"f:resources":{{".":{{}},"f:limits":{{}},"f:requests":{{}}}},"f:volumeMounts":{{".":{{}},"k:{{\"mountPath\":\"/etc/config\"}}":{{".":{{}},"f:mountPath":{{}},"f:name":{{}},"f:readOnly":{{}}}}}}}}"#
        );
    }
    let _ = write!(
        out,
        r#"}},"f:dnsPolicy":{{}},"f:restartPolicy":{{}},"f:schedulerName":{{}},"f:securityContext":{{}},"f:serviceAccount":{{}},"f:terminationGracePeriodSeconds":{{}},"f:topologySpreadConstraints":{{}},"f:volumes":{{}}}}}}}},{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"{}","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{".":{{}},"k:{{\"type\":\"Ready\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}}}},"f:containerStatuses":{{}},"f:hostIP":{{}},"f:phase":{{}},"f:podIP":{{}},"f:podIPs":{{".":{{}},"k:{{\"ip\":\"10.{}.{}.{}\"}}":{{".":{{}},"f:ip":{{}}}}}},"f:startTime":{{}}}}}},"subresource":"status"}}]"#,
        times.ready,
        pod.node % 200,
        rng.below(255),
        rng.below(255)
    );
}

fn spec(out: &mut String, plan: &Plan, pod: &Pod, template: &Template) {
    for (text, gap) in &template.0 {
        out.push_str(text);
        match gap {
            Some(Gap::Token) => out.push_str(&pod.suffix),
            Some(Gap::Name) => out.push_str(&pod.name),
            Some(Gap::Node) if is_bound(pod) => {
                let _ = write!(out, r#""nodeName":"{}","#, plan.nodes[pod.node]);
            }
            Some(Gap::SameNode) => out.push_str(&plan.nodes[pod.node]),
            Some(Gap::Node) | None => {}
        }
    }
}

fn status(out: &mut String, pod: &Pod, owner: &Owner, rng: &mut Rng, times: &Times) {
    if pod.state == State::Unschedulable {
        let _ = write!(
            out,
            r#"{{"phase":"Pending","conditions":[{{"type":"PodScheduled","status":"False","lastProbeTime":null,"lastTransitionTime":"{}","reason":"Unschedulable","message":"0/5000 nodes are available: 4900 Insufficient cpu, 100 node(s) had untolerated taint(s). preemption: 0/5000 nodes are available: 4900 No preemption victims found for incoming pod, 100 Preemption is not helpful for scheduling."}}],"qosClass":"Burstable"}}"#,
            times.started
        );
        return;
    }
    let done = pod.state == State::Completed;
    let ready = matches!(pod.state, State::Healthy | State::Terminating | State::OutOfMemory);
    let phase = match pod.state {
        State::Completed => "Succeeded",
        State::ImagePull => "Pending",
        _ => "Running",
    };
    let _ = write!(out, r#"{{"observedGeneration":1,"phase":"{phase}","conditions":["#);
    let unready = if done {
        r#","reason":"PodCompleted""#.to_owned()
    } else {
        r#","reason":"ContainersNotReady","message":"containers with unready status: [app]""#.to_owned()
    };
    let conditions =
        [("PodReadyToStartContainers", !done), ("Initialized", true), ("Ready", ready), ("ContainersReady", ready), ("PodScheduled", true)];
    for (i, (kind, holds)) in conditions.into_iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        let (status, why, at) = if holds {
            ("True", "", if matches!(kind, "Ready" | "ContainersReady") { &times.ready } else { &times.started })
        } else {
            ("False", &*unready, &times.ready)
        };
        let _ = write!(
            out,
            r#"{comma}{{"type":"{kind}","observedGeneration":1,"status":"{status}","lastProbeTime":null,"lastTransitionTime":"{at}"{why}}}"#
        );
    }
    let ip = format!("10.{}.{}.{}", pod.node % 200, rng.below(255), rng.below(255));
    let host = format!("10.200.{}.{}", pod.node / 250, pod.node % 250);
    let _ = write!(
        out,
        r#"],"hostIP":"{host}","hostIPs":[{{"ip":"{host}"}}],"podIP":"{ip}","podIPs":[{{"ip":"{ip}"}}],"startTime":"{}","#,
        times.started
    );
    if owner.sidecar {
        out.push_str(r#""initContainerStatuses":["#);
        container(
            out,
            rng,
            "mesh-proxy",
            "registry.example.com/mesh/proxy:1.29.0",
            if done { State::Completed } else { State::Healthy },
            times,
        );
        out.push_str("],");
    }
    out.push_str(r#""containerStatuses":["#);
    container(out, rng, "app", &image(owner), pod.state, times);
    out.push(',');
    container(
        out,
        rng,
        "metrics",
        "registry.example.com/platform/exporter:0.14.2",
        if done { State::Completed } else { State::Healthy },
        times,
    );
    out.push_str(r#"],"qosClass":"Burstable"}"#);
}

fn container(out: &mut String, rng: &mut Rng, name: &str, image: &str, state: State, times: &Times) {
    let (digest, id) = (Rng::new(image.len() as u64 + 77).hex(64), rng.hex(64));
    let started = &times.started;
    let exit = |code: u8, reason: &str| {
        format!(
            r#"{{"terminated":{{"exitCode":{code},"reason":"{reason}","startedAt":"{started}","finishedAt":"{}","containerID":"containerd://{id}"}}}}"#,
            times.ready
        )
    };
    let running = format!(r#"{{"running":{{"startedAt":"{}"}}}}"#, times.ready);
    let (now, last, ready, restarts) = match state {
        State::Healthy | State::Terminating => (running, "{}".to_owned(), true, 0),
        State::NotReady => (running, "{}".to_owned(), false, 0),
        State::OutOfMemory => (running, exit(137, "OOMKilled"), true, 1 + rng.below(4)),
        State::Completed => (exit(0, "Completed"), "{}".to_owned(), false, 0),
        State::CrashLoop => (
            format!(
                r#"{{"waiting":{{"reason":"CrashLoopBackOff","message":"back-off 5m0s restarting failed container={name} pod={}"}}}}"#,
                rng.uid()
            ),
            exit(1, "Error"),
            false,
            3 + rng.below(200),
        ),
        State::ImagePull | State::Unschedulable => (
            format!(
                r#"{{"waiting":{{"reason":"ImagePullBackOff","message":"Back-off pulling image \"{image}\": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": {image}: not found"}}}}"#
            ),
            "{}".to_owned(),
            false,
            0,
        ),
    };
    let (image_id, container_id) = if state == State::ImagePull {
        (String::new(), String::new())
    } else {
        (format!("{image}@sha256:{digest}"), format!("containerd://{id}"))
    };
    let _ = write!(
        out,
        r#"{{"name":"{name}","state":{now},"lastState":{last},"ready":{ready},"restartCount":{restarts},"image":"{image}","imageID":"{image_id}","containerID":"{container_id}","started":{ready},"resources":{{"requests":{{"cpu":"100m","memory":"128Mi"}}}},"volumeMounts":[{{"name":"config","mountPath":"/etc/config","readOnly":true,"recursiveReadOnly":"Disabled"}}]}}"#
    );
}
