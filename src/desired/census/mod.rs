//! Census of a cluster: which objects somebody declares, which are gone though an inventory lists them, and which nobody knows. Objects
//! are seen one by one, and of each only what answers these questions is kept; it reads no file, no clock and no cluster.

mod access;
mod inventory;
mod made;
mod said;
mod tracked;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::diff::Diff;
use super::object::Identity;
use access::Access;
pub use inventory::{Inventory, KINDS as INVENTORIES, inventory};
pub use said::{Again, Exception, Gone, Governance, REST, Rebuild, Stranger};

/// Strangers that are kept by name; of more only their number is.
const MOST: usize = 5000;

/// What the sources in the cluster say of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// One of them holds it whole.
    Source,
    Nothing,
}

/// What was learnt so far.
#[derive(Debug, Default)]
pub struct Census {
    titles: Vec<String>,
    /// Ids of the inventories that were read.
    read: BTreeSet<String>,
    listed: BTreeMap<Identity, Listed>,
    /// Namespaces in which somebody declares objects.
    managed: BTreeSet<String>,
    declared: usize,
    unknown: usize,
    /// How many strangers there are, by namespace and by who made them.
    groups: BTreeMap<(String, String), usize>,
    strangers: Vec<Stranger>,
    /// What claim templates of StatefulSets make: namespace and how the names begin.
    templates: BTreeSet<(String, String)>,
    /// Claims that may come from such a template.
    claims: Vec<Stranger>,
    access: Access,
    gone: Vec<Gone>,
    again: Vec<Again>,
}

#[derive(Debug)]
struct Listed {
    inventory: usize,
    seen: bool,
}

impl Census {
    /// Takes in what a tool says it made; before any object is seen. Objects without a namespace belong to no namespace.
    pub fn list(&mut self, inventory: Inventory) {
        let at = self.titles.len();
        self.titles.push(inventory.title);
        self.read.extend(inventory.ids);
        for object in inventory.objects {
            self.listed.entry(key(object)).or_insert(Listed { inventory: at, seen: false });
        }
    }

    /// Takes in an object of the cluster.
    pub fn see(&mut self, live: &Value, says: Says) {
        let object = Identity::of(live);
        let listed = self.listed.get_mut(&key(object.clone()));
        let is_listed = listed.is_some();
        if let Some(listed) = listed {
            listed.seen = true;
        }
        self.access.role(&object, live);
        self.templates.extend(made::claims_begin(live).map(|start| (object.namespace.clone(), start)));
        if made::is_owned(live) || made::is_control_planes(&object, live) {
            return;
        }
        match self.standing(live, says, is_listed) {
            Standing::Declared => {
                self.declared += 1;
                self.managed.insert(object.namespace);
            }
            Standing::Unknown => self.unknown += 1,
            Standing::Derived => {}
            Standing::Stranger(note) => self.stranger(live, object, note),
        }
    }

    fn standing(&self, live: &Value, says: Says, is_listed: bool) -> Standing {
        if is_listed || says == Says::Source {
            return Standing::Declared;
        }
        if let Some(by) = tracked::by(live) {
            return match (self.read.contains(&by.id), by.can_hold) {
                (true, _) => Standing::Stranger(format!("{} no longer has it", by.title)),
                (false, true) => Standing::Declared,
                (false, false) => Standing::Unknown,
            };
        }
        if made::is_declared(live) {
            Standing::Declared
        } else if made::is_derived(live) {
            Standing::Derived
        } else {
            Standing::Stranger(String::new())
        }
    }

    fn stranger(&mut self, live: &Value, object: Identity, note: String) {
        let stranger = Stranger { by: made::by(live), since: made::since(live), has_owner: made::has_owner_label(live), note, object };
        self.access.stranger(&stranger, live);
        match made::template_of(&stranger.object) {
            // Its StatefulSet may come later.
            Some(_) => self.claims.push(stranger),
            None => self.count(stranger),
        }
    }

    fn count(&mut self, stranger: Stranger) {
        *self.groups.entry((stranger.object.namespace.clone(), stranger.by.clone())).or_default() += 1;
        if self.strangers.len() < MOST {
            self.strangers.push(stranger);
        }
    }

    /// Takes in how a declared object differs: rights and exceptions in it that no source asked for.
    pub fn differs(&mut self, live: &Value, diff: &Diff) {
        self.access.differs(live, diff);
    }

    /// A field drifted anew after it had been put right.
    pub fn drifted_again(&mut self, again: Again) {
        self.again.push(again);
    }

    /// Objects that an inventory lists and that were not seen so far.
    pub fn missing(&self) -> Vec<Identity> {
        self.listed.iter().filter(|(_, listed)| !listed.seen).map(|(object, _)| object.clone()).collect()
    }

    /// The cluster says itself that a listed object is not there.
    pub fn is_gone(&mut self, object: Identity) {
        if let Some(listed) = self.listed.get(&object) {
            self.gone.push(Gone { inventory: self.titles[listed.inventory].clone(), object });
        }
    }

    /// The answers.
    pub fn close(mut self) -> Governance {
        for claim in std::mem::take(&mut self.claims) {
            let template = made::template_of(&claim.object).map(|start| (claim.object.namespace.clone(), start.to_owned()));
            if !template.is_some_and(|template| self.templates.contains(&template)) {
                self.count(claim);
            }
        }
        self.strangers.sort_by(|a, b| a.object.cmp(&b.object));
        let count: usize = self.groups.values().sum();
        let (mut unmanaged, mut unclaimed) = (Vec::new(), Vec::new());
        for stranger in &self.strangers {
            if self.managed.contains(&stranger.object.namespace) && !stranger.object.namespace.is_empty() {
                unmanaged.push(stranger.clone());
            }
            if !stranger.has_owner {
                unclaimed.push(stranger.clone());
            }
        }
        self.gone.sort_by(|a, b| a.object.cmp(&b.object));
        self.again.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.object.cmp(&b.object)).then_with(|| a.path.cmp(&b.path)));
        let cannot = self.groups.into_iter().map(|((namespace, owner), objects)| (namespace, owner, objects)).collect();
        Governance {
            rebuild: Rebuild { objects: self.declared + self.unknown + count, can: self.declared, unknown: self.unknown, cannot },
            exceptions: self.access.exceptions(),
            unnamed: count - self.strangers.len(),
            gone: self.gone,
            unmanaged,
            again: self.again,
            unclaimed,
        }
    }
}

/// How an object stands to what is declared.
enum Standing {
    Declared,
    /// Whether it is declared could not be read.
    Unknown,
    /// A controller makes it again from something else.
    Derived,
    /// Why nobody knows it, where a tool did once.
    Stranger(String),
}

/// Kinds that moved to another group are the same objects.
fn key(mut object: Identity) -> Identity {
    if object.group == "extensions" {
        let network = matches!(object.kind.as_str(), "Ingress" | "NetworkPolicy");
        object.group = if network { "networking.k8s.io" } else { "apps" }.to_owned();
    }
    object
}

#[cfg(test)]
mod tests;
