//! Pods: rows, and the tables that rows share. A pod that comes in is compared with what is kept; nothing is cloned.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::DefaultHashBuilder;

use crate::model::Phase;
use crate::model::intern::{Interner, Sym, push};
use crate::model::sharded::Sharded;

use super::arrival::{Arrival, ArrivalUid, Arrivals, Rest, Span};
use super::chain::{Link, NONE, chain, join, leave};
use super::counted::Counted;
use super::extras::Extras;
use super::labels::{Mark, Value, value};
use super::row::{Flags, PodRow, Suffix};
use super::tables::{LabelSet, NamespaceEntry, NodeEntry, OwnerEntry, SpecEntry, Template};
use super::uid::Uid;
use super::views::Views;

/// All pods of the cluster.
#[derive(Debug, Default)]
pub(in crate::model) struct Pods {
    pub(super) rows: Vec<Option<PodRow>>,
    free: Vec<u32>,
    by_name: Sharded,
    hasher: DefaultHashBuilder,
    pub(super) strings: Interner,
    pub(super) namespaces: Counted<NamespaceEntry>,
    pub(super) nodes: Counted<NodeEntry>,
    pub(super) owners: Counted<OwnerEntry>,
    pub(super) labels: Counted<LabelSet>,
    pub(super) specs: Counted<SpecEntry>,
    pub(super) templates: Counted<Template>,
    pub(super) extras: Extras,
    pub(super) views: Views,
}

/// The shared parts of a batch, as entries of the tables: each is in use until the batch is done.
#[derive(Debug)]
pub(in crate::model) struct Guests {
    owners: Vec<u32>,
    labels: Vec<u32>,
    specs: Vec<u32>,
    /// Of each pod in turn.
    nodes: Vec<u32>,
    /// The template of the pod before, and what its name begins with: in the order of names they are those of the next pod too.
    last: Option<(Kin, u32)>,
    prefix: Option<Sym>,
}

/// Positions in a batch that make up a template.
type Kin = (Span, Option<u32>, u32, u32);

/// Told of every row before it changes and after.
pub(in crate::model) trait Witness {
    fn sees(&mut self, pods: &Pods, row: u32, name: &str);
}

impl Pods {
    /// Takes in what the pods of a batch share.
    pub(in crate::model) fn welcome(&mut self, arrivals: &Arrivals) -> Guests {
        let owners = arrivals.owners.iter().map(|owner| {
            let entry = OwnerEntry::take(owner, &mut self.strings);
            shared(&mut self.owners, entry, &mut self.strings, OwnerEntry::release)
        });
        let owners = owners.collect();
        let labels = arrivals.labels.iter().map(|packed| {
            let entry = LabelSet::take(packed, &mut self.strings);
            shared(&mut self.labels, entry, &mut self.strings, LabelSet::release)
        });
        let labels = labels.collect();
        let specs = arrivals.specs.iter().map(|packed| self.specs.take(SpecEntry::new(packed)).0);
        let specs = specs.collect();
        // Looked up one after another, for the processor fetches the next while it waits for one: each lies somewhere else.
        let nodes = arrivals.pods.iter().map(|arrival| self.take_node(arrivals.get(arrival.node))).collect();
        Guests { owners, labels, specs, nodes, last: None, prefix: None }
    }

    /// Lets go of what no pod of the batch took.
    pub(in crate::model) fn dismiss(&mut self, guests: Guests) {
        guests.owners.into_iter().for_each(|id| self.release_owner(id));
        guests.labels.into_iter().for_each(|id| self.release_labels(id));
        guests.specs.into_iter().for_each(|id| self.release_spec(id));
        guests.nodes.into_iter().for_each(|id| self.release_node(id));
    }

    /// Takes in one pod of a batch and gives its row. The witness sees it only if its kept value changed.
    pub(in crate::model) fn upsert(
        &mut self,
        arrivals: &mut Arrivals,
        n: usize,
        guests: &mut Guests,
        witness: &mut impl Witness,
    ) -> Option<u32> {
        let rest = std::mem::replace(&mut arrivals.pods.get_mut(n)?.rest, Rest::Plain);
        let (arrivals, arrival) = (&*arrivals, arrivals.pods.get(n)?);
        let template = self.template(arrivals, arrival, guests)?;
        let known = self.templates.get(template).and_then(|t| self.find_in(t.namespace, arrivals.get(arrival.name)));
        if let Some(row) = known {
            if self.is_same(row, arrivals, arrival, &rest, template) {
                self.release_template(template);
                return known;
            }
            witness.sees(self, row, arrivals.get(arrival.name));
            self.take_out(row);
        }
        let node = self.nodes.again(*guests.nodes.get(n)?);
        let row = self.put_in(arrivals, arrival, rest, (template, node), guests);
        witness.sees(self, row, arrivals.get(arrival.name));
        Some(row)
    }

