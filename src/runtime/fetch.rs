//! Fetch: what is read only because somebody opened it: a whole object, its events, its diff, its logs. Redacted before anybody sees it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::app::{Content, Document, EventLine, Offered, Wanted};
use crate::archive::{Archive, ArchivedKind, Previous};
use crate::model::{Kind, ObjectRef, Place, Time};
use crate::redact::Redactor;

use crate::watch::{Connection, Discovery, Get, Query, Served, discover, fetch as ask};

use super::decided::Decided;
use super::reader::Reader;
use super::{compare, offers, snapshot};

/// Lines of a log that are shown.
const LOG_LINES: usize = 500;

/// Where whole objects come from.
#[derive(Clone)]
pub enum Store {
    Files(Arc<Archive>),
    Cluster(Arc<Cluster>),
}

/// A cluster that answers.
pub struct Cluster {
    pub connection: Connection,
    pub patience: Duration,
    /// What it offers, once somebody had to know; asked again when a kind is missing, but not more often than every few seconds.
    offers: Mutex<Option<(Instant, Arc<Discovery>)>>,
}

/// A kind that was installed after the start is found, without asking for every typing error.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// For a list of kinds to choose from what was known so long ago is new enough.
const KNOWN: Duration = Duration::from_secs(120);

impl Store {
    /// The bytes of one object, or of all of a set; nothing where it is not there.
    ///
    /// # Errors
    /// The cluster cannot be read.
    pub async fn read(&self, wanted: &snapshot::Wanted) -> color_eyre::Result<Vec<Vec<u8>>> {
        match self {
            Self::Files(archive) => Ok(from_archive(archive, wanted)),
            Self::Cluster(cluster) => cluster.read(wanted).await,
        }
    }
}

impl Store {
    /// The kinds that nobody follows.
    ///
    /// # Errors
    /// The cluster does not say what it offers.
    pub async fn kinds(&self) -> Result<Vec<Offered>, String> {
        match self {
            Self::Files(archive) => Ok(offers::of_files(archive)),
            Self::Cluster(cluster) => cluster.kinds().await,
        }
    }
}

/// The document that was asked for; an error is a sentence for the screen.
///
/// # Errors
/// It does not exist, may not be read, or could not be had.
pub async fn fetch(store: &Store, wanted: &Wanted, redactor: &Arc<Redactor>, (decided, now): (&Decided, Time)) -> Result<Content, String> {
    if wanted.document == Document::Diff {
        let object = ObjectRef::parse(&wanted.object).ok_or("that is no object")?;
        let comparison = compare::comparison(store, &object, wanted.asked, (redactor, decided)).await?;
        return Ok(Content::Diff(Box::new(decided.decide(comparison, now))));
    }
    match store {
        Store::Files(archive) => from_files(archive, wanted, redactor),
        Store::Cluster(cluster) => cluster.document(wanted, redactor).await,
    }
}

fn from_archive(archive: &Archive, wanted: &snapshot::Wanted) -> Vec<Vec<u8>> {
    let kind_of = |kind: &Kind| archive.kind(kind.row().group, kind.row().name);
    match wanted {
        snapshot::Wanted::Object(kind, namespace, name) => {
            kind_of(kind).and_then(|kind| archive.object(kind, namespace, name)).map(|o| o.bytes()).into_iter().collect()
        }
        // Kinds without a row lie in the archive under their own names.
        snapshot::Wanted::Set(Kind::Other, _) => {
            let others = archive.kinds().iter().filter(|kind| Kind::of(&kind.api_version(), &kind.name) == Kind::Other);
            others.flat_map(|kind| archive.objects(kind, None)).map(|o| o.bytes()).collect()
        }
        snapshot::Wanted::Set(kind, namespace) => {
            kind_of(kind).into_iter().flat_map(|kind| archive.objects(kind, namespace.as_deref())).map(|o| o.bytes()).collect()
        }
    }
}

