//! Cluster: the one picture. Changed only by [`Cluster::apply`]; everything else looks.

mod lineage;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::batch::Change;
use super::indexes::Index;
use super::kept::Kept;
use super::pods::{Pods, Reserved, Witness};
use super::squeeze::Scratch;
use super::store::Store;
use super::{
    Batch, Coverage, CoverageState, Delta, EndpointSlice, Event, Kind, Node, Object, ObjectRef, Other, Place, Pod, Read, Reads, Seen,
    Selector, Stored, Text, hash_of, kinds::Shape,
};

pub use lineage::Lineage;

/// Namespace and name.
type At = (Text, Text);

/// Everything that is known of the cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    stores: HashMap<Kind, Store>,
    pods: Pods,
    coverage: Coverage,
    events_by_subject: Index,
    owned: Index,
    slices_by_service: Index,
    /// How many objects of a kind and namespace nobody else has made.
    tops: HashMap<Kind, BTreeMap<Text, usize>>,
    ill_nodes: BTreeSet<u32>,
    listing: HashMap<(Kind, Place), Listing>,
    /// Known not to exist although their kind is not known whole.
    gone: BTreeSet<(Kind, Text, Text)>,
    /// Where objects are packed.
    scratch: Scratch,
}

/// Kinds that others make pods through: how many nobody made is counted.
const WORKLOADS: [Kind; 3] = [Kind::ReplicaSet, Kind::Job, Kind::ReplicationController];

/// Objects of one kind that may stay open between two changes or judgements: about a megabyte.
const MOST_VIEWS: usize = 512;

/// What a running list has seen so far.
#[derive(Debug, Default)]
struct Listing {
    epoch: u32,
    /// Rows of pods or slots of a store, a bit each.
    rows: Vec<u64>,
}

/// What a delta changed: the objects whose kept value or coverage changed, and the look-ups that would now answer otherwise.
#[derive(Debug, Default)]
pub struct Touched {
    /// Pods that were and are plain and never restarted are left out: they are not judged.
    pub objects: BTreeSet<(Kind, Text, Text)>,
    pub reads: Reads,
    /// Namespace and owner of the pod that was noted last.
    kin: Option<u64>,
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
        self.stores.values_mut().filter(|store| store.opened() > MOST_VIEWS).for_each(Store::drop_views);
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

    /// Closes what judging opened, if that is much. To be called between judgements: whoever judges everything looks at
    /// everything.
    pub fn drop_views(&mut self) {
        self.stores.values_mut().filter(|store| store.opened() > MOST_VIEWS).for_each(Store::drop_views);
        self.pods.drop_views();
    }

