//! The simulated cluster of the demo: a clock, a queue of what happens next, and the objects as last written.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use holdup::model::Time;
use holdup::redact::Redactor;
use serde_json::{Value, json};

use super::pods::SimPod;
use super::workloads::Workload;

/// Something that happens at a time.
pub type Act = Box<dyn FnOnce(&mut World)>;

/// Kind, namespace and name.
pub type Key = (String, String, String);

/// Key to a pod: namespace and name.
pub type PodKey = (String, String);

#[derive(Default)]
pub struct World {
    pub epoch: i64,
    pub now: i64,
    pub version: String,
    queue: BinaryHeap<Reverse<(i64, usize)>>,
    acts: Vec<Option<Act>>,
    pub pods: BTreeMap<PodKey, SimPod>,
    pub workloads: BTreeMap<String, Workload>,
    /// Nodes that take no new pods, and those that are lost.
    pub cordoned: Vec<String>,
    pub lost: Vec<String>,
    pub silent: Vec<String>,
    /// Nodes on which nothing new lands, so that what happens there later shows by itself.
    pub kept_free: Vec<String>,
    pub objects: BTreeMap<Key, Value>,
    dirty: BTreeSet<String>,
    resource_version: u64,
    names: u64,
    events: u64,
    lines: Option<Vec<String>>,
}

impl World {
    /// An empty cluster, an hour before the demo starts.
    pub fn new(epoch: i64, version: String) -> Self {
        Self { epoch, now: epoch - 3600, version, ..Self::default() }
    }

    /// Lets `act` happen so many seconds from now.
    pub fn after(&mut self, seconds: i64, act: impl FnOnce(&mut Self) + 'static) {
        self.at(self.now + seconds, act);
    }

    pub fn at(&mut self, time: i64, act: impl FnOnce(&mut Self) + 'static) {
        self.queue.push(Reverse((time, self.acts.len())));
        self.acts.push(Some(Box::new(act)));
    }

    /// Lets everything happen up to this time.
    pub fn run_until(&mut self, end: i64) {
        while let Some(&Reverse((time, index))) = self.queue.peek() {
            if time > end {
                break;
            }
            self.queue.pop();
            self.now = time;
            if let Some(act) = self.acts[index].take() {
                act(self);
                self.render();
            }
        }
        self.now = end;
    }

    /// Writes everything as it is, and from now on every change.
    pub fn start_recording(&mut self) {
        let all: Vec<Value> = self.objects.values().cloned().collect();
        self.lines = Some(Vec::new());
        let head = json!({"kind": "List", "apiVersion": "v1", "metadata": {"annotations": {"holdup.dev/context": "demo", "holdup.dev/coverage": coverage()}}});
        self.write("BOOKMARK", head);
        all.into_iter().for_each(|object| self.write("ADDED", object));
    }

    /// Ends the recording: up to this moment nothing else happened.
    pub fn into_lines(mut self) -> Vec<String> {
        self.write("BOOKMARK", json!({"kind": "List", "apiVersion": "v1", "metadata": {}}));
        self.lines.unwrap_or_default()
    }

    fn write(&mut self, what: &str, mut object: Value) {
        Redactor::new(&[0; 32]).object(&mut object);
        let at = rfc3339(self.now);
        if let Some(lines) = &mut self.lines {
            lines.push(json!({"at": at, "type": what, "object": object}).to_string());
        }
    }

    /// Stores an object if it differs from what is stored.
    pub fn put(&mut self, mut object: Value) {
        let key = key_of(&object);
        let before = self.objects.get(&key);
        let what = if before.is_some() { "MODIFIED" } else { "ADDED" };
        if let Some(before) = before {
            object["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
            if *before == object {
                return;
            }
        }
        self.resource_version += 7;
        object["metadata"]["resourceVersion"] = json!((880_000 + self.resource_version).to_string());
        self.objects.insert(key, object.clone());
        self.write(what, object);
    }

    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
    }

    /// Changes a stored object in place.
    pub fn change(&mut self, kind: &str, namespace: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.get(kind, namespace, name).unwrap_or_else(|| panic!("no {kind}/{namespace}/{name}")).clone();
        change(&mut object);
        self.put(object);
    }

    /// Notes that the objects of a workload must be written anew.
    pub fn touch(&mut self, workload: &str) {
        self.dirty.insert(workload.to_owned());
    }

    /// Writes the objects of everything that was touched.
    pub fn render(&mut self) {
        for key in std::mem::take(&mut self.dirty) {
            if !self.workloads.contains_key(&key) {
                continue;
            }
            super::workloads::observe(self, &key);
            let workload = &self.workloads[&key];
            let namespace = workload.namespace.clone();
            let mut objects: Vec<Value> = self.pods.values().filter(|pod| pod.workload == key).map(|pod| pod.object(self)).collect();
            objects.extend(workload.objects(self));
            objects.extend(super::cluster::slice(self, workload));
            objects.into_iter().for_each(|object| self.put(object));
            super::cluster::count_quota(self, &namespace);
            super::cluster::count_budget(self, &key);
        }
    }

    pub fn remove(&mut self, kind: &str, namespace: &str, name: &str) {
        if let Some(object) = self.objects.remove(&(kind.to_owned(), namespace.to_owned(), name.to_owned())) {
            self.resource_version += 7;
            let mut object = object;
            object["metadata"]["resourceVersion"] = json!((880_000 + self.resource_version).to_string());
            self.write("DELETED", object);
        }
    }

