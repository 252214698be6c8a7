//! Words that nearly every cluster uses, so that packed objects can name them by number.

use std::sync::LazyLock;

use hashbrown::HashMap;

/// In no order that matters: packed bytes never leave the process.
#[rustfmt::skip]
pub(super) const WORDS: &[&str] = &[
    "TCP", "UDP", "SCTP", "HTTP", "HTTPS", "Always", "Never", "OnFailure", "IfNotPresent", "Exists", "Equal", "In", "NotIn",
    "DoesNotExist", "Gt", "Lt", "NoSchedule", "NoExecute", "PreferNoSchedule", "True", "False", "Unknown", "Ready", "Initialized",
    "ContainersReady", "PodScheduled", "PodReadyToStartContainers", "DisruptionTarget", "PodResizePending", "PodResizeInProgress",
    "Running", "Pending", "Succeeded", "Failed", "Waiting", "Terminated", "Completed", "Error", "OOMKilled", "CrashLoopBackOff",
    "ImagePullBackOff", "ErrImagePull", "ContainerCreating", "PodInitializing", "CreateContainerConfigError", "CreateContainerError",
    "RunContainerError", "StartError", "ContainerCannotRun", "Evicted", "DeadlineExceeded", "ContainersNotReady",
    "ContainersNotInitialized", "ReadinessGatesNotReady", "PodCompleted", "PodFailed", "Unschedulable", "SchedulingGated", "NodeLost",
    "UnexpectedAdmissionError", "default-scheduler", "default", "PreemptLowerPriority", "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable", "node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable", "node.kubernetes.io/network-unavailable",
    "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "CriticalAddonsOnly", "system-node-critical",
    "system-cluster-critical", "kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region", "node.kubernetes.io/instance-type", "linux", "amd64", "arm64", "windows", "metadata.name",
    "metadata.namespace", "ScheduleAnyway", "DoNotSchedule", "Honor", "Ignore", "cpu", "memory", "ephemeral-storage", "pods",
    "nvidia.com/gpu", "hugepages-2Mi", "hugepages-1Gi", "10m", "20m", "25m", "50m", "100m", "150m", "200m", "250m", "300m", "400m",
    "500m", "750m", "800m", "1", "2", "3", "4", "8", "16", "1500m", "16Mi", "32Mi", "50Mi", "64Mi", "100Mi", "128Mi", "200Mi", "256Mi",
    "300Mi", "384Mi", "500Mi", "512Mi", "768Mi", "1Gi", "1536Mi", "2Gi", "3Gi", "4Gi", "8Gi", "16Gi", "10Gi", "kube-api-access",
    "kube-root-ca.crt", "/var/run/secrets/kubernetes.io/serviceaccount", "/tmp", "/data", "/config", "/etc/config", "/var/log",
    "/dev/shm", "/var/run", "http", "https", "metrics", "grpc", "health", "web", "api", "admin", "probe", "ready", "live", "main",
    "app", "server", "proxy", "sidecar", "init", "config", "data", "tmp", "logs", "cache", "certs", "tls", "secret", "/", "/health",
    "/healthz", "/livez", "/readyz", "/ready", "/live", "/metrics", "/ping", "/status", "-ec", "-c", "/bin/sh", "/bin/bash", "sh",
    "bash", "istio-proxy", "istio-init", "istio-validation", "istio-envoy", "istio-data", "istio-podinfo", "istio-token",
    "istiod-ca-cert", "workload-socket", "workload-certs", "credential-socket", "POD_NAME", "POD_NAMESPACE", "POD_IP", "HOST_IP",
    "NODE_NAME", "HOSTNAME", "INSTANCE_IP", "SERVICE_ACCOUNT", "LOG_LEVEL", "PORT", "DATABASE_URL", "DB_HOST", "DB_PORT", "DB_USER",
    "DB_PASSWORD", "REDIS_URL", "GOMAXPROCS", "GOMEMLIMIT", "JAVA_OPTS", "TZ", "ENVIRONMENT", "AWS_REGION", "OnRootMismatch",
    "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket", "CharDevice", "v1", "apps/v1", "batch/v1", "ReplicaSet",
    "DaemonSet", "StatefulSet", "Job", "Node", "Deployment", "batch.kubernetes.io/job-tracking", "name", "component", "tier", "version",
    "release", "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/part-of",
    "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart", "pod-template-hash", "controller-revision-hash",
    "pod-template-generation", "kubernetes.io/config.mirror", "kubernetes.io/config.source", "kubernetes.io/config.hash",
    "kubernetes.io/config.seen", "ProgressDeadlineExceeded", "MinimumReplicasAvailable", "MinimumReplicasUnavailable",
    "NewReplicaSetAvailable", "ReplicaSetUpdated", "Available", "Progressing", "ReplicaFailure", "FailedCreate",
];

/// The number of a word, if it is one.
pub(super) fn word_number(text: &str) -> Option<usize> {
    static NUMBERS: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| WORDS.iter().enumerate().map(|(n, word)| (*word, n)).collect());
    NUMBERS.get(text).copied()
}

/// The word of a number; empty for a number that is none.
pub(super) fn word(number: usize) -> &'static str {
    WORDS.get(number).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_number() {
        for (number, text) in WORDS.iter().enumerate() {
            assert_eq!((word_number(text), word(number)), (Some(number), *text));
        }
        assert_eq!((word_number("no such word"), word(WORDS.len())), (None, ""));
    }
}
