//! Desired versus live: objects diffed offline in one process, by the room itself and by the whole program; and `kubectl diff` over the
//! same objects on a real control plane beside it.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use holdup::desired::{Fetched, Object, compare};
use holdup::redact::Redactor;
use serde_json::{Map, Value, json};

use crate::drain::millis;
use crate::figures::{Figure, told};
use crate::{clock, processes};

/// What is required: µs for an object, and how often `kubectl diff` is slower.
const BOUND: f64 = 200.0;
const TIMES: f64 = 20.0;

/// Objects with a last-applied copy and managedFields, each compared with all that it says was asked for.
pub fn drift(count: usize) -> Result<String, String> {
    let file = processes::folder()?.join("drift.json");
    let items: Vec<Value> = (0..count).map(live).collect();
    std::fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).map_err(|error| error.to_string())?;
    let texts: Vec<String> = items.iter().map(Value::to_string).collect();
    let (room, loud) = alone(&texts)?;
    let of = |format: &str| whole(&["--all", "--from", &file.display().to_string(), "-o", format], &[]);
    let (text, (program, found)) = (of("text")?.0, of("json")?);
    let removed = std::fs::remove_dir_all(processes::folder()?);
    removed.map_err(|error| error.to_string())?;
    let is_loud = |item: &&Value| item["fields"].as_array().into_iter().flatten().any(|field| field["verdict"] == "drift");
    let found = json_of(&found)?;
    let seen = found["items"].as_array().into_iter().flatten().filter(is_loud).count();
    if loud != count.div_ceil(TENTH) || seen != loud {
        return Err(format!("of {count} objects {loud} differ to the room and {seen} to the program"));
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    let rate = |time: Duration| count as f64 / time.as_secs_f64();
    let figures = [
        Figure::new("an object, from its bytes to its differences", "µs", each(room)).within(BOUND, BOUND),
        Figure::new("the same, objects a second", "/s", rate(room)),
        Figure::new("an object, `holdup diff --all --from`, the whole program, CPU", "µs", text.cpu * 1e3 / count as f64)
            .within(BOUND, BOUND),
        Figure::new("the same, wall", "µs", each(text.wall)),
        Figure::new("the same, objects a second", "/s", rate(text.wall)),
        Figure::new("the same, peak memory", "MB", text.peak),
        Figure::new("an object, every field of it printed as JSON, CPU", "µs", program.cpu * 1e3 / count as f64),
        Figure::new("the same, peak memory", "MB", program.peak),
    ];
    Ok(told(&figures, &json!({"objects": count, "differing": loud})))
}

/// In this process: read, hidden, compared, all in one thread; its CPU time. Also how many differ.
fn alone(texts: &[String]) -> Result<(Duration, usize), String> {
    let redactor = Redactor::new(&[7; 32]);
    let (began, mut loud) = (clock::cpu(), 0);
    for text in texts {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let live = Object::new(value, &redactor);
        let found = compare(&Fetched { live: &live, files: &[], releases: &[], related: &[], redactor: &redactor }, Vec::new());
        let fields = found.against.first().map(|against| &against.diff.fields);
        loud += usize::from(fields.is_some_and(|fields| fields.iter().any(|field| field.verdict.is_loud())));
    }
    Ok((clock::cpu().saturating_sub(began), loud))
}

struct Used {
    wall: Duration,
    /// ms
    cpu: f64,
    /// MB
    peak: f64,
}

/// `holdup diff` as somebody runs it.
fn whole(arguments: &[&str], environment: &[(&str, &str)]) -> Result<(Used, Vec<u8>), String> {
    let usage = processes::folder()?.join("usage");
    let mut command = processes::again(&[&["holdup", "diff"], arguments].concat())?;
    command.env(processes::USAGE_FILE, &usage).envs(environment.iter().copied()).stdin(Stdio::null()).stderr(Stdio::inherit());
    let began = Instant::now();
    let ended = command.output().map_err(|error| error.to_string())?;
    let wall = began.elapsed();
    let used = std::fs::read(&usage).map_err(|error| error.to_string())?;
    let used: Value = serde_json::from_slice(&used).map_err(|error| error.to_string())?;
    let number = |name: &str| used[name].as_f64().unwrap_or_default();
    Ok((Used { wall, cpu: number("cpu_ms"), peak: number("peak_kb") / 1024.0 }, ended.stdout))
}

fn json_of(found: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(found).map_err(|error| format!("what was found is no JSON: {error}"))
}

