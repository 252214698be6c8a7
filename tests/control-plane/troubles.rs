//! The scenarios: which trouble, how it is made, what must be said of it.

use crate::holdup;
use crate::plane::Plane;
use crate::scenario::{Expected, Scenario, Step, await_text};
use crate::wait::{eventually, seconds};
use serde_json::json;

use Step::{Apply, Do, Refuses, Shows};

/// What is blocked, and can be said at once.
const USUAL: Expected =
    Expected { layer: "", causes: &[], verdicts: &["blocked"], roots: &[], affected: &[], consequences: &[], within: 30 };

/// Slow ones first: they wait while the others are made.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        namespace: "drain",
        steps: &[
            Apply(include_str!("scenarios/drain.yaml")),
            Shows { path: "/apis/policy/v1/namespaces/drain/poddisruptionbudgets", text: "InsufficientPods" },
            Shows { path: "/apis/apps/v1/namespaces/drain/deployments", text: "\"readyReplicas\":1" },
            Do(drain),
        ],
        expected: Some(Expected {
            layer: "termination",
            causes: &["pdb-blocks-eviction"],
            roots: &["PodDisruptionBudget/drain/web"],
            affected: &["Node//node-drained", "PodDisruptionBudget/drain/web"],
            // A drain that has just begun may still end.
            within: 150,
            ..USUAL
        }),
    },
    Scenario {
        namespace: "stuck",
        steps: &[
            Apply(include_str!("scenarios/stuck.yaml")),
            Do(delete_namespace_stuck),
            Shows { path: "/api/v1/namespaces/stuck", text: "SomeFinalizersRemain" },
        ],
        expected: Some(Expected {
            layer: "termination",
            causes: &["finalizer-blocked"],
            roots: &["ConfigMap/stuck/held"],
            affected: &["ConfigMap/stuck/held"],
            verdicts: &["delayed", "blocked"],
            consequences: &["namespace-finalizers-remaining"],
            within: 200,
        }),
    },
    Scenario {
        namespace: "finalizer",
        steps: &[
            Apply(include_str!("scenarios/finalizer.yaml")),
            Do(delete_service_held),
            Shows { path: "/api/v1/namespaces/finalizer/services/held", text: "deletionTimestamp" },
        ],
        expected: Some(Expected {
            layer: "termination",
            causes: &["finalizer-blocked"],
            roots: &["Service/finalizer/held"],
            affected: &["Service/finalizer/held"],
            // Whoever owns the finalizer may still come: for five minutes it is delayed.
            verdicts: &["delayed", "blocked"],
            within: 120,
            ..USUAL
        }),
    },
    Scenario {
        namespace: "lost-node",
        steps: &[
            Apply(include_str!("scenarios/lost-node.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/lost-node/statefulsets/db", text: "\"readyReplicas\":1" },
            Do(lose_node),
            // The taint manager has evicted the pod, and nobody is left to end it.
            Shows { path: "/api/v1/namespaces/lost-node/pods/db-0", text: "deletionTimestamp" },
        ],
        expected: Some(Expected {
            layer: "node",
            causes: &["node-unreachable"],
            roots: &["Node//node-lost"],
            affected: &["StatefulSet/lost-node/db"],
            within: 60,
            ..USUAL
        }),
    },
    Scenario {
        namespace: "quota",
        steps: &[
            Apply(include_str!("scenarios/quota.yaml")),
            Shows { path: "/api/v1/namespaces/quota/resourcequotas/pods", text: "\"used\":{\"pods\":\"0\"}" },
            Apply(include_str!("scenarios/quota-workload.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/quota/deployments/web", text: "exceeded quota: pods" },
        ],
        expected: Some(Expected {
            layer: "admission",
            causes: &["quota-exceeded"],
            roots: &["ResourceQuota/quota/pods"],
            affected: &["Deployment/quota/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "pod-security",
        steps: &[
            Apply(include_str!("scenarios/pod-security.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/pod-security/replicasets", text: "violates PodSecurity" },
        ],
        expected: Some(Expected {
            layer: "admission",
            causes: &["podsecurity-violation"],
            roots: &["Namespace//pod-security"],
            affected: &["Deployment/pod-security/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "policy",
        steps: &[
            Apply(include_str!("scenarios/policy.yaml")),
            Refuses("images must be named by digest"),
            Apply(include_str!("scenarios/policy-workload.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/policy/replicasets", text: "denied request" },
        ],
        expected: Some(Expected {
            layer: "admission",
            causes: &["validating-admission-policy-denied"],
            roots: &["ValidatingAdmissionPolicy//images-by-digest"],
            affected: &["Deployment/policy/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "webhook",
        steps: &[
            Apply(include_str!("scenarios/webhook.yaml")),
            Refuses("failed calling webhook"),
            Apply(include_str!("scenarios/webhook-workload.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/webhook/replicasets", text: "no endpoints available for service" },
        ],
        expected: Some(Expected {
            layer: "admission",
            causes: &["webhook-unreachable"],
            roots: &["ValidatingWebhookConfiguration//approver"],
            affected: &["Deployment/webhook/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "missing-account",
        steps: &[
            Apply(include_str!("scenarios/missing-account.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/missing-account/replicasets", text: "error looking up service account" },
        ],
        expected: Some(Expected {
            layer: "admission",
            causes: &["serviceaccount-missing"],
            roots: &["Deployment/missing-account/web", "ServiceAccount/missing-account/ghost"],
            affected: &["Deployment/missing-account/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "too-big",
        steps: &[
            Apply(include_str!("scenarios/too-big.yaml")),
            Shows { path: "/api/v1/namespaces/too-big/pods", text: "Insufficient cpu" },
        ],
        expected: Some(Expected {
            layer: "scheduling",
            causes: &["insufficient-resource"],
            roots: &["Deployment/too-big/trainer"],
            affected: &["Deployment/too-big/trainer"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "tainted",
        steps: &[
            Apply(include_str!("scenarios/tainted.yaml")),
            Shows { path: "/api/v1/namespaces/tainted/pods", text: "untolerated taint" },
        ],
        expected: Some(Expected {
            layer: "scheduling",
            causes: &["untolerated-taint"],
            roots: &["Node//node-gpu"],
            affected: &["Deployment/tainted/render"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "no-such-node",
        steps: &[
            Apply(include_str!("scenarios/no-such-node.yaml")),
            Shows { path: "/api/v1/namespaces/no-such-node/pods", text: "didn't match Pod's node affinity/selector" },
        ],
        expected: Some(Expected {
            layer: "scheduling",
            causes: &["node-affinity-mismatch"],
            roots: &["Deployment/no-such-node/cache"],
            affected: &["Deployment/no-such-node/cache"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "missing-class",
        steps: &[
            Apply(include_str!("scenarios/missing-class.yaml")),
            Shows { path: "/api/v1/namespaces/missing-class/pods", text: "unbound immediate PersistentVolumeClaims" },
            Shows { path: "/api/v1/namespaces/missing-class/events", text: "ProvisioningFailed" },
        ],
        expected: Some(Expected {
            layer: "storage",
            causes: &["pvc-storageclass-not-found"],
            roots: &["PersistentVolumeClaim/missing-class/data"],
            affected: &["Deployment/missing-class/store"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "no-class",
        steps: &[
            Apply(include_str!("scenarios/no-class.yaml")),
            Shows { path: "/api/v1/namespaces/no-class/events", text: "no storage class is set" },
        ],
        expected: Some(Expected {
            layer: "storage",
            causes: &["pvc-no-class-no-pv"],
            roots: &["PersistentVolumeClaim/no-class/data"],
            affected: &["Deployment/no-class/store"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "deadline",
        steps: &[
            Apply(include_str!("scenarios/deadline.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/deadline/deployments", text: "ProgressDeadlineExceeded" },
        ],
        expected: Some(Expected {
            layer: "rollout",
            causes: &["deployment-deadline-exceeded"],
            roots: &["Deployment/deadline/web"],
            affected: &["Deployment/deadline/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "deadline-of-a-crash",
        steps: &[
            Apply(include_str!("scenarios/deadline-of-a-crash.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/deadline-of-a-crash/deployments", text: "ProgressDeadlineExceeded" },
        ],
        expected: Some(Expected {
            layer: "runtime",
            causes: &["crashloop-backoff", "exit-code"],
            roots: &["Deployment/deadline-of-a-crash/web"],
            affected: &["Deployment/deadline-of-a-crash/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "back-off-limit",
        steps: &[
            Apply(include_str!("scenarios/back-off-limit.yaml")),
            Shows { path: "/apis/batch/v1/namespaces/back-off-limit/jobs", text: "\"type\":\"Failed\"" },
        ],
        expected: Some(Expected {
            layer: "rollout",
            causes: &["job-backoff-limit"],
            roots: &["Job/back-off-limit/import"],
            affected: &["Job/back-off-limit/import"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "autoscaler",
        steps: &[
            Apply(include_str!("scenarios/autoscaler.yaml")),
            Shows { path: "/apis/autoscaling/v2/namespaces/autoscaler/horizontalpodautoscalers", text: "FailedGetResourceMetric" },
        ],
        expected: Some(Expected {
            layer: "rollout",
            causes: &["hpa-scaling-inactive"],
            roots: &["HorizontalPodAutoscaler/autoscaler/web"],
            affected: &["Deployment/autoscaler/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "crash-loop",
        steps: &[
            Apply(include_str!("scenarios/crash-loop.yaml")),
            Shows { path: "/api/v1/namespaces/crash-loop/pods", text: "CrashLoopBackOff" },
        ],
        expected: Some(Expected {
            layer: "runtime",
            causes: &["crashloop-backoff", "exit-code"],
            roots: &["Deployment/crash-loop/web"],
            affected: &["Deployment/crash-loop/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "out-of-memory",
        steps: &[
            Apply(include_str!("scenarios/out-of-memory.yaml")),
            Shows { path: "/api/v1/namespaces/out-of-memory/pods", text: "OOMKilled" },
        ],
        expected: Some(Expected {
            layer: "runtime",
            causes: &["oom-killed"],
            roots: &["Deployment/out-of-memory/web"],
            affected: &["Deployment/out-of-memory/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "image",
        steps: &[Apply(include_str!("scenarios/image.yaml")), Shows { path: "/api/v1/namespaces/image/pods", text: "ImagePullBackOff" }],
        expected: Some(Expected {
            layer: "image",
            causes: &["image-not-found"],
            roots: &["Deployment/image/web"],
            affected: &["Deployment/image/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "probe",
        steps: &[Apply(include_str!("scenarios/probe.yaml")), Shows { path: "/api/v1/namespaces/probe/events", text: "statuscode: 503" }],
        expected: Some(Expected {
            layer: "readiness",
            causes: &["probe-http-status"],
            // The probe goes on asking; it is blocked when it has done so for long.
            verdicts: &["delayed", "blocked"],
            roots: &["Deployment/probe/web"],
            affected: &["Deployment/probe/web"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "webhook-chain",
        steps: &[
            Apply(include_str!("scenarios/webhook-chain.yaml")),
            Shows { path: "/api/v1/namespaces/webhook-chain/pods", text: "CrashLoopBackOff" },
            Refuses("failed calling webhook"),
            Apply(include_str!("scenarios/webhook-chain-workload.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/webhook-chain/replicasets", text: "no endpoints available for service" },
        ],
        expected: Some(Expected {
            layer: "runtime",
            causes: &["crashloop-backoff", "exit-code"],
            roots: &["Deployment/webhook-chain/approver"],
            affected: &["Deployment/webhook-chain/approver", "Deployment/webhook-chain/web"],
            consequences: &["webhook-unreachable"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "init-chain",
        steps: &[
            Apply(include_str!("scenarios/init-chain.yaml")),
            Shows { path: "/api/v1/namespaces/init-chain/pods", text: "CrashLoopBackOff" },
            Shows { path: "/api/v1/namespaces/init-chain/pods", text: "PodInitializing" },
        ],
        expected: Some(Expected {
            layer: "runtime",
            causes: &["crashloop-backoff", "exit-code"],
            roots: &["Deployment/init-chain/db"],
            affected: &["Deployment/init-chain/db", "Deployment/init-chain/web"],
            consequences: &["init-container-running"],
            ..USUAL
        }),
    },
    Scenario {
        namespace: "healthy",
        steps: &[
            Apply(include_str!("scenarios/healthy.yaml")),
            Shows { path: "/apis/apps/v1/namespaces/healthy/deployments", text: "\"readyReplicas\":2" },
            Shows { path: "/apis/apps/v1/namespaces/healthy/daemonsets", text: "\"numberReady\":2" },
            Shows { path: "/apis/batch/v1/namespaces/healthy/jobs", text: "\"succeeded\":1" },
        ],
        expected: None,
    },
];

/// Two plain nodes, and one each for the scenarios that need a node of their own; a taint keeps other pods away.
pub fn add_nodes(plane: &Plane) {
    for name in ["node-a", "node-b"] {
        plane.kubelet().add_node(name, &json!({}), &json!({}));
    }
    let gpu = json!({"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]});
    plane.kubelet().add_node("node-gpu", &json!({"pool": "gpu"}), &gpu);
    for pool in ["lost", "drained"] {
        let own = json!({"taints": [{"key": "test.example/pool", "value": pool, "effect": "NoSchedule"}]});
        plane.kubelet().add_node(&format!("node-{pool}"), &json!({"pool": pool}), &own);
    }
}

fn delete_namespace_stuck(plane: &Plane) {
    plane.api.delete("/api/v1/namespaces/stuck").expect("the deletion is accepted");
}

fn delete_service_held(plane: &Plane) {
    plane.api.delete("/api/v1/namespaces/finalizer/services/held").expect("the deletion is accepted");
}

fn lose_node(plane: &Plane) {
    plane.kubelet().lose_node("node-lost");
    await_text(plane, "/api/v1/nodes/node-lost", "node.kubernetes.io/unreachable");
}

/// The budget refuses each eviction, so the drain gives up at its own time-out; the node stays cordoned.
fn drain(plane: &Plane) {
    let drained = plane.kubectl(&["drain", "node-drained", "--ignore-daemonsets", "--timeout=1s"]);
    let refusal = drained.expect_err("the drain cannot end");
    assert!(refusal.contains("violate the pod's disruption budget"), "{refusal}");
}

/// All troubles stand at once here, and each is still named as it is alone.
pub fn one_report_names_all(plane: &Plane) {
    eventually(seconds(60), "every trouble is named right in one report", || {
        let report = holdup::report(plane, &["-A"])?;
        let wrong = SCENARIOS.iter().filter_map(|scenario| Some((scenario.namespace, scenario.judged_right(&report).err()?)));
        let wrong: Vec<String> = wrong.map(|(namespace, why)| format!("{namespace}: {why}")).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    });
}
