//! Coverage: what is seen of each kind, what may not be seen, what that would have told, and the rule that lifts it.

use std::collections::BTreeMap;

use super::ages::Ages;
use super::window::{filtered, window};
use super::words::number;
use super::{Body, Scene, frame};
use crate::diagnose::CAUSES;
use crate::model::{CoverageState, Kind};
use crate::page::{Block, Column, Focus, Layout, Line, List, Pane, Row, Size, Text, Width};

pub(super) fn body(scene: &Scene<'_>, ages: &Ages) -> Body {
    let mut rows = vec![(Size::Rest(1), Layout::Pane(kinds(scene, ages)))];
    let said = said(scene);
    if !said.is_empty() {
        rows.push((Size::Content { least: 2, most: 8 }, Layout::Pane(connection(said))));
    }
    let layout = Layout::Rows(rows);
    Body::of(frame::path(scene, &["what is seen".to_owned()]), layout)
}

/// A clock that is off by less than this says nothing.
const CLOCKS_APART: i64 = 5;

/// What the connection, the groups of the API and the clocks say.
fn said(scene: &Scene<'_>) -> Vec<Line> {
    let status = scene.status;
    let apart = (status.ahead.abs() > CLOCKS_APART)
        .then(|| format!("the cluster's clock is {} s ahead of this machine's; its time is used", status.ahead));
    let groups = status.unreadable.iter().map(|(group, why)| format!("API group {group} cannot be read: {why}"));
    status.said.iter().cloned().chain(groups).chain(apart).map(Line::from).collect()
}

fn connection(said: Vec<Line>) -> Pane {
    let block = Block::Text(Text { len: said.len(), lines: said, ..Text::default() });
    Pane { id: "connection", title: Some("The connection says".into()), note: None, block, focus: Focus::Never }
}

type Entry<'a> = (Kind, Option<&'a str>, &'a CoverageState);

/// What cannot be seen first.
fn entries<'a>(scene: &Scene<'a>) -> Vec<Entry<'a>> {
    let filter = &scene.app.view().filter;
    let mut entries: Vec<Entry<'a>> =
        scene.cluster.coverage().iter().filter(|(kind, ns, state)| filter.matches_text(&text(*kind, *ns, state))).collect();
    entries.sort_by_key(|(kind, ns, state)| (rank(state), *kind, ns.map(str::to_owned)));
    entries
}

fn text(kind: Kind, namespace: Option<&str>, state: &CoverageState) -> String {
    format!("{} {} {} {}", kind.row().plural, namespace.unwrap_or("all"), word(state), message(state))
}

fn rank(state: &CoverageState) -> u8 {
    match state {
        CoverageState::Denied { .. } => 0,
        CoverageState::Stale { .. } => 1,
        CoverageState::Loading => 2,
        CoverageState::Synced => 3,
        CoverageState::Absent { .. } => 4,
    }
}

fn word(state: &CoverageState) -> &'static str {
    match state {
        CoverageState::Loading => "loading",
        CoverageState::Synced => "synced",
        CoverageState::Denied { .. } => "denied",
        CoverageState::Absent { .. } => "absent",
        CoverageState::Stale { .. } => "stale",
    }
}

fn message(state: &CoverageState) -> &str {
    match state {
        CoverageState::Loading | CoverageState::Synced => "",
        CoverageState::Denied { message, .. } | CoverageState::Absent { message } | CoverageState::Stale { message, .. } => message,
    }
}