    /// Closes what was opened. To be called when everything is judged.
    pub fn drop_all_views(&mut self) {
        self.stores.values_mut().for_each(Store::drop_views);
        self.pods.drop_more_views();
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

    /// Whether an object is there and plainly well: see [`Object::is_well`]. It is not opened for that.
    pub fn has_well(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.kept(kind, namespace, name).is_some_and(Kept::is_well)
    }

    /// Whether an object is a workload that wants pods and has none that is ready. It is not opened for that.
    pub fn is_down(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.kept(kind, namespace, name).is_some_and(Kept::is_down)
    }

    /// Whether an object is there that is not plainly well and is like this. It does not stay open for that.
    pub fn has_unwell(&self, kind: Kind, namespace: &str, name: &str, like: impl FnOnce(&Object) -> bool) -> bool {
        let look = |store: &Store| {
            let at = store.find(namespace, name).filter(|at| store.kept(*at).is_some_and(|kept| !kept.is_well()))?;
            store.look(at, like)
        };
        self.stores.get(&kind).and_then(look).unwrap_or(false)
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
        let rows = if kind == Kind::Pod { self.pods.in_order(namespace) } else { Vec::new() };
        let pods = rows.into_iter().filter_map(|at| self.pods.object(self.pods.at(at)?));
        let store = self.stores.get(&kind);
        store.into_iter().flat_map(move |store| store.slots(namespace).filter_map(|at| store.get(at))).chain(pods)
    }

    /// The same for those that are wanted; the others are not kept open. For looks over many of which few matter.
    pub fn wanted<'a, T: Stored + 'a>(&'a self, namespace: Option<&str>, wanted: impl Fn(&T) -> bool) -> impl Iterator<Item = &'a T> {
        let is = move |object: &Object| T::of(object).is_some_and(&wanted);
        let store = self.stores.get(&T::KIND);
        let slots = store.into_iter().flat_map(move |store| store.slots(namespace).map(move |at| (store, at)));
        slots.filter_map(move |(store, at)| store.get_if(at, &is)).filter_map(T::of)
    }

    /// What somebody makes of each object of a kind, by namespace and name, from the one at this place on. None of them stays open for
    /// that.
    pub fn each<'a, T: Stored + 'a, R: 'a>(
        &'a self,
        namespace: Option<&str>,
        from: usize,
        of: impl Fn(&T) -> R + 'a,
    ) -> impl Iterator<Item = R> {
        let store = self.stores.get(&T::KIND);
        let slots = store.into_iter().flat_map(move |store| store.slots(namespace).skip(from).map(move |at| (store, at)));
        slots.filter_map(move |(store, at)| store.look(at, |object| T::of(object).map(&of)).flatten())
    }

    /// Nodes that are not plainly well: see [`Node::is_well`].
    pub fn unwell_nodes(&self) -> impl Iterator<Item = &Node> {
        let store = self.stores.get(&Kind::Node);
        let slots = store.into_iter().flat_map(move |store| store.slots(None).filter_map(move |at| store.get_unwell(at)));
        slots.filter_map(Node::of)
    }

    pub fn count(&self, kind: Kind) -> usize {
        if kind == Kind::Pod {
            return self.pods.len();
        }
        self.stores.get(&kind).map_or(0, |store| store.len(None))
    }

    /// How many objects of a kind a namespace holds.
    pub fn count_in(&self, kind: Kind, namespace: &str) -> usize {
        if kind == Kind::Pod {
            return self.pods.in_order(Some(namespace)).len();
        }
        self.stores.get(&kind).map_or(0, |store| store.len(Some(namespace)))
    }

    /// Whether some node does not say that it is ready.
    pub fn has_ill_node(&self) -> bool {
        !self.ill_nodes.is_empty()
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
        self.views(self.pods.of_owner(uid, |_| true))
    }

    /// Those of them that are not ready.
    pub fn unready_pods_of(&self, uid: &str) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        self.views(self.pods.of_owner(uid, |row| !row.is_ready()))
    }

