//! Compare: what is fetched when somebody opens the diff of one object: the object itself, and what may say what was asked for.

use serde_json::Value;

use super::fetch::{self, Cluster, Store};
use crate::archive::Archive;
use crate::desired::{Comparison, Fetched, Object, compare, helm};
use crate::model::{Kind, ObjectRef, Place};
use crate::redact::Redactor;

/// An object and what lies around it, not redacted yet.
struct Found {
    live: Value,
    related: Vec<Value>,
    unread: Vec<String>,
}

/// The object beside every source that can be had.
///
/// # Errors
/// The object itself cannot be had; a sentence for the screen.
pub async fn comparison(store: &Store, object: &ObjectRef, redactor: &Redactor) -> Result<Comparison, String> {
    let found = match store {
        Store::Files(archive) => from_files(archive, object)?,
        Store::Cluster(cluster) => from_cluster(cluster, object).await?,
    };
    Ok(redacted(found, redactor))
}

fn redacted(found: Found, redactor: &Redactor) -> Comparison {
    let Found { live, related, mut unread } = found;
    let live = Object::new(live, redactor);
    let (records, related): (Vec<Value>, Vec<Value>) = related.into_iter().partition(helm::is_record);
    let mut releases = Vec::new();
    for record in &records {
        match helm::read(record, redactor) {
            Ok(release) => releases.push(release),
            Err(why) => unread.push(format!("{}: {why}", text(record, "/metadata/name"))),
        }
    }
    if let Some((name, _)) = helm::of(live.value()).filter(|(name, _)| !releases.iter().any(|release| release.name == *name)) {
        unread.push(format!("Helm release {name} manages it; its record is not at hand, so what the release says is not known"));
    }
    compare(&Fetched { live: &live, files: &[], releases: &releases, related: &related, redactor }, unread)
}

/// Kinds that may say what was asked for, or explain a difference.
const AROUND: &[(&str, &str)] = &[
    ("apps", "ReplicaSet"),
    ("apps", "ControllerRevision"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("keda.sh", "ScaledObject"),
    ("", "Secret"),
    ("", "ConfigMap"),
];

fn from_files(archive: &Archive, object: &ObjectRef) -> Result<Found, String> {
    let live = parse(&fetch::bytes(archive, object)?)?;
    let mut related = Vec::new();
    let release = helm::of(&live).map(|(name, namespace)| (name.to_owned(), namespace.to_owned()));
    for (group, name) in AROUND {
        let holds_records = group.is_empty();
        let namespace = release.as_ref().filter(|_| holds_records).map_or(&*object.namespace, |(_, namespace)| namespace);
        if let Some(kind) = archive.kind(group, name).filter(|_| !holds_records || release.is_some()) {
            let values = archive.objects(kind, Some(namespace)).filter_map(|archived| parse(&archived.bytes()).ok());
            related.extend(values.filter(|value| !holds_records || is_record_of(value, release.as_ref())));
        }
    }
    if let Some(kind) = is_custom(&live).then(|| archive.kind("apiextensions.k8s.io", "CustomResourceDefinition")).flatten() {
        let definitions = archive.objects(kind, None).filter_map(|archived| parse(&archived.bytes()).ok());
        related.extend(definitions.filter(|definition| defines(definition, &live)));
    }
    Ok(Found { live, related, unread: Vec::new() })
}

async fn from_cluster(cluster: &Cluster, object: &ObjectRef) -> Result<Found, String> {
    let live = parse(&cluster.object(object).await?)?;
    let (mut related, mut unread) = (Vec::new(), Vec::new());
    let place = Place::Namespace((&*object.namespace).into());
    for (kind, tells) in around(&live) {
        let labels = if *kind == "ReplicaSet" { selector(&live) } else { String::new() };
        let (objects, why) = cluster.set(kind, &place, &labels).await;
        related.extend(objects.iter().filter_map(|bytes| parse(bytes).ok()));
        unread.extend(why.map(|why| format!("{tells} not known: {why}")));
    }
    if is_custom(&live) {
        match cluster.definition(object).await {
            Ok(bytes) => related.extend(parse(&bytes)),
            Err(why) => unread.push(format!("the schema of {} is not known: {why}", object.kind)),
        }
    }
    Ok(Found { live, related, unread })
}

/// Sets in its namespace that tell something about an object, and what.
fn around(live: &Value) -> &'static [(&'static str, &'static str)] {
    match text(live, "/kind") {
        "Deployment" => &[("ReplicaSet", "previous revisions are"), ("HorizontalPodAutoscaler", "whether an autoscaler decides is")],
        "StatefulSet" => {
            &[("ControllerRevision", "previous revisions are"), ("HorizontalPodAutoscaler", "whether an autoscaler decides is")]
        }
        "DaemonSet" => &[("ControllerRevision", "previous revisions are")],
        "ReplicaSet" | "ReplicationController" => &[("HorizontalPodAutoscaler", "whether an autoscaler decides is")],
        _ => &[],
    }
}

/// The labels by which it selects, as the API server is asked for them; with expressions, all are asked for.
fn selector(live: &Value) -> String {
    let labels = live.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let pairs: Vec<String> = labels.into_iter().flatten().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    pairs.join(",")
}

fn is_custom(live: &Value) -> bool {
    let version = text(live, "/apiVersion");
    version.split_once('/').is_some_and(|(group, _)| group.contains('.') && Kind::of(version, text(live, "/kind")) == Kind::Other)
}

fn defines(definition: &Value, live: &Value) -> bool {
    let group = text(live, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    text(definition, "/spec/group") == group && text(definition, "/spec/names/kind") == text(live, "/kind")
}

fn is_record_of(value: &Value, release: Option<&(String, String)>) -> bool {
    helm::is_record(value) && release.is_some_and(|(name, _)| text(value, "/metadata/labels/name") == name)
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn parse(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).map_err(|e| format!("the object cannot be read: {e}"))
}
