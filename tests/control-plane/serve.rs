//! kubectl against `holdup serve`: a file answers as the cluster did from which it was taken.

use crate::holdup;
use crate::plane::Plane;
use crate::scenario::await_text;
use crate::wait::{eventually, seconds};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

const NAMESPACE: &str = "served";

/// Every kubectl command that only reads works on a file that kubectl itself has written.
pub fn kubectl_reads_a_file(plane: &Plane) {
    plane.apply(include_str!("scenarios/served.yaml"));
    await_text(plane, "/api/v1/namespaces/served/pods", "ImagePullBackOff");
    let server = Server::start(plane, &file_of_the_cluster(plane));
    let pod = first_pod(plane);

    server.shows(&["get", "pods", "-n", NAMESPACE], &["NAME", "READY", "STATUS", "RESTARTS", "AGE", "ImagePullBackOff", &pod]);
    server.shows(&["get", "nodes"], &["node-a", "Ready"]);
    server.shows(&["get", "deployment", "front", "-n", NAMESPACE, "-o", "yaml"], &["kind: Deployment", "image: registry.test/front:1"]);
    server.shows(&["describe", "pod", &pod, "-n", NAMESPACE], &["Image:", "registry.test/front:1", "Events:", "Failed to pull image"]);
    server.shows(&["describe", "deployment", "front", "-n", NAMESPACE], &["RollingUpdate", "NewReplicaSet:"]);
    server.shows(&["logs", &pod, "-n", NAMESPACE], &["first line of the file", "second line of the file"]);
    server.shows(&["logs", &pod, "-n", NAMESPACE, "--tail=1"], &["second line of the file"]);
    server.shows(&["api-resources"], &["pods", "deployments", "apps/v1", "ReplicaSet"]);
    server.shows(&["get", "pods", "-A", "--field-selector=metadata.namespace=served"], &[&pod]);
    server.shows(&["get", "pods", "-n", NAMESPACE, "-l", "app=front"], &[&pod]);
    server.watches(&["get", "pods", "-n", NAMESPACE, "-w"], &pod);
    server.refuses(&["delete", "pod", &pod, "-n", NAMESPACE, "--wait=false"]);
    server.refuses(&["logs", &pod, "-n", NAMESPACE, "--previous"]);
}

/// A snapshot holds what its blockers rest on: reopened, they are the same.
pub fn snapshot_reopens(plane: &Plane) {
    let file = plane.folder().join("snapshot.json.gz").display().to_string();
    let written = holdup::run(plane, &plane.holdup_kubeconfig(), &["snapshot", &file, "-A"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    eventually(seconds(60), "the file says what the cluster says", || {
        let (live, reopened) = (holdup::report(plane, &["-A"])?, holdup::report(plane, &["--from", &file])?);
        let (live, reopened) = (identities(&live), identities(&reopened));
        if live == reopened { Ok(()) } else { Err(format!("cluster:\n{live:#?}\nfile:\n{reopened:#?}")) }
    });
}

fn identities(report: &Value) -> Vec<String> {
    let mut all: Vec<String> =
        holdup::blockers(report).map(|blocker| format!("{} {} {}", blocker["id"], blocker["root"], blocker["affected"])).collect();
    all.sort();
    all
}

/// The whole cluster as `kubectl get` prints it, and the log of one container.
fn file_of_the_cluster(plane: &Plane) -> PathBuf {
    let kinds = "pods,events,nodes,namespaces,services,deployments,replicasets,persistentvolumeclaims";
    let printed = plane.kubectl(&["get", kinds, "-A", "-o", "json"]).expect("the cluster can be listed");
    let mut list: Value = serde_json::from_str(&printed).expect("kubectl prints JSON");
    let log = json!({"apiVersion": "holdup.dev/v1", "kind": "Log", "metadata": {"namespace": NAMESPACE, "name": first_pod(plane)},
        "container": "main", "previous": false, "lines": ["first line of the file", "second line of the file"]});
    list["items"].as_array_mut().expect("a list has items").push(log);
    let path = plane.folder().join("served.json");
    fs::write(&path, list.to_string()).expect("the file can be written");
    path
}

fn first_pod(plane: &Plane) -> String {
    let names = plane.kubectl(&["get", "pods", "-n", NAMESPACE, "-o", "name"]).expect("pods can be listed");
    names.lines().next().and_then(|name| name.strip_prefix("pod/")).expect("a pod").to_owned()
}

/// `holdup serve` while it runs.
struct Server<'a> {
    plane: &'a Plane,
    child: Child,
    url: String,
}

impl<'a> Server<'a> {
    fn start(plane: &'a Plane, file: &Path) -> Self {
        let file = file.display().to_string();
        let mut child = holdup::command(plane, Path::new("/nonexistent"), &["serve", &file]).spawn().expect("holdup starts");
        let output = child.stdout.take().expect("a pipe was asked for");
        let url = lines(output).find_map(|line| address(&line));
        let url = url.unwrap_or_else(|| panic!("holdup serve prints no address: {:?}", errors(&mut child)));
        Self { plane, child, url }
    }

    fn kubectl(&self, arguments: &[&str]) -> Command {
        let mut command = self.plane.kubectl_command(&[&["--server", &self.url], arguments].concat());
        command.env("KUBECONFIG", "/nonexistent");
        command
    }

    fn shows(&self, arguments: &[&str], words: &[&str]) {
        let output = self.kubectl(arguments).output().expect("kubectl starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let missing: Vec<_> = words.iter().filter(|word| !text.contains(**word)).collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && missing.is_empty(), "kubectl {arguments:?} lacks {missing:?}\n{text}\n{errors}");
    }

    fn refuses(&self, arguments: &[&str]) {
        let output = self.kubectl(arguments).output().expect("kubectl starts");
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!output.status.success() && !errors.trim().is_empty(), "kubectl {arguments:?} works\n{text}\n{errors}");
    }

    /// The watch shows what is there and then goes on.
    fn watches(&self, arguments: &[&str], word: &str) {
        let mut child = self.kubectl(arguments).spawn().expect("kubectl starts");
        let shown = lines(child.stdout.take().expect("a pipe was asked for")).find(|line| line.contains(word));
        let ended = child.try_wait().expect("the state of a child can be asked for");
        let _ = child.kill();
        let _ = child.wait();
        assert!(shown.is_some() && ended.is_none(), "kubectl {arguments:?} shows {shown:?} and ends with {ended:?}");
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream, for as long as one comes every ten seconds.
fn lines(stream: impl Read + Send + 'static) -> impl Iterator<Item = String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    std::iter::from_fn(move || receiver.recv_timeout(Duration::from_secs(10)).ok())
}

fn address(line: &str) -> Option<String> {
    let start = line.find("http://127.0.0.1:")?;
    let url = line[start..].split(|c: char| c.is_whitespace() || c == ',').next()?;
    Some(url.trim_end_matches(['/', '.']).to_owned())
}

fn errors(child: &mut Child) -> String {
    let _ = child.kill();
    let mut text = String::new();
    let _ = child.stderr.take().map(|mut stream| stream.read_to_string(&mut text));
    text
}
