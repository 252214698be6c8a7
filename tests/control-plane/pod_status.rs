//! What a kubelet writes about a pod in each state that the scenarios need: the status and the events beside it.

use chrono::{Duration, SecondsFormat, Utc};
use serde_json::{Value, json};

pub struct Written {
    pub status: Value,
    pub events: Vec<Value>,
}

pub fn now() -> String {
    after(0)
}

pub fn now_in_micros() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn after(seconds: i64) -> String {
    (Utc::now() + Duration::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// None where the kubelet keeps silent.
pub fn written(pod: &Value, state: &str) -> Option<Written> {
    let made = match state {
        "running" | "never-ends" => running(pod, &now()),
        // A node whose clock is an hour ahead: Ready, and not available for minReadySeconds.
        "running-clock-ahead" => running(pod, &after(3600)),
        "silent" => return None,
        "succeeded" => ended(pod, "Succeeded", "PodCompleted", 0),
        "failed" => ended(pod, "Failed", "PodFailed", 1),
        "crash-loop" => restarting(pod, 1, "Error"),
        "out-of-memory" => restarting(pod, 137, "OOMKilled"),
        "image-missing" => image_missing(pod),
        "not-ready" => not_ready(pod),
        "init-waiting" => init_waiting(pod),
        unknown => panic!("no kubelet plays {unknown}"),
    };
    Some(made)
}

fn running(pod: &Value, since: &str) -> Written {
    let containers = containers(pod, &json!({"running": {"startedAt": now()}}), &json!({"ready": true, "started": true}));
    Written { status: status(pod, "Running", &conditions("True", None, since), &containers), events: vec![] }
}

fn ended(pod: &Value, phase: &str, reason: &str, code: i32) -> Written {
    let why = if code == 0 { "Completed" } else { "Error" };
    let end = json!({"terminated": {"exitCode": code, "reason": why, "startedAt": now(), "finishedAt": now()}});
    let containers = containers(pod, &end, &json!({"ready": false, "started": false}));
    Written { status: status(pod, phase, &conditions("False", Some(reason), &now()), &containers), events: vec![] }
}

fn restarting(pod: &Value, code: i32, reason: &str) -> Written {
    let (name, container, uid) = (text(pod, "name"), first_container(pod), text(pod, "uid"));
    let place = format!("{container} in pod {name}_{}({uid})", text(pod, "namespace"));
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff",
        "message": format!("back-off 2m40s restarting failed container={container} pod={name}_{}({uid})", text(pod, "namespace"))}});
    let last = json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": after(-4), "finishedAt": after(-2)}});
    let containers = containers(pod, &waiting, &json!({"ready": false, "started": false, "restartCount": 5, "lastState": last}));
    Written {
        status: status(pod, "Running", &conditions("False", Some("ContainersNotReady"), &now()), &containers),
        events: vec![event(pod, "Warning", "BackOff", &format!("Back-off restarting failed container {place}"), 12)],
    }
}

fn image_missing(pod: &Value) -> Written {
    let image = pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
    let error = format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": {image}: not found"
    );
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff",
        "message": format!("Back-off pulling image \"{image}\": ErrImagePull: {error}")}});
    let containers = containers(pod, &waiting, &json!({"ready": false, "started": false}));
    Written {
        status: status(pod, "Pending", &conditions("False", Some("ContainersNotReady"), &now()), &containers),
        events: vec![
            event(pod, "Warning", "Failed", &format!("Failed to pull image \"{image}\": {error}"), 4),
            event(pod, "Normal", "BackOff", &format!("Back-off pulling image \"{image}\""), 7),
        ],
    }
}

fn not_ready(pod: &Value) -> Written {
    let containers = containers(pod, &json!({"running": {"startedAt": now()}}), &json!({"ready": false, "started": true}));
    let probe = "Readiness probe failed: HTTP probe failed with statuscode: 503";
    Written {
        status: status(pod, "Running", &conditions("False", Some("ContainersNotReady"), &now()), &containers),
        events: vec![event(pod, "Warning", "Unhealthy", probe, 9)],
    }
}

fn init_waiting(pod: &Value) -> Written {
    let waiting = json!({"waiting": {"reason": "PodInitializing"}});
    let containers = containers(pod, &waiting, &json!({"ready": false, "started": false}));
    let mut conditions = conditions("False", Some("ContainersNotReady"), &now());
    conditions[1]["status"] = json!("False");
    conditions[1]["reason"] = json!("ContainersNotInitialized");
    let mut status = status(pod, "Pending", &conditions, &containers);
    let init = &pod["spec"]["initContainers"][0];
    status["initContainerStatuses"] = json!([{"name": init["name"], "image": init["image"], "imageID": "", "ready": false,
        "started": true, "restartCount": 0, "state": {"running": {"startedAt": now()}}, "lastState": {}}]);
    Written { status, events: vec![] }
}

fn status(pod: &Value, phase: &str, conditions: &Value, containers: &Value) -> Value {
    let address = address(pod);
    json!({"phase": phase, "startTime": now(), "hostIP": "127.0.0.1", "podIP": address, "podIPs": [{"ip": address}],
        "qosClass": pod["status"]["qosClass"], "conditions": conditions, "containerStatuses": containers})
}

/// PodReadyToStartContainers, Initialized, Ready, ContainersReady and PodScheduled, as a kubelet of 1.30 or later lists them.
fn conditions(ready: &str, reason: Option<&str>, since: &str) -> Value {
    let plain = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": since});
    let readiness = |kind: &str| {
        let mut condition = json!({"type": kind, "status": ready, "lastTransitionTime": since});
        if let Some(reason) = reason {
            condition["reason"] = json!(reason);
            condition["message"] = json!("containers with unready status: [main]");
        }
        condition
    };
    json!([
        plain("PodReadyToStartContainers"),
        plain("Initialized"),
        readiness("Ready"),
        readiness("ContainersReady"),
        plain("PodScheduled")
    ])
}

fn containers(pod: &Value, state: &Value, more: &Value) -> Value {
    let made = |container: &Value| {
        let mut status = json!({"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0,
            "state": state, "lastState": {}});
        for (field, value) in more.as_object().into_iter().flatten() {
            status[field] = value.clone();
        }
        status
    };
    pod["spec"]["containers"].as_array().into_iter().flatten().map(made).collect()
}

fn event(pod: &Value, kind: &str, reason: &str, message: &str, count: u32) -> Value {
    let (name, namespace, node) = (text(pod, "name"), text(pod, "namespace"), pod["spec"]["nodeName"].clone());
    json!({"apiVersion": "v1", "kind": "Event",
        "metadata": {"generateName": format!("{name}."), "namespace": namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": namespace, "uid": text(pod, "uid"),
            "fieldPath": format!("spec.containers{{{}}}", first_container(pod))},
        "type": kind, "reason": reason, "message": message, "count": count,
        "source": {"component": "kubelet", "host": node}, "reportingComponent": "kubelet", "reportingInstance": node,
        "firstTimestamp": now(), "lastTimestamp": now()})
}

/// One of the addresses that are reserved for documentation, so that nothing is ever dialled there; two pods may share it.
fn address(pod: &Value) -> String {
    let mix = text(pod, "uid").bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
    format!("198.51.100.{}", mix.clamp(1, 254))
}

fn first_container(pod: &Value) -> String {
    pod["spec"]["containers"][0]["name"].as_str().unwrap_or_default().to_owned()
}

fn text(pod: &Value, field: &str) -> String {
    pod["metadata"][field].as_str().unwrap_or_default().to_owned()
}
