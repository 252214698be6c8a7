//! What we may not read: no trouble of the cluster, but a gap in what can be said.

use std::collections::BTreeMap;

use crate::diagnose::{Cause, Cx, Finding, Judge};
use crate::model::{ObjectRef, Time};

pub(super) const FORBIDDEN: Cause = Cause {
    id: "reader-forbidden",
    title: "Kinds that may not be read",
    explanation: "The API server refuses us kinds that the diagnosis needs. Causes that rest on them say not checked, never missing.",
    told_apart: "rbac-forbidden is a controller of the cluster that lacks a right; this is about us.",
    cure: "Grant get, list and watch: holdup rbac prints the least role.",
    docs: "reference/access-authn-authz/rbac/",
    judge: Judge::ControlPlane(forbidden),
    ..super::ROW
};

/// One entry for the whole cluster and one for each namespace; kinds without which the diagnosis is only coarser do not count alone.
fn forbidden(cx: &Cx<'_>) -> Vec<Finding> {
    let mut places: BTreeMap<&str, (Vec<&str>, Option<Time>, bool)> = BTreeMap::new();
    for (kind, namespace, _, since) in cx.denied() {
        let place = places.entry(namespace.unwrap_or("")).or_default();
        place.0.push(kind.row().plural);
        place.1 = [place.1, since].into_iter().flatten().min();
        place.2 |= !kind.row().optional;
    }
    places.into_iter().filter(|(_, (_, _, needed))| *needed).map(|(ns, (kinds, since, _))| quiet(ns, &kinds, since)).collect()
}

/// The role that would grant it, named as `holdup rbac` names it.
fn quiet(namespace: &str, kinds: &[&str], since: Option<Time>) -> Finding {
    let role = if namespace.is_empty() { "ClusterRole" } else { "Role" };
    let root = ObjectRef::new(role, namespace, "holdup");
    Finding::quiet(root, format!("may not be read: {}", kinds.join(", "))).since(since)
}
