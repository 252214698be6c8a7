//! A blocker: why, whether it is worth waiting, what it holds up, and the evidence, each row of which can be entered.

use super::ages::Ages;
use super::window::{filtered, window};
use super::words::{holds_up, mark, name, plural, verdict, worth_waiting};
use super::{Body, Scene, frame, nodes, pods, suspect, triage};
use crate::diagnose::{Blocker, cause};
use crate::model::ObjectRef;
use crate::page::{Block, Column, Cut, Focus, Layout, Line, List, Opens, Pane, Part, Row, Size, Span, Text, Width};

pub(super) fn body(scene: &Scene<'_>, ages: &Ages) -> Body {
    let crate::app::At::Blocker(id) = &scene.app.view().at else { return Body::default() };
    match scene.blocker(id) {
        Some(blocker) => of(scene, blocker, ages),
        None => gone(scene, id),
    }
}

fn of(scene: &Scene<'_>, blocker: &Blocker, ages: &Ages) -> Body {
    let held = Layout::Pane(held_up(scene, blocker));
    let middle = match (nodes::pane(scene), scene.is_narrow()) {
        (None, true) => held,
        (None, false) => Layout::Columns(vec![(Size::Rest(3), held), (Size::Rest(2), Layout::Pane(facts(blocker)))]),
        (Some(nodes), true) => Layout::Rows(vec![(Size::Rest(1), held), (Size::Rest(1), Layout::Pane(nodes))]),
        (Some(nodes), false) => Layout::Columns(vec![(Size::Rest(2), held), (Size::Rest(3), Layout::Pane(nodes))]),
    };
    let height = scene.size.1.saturating_sub(2);
    let layout = Layout::Rows(vec![
        (Size::Content { least: 5, most: 13 }, Layout::Pane(why(scene, blocker, ages))),
        (Size::Content { least: 4, most: (height / 2).max(4) }, middle),
        (Size::Rest(1), Layout::Pane(evidence(scene, blocker, ages))),
    ]);
    let since = ages.age(blocker.since);
    let since = if since.is_empty() { String::new() } else { format!(" for {since}") };
    let right = vec![
        Part::new(0, verdict(scene, blocker, ages).plain(since)),
        Part::new(2, Line::new().dim(format!("{}, {}", plural(blocker.pods, "pod"), plural(blocker.affected.len(), "workload")))),
    ];
    let path = frame::path(scene, &[blocker.title.to_string()]);
    Body { right, about: Some(triage::about(scene, blocker)), ..Body::of(path, layout) }
}

/// It cleared while it was open: say so, and where to go.
fn gone(scene: &Scene<'_>, id: &str) -> Body {
    let title = id.split(':').next().and_then(cause).map_or(id.to_owned(), |cause| cause.title.to_owned());
    let lines = vec![Line::new().fine("Gone").plain(": nothing is held up by this any more."), Line::new().dim("esc goes back")];
    let pane = Pane { id: "why", title: Some("Why".into()), note: None, block: Block::Text(Text::whole(lines)), focus: Focus::Here };
    Body::of(frame::path(scene, &[title]), Layout::Pane(pane))
}

fn why(scene: &Scene<'_>, blocker: &Blocker, ages: &Ages) -> Pane {
    let mut lines: Vec<Line> = changed(scene, blocker, ages).into_iter().collect();
    lines.push(Line::from(blocker.summary.to_string()));
    lines.push(Line::from("Worth waiting?  ").then(worth_waiting(blocker, ages)).hang(16));
    lines.push(Line::new().accent("Next").plain(format!("            {}", blocker.next)).hang(16));
    if let Some(cause) = cause(blocker.cause) {
        lines.push(Line::new().dim(format!("{:<16}{}", "What it is", cause.explanation)).hang(16));
    }
    if !blocker.services.is_empty() {
        let names: Vec<String> = blocker.services.iter().map(ObjectRef::place).collect();
        lines.push(Line::new().dim("Services without endpoints: ").plain(names.join(", ")).hang(2));
    }
    lines.extend(triage::unchecked(blocker));
    let layer = Line::from("Why").dim(format!("  {} · {}", blocker.layer.label(), blocker.cause));
    Pane { id: "why", title: Some(layer), note: None, block: Block::Text(Text::whole(lines)), focus: Focus::Never }
}

/// A change by hand that may be behind it.
fn changed(scene: &Scene<'_>, blocker: &Blocker, ages: &Ages) -> Option<Line> {
    let object = triage::declared(scene, blocker);
    let change = suspect::line(scene, object, &[blocker], ages)?;
    Some(Line::new().delayed("Changed").plain("         ").then(super::words::object(object)).plain("  ").then(change).hang(16))
}

