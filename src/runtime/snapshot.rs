//! Snapshot: the stuck workloads with all that explains them, or everything, redacted, to a file that reopens with `--from`.

use std::collections::BTreeSet;
use std::path::Path;

use color_eyre::{Result, eyre::Context};

use super::fetch::Store;
use super::triage::Triage;
use crate::archive::{Existing, Header, Totals, Writer};
use crate::model::{Cluster, Coverage, CoverageState, Event, KINDS, Kind, Look, ObjectRef, Time};
use crate::redact::Redactor;

/// What a snapshot will hold.
#[derive(Debug, Clone)]
pub struct Plan {
    header: Header,
    objects: BTreeSet<Wanted>,
}

/// One object by name, or a whole kind in one namespace or everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    Object(Kind, Box<str>, Box<str>),
    Set(Kind, Option<Box<str>>),
}

/// What explains the present blockers: all that their judges have looked at, so that they come out the same when it is reopened.
pub fn plan(triage: &Triage, now: Time, context: &str) -> Plan {
    let cluster = &triage.cluster;
    let report = triage.engine.report(cluster);
    let totals = Totals { pods: report.summary.pods, workloads: report.summary.workloads };
    let header = Header { captured_at: now, context: context.to_owned(), coverage: Coverage::default(), gone: Vec::new(), totals };
    let mut plan = Plan { header, objects: BTreeSet::new() };
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

/// Everything that is followed, as far as it may be read.
pub fn everything(triage: &Triage, now: Time, context: &str) -> Plan {
    let cluster = &triage.cluster;
    let summary = triage.engine.report(cluster).summary;
    let totals = Totals { pods: summary.pods, workloads: summary.workloads };
    let mut coverage = Coverage::default();
    for (kind, namespace, state) in cluster.coverage().iter() {
        coverage.set(kind, namespace, state.clone());
    }
    let objects = KINDS.iter().map(|row| Wanted::Set(row.kind, None)).collect();
    Plan { header: Header { captured_at: now, context: context.to_owned(), coverage, gone: Vec::new(), totals }, objects }
}

/// Writes it; answers how many objects it holds.
///
/// # Errors
/// The file is there already, the disk is full, or the cluster cannot be read any more.
pub async fn write(store: &Store, plan: Plan, path: &Path, existing: Existing, redactor: &Redactor) -> Result<u64> {
    let mut writer = Writer::create(path, &plan.header, existing).wrap_err_with(|| format!("{} cannot be written", path.display()))?;
    let mut written = BTreeSet::new();
    for wanted in &plan.objects {
        for object in store.read(wanted).await? {
            let Some((identity, json)) = prepare(&object, redactor) else { continue };
            if written.insert(identity) {
                writer.object(&json).wrap_err("the snapshot could not be written; nothing is left of it")?;
            }
        }
    }
    writer.finish().wrap_err("the snapshot could not be written; nothing is left of it")
}

impl Plan {
    fn take(&mut self, cluster: &Cluster, look: Look<Box<str>>, gone: &mut BTreeSet<ObjectRef>) {
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
    fn take_set(&mut self, cluster: &Cluster, kind: Kind, namespace: Option<Box<str>>) {
        let synced =
            namespace.as_deref().map_or_else(|| cluster.coverage().is_synced_everywhere(kind), |ns| cluster.coverage().is_synced(kind, ns));
        if synced {
            self.header.coverage.set(kind, namespace.as_deref(), CoverageState::Synced);
        }
        self.objects.insert(Wanted::Set(kind, namespace));
    }

    /// "I may not read this" must not become "not in the input": it is why something was left unchecked.
    fn keep_what_is_unreadable(&mut self, cluster: &Cluster) {
        for (kind, namespace, state) in cluster.coverage().iter() {
            if matches!(state, CoverageState::Denied { .. } | CoverageState::Stale { .. }) {
                self.header.coverage.set(kind, namespace, state.clone());
            }
        }
    }
}

impl Wanted {
    fn is_known(&self, cluster: &Cluster) -> bool {
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

/// The object as it may be written, with what tells it from all others. Of secrets and config maps only that they exist.
fn prepare(json: &[u8], redactor: &Redactor) -> Option<(String, Vec<u8>)> {
    let mut value: serde_json::Value = serde_json::from_slice(json).ok()?;
    redactor.object(&mut value);
    let object = value.as_object_mut()?;
    if object.get("kind").is_some_and(|kind| kind == "Secret" || kind == "ConfigMap") {
        object.retain(|field, _| matches!(field.as_str(), "apiVersion" | "kind" | "metadata" | "type"));
        if let Some(metadata) = object.get_mut("metadata").and_then(serde_json::Value::as_object_mut) {
            metadata.remove("annotations");
        }
    }
    let metadata = &value["metadata"];
    let identity = format!("{}/{}/{}/{}", value["apiVersion"], value["kind"], metadata["namespace"], metadata["name"]);
    Some((identity, serde_json::to_vec(&value).ok()?))
}
