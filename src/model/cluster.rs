//! Cluster: the one picture. Changed only by [`Cluster::apply`]; everything else looks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::batch::Change;
use super::indexes::{Index, Place as At};
use super::pods::{Pods, Witness};
use super::{
    Batch, Coverage, CoverageState, Delta, Event, Kind, Meta, Object, ObjectRef, Other, Place, Pod, Read, Seen, Stored, kinds::Shape,
};

type Objects = BTreeMap<Box<str>, BTreeMap<Box<str>, Object>>;

/// Everything that is known of the cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    stores: HashMap<Kind, Objects>,
    pods: Pods,
    coverage: Coverage,
    events_by_subject: Index,
    owned: Index,
    /// How many objects of a kind and namespace nobody else has made.
    tops: HashMap<Kind, BTreeMap<Box<str>, usize>>,
    listing: HashMap<(Kind, Place), Listing>,
    /// Known not to exist although their kind is not known whole.
    gone: BTreeSet<(Kind, Box<str>, Box<str>)>,
}

/// Kinds that others make pods through: how many nobody made is counted.
const WORKLOADS: [Kind; 3] = [Kind::ReplicaSet, Kind::Job, Kind::ReplicationController];

/// What a running list has seen so far.
#[derive(Debug, Default)]
struct Listing {
    epoch: u32,
    seen: HashSet<(Kind, At)>,
    /// Rows of pods, a bit each.
    rows: Vec<u64>,
}

/// What a delta changed: the objects whose kept value or coverage changed, and the look-ups that would now answer otherwise.
#[derive(Debug, Default)]
pub struct Touched {
    /// Pods that were and are plain and never restarted are left out: they are not judged.
    pub objects: BTreeSet<(Kind, Box<str>, Box<str>)>,
    pub reads: HashSet<Read>,
}

impl Touched {
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.reads.is_empty()
    }
}

impl Cluster {
    /// Takes in one step of one feed.
    pub fn apply(&mut self, delta: Delta) -> Touched {
        let mut touched = Touched::default();
        self.pods.drop_views();
        match delta {
            Delta::Began { kind, place, epoch } => self.begin(kind, place, epoch, &mut touched),
            Delta::Batch { kind, place, epoch, batch } => self.take(kind, &place, epoch, batch, &mut touched),
            Delta::Synced { kind, place, epoch } => self.complete(kind, &place, epoch, &mut touched),
            Delta::Lost { kind, place, why } => self.cover(kind, place.namespace(), why, &mut touched),
            Delta::Gone { kind, namespace, name } => {
                touched.reads.insert(Read::object(kind, &namespace, &name));
                self.gone.insert((kind, namespace, name));
            }
        }
        touched
    }

    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// One object in its own shape.
    pub fn get<T: Stored>(&self, namespace: &str, name: &str) -> Seen<&T> {
        self.find(T::KIND, namespace, name)
            .map_or_else(|| self.missing(T::KIND, namespace, name), |o| T::of(o).map_or(Seen::Unknown, Seen::Is))
    }

    /// One object of any followed kind.
    pub fn object(&self, kind: Kind, namespace: &str, name: &str) -> Seen<&Object> {
        self.find(kind, namespace, name).map_or_else(|| self.missing(kind, namespace, name), Seen::Is)
    }

    /// All objects of a kind, in a namespace or everywhere, by namespace and name.
    pub fn all<'a, T: Stored + 'a>(&'a self, namespace: Option<&str>) -> impl Iterator<Item = &'a T> {
        self.shaped(T::KIND, namespace)
    }

    /// The same for shapes that several kinds share.
    pub fn shaped<'a, T: Shape + 'a>(&'a self, kind: Kind, namespace: Option<&str>) -> impl Iterator<Item = &'a T> {
        self.objects(kind, namespace).filter_map(T::of)
    }

    /// All objects of a kind in the enum of shapes. Pods are put together one by one for this: use [`Cluster::pods`].
    pub fn objects<'a>(&'a self, kind: Kind, namespace: Option<&str>) -> impl Iterator<Item = &'a Object> {
        let store = self.stores.get(&kind);
        let one = namespace.and_then(|ns| store.and_then(|s| s.get(ns)));
        let all = store.filter(|_| namespace.is_none()).into_iter().flat_map(BTreeMap::values);
        let rows = if kind == Kind::Pod { self.pods.in_order(namespace) } else { Vec::new() };
        let pods = rows.into_iter().filter_map(|at| self.pods.object(self.pods.at(at)?));
        one.into_iter().chain(all).flat_map(BTreeMap::values).chain(pods)
    }

    pub fn count(&self, kind: Kind) -> usize {
        if kind == Kind::Pod {
            return self.pods.len();
        }
        self.stores.get(&kind).map_or(0, |s| s.values().map(BTreeMap::len).sum())
    }

