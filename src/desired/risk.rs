//! Whether a place matters for security or behaviour: risk classes R1 to R12 by kind and path. Never looks at a verdict.

use serde_json::Value;

use super::place::Place;
use super::weigh::{self, Direction};
use crate::redact::looks_secret;

/// A class of risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Privilege,
    Host,
    Identity,
    Rbac,
    Network,
    Image,
    Secrets,
    Availability,
    Admission,
    Control,
    Provenance,
    /// Labels and annotations that nothing selects by.
    Benign,
}

/// Why a difference matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Risk {
    pub class: Class,
    pub direction: Direction,
    /// What it means, with class and direction.
    pub text: String,
}

impl Class {
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// What the class is about, in a word.
    pub fn title(self) -> &'static str {
        self.row().1
    }

    /// Controls of common catalogues that ask about such a change.
    pub fn controls(self) -> &'static [&'static str] {
        self.row().2
    }

    fn row(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Privilege => ("R1", "privilege", &["SP 800-53 CM-6", "SP 800-53 CM-7", "SP 800-53 AC-6", "CSF PR.PS-01", "CSF PR.IR-01"]),
            Self::Host => ("R2", "host access", &["SP 800-53 CM-6", "SP 800-53 CM-7", "SP 800-53 AC-6", "CSF PR.PS-01", "CSF PR.IR-01"]),
            Self::Identity => ("R3", "identity", &["SP 800-53 AC-2", "SP 800-53 AC-3", "SP 800-53 AC-6", "SP 800-53 CM-5", "CSF PR.AA-05"]),
            Self::Rbac => ("R4", "access rules", &["SP 800-53 AC-2", "SP 800-53 AC-3", "SP 800-53 AC-6", "SP 800-53 CM-5", "CSF PR.AA-05"]),
            Self::Network => ("R5", "network", &["SP 800-53 SC-7", "SP 800-53 AC-4", "SP 800-53 CM-7", "CSF DE.CM-01", "CSF PR.IR-01"]),
            Self::Image => (
                "R6",
                "what runs",
                &["SP 800-53 CM-6", "SP 800-53 CM-14", "SP 800-53 SI-7", "SP 800-53 SR-4", "CSF PR.PS-02", "CSF DE.CM-09"],
            ),
            Self::Secrets => ("R7", "secrets", &["SP 800-53 SC-12", "SP 800-53 SC-28", "SP 800-53 IA-5", "CSF PR.DS-01", "CSF PR.DS-10"]),
            Self::Availability => ("R8", "availability", &["SP 800-53 CP-10", "SP 800-53 SC-5", "SP 800-53 SC-6", "CSF PR.IR-04"]),
            Self::Admission => (
                "R9",
                "admission",
                &["SP 800-53 CM-3", "SP 800-53 CM-5", "SP 800-53 SI-7", "SP 800-53 AU-9", "CSF PR.PS-01", "CSF DE.CM-09"],
            ),
            Self::Control => (
                "R10",
                "control of the cluster",
                &["SP 800-53 CM-3", "SP 800-53 CM-5", "SP 800-53 SI-7", "SP 800-53 AU-9", "CSF PR.PS-01", "CSF DE.CM-09"],
            ),
            Self::Provenance => (
                "R11",
                "provenance",
                &["SP 800-53 CM-3", "SP 800-53 CM-5", "SP 800-53 SI-7", "SP 800-53 AU-9", "CSF PR.PS-01", "CSF GV.RM-01"],
            ),
            Self::Benign => ("R12", "metadata", &[]),
        }
    }

    pub fn is_risky(self) -> bool {
        self != Self::Benign
    }

    /// Whether a label or annotation of this class needs more than the word of an unknown controller.
    pub fn guards_metadata(self) -> bool {
        matches!(self, Self::Privilege | Self::Identity | Self::Rbac | Self::Network | Self::Admission | Self::Provenance)
    }
}

/// Controls that any change away from the declared state concerns.
pub const ANY_DRIFT: &[&str] = &["SP 800-53 CM-2", "SP 800-53 CM-3", "SP 800-53 CM-6", "CSF PR.PS-01", "CSF DE.CM-09"];

/// The risk of a difference at a place; `None` where nothing about it matters.
pub fn judge(place: &Place<'_>) -> Option<Risk> {
    let class = class(place).filter(|class| class.is_risky())?;
    let (direction, what) = weigh::weigh(class, place);
    Some(Risk { class, direction, text: format!("{} {}: {what} ({})", class.id(), direction.id(), class.title()) })
}

