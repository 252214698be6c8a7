//! Cx: the only way for a judge to see the cluster and the clock. Every look is recorded.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{
    Cluster, CoverageState, EndpointSlice, Event, KINDS, Kind, Lineage, Look, Meta, Node, Object, ObjectRef, Owner, Pod, Read, Reserved,
    Seen, Selector, Stored, Text, Time, Touched,
};

use super::Workload;
use super::scheduling::Nodes;
use super::scheduling::fleet::{Fleet, Muster};

/// What is worked out of the cluster once for many judges: thrown away when what it was worked out of changes.
#[derive(Debug, Default)]
pub(super) struct Memory {
    fleet: OnceCell<Fleet>,
    /// A fleet being made anew, if somebody asked for the last one.
    muster: Muster,
    wanted: Cell<bool>,
    /// By the uid of the owner: pods are judged in the order of their names, and those of one owner have the same.
    lineage: RefCell<Option<(Text, Arc<Lineage>)>>,
}

/// Nodes that are looked at before somebody looks at the keyboard again.
const MUSTERED: usize = 64;

impl Memory {
    pub(super) fn touch(&mut self, touched: &Touched) {
        self.lineage.take();
        if touched.reads.contains(&Read::set(Kind::Node, None)) {
            self.fleet.take();
            // Nodes that change faster than they can be looked at must not keep judges waiting.
            if std::mem::take(&mut self.muster).has_begun() {
                self.wanted.set(false);
            }
        }
        // Pods that wait for a node are judged as soon as all nodes are known.
        if touched.reads.contains(&Read::coverage(Kind::Node)) {
            self.wanted.set(true);
        }
    }

    /// Works a little ahead for judges that will ask; answers whether more of it is to be done.
    pub(super) fn prepare(&mut self, cluster: &Cluster) -> bool {
        if self.fleet.get().is_some() || !self.wanted.get() {
            return false;
        }
        if self.muster.go_on(cluster, MUSTERED) {
            return true;
        }
        let fleet = Fleet::of(cluster, std::mem::take(&mut self.muster));
        self.wanted.set(false);
        self.fleet.set(fleet).is_err()
    }

    fn fleet(&self, cluster: &Cluster) -> &Fleet {
        self.wanted.set(true);
        self.fleet.get_or_init(|| Fleet::of(cluster, Muster::default()))
    }
}

/// A judge's view of the cluster as of one instant.
pub struct Cx<'a> {
    cluster: &'a Cluster,
    now: Time,
    trusted: bool,
    /// In the order of looking, some of them twice.
    reads: RefCell<Vec<Read>>,
    /// When the answer to a question about the clock changes next.
    due: Cell<Option<Time>>,
    unknown: RefCell<BTreeSet<(Kind, Text)>>,
    /// Where looks are kept in words, when somebody wants to know them.
    trace: Option<&'a Trace>,
    memory: &'a Memory,
    /// What was looked for without being there.
    lacking: Cell<Option<Read>>,
    /// The node that was looked for last and is plainly well: several rows ask for that of a pod.
    well: Cell<Option<Read>>,
}

/// What judges looked at, in words.
pub(super) type Trace = RefCell<BTreeSet<Look<Text>>>;

impl<'a> Cx<'a> {
    pub(super) fn new(cluster: &'a Cluster, now: Time, trusted: bool, trace: Option<&'a Trace>, memory: &'a Memory) -> Self {
        Self {
            cluster,
            now,
            trusted,
            reads: RefCell::default(),
            due: Cell::new(None),
            unknown: RefCell::default(),
            trace,
            memory,
            lacking: Cell::new(None),
            well: Cell::new(None),
        }
    }

    /// What was looked at, and when a question about the clock will be answered otherwise.
    pub(super) fn finish(self) -> (Vec<Read>, Option<Time>) {
        (self.reads.into_inner(), self.due.get())
    }

    /// What could not be told since this was last asked.
    pub(super) fn take_unknown(&self) -> Vec<(Kind, Text)> {
        self.unknown.take().into_iter().collect()
    }