fn kinds(scene: &Scene<'_>, ages: &Ages) -> Pane {
    let entries = entries(scene);
    let id = |(kind, ns, _): &Entry<'_>| format!("{} {}", kind.row().plural, ns.unwrap_or("*"));
    let window = window(scene.app, "coverage", entries.len(), |at| id(&entries[at]), filtered(scene.app));
    let rows = entries[window.first..window.end].iter().map(|entry| row(scene, entry, id(entry), ages)).collect();
    let columns = vec![
        Column::new("kind", Width::Cells(33)),
        Column::new("state", Width::Cells(9)),
        Column::new("since", Width::Cells(5)).right().priority(3),
        Column::new("count", Width::Cells(8)).right().priority(4),
        Column::new("what it tells", Width::Range { least: 14, want: 34 }).priority(5),
        Column::new("why not, and what lifts it", Width::Rest(26)),
    ];
    let list = List {
        columns,
        rows,
        first: window.first,
        len: entries.len(),
        selected: window.selected,
        empty: vec!["Nothing has been asked for yet.".into()],
        foot: None,
    };
    Pane { id: "coverage", title: Some("What is seen".into()), note: None, block: Block::List(list), focus: Focus::Here }
}

fn row(scene: &Scene<'_>, (kind, namespace, state): &Entry<'_>, id: String, ages: &Ages) -> Row {
    let (shape, since) = match state {
        CoverageState::Synced => (Line::new().fine("● synced"), None),
        CoverageState::Loading => (Line::new().delayed("◌ loading"), None),
        CoverageState::Denied { since, .. } => (Line::new().delayed("▲ denied"), *since),
        CoverageState::Stale { since, .. } => (Line::new().delayed("▲ stale"), *since),
        CoverageState::Absent { .. } => (Line::new().dim("· absent"), None),
    };
    let tells: Vec<&str> = CAUSES.iter().copied().flatten().filter(|cause| cause.needs.contains(kind)).map(|cause| cause.id).collect();
    let tells = if tells.is_empty() { Line::new().dim("details") } else { Line::from(tells.join(" ")) };
    let rule = if matches!(state, CoverageState::Denied { .. }) {
        format!("{}  (grant get, list, watch; holdup rbac writes the role)", message(state))
    } else {
        let note = scene.status.notes.get(&(*kind, namespace.map(str::to_owned)));
        note.cloned().unwrap_or_else(|| message(state).to_owned())
    };
    // What was not read is not zero.
    let count = match state {
        CoverageState::Denied { .. } | CoverageState::Absent { .. } => "–".to_owned(),
        CoverageState::Loading | CoverageState::Synced | CoverageState::Stale { .. } => number(scene.cluster.count(*kind)),
    };
    let cells = vec![
        // The namespace has no column of its own, which narrow terminals would drop: two rows would look alike.
        Line::from(kind.row().plural).dim(namespace.map(|ns| format!(" in {ns}")).unwrap_or_default()),
        shape,
        ages.age(since).into(),
        count.into(),
        tells,
        Line::new().dim(rule),
    ];
    Row::new(id, cells)
}

/// The short form beside the layers: what is not known has a place on the screen.
pub(super) fn not_checked(scene: &Scene<'_>) -> Pane {
    let mut absent = 0;
    let mut lines: BTreeMap<(u8, Kind), String> = BTreeMap::new();
    for (kind, namespace, state) in scene.cluster.coverage().iter() {
        let place = namespace.map(|ns| format!(" in {ns}")).unwrap_or_default();
        let short = match state {
            CoverageState::Denied { .. } => "forbidden",
            CoverageState::Stale { .. } => "stale",
            CoverageState::Absent { .. } => {
                absent += usize::from(namespace.is_none());
                continue;
            }
            CoverageState::Loading | CoverageState::Synced => continue,
        };
        lines.entry((rank(state), kind)).or_insert_with(|| format!("{}{place}: {short}", kind.row().plural));
    }
    let mut shown: Vec<Line> = lines.into_values().take(5).map(Line::from).collect();
    if absent > 0 {
        shown.push(Line::new().dim(format!("{} absent here", super::words::plural(absent, "kind"))));
    }
    if shown.is_empty() {
        shown.push(Line::new().dim("everything was seen"));
    } else {
        shown.push(Line::new().accent("C").dim(" shows what is seen"));
    }
    Pane { id: "unchecked", title: Some("not checked".into()), note: None, block: Block::Text(Text::whole(shown)), focus: Focus::Never }
}
