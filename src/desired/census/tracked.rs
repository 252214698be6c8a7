//! By which marks a tool knows an object as its own, whether or not its inventory is at hand.

use serde_json::Value;

use crate::desired::gitops::{self, Word};
use crate::desired::helm;

/// The tool that claims an object.
pub struct By {
    /// As in [`super::Inventory::ids`].
    pub id: String,
    pub title: String,
    /// The tool keeps what it asked for outside the cluster, or a controller keeps it: that is a source even if it is not at hand.
    pub can_hold: bool,
}

/// Who claims the object, by its own marks. A mark that names another object was copied.
pub fn by(live: &Value) -> Option<By> {
    gitops(live).or_else(|| release(live)).or_else(|| by_mark(live))
}

fn gitops(live: &Value) -> Option<By> {
    let claim = gitops::claims(live).into_iter().find(|claim| claim.word == Word::Own)?;
    let namespace = claim.namespace.unwrap_or_default();
    let (kind, name) = (claim.tool.kind(), claim.name);
    Some(By { id: format!("{kind}/{namespace}/{name}"), title: format!("{} {name}", claim.tool.title()), can_hold: true })
}

/// The record of a release lies in the cluster: where it cannot be read, nothing is known.
fn release(live: &Value) -> Option<By> {
    let (name, namespace) = helm::of(live)?;
    Some(By { id: format!("helm/{namespace}/{name}"), title: format!("helm release {name}"), can_hold: false })
}

/// Marks that do not say where the tool keeps its list.
const MARKS: &[(&str, &str, &str)] = &[
    ("labels", "applyset.kubernetes.io/part-of", "apply set"),
    ("labels", "kapp.k14s.io/app", "kapp app"),
    ("labels", "olm.owner", "operator bundle"),
    ("annotations", "objectset.rio.cattle.io/id", "Fleet object set"),
    ("annotations", "config.k8s.io/owning-inventory", "inventory"),
    ("annotations", "helm.sh/hook", "helm hook"),
];

fn by_mark(live: &Value) -> Option<By> {
    MARKS.iter().find_map(|(map, key, title)| {
        let value = live.get("metadata")?.get(*map)?.get(*key)?.as_str()?;
        Some(By { id: format!("{title}/{value}"), title: format!("{title} {value}"), can_hold: true })
    })
}