/// The same objects on a control plane: applied, a tenth changed, and compared by kubectl and by holdup, in one run.
pub fn beside(kubectl: &str, kubeconfig: &str, count: usize) -> Result<String, String> {
    let file = processes::folder()?.join("beside.json");
    let path = file.display().to_string();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    let items: Vec<Value> = (0..count).map(manifest).collect();
    std::fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).map_err(|error| error.to_string())?;
    let run = |arguments: &[&str]| Kubectl { program: kubectl, kubeconfig }.run(arguments);
    let space = processes::folder()?.join("namespace.json");
    std::fs::write(&space, namespace.to_string()).map_err(|error| error.to_string())?;
    run(&["apply", "-f", &space.display().to_string()])?.done()?;
    run(&["apply", "-f", &path])?.done()?;
    for at in (0..count).step_by(TENTH) {
        let item = manifest(at);
        let name = format!("{}/{}", item["kind"].as_str().unwrap_or_default(), item["metadata"]["name"].as_str().unwrap_or_default());
        run(&["patch", &name, "-n", NAMESPACE, "--type=merge", "-p", &by_hand(&item).to_string()])?.done()?;
    }
    let kubectl = run(&["diff", "-f", &path])?;
    let (holdup, found) = whole(&["-f", &path, "-o", "json"], &[("KUBECONFIG", kubeconfig)])?;
    let differing = json_of(&found)?["items"].as_array().into_iter().flatten().filter(|item| item["summary"]["drift"].is_u64()).count();
    run(&["delete", "namespace", NAMESPACE, "--wait=false"])?.done()?;
    std::fs::remove_dir_all(processes::folder()?).map_err(|error| error.to_string())?;
    let times = |kubectl: f64, holdup: f64| kubectl / holdup.max(0.001);
    let [wall, cpu] = [times(millis(kubectl.wall), millis(holdup.wall)), times(millis(kubectl.cpu), holdup.cpu)];
    let figures = [
        Figure::new("kubectl diff, wall", "ms", millis(kubectl.wall)),
        Figure::new("kubectl diff, CPU", "ms", millis(kubectl.cpu)),
        Figure::new("holdup diff, wall", "ms", millis(holdup.wall)),
        Figure::new("holdup diff, CPU", "ms", holdup.cpu),
        Figure::new("holdup diff, peak memory", "MB", holdup.peak),
        Figure::new("kubectl / holdup, wall", "×", wall),
        Figure::new("kubectl / holdup, CPU", "×", cpu),
    ];
    let run = json!({"objects": count, "differing": differing, "bound": TIMES, "holds": wall >= TIMES && cpu >= TIMES});
    Ok(told(&figures, &run))
}

struct Kubectl<'a> {
    program: &'a str,
    kubeconfig: &'a str,
}

struct Ended {
    wall: Duration,
    cpu: Duration,
    success: bool,
    said: String,
}

impl Kubectl<'_> {
    /// Runs it to its end; the CPU time is its own and that of what it started.
    fn run(&self, arguments: &[&str]) -> Result<Ended, String> {
        let (began, before) = (Instant::now(), clock::cpu_of_ended());
        let mut command = Command::new(self.program);
        command.args(arguments).env("KUBECONFIG", self.kubeconfig).env("HOME", processes::folder()?).stdin(Stdio::null());
        let ended = command.output().map_err(|error| format!("{}: {error}", self.program))?;
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        Ok(Ended { wall: began.elapsed(), cpu: clock::cpu_of_ended().saturating_sub(before), success: ended.status.success(), said })
    }
}

impl Ended {
    fn done(self) -> Result<(), String> {
        if self.success { Ok(()) } else { Err(self.said) }
    }
}

const NAMESPACE: &str = "holdup-bench";
/// One of so many was changed by hand.
const TENTH: usize = 10;

/// A Deployment, a Service and a ConfigMap in turn, as somebody writes them.
fn manifest(at: usize) -> Value {
    let name = format!("web-{at}");
    let (api, kind, body) = match at % 3 {
        0 => ("apps/v1", "Deployment", deployment(&name)),
        1 => (
            "v1",
            "Service",
            json!({"spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}, {"name": "dns", "port": 53, "protocol": "UDP"}]}}),
        ),
        _ => {
            let lines: Map<String, Value> = (0..20).map(|line| (format!("key-{line}"), format!("value {line} of {at}").into())).collect();
            ("v1", "ConfigMap", json!({"data": lines}))
        }
    };
    let mut object =
        json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": name, "team": "a"}}});
    object.as_object_mut().into_iter().for_each(|object| object.extend(body.as_object().cloned().unwrap_or_default()));
    object
}

fn deployment(name: &str) -> Value {
    let env: Vec<Value> = (0..12).map(|at| json!({"name": format!("SETTING_{at}"), "value": format!("value-{at}")})).collect();
    let container = |main: &str| {
        json!({"name": main, "image": format!("registry.test/{main}:1"), "env": env, "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}}, "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}]})
    };
    let second = json!({"name": "proxy", "image": "registry.test/proxy:1", "env": env});
    json!({"spec": {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}},
        "spec": {"securityContext": {"runAsNonRoot": true}, "containers": [container("main"), second], "volumes": [{"name": "tmp", "emptyDir": {}}]}}}})
}

