//! Look: what a row says of its pod, with the tables behind it.

use std::ops::Deref;

use hashbrown::HashMap;

use crate::model::intern::Sym;
use crate::model::{Owner, Time};

use super::chain::{NONE, chain};
use super::extras::Extra;
use super::head::JOB_TRACKING;
use super::labels::{Mark, Value, last_part, part_before_last, value};
use super::row::{Flags, PodRow};
use super::store::Pods;
use super::tables::{NamespaceEntry, NodeEntry, SpecEntry, Template};
use super::uid::Uid;

/// A row with its number.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Row<'a> {
    pub(super) at: u32,
    row: &'a PodRow,
}

impl Deref for Row<'_> {
    type Target = PodRow;
    fn deref(&self) -> &PodRow {
        self.row
    }
}

/// What is taken of a node by pods that have not ended.
#[derive(Debug, Clone, Default)]
pub struct Reserved<'a> {
    pub pods: usize,
    /// By resource, in thousandths.
    amounts: Vec<(&'a str, i64)>,
}

impl Reserved<'_> {
    /// In 10⁻⁹ units.
    pub fn of(&self, resource: &str) -> i128 {
        self.amounts.iter().find(|(name, _)| *name == resource).map_or(0, |(_, milli)| i128::from(*milli) * 1_000_000)
    }
}

impl Row<'_> {
    pub(in crate::model) fn is_plain(self) -> bool {
        self.flags.has(Flags::PLAIN)
    }

    pub(in crate::model) fn is_ready(self) -> bool {
        self.flags.has(Flags::READY)
    }
}