    /// Whether one of these kinds is still being read there, so that nothing can be told yet.
    pub(super) fn waits_for(&self, needs: &[Kind], namespace: &str) -> bool {
        let waits = needs.iter().any(|kind| self.cluster.coverage().is_loading(*kind, namespace));
        if waits {
            self.reads.borrow_mut().extend(needs.iter().map(|kind| Read::coverage(*kind)));
        }
        waits
    }

    /// Whether this instant has passed: the only question to the clock. The subject is judged again when it does.
    pub fn passed(&self, at: Time) -> bool {
        if at <= self.now {
            return true;
        }
        self.due.set(Some(self.due.get().map_or(at, |due| due.min(at))));
        false
    }

    /// Whether `seconds` have passed since `at`; false where the time is not known.
    pub fn older(&self, at: Option<Time>, seconds: i64) -> bool {
        at.is_some_and(|at| self.passed(at.plus(seconds)))
    }

    /// Whether the time of judgement is known apart from the objects (live, a capture time, `--now`). Without it a clock that
    /// stands still proves nothing.
    pub fn clock_is_known(&self) -> bool {
        self.trusted
    }

    /// One object. `Absent` only where the kind was read completely in that namespace.
    pub fn get<T: Stored>(&self, namespace: &str, name: &str) -> Seen<&'a T> {
        self.look(&Look::Object(T::KIND, namespace, name));
        self.note(T::KIND, namespace, self.cluster.get(namespace, name))
    }

    /// Whether an object of any followed kind exists.
    pub fn object(&self, kind: Kind, namespace: &str, name: &str) -> Seen<&'a Object> {
        self.look(&Look::Object(kind, namespace, name));
        self.note(kind, namespace, self.cluster.object(kind, namespace, name))
    }

    /// All objects of a kind, in a namespace or everywhere: what was read so far. Ask [`Cx::sees_all`] before concluding from absence.
    pub fn all<T: Stored + 'a>(&self, namespace: Option<&str>) -> impl Iterator<Item = &'a T> {
        self.look(&Look::Set(T::KIND, namespace));
        self.cluster.all(namespace)
    }

    /// Whether one object of a kind is like this. The others are not kept open: for looks over many.
    pub fn any<T: Stored + 'a>(&self, namespace: Option<&str>, like: impl Fn(&T) -> bool) -> bool {
        self.look(&Look::Set(T::KIND, namespace));
        self.cluster.wanted(namespace, like).next().is_some()
    }

    /// Nodes that are not plainly well: all whose conditions, taints or cordon say something.
    pub fn unwell_nodes(&self) -> impl Iterator<Item = &'a Node> {
        self.look(&Look::Set(Kind::Node, None));
        self.cluster.unwell_nodes()
    }

    /// A node, unless it is plainly well: for questions about what is wrong with it.
    pub fn unwell_node(&self, name: &str) -> Option<&'a Node> {
        let read = Some(Read::object(Kind::Node, "", name));
        if self.well.get() == read {
            return None;
        }
        if self.cluster.has_well(Kind::Node, "", name) {
            self.look(&Look::Object(Kind::Node, "", name));
            self.well.set(read);
            return None;
        }
        self.get("", name).is()
    }

    /// The same for any kind, by its id.
    pub fn objects(&self, kind: Kind, namespace: Option<&str>) -> impl Iterator<Item = &'a Object> {
        self.look(&Look::Set(kind, namespace));
        self.cluster.objects(kind, namespace)
    }

    /// Whether the kind was read completely there, so that what is not in it does not exist. If not, it is noted as unchecked.
    pub fn sees_all(&self, kind: Kind, namespace: Option<&str>) -> bool {
        self.look(&Look::Coverage(kind));
        let coverage = self.cluster.coverage();
        let sees = namespace.map_or_else(|| coverage.is_synced_everywhere(kind), |ns| coverage.is_synced(kind, ns));
        if !sees {
            self.unknown.borrow_mut().insert((kind, namespace.unwrap_or("").into()));
        }
        sees
    }

    /// How a kind is covered there: for causes about reading itself.
    pub fn coverage(&self, kind: Kind, namespace: &str) -> Option<&'a CoverageState> {
        self.look(&Look::Coverage(kind));
        self.cluster.coverage().get(kind, namespace)
    }

    /// Kinds that the API server lets nobody like us read, with the namespace where it is not for all, its words and since when.
    pub fn denied(&self) -> impl Iterator<Item = (Kind, Option<&'a str>, &'a str, Option<Time>)> {
        for row in KINDS {
            self.look(&Look::Coverage(row.kind));
        }
        self.cluster.coverage().iter().filter_map(|(kind, namespace, state)| match state {
            CoverageState::Denied { message, since } => Some((kind, namespace, message.as_str(), *since)),
            CoverageState::Loading | CoverageState::Synced | CoverageState::Absent { .. } | CoverageState::Stale { .. } => None,
        })
    }

    pub fn pod(&self, namespace: &str, name: &str) -> Option<Pod<'a>> {
        self.look(&Look::Object(Kind::Pod, namespace, name));
        self.cluster.pod(namespace, name)
    }

    pub fn pods(&self, namespace: Option<&str>) -> impl Iterator<Item = Pod<'a>> {
        self.look(&Look::Set(Kind::Pod, namespace));
        self.cluster.pods(namespace)
    }

    /// Pods whose controller has this uid.
    pub fn pods_of(&self, uid: &str) -> Vec<Pod<'a>> {
        self.look(&Look::PodsOf(uid));
        self.cluster.pods_of(uid).collect()
    }

    /// Those of them that are not ready.
    pub fn unready_pods_of(&self, uid: &str) -> Vec<Pod<'a>> {
        self.look(&Look::PodsOf(uid));
        self.cluster.unready_pods_of(uid).collect()
    }

    /// Pods bound to a node.
    pub fn pods_on(&self, node: &str) -> Vec<Pod<'a>> {
        self.look(&Look::PodsOn(node));
        self.cluster.pods_on(node).collect()
    }

    /// What the scheduler has reserved on a node.
    pub fn reserved_on(&self, node: &str) -> Reserved<'a> {
        self.look(&Look::PodsOn(node));
        self.cluster.reserved_on(node)
    }

    /// All nodes, those that are alike together.
    pub fn nodes(&self) -> Nodes<'a> {
        self.look(&Look::Set(Kind::Node, None));
        Nodes::new(self.cluster, self.memory.fleet(self.cluster))
    }

    /// Pods of a namespace that a selector matches. An empty selector matches none, as for Services and workloads.
    pub fn pods_selected(&self, namespace: &str, selector: &Selector) -> Vec<Pod<'a>> {
        if selector.is_empty() {
            return Vec::new();
        }
        self.look(&Look::Set(Kind::Pod, Some(namespace)));
        self.cluster.pods_selected(namespace, selector).collect()
    }

    /// All pods below a workload: of its ReplicaSets, of its Jobs, or its own.
    pub fn pods_below(&self, workload: Workload<'_>) -> Vec<Pod<'a>> {
        self.makers(workload).flat_map(|uid| self.pods_of(uid)).collect()
    }

    /// Those of them that are not ready.
    pub fn unready_pods_below(&self, workload: Workload<'_>) -> Vec<Pod<'a>> {
        self.makers(workload).flat_map(|uid| self.unready_pods_of(uid)).collect()
    }

    /// Uids of what makes the pods of a workload: its own, and those of its ReplicaSets or Jobs.
    fn makers<'w>(&self, workload: Workload<'w>) -> impl Iterator<Item = &'w str>
    where
        'a: 'w,
    {
        let uid = &*workload.meta().uid;
        let between: Vec<&'w str> = match workload {
            Workload::Deployment(_) => self.owned::<crate::model::ReplicaSet>(uid).into_iter().map(|o| &*o.meta.uid).collect(),
            Workload::CronJob(_) => self.owned::<crate::model::Job>(uid).into_iter().map(|o| &*o.meta.uid).collect(),
            Workload::StatefulSet(_) | Workload::DaemonSet(_) | Workload::Job(_) | Workload::ReplicaSet(_) => Vec::new(),
        };
        [uid].into_iter().chain(between)
    }

    /// Objects of a kind whose controller has this uid.
    pub fn owned<T: Stored>(&self, uid: &str) -> Vec<&'a T> {
        self.look(&Look::Owned(T::KIND, uid));
        self.cluster.owned(uid)
    }

    /// EndpointSlices of a Service.
    pub fn slices_of(&self, namespace: &str, service: &str) -> Vec<&'a EndpointSlice> {
        self.look(&Look::SlicesOf(namespace, service));
        self.cluster.slices_of(namespace, service)
    }

    /// Events about an object, newest first. Their absence proves nothing.
    pub fn events(&self, about: &ObjectRef) -> Vec<&'a Event> {
        self.look(&Look::EventsOf(&about.kind, &about.namespace, &about.name));
        self.cluster.events(about)
    }

    /// The newest event about an object with one of these reasons.
    pub fn newest_event(&self, about: &ObjectRef, reasons: &[&str]) -> Option<&'a Event> {
        self.look(&Look::EventsOf(&about.kind, &about.namespace, &about.name));
        self.cluster.newest_event(about, |e| reasons.contains(&&*e.reason))
    }

    /// What many rows look for about an object: where the first found nothing, the others do not look again.
    pub(super) fn unless_lacking<T>(&self, about: Read, find: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.lacking.get() == Some(about) {
            return None;
        }
        let found = find();
        if found.is_none() {
            self.lacking.set(Some(about));
        }
        found
    }

    /// The top controller of a pod: what people deployed.
    pub fn workload_of(&self, pod: Pod<'_>) -> ObjectRef {
        let Some(owner) = pod.owner() else { return pod.reference() };
        self.lineage(owner, pod.namespace(), pod.label("pod-template-hash")).top.clone()
    }

    /// Everyone above an object, from its owner on: whom a finding holds up changes with them.
    pub(super) fn lineage(&self, owner: &Owner, namespace: &str, hash: Option<&str>) -> Arc<Lineage> {
        let known = self.memory.lineage.borrow().as_ref().filter(|(uid, _)| *uid == owner.uid && !uid.is_empty()).map(|(_, l)| l.clone());
        let lineage = known.unwrap_or_else(|| Arc::new(self.cluster.lineage(owner, namespace, hash)));
        self.memory.lineage.replace(Some((owner.uid.clone(), lineage.clone())));
        lineage.above.iter().for_each(|(kind, object)| self.look(&Look::Object(*kind, namespace, &object.name)));
        lineage
    }

    /// The top controller of any object.
    pub fn top_controller(&self, kind: Kind, meta: &Meta) -> ObjectRef {
        self.cluster.top_controller(kind, meta)
    }

    /// The workload that a reference names.
    pub fn workload(&self, reference: &ObjectRef) -> Option<Workload<'a>> {
        let kind = Kind::named(&reference.kind);
        self.look(&Look::Object(kind, &reference.namespace, &reference.name));
        self.cluster.object(kind, &reference.namespace, &reference.name).is().and_then(Workload::of)
    }

    pub(super) fn look(&self, look: &Look<&str>) {
        self.reads.borrow_mut().push(Read::of(look));
        if let Some(trace) = self.trace {
            trace.borrow_mut().insert(look.to_owned());
        }
    }

    fn note<T>(&self, kind: Kind, namespace: &str, seen: Seen<T>) -> Seen<T> {
        if !matches!(seen, Seen::Is(_)) {
            self.look(&Look::Coverage(kind));
        }
        if seen.is_unknown() {
            self.unknown.borrow_mut().insert((kind, namespace.into()));
        }
        seen
    }
}