    /// How many objects of a kind a namespace holds.
    pub fn count_in(&self, kind: Kind, namespace: &str) -> usize {
        if kind == Kind::Pod {
            return self.pods.in_order(Some(namespace)).len();
        }
        self.stores.get(&kind).and_then(|s| s.get(namespace)).map_or(0, BTreeMap::len)
    }

    /// How many objects of a kind have no controller. Pods are not counted so.
    pub fn count_tops(&self, kind: Kind, namespace: Option<&str>) -> usize {
        let Some(places) = self.tops.get(&kind) else { return 0 };
        namespace.map_or_else(|| places.values().sum(), |ns| places.get(ns).copied().unwrap_or(0))
    }

    pub fn pod(&self, namespace: &str, name: &str) -> Option<Pod<'_>> {
        self.pods.find(namespace, name).and_then(|at| Pod::new(&self.pods, at))
    }

    /// Pods by namespace and name.
    pub fn pods<'a>(&'a self, namespace: Option<&str>) -> impl Iterator<Item = Pod<'a>> + use<'a> {
        self.views(self.pods.in_order(namespace))
    }

    /// Pods whose controller has this uid, by namespace and name.
    pub fn pods_of(&self, uid: &str) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        self.views(self.pods.of_owner(uid))
    }

    /// Pods bound to this node, by namespace and name.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        self.views(self.pods.of_node(node))
    }

    fn views(&self, rows: Vec<u32>) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        rows.into_iter().filter_map(|at| Pod::new(&self.pods, at))
    }

    /// Objects of a kind whose controller has this uid.
    pub fn owned<T: Stored>(&self, uid: &str) -> Vec<&T> {
        let key = owned_key(T::KIND, uid);
        self.owned.get(&key).filter_map(|(ns, name)| self.find(T::KIND, ns, name)).filter_map(T::of).collect()
    }

    /// Events about an object, newest first. Node events are found by name: the kubelet writes the node's name as uid.
    pub fn events(&self, about: &ObjectRef) -> Vec<&Event> {
        let key = subject_key(&about.kind, &about.namespace, &about.name);
        let mut events: Vec<&Event> = self.events_by_subject.get(&key).filter_map(|(ns, name)| self.get::<Event>(ns, name).is()).collect();
        events.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.meta.name.cmp(&b.meta.name)));
        events
    }

    /// An object of a kind without a row, by the text of its kind (`Certificate.cert-manager.io`).
    pub fn other(&self, kind: &str, namespace: &str, name: &str) -> Option<&Other> {
        self.find(Kind::Other, namespace, &other_name(kind, name)).and_then(Other::of)
    }

    /// Follows controllers upwards: Pod → ReplicaSet → Deployment, Job → CronJob. A pod without one is its own.
    pub fn top_controller(&self, kind: Kind, meta: &Meta) -> ObjectRef {
        let Some(owner) = meta.controller() else { return ObjectRef::new(kind.row().name, &meta.namespace, &meta.name) };
        self.top_of(owner, &meta.namespace, meta.label("pod-template-hash"), 0)
    }

    /// The same, beginning at an owner reference.
    pub fn top_owner(&self, pod: Pod<'_>) -> ObjectRef {
        pod.owner().map_or_else(|| pod.reference(), |owner| self.top_of(owner, pod.namespace(), pod.label("pod-template-hash"), 0))
    }

    fn top_of(&self, owner: &super::Owner, namespace: &str, hash: Option<&str>, depth: usize) -> ObjectRef {
        let kind = Kind::of(&owner.api_version, &owner.kind);
        let name = super::kinds::qualified(&owner.api_version, &owner.kind);
        let itself = || ObjectRef::new(name.clone(), namespace, &owner.name);
        // A Node owns its mirror pods; it does not make them.
        if depth > 4 || kind == Kind::Node {
            return itself();
        }
        match self.find(kind, namespace, &owner.name).map(|o| o.meta().controller()) {
            Some(Some(above)) => self.top_of(above, namespace, None, depth + 1),
            Some(None) => itself(),
            // ReplicaSets may still be loading: the hash label tells the Deployment's name.
            None => match (kind, hash.and_then(|h| owner.name.strip_suffix(h)).and_then(|n| n.strip_suffix('-'))) {
                (Kind::ReplicaSet, Some(deployment)) => ObjectRef::new("Deployment", namespace, deployment),
                _ => itself(),
            },
        }
    }

    #[cfg(test)]
    pub(super) fn pods_hold_nothing(&self) -> bool {
        self.pods.hold_nothing()
    }

    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Object> {
        if kind == Kind::Pod {
            return self.pods.find(namespace, name).and_then(|at| self.pods.object(self.pods.at(at)?));
        }
        self.stores.get(&kind)?.get(namespace)?.get(name)
    }

    fn missing<T>(&self, kind: Kind, namespace: &str, name: &str) -> Seen<T> {
        let gone = || self.gone.contains(&(kind, namespace.into(), name.into()));
        if self.coverage.is_synced(kind, namespace) || gone() { Seen::Absent } else { Seen::Unknown }
    }

    fn begin(&mut self, kind: Kind, place: Place, epoch: u32, touched: &mut Touched) {
        if self.coverage.get(kind, place.namespace().unwrap_or("")).is_none_or(|s| *s != CoverageState::Synced) {
            self.cover(kind, place.namespace(), CoverageState::Loading, touched);
        }
        self.listing.insert((kind, place), Listing { epoch, ..Listing::default() });
    }

    fn take(&mut self, kind: Kind, place: &Place, epoch: u32, batch: Batch, touched: &mut Touched) {
        let (changes, mut pods) = batch.into_parts();
        let mut guests = self.pods.welcome(&pods);
        let mut listing = self.listing.remove(&(kind, place.clone()));
        let (mut seen, mut next) = (listing.as_mut().filter(|l| l.epoch == epoch), 0);
        for change in changes {
            match change {
                Change::Pod => {
                    let row = self.pods.upsert(&mut pods, next, &mut guests, touched);
                    seen.iter_mut().zip(row).for_each(|(listing, row)| listing.note_row(row));
                    next += 1;
                }
                Change::Upsert(object) => {
                    let at = address(&object);
                    if let Some(listing) = &mut seen {
                        listing.seen.insert((kind, at.clone()));
                    }
                    self.upsert(kind, &at, object, touched);
                }
                Change::Delete(id) => self.remove(kind, &(id.namespace, id.name), touched),
            }
        }
        self.pods.dismiss(guests);
        listing.map(|listing| self.listing.insert((kind, place.clone()), listing));
    }

    fn complete(&mut self, kind: Kind, place: &Place, epoch: u32, touched: &mut Touched) {
        if let Some(listing) = self.listing.remove(&(kind, place.clone())).filter(|l| l.epoch == epoch) {
            let namespace = place.namespace();
            if kind == Kind::Pod {
                self.sweep_pods(namespace, &listing, touched);
            } else {
                self.sweep(kind, namespace, &listing, touched);
            }
        }
        self.cover(kind, place.namespace(), CoverageState::Synced, touched);
    }

    fn sweep(&mut self, kind: Kind, namespace: Option<&str>, listing: &Listing, touched: &mut Touched) {
        let places = self.objects(kind, namespace).map(address);
        let gone: Vec<At> = places.filter(|at| !listing.seen.contains(&(kind, at.clone()))).collect();
        for at in gone {
            self.remove(kind, &at, touched);
        }
    }

    fn sweep_pods(&mut self, namespace: Option<&str>, listing: &Listing, touched: &mut Touched) {
        let inside = |row| namespace.is_none_or(|ns| self.pods.at(row).is_some_and(|row| self.pods.namespace(row) == ns));
        let gone: Vec<u32> = self.pods.all().filter(|row| !listing.has_row(*row) && inside(*row)).collect();
        for row in gone {
            self.pods.remove(row, touched);
        }
    }

    fn cover(&mut self, kind: Kind, namespace: Option<&str>, state: CoverageState, touched: &mut Touched) {
        if self.coverage.get(kind, namespace.unwrap_or("")) == Some(&state)
            && (namespace.is_none() || !namespace.is_some_and(str::is_empty))
        {
            return;
        }
        self.coverage.set(kind, namespace, state);
        touched.reads.insert(Read::set(kind, None));
        touched.reads.extend(namespace.map(|ns| Read::set(kind, Some(ns))));
        touched.reads.insert(Read::coverage(kind));
    }

    fn upsert(&mut self, kind: Kind, at: &At, object: Object, touched: &mut Touched) {
        let before = self.stores.get_mut(&kind).and_then(|s| s.get_mut(&at.0)).and_then(|names| names.remove(&at.1));
        let before = before.map(|before| calmed(before, &object));
        if before.as_ref() != Some(&object) {
            if let Some(old) = &before {
                touch(kind, at, old, touched);
                self.unindex(kind, at, old);
            }
            touch(kind, at, &object, touched);
            self.index(kind, at, &object);
        }
        self.stores.entry(kind).or_default().entry(at.0.clone()).or_default().insert(at.1.clone(), object);
    }

    fn remove(&mut self, kind: Kind, at: &At, touched: &mut Touched) {
        if kind == Kind::Pod {
            let row = self.pods.find(&at.0, &at.1);
            return row.into_iter().for_each(|row| self.pods.remove(row, touched));
        }
        let Some(names) = self.stores.get_mut(&kind).and_then(|s| s.get_mut(&at.0)) else { return };
        if let Some(object) = names.remove(&at.1) {
            touch(kind, at, &object, touched);
            self.unindex(kind, at, &object);
        }
    }

    fn index(&mut self, kind: Kind, at: &At, object: &Object) {
        if object.meta().controller().is_none() && WORKLOADS.contains(&kind) {
            let places = self.tops.entry(kind).or_default();
            match places.get_mut(&at.0) {
                Some(count) => *count += 1,
                None => drop(places.insert(at.0.clone(), 1)),
            }
        }
        for (index, key) in self.keys(kind, object) {
            index.add(&key, at);
        }
    }

    fn unindex(&mut self, kind: Kind, at: &At, object: &Object) {
        if object.meta().controller().is_none()
            && let Some(count) = self.tops.get_mut(&kind).and_then(|places| places.get_mut(&at.0))
        {
            *count = count.saturating_sub(1);
        }
        for (index, key) in self.keys(kind, object) {
            index.remove(&key, at);
        }
    }

    fn keys<'a>(&'a mut self, kind: Kind, object: &Object) -> Vec<(&'a mut Index, String)> {
        let owner = object.meta().controller().map(|o| o.uid.to_string()).unwrap_or_default();
        if let Object::Event(e) = object {
            let about = super::kinds::qualified(&e.about.api_version, &e.about.kind);
            return vec![(&mut self.events_by_subject, subject_key(&about, &e.about.namespace, &e.about.name))];
        }
        vec![(&mut self.owned, if owner.is_empty() { owner } else { owned_key(kind, &owner) })]
    }
}

