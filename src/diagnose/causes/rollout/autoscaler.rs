//! Autoscalers that cannot count or cannot scale.

use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, texts};
use crate::model::{APIService, Condition, HorizontalPodAutoscaler, ObjectRef, Seen};

const ROW: Cause = Cause { docs: "tasks/run-application/horizontal-pod-autoscale/", symptom: true, ..super::ROW };

pub(super) const UNABLE: Cause = Cause {
    id: "hpa-unable-to-scale",
    title: "An autoscaler cannot scale its target",
    explanation: "AbleToScale is False: the target does not exist, cannot be scaled, or the new size is refused.",
    told_apart: "hpa-scaling-inactive reaches its target and has no numbers to decide by.",
    cure: "Correct scaleTargetRef, or what refuses the new size.",
    judge: Judge::Autoscaler(unable),
    ..ROW
};

pub(super) const INACTIVE: Cause = Cause {
    id: "hpa-scaling-inactive",
    title: "An autoscaler has no metrics to decide by",
    explanation: "ScalingActive is False: the metrics API does not answer, a container states no request to measure against, or no pod \
                  reports. The replicas stay as they are until it has numbers again.",
    told_apart: "At 0 replicas an autoscaler is off on purpose; at its maximum it is limited, and works.",
    cure: "Restore the metrics adapter, state the requests, or fix the pods that report nothing.",
    judge: Judge::Autoscaler(inactive),
    ..ROW
};

pub(super) const DISABLED_ZERO: Cause = Cause {
    id: "hpa-disabled-zero",
    title: "An autoscaler is off because its target has 0 replicas",
    explanation: "Scaling a workload to 0 switches its autoscaler off until somebody scales it up again.",
    told_apart: "hpa-scaling-inactive wants to scale and has no metrics.",
    cure: "Scale the target to 1 or more.",
    symptom: false,
    judge: Judge::Autoscaler(disabled),
    ..ROW
};

fn reference(hpa: &HorizontalPodAutoscaler) -> ObjectRef {
    ObjectRef::new("HorizontalPodAutoscaler", &hpa.meta.namespace, &hpa.meta.name)
}

fn target(hpa: &HorizontalPodAutoscaler) -> ObjectRef {
    let target = &hpa.spec.scale_target_ref;
    let group = target.api_version.split_once('/').map_or("", |(group, _)| group);
    let own = !group.contains('.') || group.ends_with("k8s.io");
    let kind = if own { target.kind.to_string() } else { format!("{}.{group}", target.kind) };
    ObjectRef::new(kind, &hpa.meta.namespace, &target.name)
}

fn is_off(hpa: &HorizontalPodAutoscaler) -> bool {
    Condition::find(&hpa.status.conditions, "ScalingActive").is_some_and(|c| !c.is_true() && &*c.reason == "ScalingDisabled")
}

fn disabled(_: &Cx<'_>, hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let since = Condition::find(&hpa.status.conditions, "ScalingActive").and_then(|c| c.last_transition_time);
    is_off(hpa).then(|| Finding::quiet(reference(hpa), format!("off, because {} has 0 replicas", target(hpa))).since(since))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outlook {
    /// A later sync may go through with nothing changed.
    MayPass,
    Certain,
}

/// Synced every 15 s; one missed answer is none.
const SETTLES: i64 = 120;

/// Blocked where nothing but a change can help, or once it has lasted.
fn finding(cx: &Cx<'_>, hpa: &HorizontalPodAutoscaler, condition: &Condition, outlook: Outlook) -> Finding {
    let (root, since) = (reference(hpa), condition.last_transition_time);
    let fresh = since.filter(|at| outlook == Outlook::MayPass && !cx.passed(at.plus(SETTLES)));
    let finding = match fresh {
        Some(at) => Finding::delayed(Key::object(&root), root.clone()).clock(ClockKind::Retry, "autoscaler sync", Some(at.plus(SETTLES))),
        None => Finding::blocked(Key::object(&root), root.clone()),
    };
    finding.since(since).affecting(target(hpa)).fact("reason", &condition.reason).fact("replicas", hpa.status.current_replicas).evidence(
        root,
        format!("status.conditions[type={}].message", condition.kind),
        &*condition.message,
        since,
    )
}

fn unable(cx: &Cx<'_>, hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let condition = Condition::find(&hpa.status.conditions, "AbleToScale").filter(|c| &*c.status == "False")?;
    // After a rescale it holds still for a while, and says so with this status.
    if matches!(&*condition.reason, "BackoffBoth" | "BackoffDownscale" | "BackoffUpscale") {
        return None;
    }
    let target = target(hpa);
    Some(
        finding(cx, hpa, condition, Outlook::MayPass)
            .title(format!("autoscaler {} cannot scale {}", reference(hpa).place(), target))
            .because(format!("the autoscaler cannot read or set the size of {target}: {}.", condition.message.trim_end_matches('.')))
            .next(format!("Correct scaleTargetRef of {}, or what keeps {target} from being scaled.", reference(hpa).place())),
    )
}

fn inactive(cx: &Cx<'_>, hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let condition = Condition::find(&hpa.status.conditions, "ScalingActive").filter(|c| &*c.status == "False")?;
    if is_off(hpa) {
        return None;
    }
    let target = target(hpa);
    let api = metrics_api(&condition.reason);
    let why = why(&condition.message, &condition.reason);
    let finding = finding(cx, hpa, condition, why.outlook(cx, api))
        .title(format!("autoscaler {} cannot scale {}: {}", reference(hpa).place(), target.place(), why.text()))
        .because(format!("{} The replicas of {target} stay at {}.", why.sentence(api), hpa.status.current_replicas))
        .next(why.next(api, &target));
    let service = ObjectRef::new("APIService", "", api);
    let finding = match cx.get::<APIService>("", api) {
        Seen::Absent if matches!(why, Why::NoApi) => finding.evidence(service.clone(), "metadata.name", "does not exist", None),
        Seen::Is(_) | Seen::Absent | Seen::Unknown => finding,
    };
    let finding = finding.fact("metricsApi", api);
    Some(if matches!(why, Why::NoApi) { finding.waits_on(service) } else { finding })
}

/// Which aggregated API the numbers come from.
fn metrics_api(reason: &str) -> &'static str {
    match reason {
        "FailedGetExternalMetric" => "v1beta1.external.metrics.k8s.io",
        "FailedGetPodsMetric" | "FailedGetObjectMetric" => "v1beta1.custom.metrics.k8s.io",
        _ => "v1beta1.metrics.k8s.io",
    }
}

