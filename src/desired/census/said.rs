//! The answers of a census in plain values, and in words.

use std::collections::BTreeMap;

use crate::desired::comparison::Unchecked;
use crate::desired::object::Identity;
use crate::model::Time;

/// What is gone, what nobody knows, and whether the cluster could be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Governance {
    pub rebuild: Rebuild,
    pub gone: Vec<Gone>,
    /// In namespaces in which somebody declares objects: those that no inventory and no source knows.
    pub unmanaged: Vec<Stranger>,
    /// Rights and exceptions from policies that no source asked for, oldest first.
    pub exceptions: Vec<Exception>,
    /// Those that drifted most often first.
    pub again: Vec<Again>,
    /// Objects that no source and no owner label claims.
    pub unclaimed: Vec<Stranger>,
    /// Objects that nobody knows and that are counted, not listed.
    pub unnamed: usize,
}

/// Whether the cluster can be made again from its sources. Not counted: what controllers and the control plane make by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rebuild {
    pub objects: usize,
    pub can: usize,
    /// A source is named that could not be read.
    pub unknown: usize,
    /// How many cannot, by namespace ("" is none) and by who made them.
    pub cannot: Vec<(String, String, usize)>,
}

/// An object that an inventory lists and the cluster does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    pub object: Identity,
    /// Whose inventory.
    pub inventory: String,
}

/// An object that nobody declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    pub object: Identity,
    /// The manager that made it, by its own word; "" if nobody is recorded.
    pub by: String,
    /// When it was made.
    pub since: String,
    pub has_owner: bool,
    /// What once declared it; "" if nothing did.
    pub note: String,
}

/// A right, or an exception from a policy, that no source asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    pub object: Identity,
    /// Where in an object that is declared; "" if all of it is in no source.
    pub path: String,
    /// `subject bob reads secrets in shop`.
    pub what: String,
    pub by: String,
    pub since: String,
}

/// A field that drifted anew after it had been put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    pub object: Identity,
    pub path: String,
    pub times: usize,
    pub by: String,
    /// When it was seen last.
    pub last: String,
}

impl Governance {
    /// How many objects cannot be made again.
    pub fn cannot(&self) -> usize {
        self.rebuild.cannot.iter().map(|(.., n)| n).sum()
    }
}

/// What is not read where a file holds a part of a cluster.
pub const REST: &str = "the rest of the cluster";

impl Rebuild {
    /// `312 of 340 objects can; 28 cannot`; what holds a part of a cluster says nothing of the rest.
    pub fn said(&self, unread: &[Unchecked]) -> String {
        let counted = self.counted();
        let is_part = unread.iter().any(|unchecked| unchecked.kind == REST);
        if is_part { format!("not known: only a part of it is here, and of that {}", counted.trim_start_matches("yes: ")) } else { counted }
    }

    fn counted(&self) -> String {
        let cannot: usize = self.cannot.iter().map(|(.., n)| n).sum();
        let unknown = if self.unknown == 0 { String::new() } else { format!("; of {} it is not known", self.unknown) };
        match (self.objects, cannot, self.unknown) {
            (0, ..) => "there is nothing that somebody had to declare".to_owned(),
            (1, 0, 0) => "yes: the 1 object can".to_owned(),
            (all, 0, 0) => format!("yes: all {all} objects can"),
            (all, 0, _) => format!("{} of {all} objects can{unknown}", self.can),
            (all, ..) => format!("{} of {all} objects can; {cannot} cannot{unknown}", self.can),
        }
    }
}

impl Rebuild {
    /// `shop: 12 (kubectl-create 9, kubectl-run 3)`: the namespaces with most first.
    pub fn by_namespace(&self) -> Vec<String> {
        let mut all: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
        self.cannot.iter().for_each(|(namespace, owner, n)| all.entry(namespace).or_default().push((owner, *n)));
        let sum = |owners: &[(&str, usize)]| owners.iter().map(|(_, n)| n).sum::<usize>();
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|a, b| sum(&b.1).cmp(&sum(&a.1)).then_with(|| a.0.cmp(b.0)));
        let line = |(namespace, mut owners): (&str, Vec<(&str, usize)>)| {
            owners.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            let namespace = if namespace.is_empty() { "in no namespace" } else { namespace };
            let by = |owner: &str| if owner.is_empty() { "nobody recorded".to_owned() } else { owner.to_owned() };
            let named: Vec<String> = owners.iter().map(|(owner, n)| format!("{} {n}", by(owner))).collect();
            format!("{namespace}: {} ({})", sum(&owners), named.join(", "))
        };
        all.into_iter().map(line).collect()
    }
}

impl Stranger {
    /// `kubectl-create, 41 days ago`.
    pub fn said(&self, now: Time) -> String {
        let by = if self.by.is_empty() { "nobody recorded" } else { &self.by };
        let note = if self.note.is_empty() { String::new() } else { format!("; {}", self.note) };
        format!("{by}{}{note}", ago(&self.since, now, ", "))
    }
}

impl Exception {
    /// `subject bob reads secrets in shop, added by kubectl-create 41 days ago, in no source`.
    pub fn said(&self, now: Time) -> String {
        let by = if self.by.is_empty() { String::new() } else { format!(" by {}", self.by) };
        // A manager's time is that of its last write: what it added inside an object may be older.
        let before = if self.path.is_empty() { " " } else { " at least " };
        format!("{}, added{by}{}, in no source", self.what, ago(&self.since, now, before))
    }
}

impl Again {
    /// `spec.replicas drifted 3 times, each time after it had been put right, last by kubectl-scale 2 hours ago`.
    pub fn said(&self, now: Time) -> String {
        let by = if self.by.is_empty() { String::new() } else { format!(" by {}", self.by) };
        let ago = ago(&self.last, now, " ");
        format!("{} drifted {} times, each time after it had been put right, last{by}{ago}", self.path, self.times)
    }
}

/// `41 days ago` behind a word; nothing where the time is not known.
fn ago(since: &str, now: Time, before: &str) -> String {
    let Some(since) = Time::parse(since) else { return String::new() };
    let (n, unit) = match now.since(since).max(0) {
        seconds @ ..120 => (seconds, "second"),
        seconds @ 120..7200 => (seconds / 60, "minute"),
        seconds @ 7200..172_800 => (seconds / 3600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    format!("{before}{n} {unit}{} ago", if n == 1 { "" } else { "s" })
}
