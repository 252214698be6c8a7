//! A pod's spec, as in pods and in workload templates: the parts that diagnosis reads.

use super::pack::packed_api;
use super::{EnvVar, Pairs, Resources, Selector, Text};

packed_api! {
    /// `spec` of a pod, or `spec.template.spec` of a workload.
    pub struct PodSpec {
        containers: Vec<Container>,
        init_containers: Vec<Container>,
        volumes: Vec<Volume>,
        node_name: Text,
        scheduler_name: Text,
        scheduling_gates: Vec<Named>,
        restart_policy: Text,
        priority: Option<i64>,
        priority_class_name: Text,
        preemption_policy: Text,
        service_account_name: Text,
        host_network: bool,
        runtime_class_name: Text,
        active_deadline_seconds: Option<i64>,
        termination_grace_period_seconds: Option<i64>,
        readiness_gates: Vec<ReadinessGate>,
        tolerations: Vec<Toleration>,
        node_selector: Pairs,
        affinity: Affinity,
        topology_spread_constraints: Vec<Spread>,
        image_pull_secrets: Vec<Named>,
        resource_claims: Vec<Named>,
        overhead: Resources,
        security_context: SecurityContext,
    }

    /// Anything of which only the name matters.
    pub struct Named {
        name: Text,
    }

    pub struct ReadinessGate {
        condition_type: Text,
    }

    pub struct Container {
        name: Text,
        image: Text,
        image_pull_policy: Text,
        /// `Always` makes an init container a sidecar.
        restart_policy: Text,
        command: Vec<Text>,
        args: Vec<Text>,
        resources: ResourceNeeds,
        ports: Vec<ContainerPort>,
        env: Vec<EnvVar>,
        env_from: Vec<EnvFrom>,
        volume_mounts: Vec<VolumeMount>,
        liveness_probe: Option<Box<Probe>>,
        readiness_probe: Option<Box<Probe>>,
        startup_probe: Option<Box<Probe>>,
        security_context: SecurityContext,
    }

    pub struct ResourceNeeds {
        requests: Resources,
        limits: Resources,
    }

    pub struct ContainerPort {
        name: Text,
        container_port: i64,
        host_port: i64,
        #[serde(rename = "hostIP")]
        host_ip: Text,
        protocol: Text,
    }

    /// Where the value of an environment variable comes from.
    pub struct EnvSource {
        secret_key_ref: Option<KeyRef>,
        config_map_key_ref: Option<KeyRef>,
    }

    pub struct KeyRef {
        name: Text,
        key: Text,
        optional: bool,
    }

    pub struct EnvFrom {
        secret_ref: Option<OptionalRef>,
        config_map_ref: Option<OptionalRef>,
    }

    pub struct OptionalRef {
        name: Text,
        optional: bool,
    }

    pub struct VolumeMount {
        name: Text,
        mount_path: Text,
        sub_path: Text,
    }

    pub struct SecurityContext {
        run_as_non_root: Option<bool>,
        run_as_user: Option<i64>,
        fs_group: Option<i64>,
        fs_group_change_policy: Text,
        privileged: Option<bool>,
    }

    pub struct Probe {
        http_get: Option<HttpGet>,
        tcp_socket: Option<SocketAction>,
        exec: Option<ExecAction>,
        grpc: Option<SocketAction>,
        initial_delay_seconds: i64,
        timeout_seconds: Option<i64>,
        period_seconds: Option<i64>,
        success_threshold: Option<i64>,
        failure_threshold: Option<i64>,
    }

    pub struct HttpGet {
        path: Text,
        port: IntOrText,
        scheme: Text,
    }

    pub struct SocketAction {
        port: IntOrText,
    }

    pub struct ExecAction {
        command: Vec<Text>,
    }

    pub struct Toleration {
        key: Text,
        operator: Text,
        value: Text,
        effect: Text,
        toleration_seconds: Option<i64>,
    }

    pub struct Affinity {
        node_affinity: NodeAffinity,
        pod_affinity: PodAffinity,
        pod_anti_affinity: PodAffinity,
    }

    pub struct NodeAffinity {
        #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
        required: Option<NodeSelector>,
    }

    pub struct NodeSelector {
        node_selector_terms: Vec<NodeSelectorTerm>,
    }

    pub struct NodeSelectorTerm {
        match_expressions: Vec<super::Requirement>,
        match_fields: Vec<super::Requirement>,
    }

    pub struct PodAffinity {
        #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
        required: Vec<PodAffinityTerm>,
    }

    pub struct PodAffinityTerm {
        label_selector: Option<Selector>,
        namespaces: Vec<Text>,
        namespace_selector: Option<Selector>,
        topology_key: Text,
    }

    pub struct Spread {
        max_skew: i64,
        topology_key: Text,
        when_unsatisfiable: Text,
        label_selector: Option<Selector>,
        min_domains: Option<i64>,
        node_affinity_policy: Text,
        node_taints_policy: Text,
        match_label_keys: Vec<Text>,
    }

    pub struct Volume {
        name: Text,
        persistent_volume_claim: Option<ClaimRef>,
        config_map: Option<OptionalRef>,
        secret: Option<SecretVolume>,
        projected: Option<Projected>,
        ephemeral: Option<Ephemeral>,
        host_path: Option<HostPath>,
        csi: Option<CsiSource>,
    }

    pub struct ClaimRef {
        claim_name: Text,
        read_only: bool,
    }

    pub struct SecretVolume {
        secret_name: Text,
        optional: bool,
    }

    pub struct Projected {
        sources: Vec<ProjectedSource>,
    }

    pub struct ProjectedSource {
        config_map: Option<OptionalRef>,
        secret: Option<OptionalRef>,
    }

    /// Presence is what matters: the claim is named after pod and volume.
    pub struct Ephemeral {
        volume_claim_template: Option<Empty>,
    }

    pub struct Empty {}

    pub struct HostPath {
        path: Text,
        #[serde(rename = "type")]
        kind: Text,
    }

    pub struct CsiSource {
        driver: Text,
    }
}

