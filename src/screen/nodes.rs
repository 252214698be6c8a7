//! What each node lacks for a pod that finds no place, nodes that lack the same in one row, the nearest to fitting first.

use super::Scene;
use super::window::{filtered, window};
use super::words::number;
use crate::app::At;
use crate::diagnose::Layer;
use crate::diagnose::scheduling::{Lack, NodeFit, fit};
use crate::model::{ObjectRef, Quantity};
use crate::page::{Block, Column, Focus, Line, List, Opens, Pane, Row, Width, chars};

/// Resources with a column of their own; others are told in the last.
const RESOURCES: [&str; 2] = ["memory", "cpu"];

const TITLES: [&str; 3] = ["taint", "memory", "cpu"];

/// The fit of every node for the blocker that is on the screen, if it is one of scheduling. It looks at the whole cluster: worth
/// doing when the screen is entered, and again every few seconds, not for every frame.
pub fn fits(scene: &Scene<'_>) -> Vec<NodeFit> {
    let At::Blocker(id) = &scene.app.view().at else { return Vec::new() };
    let Some(blocker) = scene.blocker(id).filter(|blocker| blocker.layer == Layer::Scheduling) else { return Vec::new() };
    let shown = blocker.evidence.iter().map(|evidence| &evidence.object).chain(&*blocker.pod_names);
    let pending = shown.filter_map(|object| scene.cluster.pod(&object.namespace, &object.name)).find(|pod| pod.node().is_none());
    pending.map(|pod| fit(scene.cluster, pod)).unwrap_or_default()
}

/// Nodes that lack the same.
struct Group<'a> {
    fit: &'a NodeFit,
    more: usize,
    cells: [String; 3],
    other: Vec<String>,
}

pub(super) fn pane(scene: &Scene<'_>) -> Option<Pane> {
    let groups = groups(scene.fits);
    if groups.is_empty() {
        return None;
    }
    let window = window(scene.app, "nodes", groups.len(), |at| groups[at].fit.node.to_string(), filtered(scene.app));
    // A column that would be empty says nothing.
    let shown: Vec<usize> = (0..TITLES.len()).filter(|cell| groups.iter().any(|group| !group.cells[*cell].is_empty())).collect();
    let rows = groups[window.first..window.end].iter().map(|group| row(group, &shown)).collect();
    let names = groups.iter().map(|group| chars(&group.fit.node) + if group.more > 0 { 5 } else { 0 });
    let mut columns = vec![Column::new("node", Width::Range { least: 8, want: names.max().unwrap_or(8).clamp(8, 28) })];
    columns.extend(shown.iter().map(|cell| {
        let widest = groups.iter().map(|group| chars(&group.cells[*cell])).max().unwrap_or(0);
        Column::new(TITLES[*cell], Width::Range { least: 6, want: widest.clamp(6, 26) })
    }));
    columns.push(Column::new("would fit", Width::Rest(16)));
    let list = List { columns, rows, first: window.first, len: groups.len(), selected: window.selected, ..List::default() };
    let focus = if scene.app.view().focus == Some("nodes") { Focus::Here } else { Focus::Elsewhere };
    let note = Some(Line::new().dim(format!("{} nodes", number(scene.fits.len()))));
    Some(Pane { id: "nodes", title: Some("Nodes: what each lacks".into()), note, block: Block::List(list), focus })
}

fn groups(fits: &[NodeFit]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for fit in fits {
        let cells = cells(fit);
        let other = other(fit);
        let same = groups.iter_mut().rev().take(64).find(|group| group.cells == cells && group.other == other);
        match same {
            Some(group) => group.more += 1,
            None => groups.push(Group { fit, more: 0, cells, other }),
        }
    }
    groups
}

/// Taint or cordon, memory, cpu; empty where that is no obstacle.
fn cells(fit: &NodeFit) -> [String; 3] {
    let taints: Vec<String> = fit.lacks.iter().filter_map(taint).collect();
    let [memory, cpu] = RESOURCES.map(|wanted| {
        let short = fit.lacks.iter().filter_map(|lack| short(lack).filter(|(name, _)| *name == wanted));
        short.map(|(_, amount)| amount).next().unwrap_or_default()
    });
    [taints.join(" "), memory, cpu]
}

fn taint(lack: &Lack) -> Option<String> {
    if let Lack::Taint(taint) = lack {
        return Some(taint.to_string());
    }
    matches!(lack, Lack::Cordoned).then(|| "cordoned".to_owned())
}

/// `short 512Mi`; `has only 16Gi` where even the empty node would not do.
fn short(lack: &Lack) -> Option<(&str, String)> {
    let Lack::Resource { name, requested, free, allocatable } = lack else { return None };
    let text = if requested > allocatable {
        format!("has only {}", Quantity::spell(name, *allocatable))
    } else {
        format!("short {}", Quantity::spell(name, requested - free))
    };
    Some((name, text))
}

/// What has no column.
fn other(fit: &NodeFit) -> Vec<String> {
    let told = |lack: &&Lack| taint(lack).is_some() || short(lack).is_some_and(|(name, _)| RESOURCES.contains(&name));
    fit.lacks.iter().filter(|lack| !told(lack)).map(Lack::change).collect()
}

fn row(group: &Group<'_>, shown: &[usize]) -> Row {
    let node = Line::from(group.fit.node.to_string());
    let node = if group.more == 0 { node } else { node.dim(format!(" +{}", number(group.more))) };
    let cell = |text: &String| if text.is_empty() { Line::new().dim("·") } else { Line::from(text.clone()) };
    let fits = match group.fit.lacks.as_slice() {
        [] => Line::new().fine("fits now"),
        [Lack::Taint(_)] => Line::from("if tolerated"),
        [only] => Line::from(format!("if {}", only.change())),
        _ if group.other.is_empty() => Line::new().dim("no: more than one thing"),
        _ => Line::new().dim(format!("no: also if {}", group.other.join(", if "))),
    };
    let cells = std::iter::once(node).chain(shown.iter().map(|at| cell(&group.cells[*at]))).chain([fits]).collect();
    let object = ObjectRef::new("Node", "", &group.fit.node).to_string();
    Row::new(group.fit.node.to_string(), cells).opens(Opens::Object(object))
}
