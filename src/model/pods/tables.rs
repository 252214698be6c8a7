//! The tables that pods share: namespaces, nodes, owners, label sets, specs, and templates, which are one of each of them.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::model::intern::{Interner, Sym};
use crate::model::pack::{Pack, take_text, unpacked};
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
    views: OnceLock<Box<SpecViews>>,
}

/// A spec as its pods share it, and the status of those that are plain: made when first asked for.
#[derive(Debug)]
struct SpecViews {
    spec: PodSpec,
    running: PodStatus,
    succeeded: OnceLock<PodStatus>,
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
    Template: namespace, owner, labels, spec | ;
}

impl PartialEq for SpecEntry {
    fn eq(&self, other: &Self) -> bool {
        self.packed.content() == other.packed.content()
    }
}

impl Eq for SpecEntry {}

impl Hash for SpecEntry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.packed.content().hash(state);
    }
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
    pub(super) fn reserve(&mut self, mut requests: &[u8], times: i64, strings: &mut Interner) {
        while !requests.is_empty() {
            let (name, amount) = (take_text(&mut requests), i64::unpack(&mut requests).saturating_mul(times));
            match self.requested.iter().position(|(resource, _)| strings.get(*resource) == name) {
                Some(i) => self.change(i, amount, strings),
                None => {
                    self.requested.reserve_exact(1);
                    self.requested.push((strings.take(name), amount));
                }
            }
        }
    }

    fn change(&mut self, i: usize, amount: i64, strings: &mut Interner) {
        let (resource, sum) = &mut self.requested[i];
        *sum = sum.saturating_add(amount);
        if *sum == 0 {
            strings.release(*resource);
            self.requested.remove(i);
        }
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
    pub(super) fn new(packed: &Arc<PackedSpec>) -> Self {
        Self { packed: Arc::clone(packed), views: OnceLock::new() }
    }

    /// As its pods share it.
    pub(super) fn view(&self) -> &PodSpec {
        &self.views().spec
    }

    /// The status of its plain pods in that phase.
    pub(super) fn plain_status(&self, phase: Phase) -> &PodStatus {
        let views = self.views();
        if phase == Phase::Succeeded { views.succeeded.get_or_init(|| plain_status(&views.spec, phase)) } else { &views.running }
    }

    fn views(&self) -> &SpecViews {
        self.views.get_or_init(|| {
            let spec: PodSpec = unpacked(&self.packed.bytes);
            let running = plain_status(&spec, Phase::Running);
            Box::new(SpecViews { spec, running, succeeded: OnceLock::new() })
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.views.get().is_some()
    }

    pub(super) fn drop_views(&mut self) {
        self.views = OnceLock::new();
    }
}