fn from_files(archive: &Archive, wanted: &Wanted, redactor: &Redactor) -> Result<Content, String> {
    let object = ObjectRef::parse(&wanted.object).ok_or("that is no object")?;
    match wanted.document {
        Document::Yaml | Document::Diff => bytes(archive, &object).and_then(|bytes| yaml(&bytes, redactor)),
        Document::Events => Ok(Content::Events(events(archive, &object, redactor))),
        Document::Logs => log(archive, wanted, Previous::No, redactor),
        Document::Previous => log(archive, wanted, Previous::Yes, redactor),
    }
}

pub(super) fn bytes(archive: &Archive, object: &ObjectRef) -> Result<Vec<u8>, String> {
    let (kind, group) =
        object.kind.split_once('.').map_or_else(|| (&*object.kind, Kind::named(&object.kind).row().group), |(kind, group)| (kind, group));
    // Of Kubernetes' own kinds the name is enough, also of those that nobody follows.
    let is_own = |other: &&ArchivedKind| *other.name == *kind && crate::desired::is_built_in(&other.group);
    let kinds = archive.kind(group, kind).into_iter().chain(archive.kinds().iter().filter(is_own));
    let found = kinds.into_iter().find_map(|kind| archive.object(kind, &object.namespace, &object.name));
    found.map(|archived| archived.bytes()).ok_or_else(|| format!("{object} is not in the input"))
}

/// An object as YAML, without managedFields, which nobody reads at three in the morning.
pub(super) fn yaml(json: &[u8], redactor: &Redactor) -> Result<Content, String> {
    let mut value: serde_json::Value = serde_json::from_slice(json).map_err(|e| format!("the object cannot be read: {e}"))?;
    redactor.object(&mut value);
    if let Some(metadata) = value.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let text = serde_saphyr::to_string(&value).map_err(|e| format!("the object cannot be written as YAML: {e}"))?;
    Ok(Content::Lines(text.lines().map(str::to_owned).collect()))
}

/// Events about an object, newest first, all reasons.
fn events(archive: &Archive, object: &ObjectRef, redactor: &Redactor) -> Vec<EventLine> {
    let kinds = [archive.kind("", "Event"), archive.kind("events.k8s.io", "Event")];
    let objects = kinds.into_iter().flatten().flat_map(|kind| archive.objects(kind, None));
    let mut lines: Vec<EventLine> = objects.filter_map(|archived| event_line(&archived.bytes(), object, redactor)).collect();
    lines.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.reason.cmp(&b.reason)));
    lines
}

/// One event as a line, if it is about this object.
pub(super) fn event_line(json: &[u8], object: &ObjectRef, redactor: &Redactor) -> Option<EventLine> {
    let read = crate::model::read_object(Kind::Event, json)?;
    let crate::model::Object::Event(event) = read else { return None };
    let about = &event.about;
    let kind = object.kind.split_once('.').map_or(&*object.kind, |(kind, _)| kind);
    let same = &*about.kind == kind && about.name == object.name && (about.namespace == object.namespace || object.namespace.is_empty());
    same.then(|| EventLine {
        at: event.last,
        kind: event.kind.to_string(),
        reason: event.reason.to_string(),
        message: redactor.text(&event.message).into_owned(),
        count: u32::try_from(event.count).unwrap_or(u32::MAX),
        source: event.source.to_string(),
    })
}

