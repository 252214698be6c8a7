//! The lists that tools keep of what they made, read before any object: Helm's records, and what GitOps tools write into their objects.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Survey;
use crate::desired::{INVENTORIES, Inventory, helm, inventory};
use crate::model::Place;
use crate::runtime::reader::{Records, Unread, paged};
use crate::watch::Scope;

/// Records are small without their content.
const PAGE: usize = 500;
/// So many releases are named where they cannot be read.
const NAMED: usize = 5;

impl Survey<'_> {
    pub(super) async fn lists(&mut self) {
        for (word, label) in INVENTORIES {
            for place in &self.narrow.places {
                self.list(word, label, place).await;
            }
        }
        self.releases().await;
    }

    /// The lists that objects of a kind hold. A kind that the cluster does not have holds none.
    async fn list(&mut self, word: &str, label: &str, place: &Place) {
        let Ok(served) = self.reader.kind(word) else { return };
        let mut token = String::new();
        loop {
            match self.reader.page(&served, place, paged(PAGE, label, &token)).await {
                Ok(page) => {
                    let objects = page.items.iter().filter_map(|item| serde_json::from_str::<Value>(item).ok());
                    let lists: Vec<Inventory> = objects.filter_map(|object| inventory(&object)).collect();
                    lists.into_iter().for_each(|list| self.take(list));
                    token = page.next;
                }
                Err(Unread::Missing(_)) => return,
                Err(Unread::Unseen(why)) => {
                    return self.unread(format!("what {} list", served.resource.plural), place.namespace().map(str::to_owned), why);
                }
            }
            if token.is_empty() {
                return;
            }
        }
    }

    /// Which releases there are is asked before any record is opened.
    async fn releases(&mut self) {
        let (mut all, mut second) = (BTreeSet::new(), BTreeSet::new());
        let narrow = self.narrow;
        for word in ["secrets", "configmaps"] {
            for place in &narrow.places {
                // What may not be listed is told of Helm's present records alone.
                second.extend(self.names(word, place, ("OWNER=TILLER", "NAME")).await.unwrap_or_default());
                match self.names(word, place, ("owner=helm,status=deployed", "name")).await {
                    Ok(found) => all.extend(found),
                    Err(why) => self.unread("Helm release".to_owned(), place.namespace().map(str::to_owned), why),
                }
            }
        }
        let second: BTreeSet<String> = second.into_iter().map(|(_, name)| name).collect();
        if !second.is_empty() {
            let were = if second.len() == 1 { "1 release was".to_owned() } else { format!("{} releases were", second.len()) };
            let which = second.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
            self.unread("Helm 2 release".to_owned(), None, format!("{were} installed by {} ({which})", helm::SECOND));
        }
        if self.reader.records == Records::Left && !all.is_empty() {
            let n = all.len();
            let which = if n == 1 { "the record of 1 release".to_owned() } else { format!("the records of {n} releases") };
            return self.unread("Helm release".to_owned(), None, format!("{which} are Secrets, and were not opened"));
        }
        for (namespace, name) in all {
            match self.reader.release(&name, &namespace).await {
                Ok(history) => {
                    let deployed = history.releases.iter().find(|release| release.status == "deployed");
                    deployed.map(Inventory::of_release).into_iter().for_each(|list| self.take(list));
                    history.faults().for_each(|why| self.unread("Helm release".to_owned(), Some(namespace.clone()), why));
                }
                Err(why) => self.unread("Helm release".to_owned(), Some(namespace), format!("{name}: {why}")),
            }
        }
    }

    /// Namespaces of records with these labels, and the names of their releases, which stand in a label of their own.
    async fn names(&mut self, word: &str, place: &Place, (labels, label): (&str, &str)) -> Result<Vec<(String, String)>, String> {
        let served = match self.reader.kind(word) {
            Ok(served) => served,
            Err(Unread::Missing(_)) => return Ok(Vec::new()),
            Err(Unread::Unseen(why)) => return Err(why),
        };
        let (mut all, mut token) = (Vec::new(), String::new());
        loop {
            let page = match self.reader.metadata(&served, place, paged(PAGE, labels, &token)).await {
                Ok(page) => page,
                Err(Unread::Missing(_)) => return Ok(all),
                Err(Unread::Unseen(why)) => return Err(why),
            };
            let items = page.items.iter().filter_map(|item| serde_json::from_str::<Value>(item).ok());
            let text = |item: &Value, pointer: &str| item.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            all.extend(
                items.filter_map(|item| Some((text(&item, "/metadata/namespace")?, text(&item, &format!("/metadata/labels/{label}"))?))),
            );
            token = page.next;
            if token.is_empty() {
                return Ok(all);
            }
        }
    }

    /// What lies in no namespace is known by its kind alone, whatever a list says.
    fn take(&mut self, mut list: Inventory) {
        for object in &mut list.objects {
            let served = self.reader.offers().served.iter().find(|s| s.kind == object.kind && s.resource.group == object.group);
            if served.is_some_and(|served| served.resource.scope == Scope::Cluster) {
                object.namespace.clear();
            }
        }
        self.census.list(list);
    }
}
