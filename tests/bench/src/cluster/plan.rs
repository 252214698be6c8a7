//! Plan: which objects the cluster has and how they belong together, before any JSON is written.

use std::collections::HashSet;

use super::rng::Rng;

/// How large a cluster is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub pods: usize,
    pub nodes: usize,
    pub namespaces: usize,
    pub services: usize,
    pub events: usize,
}

impl Size {
    /// The size of the project's figures, scaled to a number of pods.
    pub fn of(pods: usize) -> Self {
        let scaled = |full: usize| (full * pods / 150_000).max(1);
        Self { pods, nodes: scaled(5_000).max(3), namespaces: scaled(1_200), services: scaled(10_000), events: scaled(20_000) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    ReplicaSet,
    DaemonSet,
    StatefulSet,
    Job,
}

/// One controller of pods.
#[derive(Debug)]
pub struct Owner {
    pub maker: Maker,
    pub namespace: usize,
    /// Of a ReplicaSet: the Deployment's name.
    pub app: String,
    pub name: String,
    pub uid: String,
    /// The Deployment's, or the CronJob's.
    pub above: String,
    pub hash: String,
    pub pods: usize,
    /// A third has a native sidecar.
    pub sidecar: bool,
    pub seed: u64,
}

/// What is the matter with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Healthy,
    Completed,
    CrashLoop,
    ImagePull,
    Unschedulable,
    Terminating,
    NotReady,
    /// It runs, and was killed before.
    OutOfMemory,
}

#[derive(Debug)]
pub struct Pod {
    pub owner: usize,
    pub name: String,
    pub suffix: String,
    pub node: usize,
    pub state: State,
    pub seed: u64,
}

impl Pod {
    /// The first that its own sequence gives.
    pub fn uid(&self) -> String {
        Rng::new(self.seed).clone().uid()
    }
}

/// A whole cluster in outline.
#[derive(Debug)]
pub struct Plan {
    pub size: Size,
    pub namespaces: Vec<String>,
    pub nodes: Vec<String>,
    pub owners: Vec<Owner>,
    /// By namespace and name, as an API server lists them.
    pub pods: Vec<Pod>,
    by_owner: Vec<Vec<u32>>,
    pub seed: u64,
}

pub const ZONES: [&str; 3] = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];
const TEAMS: [&str; 12] =
    ["checkout", "payments", "search", "catalog", "identity", "media", "ledger", "shipping", "pricing", "support", "risk", "growth"];
const PARTS: [&str; 10] = ["api", "web", "worker", "gateway", "indexer", "consumer", "scheduler", "admin", "cache", "export"];
const AGENTS: [&str; 5] = ["node-exporter", "log-shipper", "cni-agent", "csi-node", "kube-proxy"];

impl Plan {
    pub fn new(size: Size, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut namespaces: Vec<String> = (0..size.namespaces).map(|i| format!("{}-{:04}", TEAMS[i % TEAMS.len()], i)).collect();
        namespaces.sort();
        let nodes =
            (0..size.nodes).map(|i| format!("ip-10-{}-{}-{}.eu-central-1.compute.internal", i / 4096, i / 64 % 64, i % 64)).collect();
        let mut plan = Self { size, namespaces, nodes, owners: Vec::new(), pods: Vec::new(), by_owner: Vec::new(), seed };
        plan.make_owners(&mut rng);
        plan.make_pods(&mut rng);
        plan
    }

    /// The same cluster with nothing stuck.
    pub fn at_peace(mut self) -> Self {
        for pod in self.pods.iter_mut().filter(|pod| pod.state != State::Completed) {
            pod.state = State::Healthy;
        }
        self
    }

    /// The pods of a controller.
    pub fn of_owner(&self, owner: usize) -> impl Iterator<Item = &Pod> {
        self.by_owner[owner].iter().map(|at| &self.pods[*at as usize])
    }

