//! An incident with something in every part of the screen, made by hand: frames of it are pictures to look at.

use std::sync::Arc;

use holdup::diagnose::{Blocker, Clock, ClockKind, Consequence, Evidence, Facts, Layer, Quiet, Report, Summary, Unchecked, Verdict};
use holdup::model::{Cluster, ObjectRef, Time};
use serde_json::{Value, json};

use crate::picture;
use crate::stage::Stage;

pub fn stage() -> Stage {
    Stage::new(cluster(), report(), now())
}

pub fn now() -> Time {
    at("12:03:41")
}

fn at(time: &str) -> Time {
    Time::parse(&format!("2026-05-04T{time}Z")).expect("a time")
}

pub fn object(text: &str) -> ObjectRef {
    ObjectRef::parse(text).expect("an object")
}

fn meta(namespace: &str, name: &str, uid: &str, owner: Option<(&str, &str, &str)>) -> Value {
    let owners =
        owner.map(|(kind, name, uid)| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": true}]));
    json!({"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": "2026-05-04T11:41:03Z", "ownerReferences": owners,
        "labels": {"app": "cart"}, "annotations": {"deployment.kubernetes.io/revision": "12"}})
}

fn cluster() -> Cluster {
    let spec = json!({"containers": [{"name": "cart", "image": "registry.example.net/shop/cart:1.8.2", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
        "envFrom": [{"secretRef": {"name": "cart-db"}}]}], "serviceAccountName": "cart"});
    let waiting = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": "2026-05-04T11:45:12Z",
        "message": "0/12 nodes are available: 9 node(s) had untolerated taint(s), 3 Insufficient memory."}]);
    let mut objects = vec![
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("shop", "cart", "d1", None), "spec": {"replicas": 8, "selector": {"matchLabels": {"app": "cart"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}, "template": {"metadata": {"labels": {"app": "cart"}}, "spec": spec}},
            "status": {"replicas": 8, "conditions": [{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "Deployment does not have minimum availability.", "lastTransitionTime": "2026-05-04T11:45:12Z"}]}}),
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta("shop", "cart-6d4cf56db6", "r1", Some(("Deployment", "cart", "d1"))), "spec": {"replicas": 8}, "status": {"replicas": 8}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart", "namespace": "shop", "uid": "s1"}, "spec": {"selector": {"app": "cart"}, "ports": [{"port": 80, "targetPort": 8080}]}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "n1"}, "status": {"phase": "Active"}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "db", "uid": "n2"}, "status": {"phase": "Active"}}),
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n4", "uid": "m4", "creationTimestamp": "2026-04-01T00:00:00Z"}, "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": "2026-04-01T00:01:00Z"}], "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}}}),
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "cart.1", "namespace": "shop", "uid": "e1"}, "type": "Warning", "reason": "FailedScheduling", "count": 12,
            "message": "0/12 nodes are available: 9 node(s) had untolerated taint(s), 3 Insufficient memory.", "source": {"component": "default-scheduler"}, "lastTimestamp": "2026-05-04T12:03:01Z",
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "cart-6d4cf56db6-x2x7k", "uid": "p0"}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("shop", "probe-1", "q1", None), "spec": {"nodeName": "n4", "containers": [{"name": "probe", "image": "probe:1"}]},
            "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-05-04T11:41:05Z"}, {"type": "Ready", "status": "True", "lastTransitionTime": "2026-05-04T11:41:12Z"}],
                "containerStatuses": [{"name": "probe", "ready": true, "restartCount": 0, "image": "probe:1", "state": {"running": {"startedAt": "2026-05-04T11:41:10Z"}}}]}}),
    ];
    for (nth, suffix) in ["x2x7k", "4k9zq", "b6wlp", "c8fnd", "h2mvt", "j7qsr", "t5xgb", "z9dkc"].into_iter().enumerate() {
        let name = format!("cart-6d4cf56db6-{suffix}");
        objects.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta("shop", &name, &format!("p{nth}"), Some(("ReplicaSet", "cart-6d4cf56db6", "r1"))), "spec": spec,
            "status": {"phase": "Pending", "conditions": waiting}}));
    }
    picture::of(&objects, &["Secret".to_owned(), "ResourceQuota".to_owned()])
}

pub fn blocker(layer: Layer, cause: &'static str, key: &str, title: &str, since: &str) -> Blocker {
    Blocker {
        id: format!("{cause}:{key}"),
        layer,
        cause,
        verdict: Verdict::Blocked,
        key: key.into(),
        root: object("Node//n4"),
        since: Some(at(since)),
        clock: None,
        title: title.into(),
        summary: format!("{title}.").into(),
        affected: Arc::default(),
        pods: 0,
        pod_names: Arc::default(),
        down: 0,
        services: Vec::new(),
        facts: Facts::default(),
        evidence: Vec::new(),
        next: "Look at what changed.".into(),
        consequences: Box::default(),
        unchecked: Vec::new(),
    }
}

