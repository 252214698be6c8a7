//! What is fetched on demand: all events of an object, its yaml, logs; with what a search found marked.

use super::Scene;
use super::ages::Ages;
use super::window::{filtered, window};
use super::words::number;
use crate::app::{Document, EventLine, Fetched, State, Tab, Top};
use crate::model::ObjectRef;
use crate::page::{Block, Column, Focus, Line, List, Pane, Row, Span, Text, Width, Wrap};

/// The whole list of events, and until it is here those that are followed anyway.
pub(super) fn events(scene: &Scene<'_>, object: &ObjectRef, ages: &Ages) -> Pane {
    let fetched = scene.app.documents.get(&object.to_string(), Document::Events);
    let followed = || scene.cluster.events(object).into_iter().map(of_event).collect();
    let events: Vec<EventLine> = match fetched.map(|fetched| &fetched.state) {
        Some(State::Here(_)) => fetched.map(|fetched| fetched.events().to_vec()).unwrap_or_default(),
        Some(State::Waiting | State::Failed(_)) | None => followed(),
    };
    let filter = &scene.app.view().filter;
    let events: Vec<EventLine> = events
        .into_iter()
        .filter(|event| filter.matches_text(&format!("{} {} {} {}", event.kind, event.reason, event.message, event.source)))
        .collect();
    let id = |at: usize| format!("{at} {}", events[at].reason);
    let window = window(scene.app, "events", events.len(), id, filtered(scene.app));
    let rows = (window.first..window.end).map(|at| event_row(&events[at], id(at), ages)).collect();
    let columns = vec![
        Column::new("for", Width::Cells(5)).right(),
        Column::new("times", Width::Cells(5)).right().priority(2),
        Column::new("type", Width::Cells(7)).priority(1),
        Column::new("reason", Width::Range { least: 12, want: 24 }),
        Column::new("from", Width::Rest(12)),
    ];
    let foot = match fetched.map(|fetched| &fetched.state) {
        Some(State::Waiting) => Some(Line::new().dim("asking for all events …")),
        Some(State::Failed(why)) => Some(Line::new().delayed(format!("▲ {why}"))),
        Some(State::Here(_)) | None => None,
    };
    let empty = vec![Line::new().dim("No events. Kubernetes keeps them for an hour by default.")];
    let list = List { columns, rows, first: window.first, len: events.len(), selected: window.selected, foot, empty };
    Pane { id: "events", title: Some("Events, newest first".into()), note: None, block: Block::List(list), focus: Focus::Here }
}

fn of_event(event: &crate::model::Event) -> EventLine {
    EventLine {
        at: event.last,
        kind: event.kind.to_string(),
        reason: event.reason.to_string(),
        message: event.message.to_string(),
        count: u32::try_from(event.count).unwrap_or(1),
        source: event.source.to_string(),
    }
}

fn event_row(event: &EventLine, id: String, ages: &Ages) -> Row {
    let kind = if event.kind == "Warning" { Line::new().delayed(event.kind.clone()) } else { Line::new().dim(event.kind.clone()) };
    let cells = vec![
        ages.age(event.at).into(),
        if event.count > 1 { number(event.count as usize).into() } else { Line::new() },
        kind,
        event.reason.clone().into(),
        Line::new().dim(event.source.clone()),
    ];
    let indent = "                       ";
    Row::new(id, cells).below(vec![Line::from(format!("{}\"{}\"", &indent[..7], event.message)).hang(8)])
}

