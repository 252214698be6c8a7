//! Who made an object, and whether anybody has to declare it: what controllers and the control plane make by themselves need not be.

use serde_json::Value;

use crate::desired::managers::{self, Class, Operation};
use crate::desired::object::Identity;
use crate::desired::owner::{Entry, entries};

/// Whatever has an owner is made again by it.
pub fn is_owned(live: &Value) -> bool {
    live.pointer("/metadata/ownerReferences").and_then(Value::as_array).is_some_and(|owners| !owners.is_empty())
}

/// Objects that every cluster has, or that the API server and its controllers keep: (group, kind, namespace, name); "*" is any.
const ALWAYS: &[(&str, &str, &str, &str)] = &[
    ("", "Namespace", "", "default"),
    ("", "Namespace", "", "kube-system"),
    ("", "Namespace", "", "kube-public"),
    ("", "Namespace", "", "kube-node-lease"),
    ("", "ServiceAccount", "*", "default"),
    ("", "ConfigMap", "*", "kube-root-ca.crt"),
    ("", "ConfigMap", "*", "openshift-service-ca.crt"),
    ("", "ConfigMap", "kube-system", "extension-apiserver-authentication"),
    ("", "ConfigMap", "kube-system", "kube-apiserver-legacy-service-account-token-tracking"),
    ("", "Service", "default", "kubernetes"),
    ("", "Endpoints", "*", "*"),
    ("", "Event", "*", "*"),
    ("", "Node", "", "*"),
    ("events.k8s.io", "Event", "*", "*"),
    ("discovery.k8s.io", "EndpointSlice", "*", "*"),
    ("coordination.k8s.io", "*", "*", "*"),
    ("storage.k8s.io", "CSINode", "", "*"),
    ("storage.k8s.io", "CSIStorageCapacity", "*", "*"),
    ("storage.k8s.io", "VolumeAttachment", "", "*"),
    ("apps", "ControllerRevision", "*", "*"),
    ("certificates.k8s.io", "CertificateSigningRequest", "", "*"),
    ("authentication.k8s.io", "*", "*", "*"),
    ("internal.apiserver.k8s.io", "*", "", "*"),
    ("networking.k8s.io", "ServiceCIDR", "", "kubernetes"),
    ("networking.k8s.io", "IPAddress", "", "*"),
    ("resource.k8s.io", "ResourceSlice", "", "*"),
    ("scheduling.k8s.io", "PriorityClass", "", "system-cluster-critical"),
    ("scheduling.k8s.io", "PriorityClass", "", "system-node-critical"),
];

/// Labels and annotations by which the control plane knows what it keeps.
const KEPT: &[(&str, &str)] = &[
    ("labels", "kubernetes.io/bootstrapping"),
    ("labels", "kube-aggregator.kubernetes.io/automanaged"),
    ("annotations", "rbac.authorization.kubernetes.io/autoupdate"),
    ("annotations", "apf.kubernetes.io/autoupdate-spec"),
    ("annotations", "pv.kubernetes.io/provisioned-by"),
    ("annotations", "kubernetes.io/service-account.uid"),
];

/// Whether the control plane makes it by itself.
pub fn is_control_planes(object: &Identity, live: &Value) -> bool {
    let is = |wanted: &str, found: &str| wanted == "*" || wanted == found;
    let always = ALWAYS.iter().any(|(group, kind, namespace, name)| {
        object.group == *group && is(kind, &object.kind) && is(namespace, &object.namespace) && is(name, &object.name)
    });
    let has = |(map, key): &(&str, &str)| live.get("metadata").and_then(|m| m.get(*map)).is_some_and(|map| map.get(*key).is_some());
    always || KEPT.iter().any(has) || is_token(object, live) || is_controllers_account(object, live) || is_only_controllers(live)
}

