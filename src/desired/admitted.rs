//! What admission is known to give a Pod when it is created, where no managedFields are left to say that nobody owns it: `kubectl get
//! -o json` leaves them out. Judges nothing that somebody asked for.

use serde_json::Value;

use super::path::Step;
use super::place::Place;

/// The plugin or webhook behind something that only the live Pod has.
pub fn by(place: &Place<'_>) -> Option<&'static str> {
    if place.cx.kind != "Pod" || !place.cx.group.is_empty() {
        return None;
    }
    let fields: Vec<&str> = place.path.fields().collect();
    match fields.as_slice() {
        ["spec", "priority" | "preemptionPolicy"] => Some("the Priority admission plugin fills it in"),
        ["spec", "serviceAccountName"] if place.live? == "default" => Some("the ServiceAccount admission plugin fills it in"),
        ["spec", "volumes" | "containers" | "initContainers", ..] if is_credential(place) => {
            Some("the ServiceAccount admission plugin mounts the credential of the account")
        }
        ["spec", "tolerations", ..] if is_grace(place) => Some("the DefaultTolerationSeconds admission plugin gives every Pod these 300 s"),
        ["spec", "volumes" | "containers" | "initContainers", ..] if is_of_mesh(place) => Some("the injector of the service mesh added it"),
        ["metadata", "annotations", name] if NOTES.contains(name) => Some("written by what admission added to the Pod"),
        ["metadata", "labels" | "annotations", name] => {
            let mesh = injector(name)?;
            is_injected(place.cx.live, mesh).then_some("the injector that gave the Pod its sidecar added it")
        }
        _ => None,
    }
}

/// Whether a label or annotation is one that injectors give, where nothing in the object shows that one was at work: then whether it
/// is theirs or somebody's is not known.
pub fn may_be_injected(place: &Place<'_>) -> bool {
    let fields: Vec<&str> = place.path.fields().collect();
    matches!(fields.as_slice(), ["metadata", "labels" | "annotations", name] if injector(name).is_some())
}

/// Annotations by which injectors and plugins say what they did.
const NOTES: [&str; 10] = [
    "kubernetes.io/limit-ranger",
    "openshift.io/scc",
    "security.openshift.io/validated-scc-subject-type",
    "linkerd.io/created-by",
    "linkerd.io/proxy-version",
    "linkerd.io/trust-root-sha256",
    "vault.hashicorp.com/agent-inject-status",
    "policies.kyverno.io/last-applied-patches",
    "autopilot.gke.io/resource-adjustment",
    ISTIO,
];

const ISTIO: &str = "sidecar.istio.io/status";

/// Who injects a sidecar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Injector {
    Istio,
    Linkerd,
    /// More than one of them does.
    Any,
}

/// Labels and annotations that injectors give beside the sidecar: what they begin with, and whose they are.
const GIVEN: &[(&str, Injector)] = &[
    ("security.istio.io/tlsMode", Injector::Istio),
    ("service.istio.io/canonical-", Injector::Istio),
    ("istio.io/rev", Injector::Istio),
    ("topology.istio.io/", Injector::Istio),
    ("sidecar.istio.io/", Injector::Istio),
    ("prometheus.io/", Injector::Istio),
    ("linkerd.io/", Injector::Linkerd),
    ("config.linkerd.io/", Injector::Linkerd),
    ("viz.linkerd.io/tap-enabled", Injector::Linkerd),
    ("kubectl.kubernetes.io/default-container", Injector::Any),
    ("kubectl.kubernetes.io/default-logs-container", Injector::Any),
];

fn injector(name: &str) -> Option<Injector> {
    GIVEN.iter().find(|(start, _)| name.starts_with(start)).map(|(_, injector)| *injector)
}

/// The proxy that the injector gave is there, or the note in which it says what it did.
fn is_injected(pod: &Value, by: Injector) -> bool {
    let has_note = |name: &str| pod.pointer("/metadata/annotations").is_some_and(|notes| notes.get(name).is_some());
    let lists = ["/spec/containers", "/spec/initContainers"].into_iter().filter_map(|list| pod.pointer(list)?.as_array());
    let names: Vec<&str> = lists.flatten().filter_map(|container| container.get("name")?.as_str()).collect();
    let istio = has_note(ISTIO) || names.contains(&"istio-proxy");
    let linkerd = has_note("linkerd.io/proxy-version") || names.contains(&"linkerd-proxy");
    match by {
        Injector::Istio => istio,
        Injector::Linkerd => linkerd,
        Injector::Any => istio || linkerd,
    }
}

/// The names and paths of the items in which this is.
fn items<'a>(place: &'a Place<'_>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let keys = place.path.steps().iter().flat_map(|step| match step {
        Step::Item(keys) => keys.as_slice(),
        Step::Field(_) | Step::Index(_) => &[],
    });
    keys.map(|(key, value)| (key.as_str(), value.as_str()))
}

fn is_credential(place: &Place<'_>) -> bool {
    items(place).any(|(key, value)| match key {
        "name" => value.starts_with("kube-api-access-"),
        "mountPath" => value == "/var/run/secrets/kubernetes.io/serviceaccount",
        _ => false,
    })
}

fn is_grace(place: &Place<'_>) -> bool {
    let is_default = |toleration: &Value| {
        let key = toleration.get("key").and_then(Value::as_str).unwrap_or_default();
        matches!(key, "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable")
            && toleration.get("effect").is_some_and(|effect| effect == "NoExecute")
            && toleration.get("tolerationSeconds").is_some_and(|seconds| seconds == 300)
    };
    [place.live, place.live_parent].into_iter().flatten().any(is_default)
}

/// Istio lists what it injected; Linkerd's parts bear its name.
fn is_of_mesh(place: &Place<'_>) -> bool {
    let note = |name: &str| place.cx.live.pointer("/metadata/annotations")?.get(name)?.as_str();
    let listed = note(ISTIO).and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or_default();
    let has_linkerd = note("linkerd.io/proxy-version").or_else(|| note("linkerd.io/created-by")).is_some();
    let is_listed = |name: &str| {
        let lists = listed.as_object().into_iter().flat_map(|lists| lists.values());
        lists.filter_map(Value::as_array).flatten().any(|own| own == name)
    };
    let first = items(place).find(|(key, _)| *key == "name");
    first.is_some_and(|(_, name)| has_linkerd && name.starts_with("linkerd-") || is_listed(name))
}
