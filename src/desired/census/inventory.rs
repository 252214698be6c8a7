//! Lists of what a tool made, out of the objects in which tools keep them: Flux, Argo CD, Fleet, kpt and cli-utils; Helm's records too.

use serde_json::Value;

use crate::desired::Release;
use crate::desired::object::{Identity, Object};

/// Objects that a tool says it made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// What its objects call it in their marks.
    pub ids: Vec<String>,
    /// In words.
    pub title: String,
    pub objects: Vec<Identity>,
}

/// Kinds that hold such lists, as discovery knows them, with the labels that tell them from others.
pub const KINDS: &[(&str, &str)] = &[
    ("kustomizations.kustomize.toolkit.fluxcd.io", ""),
    ("helmreleases.helm.toolkit.fluxcd.io", ""),
    ("applications.argoproj.io", ""),
    ("bundledeployments.fleet.cattle.io", ""),
    ("resourcegroups.kpt.dev", ""),
    ("configmaps", "cli-utils.sigs.k8s.io/inventory-id"),
];

/// The list that an object holds; `None` if it holds none, or one of another cluster.
pub fn inventory(object: &Value) -> Option<Inventory> {
    let identity = Identity::of(object);
    let place = format!("{}/{}", identity.namespace, identity.name);
    let titled = |ids: Vec<String>, title: String, objects: Vec<Identity>| Some(Inventory { ids, title, objects });
    match (identity.group.as_str(), identity.kind.as_str()) {
        ("kustomize.toolkit.fluxcd.io" | "helm.toolkit.fluxcd.io", kind) if object.pointer("/spec/kubeConfig").is_none() => {
            let entries = object.pointer("/status/inventory/entries")?.as_array()?;
            let objects = entries.iter().filter_map(|entry| of_id(entry.get("id")?.as_str()?)).collect();
            let word = if kind == "HelmRelease" { "Helm release" } else { "kustomization" };
            titled(vec![format!("{kind}/{place}")], format!("Flux {word} {place}"), objects)
        }
        ("argoproj.io", "Application") if is_here(object) => {
            let resources = object.pointer("/status/resources")?.as_array()?;
            let made = resources.iter().filter(|resource| resource["hook"] != true && resource["requiresPruning"] != true);
            let ids = vec![format!("Application//{}", identity.name), format!("Application/{place}")];
            titled(ids, format!("Argo CD application {}", identity.name), made.filter_map(of_reference).collect())
        }
        ("fleet.cattle.io", "BundleDeployment") => {
            let resources = object.pointer("/status/resources")?.as_array()?;
            titled(Vec::new(), format!("Fleet bundle {}", identity.name), resources.iter().filter_map(of_reference).collect())
        }
        ("kpt.dev", "ResourceGroup") => {
            let resources = object.pointer("/spec/resources")?.as_array()?;
            titled(Vec::new(), format!("resource group {place}"), resources.iter().filter_map(of_reference).collect())
        }
        ("", "ConfigMap") => {
            let id = object.get("metadata")?.get("labels")?.get("cli-utils.sigs.k8s.io/inventory-id")?.as_str()?;
            let objects = object.get("data")?.as_object()?.keys().filter_map(|key| of_id(key)).collect();
            titled(vec![format!("inventory/{id}")], format!("inventory {place}"), objects)
        }
        _ => None,
    }
}

impl Inventory {
    /// What a release says it installed. Helm writes no namespace for objects that have none; who lists them knows which those are.
    pub fn of_release(release: &Release) -> Self {
        Self {
            ids: vec![format!("helm/{}/{}", release.namespace, release.name)],
            title: format!("helm release {}, revision {}", release.name, release.revision),
            objects: release.objects.iter().map(Object::identity).collect(),
        }
    }
}

/// `<namespace>_<name>_<group>_<kind>`; a colon in a name of RBAC is written as two underscores.
fn of_id(id: &str) -> Option<Identity> {
    let (rest, kind) = id.rsplit_once('_')?;
    let (rest, group) = rest.rsplit_once('_')?;
    let (namespace, name) = rest.split_once('_')?;
    let name = if group == "rbac.authorization.k8s.io" { name.replace("__", ":") } else { name.to_owned() };
    let is_whole = !kind.is_empty() && !name.is_empty();
    is_whole.then(|| Identity { group: group.to_owned(), kind: kind.to_owned(), namespace: namespace.to_owned(), name })
}

/// An object that is named by its parts.
fn of_reference(reference: &Value) -> Option<Identity> {
    let text = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
    let of_version = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let group = if text("group").is_empty() { of_version } else { text("group") };
    let (kind, name) = (text("kind").to_owned(), text("name").to_owned());
    let is_whole = !kind.is_empty() && !name.is_empty();
    is_whole.then(|| Identity { group: group.to_owned(), kind, namespace: text("namespace").to_owned(), name })
}

/// An application may describe another cluster.
fn is_here(application: &Value) -> bool {
    let text = |pointer: &str| application.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (server, name) = (text("/spec/destination/server"), text("/spec/destination/name"));
    server.is_empty() && matches!(name, "" | "in-cluster") || server.starts_with("https://kubernetes.default.svc")
}
