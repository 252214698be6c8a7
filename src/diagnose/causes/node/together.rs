//! Together: nodes that have the same trouble since about the same time have one cause.

use crate::diagnose::scheduling::place::zone;
use crate::diagnose::{Cx, Finding, Key};
use crate::model::{Node, ObjectRef, Time};

/// Nodes that went down within this time went down together.
const WINDOW: i64 = 600;

/// A node among those with the same trouble.
pub(super) struct Together<'a> {
    /// By name, this one among them.
    nodes: Vec<&'a Node>,
    wider: Option<Key>,
}

impl<'a> Together<'a> {
    /// `when` says since when a node has the trouble, if it has it. A node that is plainly well has none.
    pub(super) fn of(cx: &Cx<'a>, node: &Node, cause: &str, when: fn(&Node) -> Option<Time>) -> Self {
        let mut all: Vec<(Time, &Node)> = cx.unwell_nodes().filter_map(|n| when(n).map(|at| (at, n))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.meta.name.cmp(&b.1.meta.name)));
        let mut start = all.first().map(|(at, _)| *at);
        let mut nodes: Vec<&Node> = Vec::new();
        for (at, n) in all {
            if start.is_none_or(|s| at.since(s) > WINDOW) {
                if nodes.iter().any(|n| n.meta.name == node.meta.name) {
                    break;
                }
                start = Some(at);
                nodes.clear();
            }
            nodes.push(n);
        }
        nodes.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        let wider = if nodes.len() > 1 { whole_zone(cx, node, &nodes).or_else(|| start.map(|at| Key::nodes(cause, at))) } else { None };
        Self { nodes, wider }
    }

    /// `n1`, or `n1, n2 and 3 more`.
    pub(super) fn names(&self, node: &Node) -> String {
        let names: Vec<&str> = self.nodes.iter().map(|n| &*n.meta.name).collect();
        match names.as_slice() {
            [] | [_] => node.meta.name.to_string(),
            [a, b] => format!("{a} and {b}"),
            [a, b, c] => format!("{a}, {b} and {c}"),
            [a, b, ..] => format!("{a}, {b} and {} more", names.len() - 2),
        }
    }

    /// A verb in the number of the nodes.
    pub(super) fn verb(&self, one: &'static str, many: &'static str) -> &'static str {
        if self.nodes.len() > 1 { many } else { one }
    }

    pub(super) fn widen(&self, finding: Finding) -> Finding {
        match &self.wider {
            Some(key) => finding.wider(key.clone()),
            None => finding,
        }
    }
}

/// More than half of the node's zone has it.
fn whole_zone(cx: &Cx<'_>, node: &Node, nodes: &[&Node]) -> Option<Key> {
    let name = zone(node)?;
    let here = nodes.iter().filter(|n| zone(n) == Some(name)).count();
    let all = cx.nodes().zones().into_iter().filter(|of| *of == Some(name)).count();
    (here > 1 && 2 * here > all).then(|| Key::zone(name))
}

pub(super) fn reference(node: &Node) -> ObjectRef {
    ObjectRef::new("Node", "", &node.meta.name)
}
