//! The tables that pods share: namespaces, nodes, owners, label sets, specs, and templates, which are one of each of them.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::model::intern::{Interner, Sym};
use crate::model::pack::unpacked;
use crate::model::{Owner, Phase, PodSpec, PodStatus};

use super::arrival::PackedSpec;
use super::chain::{Link, NONE};
use super::uid::Uid;
use super::unusual::plain_status;

/// A namespace that has pods, with its templates.
#[derive(Debug)]
pub(super) struct NamespaceEntry {
    pub name: Sym,
    pub first_template: u32,
}

/// A node that pods are bound to, with its pods and what they request.
#[derive(Debug)]
pub(super) struct NodeEntry {
    pub name: Sym,
    pub first_pod: u32,
    /// By resource, in thousandths.
    pub requested: Vec<(Sym, i64)>,
}

/// A controller of pods, with its templates.
#[derive(Debug)]
pub(super) struct OwnerEntry {
    pub api_version: Sym,
    pub kind: Sym,
    pub name: Sym,
    pub uid: Uid,
    pub controller: bool,
    pub first_template: u32,
    /// As judges see it, made when first asked for.
    pub view: OnceLock<Box<Owner>>,
}

/// Labels in normal form, sorted by key.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct LabelSet {
    pub pairs: Box<[(Sym, Sym)]>,
}

/// A spec in normal form, with what is asked of it often.
#[derive(Debug)]
pub(super) struct SpecEntry {
    pub packed: Arc<PackedSpec>,
    /// What the scheduler reserves for a pod, by resource, in thousandths.
    pub requests: Box<[(Sym, i64)]>,
    pub view: OnceLock<Box<PodSpec>>,
    pub running: OnceLock<Box<PodStatus>>,
    pub succeeded: OnceLock<Box<PodStatus>>,
}

/// What replicas share.
#[derive(Debug)]
pub(super) struct Template {
    pub namespace: u32,
    /// Owner entry, or none.
    pub owner: u32,
    pub labels: u32,
    pub spec: u32,
    pub first_pod: u32,
    pub by_namespace: Link,
    pub by_owner: Link,
}

/// Entries are found by what they are called or hold; chains and views are no part of that. They hash by the fields before the bar.
macro_rules! content {
    ($($entry:ident: $($hashed:ident),+ | $($field:ident),*;)+) => {$(
        impl PartialEq for $entry {
            fn eq(&self, other: &Self) -> bool {
                $(self.$hashed == other.$hashed)&&+ $(&& self.$field == other.$field)*
            }
        }
        impl Eq for $entry {}
        impl Hash for $entry {
            fn hash<H: Hasher>(&self, state: &mut H) {
                $(self.$hashed.hash(state);)+
            }
        }
    )+};
}

content! {
    NamespaceEntry: name | ;
    NodeEntry: name | ;
    OwnerEntry: uid | name, kind, api_version, controller;
    SpecEntry: packed | ;
    Template: namespace, owner, labels, spec | ;
}

impl NamespaceEntry {
    pub(super) fn new(name: Sym) -> Self {
        Self { name, first_template: NONE }
    }
}

impl NodeEntry {
    pub(super) fn new(name: Sym) -> Self {
        Self { name, first_pod: NONE, requested: Vec::new() }
    }

    /// Adds what a pod requests, or takes it away again.
    pub(super) fn reserve(&mut self, requests: &[(Sym, i64)], times: i64) {
        for (resource, amount) in requests {
            let change = amount.saturating_mul(times);
            match self.requested.iter_mut().find(|(r, _)| r == resource) {
                Some((_, sum)) => *sum = sum.saturating_add(change),
                None => self.requested.push((*resource, change)),
            }
        }
        self.requested.retain(|(_, sum)| *sum != 0);
    }
}

impl OwnerEntry {
    pub(super) fn take(owner: &Owner, strings: &mut Interner) -> Self {
        Self {
            api_version: strings.take(&owner.api_version),
            kind: strings.take(&owner.kind),
            name: strings.take(&owner.name),
            uid: Uid::take(&owner.uid, strings),
            controller: owner.controller,
            first_template: NONE,
            view: OnceLock::new(),
        }
    }

    pub(super) fn release(&self, strings: &mut Interner) {
        [self.api_version, self.kind, self.name].into_iter().for_each(|sym| strings.release(sym));
        self.uid.release(strings);
    }

    pub(super) fn view(&self, strings: &Interner) -> &Owner {
        self.view.get_or_init(|| {
            let text = |sym| strings.get(sym).into();
            Box::new(Owner {
                api_version: text(self.api_version),
                kind: text(self.kind),
                name: text(self.name),
                uid: self.uid.text(strings).into(),
                controller: self.controller,
            })
        })
    }
}

impl Template {
    pub(super) fn new(namespace: u32, owner: u32, labels: u32, spec: u32) -> Self {
        Self { namespace, owner, labels, spec, first_pod: NONE, by_namespace: Link::default(), by_owner: Link::default() }
    }
}

impl LabelSet {
    pub(super) fn take(packed: &[u8], strings: &mut Interner) -> Self {
        let pairs = super::labels::unpack(packed);
        Self { pairs: pairs.into_iter().map(|(k, v)| (strings.take(k), strings.take(v))).collect() }
    }

    pub(super) fn release(&self, strings: &mut Interner) {
        self.pairs.iter().for_each(|(k, v)| {
            strings.release(*k);
            strings.release(*v);
        });
    }
}

impl SpecEntry {
    /// By this the spec is found.
    pub(super) fn probe(packed: &Arc<PackedSpec>) -> Self {
        let packed = Arc::clone(packed);
        Self { packed, requests: Box::default(), view: OnceLock::new(), running: OnceLock::new(), succeeded: OnceLock::new() }
    }

    /// Unpacks the spec once to know what it requests.
    pub(super) fn take(packed: &Arc<PackedSpec>, strings: &mut Interner) -> Self {
        let spec: PodSpec = unpacked(&packed.bytes);
        let requests = spec.requested_resources().into_iter().map(|name| (strings.take(name), milli(spec.requested(name))));
        Self { requests: requests.collect(), ..Self::probe(packed) }
    }

    pub(super) fn release(&self, strings: &mut Interner) {
        self.requests.iter().for_each(|(sym, _)| strings.release(*sym));
    }

    /// As its pods share it.
    pub(super) fn view(&self) -> &PodSpec {
        self.view.get_or_init(|| Box::new(unpacked(&self.packed.bytes)))
    }

    /// The status of its plain pods in that phase.
    pub(super) fn plain_status(&self, phase: Phase) -> &PodStatus {
        let status = || Box::new(plain_status(self.view(), phase));
        if phase == Phase::Succeeded { self.succeeded.get_or_init(status) } else { self.running.get_or_init(status) }
    }

    pub(super) fn drop_views(&mut self) {
        (self.view, self.running, self.succeeded) = Default::default();
    }
}

/// Thousandths, rounded up; what does not fit is as much as fits.
fn milli(nano: i128) -> i64 {
    let rounded = nano.div_euclid(1_000_000) + i128::from(nano.rem_euclid(1_000_000) != 0);
    i64::try_from(rounded).unwrap_or(i64::MAX)
}
