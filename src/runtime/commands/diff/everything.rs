//! Desired versus live of everything in reach: a page at a time, and of each object only what somebody has to look at is kept.

use color_eyre::Result;

use super::{cluster, worst_first};
use crate::cli::ClusterArgs;
use crate::desired::Unchecked;
use crate::export::diff::{Compared, Compilation};
use crate::model::Place;
use crate::runtime::feeds::Wanted;
use crate::runtime::live;
use crate::runtime::reader::{Page, Reader, Unread, paged};
use crate::watch::{Query, Scope, Served};

/// Objects of a page; with what they may hold each, some ten MB.
const PAGE: usize = 200;

/// Kinds that nobody declares, or that are read only by name.
const LEFT_OUT: &[(&str, &str)] = &[
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
    ("discovery.k8s.io", "endpointslices"),
    ("", "endpoints"),
    ("", "componentstatuses"),
    ("", "secrets"),
];

/// Without one of these words an object does not say what was asked for.
const MARKS: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    "meta.helm.sh/release-name",
    "kapp.k14s.io/original",
    "qbec.io/last-applied",
    "objectset.rio.cattle.io/applied",
    "kubecfg.ksonnet.io/last-applied-configuration",
    "kopf.zalando.org/last-handled-configuration",
    r#""operation":"Apply""#,
];

/// Every object with a desired state in the namespaces of the scope.
pub(super) async fn compared(args: &ClusterArgs, reader: &mut Reader) -> Result<Compilation> {
    let places = places(args, reader).await;
    let mut found = Found::default();
    found.unread.extend(reader.offers().unreadable.iter().map(|(group, why)| Unchecked {
        kind: format!("API group {group}"),
        namespace: None,
        why: why.clone(),
    }));
    found.unread.push(Unchecked {
        kind: "Secret".to_owned(),
        namespace: None,
        why: "not opened unless named; compare one with holdup diff secret/NAME".to_owned(),
    });
    for served in kinds(reader) {
        for place in within(&served, &places) {
            found.kind(reader, &served, place, args).await;
        }
    }
    Ok(Compilation::Everything(worst_first(found.all), found.unread))
}

/// Each kind at its most stable version.
fn kinds(reader: &Reader) -> Vec<Served> {
    let mut all: Vec<Served> = reader.offers().served.iter().filter(|served| served.can_list && is_declared(served)).cloned().collect();
    all.dedup_by(|b, a| a.resource.group == b.resource.group && a.resource.plural == b.resource.plural);
    all
}

fn is_declared(served: &Served) -> bool {
    !LEFT_OUT.contains(&(served.resource.group.as_str(), served.resource.plural.as_str())) && served.resource.group != "metrics.k8s.io"
}

/// All namespaces if pods can be listed there, else that of the context, as for reports.
async fn places(args: &ClusterArgs, reader: &Reader) -> Vec<Place> {
    let one = |namespace: &str| Place::Namespace(namespace.into());
    match live::wanted(args) {
        Wanted::All => vec![Place::All],
        Wanted::Namespaces(names) => names.iter().map(|name| one(name)).collect(),
        Wanted::ByRights => {
            let Err(Unread::Unseen(why)) = pods(reader).await else { return vec![Place::All] };
            let namespace = &reader.connection.about().namespace;
            eprintln!("holdup: pods of the whole cluster may not be listed ({why}): looking at namespace {namespace} alone");
            vec![one(namespace)]
        }
    }
}

/// Whether pods can be listed everywhere.
async fn pods(reader: &Reader) -> Result<(), Unread> {
    let served = reader.kind("pods")?;
    reader.page(&served, &Place::All, paged(1, "", "")).await.map(|_| ())
}

/// What lies in no namespace belongs to the whole cluster.
fn within<'a>(served: &Served, places: &'a [Place]) -> impl Iterator<Item = &'a Place> + use<'a> {
    let scope = served.resource.scope;
    places.iter().filter(move |place| match scope {
        Scope::Namespaced => true,
        Scope::Cluster => place.namespace().is_none(),
    })
}

#[derive(Default)]
struct Found {
    all: Vec<Compared>,
    unread: Vec<Unchecked>,
}

impl Found {
    async fn kind(&mut self, reader: &mut Reader, served: &Served, place: &Place, args: &ClusterArgs) {
        let mut token = String::new();
        loop {
            let page = match reader.page(served, place, query(args, &token)).await {
                Ok(page) => page,
                Err(Unread::Missing(why) | Unread::Unseen(why)) => {
                    self.unread.push(Unchecked { kind: named(served), namespace: place.namespace().map(str::to_owned), why });
                    return;
                }
            };
            self.page(reader, &page).await;
            token = page.next;
            if token.is_empty() {
                return;
            }
        }
    }

    async fn page(&mut self, reader: &mut Reader, page: &Page) {
        for item in page.items.iter().filter(|item| MARKS.iter().any(|mark| item.contains(mark))) {
            let Ok(live) = serde_json::from_str::<serde_json::Value>(item) else { continue };
            if is_controlled(&live) {
                continue;
            }
            let compared = cluster::compare(reader, live, None, &[]).await;
            if compared.source.is_some() || !compared.unchecked.is_empty() {
                self.all.push(folded(compared));
            }
        }
    }
}

/// Controllers copy the annotations of what they control.
fn is_controlled(live: &serde_json::Value) -> bool {
    let owners = live.pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    owners.into_iter().flatten().any(|owner| owner["controller"] == true)
}

/// Only what somebody has to look at is kept; the rest is counted.
fn folded(mut compared: Compared) -> Compared {
    let (kept, rest): (Vec<_>, Vec<_>) = compared
        .diff
        .fields
        .into_iter()
        .partition(|field| field.verdict.is_loud() || field.risk.is_some() || field.told.approval.is_some());
    rest.iter().for_each(|field| *compared.folded.entry(field.verdict.id()).or_default() += 1);
    compared.diff.fields = kept;
    compared
}

fn named(served: &Served) -> String {
    if crate::desired::is_built_in(&served.resource.group) {
        served.kind.clone()
    } else {
        format!("{}.{}", served.kind, served.resource.group)
    }
}

fn query(args: &ClusterArgs, token: &str) -> Query {
    let query = paged(PAGE, args.selector.as_deref().unwrap_or_default(), token);
    args.field_selector.iter().fold(query, |query, fields| query.with("fieldSelector", fields))
}
