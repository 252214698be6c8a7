//! Engine: which subjects are to be judged, what each looked at, and what was found. It judges again what a change or the clock touches, nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::model::{Cluster, Kind, Look, Object, ObjectRef, Read, Text, Time, Touched};

use super::cx::{Memory, Trace};
use super::grouping::Grouping;
use super::ledger::Ledger;
use super::rows::{Rows, Shape};
use super::subjects::{Present, Subject, is_subject};
use super::{Cause, Cx, Deleting, Finding, Judge, Report, Workload, cause};

/// Subjects judged in one step: a key that is pressed waits for the step to end.
const SLICE: usize = 8;

/// What narrows or qualifies judging.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The time of judgement is known apart from the objects.
    pub clock_is_known: bool,
    /// Only these pods and workloads are judged (`-l`, `--field-selector`); never what explains them.
    pub only: Option<Only>,
}

/// `-l` and `--field-selector` as they apply to judged pods and workloads.
#[derive(Debug, Clone, Default)]
pub struct Only {
    pub labels: crate::model::Selector,
    /// Field path and value that must be equal (or, with false, must differ).
    pub fields: Vec<(String, String, bool)>,
}

/// Whether subjects are still waiting to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

/// One finding with the row that made it and the subject it is about.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub cause: &'static Cause,
    pub finding: Finding,
    /// The workload that is held up, or the object itself.
    pub affected: ObjectRef,
    /// The pod, if the subject is one.
    pub pod: Option<ObjectRef>,
}

/// What is judged against.
#[derive(Clone, Copy)]
struct View<'a> {
    cluster: &'a Cluster,
    now: Time,
    trace: Option<&'a Trace>,
}

#[derive(Debug, Default)]
struct Judged {
    found: Vec<Arc<Found>>,
    /// Each once.
    reads: Vec<Read>,
    due: Option<Time>,
}

/// The judging side's only memory: plain book-keeping that could be thrown away and made again.
#[derive(Debug, Default)]
pub struct Engine {
    options: Options,
    waiting: BTreeSet<Subject>,
    /// Those of which something was found.
    found: BTreeMap<Subject, Box<[Arc<Found>]>>,
    ledger: Ledger,
    memory: Memory,
    /// The report, kept by difference.
    grouping: Grouping,
    /// Something found differs from what the last report held.
    changed: bool,
}

impl Engine {
    pub fn new(options: Options) -> Self {
        Self { options, waiting: BTreeSet::from([Subject::ControlPlane]), ..Self::default() }
    }

    /// Notes what a delta touched: those objects, and whoever looked at what it changed. Most objects of a large cluster are no
    /// subjects, and need not wait.
    pub fn touch(&mut self, cluster: &Cluster, touched: &Touched) {
        self.memory.touch(touched);
        for (kind, namespace, name) in &touched.objects {
            let subject = Subject::Object(*kind, namespace.clone(), name.clone());
            let is_new = || cluster.has_unwell(*kind, namespace, name, |object| is_subject(*kind, object));
            if *kind == Kind::Pod || self.ledger.knows(&subject) || self.found.contains_key(&subject) || is_new() {
                self.waiting.insert(subject);
            }
        }
        for read in &touched.reads {
            self.waiting.extend(self.ledger.take_readers(read));
        }
        self.grouping.touch(touched.reads.iter());
    }

    /// Judges some of what waits. Call until [`Progress::Done`], or until the time is up.
    pub fn step(&mut self, cluster: &Cluster, now: Time) -> Progress {
        self.waiting.extend(self.ledger.take_due(now));
        if !self.waiting.is_empty() && self.memory.prepare(cluster) {
            return Progress::More;
        }
        for _ in 0..SLICE {
            let Some(subject) = self.waiting.pop_first() else { break };
            let judged = self.judge(View { cluster, now, trace: None }, &subject);
            self.ledger.enter(&subject, &judged.reads, judged.due);
            self.note(subject, judged.found);
        }
        if self.waiting.is_empty() {
            self.waiting = self.ledger.clear_up().into_iter().collect();
        }
        if self.waiting.is_empty() { Progress::Done } else { Progress::More }
    }

    /// When the clock alone changes a finding next.
    pub fn next_due(&self) -> Option<Time> {
        self.ledger.next_due()
    }

