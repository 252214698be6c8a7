//! Every command over the planted set: of files, of a cluster, served, and of input that cannot be read.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Stdio;

use flate2::read::MultiGzDecoder;
use serde_json::json;

use super::planted::{CHANNELS, audit, broken, manifests, objects};
use super::{folder, holds_none, holdup, leaks, word};
use crate::drift::server::{Cluster, Request};

/// The planted set in files, and where they are.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn new(name: &str) -> Self {
        let files = Self { folder: folder(name) };
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects()});
        files.write("cluster.json", &list.to_string());
        files.write("manifests.yaml", &manifests());
        files.write("audit.log", &audit());
        files
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.folder.join(name), text).unwrap();
        self.path(name)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Runs it, `@name` for a file of the folder; nothing that it says or writes may hold what was planted, and it may not panic.
    fn run(&self, args: &str) -> (Vec<u8>, Option<i32>) {
        let log = self.path("program.log");
        let args: Vec<String> =
            args.split(' ').map(|arg| arg.strip_prefix('@').map_or_else(|| arg.to_owned(), |name| self.path(name))).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["--log-file", &log]).collect();
        let output = holdup(&self.folder, &args).output().unwrap();
        holds_none(&format!("standard output of {args:?}"), &output.stdout);
        holds_none(&format!("standard error of {args:?}"), &output.stderr);
        holds_none(&format!("the log of {args:?}"), &std::fs::read(&log).unwrap_or_default());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 4) && !said.contains("panicked"), "{args:?}: {said}");
        (output.stdout, output.status.code())
    }

    fn holds_none(&self, name: &str) {
        let bytes = std::fs::read(self.folder.join(name)).unwrap();
        let mut text = Vec::new();
        MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text).map_or_else(|_| holds_none(name, &bytes), |_| holds_none(name, &text));
    }
}

#[test]
fn every_channel_is_planted() {
    let list = json!(objects()).to_string();
    // What lies packed in a copy or a record was put there by the functions that name these.
    let packed = ["qbec", "rancher", "helmvalue", "helmmanifest", "helmnotes", "mapvalue", "mapmanifest"];
    let broken: String = broken().into_iter().map(|(_, text)| text).collect();
    let typed = ["refusal", "token", "server", "proxy", "kubeconfig", "rule"];
    let planted = leaks([list, manifests(), audit(), broken].concat().as_bytes());
    let missing: Vec<&&str> = CHANNELS.iter().filter(|c| !planted.contains(c) && !packed.contains(c) && !typed.contains(c)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn no_command_over_files_shows_a_secret() {
    let files = Files::new("files");
    for command in [
        "snapshot @some.json --from @cluster.json",
        "snapshot --all @all.json.gz --from @cluster.json",
        "report -A --from @cluster.json",
        "report -A --from @all.json.gz",
        "report pod/web-1-a -n shop --from @cluster.json",
        "diff --all --from @cluster.json",
        "diff --all --from @all.json.gz",
        "diff deploy/web -n shop --from @cluster.json",
        "diff deploy/web -n shop --sources --from @cluster.json",
        "diff secret/login -n shop --from @cluster.json",
        "diff cm/tracked -n shop --from @cluster.json",
        "diff --release shop -n shop --from @cluster.json",
        "diff --release cart -n shop --from @cluster.json",
        "diff -f @manifests.yaml --from @cluster.json",
        "diff -f @manifests.yaml --sources --from @cluster.json --audit @audit.log",
        "diff --live @cluster.json --desired @manifests.yaml --related @cluster.json",
        "diff -f @manifests.yaml --from @cluster.json --baseline @all.json.gz",
        "diff --from @cluster.json --baseline @all.json.gz",
        "explain",
        "rbac --with secrets",
        "completions bash",
    ] {
        let formats: &[&str] = match command.split(' ').next() {
            Some("report") => &["text", "json", "yaml", "markdown"],
            Some("diff") => &["text", "json", "yaml"],
            Some(_) | None => &[""],
        };
        for format in formats {
            let (out, code) = files.run(&if format.is_empty() { command.to_owned() } else { format!("{command} -o {format}") });
            assert!(!out.is_empty() && code != Some(2), "{command} says nothing");
        }
    }
    for written in ["some.json", "all.json.gz"] {
        files.holds_none(written);
    }
}

#[test]
fn no_error_quotes_a_secret() {
    let files = Files::new("errors");
    for (name, text) in broken() {
        files.write(name, &text);
        for command in [
            "report --from",
            "diff --from",
            "diff --live @cluster.json -f",
            "diff --from @cluster.json -f",
            "diff --from @cluster.json --baseline",
            "snapshot @x --force --from",
        ] {
            files.run(&format!("{command} @{name}"));
        }
    }
    files.write(
        "rule.toml",
        &format!("[[accept]]\nkind = \"Secret\"\npath = \"data.password\"\nvalues = [\"{0}\"\nreason = \"password={0}\"\n", word("rule")),
    );
    files.write(
        "fit.toml",
        &format!(
            "[[accept]]\nkind = \"Secret\"\npath = \"data.password\"\nvalues = [\"{0}\"]\nreason = \"was password={0}\"\n",
            word("rule")
        ),
    );
    files.write(
        "met.toml",
        &format!(
            "[[accept]]\nkind = \"Secret\"\npath = \"data.password\"\nowner = \"password={0}\"\nreason = \"was password={0}\"\n",
            word("rule")
        ),
    );
    for name in ["rule.toml", "fit.toml", "met.toml"] {
        files.run(&format!("diff -f @manifests.yaml --from @cluster.json --accept @{name}"));
    }
    files.run("diff -f @manifests.yaml --from @cluster.json --audit @cluster.json");
    files.write(
        "kubeconfig",
        &format!("apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user: {{token: {0}, password: {0}\n", word("kubeconfig")),
    );
    files.write(
        "proxied",
        &format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: 'https://10.0.0.1:6443', proxy-url: 'http://me:{}@127.0.0.1:9'}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nusers: [{{name: u, user: {{token: {}}}}}]\ncurrent-context: c\n",
            word("proxy"),
            word("kubeconfig")
        ),
    );
    for command in [
        format!("report --token {} --server http://127.0.0.1:9", word("token")),
        format!("diff deploy/web --token {} --server http://127.0.0.1:9", word("token")),
        format!("report --server http://admin:{}@127.0.0.1:9", word("server")),
        format!("diff cm/x --server http://admin:{}@127.0.0.1:9", word("server")),
        "report --kubeconfig @proxied".to_owned(),
        "diff cm/x --kubeconfig @proxied".to_owned(),
        "report --kubeconfig @kubeconfig".to_owned(),
        "diff cm/x --kubeconfig @kubeconfig".to_owned(),
    ] {
        let (_, code) = files.run(&format!("{command} --request-timeout 5s"));
        assert_eq!(code, Some(2), "{command}");
    }
}