    /// Where the pods of Deployments stand that are plainly well.
    pub fn plain(&self) -> impl Iterator<Item = usize> + '_ {
        let is_plain = |pod: &Pod| pod.state == State::Healthy && self.owners[pod.owner].maker == Maker::ReplicaSet;
        self.pods.iter().enumerate().filter(move |(_, pod)| is_plain(pod)).map(|(at, _)| at)
    }

    pub fn zone(&self, node: usize) -> &'static str {
        ZONES[node % ZONES.len()]
    }

    /// 73 % of the pods are a Deployment's, 15 % a DaemonSet's, 7 % a StatefulSet's, 5 % a Job's.
    fn make_owners(&mut self, rng: &mut Rng) {
        let total = self.size.pods;
        let deployments = (total / 25).max(1);
        self.share(rng, Maker::ReplicaSet, total * 73 / 100, deployments);
        let agents = (total * 15 / 100).div_ceil(self.size.nodes).max(1);
        self.share(rng, Maker::DaemonSet, total * 15 / 100, agents);
        self.share(rng, Maker::StatefulSet, total * 7 / 100, (total / 100).max(1));
        let rest = total - self.owners.iter().map(|o| o.pods).sum::<usize>();
        self.share(rng, Maker::Job, rest, (rest / 3).max(1));
    }

    /// Shares pods among owners of one kind, more or less evenly.
    fn share(&mut self, rng: &mut Rng, maker: Maker, pods: usize, owners: usize) {
        let mut left = pods;
        for i in 0..owners {
            let mean = left / (owners - i);
            let count = match maker {
                Maker::DaemonSet => mean.min(self.size.nodes),
                _ if i + 1 == owners => left,
                _ => (mean / 2 + rng.below(mean + 1)).min(left),
            };
            left -= count;
            self.add_owner(rng, maker, i, count);
        }
    }

    fn add_owner(&mut self, rng: &mut Rng, maker: Maker, i: usize, pods: usize) {
        // Eight runs of each CronJob are there.
        let family = if maker == Maker::Job { i / 8 } else { i };
        let namespace = family % self.namespaces.len();
        let (hash, above) = (rng.name(10), rng.uid());
        let part = if maker == Maker::Job { PARTS[family % PARTS.len()] } else { rng.pick(&PARTS) };
        let app = match maker {
            Maker::ReplicaSet => format!("{}-{part}-{}", TEAMS[i % TEAMS.len()], i / self.namespaces.len()),
            Maker::DaemonSet => AGENTS.get(i).map_or_else(|| format!("agent-{i}"), |a| (*a).to_owned()),
            Maker::StatefulSet => format!("{part}-store-{}", i / self.namespaces.len()),
            Maker::Job => format!("nightly-{part}"),
        };
        let name = match maker {
            Maker::ReplicaSet => format!("{app}-{hash}"),
            Maker::DaemonSet | Maker::StatefulSet => app.clone(),
            Maker::Job => format!("{app}-{}", 29_000_000 + i),
        };
        let (uid, sidecar, seed) = (rng.uid(), rng.chance(333), rng.next());
        // The runs of one CronJob share their template.
        let seed = if maker == Maker::Job { self.seed ^ part.len() as u64 ^ (namespace as u64) << 8 } else { seed };
        self.owners.push(Owner { maker, namespace, app, name, uid, above, hash, pods, sidecar, seed });
    }

    fn make_pods(&mut self, rng: &mut Rng) {
        for (owner, made) in self.owners.iter().enumerate() {
            let mut taken = HashSet::new();
            for n in 0..made.pods {
                let mut suffix = rng.name(5);
                while !taken.insert(suffix.clone()) {
                    suffix = rng.name(5);
                }
                let name = match made.maker {
                    Maker::StatefulSet => format!("{}-{n}", made.name),
                    Maker::ReplicaSet | Maker::DaemonSet | Maker::Job => format!("{}-{suffix}", made.name),
                };
                let node = if made.maker == Maker::DaemonSet { n } else { rng.below(self.nodes.len()) };
                self.pods.push(Pod { owner, name, suffix, node, state: state(rng, made.maker), seed: rng.next() });
            }
        }
        let owners = &self.owners;
        self.pods.sort_by(|a, b| (owners[a.owner].namespace, &a.name).cmp(&(owners[b.owner].namespace, &b.name)));
        self.by_owner = vec![Vec::new(); self.owners.len()];
        for (at, pod) in self.pods.iter().enumerate() {
            self.by_owner[pod.owner].push(u32::try_from(at).unwrap_or(u32::MAX));
        }
    }
}

/// 1.8 % completed, 0.8 % crash loops, 0.5 % image pulls, 0.6 % unschedulable, 0.3 % terminating, 0.6 % not ready, 0.4 % killed before.
fn state(rng: &mut Rng, maker: Maker) -> State {
    match (maker, rng.below(1000)) {
        (Maker::Job, 0..=359) => State::Completed,
        (_, 990..=997) => State::CrashLoop,
        (_, 985..=989) => State::ImagePull,
        (_, 979..=984) => State::Unschedulable,
        (_, 976..=978) => State::Terminating,
        (_, 970..=975) => State::NotReady,
        (_, 966..=969) => State::OutOfMemory,
        (_, _) => State::Healthy,
    }
}