fn address(object: &Object) -> At {
    let meta = object.meta();
    if let Object::Other(o) = object {
        return (meta.namespace.clone(), other_name(&o.kind_name(), &meta.name).into());
    }
    (meta.namespace.clone(), meta.name.clone())
}

/// Kinds without a row share a store: the kind is part of the name there.
fn other_name(kind: &str, name: &str) -> String {
    if Kind::named(kind) == Kind::Other { format!("{kind}/{name}") } else { name.to_owned() }
}

fn owned_key(kind: Kind, uid: &str) -> String {
    format!("{}/{uid}", kind.row().name)
}

fn subject_key(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind}/{namespace}/{name}")
}

/// The object as it was, with what changes without meaning anything as it is now: a version that only counts up, and the
/// heartbeats of a node that only says it is still alive. What still differs then is worth another look.
fn calmed(mut before: Object, now: &Object) -> Object {
    before.meta_mut().version = now.meta().version.clone();
    if let (Object::Node(before), Object::Node(now)) = (&mut before, now) {
        for (old, new) in before.status.conditions.iter_mut().zip(&now.status.conditions) {
            old.last_heartbeat_time = new.last_heartbeat_time;
        }
    }
    before
}

fn touch(kind: Kind, at: &At, object: &Object, touched: &mut Touched) {
    touched.objects.insert((kind, at.0.clone(), at.1.clone()));
    touched.reads.insert(Read::object(kind, &at.0, &at.1));
    touched.reads.insert(Read::set(kind, None));
    touched.reads.insert(Read::set(kind, Some(&at.0)));
    let owner = object.meta().controller().map(|o| &*o.uid);
    touched.reads.extend(owner.map(|uid| Read::owned(kind, uid)));
    if let Object::Event(e) = object {
        let about = super::kinds::qualified(&e.about.api_version, &e.about.kind);
        touched.reads.insert(Read::events_of(&about, &e.about.namespace, &e.about.name));
    }
}

impl Witness for Touched {
    fn sees(&mut self, pods: &Pods, row: u32) {
        let Some(row) = pods.at(row) else { return };
        let (namespace, name) = (pods.namespace(row), pods.name(row));
        if !row.is_plain() || row.restarts > 0 {
            self.objects.insert((Kind::Pod, namespace.into(), (*name).into()));
        }
        self.reads.insert(Read::object(Kind::Pod, namespace, &name));
        self.reads.insert(Read::set(Kind::Pod, None));
        self.reads.insert(Read::set(Kind::Pod, Some(namespace)));
        self.reads.extend(pods.owner(row).map(|owner| Read::pods_of(&owner.uid)));
        self.reads.insert(Read::pods_on(pods.node(row)));
    }
}

impl Listing {
    fn note_row(&mut self, row: u32) {
        let (word, bit) = (row as usize / 64, row % 64);
        if self.rows.len() <= word {
            self.rows.resize(word + 1, 0);
        }
        self.rows[word] |= 1 << bit;
    }

    fn has_row(&self, row: u32) -> bool {
        self.rows.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}