/// Refuses with what it was sent, as admission does.
fn refusing(request: &Request) -> (u16, serde_json::Value) {
    let said = format!("Secret \"login\" is invalid: data.password: Invalid value: {}; password={}", request.body, word("refusal"));
    (422, json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422, "message": said}))
}

#[test]
fn fragment_83_no_command_over_a_cluster_shows_a_secret_nor_what_a_dry_run_answers() {
    let files = Files::new("cluster");
    let unserved = ["Log", "Database", "Event", "Node"];
    let cluster = objects().into_iter().filter(|object| !unserved.iter().any(|kind| object["kind"] == *kind));
    let server = cluster.fold(Cluster::default(), Cluster::with).trying(refusing).serve();
    for command in [
        "diff --all",
        "diff deploy/web -n shop --sources",
        "diff secret/login -n shop",
        "diff secret/login -n shop --audit @audit.log",
        "diff deploy/web -n shop --dry-run=server",
        "diff secret/login -n shop --dry-run=server",
        "diff -f @manifests.yaml --dry-run=server",
        "diff --release shop -n shop",
        "diff cm/tracked -n shop",
    ] {
        for format in ["text", "json", "yaml"] {
            files.run(&format!("{command} -o {format} --server {}", server.url));
        }
    }
    files.run(&format!("snapshot --all @cluster-all.json --server {}", server.url));
    files.holds_none("cluster-all.json");
}

#[test]
fn what_is_served_holds_no_secret() {
    let files = Files::new("serve");
    let mut child = holdup(&files.folder, &["serve", &files.path("cluster.json")]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    let ask = |path: &str, accept: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        holds_none(path, &answer);
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&answer));
        answer
    };
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    for plural in ["secrets", "configmaps", "pods", "events", "namespaces"] {
        for accept in ["application/json", table, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"] {
            ask(&format!("/api/v1/{plural}"), accept);
        }
        ask(
            &format!(
                "/api/v1/{plural}?watch=1&timeoutSeconds=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
            ),
            "application/json",
        );
    }
    let whole = ask("/api/v1/namespaces/shop/secrets/login", "application/json");
    assert!(String::from_utf8_lossy(&whole).contains("redacted/"), "its keys are still there");
    for path in [
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/replicasets",
        "/apis/argoproj.io/v1alpha1/applications",
        "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
        "/apis/example.test/v1/databases",
        "/api/v1/namespaces/shop/pods/web-1-a/log?container=app",
        "/api/v1/namespaces/shop/pods/web-1-a/log?container=app&previous=true",
    ] {
        ask(path, "application/json");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
