//! Backends: what stands behind a Service: its ready endpoints, and the workloads whose pods it selects.

use std::collections::BTreeSet;

use super::{Cx, Workload};
use crate::model::{
    DaemonSet, Deployment, EndpointSlice, Endpoints, Kind, ObjectRef, ReplicaSet, Seen, Selector, Service, StatefulSet, Time,
};

/// The Service that somebody calls by name, as it is now.
pub struct Backend<'a> {
    pub reference: ObjectRef,
    pub service: Seen<&'a Service>,
    /// Addresses that take traffic; `None` where endpoints may not be read.
    pub ready: Option<usize>,
    /// When its endpoints changed last.
    pub changed: Option<Time>,
}

impl<'a> Backend<'a> {
    pub fn of(cx: &Cx<'a>, namespace: &str, name: &str) -> Self {
        let slices = cx.slices_of(namespace, name);
        let changed = slices.iter().filter_map(|s| s.meta.annotation(TRIGGER).and_then(Time::parse).or(s.meta.changed)).max();
        Self {
            reference: ObjectRef::new("Service", namespace, name),
            service: cx.get(namespace, name),
            ready: ready(cx, namespace, name, &slices),
            changed,
        }
    }

    /// Nobody answers a call to it: it does not exist, or no address behind it is ready.
    pub fn is_dead(&self) -> bool {
        self.service.is_absent() || self.ready == Some(0)
    }

    /// Workloads whose pods it selects, whether they have pods or not.
    pub fn workloads(&self, cx: &Cx<'a>) -> Vec<ObjectRef> {
        self.service.is().map(|s| workloads_of(cx, s)).unwrap_or_default()
    }
}

/// The endpoints controller writes here when the last change of a pod or Service was.
const TRIGGER: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// Workloads whose pods a Service selects, whether they have pods or not. A Service without selector selects none.
pub fn workloads_of(cx: &Cx<'_>, service: &Service) -> Vec<ObjectRef> {
    if service.spec.selector.is_empty() {
        return Vec::new();
    }
    let namespace = Some(&*service.meta.namespace);
    let selector = Selector::from_map(&service.spec.selector);
    let makes = |w: &Workload<'_>| selector.matches(|key| w.template().meta.labels.get(key));
    let mut found: BTreeSet<ObjectRef> = BTreeSet::new();
    found.extend(cx.all::<Deployment>(namespace).map(Workload::Deployment).filter(makes).map(Workload::reference));
    found.extend(cx.all::<StatefulSet>(namespace).map(Workload::StatefulSet).filter(makes).map(Workload::reference));
    found.extend(cx.all::<DaemonSet>(namespace).map(Workload::DaemonSet).filter(makes).map(Workload::reference));
    let bare = cx.all::<ReplicaSet>(namespace).filter(|rs| rs.meta.controller().is_none());
    found.extend(bare.map(Workload::ReplicaSet).filter(makes).map(Workload::reference));
    found.extend(cx.pods_selected(&service.meta.namespace, &selector).into_iter().map(|p| cx.workload_of(p)));
    found.into_iter().collect()
}

fn ready(cx: &Cx<'_>, namespace: &str, name: &str, slices: &[&EndpointSlice]) -> Option<usize> {
    let in_slices: usize = slices.iter().map(|s| s.endpoints.iter().filter(|e| e.is_ready()).count()).sum();
    if in_slices > 0 || !slices.is_empty() {
        return Some(in_slices);
    }
    // Only files from older tools hold the older kind, so that it is missing is nothing to tell.
    if let Some(endpoints) = cx.all::<Endpoints>(Some(namespace)).find(|e| &*e.meta.name == name) {
        return Some(endpoints.subsets.iter().map(|s| s.addresses.len()).sum());
    }
    cx.sees_all(Kind::EndpointSlice, Some(namespace)).then_some(0)
}
