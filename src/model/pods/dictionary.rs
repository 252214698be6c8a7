//! Dictionary: what a feed has learned of the pods it read, so that the next sibling is recognised instead of parsed.

use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::HashTable;

use crate::model::Owner;

use super::arrival::{Arrivals, PackedSpec};
use super::fingerprint::Fingerprint;
use super::head::{Head, OwnerHead};
use super::labels;
use super::replay::{Pattern, Replayed};
use super::scan::Scan;

/// Owners remembered at most: then all is forgotten and learned anew, which costs a parse each.
const MOST_OWNERS: usize = 2048;
const MOST_LABELS: usize = 4096;
/// Specs and statuses of one owner: revisions, resized pods, pods without a node.
const MOST_PATTERNS: usize = 4;

/// Known owners with their specs, and known label sets.
#[derive(Debug, Default)]
pub(in crate::model) struct Dictionary {
    families: Vec<Family>,
    by_key: HashTable<u32>,
    last: usize,
    labels: HashMap<u128, Listed<Arc<[u8]>>>,
    /// Which batch is being filled: positions in its lists are good for that batch only.
    batch: u32,
}

/// The pods of one owner, or those without an owner that share their labels.
#[derive(Debug)]
struct Family {
    key: u128,
    owner: Option<Listed<Arc<Owner>>>,
    specs: Vec<(Pattern, Listed<Arc<PackedSpec>>)>,
    statuses: Vec<(Pattern, Scan)>,
    /// The family of the pod that came before its first.
    neighbour: usize,
}

/// Something shared, and where it stands in the lists of a batch.
#[derive(Debug, Clone)]
struct Listed<T> {
    value: T,
    batch: u32,
    position: u32,
}

impl<T: Clone> Listed<T> {
    fn new(value: T) -> Self {
        Self { value, batch: 0, position: 0 }
    }

    fn position(&mut self, batch: u32, list: &mut Vec<T>) -> u32 {
        if self.batch != batch {
            (self.batch, self.position) = (batch, list.len() as u32);
            list.push(self.value.clone());
        }
        self.position
    }
}

/// Which family a pod belongs to; good until the next pod.
#[derive(Debug, Clone, Copy)]
pub(super) struct FamilyId(usize);

impl Dictionary {
    /// Begins a batch.
    pub(in crate::model) fn begin(&mut self) {
        self.batch += 1;
        if self.families.len() > MOST_OWNERS || self.labels.len() > MOST_LABELS {
            *self = Self { batch: self.batch, ..Self::default() };
        }
    }

    /// The family of a pod, made if it is new.
    pub(super) fn family(&mut self, head: &Head<'_>) -> FamilyId {
        let key = key(head);
        if self.families.get(self.last).is_some_and(|f| f.key == key) {
            return FamilyId(self.last);
        }
        let families = &self.families;
        let known = self.by_key.find(key as u64, |i| families[*i as usize].key == key).copied();
        self.last = known.map_or_else(|| self.add(key, head.owner.as_ref()), |i| i as usize);
        FamilyId(self.last)
    }

    fn add(&mut self, key: u128, owner: Option<&OwnerHead<'_>>) -> usize {
        let owner = owner.map(|o| Listed::new(Arc::new(o.kept())));
        self.families.push(Family { key, owner, specs: Vec::new(), statuses: Vec::new(), neighbour: self.last });
        let families = &self.families;
        self.by_key.insert_unique(key as u64, families.len() as u32 - 1, |i| families[*i as usize].key as u64);
        self.families.len() - 1
    }

    pub(super) fn owner(&mut self, family: FamilyId, out: &mut Arrivals) -> Option<u32> {
        let batch = self.batch;
        self.families.get_mut(family.0)?.owner.as_mut().map(|owner| owner.position(batch, &mut out.owners))
    }