/// The class of a place; `None` for what is in none, such as the data of a ConfigMap.
pub fn class(place: &Place<'_>) -> Option<Class> {
    let fields: Vec<&str> = place.path.fields().collect();
    metadata(place, &fields).or_else(|| by_kind(place, &fields)).or_else(|| by_field(place, &fields))
}

fn metadata(place: &Place<'_>, fields: &[&str]) -> Option<Class> {
    let at = fields.iter().position(|field| *field == "metadata")?;
    match fields.get(at + 1..)? {
        ["labels" | "annotations", name, ..] => Some(named_metadata(place, at, name)),
        ["labels" | "annotations"] => Some(Class::Benign),
        ["finalizers", ..] => Some(Class::Availability),
        ["ownerReferences", ..] => Some(if place.live.is_none() { Class::Provenance } else { Class::Benign }),
        _ => None,
    }
}

fn named_metadata(place: &Place<'_>, at: usize, name: &str) -> Class {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let is_gone = place.desired.is_some();
    match place.cx.kind {
        _ if starts(&["container.apparmor.security.beta.kubernetes.io/", "seccomp.security.alpha.kubernetes.io/"]) => Class::Privilege,
        "ClusterRole" if starts(&["rbac.authorization.k8s.io/aggregate-to-"]) => Class::Rbac,
        "Namespace" if starts(&["pod-security.kubernetes.io/"]) => Class::Admission,
        "ServiceAccount" if starts(&["eks.amazonaws.com/", "iam.gke.io/", "azure.workload.identity/"]) => Class::Identity,
        "Ingress" if name.contains("auth") || name.contains("whitelist") || name.contains("allowlist") => Class::Network,
        _ if starts(GOVERNING) || is_gone && starts(TRACKING) => Class::Provenance,
        _ if at > 0 && is_selected(place, name) => Class::Availability,
        _ => Class::Benign,
    }
}

/// Annotations that switch off what would find a later drift.
const GOVERNING: &[&str] = &[
    "kustomize.toolkit.fluxcd.io/reconcile",
    "kustomize.toolkit.fluxcd.io/ssa",
    "kustomize.toolkit.fluxcd.io/prune",
    "helm.toolkit.fluxcd.io/driftDetection",
    "argocd.argoproj.io/compare-options",
    "argocd.argoproj.io/sync-options",
    "helm.sh/resource-policy",
];

/// Labels and annotations that say where an object comes from.
const TRACKING: &[&str] = &[
    "meta.helm.sh/",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/instance",
];

fn is_selected(place: &Place<'_>, label: &str) -> bool {
    [place.cx.desired, place.cx.live].iter().any(|object| {
        let selector = object.pointer("/spec/selector");
        selector.is_some_and(|s| s.get("matchLabels").unwrap_or(s).get(label).is_some())
    })
}

fn by_kind(place: &Place<'_>, fields: &[&str]) -> Option<Class> {
    let first = fields.first().copied().unwrap_or_default();
    let second = fields.get(1).copied().unwrap_or_default();
    match place.cx.kind {
        "Role" | "ClusterRole" if matches!(first, "rules" | "aggregationRule") => Some(Class::Rbac),
        "RoleBinding" | "ClusterRoleBinding" if matches!(first, "subjects" | "roleRef") => Some(Class::Rbac),
        "ServiceAccount" if matches!(first, "imagePullSecrets" | "secrets" | "automountServiceAccountToken") => Some(Class::Identity),
        "Secret" if matches!(first, "data" | "stringData" | "type" | "immutable") => Some(Class::Secrets),
        "Service" if first == "spec" && EXPOSES.contains(&second) => Some(Class::Network),
        "Ingress" | "Gateway" if first == "spec" => Some(Class::Network),
        kind if first == "spec" && (kind.ends_with("NetworkPolicy") || kind.ends_with("Route")) => Some(Class::Network),
        kind if first == "webhooks" && kind.ends_with("WebhookConfiguration") => Some(Class::Admission),
        kind if first == "spec" && kind.contains("AdmissionPolicy") => Some(Class::Admission),
        kind => of_control(place, kind, first, second),
    }
}

