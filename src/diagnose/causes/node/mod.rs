//! Unknown · node: a node is down, unfit or not in service yet, and what that means for its pods.

mod joining;
mod not_ready;
mod pods;
mod pressure;
mod silent;
mod together;

use crate::diagnose::{Cause, Cx, Finding, Judge, Layer, Stage};
use crate::model::{Kind, Node};

pub(super) const CAUSES: &[Cause] = &[
    pods::DEAD,
    pods::EVICTION,
    pods::BY_NODE,
    pods::STALLED,
    silent::UNREACHABLE,
    not_ready::RUNTIME,
    not_ready::NETWORK,
    not_ready::PLEG,
    not_ready::CSI,
    not_ready::CAPACITY,
    not_ready::SHUTDOWN,
    pressure::DISK,
    pressure::MEMORY,
    pressure::PID,
    pressure::ROUTE,
    pressure::PROBLEM,
    joining::CLOUD,
    joining::STARTUP,
    joining::CORDONED,
    not_ready::GENERIC,
];

/// A row that judges nodes; `docs` is the page that tells more.
const fn row(
    docs: &'static str,
    id: &'static str,
    title: &'static str,
    explanation: &'static str,
    told_apart: &'static str,
    cure: &'static str,
    judge: fn(&Cx<'_>, &Node) -> Option<Finding>,
) -> Cause {
    Cause {
        id,
        layer: Layer::Node,
        stage: Stage::Cluster,
        generic: false,
        symptom: false,
        title,
        explanation,
        told_apart,
        cure,
        docs,
        needs: &[Kind::Node],
        clears: 120,
        judge: Judge::Node(judge),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::cx::Memory;
    use crate::model::{Cluster, Condition, Taint, Time};

    fn condition(kind: &str, status: &str) -> Condition {
        Condition { kind: kind.into(), status: status.into(), last_transition_time: Time::from_unix(1), ..Condition::default() }
    }

    /// Every state of these conditions, with and without a taint and a cordon.
    fn nodes() -> Vec<Node> {
        let kinds = ["Ready", "DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable", "KernelDeadlock"];
        let states = ["True", "False", "Unknown", ""];
        let mut all = Vec::new();
        for number in 0..states.len().pow(kinds.len() as u32) {
            let mut node = Node::default();
            node.meta.name = "n".into();
            let state = |at: usize| states[number / states.len().pow(at as u32) % states.len()];
            let conditions = kinds.iter().enumerate().filter(|(at, _)| !state(*at).is_empty());
            node.status.conditions = conditions.map(|(at, kind)| condition(kind, state(at))).collect();
            node.spec.unschedulable = number % 5 == 4;
            if number % 7 == 6 {
                let key = "node.cloudprovider.kubernetes.io/uninitialized".into();
                node.spec.taints.push(Taint { key, effect: "NoSchedule".into(), ..Taint::default() });
            }
            all.push(node);
        }
        all
    }

    #[test]
    fn no_row_has_anything_to_say_about_a_node_that_is_well() {
        let (cluster, memory, now) = (Cluster::default(), Memory::default(), Time::from_unix(1_000_000).expect("a time"));
        let (well, unwell): (Vec<Node>, Vec<Node>) = nodes().into_iter().partition(Node::is_well);
        let says = |node: &Node| {
            let cx = Cx::new(&cluster, now, true, None, &memory);
            let rows = CAUSES.iter().filter_map(|row| if let Judge::Node(judge) = row.judge { Some(judge) } else { None });
            rows.filter(|judge| judge(&cx, node).is_some()).count()
        };
        assert!(!well.is_empty() && unwell.iter().any(|node| says(node) > 0));
        assert_eq!(well.iter().map(says).sum::<usize>(), 0);
    }
}