    /// Pods of a namespace that a selector matches, by name.
    pub fn pods_selected(&self, namespace: &str, selector: &Selector) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        self.views(self.pods.labelled(namespace, |row| selector.matches(|key| self.pods.label(row, key))))
    }

    /// Pods bound to this node, by namespace and name.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        self.views(self.pods.of_node(node))
    }

    /// What the scheduler has reserved on a node for pods that have not ended.
    pub fn reserved_on(&self, node: &str) -> Reserved<'_> {
        self.pods.reserved_on(node)
    }

    fn views(&self, rows: Vec<u32>) -> impl Iterator<Item = Pod<'_>> + use<'_> {
        rows.into_iter().filter_map(|at| Pod::new(&self.pods, at))
    }

    /// Objects of a kind whose controller has this uid.
    pub fn owned<T: Stored>(&self, uid: &str) -> Vec<&T> {
        let Some(store) = self.stores.get(&T::KIND) else { return Vec::new() };
        let found = self.owned.get(Read::owned(T::KIND, uid)).filter_map(|at| store.get(at));
        let mut owned: Vec<&Object> = found.filter(|o| o.meta().controller().is_some_and(|c| *c.uid == *uid)).collect();
        owned.sort_by(|a, b| (&a.meta().namespace, &a.meta().name).cmp(&(&b.meta().namespace, &b.meta().name)));
        owned.into_iter().filter_map(T::of).collect()
    }

    /// EndpointSlices of a Service, by name. Their label says so, to everybody who reads them.
    pub fn slices_of(&self, namespace: &str, service: &str) -> Vec<&EndpointSlice> {
        let store = self.stores.get(&Kind::EndpointSlice);
        let slots = self.slices_by_service.get(Read::slices_of(namespace, service));
        let all = slots.filter_map(|at| store?.get(at).and_then(EndpointSlice::of));
        let mut slices: Vec<&EndpointSlice> = all.filter(|s| *s.meta.namespace == *namespace && s.service() == service).collect();
        slices.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        slices
    }

    /// Whether a Service selects pods, and one of its EndpointSlices has a ready endpoint with each of its ports. Nothing is opened for
    /// that.
    pub fn is_served(&self, namespace: &str, service: &str) -> bool {
        let wanted = self.kept(Kind::Service, namespace, service).and_then(Kept::mark);
        let Some((wanted, store)) = wanted.zip(self.stores.get(&Kind::EndpointSlice)) else { return false };
        let mut slices = self.slices_by_service.get(Read::slices_of(namespace, service));
        slices.any(|at| store.kept(at).and_then(Kept::mark) == Some(wanted))
    }

    fn kept(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Kept> {
        let store = self.stores.get(&kind)?;
        store.find(namespace, name).and_then(|at| store.kept(at))
    }

    /// Events about an object, newest first. Node events are found by name: the kubelet writes the node's name as uid.
    pub fn events(&self, about: &ObjectRef) -> Vec<&Event> {
        let mut events: Vec<&Event> = self.events_about(about).collect();
        events.sort_by(|a, b| newer_first(a, b));
        events
    }

    /// The newest of them that is like this.
    pub fn newest_event(&self, about: &ObjectRef, like: impl Fn(&Event) -> bool) -> Option<&Event> {
        self.events_about(about).filter(|e| like(e)).min_by(|a, b| newer_first(a, b))
    }

    fn events_about<'a, 'r>(&'a self, about: &'r ObjectRef) -> impl Iterator<Item = &'a Event> + use<'a, 'r> {
        let is_about = |e: &&Event| *e.about.namespace == *about.namespace && *e.about.name == *about.name && subject_kind(e) == about.kind;
        let slots = self.events_by_subject.get(Read::events_of(&about.kind, &about.namespace, &about.name));
        let store = self.stores.get(&Kind::Event);
        slots.filter_map(move |at| store?.get(at).and_then(Event::of)).filter(is_about)
    }

    /// An object of a kind without a row, by the text of its kind (`Certificate.cert-manager.io`).
    pub fn other(&self, kind: &str, namespace: &str, name: &str) -> Option<&Other> {
        self.find(Kind::Other, namespace, &other_name(kind, name)).and_then(Other::of)
    }

    #[cfg(test)]
    pub(super) fn pods_hold_nothing(&self) -> bool {
        self.pods.hold_nothing()
    }

    fn find(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Object> {
        if kind == Kind::Pod {
            return self.pods.find(namespace, name).and_then(|at| self.pods.object(self.pods.at(at)?));
        }
        let store = self.stores.get(&kind)?;
        store.find(namespace, name).and_then(|at| store.get(at))
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
                    let slot = self.upsert(kind, object, touched);
                    seen.iter_mut().for_each(|listing| listing.note_row(slot));
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
        let store = self.stores.get(&kind);
        let slots = store.into_iter().flat_map(|store| store.slots(namespace));
        let gone: Vec<u32> = slots.filter(|at| !listing.has_row(*at)).collect();
        for at in gone {
            self.take_out(kind, at, touched);
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

    fn upsert(&mut self, kind: Kind, mut object: Object, touched: &mut Touched) -> u32 {
        let at = address(&object);
        let store = self.stores.entry(kind).or_default();
        let known = store.find(&at.0, &at.1);
        let kept = store.pack(known, &at.1, &mut object, &mut self.scratch);
        let Some(slot) = known else {
            // It is not left open: thousands come at once, and most of them nobody looks at.
            let slot = store.add(kept);
            self.note(kind, slot, &object, touched);
            return slot;
        };
        if store.kept(slot) == Some(&kept) {
            return slot;
        }
        let before = store.replace(slot, kept);
        if !before.as_ref().is_some_and(|before| is_calm(before, &object)) {
            before.iter().for_each(|before| self.unnote(kind, slot, before, touched));
            self.note(kind, slot, &object, touched);
        }
        self.show(kind, slot, object);
        slot
    }

    fn show(&mut self, kind: Kind, slot: u32, object: Object) {
        self.stores.entry(kind).or_default().show(slot, object);
    }

    fn remove(&mut self, kind: Kind, at: &At, touched: &mut Touched) {
        if kind == Kind::Pod {
            let row = self.pods.find(&at.0, &at.1);
            return row.into_iter().for_each(|row| self.pods.remove(row, touched));
        }
        let slot = self.stores.get(&kind).and_then(|store| store.find(&at.0, &at.1));
        slot.into_iter().for_each(|slot| self.take_out(kind, slot, touched));
    }

    fn take_out(&mut self, kind: Kind, slot: u32, touched: &mut Touched) {
        if let Some(object) = self.stores.get_mut(&kind).and_then(|store| store.remove(slot)) {
            self.unnote(kind, slot, &object, touched);
        }
    }

    /// Notes an object that is new in its slot.
    fn note(&mut self, kind: Kind, slot: u32, object: &Object, touched: &mut Touched) {
        touch(kind, &address(object), object, touched);
        self.count_top(kind, object, 1);
        if let Some((index, key)) = self.index(kind, object) {
            index.add(key, slot);
        }
        if let Object::Node(node) = object
            && !node.is_ready()
        {
            self.ill_nodes.insert(slot);
        }
    }

    /// Forgets an object that leaves its slot.
    fn unnote(&mut self, kind: Kind, slot: u32, object: &Object, touched: &mut Touched) {
        touch(kind, &address(object), object, touched);
        self.count_top(kind, object, -1);
        if let Some((index, key)) = self.index(kind, object) {
            index.remove(key, slot);
        }
        if let Object::Node(_) = object {
            self.ill_nodes.remove(&slot);
        }
    }

    fn count_top(&mut self, kind: Kind, object: &Object, more: isize) {
        if WORKLOADS.contains(&kind) && object.meta().controller().is_none() {
            let count = self.tops.entry(kind).or_default().entry(object.meta().namespace.clone()).or_default();
            *count = count.saturating_add_signed(more);
        }
    }

    /// Where an object is looked for by something other than its name.
    fn index(&mut self, kind: Kind, object: &Object) -> Option<(&mut Index, Read)> {
        if let Object::Event(e) = object {
            return Some((&mut self.events_by_subject, Read::events_of(&subject_kind(e), &e.about.namespace, &e.about.name)));
        }
        if let Object::EndpointSlice(s) = object {
            return Some((&mut self.slices_by_service, Read::slices_of(&s.meta.namespace, s.service())));
        }
        let owner = object.meta().controller().filter(|owner| !owner.uid.is_empty())?;
        Some((&mut self.owned, Read::owned(kind, &owner.uid)))
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

/// Events of the same time by name.
fn newer_first(a: &Event, b: &Event) -> std::cmp::Ordering {
    b.last.cmp(&a.last).then_with(|| a.meta.name.cmp(&b.meta.name))
}

/// The kind of what an event is about, as references name it.
fn subject_kind(event: &Event) -> Cow<'_, str> {
    super::kinds::qualified(&event.about.api_version, &event.about.kind)
}

/// Whether an object changed without meaning anything: the heartbeats of a node that only says it is still alive. What still differs
/// then is worth another look.
fn is_calm(before: &Object, now: &Object) -> bool {
    let (Object::Node(before), Object::Node(now)) = (before, now) else { return before == now };
    let mut calmed = before.clone();
    for (old, new) in calmed.status.conditions.iter_mut().zip(&now.status.conditions) {
        old.last_heartbeat_time = new.last_heartbeat_time;
    }
    calmed == *now
}

fn touch(kind: Kind, at: &At, object: &Object, touched: &mut Touched) {
    touched.objects.insert((kind, at.0.clone(), at.1.clone()));
    touched.reads.insert(Read::object(kind, &at.0, &at.1));
    touched.reads.insert(Read::set(kind, None));
    touched.reads.insert(Read::set(kind, Some(&at.0)));
    let owner = object.meta().controller().map(|o| &*o.uid);
    touched.reads.extend(owner.map(|uid| Read::owned(kind, uid)));
    if let Object::Event(e) = object {
        touched.reads.insert(Read::events_of(&subject_kind(e), &e.about.namespace, &e.about.name));
    }
    if let Object::EndpointSlice(s) = object {
        touched.reads.insert(Read::slices_of(&s.meta.namespace, s.service()));
    }
}

impl Witness for Touched {
    fn sees(&mut self, pods: &Pods, row: u32, name: &str) {
        let Some(row) = pods.at(row) else { return };
        let namespace = pods.namespace(row);
        if !row.is_plain() || row.restarts > 0 {
            self.objects.insert((Kind::Pod, namespace.into(), name.into()));
        }
        self.reads.insert(Read::object(Kind::Pod, namespace, name));
        self.reads.insert(Read::pods_on(pods.node(row)));
        // Pods of one owner come one after another.
        let owner = pods.owner(row).map(|owner| &*owner.uid);
        let kin = hash_of(&(namespace, owner));
        if self.kin.replace(kin) != Some(kin) {
            self.reads.insert(Read::set(Kind::Pod, None));
            self.reads.insert(Read::set(Kind::Pod, Some(namespace)));
            self.reads.extend(owner.map(Read::pods_of));
        }
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
