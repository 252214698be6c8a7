//! One control plane on loopback: etcd, API server, controller manager and scheduler, with users and nodes.

use crate::api::Api;
use crate::child::{Child, Folder};
use crate::kubelet::Kubelet;
use crate::pki::Pki;
use crate::programs::Programs;
use crate::wait::{eventually, seconds};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// Dropping it stops everything. Fields are dropped in this order: clients first, then the programs, then their folder.
pub struct Plane {
    kubelet: Kubelet,
    pub api: Arc<Api>,
    programs: Programs,
    pki: Pki,
    ports: Ports,
    server: Mutex<Option<Child>>,
    _others: Vec<Child>,
    folder: Folder,
}

struct Ports {
    etcd: u16,
    peer: u16,
    api: u16,
    manager: u16,
    scheduler: u16,
    kubelet: u16,
}

/// Everybody whose token the API server knows; `holdup` has no right that a role of its own does not give.
pub const HOLDUP: &str = "holdup";
const TOKENS: &str = "token-of-holdup,holdup,holdup\ntoken-of-auditor,auditor,auditor,system:masters\n\
    token-of-alice,alice,alice,system:masters\ntoken-of-bob,bob,bob,system:masters\n";

/// holdup's requests, by their line; and with their bodies what anybody writes in the namespaces whose log is read.
const AUDIT: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: [holdup, auditor, 'system:serviceaccount:one-namespace:reader']}
- {level: RequestResponse, verbs: [create, update, patch, delete], namespaces: [drift-log, drift-log-turns, drift-log-scaled]}
- {level: None}
";

impl Plane {
    pub fn start() -> Self {
        let programs = Programs::ready().unwrap_or_else(|why| panic!("{why}"));
        let folder = Folder::create(&format!("holdup-control-plane-{}", std::process::id()));
        let pki = Pki::create(&folder.path().join("pki"));
        let ports = Ports::free();
        fs::create_dir_all(folder.path().join("log")).expect("the folder for logs can be made");
        write_identities(&pki, folder.path(), &ports);
        let kubeconfig = folder.path().join("admin.kubeconfig");
        let etcd = start_etcd(&programs, folder.path(), &ports);
        let server = start_server(&programs, folder.path(), &pki, &ports);
        let api = Arc::new(Api::connect(&kubeconfig));
        await_server(&api, &server);
        let others = vec![etcd, start_manager(&programs, folder.path(), &pki, &ports), start_scheduler(&programs, folder.path(), &ports)];
        let kubelet = Kubelet::start(Arc::clone(&api), ports.kubelet, &pki.issue("kubelet", None));
        let plane = Self { kubelet, api, programs, pki, ports, server: Mutex::new(Some(server)), _others: others, folder };
        plane.await_default_account();
        plane
    }

    /// Applies manifests as the administrator.
    pub fn apply(&self, manifests: &str) {
        // A Namespace and what lives in it come in one file; the service account `default` follows a moment later.
        eventually(seconds(30), "the manifests are accepted", || self.kubectl_reads(&["apply", "-f", "-"], manifests));
    }

