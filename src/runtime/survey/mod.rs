//! Survey: every object of a cluster beside what was asked for, a page at a time, while a census counts who declares what. Of each
//! object only what somebody has to look at is handed on, and what may not be read is told.

mod file;
mod gone;
mod lists;

pub use file::{connection, doubt_of, served, unread_of};

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::commands::{absent, compare};
use super::reader::{Page, Reader, Unread, paged};
use crate::desired::{BASELINE, Census, Desired, FieldDiff, Identity, Says, Unchecked, Verdict};
use crate::export::diff::Compared;
use crate::model::Place;
use crate::watch::{Query, Scope, Served};

/// Objects of a page; with what they may hold each, some ten MB.
const PAGE: usize = 200;

/// Kinds that nobody declares.
const LEFT_OUT: &[(&str, &str)] = &[
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
    ("discovery.k8s.io", "endpointslices"),
    ("", "endpoints"),
    ("", "componentstatuses"),
    ("apps", "controllerrevisions"),
];

/// Kinds of which most objects are made by controllers, or hold what is nobody's business: their metadata says which are to be read.
const METADATA_FIRST: &[(&str, &str)] = &[("", "pods"), ("", "secrets"), ("apps", "replicasets"), ("batch", "jobs")];

/// Without one of these words an object does not say what was asked for.
const MARKS: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    "meta.helm.sh/release-name",
    "kapp.k14s.io/original",
    "qbec.io/last-applied",
    "objectset.rio.cattle.io/applied",
    "kubecfg.ksonnet.io/last-applied-configuration",
    "kopf.zalando.org/last-handled-configuration",
];

/// Which objects are looked at.
pub struct Narrow {
    pub places: Vec<Place>,
    /// Selectors, as the API server takes them; "" is all.
    pub labels: String,
    pub fields: String,
    /// Objects that the user gave beside those of the cluster.
    pub related: Vec<Arc<Value>>,
}

/// What a survey tells while it goes on.
pub enum Step {
    /// It goes on.
    At(At),
    /// An object that says what was asked for, or one that could not be compared.
    Compared(Box<Compared>),
    Unread(Unchecked),
}

/// Why an object that the server does not find may be there all the same; `None` if it is not.
pub type Doubt<'a> = &'a (dyn Fn(&Identity) -> Option<String> + Sync);

/// A survey under way. What it learnt stays in its census if it is stopped.
pub struct Survey<'a> {
    reader: &'a mut Reader,
    narrow: &'a Narrow,
    census: &'a mut Census,
    doubt: Doubt<'a>,
    tell: &'a mut (dyn FnMut(Step) + Send),
    at: At,
}

/// How far it is: the kind, how many kinds were read, out of how many, how many objects were seen.
#[derive(Clone, Debug, Default)]
pub struct At {
    pub kind: String,
    pub read: usize,
    pub of: usize,
    pub objects: usize,
}

impl<'a> Survey<'a> {
    pub fn new(
        reader: &'a mut Reader,
        narrow: &'a Narrow,
        census: &'a mut Census,
        doubt: Doubt<'a>,
        tell: &'a mut (dyn FnMut(Step) + Send),
    ) -> Self {
        Self { reader, narrow, census, doubt, tell, at: At::default() }
    }

    /// Goes through everything.
    pub async fn run(&mut self) {
        for (group, why) in self.reader.offers().unreadable.clone() {
            self.unread(format!("API group {group}"), None, why);
        }
        self.lists().await;
        let kinds = kinds(self.reader);
        for (read, served) in kinds.iter().enumerate() {
            self.at = At { kind: served.resource.plural.clone(), read, of: kinds.len(), objects: self.at.objects };
            (self.tell)(Step::At(self.at.clone()));
            let narrow = self.narrow;
            for place in narrow.places.iter().filter(|place| is_within(served, place)) {
                self.kind(served, place).await;
            }
        }
        self.gone().await;
        self.deleted();
    }

