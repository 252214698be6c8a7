//! Engine: which subjects are to be judged, what each looked at, and what was found. It judges again what a change or the clock touches, nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::model::{Cluster, Kind, Look, Object, ObjectRef, Read, Time, Touched};

use super::subjects::{Subject, is_subject, reference};
use super::{CAUSES, Cause, Cx, Deleting, Finding, Judge, Report, Stage, Workload, cause, cx::Looked, cx::Trace, grouping::Grouping};

/// Subjects judged in one step: the dearest, pods that no node takes in a cluster of thousands, cost milliseconds each, and a key
/// that is pressed waits for the step to end.
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
    reads: BTreeSet<Read>,
    due: Option<Time>,
}

/// The judging side's only memory: plain book-keeping that could be thrown away and made again.
#[derive(Debug, Default)]
pub struct Engine {
    options: Options,
    waiting: BTreeSet<Arc<Subject>>,
    judged: BTreeMap<Arc<Subject>, Judged>,
    /// Who looked at what: in a large cluster the most numerous entries of all, so each is one pointer.
    readers: HashMap<Read, BTreeSet<Arc<Subject>>>,
    due: BTreeSet<(Time, Arc<Subject>)>,
    /// The report, kept by difference.
    grouping: Grouping,
    /// Something found differs from what the last report held.
    changed: bool,
}

impl Engine {
    pub fn new(options: Options) -> Self {
        Self { options, waiting: BTreeSet::from([Arc::new(Subject::ControlPlane)]), ..Self::default() }
    }

    /// Notes what a delta touched: those objects, and whoever looked at what it changed. Most objects of a large cluster are no
    /// subjects, and need not wait.
    pub fn touch(&mut self, cluster: &Cluster, touched: &Touched) {
        for (kind, namespace, name) in &touched.objects {
            let subject = Subject::Object(*kind, namespace.clone(), name.clone());
            let is_new = || cluster.object(*kind, namespace, name).is().is_some_and(|object| is_subject(cluster, *kind, object));
            if *kind == Kind::Pod || self.judged.contains_key(&subject) || is_new() {
                self.waiting.insert(Arc::new(subject));
            }
        }
        for read in &touched.reads {
            self.waiting.extend(self.readers.get(read).into_iter().flatten().cloned());
        }
        self.grouping.touch(touched.reads.iter());
    }

    /// Judges some of what waits. Call until [`Progress::Done`], or until the time is up.
    pub fn step(&mut self, cluster: &Cluster, now: Time) -> Progress {
        while let Some((_, subject)) = self.due.first().filter(|(at, _)| *at <= now).cloned() {
            self.due.pop_first();
            self.waiting.insert(subject);
        }
        for _ in 0..SLICE {
            let Some(subject) = self.waiting.pop_first() else { return Progress::Done };
            let before = self.forget(&subject);
            let mut judged = self.judge(View { cluster, now, trace: None }, &subject);
            if before.found == judged.found {
                judged.found = before.found;
            } else {
                self.grouping.change(&before.found, &judged.found);
                self.changed = true;
            }
            self.remember(subject, judged);
        }
        if self.waiting.is_empty() { Progress::Done } else { Progress::More }
    }

    /// When the clock alone changes a finding next.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
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

    /// The same, made from nothing.
    pub fn report(&self, cluster: &Cluster) -> Report {
        let mut grouping = Grouping::default();
        self.judged.values().flat_map(|j| &j.found).for_each(|f| grouping.add(f));
        grouping.report(cluster)
    }

    /// What the judges of everything found have looked at: what a snapshot must hold so that it names the same blockers.
    pub fn looks(&self, cluster: &Cluster, now: Time) -> BTreeSet<Look<Box<str>>> {
        let trace = Trace::default();
        for (subject, _) in self.judged.iter().filter(|(_, judged)| !judged.found.is_empty()) {
            if let Subject::Object(kind, namespace, name) = &**subject {
                trace.borrow_mut().insert(Look::Object(*kind, namespace.clone(), name.clone()));
            }
            self.judge(View { cluster, now, trace: Some(&trace) }, subject);
        }
        trace.into_inner()
    }