    /// Whether something found differs from what it was when this was last asked: only then is a new report worth making.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// The same without answering for it.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Everything found, grouped, folded and ranked: what changed since this was last asked is made anew, the rest is the same.
    pub fn update(&mut self, cluster: &Cluster) -> Report {
        self.grouping.report(cluster)
    }

    /// Does some of the work of the next [`Engine::update`], for as many groups; it may be left undone.
    pub fn prepare(&mut self, cluster: &Cluster, groups: usize) -> Progress {
        self.grouping.advance(cluster, groups)
    }

    /// The same, made from nothing.
    pub fn report(&self, cluster: &Cluster) -> Report {
        let mut grouping = Grouping::default();
        self.found.values().flatten().for_each(|f| grouping.add(f));
        grouping.report(cluster)
    }

    /// What the judges of everything found have looked at: what a snapshot must hold so that it names the same blockers.
    pub fn looks(&self, cluster: &Cluster, now: Time) -> BTreeSet<Look<Text>> {
        let trace = Trace::default();
        for subject in self.found.keys() {
            if let Subject::Object(kind, namespace, name) = subject {
                trace.borrow_mut().insert(Look::Object(*kind, namespace.clone(), name.clone()));
            }
            self.judge(View { cluster, now, trace: Some(&trace) }, subject);
        }
        trace.into_inner()
    }

    fn note(&mut self, subject: Subject, found: Vec<Arc<Found>>) {
        let before = self.found.get(&subject).map(|before| &**before).unwrap_or_default();
        if before == &*found {
            return;
        }
        let found: Box<[Arc<Found>]> = found.into();
        self.grouping.change(before, &found);
        self.changed = true;
        if found.is_empty() {
            self.found.remove(&subject);
        } else {
            self.found.insert(subject, found);
        }
    }

    fn judge(&self, view: View<'_>, subject: &Subject) -> Judged {
        if view.trace.is_none()
            && let Some(judged) = judge_unopened(view.cluster, subject)
        {
            return judged;
        }
        let present = Present::of(view.cluster, subject).filter(|present| self.options.admits(*present));
        let Some(present) = present else { return Judged::default() };
        let cx = Cx::new(view.cluster, view.now, self.options.clock_is_known, view.trace, &self.memory);
        let affected = affected(&cx, present);
        let mut found = Vec::new();
        for rows in Shape::of(present).stages() {
            found.extend(ask(&cx, view.cluster, present, affected.as_ref(), rows));
            if !found.is_empty() && !matches!(present, Present::ControlPlane) {
                break;
            }
        }
        let (mut reads, due) = cx.finish();
        // A subject is judged again when it changes itself, whoever looked.
        if let Subject::Object(kind, namespace, name) = subject {
            let itself = Read::object(*kind, namespace, name);
            reads.retain(|read| *read != itself);
        }
        reads.sort_unstable();
        reads.dedup();
        Judged { found, reads, due }
    }
}

/// What is known without opening it: of a Service that is served no row has anything to say, until one of its slices or it changes.
fn judge_unopened(cluster: &Cluster, subject: &Subject) -> Option<Judged> {
    let Subject::Object(Kind::Service, namespace, name) = subject else { return None };
    let nothing = || Judged { reads: vec![Read::slices_of(namespace, name)], ..Judged::default() };
    cluster.is_served(namespace, name).then(nothing)
}

/// Asks the rows of a stage; the first that answers wins, but for the control plane, where all are heard.
fn ask(cx: &Cx<'_>, cluster: &Cluster, present: Present<'_>, affected: Option<&ObjectRef>, rows: &Rows) -> Vec<Arc<Found>> {
    let mut all = Vec::new();
    for generic in [false, true] {
        for row in if generic { &rows.generic } else { &rows.specific } {
            if cx.waits_for(row.needs, present.namespace()) {
                continue;
            }
            let findings = run(row, cx, cluster, present);
            let unknown = cx.take_unknown();
            all.extend(findings.into_iter().map(|(cause, f)| Arc::new(found(cause, present, affected, f, &unknown))));
            if !all.is_empty() && !matches!(present, Present::ControlPlane) {
                return all;
            }
        }
        if !all.is_empty() {
            break;
        }
    }
    all
}