    fn unread(&mut self, kind: String, namespace: Option<String>, why: String) {
        (self.tell)(Step::Unread(Unchecked { kind, namespace, why }));
    }

    async fn kind(&mut self, served: &Served, place: &Place) {
        let is_metadata = is_among(METADATA_FIRST, served);
        let mut token = String::new();
        loop {
            let query = self.query(&token);
            let page =
                if is_metadata { self.reader.metadata(served, place, query).await } else { self.reader.page(served, place, query).await };
            match page {
                Ok(page) if is_metadata => token = self.metadata(served, page).await,
                Ok(page) => token = self.page(page).await,
                Err(Unread::Missing(why) | Unread::Unseen(why)) => {
                    return self.unread(named(served), place.namespace().map(str::to_owned), why);
                }
            }
            if token.is_empty() {
                if self.narrow.labels.is_empty() && self.narrow.fields.is_empty() {
                    self.reader.rulings.baselines.list(&served.resource.group, &served.kind, place);
                }
                return;
            }
        }
    }

    fn query(&self, token: &str) -> Query {
        let query = paged(PAGE, &self.narrow.labels, token);
        if self.narrow.fields.is_empty() { query } else { query.with("fieldSelector", &self.narrow.fields) }
    }

    fn count(&mut self, objects: usize) {
        self.at.objects += objects;
        (self.tell)(Step::At(self.at.clone()));
    }

    /// Answers with the token of the next page.
    async fn page(&mut self, page: Page) -> String {
        self.count(page.items.len());
        for item in &page.items {
            let Ok(live) = serde_json::from_str::<Value>(item) else { continue };
            if is_marked(item, &live) || self.is_saved(&live) {
                self.compare(live).await;
            } else {
                self.census.see(&live, Says::Nothing);
            }
        }
        page.next
    }

    async fn metadata(&mut self, served: &Served, page: Page) -> String {
        self.count(page.items.len());
        for item in &page.items {
            let Ok(mut live) = serde_json::from_str::<Value>(item) else { continue };
            // The items of such a list say of themselves that they are metadata.
            live["kind"] = served.kind.clone().into();
            live["apiVersion"] = served.resource.api_version().into();
            match (is_marked(item, &live), served.kind.as_str()) {
                _ if self.is_saved(&live) => self.whole(served, live).await,
                (true, "Secret") => self.census.see(&live, secret_says(item)),
                (true, _) => self.whole(served, live).await,
                (false, _) => self.census.see(&live, Says::Nothing),
            }
        }
        page.next
    }

    /// Whether the baseline has the object, and no controller made it.
    fn is_saved(&self, live: &Value) -> bool {
        let baselines = &self.reader.rulings.baselines;
        !baselines.is_empty() && baselines.has(&Identity::of(live)) && !is_controlled(live)
    }

    /// What the baseline has and the cluster no longer.
    fn deleted(&mut self) {
        // A kind that is no longer served took its objects with it, where all groups could be read.
        let offers = self.reader.offers().clone();
        let is_served = |group: &str, kind: &str| offers.served.iter().any(|s| s.resource.group == group && s.kind == kind);
        for (group, kind) in self.reader.rulings.baselines.kinds() {
            if offers.unreadable.is_empty() && !is_served(&group, &kind) {
                self.narrow.places.iter().for_each(|place| self.reader.rulings.baselines.list(&group, &kind, place));
            }
        }
        let gone = self.reader.rulings.baselines.gone(&self.reader.redactor);
        let gone: Vec<&Desired> = gone.iter().filter(|saved| (self.doubt)(&saved.object.identity()).is_none()).collect();
        self.reader.rulings.baselines.count_gone(gone.len());
        gone.into_iter().for_each(|saved| (self.tell)(Step::Compared(Box::new(absent(saved)))));
    }