    fn forget(&mut self, subject: &Arc<Subject>) -> Judged {
        let Some(old) = self.judged.remove(subject) else { return Judged::default() };
        for read in &old.reads {
            if let Some(readers) = self.readers.get_mut(read) {
                readers.remove(subject);
                if readers.is_empty() {
                    self.readers.remove(read);
                }
            }
        }
        if let Some(at) = old.due {
            self.due.remove(&(at, subject.clone()));
        }
        old
    }

    fn remember(&mut self, subject: Arc<Subject>, judged: Judged) {
        if judged.found.is_empty() && judged.reads.is_empty() && judged.due.is_none() {
            return;
        }
        for read in &judged.reads {
            self.readers.entry(*read).or_default().insert(subject.clone());
        }
        if let Some(at) = judged.due {
            self.due.insert((at, subject.clone()));
        }
        self.judged.insert(subject, judged);
    }

    fn judge(&self, view: View<'_>, subject: &Subject) -> Judged {
        let cluster = view.cluster;
        let object = match subject {
            Subject::ControlPlane => None,
            Subject::Object(kind, namespace, name) => match cluster.object(*kind, namespace, name).is() {
                Some(object) if is_subject(cluster, *kind, object) && self.options.admits(cluster, *kind, object) => Some((*kind, object)),
                Some(_) | None => return Judged::default(),
            },
        };
        let mut judged = Judged::default();
        for look in object.map_or_else(Vec::new, |(_, object)| owners(cluster, object)) {
            judged.reads.insert(Read::of(&look));
            if let Some(trace) = view.trace {
                trace.borrow_mut().insert(look.to_owned());
            }
        }
        for stage in Stage::ALL.into_iter().filter(|stage| fits(*stage, object)) {
            let specific = self.ask(view, object, stage, false, &mut judged);
            let found = if specific.is_empty() { self.ask(view, object, stage, true, &mut judged) } else { specific };
            let ends = !found.is_empty() && object.is_some();
            judged.found.extend(found.into_iter().map(Arc::new));
            if ends {
                break;
            }
        }
        judged
    }

    /// Asks every row of a stage that takes this subject; the first that answers wins, but for the control plane, where all are heard.
    fn ask(&self, view: View<'_>, object: Option<(Kind, &Object)>, stage: Stage, generic: bool, judged: &mut Judged) -> Vec<Found> {
        let cluster = view.cluster;
        let mut all = Vec::new();
        for row in CAUSES.iter().copied().flatten().filter(|c| c.stage == stage && c.generic == generic) {
            let namespace = object.map_or("", |(_, o)| &*o.meta().namespace);
            if row.needs.iter().any(|kind| cluster.coverage().is_loading(*kind, namespace)) {
                judged.reads.extend(row.needs.iter().map(|kind| Read::coverage(*kind)));
                continue;
            }
            let cx = Cx::new(cluster, view.now, self.options.clock_is_known, view.trace);
            let findings = run(row, &cx, cluster, object);
            let looked = cx.finish();
            judged.take(&looked);
            all.extend(findings.into_iter().map(|(cause, f)| found(cause, cluster, object, f, &looked)));
            if !all.is_empty() && object.is_some() {
                break;
            }
        }
        all
    }
}

/// Rows are told apart by their ids.
impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        self.cause.id == other.cause.id && self.affected == other.affected && self.pod == other.pod && self.finding == other.finding
    }
}

impl Judged {
    fn take(&mut self, looked: &Looked) {
        self.reads.extend(&looked.reads);
        self.due = [self.due, looked.due].into_iter().flatten().min();
    }
}

impl Options {
    /// Whether the narrowing options leave this subject in.
    fn admits(&self, cluster: &Cluster, kind: Kind, object: &Object) -> bool {
        let Some(only) = &self.only else { return true };
        if kind != Kind::Pod && Workload::of(object).is_none() {
            return true;
        }
        let meta = object.meta();
        let pod = cluster.pod(&meta.namespace, &meta.name).filter(|_| kind == Kind::Pod);
        let label = |key: &str| pod.map_or_else(|| meta.label(key), |p| p.label(key));
        let field = |path: &str| match (path, pod) {
            ("metadata.name", _) => meta.name.to_string(),
            ("metadata.namespace", _) => meta.namespace.to_string(),
            ("spec.nodeName", Some(p)) => p.node().unwrap_or_default().to_owned(),
            ("status.phase", Some(p)) => format!("{:?}", p.phase()),
            _ => String::new(),
        };
        only.labels.matches(label) && only.fields.iter().all(|(path, value, equal)| (field(path) == *value) == *equal)
    }
}

