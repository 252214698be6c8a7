//! Look: what a row says of its pod, with the tables behind it.

use std::ops::Deref;

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

    /// Rows of pods with this owner, by name.
    pub(in crate::model) fn of_owner(&self, uid: &str) -> Vec<u32> {
        let Some(uid) = Uid::find(uid, &self.strings) else { return Vec::new() };
        let owners = self.owners.like(&uid).filter(|owner| owner.uid == uid);
        let templates = owners.flat_map(|o| chain(o.first_template, |at| self.templates.get(at).map(|t| t.by_owner)));
        self.sorted(templates.flat_map(|t| self.of_template(t)).collect())
    }

    /// Rows of pods bound to this node, by name.
    pub(in crate::model) fn of_node(&self, name: &str) -> Vec<u32> {
        let id = self.strings.find(name).and_then(|sym| self.nodes.find(&NodeEntry::new(sym)));
        let first = id.and_then(|id| self.nodes.get(id)).map_or(NONE, |node| node.first_pod);
        self.sorted(chain(first, |at| self.row(at).map(|row| row.by_node)).collect())
    }

    /// All rows, in no order that means anything.
    pub(in crate::model) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.rows.len() as u32).filter(|at| self.row(*at).is_some())
    }

    /// Rows of a namespace, or all, by name.
    pub(in crate::model) fn in_order(&self, namespace: Option<&str>) -> Vec<u32> {
        let Some(namespace) = namespace else { return self.sorted(self.all().collect()) };
        let id = self.strings.find(namespace).and_then(|sym| self.namespaces.find(&NamespaceEntry::new(sym)));
        let first = id.and_then(|id| self.namespaces.get(id)).map_or(NONE, |ns| ns.first_template);
        let templates = chain(first, |at| self.templates.get(at).map(|t| t.by_namespace));
        self.sorted(templates.flat_map(|t| self.of_template(t)).collect())
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
