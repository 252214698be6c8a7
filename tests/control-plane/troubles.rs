//! The scenarios: which trouble, how it is made, what must be said of it.

use crate::holdup;
use crate::plane::Plane;
use crate::scenario::{Expected, Scenario, Step, await_text};
use crate::wait::{eventually, seconds};
use serde_json::json;

use Step::{Apply, Do, Refuses, Shows};

/// Slow ones first: they wait while the others are made.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        namespace: "stuck",
        steps: &[
            Apply(include_str!("scenarios/stuck.yaml")),
            Do(delete_namespace_stuck),
            Shows { path: "/api/v1/namespaces/stuck", text: "SomeFinalizersRemain" },
        ],
        expected: Some(Expected {
            layer: "termination",
            causes: &["namespace-finalizers-remaining", "namespace-content-remaining", "finalizer-blocked"],
            verdict: "blocked",
            roots: &["ConfigMap/stuck/held", "Namespace//stuck"],
            affected: &["Namespace//stuck"],
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
            verdict: "blocked",
            roots: &["Service/finalizer/held"],
            affected: &["Service/finalizer/held"],
            within: 120,
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
            verdict: "blocked",
            roots: &["Node//node-lost"],
            affected: &["StatefulSet/lost-node/db"],
            within: 60,
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
            verdict: "blocked",
            roots: &["ResourceQuota/quota/pods"],
            affected: &["Deployment/quota/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Namespace//pod-security"],
            affected: &["Deployment/pod-security/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["ValidatingAdmissionPolicy//images-by-digest"],
            affected: &["Deployment/policy/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["ValidatingWebhookConfiguration//approver"],
            affected: &["Deployment/webhook/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/missing-account/web", "ServiceAccount/missing-account/ghost"],
            affected: &["Deployment/missing-account/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/too-big/trainer"],
            affected: &["Deployment/too-big/trainer"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Node//node-gpu"],
            affected: &["Deployment/tainted/render"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/no-such-node/cache"],
            affected: &["Deployment/no-such-node/cache"],
            within: 30,
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
            verdict: "blocked",
            roots: &["PersistentVolumeClaim/missing-class/data"],
            affected: &["Deployment/missing-class/store"],
            within: 30,
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
            verdict: "blocked",
            roots: &["PersistentVolumeClaim/no-class/data"],
            affected: &["Deployment/no-class/store"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/deadline/web"],
            affected: &["Deployment/deadline/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/deadline-of-a-crash/web"],
            affected: &["Deployment/deadline-of-a-crash/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Job/back-off-limit/import"],
            affected: &["Job/back-off-limit/import"],
            within: 30,
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
            verdict: "blocked",
            roots: &["HorizontalPodAutoscaler/autoscaler/web"],
            affected: &["Deployment/autoscaler/web"],
            within: 30,
        }),
    },
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
            verdict: "blocked",
            roots: &["PodDisruptionBudget/drain/web"],
            affected: &["Deployment/drain/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/crash-loop/web"],
            affected: &["Deployment/crash-loop/web"],
            within: 30,
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
            verdict: "blocked",
            roots: &["Deployment/out-of-memory/web"],
            affected: &["Deployment/out-of-memory/web"],
            within: 30,
        }),
    },
    Scenario {
        namespace: "image",
        steps: &[Apply(include_str!("scenarios/image.yaml")), Shows { path: "/api/v1/namespaces/image/pods", text: "ImagePullBackOff" }],
        expected: Some(Expected {
            layer: "image",
            causes: &["image-not-found"],
            verdict: "blocked",
            roots: &["Deployment/image/web"],
            affected: &["Deployment/image/web"],
            within: 30,
        }),
    },
    Scenario {
        namespace: "probe",
        steps: &[Apply(include_str!("scenarios/probe.yaml")), Shows { path: "/api/v1/namespaces/probe/events", text: "statuscode: 503" }],
        expected: Some(Expected {
            layer: "readiness",
            causes: &["probe-http-status"],
            verdict: "blocked",
            roots: &["Deployment/probe/web"],
            affected: &["Deployment/probe/web"],
            within: 30,
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
