//! Where desired state comes from, most trusted first: a table. Each source says what it cannot show.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::helm::{self, Release};
use super::managers::{self, Operation};
use super::object::Object;
use super::{owner, revision};
use crate::redact::Redactor;

/// What there is to find desired state in.
#[derive(Clone, Copy)]
pub struct Fetched<'a> {
    pub live: &'a Object,
    /// Manifests that the user gave, with the name of what they came from.
    pub files: &'a [(String, Object)],
    /// Helm's records, decoded once for all objects.
    pub releases: &'a [Release],
    /// Other objects of the cluster, not redacted.
    pub related: &'a [Arc<Value>],
    pub redactor: &'a Redactor,
}

/// What was asked for, by one source.
#[derive(Clone, Debug)]
pub struct Desired {
    /// Id of the source.
    pub source: &'static str,
    /// The source in words, with its age where it is known.
    pub title: String,
    /// When this was asked for, where it is known; else "".
    pub at: String,
    pub object: Object,
}

/// A kind of source.
pub struct Source {
    pub id: &'static str,
    pub title: &'static str,
    /// What it does not know.
    pub cannot: &'static str,
    find: fn(&Fetched<'_>) -> Vec<Desired>,
}

/// All sources, most trusted first.
pub const SOURCES: &[Source] = &[
    Source { id: "manifest", title: "manifests", cannot: "what was applied, and when", find: manifests },
    Source {
        id: "helm",
        title: "Helm release",
        cannot: "hooks, definitions in crds/, and what was changed in the chart since",
        find: deployed,
    },
    Source {
        id: "last-applied",
        title: "last-applied annotation",
        cannot: "changes by tools that do not keep the annotation",
        find: last_applied,
    },
    Source {
        id: "managed-fields",
        title: "server-side apply",
        cannot: "values: only which fields are owned, not what was applied where another wrote since",
        find: applied,
    },
    Source { id: "revision", title: "previous revision", cannot: "anything but the pod template", find: previous },
    // Only the user can name one; it then stands before all others.
    Source {
        id: super::baseline::BASELINE,
        title: "saved baseline",
        cannot: "whether what was saved had been asked for",
        find: |_| Vec::new(),
    },
];

/// What each source says, most trusted first; empty where nothing says what was asked for.
pub fn desired(fetched: &Fetched<'_>) -> Vec<Desired> {
    SOURCES.iter().flat_map(|source| (source.find)(fetched)).collect()
}

/// What the deployed release says of the object, which is as good as a copy of what was last applied.
pub fn released<'a>(fetched: &Fetched<'a>) -> Option<&'a Object> {
    let revisions = helm::revisions(fetched.releases, fetched.live.value());
    let newest = revisions.into_iter().find(|release| release.status == "deployed")?;
    helm::object(newest, &fetched.live.identity())
}

fn manifests(fetched: &Fetched<'_>) -> Vec<Desired> {
    let identity = fetched.live.identity();
    let own = fetched.files.iter().filter(|(_, object)| object.identity().is_like(&identity));
    own.map(|(file, object)| Desired::of_manifest(file, object)).collect()
}

impl Desired {
    /// What a manifest says that the user gave.
    pub fn of_manifest(file: &str, object: &Object) -> Self {
        Self { source: "manifest", title: format!("manifest {file}"), at: String::new(), object: object.clone() }
    }

    /// What a release says.
    pub fn of_release(release: &Release, object: &Object) -> Self {
        let since = if release.deployed.is_empty() { String::new() } else { format!(", deployed {}", release.deployed) };
        let title = format!("helm release {}, {}{since}", release.name, release.title());
        Self { source: "helm", title, at: release.deployed.clone(), object: object.clone() }
    }

    /// Whether this is what that revision says.
    pub(super) fn is_of(&self, release: &Release) -> bool {
        Self::of_release(release, &self.object).title == self.title
    }

    /// What this source does not know.
    pub fn cannot(&self) -> &'static str {
        SOURCES.iter().find(|source| source.id == self.source).map_or("", |source| source.cannot)
    }
}

/// The newest deployed revision; a newer one that failed or is under way is offered behind it, since live may be half-way.
fn deployed(fetched: &Fetched<'_>) -> Vec<Desired> {
    let identity = fetched.live.identity();
    let revisions = helm::revisions(fetched.releases, fetched.live.value());
    let newest = revisions.iter().find(|release| release.status == "deployed").map_or(i64::MIN, |release| release.revision);
    let wanted = |release: &&&Release| release.revision == newest || release.revision > newest && release.status != "superseded";
    let mut found: Vec<&&Release> = revisions.iter().filter(wanted).collect();
    found.sort_by_key(|release| (release.revision != newest, std::cmp::Reverse(release.revision)));
    let of = |release: &&Release| Some(Desired::of_release(release, helm::object(release, &identity)?));
    found.into_iter().filter_map(of).collect()
}

fn last_applied(fetched: &Fetched<'_>) -> Vec<Desired> {
    let of = |(copy, object): (&super::applied::Copy, Object)| Desired {
        source: "last-applied",
        title: format!("last-applied annotation of {}", copy.tool),
        at: owner::wrote_annotation(fetched.live.value(), copy.annotation),
        object,
    };
    fetched.live.copied().map(of).collect()
}

/// What each applier owns, with the values that live has: who owns most first. Whoever keeps a copy in an annotation is asked there.
fn applied(fetched: &Fetched<'_>) -> Vec<Desired> {
    let live = fetched.live.value();
    let entries = owner::entries(live);
    let declares = |entry: &&owner::Entry<'_>| {
        let is_applied = entry.operation == Operation::Apply && entry.subresource.is_empty();
        is_applied && managers::declares(entry.manager, entry.operation) && entry.manager != "kubectl-last-applied"
    };
    let mut appliers: Vec<&owner::Entry<'_>> = entries.iter().filter(declares).collect();
    appliers.sort_by(|a, b| b.size().cmp(&a.size()).then_with(|| a.manager.cmp(b.manager)));
    let of = |entry: &owner::Entry<'_>| {
        let object = Object::new(named(entry.projected(live)?, live), fetched.redactor);
        let since = if entry.time.is_empty() { String::new() } else { format!(", last applied {}", entry.time) };
        let title = format!("server-side apply by {}{since}", entry.manager);
        Some(Desired { source: "managed-fields", title, at: entry.time.to_owned(), object })
    };
    appliers.into_iter().filter_map(of).collect()
}

/// Names and types belong to every manifest and are owned by nobody.
fn named(mut part: Value, live: &Value) -> Value {
    let Some(fields) = part.as_object_mut() else { return part };
    for key in ["apiVersion", "kind"] {
        fields.extend(live.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    if let Some(metadata) = fields.entry("metadata").or_insert_with(|| Value::Object(Map::new())).as_object_mut() {
        for key in ["name", "namespace"] {
            metadata.extend(live["metadata"].get(key).map(|value| (key.to_owned(), value.clone())));
        }
    }
    part
}

fn previous(fetched: &Fetched<'_>) -> Vec<Desired> {
    let live = fetched.live.value();
    let of = |revision: revision::Revision| {
        let cause = revision.cause.as_deref().map_or(String::new(), |cause| format!(", {cause}"));
        let title = format!("revision {} ({}, made {}){cause}", revision.number, revision.keeper, revision.created);
        Desired { source: "revision", title, at: revision.created.clone(), object: Object::new(revision.of(live), fetched.redactor) }
    };
    revision::revisions(live, fetched.related).into_iter().skip(1).map(of).collect()
}