    /// Removes a pod.
    pub(in crate::model) fn remove(&mut self, row: u32, witness: &mut impl Witness) {
        if let Some(name) = self.at(row).map(|it| self.name(it)) {
            witness.sees(self, row, &name);
            self.take_out(row);
        }
    }

    /// Nothing is in use in any table.
    #[cfg(test)]
    pub(in crate::model) fn hold_nothing(&self) -> bool {
        let tables =
            [self.templates.len(), self.specs.len(), self.labels.len(), self.owners.len(), self.nodes.len(), self.namespaces.len()];
        tables == [0; 6] && self.strings.is_empty() && self.by_name.is_empty() && self.extras.is_empty()
    }

    pub(super) fn row(&self, at: u32) -> Option<&PodRow> {
        self.rows.get(at as usize)?.as_ref()
    }

    pub(in crate::model) fn len(&self) -> usize {
        self.by_name.len()
    }

    pub(in crate::model) fn find(&self, namespace: &str, name: &str) -> Option<u32> {
        self.find_in(self.namespaces.find(&NamespaceEntry::new(self.strings.find(namespace)?))?, name)
    }

    fn find_in(&self, namespace: u32, name: &str) -> Option<u32> {
        let same = |at: u32| {
            self.row(at).is_some_and(|row| {
                self.templates.get(row.template).is_some_and(|t| t.namespace == namespace)
                    && is_name(name, self.strings.get(row.prefix), row.suffix.text())
            })
        };
        self.by_name.find(self.hash(namespace, name), same)
    }

    /// Rows of the pods that a template's chain holds.
    pub(super) fn of_template(&self, template: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.templates.get(template).map_or(NONE, |t| t.first_pod);
        chain(first, |at| self.row(at).map(|row| row.by_template))
    }

    fn template(&mut self, arrivals: &Arrivals, arrival: &Arrival, guests: &mut Guests) -> Option<u32> {
        let kin = (arrival.namespace, arrival.owner, arrival.labels, arrival.spec);
        if let Some((_, id)) = guests.last.filter(|(last, id)| *last == kin && self.templates.get(*id).is_some()) {
            return Some(self.templates.again(id));
        }
        let name = self.strings.take(arrivals.get(arrival.namespace));
        let entry = NamespaceEntry::new(name);
        let namespace = shared(&mut self.namespaces, entry, &mut self.strings, |entry, strings| strings.release(entry.name));
        let owner = arrival.owner.map_or(Some(NONE), |i| guests.owners.get(i as usize).copied())?;
        let labels = *guests.labels.get(arrival.labels as usize)?;
        let spec = *guests.specs.get(arrival.spec as usize)?;
        let (id, new) = self.templates.take(Template::new(namespace, owner, labels, spec));
        if new {
            self.owners.again(owner);
            self.labels.again(labels);
            self.specs.again(spec);
            self.enchain(id, namespace, owner);
        } else {
            self.release_namespace(namespace);
        }
        guests.last = Some((kin, id));
        Some(id)
    }

    fn enchain(&mut self, id: u32, namespace: u32, owner: u32) {
        if let Some(entry) = self.namespaces.get_mut(namespace) {
            join(&mut self.templates, &mut entry.first_template, id, |t, at| t.get_mut(at).map(|t| &mut t.by_namespace));
        }
        if let Some(entry) = self.owners.get_mut(owner) {
            join(&mut self.templates, &mut entry.first_template, id, |t, at| t.get_mut(at).map(|t| &mut t.by_owner));
        }
    }

