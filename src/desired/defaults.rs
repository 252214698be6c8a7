//! The values that the API server fills in where a manifest says nothing: a table of constants, and the few that depend on what stands
//! around them. From Kubernetes' defaulting functions; a schema of the live cluster goes before this.

use serde_json::{Value, json};

use super::place::Place;

/// Fields whose default is one value.
const CONSTANTS: &[(&str, &str)] = &[
    ("core.Container.terminationMessagePath", r#""/dev/termination-log""#),
    ("core.Container.terminationMessagePolicy", r#""File""#),
    ("core.EphemeralContainer.terminationMessagePath", r#""/dev/termination-log""#),
    ("core.EphemeralContainer.terminationMessagePolicy", r#""File""#),
    ("core.ContainerPort.protocol", r#""TCP""#),
    ("core.Probe.timeoutSeconds", "1"),
    ("core.Probe.periodSeconds", "10"),
    ("core.Probe.successThreshold", "1"),
    ("core.Probe.failureThreshold", "3"),
    ("core.HTTPGetAction.path", r#""/""#),
    ("core.HTTPGetAction.scheme", r#""HTTP""#),
    ("core.GRPCAction.service", r#""""#),
    ("core.PodSpec.dnsPolicy", r#""ClusterFirst""#),
    ("core.PodSpec.restartPolicy", r#""Always""#),
    ("core.PodSpec.securityContext", "{}"),
    ("core.PodSpec.terminationGracePeriodSeconds", "30"),
    ("core.PodSpec.schedulerName", r#""default-scheduler""#),
    ("core.SecretVolumeSource.defaultMode", "420"),
    ("core.ConfigMapVolumeSource.defaultMode", "420"),
    ("core.DownwardAPIVolumeSource.defaultMode", "420"),
    ("core.ProjectedVolumeSource.defaultMode", "420"),
    ("core.ServiceAccountTokenProjection.expirationSeconds", "3600"),
    ("core.HostPathVolumeSource.type", r#""""#),
    ("core.Volume.emptyDir", "{}"),
    ("core.ObjectFieldSelector.apiVersion", r#""v1""#),
    ("core.ISCSIVolumeSource.iscsiInterface", r#""default""#),
    ("core.ISCSIPersistentVolumeSource.iscsiInterface", r#""default""#),
    ("core.RBDVolumeSource.pool", r#""rbd""#),
    ("core.RBDVolumeSource.user", r#""admin""#),
    ("core.RBDVolumeSource.keyring", r#""/etc/ceph/keyring""#),
    ("core.RBDPersistentVolumeSource.pool", r#""rbd""#),
    ("core.RBDPersistentVolumeSource.user", r#""admin""#),
    ("core.RBDPersistentVolumeSource.keyring", r#""/etc/ceph/keyring""#),
    ("core.AzureDiskVolumeSource.cachingMode", r#""ReadWrite""#),
    ("core.AzureDiskVolumeSource.kind", r#""Shared""#),
    ("core.AzureDiskVolumeSource.fsType", r#""ext4""#),
    ("core.AzureDiskVolumeSource.readOnly", "false"),
    ("core.ScaleIOVolumeSource.storageMode", r#""ThinProvisioned""#),
    ("core.ScaleIOVolumeSource.fsType", r#""xfs""#),
    ("core.ReplicationControllerSpec.replicas", "1"),
    ("core.ServiceSpec.type", r#""ClusterIP""#),
    ("core.ServiceSpec.sessionAffinity", r#""None""#),
    ("core.ServiceSpec.internalTrafficPolicy", r#""Cluster""#),
    ("core.ServiceSpec.externalTrafficPolicy", r#""Cluster""#),
    ("core.ServiceSpec.allocateLoadBalancerNodePorts", "true"),
    ("core.ClientIPConfig.timeoutSeconds", "10800"),
    ("core.ServicePort.protocol", r#""TCP""#),
    ("core.EndpointPort.protocol", r#""TCP""#),
    ("core.PersistentVolumeSpec.persistentVolumeReclaimPolicy", r#""Retain""#),
    ("core.PersistentVolumeSpec.volumeMode", r#""Filesystem""#),
    ("core.PersistentVolumeClaimSpec.volumeMode", r#""Filesystem""#),
    ("core.Secret.type", r#""Opaque""#),
    ("apps.DeploymentSpec.replicas", "1"),
    ("apps.DeploymentSpec.revisionHistoryLimit", "10"),
    ("apps.DeploymentSpec.progressDeadlineSeconds", "600"),
    ("apps.DeploymentStrategy.type", r#""RollingUpdate""#),
    ("apps.RollingUpdateDeployment.maxUnavailable", r#""25%""#),
    ("apps.RollingUpdateDeployment.maxSurge", r#""25%""#),
    ("apps.ReplicaSetSpec.replicas", "1"),
    ("apps.StatefulSetSpec.replicas", "1"),
    ("apps.StatefulSetSpec.podManagementPolicy", r#""OrderedReady""#),
    ("apps.StatefulSetSpec.revisionHistoryLimit", "10"),
    ("apps.StatefulSetUpdateStrategy.type", r#""RollingUpdate""#),
    ("apps.RollingUpdateStatefulSetStrategy.partition", "0"),
    ("apps.RollingUpdateStatefulSetStrategy.maxUnavailable", "1"),
    ("apps.StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted", r#""Retain""#),
    ("apps.StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled", r#""Retain""#),
    ("apps.DaemonSetSpec.revisionHistoryLimit", "10"),
    ("apps.DaemonSetUpdateStrategy.type", r#""RollingUpdate""#),
    ("apps.RollingUpdateDaemonSet.maxUnavailable", "1"),
    ("apps.RollingUpdateDaemonSet.maxSurge", "0"),
    ("batch.CronJobSpec.concurrencyPolicy", r#""Allow""#),
    ("batch.CronJobSpec.suspend", "false"),
    ("batch.CronJobSpec.successfulJobsHistoryLimit", "3"),
    ("batch.CronJobSpec.failedJobsHistoryLimit", "1"),
    ("batch.PodFailurePolicyOnPodConditionsPattern.status", r#""True""#),
    ("networking.NetworkPolicyPort.protocol", r#""TCP""#),
    ("networking.IngressClassParametersReference.scope", r#""Cluster""#),
    ("rbac.RoleRef.apiGroup", r#""rbac.authorization.k8s.io""#),
    ("autoscaling.HorizontalPodAutoscalerSpec.minReplicas", "1"),
    ("autoscalingv2.HorizontalPodAutoscalerSpec.minReplicas", "1"),
    ("autoscalingv2.HPAScalingRules.selectPolicy", r#""Max""#),
    (
        "autoscalingv2.HorizontalPodAutoscalerSpec.metrics",
        r#"[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]"#,
    ),
    ("admissionregistration.ValidatingWebhook.failurePolicy", r#""Fail""#),
    ("admissionregistration.ValidatingWebhook.matchPolicy", r#""Equivalent""#),
    ("admissionregistration.ValidatingWebhook.namespaceSelector", "{}"),
    ("admissionregistration.ValidatingWebhook.objectSelector", "{}"),
    ("admissionregistration.ValidatingWebhook.timeoutSeconds", "10"),
    ("admissionregistration.MutatingWebhook.failurePolicy", r#""Fail""#),
    ("admissionregistration.MutatingWebhook.matchPolicy", r#""Equivalent""#),
    ("admissionregistration.MutatingWebhook.namespaceSelector", "{}"),
    ("admissionregistration.MutatingWebhook.objectSelector", "{}"),
    ("admissionregistration.MutatingWebhook.timeoutSeconds", "10"),
    ("admissionregistration.MutatingWebhook.reinvocationPolicy", r#""Never""#),
    ("admissionregistration.RuleWithOperations.scope", r#""*""#),
    ("admissionregistration.NamedRuleWithOperations.scope", r#""*""#),
    ("admissionregistration.ServiceReference.port", "443"),
    ("admissionregistration.MatchResources.matchPolicy", r#""Equivalent""#),
    ("admissionregistration.MatchResources.namespaceSelector", "{}"),
    ("admissionregistration.MatchResources.objectSelector", "{}"),
    ("admissionregistration.ValidatingAdmissionPolicySpec.failurePolicy", r#""Fail""#),
    ("admissionregistration.MutatingAdmissionPolicySpec.failurePolicy", r#""Fail""#),
    ("apiregistration.ServiceReference.port", "443"),
    ("apiextensions.ServiceReference.port", "443"),
    ("apiextensions.CustomResourceConversion.strategy", r#""None""#),
    ("storage.StorageClass.reclaimPolicy", r#""Delete""#),
    ("storage.StorageClass.volumeBindingMode", r#""Immediate""#),
    ("storage.CSIDriverSpec.attachRequired", "true"),
    ("storage.CSIDriverSpec.podInfoOnMount", "false"),
    ("storage.CSIDriverSpec.storageCapacity", "false"),
    ("storage.CSIDriverSpec.fsGroupPolicy", r#""ReadWriteOnceWithFSType""#),
    ("storage.CSIDriverSpec.volumeLifecycleModes", r#"["Persistent"]"#),
    ("storage.CSIDriverSpec.requiresRepublish", "false"),
    ("storage.CSIDriverSpec.seLinuxMount", "false"),
    ("storage.CSIDriverSpec.preventPodSchedulingIfMissing", "false"),
    ("scheduling.PriorityClass.preemptionPolicy", r#""PreemptLowerPriority""#),
    ("flowcontrol.FlowSchemaSpec.matchingPrecedence", "1000"),
    ("flowcontrol.ExemptPriorityLevelConfiguration.nominalConcurrencyShares", "0"),
    ("flowcontrol.ExemptPriorityLevelConfiguration.lendablePercent", "0"),
    ("flowcontrol.LimitedPriorityLevelConfiguration.nominalConcurrencyShares", "30"),
    ("flowcontrol.LimitedPriorityLevelConfiguration.lendablePercent", "0"),
    ("flowcontrol.QueuingConfiguration.handSize", "8"),
    ("flowcontrol.QueuingConfiguration.queues", "64"),
    ("flowcontrol.QueuingConfiguration.queueLengthLimit", "50"),
    ("resource.ExactDeviceRequest.allocationMode", r#""ExactCount""#),
    ("resource.ExactDeviceRequest.count", "1"),
    ("resource.DeviceSubRequest.allocationMode", r#""ExactCount""#),
    ("resource.DeviceSubRequest.count", "1"),
];

/// Whether what live holds at this place is what the server fills in when nothing is said.
pub fn is_default(place: &Place<'_>) -> bool {
    let Some(live) = place.live else { return false };
    if let Some(default) = place.shape.default() {
        return super::equal::same(place.shape, ("", place.path.last()), Some(default), Some(live));
    }
    let name = place.shape.name();
    let constant = CONSTANTS.iter().find(|(field, _)| *field == name).and_then(|(_, text)| serde_json::from_str::<Value>(text).ok());
    constant.is_some_and(|default| default == *live) || by_surroundings(place, name, live)
}

/// Defaults that depend on what stands beside or around them.
fn by_surroundings(place: &Place<'_>, name: &str, live: &Value) -> bool {
    let beside = |field: &str| place.live_parent.and_then(|parent| parent.get(field));
    let cx = place.cx;
    match name {
        "core.Container.imagePullPolicy" | "core.EphemeralContainer.imagePullPolicy" => {
            place.images().any(|image| *live == pull_policy(image))
        }
        "core.ImageVolumeSource.pullPolicy" => beside("reference").and_then(Value::as_str).is_some_and(|image| *live == pull_policy(image)),
        "core.ContainerPort.hostPort" => {
            place.path.last() == "hostPort" && beside("containerPort") == Some(live) && place.is_on_host_network()
        }
        "core.PodSpec.serviceAccount" => beside("serviceAccountName") == Some(live),
        "core.PodSpec.enableServiceLinks" => cx.kind == "Pod" && *live == Value::Bool(true),
        "core.ResourceRequirements.requests" if cx.kind == "Pod" => {
            place.live_parent.and_then(|requests| requests.get(place.path.last())) == Some(live)
                && place.live_grandparent.and_then(|r| r.get("limits")).and_then(|l| l.get(place.path.last())) == Some(live)
        }
        "core.ServicePort.targetPort" => beside("port") == Some(live),
        "core.LimitRangeItem.default" | "core.LimitRangeItem.defaultRequest" => {
            let sources = if name.ends_with("defaultRequest") { ["default", "min"] } else { ["max", "max"] };
            let same_in = |source: &str| place.live_grandparent.and_then(|i| i.get(source)).and_then(|s| s.get(place.path.last()));
            sources.iter().any(|source| same_in(source) == Some(live))
        }
        "rbac.Subject.apiGroup" => match beside("kind").and_then(Value::as_str) {
            Some("ServiceAccount") => *live == json!(""),
            _ => *live == json!("rbac.authorization.k8s.io"),
        },
        "networking.NetworkPolicySpec.policyTypes" => *live == policy_types(place.live_parent),
        "core.PersistentVolumeClaim.apiVersion" => *live == json!("v1"),
        "batch.JobSpec.completions" => cx.kind == "Job" && *live == json!(1) && beside("parallelism") == Some(&json!(1)),
        "batch.JobSpec.parallelism" => cx.kind == "Job" && *live == json!(1),
        "batch.JobSpec.backoffLimit" => {
            let limit = if beside("backoffLimitPerIndex").is_some() { json!(2_147_483_647) } else { json!(6) };
            cx.kind == "Job" && *live == limit
        }
        "batch.JobSpec.completionMode" => cx.kind == "Job" && *live == json!("NonIndexed"),
        "batch.JobSpec.suspend" | "batch.JobSpec.manualSelector" => cx.kind == "Job" && *live == json!(false),
        "batch.JobSpec.podReplacementPolicy" => {
            let policy = if beside("podFailurePolicy").is_some() { "Failed" } else { "TerminatingOrFailed" };
            cx.kind == "Job" && *live == json!(policy)
        }
        "autoscalingv2.HPAScalingRules.stabilizationWindowSeconds" => place.path.passes(&["scaleUp"]) && *live == json!(0),
        "autoscalingv2.HPAScalingRules.policies" => *live == scaling_policies(place.path.passes(&["scaleUp"])),
        "apiextensions.CustomResourceDefinitionNames.singular" => {
            beside("kind").and_then(Value::as_str).is_some_and(|kind| *live == json!(kind.to_lowercase()))
        }
        "apiextensions.CustomResourceDefinitionNames.listKind" => {
            beside("kind").and_then(Value::as_str).is_some_and(|kind| *live == json!(format!("{kind}List")))
        }
        "meta.ObjectMeta.labels" if cx.kind == "Job" => {
            cx.live.pointer("/spec/template/metadata/labels").and_then(|labels| labels.get(place.path.last())) == Some(live)
        }
        _ => is_claim_type(place, live),
    }
}

/// The kind of a volume claim template, which manifests leave out.
fn is_claim_type(place: &Place<'_>, live: &Value) -> bool {
    let fields: Vec<&str> = place.path.fields().collect();
    match fields.as_slice() {
        [.., "volumeClaimTemplates", "apiVersion"] => *live == json!("v1"),
        [.., "volumeClaimTemplates", "kind"] => *live == json!("PersistentVolumeClaim"),
        _ => false,
    }
}

fn policy_types(spec: Option<&Value>) -> Value {
    let egress = spec.and_then(|s| s.get("egress")).and_then(Value::as_array).is_some_and(|rules| !rules.is_empty());
    if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) }
}

fn scaling_policies(up: bool) -> Value {
    let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    if up { json!([{"type": "Pods", "value": 4, "periodSeconds": 15}, percent]) } else { json!([percent]) }
}

/// Decided once, when the pod template is made: always for `latest` or no tag at all, else only if the image is not there.
fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or_default();
    let is_latest = !image.contains('@') && name.rsplit_once(':').is_none_or(|(_, tag)| tag == "latest");
    if is_latest { "Always" } else { "IfNotPresent" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pull_policy_follows_tag_and_digest() {
        for (image, policy) in [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("registry:5000/nginx", "Always"),
            ("nginx:1.27", "IfNotPresent"),
            ("nginx@sha256:abc", "IfNotPresent"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }

    #[test]
    fn every_constant_is_json() {
        assert!(CONSTANTS.iter().all(|(_, text)| serde_json::from_str::<Value>(text).is_ok()));
    }
}