/// Rows are told apart by their ids.
impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        self.cause.id == other.cause.id && self.affected == other.affected && self.pod == other.pod && self.finding == other.finding
    }
}

impl Options {
    /// Whether the narrowing options leave this subject in.
    fn admits(&self, present: Present<'_>) -> bool {
        let Some(only) = &self.only else { return true };
        match present {
            Present::Pod(pod) => {
                let field = |path: &str| match path {
                    "metadata.name" => pod.name(),
                    "metadata.namespace" => pod.namespace().to_owned(),
                    "spec.nodeName" => pod.node().unwrap_or_default().to_owned(),
                    "status.phase" => format!("{:?}", pod.phase()),
                    _ => String::new(),
                };
                only.admits(|key| pod.label(key), field)
            }
            Present::Object(_, object) if Workload::of(object).is_some() => {
                let meta = object.meta();
                let field = |path: &str| match path {
                    "metadata.name" => meta.name.to_string(),
                    "metadata.namespace" => meta.namespace.to_string(),
                    _ => String::new(),
                };
                only.admits(|key| meta.label(key), field)
            }
            Present::Object(..) | Present::ControlPlane => true,
        }
    }
}

impl Only {
    fn admits<'l>(&self, label: impl Fn(&str) -> Option<&'l str>, field: impl Fn(&str) -> String) -> bool {
        self.labels.matches(label) && self.fields.iter().all(|(path, value, equal)| (field(path) == *value) == *equal)
    }
}

/// Who is held up by what is found of this subject.
fn affected(cx: &Cx<'_>, present: Present<'_>) -> Option<ObjectRef> {
    let hash = match present {
        Present::Pod(pod) => pod.label("pod-template-hash"),
        Present::Object(_, object) => object.meta().label("pod-template-hash"),
        Present::ControlPlane => None,
    };
    let top = present.owner().map(|owner| cx.lineage(owner, present.namespace(), hash).top.clone());
    match present {
        Present::Object(_, object) if Workload::of(object).is_none() => Some(present.reference()),
        Present::Pod(_) | Present::Object(..) => top.or_else(|| Some(present.reference())),
        Present::ControlPlane => None,
    }
}

/// A judge that panics costs its subject only.
fn run(row: &'static Cause, cx: &Cx<'_>, cluster: &Cluster, present: Present<'_>) -> Vec<(&'static Cause, Finding)> {
    let answer = catch_unwind(AssertUnwindSafe(|| dispatch(row, cx, cluster, present)));
    answer.unwrap_or_else(|_| vec![(row, Finding::quiet(present.reference(), format!("internal error in cause {}", row.id)))])
}

fn dispatch(row: &'static Cause, cx: &Cx<'_>, cluster: &Cluster, present: Present<'_>) -> Vec<(&'static Cause, Finding)> {
    let told = match (row.judge, present) {
        (Judge::ControlPlane(f), Present::ControlPlane) => return f(cx).into_iter().map(|f| (row, f)).collect(),
        (_, Present::ControlPlane) => None,
        (Judge::Pods(f), Present::Pod(pod)) => f(cx, pod).map(|(id, f)| (cause(id).unwrap_or(row), f)),
        (Judge::Pod(f), Present::Pod(pod)) => f(cx, pod).map(|f| (row, f)),
        (Judge::Deleting(f), Present::Pod(pod)) if pod.deleted().is_some() => {
            let object = cluster.object(Kind::Pod, pod.namespace(), &pod.name()).is();
            object.and_then(|object| f(cx, Deleting { kind: Kind::Pod, object })).map(|f| (row, f))
        }
        (_, Present::Pod(_)) => None,
        (judge, Present::Object(kind, object)) => ask_one(judge, cx, kind, object).map(|f| (row, f)),
    };
    told.into_iter().collect()
}

fn ask_one(judge: Judge, cx: &Cx<'_>, kind: Kind, object: &Object) -> Option<Finding> {
    let deleting = object.meta().deleted.is_some();
    match (judge, object) {
        (Judge::Deleting(f), _) if deleting => f(cx, Deleting { kind, object }),
        (_, _) if deleting => None,
        (Judge::Workload(f), _) => Workload::of(object).and_then(|w| f(cx, w)),
        (Judge::Claim(f), Object::PersistentVolumeClaim(o)) => f(cx, o),
        (Judge::Node(f), Object::Node(o)) => f(cx, o),
        (Judge::Service(f), Object::Service(o)) => f(cx, o),
        (Judge::Autoscaler(f), Object::HorizontalPodAutoscaler(o)) => f(cx, o),
        (Judge::Budget(f), Object::PodDisruptionBudget(o)) => f(cx, o),
        (Judge::Object(f), _) if Workload::of(object).is_none() => f(cx, object),
        _ => None,
    }
}