/// A yaml or a log.
pub(super) fn lines(scene: &Scene<'_>, object: &ObjectRef, tab: Tab) -> Pane {
    let (id, document, title) = match tab {
        Tab::Yaml => ("yaml", Document::Yaml, "As the API server holds it, secrets redacted"),
        Tab::Previous => ("previous", Document::Previous, "Logs of the run before"),
        Tab::Logs | Tab::Why | Tab::Tree | Tab::Events | Tab::Diff => ("logs", Document::Logs, "Logs, the last 500 lines"),
    };
    let fetched = scene.app.documents.get(&object.to_string(), document);
    let text = match fetched.map(|fetched| (&fetched.state, fetched.lines())) {
        Some((State::Here(_), [])) => Text::whole(vec![Line::new().dim("It is empty.")]),
        Some((State::Here(_), lines)) => part(scene, id, lines),
        Some((State::Waiting, _)) => Text::whole(vec![Line::new().dim("asking for it …")]),
        Some((State::Failed(why), _)) => Text::whole(vec![Line::new().delayed("▲ ").plain(why.clone()), Line::new().dim("r asks again")]),
        None => Text::whole(vec![Line::new().dim("There is no pod whose logs these could be.")]),
    };
    let title = Line::from(title).then(whose(fetched.filter(|_| tab != Tab::Yaml)));
    let note = Some(&scene.app.view().search).filter(|search| !search.is_empty()).map(|search| Line::new().dim("/").accent(search.clone()));
    Pane { id, title: Some(title), note, block: Block::Text(text), focus: Focus::Here }
}

/// `: container app of Pod shop/cart-…`.
fn whose(fetched: Option<&Fetched>) -> Line {
    let Some(wanted) = fetched.map(|fetched| &fetched.wanted) else { return Line::new() };
    let container = wanted.container.as_ref().map(|name| format!(": container {name}")).unwrap_or_default();
    let pod = wanted.pod.as_deref().and_then(ObjectRef::parse);
    match pod {
        Some(pod) => Line::new().dim(format!("{container} of ")).then(super::words::object(&pod)),
        None => Line::new().dim(container),
    }
}

/// The window of a long text. At its end it is given whole lines enough to fill the pane however they wrap.
fn part(scene: &Scene<'_>, id: &str, lines: &[String]) -> Text {
    let height = scene.app.height(id);
    let first = match scene.app.spot(id).top {
        Top::Line(line) => line.min(lines.len().saturating_sub(1)),
        Top::End => end(lines, height, usize::from(scene.size.0)),
    };
    let search = &scene.app.view().search;
    let shown = lines[first..].iter().take(height).map(|line| marked(line, search)).collect();
    Text { lines: shown, first, len: lines.len(), wrap: Wrap::Words }
}

/// Where to begin so that the last line is seen.
fn end(lines: &[String], height: usize, width: usize) -> usize {
    let mut left = height;
    let takes = |line: &String| line.chars().count() / width.saturating_sub(2).max(1) + 1;
    let fits = lines.iter().rev().take_while(|line| left.checked_sub(takes(line)).inspect(|rest| left = *rest).is_some()).count();
    lines.len() - fits.max(1).min(lines.len())
}

/// The line with what the search found underlined. Case is ignored where that does not change the length of a text.
fn marked(line: &str, search: &str) -> Line {
    let (lower, needle) = (line.to_lowercase(), search.to_lowercase());
    if search.is_empty() || lower.len() != line.len() {
        return Line::from(line.to_owned());
    }
    let mut marked = Line::new();
    let mut from = 0;
    while let Some(at) = lower[from..].find(&needle).map(|at| from + at) {
        let to = at + needle.len();
        let (Some(before), Some(found)) = (line.get(from..at), line.get(at..to)) else { break };
        marked = marked.plain(before.to_owned()).span(Span::new(crate::page::Role::Accent, found.to_owned()).found());
        from = to;
    }
    marked.plain(line[from..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_search_found_is_marked() {
        let line = marked("Error: error in İstanbul", "error");
        assert_eq!(line.text(), "Error: error in İstanbul");
        assert_eq!(marked("Error: an error", "error").spans.iter().filter(|span| span.found).count(), 2);
        assert_eq!(marked("é", "").text(), "é");
    }

    #[test]
    fn the_end_of_a_text_is_seen_however_its_lines_wrap() {
        let lines: Vec<String> = vec!["x".repeat(100), "y".into(), "z".repeat(100)];
        assert_eq!(end(&lines, 10, 52), 0);
        assert_eq!(end(&lines, 4, 52), 1);
        assert_eq!(end(&lines, 1, 52), 2);
        assert_eq!(end(&[], 5, 80), 0);
    }
}