enum Why {
    NoApi,
    /// Resource, and container where it is named.
    NoRequest(String),
    Ambiguous,
    NoData,
    Other(String),
}

fn why(message: &str, reason: &str) -> Why {
    let missing = texts::captures(r"(?i)missing request for (?P<resource>[\w.-]+)(?: in container (?P<container>\S+))?", message);
    if let Some(said) = missing {
        let container = said.name("container").map(|c| format!(" in container {}", c.as_str())).unwrap_or_default();
        return Why::NoRequest(format!("{}{container}", &said["resource"]));
    }
    if matches!(reason, "AmbiguousSelector" | "SelectorRequired" | "InvalidSelector") {
        return Why::Ambiguous;
    }
    if texts::matches(
        r"(?i)could not find the requested resource|unable to handle the request|no custom metrics API|no external metrics API|connection refused|no endpoints",
        message,
    ) {
        return Why::NoApi;
    }
    if texts::matches(r"(?i)did not receive metrics|no metrics returned|no pods returned|no (?:ready )?pods|no recommendation", message) {
        return Why::NoData;
    }
    Why::Other(message.trim_end_matches('.').to_owned())
}

impl Why {
    fn text(&self) -> String {
        match self {
            Self::NoApi => "the metrics API does not answer".into(),
            Self::NoRequest(what) => format!("no request for {what}"),
            Self::Ambiguous => "its selector is missing or shared".into(),
            Self::NoData => "no pod reports metrics".into(),
            Self::Other(message) => message.clone(),
        }
    }

    /// An API that nobody registered, or a request that nobody stated, does not come by itself.
    fn outlook(&self, cx: &Cx<'_>, api: &str) -> Outlook {
        match self {
            Self::NoApi if cx.get::<APIService>("", api).is_absent() => Outlook::Certain,
            Self::NoRequest(_) | Self::Ambiguous => Outlook::Certain,
            Self::NoApi | Self::NoData | Self::Other(_) => Outlook::MayPass,
        }
    }

    fn sentence(&self, api: &str) -> String {
        match self {
            Self::NoApi => format!("the metrics API {api} does not answer."),
            Self::NoRequest(what) => format!("a share of the request is to be measured, and no request for {what} is stated."),
            Self::Ambiguous => {
                "which pods to count is not clear: the selector is missing, or several autoscalers select the same pods.".into()
            }
            Self::NoData => format!("the metrics API {api} answers and has no numbers for these pods."),
            Self::Other(message) => format!("{message}."),
        }
    }

    fn next(&self, api: &str, target: &ObjectRef) -> String {
        match self {
            Self::NoApi => format!("Install or repair what serves {api} (metrics-server, or the adapter of your metrics)."),
            Self::NoRequest(what) => format!("State a request for {what} in the template of {target}."),
            Self::Ambiguous => format!("Give {target} one autoscaler, and a selector of its own."),
            Self::NoData => format!("Look whether the pods of {target} run and are ready, and whether the metrics adapter reads them."),
            Self::Other(_) => "Lift what the condition's message names.".into(),
        }
    }
}
