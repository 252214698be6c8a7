//! Compare: what is fetched when somebody opens the diff of one object: the object itself, and what may say what was asked for.

use std::sync::Arc;

use serde_json::Value;

use super::around::{Around, RELEASE, Reach};
use super::decided::{self, Decided};
use super::fetch::{self, Cluster, Store};
use crate::app::Asked;
use crate::archive::Archive;
use crate::desired::gitops::Tool;
use crate::desired::{self, Comparison, Fetched, Object, Unchecked, compare_with, helm};
use crate::model::{Kind, ObjectRef};
use crate::redact::Redactor;

/// What hides secrets, and what the user said beforehand.
pub type Knows<'a> = (&'a Arc<Redactor>, &'a Decided);

/// The object beside every source that can be had.
///
/// # Errors
/// The object itself cannot be had; a sentence for the screen.
pub async fn comparison(store: &Store, object: &ObjectRef, asked: Asked, knows: Knows<'_>) -> Result<Comparison, String> {
    match store {
        Store::Files(_) if asked == Asked::DryRun => Err("these are files: there is no API server that could be asked".to_owned()),
        Store::Files(archive) => from_files(archive, object, knows),
        Store::Cluster(cluster) => from_cluster(cluster, object, asked, knows).await,
    }
}

async fn from_cluster(cluster: &Cluster, object: &ObjectRef, asked: Asked, knows: Knows<'_>) -> Result<Comparison, String> {
    let (redactor, decided) = knows;
    let (served, mut reader) = cluster.reader(&object.kind, redactor).await?;
    let raw = reader.object(&served, &object.namespace, &object.name).await.map_err(|unread| unread.to_string())?;
    let reach = match asked {
        Asked::Ahead => Reach::Ahead,
        Asked::ByUser | Asked::DryRun => Reach::Every,
    };
    let live = Object::new(raw.clone(), redactor);
    let around = reader.around(&live, &[], reach).await;
    let fetched = Fetched { live: &live, files: &[], releases: &around.releases, related: &around.related, redactor };
    let saved = || decided.baseline(&live, redactor).map(|(saved, _)| saved);
    let first = || saved().or_else(|| desired::desired(&fetched).into_iter().next());
    let first = (asked == Asked::DryRun).then(first).flatten();
    let mut comparison = compared(&live, around, knows);
    if let Some(first) = first {
        comparison.decide(&reader.try_out(&first, &live, &raw).await);
    }
    Ok(comparison.worst_first())
}

fn compared(live: &Object, around: Around, (redactor, decided): Knows<'_>) -> Comparison {
    let Around { releases, related, unchecked, is_sealed } = around;
    let fetched = Fetched { live, files: &[], releases: &releases, related: &related, redactor };
    let (saved, keys) = decided.baseline(live, redactor).unzip();
    let mut comparison = compare_with(saved, &fetched, unchecked);
    if let Some(keys) = keys {
        decided::settle(&mut comparison, keys);
    }
    decided.watch(live, &mut comparison, redactor);
    Comparison { is_sealed, ..comparison.worst_first() }
}

/// What the records among the objects of a file say.
fn opened(live: &Object, related: Vec<Value>, redactor: &Redactor) -> Around {
    let mut around = Around::default();
    let (records, related): (Vec<Value>, Vec<Value>) = related.into_iter().partition(helm::is_record);
    let unchecked = |why| Unchecked { kind: RELEASE.to_owned(), namespace: None, why };
    for record in &records {
        match helm::read(record, redactor) {
            Ok(release) => {
                around.unchecked.extend(release.faults().into_iter().map(unchecked));
                around.releases.push(release);
            }
            Err(why) => around.unchecked.push(unchecked(format!("{}: {why}", text(record, "/metadata/name")))),
        }
    }
    if let Some((name, _)) = helm::of(live.value()).filter(|(name, _)| !around.releases.iter().any(|release| release.name == *name)) {
        around.unchecked.push(unchecked(format!("{name}: no record of it is in the input, so what it says is not known")));
    }
    Around { related: related.into_iter().map(Arc::new).collect(), ..around }
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

fn from_files(archive: &Archive, object: &ObjectRef, knows: Knows<'_>) -> Result<Comparison, String> {
    let redactor = knows.0;
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
    related.extend(keepers(archive));
    let live = Object::new(live, redactor);
    let around = opened(&live, related, redactor);
    Ok(compared(&live, around, knows))
}

/// Who may apply the object from a repository: they may lie anywhere.
fn keepers(archive: &Archive) -> Vec<Value> {
    let kinds = Tool::ALL.into_iter().filter_map(|tool| archive.kind(tool.group(), tool.kind()));
    kinds.flat_map(|kind| archive.objects(kind, None)).filter_map(|archived| parse(&archived.bytes()).ok()).collect()
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