/// What of a Service decides who reaches what through it.
const EXPOSES: &[&str] = &[
    "ports",
    "selector",
    "type",
    "externalIPs",
    "externalName",
    "loadBalancerIP",
    "loadBalancerSourceRanges",
    "externalTrafficPolicy",
    "publishNotReadyAddresses",
];

fn of_control(place: &Place<'_>, kind: &str, first: &str, second: &str) -> Option<Class> {
    let group = place.cx.group;
    match (kind, first) {
        ("ClusterPolicy" | "Policy", "spec") if group == "kyverno.io" => Some(Class::Admission),
        (_, "spec") if second == "enforcementAction" || second == "validationFailureAction" => Some(Class::Admission),
        ("APIService" | "FlowSchema" | "PriorityLevelConfiguration" | "CertificateSigningRequest", "spec") => Some(Class::Control),
        ("CustomResourceDefinition", "spec") if second == "conversion" => Some(Class::Control),
        ("StorageClass", "reclaimPolicy") => Some(Class::Control),
        ("PersistentVolume", "spec") if second == "persistentVolumeReclaimPolicy" => Some(Class::Control),
        ("ConfigMap", "data" | "binaryData") if rules_cluster(place.cx.live) => Some(Class::Control),
        ("Application" | "ApplicationSet", "spec") if matches!(second, "syncPolicy" | "ignoreDifferences") => Some(Class::Provenance),
        ("Kustomization" | "HelmRelease", "spec") if matches!(second, "suspend" | "driftDetection" | "prune") => Some(Class::Provenance),
        ("PodDisruptionBudget" | "ResourceQuota" | "LimitRange" | "HorizontalPodAutoscaler", "spec") => Some(Class::Availability),
        ("PriorityClass", "value" | "globalDefault" | "preemptionPolicy") => Some(Class::Availability),
        _ => None,
    }
}

fn rules_cluster(object: &Value) -> bool {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    text("/metadata/namespace") == "kube-system"
        && matches!(text("/metadata/name"), "coredns" | "aws-auth" | "kubeadm-config" | "kube-proxy")
}

/// Names of fields that mean the same in every pod spec, wherever it is embedded.
fn by_field(place: &Place<'_>, fields: &[&str]) -> Option<Class> {
    let has = |names: &[&str]| fields.iter().any(|field| names.contains(field));
    if has(&["securityContext", "sysctls"]) {
        return Some(Class::Privilege);
    }
    if has(&["hostNetwork", "hostPID", "hostIPC", "hostUsers", "hostPort", "hostPath", "volumeDevices", "shareProcessNamespace"]) {
        return Some(Class::Host);
    }
    if has(&["serviceAccountName", "serviceAccount", "automountServiceAccountToken", "serviceAccountToken", "imagePullSecrets"]) {
        return Some(Class::Identity);
    }
    if has(&["secretRef", "secretKeyRef", "secretName", "secret", "existingSecret"]) || is_secret_variable(place, fields) {
        return Some(Class::Secrets);
    }
    if has(&["image", "imagePullPolicy", "command", "args", "lifecycle", "env", "envFrom"]) {
        return Some(Class::Image);
    }
    has(AVAILABLE).then_some(Class::Availability).or_else(|| is_container(fields).then_some(Class::Image))
}

const AVAILABLE: &[&str] = &[
    "replicas",
    "paused",
    "suspend",
    "resources",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "priorityClassName",
    "strategy",
    "updateStrategy",
    "topologySpreadConstraints",
    "tolerations",
    "affinity",
    "nodeSelector",
    "nodeName",
    "minReplicas",
    "maxReplicas",
    "minReplicaCount",
    "maxReplicaCount",
    "terminationGracePeriodSeconds",
    "progressDeadlineSeconds",
];

fn is_container(fields: &[&str]) -> bool {
    matches!(fields, [.., "containers" | "initContainers" | "ephemeralContainers"])
        || matches!(fields, [.., "containers" | "initContainers" | "ephemeralContainers", "name"])
}

/// A literal under a name that looks secret.
fn is_secret_variable(place: &Place<'_>, fields: &[&str]) -> bool {
    let name = |parent: Option<&Value>| parent.and_then(|p| p.get("name")).and_then(Value::as_str).is_some_and(looks_secret);
    fields.contains(&"env") && (name(place.desired_parent) || name(place.live_parent) || name(place.live) || name(place.desired))
}