/// What a person changes of it.
fn by_hand(item: &Value) -> Value {
    match item["kind"].as_str() {
        Some("Deployment") => json!({"spec": {"minReadySeconds": 7}}),
        Some("Service") => json!({"spec": {"publishNotReadyAddresses": true}}),
        Some(_) | None => json!({"data": {"key-3": "by hand"}}),
    }
}

/// As the API server stores it: defaults, a copy of what was applied, and who owns what.
fn live(at: usize) -> Value {
    let applied = manifest(at);
    let mut live = applied.clone();
    fill(&mut live);
    let mut owned = owned(&live);
    let mut entries = Vec::new();
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    if at.is_multiple_of(TENTH) {
        let change = by_hand(&applied);
        entries.push(entry("kubectl-patch", &fields(&change)));
        take(&mut owned, &fields(&change));
        merge(&mut live, &change);
    }
    entries.insert(0, entry("kubectl-client-side-apply", &owned));
    live["metadata"]["uid"] = format!("00000000-0000-0000-0000-{at:012}").into();
    live["metadata"]["resourceVersion"] = at.to_string().into();
    live["metadata"]["managedFields"] = entries.into();
    live
}

fn entry(manager: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-05-04T10:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields})
}

fn merge(into: &mut Value, change: &Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            change.iter().for_each(|(name, value)| merge(into.entry(name.clone()).or_insert(Value::Null), value));
        }
        (into, change) => *into = change.clone(),
    }
}

/// What another writes, its owner has no longer.
fn take(from: &mut Value, fields: &Value) {
    let (Value::Object(from), Value::Object(fields)) = (from, fields) else { return };
    for (name, below) in fields {
        match from.get_mut(name) {
            Some(own) if below.as_object().is_some_and(|below| !below.is_empty()) => take(own, below),
            Some(_) | None => drop(from.remove(name)),
        }
    }
}

/// The defaults that the API server fills in.
fn fill(object: &mut Value) {
    let put = |at: &mut Value, fields: Value| {
        for (name, value) in fields.as_object().into_iter().flatten() {
            if at.get(name).is_none() {
                at[name] = value.clone();
            }
        }
    };
    match object["kind"].as_str() {
        Some("Deployment") => {
            put(
                &mut object["spec"],
                json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}),
            );
            let pod = &mut object["spec"]["template"]["spec"];
            put(
                pod,
                json!({"restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}),
            );
            for container in pod["containers"].as_array_mut().into_iter().flatten() {
                put(
                    container,
                    json!({"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent", "resources": {}}),
                );
                container["ports"].as_array_mut().into_iter().flatten().for_each(|port| put(port, json!({"protocol": "TCP"})));
                if let Some(probe) = container.get_mut("readinessProbe") {
                    put(probe, json!({"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}));
                    put(&mut probe["httpGet"], json!({"scheme": "HTTP"}));
                }
            }
        }
        Some("Service") => {
            put(
                &mut object["spec"],
                json!({"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
                "clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7"], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}),
            );
            for port in object["spec"]["ports"].as_array_mut().into_iter().flatten() {
                let number = port["port"].clone();
                put(port, json!({"protocol": "TCP", "targetPort": number}));
            }
        }
        Some(_) | None => {}
    }
}

/// What the applying client owns: all but what has no owner anyway.
fn owned(object: &Value) -> Value {
    let mut owned = object.clone();
    for name in ["apiVersion", "kind"] {
        owned.as_object_mut().and_then(|fields| fields.remove(name));
    }
    for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        owned["spec"].as_object_mut().and_then(|fields| fields.remove(name));
    }
    owned["metadata"] =
        json!({"labels": object["metadata"]["labels"], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": ""}});
    fields(&owned)
}

/// The tree of fields of a value, as managedFields write it.
fn fields(value: &Value) -> Value {
    match value {
        Value::Object(all) => all.iter().map(|(name, value)| (format!("f:{name}"), fields(value))).collect::<Map<_, _>>().into(),
        Value::Array(items) => items.iter().filter_map(|item| Some((key(item)?, fields(item)))).collect::<Map<_, _>>().into(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json!({}),
    }
}

/// The key of an item in a list of containers, variables, ports, mounts or volumes.
fn key(item: &Value) -> Option<String> {
    let names = ["containerPort", "port", "mountPath", "name"];
    let name = names.into_iter().find(|name| item.get(name).is_some())?;
    let mut keys = Map::from_iter([(name.to_owned(), item[name].clone())]);
    if name.ends_with("ort") {
        keys.insert("protocol".to_owned(), item["protocol"].clone());
    }
    Some(format!("k:{}", Value::from(keys)))
}
