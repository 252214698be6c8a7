//! Reader: objects of a cluster as they are compared, and what explains their differences. It only gets and lists, and asks for what
//! explains several objects once. What may not be read is never taken for missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use color_eyre::{Result, eyre::eyre};
use serde_json::Value;

use super::fetch::{List, typed};
use super::rulings::Rulings;
use crate::desired::gitops::{Claim, Tool, Word};
use crate::desired::{Release, Unchecked, helm, openapi};
use crate::model::Place;
use crate::redact::Redactor;
use crate::watch::{Connection, Discovery, Error, Get, JSON, Query, Resource, Scope, Served, discover, fetch as ask, open_api};

/// A cluster that is asked for whole objects.
pub struct Reader {
    pub connection: Connection,
    pub redactor: Arc<Redactor>,
    /// What the user decided about differences.
    pub rulings: Rulings,
    pub records: Records,
    patience: Duration,
    offers: Arc<Discovery>,
    autoscalers: BTreeMap<String, (Vec<Arc<Value>>, Vec<Unchecked>)>,
    definitions: BTreeMap<String, Result<Option<Arc<Value>>, String>>,
    published: BTreeMap<String, Option<Arc<Value>>>,
    releases: BTreeMap<(String, String), Revisions>,
    keepers: BTreeMap<Claim, Keepers>,
}

/// The objects of Argo CD and Flux that a claim names, with what holds for all of them; or why they are not known.
pub type Keepers = Result<Arc<Claimants>, Unread>;

/// What a claim leads to.
#[derive(Default)]
pub struct Claimants {
    pub objects: Vec<Arc<Value>>,
    /// Why the rules are not known that Argo CD keeps for all its applications.
    pub unread: Option<Unchecked>,
}

/// The revisions of a release, or why they cannot be read.
pub type Revisions = Result<Arc<History>, String>;

/// What Helm's records say of a release.
#[derive(Default)]
pub struct History {
    pub releases: Vec<Release>,
    /// Records that are not as Helm writes them, and why; each costs only itself.
    pub broken: Vec<String>,
}

impl History {
    /// What of it could not be read, each with its record.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        self.broken.iter().cloned().chain(self.releases.iter().flat_map(Release::faults))
    }
}

/// Whether the records of Helm are opened: they are Secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    #[default]
    Opened,
    /// Nobody asked for it.
    Left,
}

/// Why there is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The server says that it does not exist.
    Missing(String),
    /// It may exist: it may not be read, or could not be had.
    Unseen(String),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Missing(why) | Self::Unseen(why)) = self;
        f.write_str(why)
    }
}

/// A page of a list as text, cut into objects.
pub struct Page {
    pub items: Vec<String>,
    /// The token of the next one; "" on the last.
    pub next: String,
}

/// Secrets may be large and are none of our business: only that they exist, or nothing.
const NAMES_ONLY: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// Releases whose newest revisions failed may have many of them.
const REVISIONS: usize = 4;
/// Releases that are kept unpacked, for the next objects that belong to them.
const KEPT: usize = 64;

impl Reader {
    /// # Errors
    /// The cluster does not say what it offers.
    pub async fn open(connection: Connection, patience: Duration, redactor: Redactor) -> Result<Self> {
        let offers = discover(&connection, patience).await.map_err(|error| eyre!("{error}"))?;
        Ok(Self::new(connection, patience, Arc::new(redactor), Arc::new(offers)))
    }

    /// Reads a cluster of which it is known what it offers.
    pub fn new(connection: Connection, patience: Duration, redactor: Arc<Redactor>, offers: Arc<Discovery>) -> Self {
        let (autoscalers, definitions, published) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (releases, keepers) = (BTreeMap::new(), BTreeMap::new());
        Self {
            connection,
            redactor,
            records: Records::Opened,
            rulings: Rulings::default(),
            patience,
            offers,
            autoscalers,
            definitions,
            published,
            releases,
            keepers,
        }
    }

