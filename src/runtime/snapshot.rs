//! Snapshot: the stuck workloads with all that explains them, or everything, redacted, to a file that reopens with `--from`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use color_eyre::{Result, eyre::Context, eyre::eyre};

use super::fetch::{Cluster, Store};
use super::reader::{Reader, Unread, paged};
use super::triage::Triage;
use crate::archive::{Existing, Header, Totals, Writer};
use crate::model::{Cluster as Picture, Coverage, CoverageState, Event, KINDS, Kind, Look, ObjectRef, Place, Text, Time};
use crate::redact::Redactor;
use crate::watch::{Served, discover};

/// What a snapshot will hold.
#[derive(Debug, Clone)]
pub struct Plan {
    header: Header,
    objects: BTreeSet<Wanted>,
    keeps: Keeps,
}

/// What is written of secrets and config maps, and of kinds that are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeps {
    /// That they exist, as far as a blocker needs them.
    Existence,
    /// All of them, with redacted values: equal values have equal tags, so that what changes later can be told.
    Values,
}

/// One object by name, or a whole kind in one namespace or everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    Object(Kind, Text, Text),
    Set(Kind, Option<Text>),
}

/// What explains the present blockers: all that their judges have looked at, so that they come out the same when it is reopened.
pub fn plan(triage: &Triage, now: Time, context: &str) -> Plan {
    let cluster = &triage.cluster;
    let report = triage.engine.report(cluster);
    let totals = Totals { pods: report.summary.pods, workloads: report.summary.workloads };
    let header = Header {
        captured_at: now,
        context: context.to_owned(),
        coverage: Coverage::default(),
        gone: Vec::new(),
        totals,
        tags: String::new(),
    };
    let mut plan = Plan { header, objects: BTreeSet::new(), keeps: Keeps::Existence };
    let mut gone = BTreeSet::new();
    for look in triage.engine.looks(cluster, now) {
        plan.take(cluster, look, &mut gone);
    }
    for blocker in report.blockers {
        plan.objects.extend(blocker.affected.iter().chain(&*blocker.pod_names).chain([&blocker.root]).map(named));
    }
    plan.objects.retain(|wanted| wanted.is_known(cluster));
    plan.header.gone = gone.into_iter().map(|o: ObjectRef| o.to_string()).collect();
    plan.keep_what_is_unreadable(cluster);
    plan
}

/// Everything there is, as far as it may be read.
pub fn everything(triage: &Triage, now: Time, context: &str) -> Plan {
    let cluster = &triage.cluster;
    let summary = triage.engine.report(cluster).summary;
    let totals = Totals { pods: summary.pods, workloads: summary.workloads };
    let mut coverage = Coverage::default();
    for (kind, namespace, state) in cluster.coverage().iter() {
        coverage.set(kind, namespace, state.clone());
    }
    let objects = KINDS.iter().map(|row| Wanted::Set(row.kind, None)).collect();
    let header = Header { captured_at: now, context: context.to_owned(), coverage, gone: Vec::new(), totals, tags: String::new() };
    Plan { header, objects, keeps: Keeps::Values }
}

/// Writes it; answers how many objects it holds.
///
/// # Errors
/// The file is there already, the disk is full, or the cluster cannot be read any more.
pub async fn write(store: &Store, plan: Plan, path: &Path, existing: Existing, redactor: &Arc<Redactor>) -> Result<u64> {
    let header = Header { tags: redactor.fingerprint(), ..plan.header };
    let writer = Writer::create(path, &header, existing).wrap_err_with(|| format!("{} cannot be written", path.display()))?;
    let mut out = Out { writer, written: BTreeSet::new(), redactor, keeps: plan.keeps };
    for wanted in &plan.objects {
        for object in store.read(wanted).await? {
            out.put(&object)?;
        }
    }
    match (store, plan.keeps) {
        (Store::Cluster(cluster), Keeps::Values) => out.others(cluster).await?,
        (Store::Cluster(_), Keeps::Existence) | (Store::Files(_), Keeps::Existence | Keeps::Values) => {}
    }
    out.writer.finish().wrap_err(FULL)
}

const FULL: &str = "the snapshot could not be written; nothing is left of it";

/// A snapshot while it is written.
struct Out<'a> {
    writer: Writer,
    written: BTreeSet<String>,
    redactor: &'a Arc<Redactor>,
    keeps: Keeps,
}