/// A port or an amount that is a number or a name (`80`, `http`, `25%`).
#[derive(Debug, Clone, PartialEq)]
pub enum IntOrText {
    Int(i64),
    Text(Text),
}

impl Default for IntOrText {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl std::fmt::Display for IntOrText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(n) => n.fmt(f),
            Self::Text(t) => t.fmt(f),
        }
    }
}

impl IntOrText {
    /// The amount out of `total`: a plain number, or a percentage rounded up or down as the caller's field asks.
    pub fn of(&self, total: i64, rounding: Rounding) -> i64 {
        match self {
            Self::Int(n) => *n,
            Self::Text(t) => {
                let percent: i64 = t.trim_end_matches('%').parse().unwrap_or(0).clamp(0, 100);
                match rounding {
                    Rounding::Up => (total * percent + 99).div_euclid(100),
                    Rounding::Down => (total * percent).div_euclid(100),
                }
            }
        }
    }
}

/// maxSurge rounds up, maxUnavailable down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    Up,
    Down,
}

impl ClaimRef {
    /// The claim's name. Siblings share their spec: where the name ends in the pod's, only what stands before it is in there.
    pub fn of(&self, pod: &str) -> String {
        match self.claim_name.strip_suffix(super::pods::OWN) {
            Some(before) => format!("{before}{pod}"),
            None => self.claim_name.to_string(),
        }
    }
}

impl Container {
    /// An init container that keeps running beside the others.
    pub fn is_sidecar(&self) -> bool {
        &*self.restart_policy == "Always"
    }
}

impl PodSpec {
    /// Init containers first, then the others, as the kubelet starts them.
    pub fn all_containers(&self) -> impl Iterator<Item = &Container> {
        self.init_containers.iter().chain(&self.containers)
    }

    pub fn container(&self, name: &str) -> Option<&Container> {
        self.all_containers().find(|c| &*c.name == name)
    }

    /// Names of the claims that its volumes use; `pod` is the pod's name, after which generic ephemeral claims are named.
    pub fn claims(&self, pod: &str) -> Vec<String> {
        let name = |v: &Volume| match (&v.persistent_volume_claim, &v.ephemeral) {
            (Some(claim), _) => Some(claim.of(pod)),
            (None, Some(_)) => Some(format!("{pod}-{}", v.name)),
            (None, None) => None,
        };
        self.volumes.iter().filter_map(name).collect()
    }

    /// What the scheduler reserves for one resource, in 10⁻⁹ units: the larger of all containers with sidecars together
    /// and the largest step of initialisation, plus overhead (KEP-753).
    pub fn requested(&self, resource: &str) -> i128 {
        let of = |c: &Container| {
            c.resources.requests.get(resource).or_else(|| c.resources.limits.get(resource)).map_or(0, super::Quantity::nano)
        };
        let (mut sidecars, mut step) = (0, 0);
        for c in &self.init_containers {
            if c.is_sidecar() {
                sidecars += of(c);
                step = step.max(sidecars);
            } else {
                step = step.max(sidecars + of(c));
            }
        }
        let running: i128 = self.containers.iter().map(of).sum::<i128>() + sidecars;
        running.max(step) + self.overhead.get(resource).map_or(0, super::Quantity::nano)
    }

    /// Every resource that some container requests or limits, sorted.
    pub fn requested_resources(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.all_containers().flat_map(|c| c.resources.requests.keys().chain(c.resources.limits.keys())).map(|k| &**k).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
