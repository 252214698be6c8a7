//! An object, stuck or healthy: why, the chain, how it is meant to be; and the tabs beside it.

use super::ages::Ages;
use super::chain::chain;
use super::meant::meant;
use super::thing::Thing;
use super::window::{filtered, window};
use super::words::verdict;
use super::{Body, Scene, diff, document, frame, pods, suspect, tree, words};
use crate::app::{At, Tab};
use crate::diagnose::Blocker;
use crate::model::{Condition, ContainerRole, ContainerStatus, ObjectRef, Pod, Seen};
use crate::page::{About, Block, Column, Cut, Focus, Layout, Line, List, Opens, Pane, Part, Row, Size, Span, Text, Width};

pub(super) fn body(scene: &Scene<'_>, ages: &Ages) -> Body {
    let At::Object { object: name, tab } = &scene.app.view().at else { return Body::default() };
    let Some(object) = ObjectRef::parse(name) else { return unreadable(scene, name) };
    let about = about(scene, &object);
    let layout = match tab {
        Tab::Why => why(scene, &object, ages),
        Tab::Tree => Layout::Pane(tree::pane(scene, &object)),
        Tab::Events => Layout::Pane(document::events(scene, &object, ages)),
        Tab::Diff => diff::layout(scene, &object, ages),
        Tab::Yaml | Tab::Logs | Tab::Previous => Layout::Pane(document::lines(scene, &object, *tab)),
    };
    let mut parts = vec![format!("{}/{}", object.kind, object.name)];
    if !object.namespace.is_empty() {
        parts.insert(0, object.namespace.to_string());
    }
    let mut path = frame::path(scene, &parts);
    path.push(Part::new(1, tabs(scene, &object, *tab)));
    let right = vec![Part::new(3, scene.state(&object).into())];
    Body { right, about: Some(about), ..Body::of(path, layout) }
}

fn unreadable(scene: &Scene<'_>, name: &str) -> Body {
    let lines = vec![Line::from(format!("{name} is no object: Kind/namespace/name."))];
    let pane = Pane { id: "why", title: None, note: None, block: Block::Text(Text::whole(lines)), focus: Focus::Here };
    Body::of(frame::path(scene, &[name.to_owned()]), Layout::Pane(pane))
}

/// Which pod's logs are meant: of those that a blocker holds up first.
fn about(scene: &Scene<'_>, object: &ObjectRef) -> About {
    let blockers = scene.blockers_of(object);
    let stuck = blockers.iter().find_map(|blocker| pods::stuck(scene, object, blocker));
    pods::of(scene, object, stuck)
}

/// `[why]  tree  events`: the one that is shown has a shape, not only a colour.
fn tabs(scene: &Scene<'_>, object: &ObjectRef, here: Tab) -> Line {
    // Where all do not fit beside a long name, the one that is shown and its neighbours.
    let near = |tab: &Tab| scene.size.0 >= 100 || (*tab as usize).abs_diff(here as usize) <= 1;
    Tab::ALL.into_iter().filter(near).fold(Line::new(), |line, tab| {
        let line = if line.is_empty() { line } else { line.plain("  ") };
        let much = if tab == Tab::Diff { diff::much(scene, object) } else { String::new() };
        let title = format!("{}{much}", tab.title());
        if tab == here { line.accent(format!("[{title}]")) } else { line.dim(title) }
    })
}