    /// How long an answer may take.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// What the server offers.
    pub fn offers(&self) -> &Discovery {
        &self.offers
    }

    /// The one kind that a word means.
    ///
    /// # Errors
    /// None or several.
    pub fn kind(&self, word: &str) -> Result<Served, Unread> {
        match self.offers.named(word).as_slice() {
            [served] => Ok((*served).clone()),
            [] => Err(self.no_kind(word, word.split_once('.').map_or("*", |(_, group)| group))),
            several => {
                let names = several.iter().map(|s| format!("{}.{}", s.resource.plural, s.resource.group));
                let names: Vec<String> = names.map(|name| name.trim_end_matches('.').to_owned()).collect();
                Err(Unread::Missing(format!("{word} could be {}: write one of them", names.join(" or "))))
            }
        }
    }

    /// Where the kind of a manifest is served: at its own version if there is that, since then nothing is converted.
    ///
    /// # Errors
    /// It is not served, or its group could not be read.
    pub fn kind_of(&self, api_version: &str, kind: &str) -> Result<Served, Unread> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let group = if group == "extensions" { "apps" } else { group };
        let of_kind = |s: &&Served| s.kind == kind && s.resource.group == group;
        let exact = self.offers.served.iter().find(|s| of_kind(s) && s.resource.version == version);
        let found = exact.or_else(|| self.offers.served.iter().find(of_kind));
        found.cloned().ok_or_else(|| self.no_kind(&format!("{kind} of {api_version}"), group))
    }

    fn no_kind(&self, word: &str, group: &str) -> Unread {
        let hidden = self.offers.unreadable.iter().find(|(unreadable, _)| unreadable == group || unreadable == "*" || group == "*");
        match hidden {
            Some((hidden, why)) => Unread::Unseen(format!("the kind {word} is not known: API group {hidden} cannot be read ({why})")),
            None => Unread::Missing(format!("the cluster has no kind {word}")),
        }
    }

    /// One object, not redacted yet.
    ///
    /// # Errors
    /// It does not exist, or is not to be had.
    pub async fn object(&self, served: &Served, namespace: &str, name: &str) -> Result<Value, Unread> {
        let wanted = ask::Wanted::new(served, namespace, name);
        let bytes = ask::object(&self.connection, &wanted, self.patience).await.map_err(|error| unread(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| Unread::Unseen(format!("the object cannot be read: {error}")))
    }

    /// A page of a list.
    ///
    /// # Errors
    /// It is not to be had.
    pub async fn page(&self, served: &Served, place: &Place, query: Query) -> Result<Page, Unread> {
        self.page_as(served, place, query, None).await
    }

    /// A page of a list of which nothing but the metadata is sent.
    ///
    /// # Errors
    /// It is not to be had.
    pub async fn metadata(&self, served: &Served, place: &Place, query: Query) -> Result<Page, Unread> {
        self.page_as(served, place, query, Some(NAMES_ONLY)).await
    }

    async fn page_as(&self, served: &Served, place: &Place, query: Query, accept: Option<&'static str>) -> Result<Page, Unread> {
        let bytes = self.bytes(query.after(&served.resource.list(place)), accept).await?;
        let list: List<'_> = serde_json::from_slice(&bytes).map_err(|error| Unread::Unseen(format!("the list cannot be read: {error}")))?;
        let items = list.items.iter().map(|item| String::from_utf8_lossy(&typed(item.get(), served)).into_owned());
        Ok(Page { items: items.collect(), next: list.metadata.next })
    }

    async fn bytes(&self, path: String, accept: Option<&'static str>) -> Result<Vec<u8>, Unread> {
        let get = Get { accept: accept.unwrap_or(JSON), ..Get::json(path) };
        self.connection.fetch(&get, self.patience).await.map_err(|error| unread(&error))
    }

    /// A whole list; kinds that the cluster does not have are empty.
    async fn list(&self, word: &str, namespace: &str, labels: &str) -> Result<Vec<Value>, String> {
        let served = match self.kind(word) {
            Ok(served) => served,
            Err(Unread::Missing(_)) => return Ok(Vec::new()),
            Err(Unread::Unseen(why)) => return Err(why),
        };
        let place = Place::Namespace(namespace.into());
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            match self.page(&served, &place, paged(200, labels, &token)).await {
                Ok(page) => {
                    all.extend(page.items.iter().filter_map(|item| serde_json::from_str(item).ok()));
                    token = page.next;
                }
                Err(Unread::Missing(_)) => return Ok(all),
                Err(Unread::Unseen(why)) => return Err(why),
            }
            if token.is_empty() {
                return Ok(all);
            }
        }
    }

    /// The autoscalers that target an object, and what could not be looked at.
    pub async fn autoscalers(&mut self, namespace: &str, name: &str) -> (Vec<Arc<Value>>, Vec<Unchecked>) {
        if !self.autoscalers.contains_key(namespace) {
            let (mut all, mut unchecked) = (Vec::new(), Vec::new());
            for (kind, word) in AUTOSCALERS {
                match self.list(word, namespace, "").await {
                    Ok(found) => all.extend(found.into_iter().map(Arc::new)),
                    Err(why) => unchecked.push(Unchecked { kind: (*kind).to_owned(), namespace: Some(namespace.to_owned()), why }),
                }
            }
            self.autoscalers.insert(namespace.to_owned(), (all, unchecked));
        }
        let (all, unchecked) = &self.autoscalers[namespace];
        let targets = |scaler: &&Arc<Value>| scaler.pointer("/spec/scaleTargetRef/name").and_then(Value::as_str) == Some(name);
        (all.iter().filter(targets).cloned().collect(), unchecked.clone())
    }

    /// The definition of a custom kind, for the keys of its lists; `None` if it has none, as the kinds of aggregated APIs.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn definition(&mut self, resource: &Resource) -> Result<Option<Arc<Value>>, String> {
        let name = format!("{}.{}", resource.plural, resource.group);
        if !self.definitions.contains_key(&name) {
            let read = match self.kind("customresourcedefinitions.apiextensions.k8s.io") {
                Ok(served) => self.object(&served, "", &name).await,
                Err(unread) => Err(unread),
            };
            let known = match read {
                Ok(definition) => Ok(Some(Arc::new(definition))),
                Err(Unread::Missing(_)) => Ok(None),
                Err(Unread::Unseen(why)) => Err(why),
            };
            self.definitions.insert(name.clone(), known);
        }
        self.definitions[&name].clone()
    }

    /// The schema of a kind as its API server publishes it, in the form of a definition; nothing where it cannot be had.
    pub async fn published(&mut self, served: &Served) -> Option<Arc<Value>> {
        let Resource { group, version, .. } = &served.resource;
        let name = format!("{}.{version}.{group}", served.kind);
        if !self.published.contains_key(&name) {
            let document = open_api(&self.connection, &served.resource, self.patience).await.ok();
            let found = document.and_then(|document| openapi::definition(&document, (group, version, &served.kind)));
            self.published.insert(name.clone(), found.map(Arc::new));
        }
        self.published.get(&name).cloned().flatten()
    }

    /// What keeps earlier pod templates of an object; nothing for kinds that have none.
    ///
    /// # Errors
    /// What cannot be read, and why.
    pub async fn revisions(&self, live: &Value) -> Result<Vec<Value>, Unchecked> {
        let text = |pointer: &str| live.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, word) = match text("/kind") {
            "Deployment" => ("ReplicaSet", "replicasets.apps"),
            "StatefulSet" | "DaemonSet" => ("ControllerRevision", "controllerrevisions.apps"),
            _ => return Ok(Vec::new()),
        };
        let labels = live.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let namespace = text("/metadata/namespace");
        let unchecked = |why| Unchecked { kind: kind.to_owned(), namespace: Some(namespace.to_owned()), why };
        self.list(word, namespace, &labels).await.map_err(unchecked)
    }

    /// Who applies an object by its own word, asked once for all objects of the same claimant.
    pub async fn keepers(&mut self, claim: &Claim) -> Keepers {
        let claim = Claim { word: Word::Own, ..claim.clone() };
        if let Some(known) = self.keepers.get(&claim) {
            return known.clone();
        }
        let read = self.claimants(&claim).await.map(Arc::new);
        if self.keepers.len() >= KEPT {
            self.keepers.clear();
        }
        self.keepers.insert(claim, read.clone());
        read
    }

    async fn claimants(&self, claim: &Claim) -> Result<Claimants, Unread> {
        let served = self.kind(&format!("{}.{}", claim.tool.kind(), claim.tool.group()))?;
        let objects: Vec<Value> = match &claim.namespace {
            Some(namespace) => vec![self.object(&served, namespace, &claim.name).await?],
            None => {
                let query = paged(20, "", "").with("fieldSelector", &format!("metadata.name={}", claim.name));
                match self.page(&served, &Place::All, query).await {
                    Ok(page) => page.items.iter().filter_map(|item| serde_json::from_str(item).ok()).collect(),
                    // Its usual place, for those who may not look everywhere.
                    Err(Unread::Unseen(why)) => match self.object(&served, "argocd", &claim.name).await {
                        Ok(found) => vec![found],
                        Err(_) => return Err(Unread::Unseen(why)),
                    },
                    Err(missing) => return Err(missing),
                }
            }
        };
        let mut objects: Vec<Arc<Value>> = objects.into_iter().map(Arc::new).collect();
        let mut unread = None;
        if claim.tool == Tool::Argo
            && let Some(namespace) = objects.first().and_then(|keeper| keeper.pointer("/metadata/namespace")?.as_str().map(str::to_owned))
        {
            match self.object(&self.kind("configmaps")?, &namespace, "argocd-cm").await {
                Ok(settings) => objects.push(Arc::new(settings)),
                Err(Unread::Missing(_)) => {}
                Err(Unread::Unseen(why)) => {
                    let why = format!("what Argo CD ignores everywhere: {why}");
                    unread = Some(Unchecked { kind: "ConfigMap".to_owned(), namespace: Some(namespace), why });
                }
            }
        }
        Ok(Claimants { objects, unread })
    }

    /// The revisions of a release that matter: the newest deployed one, and newer ones that failed or are under way.
    ///
    /// # Errors
    /// Why Helm's records cannot be read.
    pub async fn release(&mut self, name: &str, namespace: &str) -> Revisions {
        if self.records == Records::Left {
            return Err("Helm's records are Secrets, and were not opened".to_owned());
        }
        let key = (namespace.to_owned(), name.to_owned());
        if let Some(known) = self.releases.get(&key) {
            return known.clone();
        }
        let read = self.records(name, namespace).await.map(Arc::from);
        if self.releases.len() >= KEPT {
            self.releases.clear();
        }
        self.releases.insert(key, read.clone());
        read
    }

    /// Helm keeps its records in Secrets, or in ConfigMaps if it was told so. Which there are is asked before any is opened.
    async fn records(&self, name: &str, namespace: &str) -> Result<History, String> {
        let mut refused = None;
        for (plural, kind) in [("secrets", "Secret"), ("configmaps", "ConfigMap")] {
            match self.records_in(plural, name, namespace).await {
                Ok(found) if found.releases.is_empty() && found.broken.is_empty() => {}
                Ok(found) => return Ok(found),
                Err(Unread::Missing(_)) => {}
                Err(Unread::Unseen(why)) => refused = refused.or(Some(format!("{kind}s with Helm's records: {why}"))),
            }
        }
        refused.map_or(Ok(History::default()), Err)
    }

    /// Where Helm 2 keeps a record of this release, if it does: beside Tiller as a rule. What may not be listed is not there to say.
    pub async fn second(&self, name: &str, namespace: &str) -> Option<String> {
        for place in ["kube-system", namespace] {
            for word in ["configmaps", "secrets"] {
                let query = paged(1, &format!("OWNER=TILLER,NAME={name}"), "");
                let served = self.kind(word).ok()?;
                let page = self.metadata(&served, &Place::Namespace(place.into()), query).await;
                if page.is_ok_and(|page| !page.items.is_empty()) {
                    return Some(place.to_owned());
                }
            }
        }
        None
    }

    async fn records_in(&self, plural: &str, name: &str, namespace: &str) -> Result<History, Unread> {
        let resource = Resource { version: "v1".into(), plural: plural.into(), scope: Scope::Namespaced, ..Resource::default() };
        let path = resource.list(&Place::Namespace(namespace.into()));
        let query = Query::default().with("labelSelector", &format!("owner=helm,name={name}"));
        let bytes = self.bytes(query.after(&path), Some(NAMES_ONLY)).await?;
        let list: Value = serde_json::from_slice(&bytes).map_err(|error| Unread::Unseen(format!("the list cannot be read: {error}")))?;
        let mut found = History::default();
        for name in newest(&list) {
            let bytes = self.bytes(resource.object(namespace, &name), None).await?;
            let record = serde_json::from_slice(&bytes).map_err(|error| error.to_string());
            match record.and_then(|record| helm::read(&record, &self.redactor)) {
                Ok(release) => found.releases.push(release),
                Err(why) => found.broken.push(format!("{name}: {why}")),
            }
        }
        Ok(found)
    }
}