fn found(
    cause: &'static Cause,
    present: Present<'_>,
    affected: Option<&ObjectRef>,
    mut finding: Finding,
    unknown: &[(Kind, Text)],
) -> Found {
    finding.unchecked.extend(unknown.iter().map(|(kind, ns)| (*kind, ns.to_string())));
    let affected = affected.unwrap_or(&finding.root).clone();
    let pod = match present {
        Present::Pod(pod) => Some(pod.reference()),
        Present::Object(..) | Present::ControlPlane => None,
    };
    Found { cause, finding: finding.packed([Some(&affected), pod.as_ref()]), affected, pod }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::model::{Batch, CoverageState, Delta, KINDS, Place};

    /// The objects of every case of the causes, and of every incident.
    fn cases() -> Vec<Vec<Value>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
        let folders = std::fs::read_dir(root).expect("cases").filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir());
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder")).filter_map(|e| Some(e.ok()?.path()));
        let texts = files.filter(|p| p.extension().is_some_and(|e| e == "json")).map(|p| std::fs::read(p).expect("readable"));
        let objects = texts.map(|text| serde_json::from_slice::<Value>(&text).expect("JSON")["objects"].as_array().cloned());
        objects.flatten().collect()
    }

    fn cluster(objects: &[Value]) -> Cluster {
        let mut cluster = Cluster::default();
        for object in objects {
            let kind = Kind::of(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""));
            let mut batch = Batch::new(kind);
            batch.upsert(object.to_string().as_bytes());
            cluster.apply(Delta::Batch { kind, place: Place::All, epoch: 0, batch });
        }
        for row in KINDS {
            cluster.apply(Delta::Lost { kind: row.kind, place: Place::All, why: CoverageState::Synced });
        }
        cluster
    }

    /// How many Services are served; each of them is opened and judged, and nothing is to be found.
    fn served(cluster: &Cluster, engine: &Engine) -> usize {
        let (trace, now) = (Trace::default(), Time::from_unix(2_000_000_000).expect("a time"));
        let names: Vec<(Text, Text)> =
            cluster.objects(Kind::Service, None).map(|o| (o.meta().namespace.clone(), o.meta().name.clone())).collect();
        let served: Vec<_> = names.into_iter().filter(|(namespace, name)| cluster.is_served(namespace, name)).collect();
        for (namespace, name) in &served {
            let subject = Subject::Object(Kind::Service, namespace.clone(), name.clone());
            let judged = engine.judge(View { cluster, now, trace: Some(&trace) }, &subject);
            assert!(judged.found.is_empty(), "{namespace}/{name}: {:?}", judged.found);
        }
        served.len()
    }

    /// Services and slices as they are in the cases, and each with the ports, the selector or the endpoints of each other one there.
    #[test]
    fn a_service_that_is_not_opened_for_being_served_has_nothing_to_say_when_it_is() {
        let engine = Engine::new(Options { clock_is_known: true, only: None });
        let mut count = 0;
        for objects in cases() {
            let about = |o: &Value| o["kind"] == "Service" || o["kind"] == "EndpointSlice";
            let at: Vec<usize> = (0..objects.len()).filter(|at| about(&objects[*at])).collect();
            if at.is_empty() {
                continue;
            }
            count += served(&cluster(&objects), &engine);
            for (to, from) in at.iter().flat_map(|to| at.iter().map(move |from| (*to, *from))) {
                let mut swapped = objects.clone();
                for field in ["endpoints", "ports"] {
                    swapped[to][field] = objects[from][field].clone();
                    count += served(&cluster(&swapped), &engine);
                }
                for field in ["ports", "selector", "type"] {
                    swapped[to]["spec"][field] = objects[from]["spec"][field].clone();
                    count += served(&cluster(&swapped), &engine);
                }
            }
        }
        assert!(count > 100, "{count}");
    }
}