    async fn whole(&mut self, served: &Served, metadata: Value) {
        let identity = Identity::of(&metadata);
        match self.reader.object(served, &identity.namespace, &identity.name).await {
            Ok(live) => self.compare(live).await,
            // It went since the list was made.
            Err(Unread::Missing(_)) => {}
            Err(Unread::Unseen(why)) => {
                self.census.see(&metadata, Says::Nothing);
                self.unread(format!("{} {}", identity.kind, identity.name), Some(identity.namespace), why);
            }
        }
    }

    async fn compare(&mut self, live: Value) {
        let compared = compare(self.reader, live.clone(), None, &self.narrow.related).await;
        // An earlier revision tells a pod template, not a whole object.
        // A baseline tells what was, not what it was made from.
        let is_told = |title: &String| !title.starts_with("revision ");
        let is_whole = compared.source.as_ref().is_some_and(|said| match said.id {
            "revision" => false,
            BASELINE => compared.others.iter().any(is_told),
            _ => true,
        });
        self.census.see(&live, if is_whole { Says::Source } else { Says::Nothing });
        self.census.differs(&live, &compared.diff);
        if compared.source.is_some() || !compared.unchecked.is_empty() {
            (self.tell)(Step::Compared(Box::new(folded(compared))));
        }
    }
}

/// Whether an object may say what was asked for: by a copy in an annotation, or by who applied it on the server.
fn is_marked(item: &str, live: &Value) -> bool {
    let entries = live.pointer("/metadata/managedFields").and_then(Value::as_array);
    let is_applied = || entries.into_iter().flatten().any(|entry| entry["operation"] == "Apply");
    (MARKS.iter().any(|mark| item.contains(mark)) || is_applied()) && !is_controlled(live)
}

/// A Secret that was applied carries a copy; that of a release is in the release's record.
fn secret_says(item: &str) -> Says {
    if item.contains(MARKS[0]) { Says::Source } else { Says::Nothing }
}

/// Each kind at its most stable version.
fn kinds(reader: &Reader) -> Vec<Served> {
    let mut seen = BTreeSet::new();
    let declared = reader.offers().served.iter().filter(|served| served.can_list && is_declared(served));
    declared.filter(|served| seen.insert((&served.resource.group, &served.resource.plural))).cloned().collect()
}

fn is_declared(served: &Served) -> bool {
    !is_among(LEFT_OUT, served) && served.resource.group != "metrics.k8s.io"
}

fn is_among(kinds: &[(&str, &str)], served: &Served) -> bool {
    kinds.contains(&(served.resource.group.as_str(), served.resource.plural.as_str()))
}

/// What lies in no namespace belongs to the whole cluster.
fn is_within(served: &Served, place: &Place) -> bool {
    match served.resource.scope {
        Scope::Namespaced => true,
        Scope::Cluster => place.namespace().is_none(),
    }
}

/// Controllers copy the annotations of what they control.
fn is_controlled(live: &Value) -> bool {
    let owners = live.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().any(|owner| owner["controller"] == true)
}

/// Only what somebody has to look at is kept; the rest is counted.
fn folded(mut compared: Compared) -> Compared {
    let (kept, rest): (Vec<_>, Vec<_>) = compared.diff.fields.into_iter().partition(is_kept);
    rest.iter().for_each(|field| *compared.folded.entry(field.verdict.id()).or_default() += 1);
    compared.diff.fields = kept;
    compared
}

/// What the API makes of any object matters to nobody, on whatever path it is.
fn is_kept(field: &FieldDiff) -> bool {
    let is_spelling = matches!(field.verdict, Verdict::Equal | Verdict::Defaulted | Verdict::Server);
    !field.verdict.is_quiet() || field.told.approval.is_some() || field.risk.is_some() && !is_spelling
}

fn named(served: &Served) -> String {
    if crate::desired::is_built_in(&served.resource.group) {
        served.kind.clone()
    } else {
        format!("{}.{}", served.kind, served.resource.group)
    }
}
