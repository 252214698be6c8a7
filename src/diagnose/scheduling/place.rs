//! Place: where a pod may go by its own words: taints it tolerates, nodes it selects, nodes its volumes are in.

use crate::model::{Node, NodeSelector, NodeSelectorTerm, PersistentVolume, PodSpec, Requirement, Taint, Toleration};

/// Set by the kubelet and the node controller on cordoned nodes; the scheduler judges it before any other taint.
pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Whether one of the tolerations covers the taint.
pub fn tolerates(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|t| {
        let effect = t.effect.is_empty() || t.effect == taint.effect;
        let key = if t.key.is_empty() { &*t.operator == "Exists" } else { t.key == taint.key };
        effect && key && (&*t.operator == "Exists" || t.value == taint.value)
    })
}

/// Taints that keep the pod off the node: PreferNoSchedule never does.
pub fn untolerated<'a>(node: &'a Node, spec: &'a PodSpec) -> impl Iterator<Item = &'a Taint> {
    let keeps_off = |t: &&Taint| matches!(&*t.effect, "NoSchedule" | "NoExecute");
    node.spec.taints.iter().filter(keeps_off).filter(|t| !tolerates(&spec.tolerations, t))
}

/// Whether the node is cordoned for this pod.
pub fn is_cordoned_for(node: &Node, spec: &PodSpec) -> bool {
    let taint = Taint { key: UNSCHEDULABLE.into(), effect: "NoSchedule".into(), ..Taint::default() };
    node.spec.unschedulable && !tolerates(&spec.tolerations, &taint)
}

/// What of the pod's node selector and required node affinity the node does not meet: `disk=nvme`, `zone in a, b`.
pub fn unmet(node: &Node, spec: &PodSpec) -> Option<String> {
    let label = spec.node_selector.iter().find(|(k, v)| node.meta.label(k) != Some(v));
    if let Some((key, value)) = label {
        return Some(format!("{key}={value}"));
    }
    let required = spec.affinity.node_affinity.required.as_ref()?;
    (!selects(required, node)).then(|| words(required))
}

/// Terms are alternatives; a term without requirements matches nothing.
pub fn selects(selector: &NodeSelector, node: &Node) -> bool {
    selector.node_selector_terms.iter().any(|t| {
        let some = !t.match_expressions.is_empty() || !t.match_fields.is_empty();
        let field = |r: &Requirement| r.holds((&*r.key == "metadata.name").then_some(&*node.meta.name));
        some && t.match_expressions.iter().all(|r| r.holds(node.meta.label(&r.key))) && t.match_fields.iter().all(field)
    })
}

/// Old names of the labels that say where a node is.
pub(super) const ZONES: [[&str; 2]; 2] = [
    ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"],
    ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"],
];

/// Where the volume is, if the node is not there: by its node affinity, else by its zone labels (`a__b` names two zones).
pub fn outside(node: &Node, volume: &PersistentVolume) -> Option<String> {
    if let Some(required) = &volume.spec.node_affinity.required {
        return (!selects(required, node)).then(|| words(required));
    }
    ZONES.iter().find_map(|names| {
        let of_volume = names.iter().find_map(|n| volume.meta.label(n))?;
        let of_node = names.iter().find_map(|n| node.meta.label(n))?;
        (!of_volume.split("__").any(|zone| zone == of_node)).then(|| format!("{}={of_volume}", names[0]))
    })
}

/// The same without the words.
pub(super) fn is_outside(node: &Node, volume: &PersistentVolume) -> bool {
    match &volume.spec.node_affinity.required {
        Some(required) => !selects(required, node),
        None => outside(node, volume).is_some(),
    }
}

/// The zone that a node is in.
pub fn zone(node: &Node) -> Option<&str> {
    ZONES[0].iter().find_map(|n| node.meta.label(n))
}

/// A node selector as people read it: `zone in a, b; or disk exists`.
pub fn words(selector: &NodeSelector) -> String {
    let term = |t: &NodeSelectorTerm| t.match_expressions.iter().chain(&t.match_fields).map(requirement).collect::<Vec<_>>().join(" and ");
    selector.node_selector_terms.iter().map(term).collect::<Vec<_>>().join("; or ")
}

fn requirement(r: &Requirement) -> String {
    let values = r.values.iter().map(|v| &**v).collect::<Vec<_>>().join(", ");
    match &*r.operator {
        "In" if r.values.len() == 1 => format!("{}={values}", r.key),
        "NotIn" if r.values.len() == 1 => format!("{}!={values}", r.key),
        "In" => format!("{} in {values}", r.key),
        "NotIn" => format!("{} not in {values}", r.key),
        "Exists" => format!("{} exists", r.key),
        "DoesNotExist" => format!("{} does not exist", r.key),
        "Gt" => format!("{} > {values}", r.key),
        "Lt" => format!("{} < {values}", r.key),
        other => format!("{} {other} {values}", r.key),
    }
}
