//! Quiet: what the user muted, and what is quiet on purpose, with its reason.

use super::ages::Ages;
use super::window::{filtered, window};
use super::words::{object, verdict};
use super::{Body, Scene, frame, pods};
use crate::diagnose::{Blocker, Quiet, cause};
use crate::page::{Block, Column, Focus, Layout, Line, List, Opens, Pane, Row, Size, Width};

pub(super) fn body(scene: &Scene<'_>, ages: &Ages) -> Body {
    let layout = Layout::Rows(vec![(Size::Rest(1), Layout::Pane(list(scene, ages)))]);
    Body::of(frame::path(scene, &["muted, and quiet on purpose".to_owned()]), layout)
}

enum Entry<'a> {
    Muted(&'a Blocker),
    Quiet(&'a Quiet),
}

impl Entry<'_> {
    fn id(&self) -> String {
        match self {
            Self::Muted(blocker) => blocker.id.clone(),
            Self::Quiet(quiet) => format!("{} {}", quiet.cause, quiet.object),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Muted(blocker) => format!("{} {} muted", blocker.title, blocker.root),
            Self::Quiet(quiet) => format!("{} {} {} quiet", quiet.object, quiet.cause, quiet.reason),
        }
    }
}

fn list(scene: &Scene<'_>, ages: &Ages) -> Pane {
    let filter = &scene.app.view().filter;
    let muted = scene.app.muted.iter().filter_map(|id| scene.blocker(id)).map(Entry::Muted);
    let quiet = scene.report().quiet.iter().filter(|quiet| seen(scene, quiet)).map(|quiet| Entry::Quiet(quiet));
    let entries: Vec<Entry<'_>> = muted.chain(quiet).filter(|entry| filter.matches_text(&entry.text())).collect();
    let window = window(scene.app, "quiet", entries.len(), |at| entries[at].id(), filtered(scene.app));
    let rows = entries[window.first..window.end].iter().map(|entry| row(scene, entry, ages)).collect();
    let columns = vec![
        Column::new("", Width::Cells(14)),
        Column::new("for", Width::Cells(5)).right(),
        Column::new("what", Width::Range { least: 16, want: 44 }),
        Column::new("why", Width::Rest(20)),
    ];
    let empty = vec!["Nothing is muted (m does that), and nothing is paused, suspended, scaled to 0, cordoned or gated.".into()];
    let list = List { columns, rows, first: window.first, len: entries.len(), selected: window.selected, foot: None, empty };
    Pane { id: "quiet", title: Some("Quiet".into()), note: None, block: Block::List(list), focus: Focus::Here }
}

fn seen(scene: &Scene<'_>, quiet: &Quiet) -> bool {
    let chosen = scene.app.namespaces.as_ref();
    quiet.object.namespace.is_empty() || chosen.is_none_or(|chosen| chosen.contains(&*quiet.object.namespace))
}

fn row(scene: &Scene<'_>, entry: &Entry<'_>, ages: &Ages) -> Row {
    match entry {
        Entry::Muted(blocker) => {
            let cells = vec![
                verdict(scene, blocker, ages),
                ages.age(blocker.since).into(),
                blocker.title.to_string().into(),
                Line::new().dim("muted; m lets it speak again"),
            ];
            Row::new(entry.id(), cells).opens(Opens::Blocker(blocker.id.clone()))
        }
        Entry::Quiet(quiet) => {
            let title = cause(quiet.cause).map_or(quiet.cause, |cause| cause.title);
            let reason = if quiet.reason.is_empty() { title.to_owned() } else { quiet.reason.to_string() };
            let cells = vec![Line::new().dim("· quiet"), ages.age(quiet.since).into(), object(&quiet.object), reason.into()];
            Row::new(entry.id(), cells).opens(Opens::Object(quiet.object.to_string())).about(pods::of(scene, &quiet.object, None))
        }
    }
}