/// The chain of controllers above an object: whom a finding holds up changes with it.
fn owners<'a>(cluster: &'a Cluster, object: &'a Object) -> Vec<Look<&'a str>> {
    let namespace = &*object.meta().namespace;
    let mut owner = if let Object::Pod(_) = object {
        cluster.pod(namespace, &object.meta().name).and_then(|pod| pod.owner())
    } else {
        object.meta().controller()
    };
    let mut looks = Vec::new();
    while let Some(above) = owner.filter(|_| looks.len() < 5) {
        let kind = Kind::of(&above.api_version, &above.kind);
        looks.push(Look::Object(kind, namespace, &above.name));
        owner = cluster.object(kind, namespace, &above.name).is().and_then(|o| o.meta().controller());
    }
    looks
}

/// What becomes of a pod's containers tells nothing once it is being deleted: only why it is still there is asked.
fn fits(stage: Stage, object: Option<(Kind, &Object)>) -> bool {
    let leaving = object.is_some_and(|(kind, o)| kind == Kind::Pod && o.meta().deleted.is_some());
    !leaving || matches!(stage, Stage::Deleting | Stage::Node)
}

/// A judge that panics costs its subject only.
fn run(row: &'static Cause, cx: &Cx<'_>, cluster: &Cluster, object: Option<(Kind, &Object)>) -> Vec<(&'static Cause, Finding)> {
    let answer = catch_unwind(AssertUnwindSafe(|| dispatch(row, cx, cluster, object)));
    answer.unwrap_or_else(|_| {
        let root = object.map_or_else(|| ObjectRef::new("Cluster", "", ""), |(kind, o)| reference(kind, o));
        vec![(row, Finding::quiet(root, format!("internal error in cause {}", row.id)))]
    })
}

fn dispatch(row: &'static Cause, cx: &Cx<'_>, cluster: &Cluster, object: Option<(Kind, &Object)>) -> Vec<(&'static Cause, Finding)> {
    let Some((kind, object)) = object else {
        return if let Judge::ControlPlane(f) = row.judge { f(cx).into_iter().map(|f| (row, f)).collect() } else { Vec::new() };
    };
    let meta = object.meta();
    if let (Judge::Pods(f), Object::Pod(_)) = (row.judge, object) {
        let told = cluster.pod(&meta.namespace, &meta.name).and_then(|pod| f(cx, pod));
        return told.map(|(id, f)| (cause(id).unwrap_or(row), f)).into_iter().collect();
    }
    ask_one(row.judge, cx, cluster, kind, object).map(|f| (row, f)).into_iter().collect()
}

fn ask_one(judge: Judge, cx: &Cx<'_>, cluster: &Cluster, kind: Kind, object: &Object) -> Option<Finding> {
    let deleting = object.meta().deleted.is_some();
    match (judge, object) {
        (Judge::Pod(f), Object::Pod(_)) => cluster.pod(&object.meta().namespace, &object.meta().name).and_then(|pod| f(cx, pod)),
        (Judge::Deleting(f), _) if deleting => f(cx, Deleting { kind, object }),
        (_, Object::Pod(_)) => None,
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

fn found(cause: &'static Cause, cluster: &Cluster, object: Option<(Kind, &Object)>, mut finding: Finding, looked: &Looked) -> Found {
    finding.unchecked.extend(looked.unknown.iter().map(|(kind, ns)| (*kind, ns.to_string())));
    let (affected, pod) = match object {
        Some((Kind::Pod, o)) => match cluster.pod(&o.meta().namespace, &o.meta().name) {
            Some(pod) => (cluster.top_owner(pod), Some(pod.reference())),
            None => (reference(Kind::Pod, o), None),
        },
        Some((kind, o)) if Workload::of(o).is_some() => (cluster.top_controller(kind, o.meta()), None),
        Some((kind, o)) => (reference(kind, o), None),
        None => (finding.root.clone(), None),
    };
    Found { cause, finding, affected, pod }
}
