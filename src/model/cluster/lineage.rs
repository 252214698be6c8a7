//! Lineage: the controllers above an object. They are only named for it; none of them is opened.

use super::Cluster;
use crate::model::kinds::qualified;
use crate::model::{Kind, Meta, ObjectRef, Owner, Pod};

/// Pod → ReplicaSet → Deployment, Job → CronJob; deeper than this is a circle.
const DEEPEST: usize = 5;

/// Who made an object, and who made that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// Everyone that was looked for, the nearest first; the last of them may not be there.
    pub above: Vec<(Kind, ObjectRef)>,
    /// What people deployed.
    pub top: ObjectRef,
}

impl Cluster {
    /// Follows controllers upwards. An object without one is its own.
    pub fn top_controller(&self, kind: Kind, meta: &Meta) -> ObjectRef {
        let Some(owner) = meta.controller() else { return ObjectRef::new(kind.row().name, &meta.namespace, &meta.name) };
        self.lineage(owner, &meta.namespace, meta.label("pod-template-hash")).top
    }

    /// The same for a pod.
    pub fn top_owner(&self, pod: Pod<'_>) -> ObjectRef {
        let lineage = |owner| self.lineage(owner, pod.namespace(), pod.label("pod-template-hash"));
        pod.owner().map_or_else(|| pod.reference(), |owner| lineage(owner).top)
    }

    /// Everyone above an object, from its owner on; `hash` is its `pod-template-hash`.
    pub fn lineage(&self, owner: &Owner, namespace: &str, hash: Option<&str>) -> Lineage {
        let step = |owner: &Owner| {
            let kind = Kind::of(&owner.api_version, &owner.kind);
            (kind, ObjectRef::new(qualified(&owner.api_version, &owner.kind).into_owned(), namespace, &owner.name))
        };
        let (mut kind, mut top) = step(owner);
        let mut above = vec![(kind, top.clone())];
        // A Node owns its mirror pods; it does not make them.
        while above.len() <= DEEPEST && kind != Kind::Node {
            let Some(next) = self.controller_of(kind, namespace, &top.name) else {
                // ReplicaSets may still be loading: the hash label tells the Deployment's name.
                let hash = hash.filter(|_| above.len() == 1 && kind == Kind::ReplicaSet);
                let deployment = hash.and_then(|hash| top.name.strip_suffix(hash)?.strip_suffix('-'));
                top = deployment.map_or_else(|| top.clone(), |name| ObjectRef::new("Deployment", namespace, name));
                break;
            };
            let Some(next) = next else { break };
            (kind, top) = step(&next);
            above.push((kind, top.clone()));
        }
        Lineage { above, top }
    }

    /// The controller of an object; the outer `None` where it is not there.
    fn controller_of(&self, kind: Kind, namespace: &str, name: &str) -> Option<Option<Owner>> {
        if kind == Kind::Pod {
            return self.pod(namespace, name).map(|pod| pod.owner().cloned());
        }
        let store = self.stores.get(&kind)?;
        store.controller(store.find(namespace, name)?)
    }
}
