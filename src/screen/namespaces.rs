//! The picker of namespaces: one, several, or all; how many blockers each has.

use std::collections::{BTreeMap, BTreeSet};

use super::Scene;
use super::window::{filtered, window};
use super::words::plural;
use crate::model::{Kind, Namespace};
use crate::page::{Block, Column, Focus, Line, List, Opens, Pane, Row, Width};

pub(super) fn pane(scene: &Scene<'_>, typed: &str, chosen: &BTreeSet<String>) -> Pane {
    let counts = counts(scene);
    let names: Vec<Option<String>> = std::iter::once(None).chain(names(scene, chosen).into_iter().map(Some)).collect();
    let names: Vec<Option<String>> = names.into_iter().filter(|name| matches(name.as_deref(), typed)).collect();
    let id = |at: usize| names[at].clone().unwrap_or_else(|| "*".to_owned());
    let window = window(scene.app, "namespaces", names.len(), id, filtered(scene.app));
    let rows = names[window.first..window.end].iter().map(|name| row(name.as_deref(), chosen, &counts)).collect();
    let columns = vec![Column::new("", Width::Cells(3)), Column::new("", Width::Rest(20)), Column::new("", Width::Cells(14)).right()];
    let list = List {
        columns,
        rows,
        first: window.first,
        len: names.len(),
        selected: window.selected,
        foot: None,
        empty: vec![Line::new().dim("No namespace is called that.")],
    };
    let note = Some(Line::new().dim(if chosen.is_empty() { "all".to_owned() } else { plural(chosen.len(), "namespace") }));
    Pane { id: "namespaces", title: Some("Namespaces".into()), note, block: Block::List(list), focus: Focus::Here }
}

/// Where namespaces may not be listed, those of pods and of the present choice are offered still.
fn names(scene: &Scene<'_>, chosen: &BTreeSet<String>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = scene.cluster.all::<Namespace>(None).map(|namespace| namespace.meta.name.to_string()).collect();
    if names.is_empty() {
        let mut last = "";
        for pod in scene.cluster.pods(None) {
            if pod.namespace() != last {
                last = pod.namespace();
                names.insert(last.to_owned());
            }
        }
    }
    names.extend(scene.cluster.coverage().of(Kind::Pod).filter_map(|(namespace, _)| namespace.map(str::to_owned)));
    names.extend(chosen.iter().cloned());
    names.extend(scene.app.namespaces.iter().flatten().cloned());
    names
}

fn matches(name: Option<&str>, typed: &str) -> bool {
    typed.is_empty() || name.is_some_and(|name| name.contains(typed.trim()))
}

fn counts(scene: &Scene<'_>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for blocker in &scene.report().blockers {
        let places: BTreeSet<&str> = blocker.affected.iter().map(|object| &*object.namespace).collect();
        for place in places {
            *counts.entry(place.to_owned()).or_insert(0) += 1;
        }
    }
    counts
}

fn row(name: Option<&str>, chosen: &BTreeSet<String>, counts: &BTreeMap<String, usize>) -> Row {
    let ticked = name.map_or(chosen.is_empty(), |name| chosen.contains(name));
    let tick = if ticked { Line::new().accent("[x]") } else { Line::new().dim("[ ]") };
    let count = match name.and_then(|name| counts.get(name)) {
        Some(count) => Line::from(plural(*count, "blocker")),
        None => Line::new(),
    };
    let label = name.map_or_else(|| Line::from("all namespaces"), |name| Line::from(name.to_owned()));
    Row::new(name.unwrap_or("*").to_owned(), vec![tick, label, count]).opens(Opens::Namespace(name.map(str::to_owned)))
}