    pub fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        self.kubectl_reads(arguments, "")
    }

    fn kubectl_reads(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let mut child = self.kubectl_command(arguments).stdin(Stdio::piped()).spawn().expect("kubectl starts");
        let mut pipe = child.stdin.take().expect("a pipe was asked for");
        let fed = pipe.write_all(input.as_bytes());
        drop(pipe);
        let output = child.wait_with_output().expect("kubectl ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() && fed.is_ok() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// kubectl as the administrator, with its caches inside the folder of this plane.
    pub fn kubectl_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.programs.path("kubectl"));
        command
            .args(arguments)
            .env("HOME", self.folder.path())
            .env("KUBECONFIG", self.folder.path().join("admin.kubeconfig"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub const fn kubelet(&self) -> &Kubelet {
        &self.kubelet
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a kubeconfig for a user given as the YAML of its `user:` field.
    pub fn kubeconfig(&self, name: &str, user: &str, namespace: &str) -> PathBuf {
        let path = self.folder.path().join(format!("{name}.kubeconfig"));
        // Cases run side by side, and one may be reading what another writes: never half a file.
        let part = self.folder.path().join(format!("{name}.{:?}", std::thread::current().id()));
        fs::write(&part, kubeconfig(&self.pki, self.ports.api, user, namespace)).expect("the kubeconfig can be written");
        fs::rename(&part, &path).expect("the kubeconfig can be put in its place");
        path
    }

    /// The kubeconfig of the user under which holdup runs.
    pub fn holdup_kubeconfig(&self) -> PathBuf {
        self.kubeconfig(HOLDUP, "{token: token-of-holdup}", "default")
    }

    pub fn audit_log(&self) -> String {
        fs::read_to_string(self.audit_file()).unwrap_or_default()
    }

    pub fn audit_file(&self) -> PathBuf {
        self.folder.path().join("audit.log")
    }

    /// The path of Helm's client.
    pub fn helm(&self) -> &Path {
        self.programs.path("helm")
    }

    /// Kills the API server as a power cut would.
    pub fn kill_server(&self) {
        self.server.lock().expect("no test panics here").take();
    }

    pub fn restart_server(&self) {
        let server = start_server(&self.programs, self.folder.path(), &self.pki, &self.ports);
        await_server(&self.api, &server);
        self.server.lock().expect("no test panics here").replace(server);
    }

    fn await_default_account(&self) {
        eventually(seconds(60), "the controller manager makes the account of namespace default", || {
            self.api.get("/api/v1/namespaces/default/serviceaccounts/default")
        });
    }
}

impl Ports {
    /// Below the range from which the system hands out ports, so that nobody takes one while the API server is down.
    fn free() -> Self {
        let start = 20_000 + u16::try_from(std::process::id() % 1_000).expect("below a thousand") * 10;
        let mut free = (start..32_000).filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
        let mut next = || free.next().expect("a free port");
        Self { etcd: next(), peer: next(), api: next(), manager: next(), scheduler: next(), kubelet: next() }
    }
}

fn write_identities(pki: &Pki, folder: &Path, ports: &Ports) {
    pki.issue_files("server", None);
    pki.issue_files("to-kubelets", Some("system:masters"));
    pki.issue_signing_pair();
    pki.write("tokens.csv", TOKENS);
    pki.write("audit.yaml", AUDIT);
    for (file, name, group) in [
        ("admin", "admin", Some("system:masters")),
        ("manager", "system:kube-controller-manager", None),
        ("scheduler", "system:kube-scheduler", None),
    ] {
        let user = pki.issue(name, group).as_user();
        let path = folder.join(format!("{file}.kubeconfig"));
        fs::write(path, kubeconfig(pki, ports.api, &user, "default")).expect("the kubeconfig can be written");
    }
}

fn kubeconfig(pki: &Pki, port: u16, user: &str, namespace: &str) -> String {
    let authority = pki.authority_data();
    format!(
        "apiVersion: v1
kind: Config
clusters:
- {{name: plane, cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority-data: {authority}}}}}
users:
- {{name: user, user: {user}}}
contexts:
- {{name: plane, context: {{cluster: plane, user: user, namespace: {namespace}}}}}
current-context: plane
"
    )
}

fn start_etcd(programs: &Programs, folder: &Path, ports: &Ports) -> Child {
    let (client, peer) = (format!("http://127.0.0.1:{}", ports.etcd), format!("http://127.0.0.1:{}", ports.peer));
    let arguments = [
        format!("--data-dir={}", folder.join("etcd").display()),
        "--name=plane".to_owned(),
        // Nobody needs this state after a crash, and the disk of a test machine is slow.
        "--unsafe-no-fsync".to_owned(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=plane={peer}"),
    ];
    Child::start(programs.path("etcd"), &arguments, &folder.join("log/etcd"))
}

fn start_server(programs: &Programs, folder: &Path, pki: &Pki, ports: &Ports) -> Child {
    let file = |flag: &str, name: &str| format!("--{flag}={}", pki.file(name));
    let arguments = [
        format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
        format!("--secure-port={}", ports.api),
        "--bind-address=127.0.0.1".to_owned(),
        // Loopback may not be an endpoint of the Service `kubernetes`.
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
        // With these two nothing leaves the machine: a webhook's Service is resolved to its endpoints instead of being
        // dialled at its cluster address, and kubelets are dialled at the address that our nodes carry.
        "--enable-aggregator-routing=true".to_owned(),
        "--kubelet-preferred-address-types=InternalIP".to_owned(),
        "--authorization-mode=Node,RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        "--profiling=false".to_owned(),
        file("client-ca-file", "ca.crt"),
        file("tls-cert-file", "server.crt"),
        file("tls-private-key-file", "server.key"),
        file("kubelet-client-certificate", "to-kubelets.crt"),
        file("kubelet-client-key", "to-kubelets.key"),
        file("token-auth-file", "tokens.csv"),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        file("service-account-key-file", "sa.pub"),
        file("service-account-signing-key-file", "sa.key"),
        file("audit-policy-file", "audit.yaml"),
        format!("--audit-log-path={}", folder.join("audit.log").display()),
        // A pod leaves a lost node within seconds instead of five minutes.
        "--default-unreachable-toleration-seconds=5".to_owned(),
        "--default-not-ready-toleration-seconds=5".to_owned(),
    ];
    Child::start(programs.path("kube-apiserver"), &arguments, &folder.join("log/kube-apiserver"))
}

fn await_server(api: &Api, server: &Child) {
    eventually(seconds(90), "the API server is ready", || {
        let answer = api.text("/readyz").map_err(|e| format!("{e}\n{}", server.last_words()))?;
        if answer == "ok" { Ok(()) } else { Err(answer) }
    });
}

fn start_manager(programs: &Programs, folder: &Path, pki: &Pki, ports: &Ports) -> Child {
    let mut arguments = vec![
        format!("--kubeconfig={}", folder.join("manager.kubeconfig").display()),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", ports.manager),
        format!("--service-account-private-key-file={}", pki.file("sa.key")),
        format!("--root-ca-file={}", pki.file("ca.crt")),
        "--use-service-account-credentials=true".to_owned(),
        "--allocate-node-cidrs=false".to_owned(),
        // Nodes live without heartbeats: Ready is what the test has written, nothing depends on the machine's speed.
        "--node-monitor-grace-period=1h".to_owned(),
        "--node-monitor-period=1s".to_owned(),
        "--horizontal-pod-autoscaler-sync-period=2s".to_owned(),
        "--kube-api-qps=200".to_owned(),
        "--kube-api-burst=400".to_owned(),
        "--profiling=false".to_owned(),
    ];
    arguments.extend(leader_election());
    Child::start(programs.path("kube-controller-manager"), &arguments, &folder.join("log/kube-controller-manager"))
}

fn start_scheduler(programs: &Programs, folder: &Path, ports: &Ports) -> Child {
    let mut arguments = vec![
        format!("--kubeconfig={}", folder.join("scheduler.kubeconfig").display()),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", ports.scheduler),
        "--profiling=false".to_owned(),
    ];
    arguments.extend(leader_election());
    Child::start(programs.path("kube-scheduler"), &arguments, &folder.join("log/kube-scheduler"))
}

/// Both keep a lease in kube-system, and give up only long after the API server has been restarted under them.
fn leader_election() -> [String; 3] {
    ["--leader-elect=true", "--leader-elect-lease-duration=240s", "--leader-elect-renew-deadline=200s"].map(str::to_owned)
}
