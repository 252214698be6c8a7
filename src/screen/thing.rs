//! An object as screens find it: a pod, or an object of any other kind in its own shape.

use super::Scene;
use super::{pods, refers};
use crate::diagnose::Workload;
use crate::model::{Condition, Kind, Object, ObjectRef, Pod, Seen};

#[derive(Clone, Copy)]
pub(super) enum Thing<'a> {
    Pod(Pod<'a>),
    Object(&'a Object),
}

impl<'a> Scene<'a> {
    /// The object of that name.
    pub(super) fn find(&self, object: &ObjectRef) -> Seen<Thing<'a>> {
        let (kind, cluster) = (Kind::named(&object.kind), self.cluster);
        if kind == Kind::Pod {
            let pod = cluster.pod(&object.namespace, &object.name);
            let sees = cluster.coverage().is_synced(kind, &object.namespace);
            return pod.map_or(if sees { Seen::Absent } else { Seen::Unknown }, |pod| Seen::Is(Thing::Pod(pod)));
        }
        if kind == Kind::Other {
            let held = || cluster.objects(Kind::Other, Some(&object.namespace)).find(|found| of_kind(found, object));
            return held().map_or(Seen::Unknown, |found| Seen::Is(Thing::Object(found)));
        }
        cluster.object(kind, &object.namespace, &object.name).map(Thing::Object)
    }

    /// The top controller of an object, itself where it has none.
    pub(super) fn owner(&self, object: &ObjectRef) -> ObjectRef {
        match self.find(object) {
            Seen::Is(Thing::Pod(pod)) => self.cluster.top_owner(pod),
            Seen::Is(Thing::Object(found)) => {
                if found.meta().owners.is_empty() {
                    return object.clone();
                }
                self.cluster.top_controller(Kind::named(&object.kind), found.meta())
            }
            Seen::Absent | Seen::Unknown => object.clone(),
        }
    }

    /// How an object is doing, in a few words; `missing` only where that is certain.
    pub(super) fn state(&self, object: &ObjectRef) -> String {
        match self.find(object) {
            Seen::Is(thing) => thing.state(),
            Seen::Absent => "missing".to_owned(),
            Seen::Unknown => "not seen".to_owned(),
        }
    }
}

fn of_kind(found: &Object, object: &ObjectRef) -> bool {
    matches!(found, Object::Other(other) if other.kind_name() == *object.kind && *other.meta.name == *object.name)
}

impl<'a> Thing<'a> {
    pub fn workload(self) -> Option<Workload<'a>> {
        match self {
            Self::Pod(_) => None,
            Self::Object(object) => Workload::of(object),
        }
    }

    pub fn conditions(self) -> &'a [Condition] {
        match self {
            Self::Pod(pod) => &pod.status().conditions,
            Self::Object(object) => refers::conditions(object),
        }
    }

    pub fn state(self) -> String {
        match (self, self.workload()) {
            (Self::Pod(pod), _) => pods::status(pod),
            (Self::Object(_), Some(workload)) if workload.desired() == 0 => "wants no pods".to_owned(),
            (Self::Object(_), Some(workload)) => format!("{} of {} ready", workload.ready(), workload.desired()),
            (Self::Object(object), None) => refers::state(object),
        }
    }
}