    /// Letters for the end of a generated name, always the same in every run.
    pub fn suffix(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.names += 1;
        let mut hash = mix(self.names);
        (0..length)
            .map(|_| {
                hash = mix(hash);
                char::from(LETTERS[usize::try_from(hash % LETTERS.len() as u64).unwrap()])
            })
            .collect()
    }

    /// Writes an event, or counts it up where the same was written before.
    pub fn event(&mut self, about: &Key, what: &Said<'_>) {
        let same = |object: &&Value| {
            object["kind"] == "Event"
                && object["involvedObject"]["name"] == *about.2
                && object["involvedObject"]["kind"] == *about.0
                && object["reason"] == what.reason
                && object["message"] == what.message
        };
        if let Some(old) = self.objects.values().find(same).cloned() {
            return self.put(counted(old, what, self.now));
        }
        let object = self.objects.get(about).unwrap_or_else(|| panic!("no {about:?}")).clone();
        self.events += 1;
        let name = format!("{}.{:016x}", about.2, 0x18a0_0000_0000_0000_u64 + mix(self.events * 1000) % 0xff_ffff_ffff_ffff);
        let event = new_event(&object, &name, what, self.now);
        self.put(event);
    }
}

/// What a component says in an event.
pub struct Said<'a> {
    pub kind: &'a str,
    pub reason: &'a str,
    pub message: &'a str,
    pub from: &'a str,
    pub host: &'a str,
    pub field: &'a str,
}

/// The scheduler writes events of the newer form, everybody else those with a count.
fn new_event(object: &Value, name: &str, what: &Said<'_>, now: i64) -> Value {
    let meta = &object["metadata"];
    let namespace = meta["namespace"].as_str().unwrap_or("default");
    let mut about = json!({"kind": object["kind"], "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"],
        "apiVersion": object["apiVersion"], "resourceVersion": meta["resourceVersion"]});
    if meta["namespace"].is_null() {
        about.as_object_mut().unwrap().shift_remove("namespace");
    }
    if !what.field.is_empty() {
        about["fieldPath"] = json!(what.field);
    }
    let is_scheduler = what.from == "default-scheduler";
    let seen = |newer: bool| if is_scheduler == newer { json!(rfc3339(now)) } else { Value::Null };
    let mut event = json!({"kind": "Event", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "uid": uid(name), "creationTimestamp": rfc3339(now)},
        "involvedObject": about, "reason": what.reason, "message": what.message,
        "source": if is_scheduler { json!({}) } else if what.host.is_empty() { json!({"component": what.from}) } else { json!({"component": what.from, "host": what.host}) },
        "firstTimestamp": seen(false), "lastTimestamp": seen(false), "count": 1, "type": what.kind,
        "eventTime": if is_scheduler { json!(micro(now)) } else { Value::Null },
        "reportingComponent": what.from, "reportingInstance": what.host});
    if is_scheduler {
        event.as_object_mut().unwrap().shift_remove("count");
        event["action"] = json!(if what.reason == "Scheduled" { "Binding" } else { "Scheduling" });
        event["reportingInstance"] = json!("default-scheduler-ip-10-0-0-10");
    }
    event
}

fn counted(mut event: Value, what: &Said<'_>, now: i64) -> Value {
    if what.from == "default-scheduler" {
        let count = event["series"]["count"].as_i64().unwrap_or(1) + 1;
        event["series"] = json!({"count": count, "lastObservedTime": micro(now)});
    } else {
        event["count"] = json!(event["count"].as_i64().unwrap_or(1) + 1);
        event["lastTimestamp"] = json!(rfc3339(now));
    }
    event
}

/// The recording holds everything of the kinds that it holds, and none of those that the demo has no use for.
fn coverage() -> String {
    let lines: Vec<Value> = holdup::model::KINDS
        .iter()
        .filter(|row| !row.plural.is_empty() && !["karpenter.sh", "resource.k8s.io"].contains(&row.group))
        .map(|row| json!({"kind": row.name, "state": "synced"}))
        .collect();
    Value::from(lines).to_string()
}

pub fn key_of(object: &Value) -> Key {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let meta = &object["metadata"];
    let mut name = text(&meta["name"]);
    if object["kind"] == "Log" {
        name = format!("{name}/{}/{}", text(&object["container"]), object["previous"]);
    }
    (text(&object["kind"]), text(&meta["namespace"]), name)
}

pub fn rfc3339(seconds: i64) -> String {
    Time::from_unix(seconds).unwrap().rfc3339()
}

/// A time as Leases and new events have it.
pub fn micro(seconds: i64) -> String {
    rfc3339(seconds).replace('Z', &format!(".{:06}Z", mix(seconds.unsigned_abs()) % 1_000_000))
}

pub fn uid(seed: &str) -> String {
    let (a, b) = (hash(seed), mix(hash(seed)));
    format!("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff, b >> 48 & 0x3fff | 0x8000, b & 0xffff_ffff_ffff)
}

pub fn hash(text: &str) -> u64 {
    mix(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
}

pub fn mix(mut n: u64) -> u64 {
    n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}
