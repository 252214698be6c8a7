//! Revisions of a Deployment: which ReplicaSet is the new one, what is left of the old ones, what the strategy allows.

use std::collections::BTreeMap;

use crate::diagnose::Cx;
use crate::model::{Deployment, IntOrText, PodTemplate, ReplicaSet, Rounding};

/// A Deployment's ReplicaSets, newest revision first.
pub(super) struct Revisions<'a> {
    pub newest: Option<&'a ReplicaSet>,
    pub older: Vec<&'a ReplicaSet>,
}

impl<'a> Revisions<'a> {
    pub fn of(cx: &Cx<'a>, deployment: &Deployment) -> Self {
        let mut sets = cx.owned::<ReplicaSet>(&deployment.meta.uid);
        let revision = |rs: &ReplicaSet| rs.meta.annotation("deployment.kubernetes.io/revision").and_then(|r| r.parse::<i64>().ok());
        sets.sort_by(|a, b| (revision(b), b.meta.created, &b.meta.name).cmp(&(revision(a), a.meta.created, &a.meta.name)));
        let mut sets = sets.into_iter();
        Self { newest: sets.next(), older: sets.collect() }
    }

    /// Pods of older revisions.
    pub fn old_pods(&self) -> i64 {
        self.older.iter().map(|rs| rs.status.replicas).sum()
    }
}

/// How many pods a rolling update may add, and how many may be missing meanwhile. Both zero is taken as one missing
/// (deployment_util.go `ResolveFenceposts`).
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    pub surge: i64,
    pub unavailable: i64,
}

impl Allowance {
    /// `None` for Recreate, which stops all old pods first.
    pub fn of(deployment: &Deployment) -> Option<Self> {
        if &*deployment.spec.strategy.kind == "Recreate" {
            return None;
        }
        let desired = deployment.spec.replicas.unwrap_or(1);
        let rolling = deployment.spec.strategy.rolling_update.as_ref();
        let quarter = IntOrText::Text("25%".into());
        let surge = rolling.and_then(|r| r.max_surge.as_ref()).unwrap_or(&quarter).of(desired, Rounding::Up);
        let unavailable = rolling.and_then(|r| r.max_unavailable.as_ref()).unwrap_or(&quarter).of(desired, Rounding::Down);
        Some(Self { surge, unavailable: if surge == 0 && unavailable == 0 { 1 } else { unavailable } })
    }
}

/// What differs between two templates, as people name it: images by container, else that something does.
pub(super) fn differences(from: &PodTemplate, to: &PodTemplate) -> Vec<String> {
    let images = |t: &PodTemplate| -> BTreeMap<String, String> {
        t.spec.all_containers().map(|c| (c.name.to_string(), c.image.to_string())).collect()
    };
    let (old, new) = (images(from), images(to));
    // The template of a ReplicaSet that wants no pods is not kept.
    if old.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, image) in &new {
        match old.get(name) {
            Some(was) if was != image => found.push(format!("{name}: {was} → {image}")),
            Some(_) => {}
            None => found.push(format!("container {name} added")),
        }
    }
    found.extend(old.keys().filter(|name| !new.contains_key(*name)).map(|name| format!("container {name} removed")));
    found
}