fn why(scene: &Scene<'_>, object: &ObjectRef, ages: &Ages) -> Layout {
    let blockers = scene.blockers_of(object);
    let changed = suspect::line(scene, object, &blockers, ages);
    let mut rows: Vec<_> =
        changed.map(|line| (Size::Content { least: 2, most: 3 }, text("changed", "Changed", vec![line]))).into_iter().collect();
    rows.push((Size::Content { least: 2, most: 12 }, Layout::Pane(blocking(scene, object, &blockers, ages))));
    let Seen::Is(thing) = scene.find(object) else {
        rows.push((Size::Rest(1), Layout::Pane(not_found(scene, object))));
        return Layout::Rows(rows);
    };
    rows.push((Size::Content { least: 2, most: 6 }, text("meant", "How it is meant to be", meant(thing, ages))));
    rows.push((Size::Content { least: 2, most: 6 }, text("chain", "Chain", chain(scene, object, &blockers, ages))));
    if let Thing::Pod(pod) = thing {
        rows.push((Size::Content { least: 2, most: 12 }, Layout::Pane(containers(scene, object, pod, ages))));
    }
    rows.push((Size::Rest(1), Layout::Pane(conditions(thing, ages))));
    Layout::Rows(rows)
}

fn text(id: &'static str, title: &'static str, lines: Vec<Line>) -> Layout {
    Layout::Pane(Pane { id, title: Some(title.into()), note: None, block: Block::Text(Text::whole(lines)), focus: Focus::Never })
}

fn not_found(scene: &Scene<'_>, object: &ObjectRef) -> Pane {
    let line = if scene.find(object).is_absent() {
        Line::from(format!("There is no {} {}.", object.kind, object.place()))
    } else {
        Line::from(format!("{} {} is not among what is followed; diff (d) and yaml (y) ask for it.", object.kind, object.place()))
    };
    Pane {
        id: "meant",
        title: Some("How it is meant to be".into()),
        note: None,
        block: Block::Text(Text::whole(vec![line])),
        focus: Focus::Never,
    }
}

fn blocking(scene: &Scene<'_>, object: &ObjectRef, blockers: &[&Blocker], ages: &Ages) -> Pane {
    let window = window(scene.app, "why", blockers.len(), |at| blockers[at].id.clone(), filtered(scene.app));
    let row = |blocker: &&Blocker| {
        let own = blocker.root == *object || blocker.affected.contains(object) || blocker.pod_names.contains(object);
        let much = if own { words::holds_up(blocker.pods, blocker.affected.len()) } else { "consequence".to_owned() };
        let cells = vec![
            verdict(scene, blocker, ages),
            Line::from(ages.age(blocker.since)),
            blocker.layer.label().into(),
            blocker.title.to_string().into(),
            Line::new().dim(much),
        ];
        let row = Row::new(blocker.id.clone(), cells).opens(Opens::Blocker(blocker.id.clone()));
        row.about(pods::about(scene, object, blocker))
    };
    let columns = vec![
        Column::new("", Width::Cells(14)),
        Column::new("", Width::Cells(4)).right(),
        Column::new("", Width::Range { least: 10, want: 23 }).priority(1),
        Column::new("", Width::Rest(20)),
        Column::new("", Width::Range { least: 5, want: 14 }).right().priority(2),
    ];
    let rows = blockers[window.first..window.end].iter().map(row).collect();
    let list =
        List { columns, rows, first: window.first, len: blockers.len(), selected: window.selected, foot: None, empty: free(scene, object) };
    let focus = if scene.app.view().focus == Some("containers") { Focus::Elsewhere } else { Focus::Here };
    Pane { id: "why", title: Some("Why".into()), note: None, block: Block::List(list), focus }
}

/// What stands where nothing holds the object up.
fn free(scene: &Scene<'_>, object: &ObjectRef) -> Vec<Line> {
    let quiet = scene.report().quiet.iter().find(|quiet| quiet.object == *object);
    let first = match quiet {
        Some(quiet) => Line::new().dim("· quiet on purpose: ").plain(quiet.reason.to_string()),
        None if scene.is_loading() => Line::new().dim("Still reading; nothing found so far."),
        None => Line::new().fine("Nothing holds it up."),
    };
    vec![first]
}

