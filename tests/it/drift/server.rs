//! A small API server on loopback for the diff of clusters: it holds objects, forbids what a test says, and remembers what was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

/// What a test gives the server: objects by path, paths that are forbidden, and what answers a patch.
#[derive(Default)]
pub struct Cluster {
    objects: Vec<(String, Value)>,
    forbidden: Vec<String>,
    /// Below these paths nothing is ever answered.
    silent: Vec<String>,
    /// Answers by path, for what is no object.
    documents: Vec<(String, Value)>,
    patch: Option<Answer>,
    changes: Changes,
}

/// Objects that were written after the server started, in order: whoever watches them hears of them.
#[derive(Default)]
struct Changes {
    all: Mutex<Vec<(String, Value)>>,
    wake: Condvar,
}

/// What answers a request that is no read.
type Answer = fn(&Request) -> (u16, Value);

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub path: String,
    pub accept: String,
    pub body: String,
}

/// A cluster that answers until the test ends.
pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Request>>>,
    cluster: Arc<Cluster>,
}

/// Group, version, plural, kind, whether it lies in namespaces.
const KINDS: &[(&str, &str, &str, &str, bool)] = &[
    ("", "v1", "configmaps", "ConfigMap", true),
    ("", "v1", "secrets", "Secret", true),
    ("", "v1", "namespaces", "Namespace", false),
    ("", "v1", "pods", "Pod", true),
    ("apps", "v1", "deployments", "Deployment", true),
    ("apps", "v1", "replicasets", "ReplicaSet", true),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true),
    ("argoproj.io", "v1alpha1", "applications", "Application", true),
    ("helm.toolkit.fluxcd.io", "v2", "helmreleases", "HelmRelease", true),
    ("kustomize.toolkit.fluxcd.io", "v1", "kustomizations", "Kustomization", true),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false),
];

impl Cluster {
    pub fn with(mut self, object: Value) -> Self {
        self.objects.push((path(&object), object));
        self
    }

    /// Everything below this path is refused.
    pub fn without(mut self, path: &str) -> Self {
        self.forbidden.push(path.to_owned());
        self
    }

    /// Whoever asks for something below this path waits for ever.
    pub fn silent(mut self, path: &str) -> Self {
        self.silent.push(path.to_owned());
        self
    }

    /// What is published at a path that is no object.
    pub fn publishing(mut self, path: &str, document: Value) -> Self {
        self.documents.push((path.to_owned(), document));
        self
    }

    /// What answers requests that are no reads.
    pub fn trying(mut self, answer: Answer) -> Self {
        self.patch = Some(answer);
        self
    }

    pub fn serve(self) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (cluster, log) = (Arc::new(self), seen.clone());
        let own = cluster.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (cluster, log) = (cluster.clone(), log.clone());
                std::thread::spawn(move || converse(&cluster, &log, &stream));
            }
        });
        Server { url, seen, cluster: own }
    }

    fn answer(&self, request: &Request) -> (u16, Value) {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if self.forbidden.iter().any(|start| path.starts_with(start.as_str())) {
            return refusal(403, "Forbidden", &format!("{path} is forbidden: User \"test\" cannot do that"));
        }
        if request.method != "GET" {
            return self.patch.map_or_else(|| refusal(405, "MethodNotAllowed", "only reads"), |answer| answer(request));
        }
        if let Some((_, document)) = self.documents.iter().find(|(at, _)| at == path) {
            return (200, document.clone());
        }
        if let Some(found) = discovery(path).or_else(|| self.list(path, query, &request.accept)) {
            return (200, found);
        }
        let object = self.now().into_iter().find(|(at, _)| at == path);
        object.map_or_else(|| refusal(404, "NotFound", &format!("{path} not found")), |(_, object)| (200, object))
    }

    /// All objects as they are after what was written.
    fn now(&self) -> Vec<(String, Value)> {
        let mut all = self.objects.clone();
        for (path, object) in self.changes.all.lock().expect("no panic while held").iter() {
            match all.iter_mut().find(|(at, _)| at == path) {
                Some((_, old)) => old.clone_from(object),
                None => all.push((path.clone(), object.clone())),
            }
        }
        all
    }

    fn list(&self, path: &str, query: &str, accept: &str) -> Option<Value> {
        let plural = path.rsplit('/').next()?;
        KINDS.iter().find(|kind| kind.2 == plural && path.ends_with(&format!("/{plural}")))?;
        let all = path.replace("/namespaces/", "/");
        let place = path.strip_suffix(plural)?;
        let is_here = |at: &str| match (place.contains("/namespaces/"), at.strip_prefix(place)) {
            (true, Some(rest)) => rest.starts_with(&format!("{plural}/")),
            (true, None) => false,
            (false, _) => at.rsplit('/').nth(1) == Some(plural) && at.starts_with(all.strip_suffix(plural).unwrap_or_default()),
        };
        let selector = query.split('&').find_map(|pair| pair.strip_prefix("labelSelector=")).unwrap_or_default();
        let selector = selector.replace("%3D", "=").replace("%2C", ",").replace("%2F", "/");
        let wanted = |object: &Value| {
            selector.split(',').filter_map(|pair| pair.split_once('=')).all(|(key, value)| object["metadata"]["labels"][key] == value)
        };
        let all = self.now();
        let found = all.iter().filter(|(at, object)| is_here(at) && wanted(object)).map(|(_, object)| object);
        let items: Vec<Value> = match accept.contains("PartialObjectMetadataList") {
            true => found.map(|object| json!({"metadata": object["metadata"]})).collect(),
            false => found.cloned().collect(),
        };
        Some(json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}))
    }
}