    fn is_same(&self, at: u32, arrivals: &Arrivals, arrival: &Arrival, rest: &Rest, template: u32) -> bool {
        let Some(row) = self.row(at) else { return false };
        let node = self.nodes.get(row.node).map_or("", |n| self.strings.get(n.name));
        let uid = match arrival.uid {
            ArrivalUid::Uuid(words) => row.uid == Uid::of_uuid(words),
            ArrivalUid::Text(span) => row.uid.text(&self.strings) == arrivals.get(span),
        };
        row.template == template
            && uid
            && (row.created, row.since, row.restarts, row.phase) == (arrival.created, arrival.since, arrival.restarts, arrival.phase)
            && row.flags == flags(arrival, rest)
            && node == arrivals.get(arrival.node)
            && self.extras.equals(row.extra, rest)
    }

    /// Template and node are used by the row from now on.
    fn put_in(&mut self, arrivals: &Arrivals, arrival: &Arrival, rest: Rest, (template, node): (u32, u32), guests: &mut Guests) -> u32 {
        let name = arrivals.get(arrival.name);
        let (prefix, suffix) = if self.names_its_pods(template) { (name, Suffix::default()) } else { Suffix::split(name) };
        let prefix = match guests.prefix.filter(|known| !prefix.is_empty() && self.strings.get(*known) == prefix) {
            Some(known) => self.strings.again(known),
            None => self.strings.take(prefix),
        };
        guests.prefix = Some(prefix);
        let row = PodRow {
            uid: match arrival.uid {
                ArrivalUid::Uuid(words) => Uid::of_uuid(words),
                ArrivalUid::Text(span) => Uid::take(arrivals.get(span), &mut self.strings),
            },
            prefix,
            suffix,
            template,
            node,
            created: arrival.created,
            since: arrival.since,
            restarts: arrival.restarts,
            phase: arrival.phase,
            flags: flags(arrival, &rest),
            extra: self.extras.add(rest),
            by_template: Link::default(),
            by_node: Link::default(),
        };
        let at = self.free.pop().unwrap_or_else(|| {
            push(&mut self.rows, None);
            self.views.make_room(self.rows.len());
            self.rows.len() as u32 - 1
        });
        self.rows[at as usize] = Some(row);
        self.attach(at, row);
        at
    }

    fn attach(&mut self, at: u32, row: PodRow) {
        let (namespace, spec) = self.templates.get(row.template).map_or((NONE, NONE), |t| (t.namespace, t.spec));
        if let Some(template) = self.templates.get_mut(row.template) {
            join(&mut self.rows[..], &mut template.first_pod, at, |rows, at| link(rows, at, |row| &mut row.by_template));
        }
        if let Some(node) = self.nodes.get_mut(row.node) {
            join(&mut self.rows[..], &mut node.first_pod, at, |rows, at| link(rows, at, |row| &mut row.by_node));
            let requests = self.specs.get(spec).filter(|_| row.flags.has(Flags::COUNTS)).map_or(&[][..], |s| &s.packed.requests);
            node.reserve(requests, 1, &mut self.strings);
        }
        let (prefix, suffix) = (self.strings.get(row.prefix), row.suffix);
        let hash = hash_of(&self.hasher, namespace, prefix, &suffix);
        self.by_name.insert(hash, at);
    }

    fn take_out(&mut self, at: u32) {
        let Some(row) = self.row(at).copied() else { return };
        self.views.drop_one(at);
        let (namespace, spec) = self.templates.get(row.template).map_or((NONE, NONE), |t| (t.namespace, t.spec));
        let hash = hash_of(&self.hasher, namespace, self.strings.get(row.prefix), &row.suffix);
        self.by_name.remove(hash, at);
        if let Some(template) = self.templates.get_mut(row.template) {
            leave(&mut self.rows[..], &mut template.first_pod, at, |rows, at| link(rows, at, |row| &mut row.by_template));
        }
        if let Some(node) = self.nodes.get_mut(row.node) {
            leave(&mut self.rows[..], &mut node.first_pod, at, |rows, at| link(rows, at, |row| &mut row.by_node));
            let requests = self.specs.get(spec).filter(|_| row.flags.has(Flags::COUNTS)).map_or(&[][..], |s| &s.packed.requests);
            node.reserve(requests, -1, &mut self.strings);
        }
        self.rows[at as usize] = None;
        self.free.push(at);
        self.extras.remove(row.extra);
        self.strings.release(row.prefix);
        row.uid.release(&mut self.strings);
        self.release_node(row.node);
        self.release_template(row.template);
    }