fn containers(scene: &Scene<'_>, object: &ObjectRef, pod: Pod<'_>, ages: &Ages) -> Pane {
    let declared: Vec<_> = pod.spec().all_containers().collect();
    let window = window(scene.app, "containers", declared.len(), |at| declared[at].name.to_string(), filtered(scene.app));
    let row = |at: usize| {
        let container = declared[at];
        let status = pod.container_statuses().find(|(_, status)| status.name == container.name);
        let image = Span::from(container.image.to_string()).cut(Cut::Image);
        let cells = vec![
            container.name.to_string().into(),
            status.map_or_else(|| Line::new().dim("no status"), |(role, status)| container_state(role, status, ages)),
            status.map_or_else(Line::new, |(_, status)| Line::from(format!("{} restarts", status.restart_count))),
            Line::new().span(image),
        ];
        let about = About {
            object: object.to_string(),
            pod: Some(object.to_string()),
            container: Some(container.name.to_string()),
            declared: None,
        };
        Row::new(container.name.to_string(), cells).about(about).opens(Opens::Action("logs"))
    };
    let columns = vec![
        Column::new("", Width::Range { least: 6, want: 20 }),
        Column::new("", Width::Range { least: 12, want: 44 }),
        Column::new("", Width::Cells(12)).right().priority(1),
        Column::new("", Width::Rest(12)),
    ];
    let rows = (window.first..window.end).map(row).collect();
    let list = List { columns, rows, first: window.first, len: declared.len(), selected: window.selected, ..List::default() };
    let focus = if scene.app.view().focus == Some("containers") { Focus::Here } else { Focus::Elsewhere };
    Pane { id: "containers", title: Some("Containers".into()), note: None, block: Block::List(list), focus }
}

fn container_state(role: ContainerRole, status: &ContainerStatus, ages: &Ages) -> Line {
    let init = if role == ContainerRole::Init { "init, " } else { "" };
    let state = &status.state;
    let line = match (&state.waiting, &state.running, &state.terminated) {
        (Some(waiting), ..) => Line::from(format!("{init}waits: {}", waiting.reason)),
        (_, Some(running), _) => {
            let ready = if status.ready || role == ContainerRole::Init { "" } else { ", not ready" };
            // Of a plain pod the model keeps no start.
            let since = running.started_at.map(|at| format!(" for {}", ages.age(Some(at)))).unwrap_or_default();
            Line::from(format!("{init}running{since}{ready}"))
        }
        (_, _, Some(ended)) => {
            Line::from(format!("{init}ended {} ago: {} ({})", ages.age(ended.finished_at), ended.reason, ended.exit_code))
        }
        (None, None, None) => Line::from(format!("{init}waits")),
    };
    match &status.last_state.terminated {
        Some(last) => line.dim(format!("; before: {} ({})", last.reason, last.exit_code)),
        None => line,
    }
}

fn conditions(thing: Thing<'_>, ages: &Ages) -> Pane {
    let row = |condition: &Condition| {
        let cells = vec![
            condition.kind.to_string().into(),
            condition.status.to_string().into(),
            Line::new().dim(ages.age(condition.last_transition_time)),
            condition.reason.to_string().into(),
        ];
        let message = Line::new().dim(format!("  {}", condition.message)).hang(2);
        Row::new(condition.kind.to_string(), cells).below(if condition.message.is_empty() { Vec::new() } else { vec![message] })
    };
    let rows: Vec<Row> = thing.conditions().iter().map(row).collect();
    let widest = rows.iter().map(|row| row.cells[0].chars()).max().unwrap_or(10);
    let columns = vec![
        Column::new("", Width::Range { least: 8, want: widest.min(34) }),
        Column::new("", Width::Cells(7)),
        Column::new("", Width::Cells(5)).right(),
        Column::new("", Width::Rest(10)),
    ];
    let list = List { columns, len: rows.len(), rows, empty: vec![Line::new().dim("It reports no conditions.")], ..List::default() };
    Pane {
        id: "conditions",
        title: Some("Conditions, as it reports them".into()),
        note: None,
        block: Block::List(list),
        focus: Focus::Never,
    }
}