/// Secrets that hold a token, or a release, and what the bootstrapping of nodes leaves behind.
fn is_token(object: &Identity, live: &Value) -> bool {
    let of_type = |text: &str| live.get("type").and_then(Value::as_str) == Some(text);
    object.group.is_empty()
        && matches!(object.kind.as_str(), "Secret" | "ConfigMap")
        && (object.name.starts_with("sh.helm.release.v1.")
            || of_type("kubernetes.io/service-account-token")
            || object.name.starts_with("bootstrap-token-") && object.namespace == "kube-system")
}

/// The accounts of the built-in controllers bear no mark: nothing of them is owned, since the controllers set nothing.
fn is_controllers_account(object: &Identity, live: &Value) -> bool {
    let metadata = &live["metadata"];
    let bare = ["labels", "annotations", "managedFields"].iter().all(|key| metadata.get(*key).is_none());
    object.kind == "ServiceAccount" && object.namespace == "kube-system" && bare
}

const CONTROL_PLANE: &[&str] =
    &["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "cloud-controller-manager", "k3s", "rke2"];

/// Nobody but the control plane ever wrote to it.
fn is_only_controllers(live: &Value) -> bool {
    let all = entries(live);
    !all.is_empty() && all.iter().all(|entry| CONTROL_PLANE.contains(&entry.manager))
}

/// The entry of whoever wrote first.
fn first<'a>(all: &'a [Entry<'a>]) -> Option<&'a Entry<'a>> {
    let whole = all.iter().filter(|entry| entry.subresource.is_empty());
    whole.min_by_key(|entry| (entry.time.is_empty(), entry.time, entry.operation != Operation::Apply, entry.manager))
}

/// The manager that made it; "" if nobody is recorded.
pub fn by(live: &Value) -> String {
    first(&entries(live)).map_or(String::new(), |entry| entry.manager.to_owned())
}

pub fn since(live: &Value) -> String {
    live.pointer("/metadata/creationTimestamp").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A tool that keeps what it asked for elsewhere declares it. `kubectl apply` on the client leaves a copy behind: without one,
/// nothing says what was applied.
pub fn is_declared(live: &Value) -> bool {
    let declares = |entry: &Entry<'_>| match entry.class {
        Class::GitOps | Class::Package => {
            entry.subresource.is_empty() && !matches!(entry.manager, "kubectl-client-side-apply" | "kubectl-last-applied")
        }
        // On the server unknown programs apply as well: most are operators.
        Class::Person | Class::Controller | Class::Injector | Class::Bookkeeping | Class::Unknown => false,
    };
    entries(live).iter().any(declares)
}

/// A known controller made it, from something else.
pub fn is_derived(live: &Value) -> bool {
    let all = entries(live);
    first(&all).is_some_and(|entry| matches!(managers::class(entry.manager, entry.operation), Class::Controller | Class::Injector))
}

/// How the names begin of claims that a StatefulSet makes: they have no owner, and stay when it goes.
pub fn claims_begin(live: &Value) -> impl Iterator<Item = String> {
    let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let templates = live.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let name = text(live, "/metadata/name").unwrap_or_default();
    templates.into_iter().flatten().filter_map(move |template| Some(format!("{}-{name}-", text(template, "/metadata/name")?)))
}

/// The same of a claim whose name ends in a number.
pub fn template_of(object: &Identity) -> Option<&str> {
    let start = object.name.trim_end_matches(|c: char| c.is_ascii_digit());
    (object.kind == "PersistentVolumeClaim" && start.ends_with('-') && start.len() < object.name.len()).then_some(start)
}

/// Last parts of labels and annotations that name somebody who answers for an object.
const OWNERS: &[&str] = &["owner", "owned-by", "team", "squad", "contact", "maintainer", "maintainers", "responsible", "managed-by"];

pub fn has_owner_label(live: &Value) -> bool {
    let metadata = &live["metadata"];
    let maps = ["labels", "annotations"].into_iter().filter_map(|map| metadata.get(map).and_then(Value::as_object));
    maps.flat_map(|map| map.iter()).any(|(key, value)| {
        OWNERS.contains(&key.rsplit('/').next().unwrap_or(key).to_lowercase().as_str()) && value.as_str().is_some_and(|v| !v.is_empty())
    })
}