/// What scales others.
const AUTOSCALERS: &[(&str, &str)] =
    &[("HorizontalPodAutoscaler", "horizontalpodautoscalers.autoscaling"), ("ScaledObject", "scaledobjects.keda.sh")];

/// Names of the newest deployed record and of those behind it that are no history, newest first.
fn newest(list: &Value) -> Vec<String> {
    let label = |item: &'_ Value, name: &str| item["metadata"]["labels"][name].as_str().unwrap_or_default().to_owned();
    let items = list["items"].as_array().into_iter().flatten();
    let mut all: Vec<(i64, String, String)> = items
        .filter_map(|item| {
            let name = item["metadata"]["name"].as_str().filter(|name| name.starts_with("sh.helm.release.v1."))?;
            Some((label(item, "version").parse().ok()?, label(item, "status"), name.to_owned()))
        })
        .collect();
    all.sort_by(|a, b| b.cmp(a));
    let deployed = all.iter().find(|(_, status, _)| status == "deployed").map(|(version, ..)| *version);
    let deployed = deployed.or(all.first().map(|(version, ..)| *version)).unwrap_or_default();
    let wanted = |(version, status, _): &&(i64, String, String)| *version == deployed || *version > deployed && status != "superseded";
    let mut found: Vec<String> = all.iter().filter(wanted).map(|(_, _, name)| name.clone()).collect();
    // The deployed one is the last of them, and the one that is needed.
    let last = found.pop();
    found.truncate(REVISIONS - 1);
    found.extend(last);
    found
}

/// The query of a page.
pub fn paged(limit: usize, labels: &str, token: &str) -> Query {
    let query = Query::default().with("limit", &limit.to_string());
    let query = if labels.is_empty() { query } else { query.with("labelSelector", labels) };
    if token.is_empty() { query } else { query.with("continue", token) }
}

fn unread(error: &Error) -> Unread {
    match error {
        Error::Status(status) if status.code == 404 => Unread::Missing(error.to_string()),
        Error::Status(_)
        | Error::Config(_)
        | Error::Login { .. }
        | Error::Tls { .. }
        | Error::NotReached { .. }
        | Error::Proxy { .. }
        | Error::Cut { .. }
        | Error::Silent { .. }
        | Error::Unreadable { .. } => Unread::Unseen(error.to_string()),
    }
}