/// What it holds up: workloads, then its consequences, then pods.
enum Held<'a> {
    Workload(&'a ObjectRef),
    Also(&'a crate::diagnose::Consequence),
    Pod(&'a ObjectRef),
}

impl Held<'_> {
    fn id(&self) -> String {
        match self {
            Self::Workload(object) => object.to_string(),
            Self::Also(also) => format!("{} {}", also.cause, also.root),
            Self::Pod(pod) => format!("pod {pod}"),
        }
    }
}

fn held_up(scene: &Scene<'_>, blocker: &Blocker) -> Pane {
    let mut held: Vec<Held<'_>> = blocker.affected.iter().map(Held::Workload).collect();
    held.extend(blocker.consequences.iter().map(Held::Also));
    held.extend(blocker.pod_names.iter().map(Held::Pod));
    let filter = &scene.app.view().filter;
    if !filter.is_empty() {
        held.retain(|held| filter.matches_text(&held.id()));
    }
    let window = window(scene.app, "held", held.len(), |at| held[at].id(), filtered(scene.app));
    let rows = held[window.first..window.end].iter().map(|held| held_row(scene, blocker, held)).collect();
    let columns = vec![
        Column::new("", Width::Range { least: 5, want: 12 }),
        Column::new("", Width::Rest(16)),
        Column::new("", Width::Range { least: 10, want: 16 }),
    ];
    let list = List {
        columns,
        rows,
        first: window.first,
        len: held.len(),
        selected: window.selected,
        foot: None,
        empty: vec![Line::new().dim("No workload: the object itself is stuck.")],
    };
    let here = !matches!(scene.app.view().focus, Some("evidence" | "nodes"));
    let focus = if here { Focus::Here } else { Focus::Elsewhere };
    Pane { id: "held", title: Some("Holds up".into()), note: None, block: Block::List(list), focus }
}

fn held_row(scene: &Scene<'_>, blocker: &Blocker, held: &Held<'_>) -> Row {
    let (object, cells) = match held {
        Held::Workload(object) => {
            (*object, vec![Line::new().dim(object.kind.to_string()), Line::new().span(name(object)), scene.state(object).into()])
        }
        Held::Also(also) => {
            let (role, shape) = mark(also.verdict);
            let what = Line::new().role(role, shape).plain(format!(" {}", also.title));
            (&also.root, vec![Line::new().dim("└ also"), what, Line::new().dim(holds_up(also.pods, also.affected.len()))])
        }
        Held::Pod(pod) => (*pod, vec![Line::new().dim("Pod"), Line::new().span(name(pod)), scene.state(pod).into()]),
    };
    Row::new(held.id(), cells).opens(Opens::Object(object.to_string())).about(pods::about(scene, object, blocker))
}

fn facts(blocker: &Blocker) -> Pane {
    let key = Span::from(blocker.key.to_string()).cut(Cut::Start);
    let mut rows = vec![Row::new("key", vec![Line::new().dim("shared"), Line::new().span(key)])];
    rows.push(Row::new("root", vec![Line::new().dim("root"), super::words::object(&blocker.root)]));
    rows.extend(blocker.facts.iter().map(|(fact, value)| Row::new(fact, vec![Line::new().dim(fact), value.to_owned().into()])));
    let widest = rows.iter().map(|row| row.cells[0].chars()).max().unwrap_or(6);
    let columns = vec![Column::new("", Width::Range { least: 6, want: widest.min(24) }), Column::new("", Width::Rest(10))];
    let list = List { columns, len: rows.len(), rows, ..List::default() };
    Pane { id: "facts", title: Some("Facts".into()), note: None, block: Block::List(list), focus: Focus::Never }
}

fn evidence(scene: &Scene<'_>, blocker: &Blocker, ages: &Ages) -> Pane {
    let all: Vec<_> = blocker.evidence.iter().chain(blocker.consequences.iter().flat_map(|also| &also.evidence)).collect();
    let id = |at: usize| format!("{at} {} {}", all[at].object, all[at].path);
    let window = window(scene.app, "evidence", all.len(), id, filtered(scene.app));
    let row = |at: usize| {
        let evidence = all[at];
        let when = evidence.at.map(|at| ages.clock(at)).unwrap_or_default();
        let what =
            super::words::object(&evidence.object).span(Span::new(crate::page::Role::Dim, format!("  {}", triage::path(&evidence.path))));
        let same = all[..at].iter().any(|before| before.message == evidence.message);
        let told = same || evidence.message.is_empty();
        let what = if same { what.dim("  the same") } else { what };
        let quote = if told { Vec::new() } else { vec![Line::from(format!("          {}", triage::quote(evidence))).hang(11)] };
        let row = Row::new(id(at), vec![Line::new().dim(when), what]).opens(Opens::Object(evidence.object.to_string()));
        row.about(pods::about(scene, &evidence.object, blocker)).below(quote)
    };
    let rows = (window.first..window.end).map(row).collect();
    let columns = vec![Column::new("", Width::Cells(8)), Column::new("", Width::Rest(20))];
    let empty = vec![Line::new().dim("The finding rests on no single object.")];
    let list = List { columns, rows, first: window.first, len: all.len(), selected: window.selected, foot: None, empty };
    let focus = if scene.app.view().focus == Some("evidence") { Focus::Here } else { Focus::Elsewhere };
    Pane { id: "evidence", title: Some("Evidence".into()), note: None, block: Block::List(list), focus }
}