impl Pods {
    pub(in crate::model) fn at(&self, at: u32) -> Option<Row<'_>> {
        Some(Row { at, row: self.row(at)? })
    }

    pub(in crate::model) fn name(&self, row: Row<'_>) -> String {
        [self.strings.get(row.prefix), row.suffix.text()].concat()
    }

    pub(in crate::model) fn namespace(&self, row: Row<'_>) -> &str {
        let entry = self.template_of(row).and_then(|t| self.namespaces.get(t.namespace));
        entry.map_or("", |ns| self.strings.get(ns.name))
    }

    pub(in crate::model) fn uid(&self, row: Row<'_>) -> String {
        row.uid.text(&self.strings)
    }

    pub(in crate::model) fn node(&self, row: Row<'_>) -> &str {
        self.nodes.get(row.node).map_or("", |node| self.strings.get(node.name))
    }

    pub(in crate::model) fn owner(&self, row: Row<'_>) -> Option<&Owner> {
        let entry = self.template_of(row).and_then(|t| self.owners.get(t.owner))?;
        Some(entry.view(&self.strings))
    }

    /// Its spec holds scheduling gates.
    pub(in crate::model) fn is_gated(&self, row: Row<'_>) -> bool {
        self.spec_entry(row).is_some_and(|entry| entry.packed.gated)
    }

    pub(in crate::model) fn deleted(&self, row: Row<'_>) -> Option<Time> {
        match self.extras.get(row.extra)? {
            Extra::Unusual { deleted, .. } => *deleted,
            Extra::Restarted(_) => None,
        }
    }

    pub(in crate::model) fn finalizers(&self, row: Row<'_>) -> Vec<String> {
        if row.flags.has(Flags::TRACKED) {
            return vec![JOB_TRACKING.to_owned()];
        }
        self.unusual(row).into_iter().flat_map(|u| &u.finalizers).map(|f| f.to_string()).collect()
    }

    pub(in crate::model) fn label(&self, row: Row<'_>, key: &str) -> Option<&str> {
        let (key, set) = (self.strings.find(key)?, self.labels.get(self.template_of(row)?.labels)?);
        let (_, kept) = set.pairs.iter().find(|(k, _)| *k == key)?;
        self.label_value(row, self.strings.get(*kept))
    }

    pub(in crate::model) fn labels(&self, row: Row<'_>) -> Vec<(&str, &str)> {
        let set = self.template_of(row).and_then(|t| self.labels.get(t.labels));
        let pairs = set.into_iter().flat_map(|set| &set.pairs);
        pairs.filter_map(|(k, v)| Some((self.strings.get(*k), self.label_value(row, self.strings.get(*v))?))).collect()
    }

    /// The value itself, or what its mark stands for. Where labels repeat the name, the name is kept in one piece.
    fn label_value<'a>(&'a self, row: Row<'_>, kept: &'a str) -> Option<&'a str> {
        let name = self.strings.get(row.prefix);
        match value(kept) {
            Value::Text(text) => Some(text),
            Value::Own(Mark::PodName) => Some(name),
            Value::Own(Mark::OwnerName) => self.owner(row).map(|owner| &*owner.name),
            Value::Own(Mark::OwnerUid) => self.owner(row).map(|owner| &*owner.uid),
            Value::Own(Mark::LastPart) => last_part(name),
            Value::Own(Mark::PartBeforeLast) => part_before_last(name),
        }
    }

    pub(super) fn template_of(&self, row: Row<'_>) -> Option<&Template> {
        self.templates.get(row.template)
    }

    pub(super) fn spec_entry(&self, row: Row<'_>) -> Option<&SpecEntry> {
        self.template_of(row).and_then(|t| self.specs.get(t.spec))
    }

    /// Rows of pods with this owner, by name, those that are kept.
    pub(in crate::model) fn of_owner(&self, uid: &str, keeps: impl Fn(Row<'_>) -> bool) -> Vec<u32> {
        let Some(uid) = Uid::find(uid, &self.strings) else { return Vec::new() };
        let owners = self.owners.like(&uid).filter(|owner| owner.uid == uid);
        let templates = owners.flat_map(|o| chain(o.first_template, |at| self.templates.get(at).map(|t| t.by_owner)));
        let rows = templates.flat_map(|t| self.of_template(t));
        self.sorted(rows.filter(|at| self.at(*at).is_some_and(&keeps)).collect())
    }

    /// Rows of a namespace whose labels are right, by name. Pods that share a label set without anything of their own in it are
    /// asked about once.
    pub(in crate::model) fn labelled(&self, namespace: &str, right: impl Fn(Row<'_>) -> bool) -> Vec<u32> {
        let mut shared: HashMap<u32, bool> = HashMap::new();
        let mut rows = Vec::new();
        for (at, template) in self.templates_in(namespace).filter_map(|at| Some((at, self.templates.get(at)?))) {
            let own = self.labels.get(template.labels).is_none_or(|set| set.pairs.iter().any(|(_, v)| self.is_own(*v)));
            let mut of = self.of_template(at).filter_map(|at| self.at(at)).peekable();
            if own {
                rows.extend(of.filter(|row| right(*row)).map(|row| row.at));
            } else if of.peek().is_some_and(|row| *shared.entry(template.labels).or_insert_with(|| right(*row))) {
                rows.extend(of.map(|row| row.at));
            }
        }
        self.sorted(rows)
    }

    fn is_own(&self, kept: Sym) -> bool {
        matches!(value(self.strings.get(kept)), Value::Own(_))
    }

    fn templates_in(&self, namespace: &str) -> impl Iterator<Item = u32> {
        let id = self.strings.find(namespace).and_then(|sym| self.namespaces.find(&NamespaceEntry::new(sym)));
        let first = id.and_then(|id| self.namespaces.get(id)).map_or(NONE, |ns| ns.first_template);
        chain(first, |at| self.templates.get(at).map(|t| t.by_namespace))
    }

    /// Rows of pods bound to this node, by name.
    pub(in crate::model) fn of_node(&self, name: &str) -> Vec<u32> {
        let id = self.strings.find(name).and_then(|sym| self.nodes.find(&NodeEntry::new(sym)));
        let first = id.and_then(|id| self.nodes.get(id)).map_or(NONE, |node| node.first_pod);
        self.sorted(chain(first, |at| self.row(at).map(|row| row.by_node)).collect())
    }

    pub(in crate::model) fn reserved_on(&self, name: &str) -> Reserved<'_> {
        let id = self.strings.find(name).and_then(|sym| self.nodes.find(&NodeEntry::new(sym)));
        let Some(node) = id.and_then(|id| self.nodes.get(id)) else { return Reserved::default() };
        let pods = chain(node.first_pod, |at| self.row(at).map(|row| row.by_node));
        let count = pods.filter(|at| self.row(*at).is_some_and(|row| row.flags.has(Flags::COUNTS))).count();
        Reserved { pods: count, amounts: node.requested.iter().map(|(sym, milli)| (self.strings.get(*sym), *milli)).collect() }
    }

    /// All rows, in no order that means anything.
    pub(in crate::model) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.rows.len() as u32).filter(|at| self.row(*at).is_some())
    }

    /// Rows of a namespace, or all, by name.
    pub(in crate::model) fn in_order(&self, namespace: Option<&str>) -> Vec<u32> {
        let Some(namespace) = namespace else { return self.sorted(self.all().collect()) };
        self.sorted(self.templates_in(namespace).flat_map(|t| self.of_template(t)).collect())
    }

    /// Rows by namespace and name.
    pub(super) fn sorted(&self, mut rows: Vec<u32>) -> Vec<u32> {
        rows.sort_by(|a, b| self.order(*a, *b));
        rows
    }

    fn order(&self, a: u32, b: u32) -> std::cmp::Ordering {
        let (Some(a), Some(b)) = (self.at(a), self.at(b)) else { return a.cmp(&b) };
        let names = || self.name_bytes(a.row).cmp(self.name_bytes(b.row));
        self.namespace(a).cmp(self.namespace(b)).then_with(names)
    }

    fn name_bytes<'a>(&'a self, row: &'a PodRow) -> impl Iterator<Item = u8> + 'a {
        self.strings.get(row.prefix).bytes().chain(row.suffix.text().bytes())
    }
}