    /// Some label repeats the pod's name, so the name is kept in one piece.
    fn names_its_pods(&self, template: u32) -> bool {
        let Some(set) = self.templates.get(template).and_then(|t| self.labels.get(t.labels)) else { return false };
        set.pairs
            .iter()
            .any(|(_, v)| matches!(value(self.strings.get(*v)), Value::Own(Mark::PodName | Mark::LastPart | Mark::PartBeforeLast)))
    }

    fn take_node(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return NONE;
        }
        let entry = NodeEntry::new(self.strings.take(name));
        shared(&mut self.nodes, entry, &mut self.strings, |entry, strings| strings.release(entry.name))
    }

    fn release_node(&mut self, id: u32) {
        if let Some(node) = self.nodes.release(id) {
            self.strings.release(node.name);
            node.requested.iter().for_each(|(resource, _)| self.strings.release(*resource));
        }
    }

    fn release_template(&mut self, id: u32) {
        let owner_and_namespace = self.templates.get(id).map(|t| (t.owner, t.namespace));
        let Some((owner, namespace)) = owner_and_namespace else { return };
        if self.templates.is_last(id) {
            if let Some(entry) = self.namespaces.get_mut(namespace) {
                leave(&mut self.templates, &mut entry.first_template, id, |t, at| t.get_mut(at).map(|t| &mut t.by_namespace));
            }
            if let Some(entry) = self.owners.get_mut(owner) {
                leave(&mut self.templates, &mut entry.first_template, id, |t, at| t.get_mut(at).map(|t| &mut t.by_owner));
            }
        }
        if let Some(template) = self.templates.release(id) {
            self.release_namespace(template.namespace);
            self.release_owner(template.owner);
            self.release_labels(template.labels);
            self.release_spec(template.spec);
        }
    }

    fn release_namespace(&mut self, id: u32) {
        if let Some(entry) = self.namespaces.release(id) {
            self.strings.release(entry.name);
        }
    }

    fn release_owner(&mut self, id: u32) {
        if let Some(entry) = self.owners.release(id) {
            entry.release(&mut self.strings);
        }
    }

    fn release_labels(&mut self, id: u32) {
        if let Some(entry) = self.labels.release(id) {
            entry.release(&mut self.strings);
        }
    }

    fn release_spec(&mut self, id: u32) {
        self.specs.release(id);
    }

    fn hash(&self, namespace: u32, name: &str) -> u64 {
        let (prefix, suffix) = Suffix::split(name);
        hash_of(&self.hasher, namespace, prefix, &suffix)
    }
}

/// The entry of a table for a value; where it was there already, the strings of the new one are let go.
fn shared<T: Eq + Hash>(table: &mut Counted<T>, entry: T, strings: &mut Interner, release: fn(&T, &mut Interner)) -> u32 {
    if let Some(id) = table.find(&entry) {
        release(&entry, strings);
        return table.again(id);
    }
    table.take(entry).0
}

/// Names are hashed as they are split, wherever they are kept in one piece.
fn hash_of(hasher: &DefaultHashBuilder, namespace: u32, prefix: &str, suffix: &Suffix) -> u64 {
    let (prefix, suffix) = if *suffix == Suffix::default() { Suffix::split(prefix) } else { (prefix, *suffix) };
    let mut state = hasher.build_hasher();
    namespace.hash(&mut state);
    prefix.hash(&mut state);
    suffix.hash(&mut state);
    state.finish()
}

fn is_name(name: &str, prefix: &str, suffix: &str) -> bool {
    name.len() == prefix.len() + suffix.len() && name.starts_with(prefix) && name.ends_with(suffix)
}

fn link(rows: &mut [Option<PodRow>], at: u32, which: fn(&mut PodRow) -> &mut Link) -> Option<&mut Link> {
    rows.get_mut(at as usize)?.as_mut().map(which)
}

fn flags(arrival: &Arrival, rest: &Rest) -> Flags {
    let ended = matches!(arrival.phase, Phase::Succeeded | Phase::Failed);
    Flags::default()
        .with(Flags::PLAIN, !matches!(rest, Rest::Unusual(..)))
        .with(Flags::READY, arrival.ready)
        .with(Flags::TRACKED, arrival.is_tracked)
        .with(Flags::COUNTS, !ended)
}
