//! Objects that an inventory lists and no list of the cluster had: each is asked for by name, since only the server's word that it does
//! not find it means that it is gone.

use std::collections::BTreeSet;

use futures::StreamExt;

use super::Survey;
use crate::desired::Identity;
use crate::runtime::reader::{Reader, Unread};

/// So many objects are asked for at a time.
const AT_ONCE: usize = 8;

impl Survey<'_> {
    pub(super) async fn gone(&mut self) {
        let missing: Vec<Identity> = self.census.missing().into_iter().filter(|object| self.is_within(object)).collect();
        let is_narrowed = !self.narrow.labels.is_empty() || !self.narrow.fields.is_empty();
        if is_narrowed && !missing.is_empty() {
            let why = "with a selector the survey does not look for objects that are gone".to_owned();
            return self.unread("what inventories list".to_owned(), None, why);
        }
        let asked = {
            let reader = &*self.reader;
            let ask = |object: Identity| async move {
                let answer = ask(reader, &object).await;
                (object, answer)
            };
            futures::stream::iter(missing.into_iter().map(ask)).buffered(AT_ONCE).collect::<Vec<_>>().await
        };
        let mut told = BTreeSet::new();
        for (object, answer) in asked {
            let doubt = match answer {
                Ok(()) => continue,
                Err(Unread::Missing(_)) => (self.doubt)(&object),
                Err(Unread::Unseen(why)) => Some(why),
            };
            match doubt {
                None => self.census.is_gone(object),
                Some(why) if told.insert((object.kind.clone(), object.namespace.clone())) => {
                    let namespace = Some(object.namespace).filter(|namespace| !namespace.is_empty());
                    self.unread(format!("{} {} of an inventory", object.kind, object.name), namespace, why);
                }
                Some(_) => {}
            }
        }
    }

    fn is_within(&self, object: &Identity) -> bool {
        self.narrow.places.iter().any(|place| place.namespace().is_none_or(|namespace| namespace == object.namespace))
    }
}

async fn ask(reader: &Reader, object: &Identity) -> Result<(), Unread> {
    let group = if object.group.is_empty() { "v1".to_owned() } else { format!("{}/", object.group) };
    let served = reader.kind_of(&group, &object.kind)?;
    reader.object(&served, &object.namespace, &object.name).await.map(|_| ())
}