    /// Recognises a sibling's spec: its position in the batch, and what stands in its cuts.
    pub(super) fn spec<'a>(
        &mut self,
        family: FamilyId,
        json: &'a [u8],
        at: usize,
        pod: &str,
        out: &mut Arrivals,
    ) -> Option<(u32, Replayed<'a>)> {
        // The name is compared with bytes inside of a string.
        if pod.contains(['"', '\\']) {
            return None;
        }
        self.ask_neighbour(family, |family| &mut family.specs, |(pattern, _)| pattern.replay(json, at, pod.as_bytes()).is_some());
        let batch = self.batch;
        let specs = &mut self.families.get_mut(family.0)?.specs;
        specs.iter_mut().find_map(|(pattern, spec)| {
            let replayed = pattern.replay(json, at, pod.as_bytes())?;
            Some((spec.position(batch, &mut out.specs), replayed))
        })
    }

    /// Recognises the status of a plain sibling: what a look at it would find, and where it ends.
    pub(super) fn status(&mut self, family: FamilyId, json: &[u8], at: usize) -> Option<(Scan, usize)> {
        self.ask_neighbour(family, |family| &mut family.statuses, |(pattern, _)| pattern.replay(json, at, b"").is_some());
        let statuses = &self.families.get(family.0)?.statuses;
        statuses.iter().find_map(|(pattern, scan)| {
            let replayed = pattern.replay(json, at, b"")?;
            Some((Scan { since: replayed.since, ..*scan }, replayed.end))
        })
    }

    /// A family that has learned nothing yet takes over what its neighbour knows, if that fits: the runs of a CronJob stand side by side.
    fn ask_neighbour<T: Clone>(&mut self, family: FamilyId, list: fn(&mut Family) -> &mut Vec<T>, fits: impl Fn(&T) -> bool) {
        let Some(own) = self.families.get_mut(family.0) else { return };
        let neighbour = own.neighbour;
        if !list(own).is_empty() {
            return;
        }
        let found = self.families.get_mut(neighbour).and_then(|f| list(f).iter().find(|item| fits(item)).cloned());
        if let Some((item, family)) = found.zip(self.families.get_mut(family.0)) {
            list(family).push(item);
        }
    }

    /// Takes in a spec that was parsed, with its pattern if one was learned from it.
    pub(super) fn learn_spec(&mut self, family: FamilyId, spec: PackedSpec, pattern: Option<Pattern>, out: &mut Arrivals) -> u32 {
        let mut listed = Listed::new(Arc::new(spec));
        let position = listed.position(self.batch, &mut out.specs);
        if let Some((pattern, family)) = pattern.zip(self.families.get_mut(family.0)) {
            remember(&mut family.specs, (pattern, listed));
        }
        position
    }

    /// Takes in what was found in a plain status.
    pub(super) fn learn_status(&mut self, family: FamilyId, scan: Scan, pattern: Option<Pattern>) {
        if let Some((pattern, family)) = pattern.zip(self.families.get_mut(family.0)) {
            remember(&mut family.statuses, (pattern, scan));
        }
    }

    /// The label set of a pod in the batch.
    pub(super) fn labels(&mut self, head: &Head<'_>, out: &mut Arrivals) -> u32 {
        let print = Fingerprint::of(head.labels);
        if let Some(known) = self.labels.get_mut(&print) {
            return known.position(self.batch, &mut out.labels);
        }
        let (packed, own) = labels::read(head);
        let content = Fingerprint::of(&packed) ^ 1;
        let known = self.labels.entry(content).or_insert_with(|| Listed::new(packed.into()));
        let position = known.position(self.batch, &mut out.labels);
        // Labels without anything of the pod's own are recognised by their bytes from now on.
        if !own {
            let listed = Listed { value: known.value.clone(), batch: self.batch, position };
            self.labels.insert(print, listed);
        }
        position
    }
}

/// The newest first; the oldest goes.
fn remember<T>(list: &mut Vec<T>, item: T) {
    list.truncate(MOST_PATTERNS - 1);
    list.insert(0, item);
}

/// What siblings have in common: the whole owner reference, else the labels.
fn key(head: &Head<'_>) -> u128 {
    let mut print = Fingerprint::new();
    match &head.owner {
        Some(owner) => {
            print.add(owner.uid.as_bytes());
            print.add(owner.name.as_bytes());
            print.add(owner.kind.as_bytes());
            print.add(owner.api_version.as_bytes());
            print.add(&[u8::from(owner.controller)]);
        }
        None => print.add(head.labels),
    }
    print.finish()
}

impl OwnerHead<'_> {
    fn kept(&self) -> Owner {
        Owner {
            api_version: (&*self.api_version).into(),
            kind: (&*self.kind).into(),
            name: (&*self.name).into(),
            uid: (&*self.uid).into(),
            controller: self.controller,
        }
    }
}
