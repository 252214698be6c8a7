//! Discovery: which groups, versions and kinds the archive serves, in the old form and the aggregated one.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::{Archive, ArchivedKind};
use super::body::ArchiveBody;
use super::request::Form;
use super::status::{Refusal, answer, typed};

pub(super) const FORMS: &[Form] = &[Form::Aggregated("v2"), Form::Aggregated("v2beta1")];

/// Kinds that `kubectl get all` means.
const ALL: &[&str] = &[
    "pods",
    "replicationcontrollers",
    "services",
    "daemonsets",
    "deployments",
    "replicasets",
    "statefulsets",
    "horizontalpodautoscalers",
    "jobs",
    "cronjobs",
];

/// holdup's own kinds are part of its files, not of the cluster.
pub(super) fn is_served(kind: &ArchivedKind) -> bool {
    &*kind.group != "holdup.dev"
}

pub(super) fn core(archive: &Archive, form: Form) -> Response<ArchiveBody> {
    match form {
        Form::Aggregated(version) => aggregated(archive, version, |group| group.is_empty()),
        Form::Json | Form::Table | Form::Partial | Form::Protobuf => {
            answer(StatusCode::OK, &json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}))
        }
    }
}

pub(super) fn groups(archive: &Archive, form: Form) -> Response<ArchiveBody> {
    match form {
        Form::Aggregated(version) => aggregated(archive, version, |group| !group.is_empty()),
        Form::Json | Form::Table | Form::Partial | Form::Protobuf => {
            let groups: Vec<Value> =
                names(archive).into_iter().filter(|group| !group.is_empty()).map(|group| group_of(archive, group)).collect();
            answer(StatusCode::OK, &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
    }
}

pub(super) fn group(archive: &Archive, group: &str) -> Result<Response<ArchiveBody>, Refusal> {
    if !names(archive).contains(&group) {
        return Err(Refusal::NoSuchPath);
    }
    let mut found = group_of(archive, group);
    found["kind"] = json!("APIGroup");
    found["apiVersion"] = json!("v1");
    Ok(answer(StatusCode::OK, &found))
}

pub(super) fn resources(archive: &Archive, group: &str, version: &str) -> Result<Response<ArchiveBody>, Refusal> {
    let kinds: Vec<&ArchivedKind> = of_version(archive, group, version).collect();
    if kinds.is_empty() && (group, version) != ("", "v1") {
        return Err(Refusal::NoSuchPath);
    }
    let mut all = Vec::new();
    for kind in kinds {
        let mut resource = json!({"name": kind.plural, "singularName": kind.name.to_lowercase(), "namespaced": kind.namespaced, "kind": kind.name, "verbs": ["get", "list", "watch"]});
        if !kind.short.is_empty() {
            resource["shortNames"] = json!(kind.short);
        }
        if ALL.contains(&&*kind.plural) {
            resource["categories"] = json!(["all"]);
        }
        all.push(resource);
        if kind.group.is_empty() && kind.plural == "pods" {
            all.push(json!({"name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"]}));
        }
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Ok(answer(StatusCode::OK, &json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": all})))
}

/// kubectl asks for schemas to explain and to validate; it is content with a document that has none.
pub(super) fn open_api(path: &str, form: Form) -> Result<Response<ArchiveBody>, Refusal> {
    match (path.trim_end_matches('/'), form) {
        // `swagger: "2.0"` in the binary form.
        ("/openapi/v2", Form::Protobuf) => {
            Ok(typed(StatusCode::OK, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", Bytes::from_static(b"\x0a\x032.0")))
        }
        ("/openapi/v2", _) => {
            Ok(answer(StatusCode::OK, &json!({"swagger": "2.0", "info": {"title": "holdup", "version": "v1"}, "paths": {}})))
        }
        ("/openapi/v3", _) => Ok(answer(StatusCode::OK, &json!({"paths": {}}))),
        _ => Err(Refusal::NoSuchPath),
    }
}

/// The groups, each once, in order.
fn names(archive: &Archive) -> Vec<&str> {
    let mut names: Vec<&str> = archive.kinds().iter().filter(|kind| is_served(kind)).map(|kind| &*kind.group).collect();
    names.dedup();
    names
}

fn of_version<'a>(archive: &'a Archive, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a ArchivedKind> {
    archive.kinds().iter().filter(move |kind| is_served(kind) && *kind.group == *group && kind.versions.iter().any(|own| own == version))
}

/// The versions of a group, the one preferred by most of its kinds first.
fn versions<'a>(archive: &'a Archive, group: &str) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    let kinds = archive.kinds().iter().filter(|kind| is_served(kind) && *kind.group == *group);
    for version in kinds.clone().filter_map(|kind| kind.versions.first()).chain(kinds.flat_map(|kind| &kind.versions)) {
        if !all.contains(&version.as_str()) {
            all.push(version);
        }
    }
    all
}

fn group_of(archive: &Archive, group: &str) -> Value {
    let versions: Vec<Value> = versions(archive, group)
        .into_iter()
        .map(|version| json!({"groupVersion": format!("{group}/{version}"), "version": version}))
        .collect();
    json!({"name": group, "versions": versions, "preferredVersion": versions.first()})
}

fn aggregated(archive: &Archive, format: &str, wanted: impl Fn(&str) -> bool) -> Response<ArchiveBody> {
    let items: Vec<Value> = names(archive).into_iter().filter(|group| wanted(group)).map(|group| discovered(archive, group)).collect();
    let list =
        json!({"kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{format}"), "metadata": {}, "items": items});
    let media = match format {
        "v2beta1" => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        _ => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    };
    typed(StatusCode::OK, media, Bytes::from(list.to_string()))
}

fn discovered(archive: &Archive, group: &str) -> Value {
    let versions: Vec<Value> = versions(archive, group)
        .into_iter()
        .map(|version| {
            let resources: Vec<Value> = of_version(archive, group, version).map(|kind| resource(kind, version)).collect();
            json!({"version": version, "freshness": "Current", "resources": resources})
        })
        .collect();
    json!({"metadata": {"name": group, "creationTimestamp": null}, "versions": versions})
}

fn resource(kind: &ArchivedKind, version: &str) -> Value {
    let response = json!({"group": kind.group, "version": version, "kind": kind.name});
    let mut resource = json!({"resource": kind.plural, "responseKind": response, "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.name.to_lowercase(), "verbs": ["get", "list", "watch"]});
    if !kind.short.is_empty() {
        resource["shortNames"] = json!(kind.short);
    }
    if ALL.contains(&&*kind.plural) {
        resource["categories"] = json!(["all"]);
    }
    if kind.group.is_empty() && kind.plural == "pods" {
        resource["subresources"] = json!([{"subresource": "log", "responseKind": response, "verbs": ["get"]}]);
    }
    resource
}