impl Server {
    /// Writes an object, which those who watch its kind are told.
    pub fn write(&self, object: Value) {
        self.cluster.changes.all.lock().expect("no panic while held").push((path(&object), object));
        self.cluster.changes.wake.notify_all();
    }

    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().expect("no panic while held").clone()
    }

    /// Whether something below this path was asked for.
    pub fn was_asked(&self, path: &str) -> bool {
        self.seen().iter().any(|request| request.path.starts_with(path))
    }
}

/// Where an object is served.
fn path(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let kind = KINDS.iter().find(|kind| kind.3 == text("/kind")).unwrap_or_else(|| panic!("no such kind: {object}"));
    let root = if kind.0.is_empty() { format!("/api/{}", kind.1) } else { format!("/apis/{}/{}", kind.0, kind.1) };
    match kind.4 {
        true => format!("{root}/namespaces/{}/{}/{}", text("/metadata/namespace"), kind.2, text("/metadata/name")),
        false => format!("{root}/{}/{}", kind.2, text("/metadata/name")),
    }
}

fn discovery(path: &str) -> Option<Value> {
    let resources = |group: &str| {
        let of = KINDS.iter().filter(|kind| kind.0 == group);
        let one = |kind: &(&str, &str, &str, &str, bool)| json!({"name": kind.2, "kind": kind.3, "namespaced": kind.4, "verbs": ["get", "list", "watch"]});
        json!({"kind": "APIResourceList", "resources": of.map(one).collect::<Vec<_>>()})
    };
    match path {
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"]})),
        "/api/v1" => Some(resources("")),
        "/apis" => {
            let mut groups: Vec<(&str, &str)> = KINDS.iter().filter(|kind| !kind.0.is_empty()).map(|kind| (kind.0, kind.1)).collect();
            groups.dedup();
            let group = |(name, version): (&str, &str)| json!({"name": name, "versions": [{"version": version}]});
            Some(json!({"kind": "APIGroupList", "groups": groups.into_iter().map(group).collect::<Vec<_>>()}))
        }
        _ => {
            let (group, _) = path.strip_prefix("/apis/")?.split_once('/')?;
            path.strip_prefix("/apis/")?.matches('/').count().eq(&1).then(|| resources(group))
        }
    }
}

pub fn refusal(code: u16, reason: &str, message: &str) -> (u16, Value) {
    (code, json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}))
}

/// Answers one request after another; a client that goes away ends it.
fn converse(cluster: &Cluster, log: &Mutex<Vec<Request>>, stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let is_silent = cluster.silent.iter().any(|path| request.path.starts_with(path.as_str()));
        let (code, value) = cluster.answer(&request);
        let request_is_watch = request.path.contains("watch=");
        let plural = request.path.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
        log.lock().expect("no panic while held").push(request);
        if is_silent {
            continue;
        }
        if code == 200 && request_is_watch {
            return watch(cluster, &plural, stream);
        }
        let body = value.to_string();
        let head = format!("HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        let mut writer = stream;
        if writer.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// Tells what is written to objects of a kind from now on, until the client goes away.
fn watch(cluster: &Cluster, plural: &str, stream: &TcpStream) {
    let mut writer = stream;
    let head = "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut gone = writer.write_all(head.as_bytes()).is_err();
    let mut all = cluster.changes.all.lock().expect("no panic while held");
    let mut told = 0;
    while !gone {
        for (at, object) in &all[told..] {
            if at.rsplit('/').nth(1) == Some(plural) {
                let event = json!({"type": "MODIFIED", "object": object}).to_string() + "\n";
                gone = writer.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).is_err();
            }
        }
        told = all.len();
        all = cluster.changes.wake.wait(all).expect("no panic while held");
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut accept, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "accept" => value.clone_into(&mut accept),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, accept, body: String::from_utf8_lossy(&body).into_owned() })
}