fn workloads(names: &[&str]) -> Arc<[ObjectRef]> {
    let mut all: Vec<ObjectRef> = names.iter().map(|name| object(&format!("Deployment/{name}"))).collect();
    all.sort();
    all.into()
}

fn taint() -> Blocker {
    let pod = |suffix: &str| object(&format!("Pod/shop/cart-6d4cf56db6-{suffix}"));
    let message = "0/12 nodes are available: 9 node(s) had untolerated taint(s), 3 Insufficient memory. preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.";
    Blocker {
        affected: workloads(&["shop/cart", "shop/web", "db/pg"]),
        pods: 14,
        pod_names: ["4k9zq", "b6wlp", "c8fnd", "h2mvt", "j7qsr", "t5xgb", "x2x7k", "z9dkc"].map(pod).into(),
        services: vec![object("Service/shop/cart")],
        facts: Facts::from_iter([("nodes", "9".to_owned()), ("taint", "gpu=true:NoSchedule".to_owned()), ("short", "512Mi on n4".to_owned())]),
        summary: "14 pods of 3 workloads: 9 of 12 nodes carry gpu=true:NoSchedule, which they do not tolerate. The other three, n1 n4 n7, lack memory: 512Mi short on the best (n4).".into(),
        next: "Add a toleration for gpu=true:NoSchedule to the pods that may run there, or free 512Mi on n4.".into(),
        evidence: [
            Evidence { object: pod("x2x7k"), path: "status.conditions[type=PodScheduled].message".into(), message: message.into(), at: Some(at("11:45:12")) },
            Evidence { object: object("Node//n4"), path: "status.allocatable.memory".into(), message: "16Gi".into(), at: None },
        ].map(Arc::new).into(),
        unchecked: vec![Unchecked { kind: "ResourceQuota", namespace: "shop".to_owned(), why: "forbidden".to_owned() }],
        ..blocker(Layer::Scheduling, "untolerated-taint", "taint:gpu=true:NoSchedule", "no node without taint gpu=true", "11:45:12")
    }
}

fn silent_node() -> Blocker {
    let init = Consequence {
        layer: Layer::Init,
        cause: "init-container-running",
        verdict: Verdict::Delayed,
        title: "shop/web waits for shop/db, which is on n17".into(),
        root: object("Deployment/shop/web"),
        affected: workloads(&["shop/web"]),
        pods: 2,
        pod_names: Arc::default(),
        evidence: Vec::new(),
    };
    Blocker {
        affected: workloads(&["shop/db", "shop/web", "pay/ledger", "pay/api"]),
        pods: 12,
        pod_names: Arc::default(),
        consequences: Box::new([init]),
        ..blocker(Layer::Node, "node-unreachable", "Node//n17", "n17 silent since 11:57, 12 pods frozen", "11:57:40")
    }
}

fn delayed(layer: Layer, cause: &'static str, workload: &str, title: &str, since: &str, clock: (ClockKind, &str, &str)) -> Blocker {
    Blocker {
        verdict: Verdict::Delayed,
        affected: workloads(&[workload]),
        pods: 1,
        clock: Some(Clock { kind: clock.0, what: clock.1.to_owned(), at: Some(at(clock.2)) }),
        ..blocker(layer, cause, &format!("Deployment/{workload}"), title, since)
    }
}

pub fn report() -> Report {
    let blockers = vec![
        taint(),
        Blocker {
            affected: workloads(&["shop/img", "pay/img"]),
            pods: 9,
            ..blocker(Layer::Image, "image-denied", "registry:registry.example.net", "registry.example.net answers 401", "11:51:20")
        },
        Blocker {
            affected: workloads(&["shop/api"]),
            pods: 5,
            ..blocker(
                Layer::Admission,
                "quota-exceeded",
                "ResourceQuota/shop/compute",
                "quota shop/compute is full: pods 6 of 6",
                "11:54:00",
            )
        },
        silent_node(),
        delayed(
            Layer::Rollout,
            "deployment-progressing",
            "shop/api",
            "shop/api slow: 2 of 3 ready",
            "11:56:30",
            (ClockKind::Deadline, "progressDeadlineSeconds", "12:06:51"),
        ),
        delayed(
            Layer::Readiness,
            "startup-probe-pending",
            "pay/ledger",
            "start-up probe of pay/ledger, 19 of 30",
            "12:02:10",
            (ClockKind::Budget, "failureThreshold × periodSeconds", "12:04:22"),
        ),
    ];
    let quiet = vec![Quiet {
        object: object("CronJob/shop/nightly"),
        cause: "cronjob-suspended",
        reason: "suspended".into(),
        since: Some(at("09:00:00")),
    }];
    let summary = Summary { pods: 1284, workloads: 310, stuck_pods: 31, stuck_workloads: 9, blocked: 4, delayed: 2, quiet: 1 };
    Report { summary, blockers: blockers.into_iter().map(Arc::new).collect(), quiet: quiet.into_iter().map(Arc::new).collect() }
}