fn log(archive: &Archive, wanted: &Wanted, previous: Previous, redactor: &Redactor) -> Result<Content, String> {
    let pod = wanted.pod.as_deref().and_then(ObjectRef::parse).ok_or("no pod to read logs of")?;
    let container = wanted.container.as_deref().ok_or("no container to read logs of")?;
    let archived = archive.log(&pod.namespace, &pod.name, container, previous);
    let archived = archived.ok_or_else(|| {
        format!(
            "the input holds no {}log of container {container} of {}",
            if previous == Previous::Yes { "previous " } else { "" },
            pod.place()
        )
    })?;
    let value: serde_json::Value = serde_json::from_slice(&archived.bytes()).map_err(|e| format!("the log cannot be read: {e}"))?;
    let lines = value["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = lines.iter().filter_map(serde_json::Value::as_str);
    Ok(Content::Lines(tail(text.map(|line| redactor.text(line).into_owned()).collect())))
}

/// The last lines of a log.
pub(super) fn tail(mut lines: Vec<String>) -> Vec<String> {
    let over = lines.len().saturating_sub(LOG_LINES);
    lines.drain(..over);
    lines
}

impl Cluster {
    pub fn new(connection: Connection, patience: Duration) -> Self {
        Self { connection, patience, offers: Mutex::new(None) }
    }

    async fn document(&self, wanted: &Wanted, redactor: &Redactor) -> Result<Content, String> {
        let object = ObjectRef::parse(&wanted.object).ok_or("that is no object")?;
        match wanted.document {
            Document::Yaml | Document::Diff => yaml(&self.object(&object).await?, redactor),
            Document::Events => self.events(&object, redactor).await,
            Document::Logs => self.log(wanted, ask::Run::Present, redactor).await,
            Document::Previous => self.log(wanted, ask::Run::Previous, redactor).await,
        }
    }

    async fn object(&self, object: &ObjectRef) -> Result<Vec<u8>, String> {
        let served = self.served(&object.kind).await?;
        ask::object(&self.connection, &ask::Wanted::new(&served, &object.namespace, &object.name), self.patience)
            .await
            .map_err(|e| e.to_string())
    }

    async fn events(&self, object: &ObjectRef, redactor: &Redactor) -> Result<Content, String> {
        let served = self.served(&object.kind).await?;
        let wanted = ask::Wanted::new(&served, &object.namespace, &object.name);
        let bytes = ask::events(&self.connection, &wanted, self.patience).await.map_err(|e| e.to_string())?;
        let list: List<'_> = serde_json::from_slice(&bytes).map_err(|e| format!("the events cannot be read: {e}"))?;
        let mut lines: Vec<EventLine> = list.items.iter().filter_map(|item| event_line(item.get().as_bytes(), object, redactor)).collect();
        lines.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.reason.cmp(&b.reason)));
        Ok(Content::Events(lines))
    }

    async fn log(&self, wanted: &Wanted, run: ask::Run, redactor: &Redactor) -> Result<Content, String> {
        let pod = wanted.pod.as_deref().and_then(ObjectRef::parse).ok_or("no pod to read logs of")?;
        let of = ask::LogOf { namespace: pod.namespace.to_string(), pod: pod.name.to_string(), container: wanted.container.clone(), run };
        let text = ask::log(&self.connection, &of, self.patience).await.map_err(|e| e.to_string())?;
        Ok(Content::Lines(tail(text.lines().map(|line| redactor.text(line).into_owned()).collect())))
    }

    /// Discovery is asked again after a while: kinds may have been installed.
    async fn kinds(&self) -> Result<Vec<Offered>, String> {
        let mut offers = self.offers.lock().await;
        match &*offers {
            Some((asked, known)) if asked.elapsed() < KNOWN => Ok(offers::of_cluster(known)),
            Some(_) | None => {
                let fresh = Arc::new(discover(&self.connection, self.patience).await.map_err(|e| e.to_string())?);
                *offers = Some((Instant::now(), fresh.clone()));
                Ok(offers::of_cluster(&fresh))
            }
        }
    }

    /// Where a kind is served, by the name that references give it.
    async fn served(&self, kind: &str) -> Result<Served, String> {
        let word = match (kind.split_once('.'), Kind::named(kind)) {
            (None, known) if known != Kind::Other && !known.row().group.is_empty() => format!("{kind}.{}", known.row().group),
            (Some(_), _) | (None, _) => kind.to_owned(),
        };
        let mut offers = self.offers.lock().await;
        let found =
            |offers: &Option<(Instant, Arc<Discovery>)>| offers.as_ref().and_then(|(_, d)| d.named(&word).first().map(|s| (*s).clone()));
        if let Some(served) = found(&offers) {
            return Ok(served);
        }
        if offers.as_ref().is_none_or(|(asked, _)| asked.elapsed() >= ASK_AGAIN) {
            let fresh = discover(&self.connection, self.patience).await.map_err(|e| e.to_string())?;
            *offers = Some((Instant::now(), Arc::new(fresh)));
        }
        found(&offers).ok_or_else(|| format!("the cluster has no kind {kind}"))
    }

    /// Where a kind is served, and a reader of the cluster as it is now.
    pub(super) async fn reader(&self, kind: &str, redactor: &Arc<Redactor>) -> Result<(Served, Reader), String> {
        let served = self.served(kind).await?;
        let offers = self.offers.lock().await.as_ref().map(|(_, offers)| offers.clone()).unwrap_or_default();
        Ok((served, Reader::new(self.connection.clone(), self.patience, redactor.clone(), offers)))
    }

    /// For snapshots: one object, or a set page by page.
    async fn read(&self, wanted: &snapshot::Wanted) -> color_eyre::Result<Vec<Vec<u8>>> {
        let (kind, namespace) = match wanted {
            snapshot::Wanted::Object(kind, namespace, name) => {
                let object = ObjectRef::new(kind.row().name, namespace, name);
                // What went since it was judged, or may not be read, is simply not in the snapshot.
                return Ok(self.object(&object).await.into_iter().collect());
            }
            snapshot::Wanted::Set(Kind::Other, _) => return Ok(Vec::new()),
            snapshot::Wanted::Set(kind, namespace) => (kind, namespace),
        };
        let place = namespace.clone().map_or(Place::All, Place::Namespace);
        Ok(self.set(kind.row().name, &place, "").await.0)
    }

    /// The objects of a kind that labels select, as far as they could be read, and why no further.
    async fn set(&self, kind: &str, place: &Place, labels: &str) -> (Vec<Vec<u8>>, Option<String>) {
        let mut objects = Vec::new();
        let served = match self.served(kind).await {
            Ok(served) => served,
            Err(why) => return (objects, Some(why)),
        };
        let mut token = String::new();
        loop {
            match self.part(&served, place, labels, &token).await {
                Ok((part, next)) => {
                    objects.extend(part);
                    token = next;
                }
                Err(why) => return (objects, Some(why)),
            }
            if token.is_empty() {
                return (objects, None);
            }
        }
    }

    /// One page of them, and the token of the next.
    async fn part(&self, served: &Served, place: &Place, labels: &str, token: &str) -> Result<(Vec<Vec<u8>>, String), String> {
        let query = Query::default().with("limit", "500");
        let query = if labels.is_empty() { query } else { query.with("labelSelector", labels) };
        let query = if token.is_empty() { query } else { query.with("continue", token) };
        let get = Get::json(query.after(&served.resource.list(place)));
        let bytes = self.connection.fetch(&get, self.patience).await.map_err(|e| e.to_string())?;
        let list: List<'_> = serde_json::from_slice(&bytes).map_err(|e| format!("the list cannot be read: {e}"))?;
        Ok((list.items.iter().map(|item| typed(item.get(), served)).collect(), list.metadata.next))
    }
}

/// Items of a list lack kind and API version: the list has them.
pub(super) fn typed(item: &str, served: &Served) -> Vec<u8> {
    let group = &served.resource.group;
    let version = if group.is_empty() { served.resource.version.clone() } else { format!("{group}/{}", served.resource.version) };
    let head = format!("{{\"kind\":\"{}\",\"apiVersion\":\"{version}\"", served.kind);
    let fields = item.trim_start().strip_prefix('{').unwrap_or(item);
    let comma = if fields.trim_start().starts_with('}') { "" } else { "," };
    format!("{head}{comma}{fields}").into_bytes()
}

/// A list as the API server writes it, its items left as text.
#[derive(serde::Deserialize)]
pub(super) struct List<'a> {
    #[serde(default)]
    pub metadata: ListMeta,
    #[serde(borrow)]
    pub items: Vec<&'a serde_json::value::RawValue>,
}

#[derive(serde::Deserialize, Default)]
pub(super) struct ListMeta {
    #[serde(default, rename = "continue")]
    pub next: String,
}