impl Out<'_> {
    fn put(&mut self, object: &[u8]) -> Result<()> {
        let Some((identity, json)) = prepare(object, self.redactor, self.keeps) else { return Ok(()) };
        if self.written.insert(identity) {
            self.writer.object(&json).wrap_err(FULL)?;
        }
        Ok(())
    }

    /// Kinds that nobody follows, a page at a time: access rules, policies, custom resources. What may not be read is said.
    async fn others(&mut self, cluster: &Cluster) -> Result<()> {
        let offers = discover(&cluster.connection, cluster.patience).await.map_err(|error| eyre!("{error}"))?;
        let reader = Reader::new(cluster.connection.clone(), cluster.patience, self.redactor.clone(), Arc::new(offers));
        let mut kinds: Vec<Served> = reader.offers().served.iter().filter(|served| served.can_list && is_other(served)).cloned().collect();
        kinds.dedup_by(|b, a| a.resource.group == b.resource.group && a.resource.plural == b.resource.plural);
        for served in kinds {
            let mut token = String::new();
            loop {
                let page = match reader.page(&served, &Place::All, paged(200, "", &token)).await {
                    Ok(page) => page,
                    Err(Unread::Missing(why) | Unread::Unseen(why)) => {
                        eprintln!("holdup: {} are not in the snapshot: {why}", served.resource.plural);
                        break;
                    }
                };
                for item in &page.items {
                    self.put(item.as_bytes())?;
                }
                token = page.next;
                if token.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Neither a kind that is followed, nor one that only repeats others or that nobody keeps.
fn is_other(served: &Served) -> bool {
    let resource = &served.resource;
    let is_followed = KINDS.iter().any(|row| row.group == resource.group && row.plural == resource.plural);
    let repeats = matches!(resource.group.as_str(), "metrics.k8s.io" | "events.k8s.io") || resource.plural == "componentstatuses";
    !is_followed && !repeats
}

impl Plan {
    fn take(&mut self, cluster: &Picture, look: Look<Text>, gone: &mut BTreeSet<ObjectRef>) {
        match look {
            Look::Object(kind, namespace, name) => {
                if cluster.object(kind, &namespace, &name).is_absent() {
                    gone.insert(ObjectRef::new(kind.row().name, &namespace, &name));
                }
                self.objects.insert(Wanted::Object(kind, namespace, name));
            }
            Look::Set(kind, namespace) => self.take_set(cluster, kind, namespace),
            Look::PodsOf(uid) => self.objects.extend(cluster.pods_of(&uid).map(|p| named(&p.reference()))),
            Look::PodsOn(node) => self.objects.extend(cluster.pods_on(&node).map(|p| named(&p.reference()))),
            Look::EventsOf(kind, namespace, name) => {
                let about = ObjectRef::new(kind.into_string(), &namespace, &name);
                self.objects.extend(cluster.events(&about).into_iter().map(event));
            }
            Look::Owned(kind, uid) => {
                let owned = cluster.objects(kind, None).filter(|o| o.meta().controller().is_some_and(|c| c.uid == uid));
                self.objects.extend(owned.map(|o| Wanted::Object(kind, o.meta().namespace.clone(), o.meta().name.clone())));
            }
            Look::SlicesOf(namespace, service) => {
                let slices = cluster.slices_of(&namespace, &service).into_iter();
                self.objects.extend(slices.map(|s| Wanted::Object(Kind::EndpointSlice, s.meta.namespace.clone(), s.meta.name.clone())));
            }
            Look::Coverage(_) => {}
        }
    }

    /// A whole set stays a whole set: then its coverage says so too.
    fn take_set(&mut self, cluster: &Picture, kind: Kind, namespace: Option<Text>) {
        let synced =
            namespace.as_deref().map_or_else(|| cluster.coverage().is_synced_everywhere(kind), |ns| cluster.coverage().is_synced(kind, ns));
        if synced {
            self.header.coverage.set(kind, namespace.as_deref(), CoverageState::Synced);
        }
        self.objects.insert(Wanted::Set(kind, namespace));
    }

    /// "I may not read this" must not become "not in the input": it is why something was left unchecked.
    fn keep_what_is_unreadable(&mut self, cluster: &Picture) {
        for (kind, namespace, state) in cluster.coverage().iter() {
            if matches!(state, CoverageState::Denied { .. } | CoverageState::Stale { .. }) {
                self.header.coverage.set(kind, namespace, state.clone());
            }
        }
    }
}

impl Wanted {
    fn is_known(&self, cluster: &Picture) -> bool {
        match self {
            Self::Object(kind, namespace, name) => cluster.object(*kind, namespace, name).is().is_some(),
            Self::Set(..) => true,
        }
    }
}

fn named(object: &ObjectRef) -> Wanted {
    Wanted::Object(Kind::named(&object.kind), object.namespace.clone(), object.name.clone())
}

fn event(event: &Event) -> Wanted {
    Wanted::Object(Kind::Event, event.meta.namespace.clone(), event.meta.name.clone())
}

/// The object as it may be written, with what tells it from all others. Of secrets and config maps only that they exist, unless all is kept.
fn prepare(json: &[u8], redactor: &Redactor, keeps: Keeps) -> Option<(String, Vec<u8>)> {
    let mut value: serde_json::Value = serde_json::from_slice(json).ok()?;
    redactor.object(&mut value);
    let object = value.as_object_mut()?;
    if keeps == Keeps::Existence && object.get("kind").is_some_and(|kind| kind == "Secret" || kind == "ConfigMap") {
        object.retain(|field, _| matches!(field.as_str(), "apiVersion" | "kind" | "metadata" | "type"));
        if let Some(metadata) = object.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
            metadata.remove("annotations");
        }
    }
    let metadata = &value["metadata"];
    let identity = format!("{}/{}/{}/{}", value["apiVersion"], value["kind"], metadata["namespace"], metadata["name"]);
    Some((identity, serde_json::to_vec(&value).ok()?))
}
