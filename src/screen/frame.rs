//! What all screens have in common: header, footer, what is typed, what lies over them.

use super::ages::Ages;
use super::words::{number, plural};
use super::{Body, Link, MakeBody, Scene, help, namespaces, palette};
use crate::app::{Ask, Over, hints};
use crate::diagnose::Verdict;
use crate::model::{CoverageState, Kind};
use crate::page::{Footer, Line, Overlay, Page, Part, Prompt};

/// The page of one screen.
pub(super) fn around(scene: &Scene<'_>, make: MakeBody) -> Page {
    let ages = Ages::new(scene.now, scene.status.utc_offset);
    let mut body = make(scene, &ages);
    if body.right.is_empty() {
        body.right = vec![Part::new(link_priority(scene), link(scene, &ages)), Part::new(0, counts(scene)), Part::new(3, pods(scene))];
    } else {
        body.right.insert(0, Part::new(4, link(scene, &ages)));
    }
    let (header, layout, about) = body.header(Part::new(2, Line::new().accent("holdup")));
    let page = Page { title: title(scene), header, body: layout, about, ..Page::default() };
    let page = Page { overlay: overlay(scene, &page), changes_in: ages.changes_in(), ..page };
    Page { footer: footer(scene, &page), ..page }
}

/// That the picture is not the present one must be seen on the narrowest screen.
fn link_priority(scene: &Scene<'_>) -> u8 {
    let present = matches!(scene.status.link, Link::Live { .. } | Link::File { .. } | Link::Starting | Link::Waiting(_));
    if scene.status.paused.is_none() && present { 2 } else { 0 }
}

/// What the terminal's window is called.
fn title(scene: &Scene<'_>) -> String {
    let summary = &scene.report().summary;
    match (summary.blocked, summary.delayed) {
        (0, 0) => "holdup".to_owned(),
        (0, delayed) => format!("holdup: {delayed} delayed"),
        (blocked, _) => format!("holdup: {blocked} blocked"),
    }
}

fn counts(scene: &Scene<'_>) -> Line {
    let visible = |verdict: Verdict| {
        let blockers = scene.report().blockers.iter().filter(|blocker| blocker.verdict == verdict);
        blockers.filter(|blocker| !scene.app.muted.contains(&blocker.id)).count()
    };
    match (visible(Verdict::Blocked), visible(Verdict::Delayed)) {
        (0, 0) if matches!(scene.status.link, Link::Failed(_)) => Line::new(),
        (0, 0) if scene.is_loading() || scene.cluster.count(Kind::Pod) == 0 => Line::new().dim("nothing stuck so far"),
        (0, 0) => Line::new().fine("nothing stuck"),
        (0, delayed) => Line::new().delayed(format!("{} delayed", number(delayed))),
        (blocked, 0) => Line::new().blocked(format!("{} blocked", number(blocked))),
        (blocked, delayed) => {
            Line::new().blocked(format!("{} blocked", number(blocked))).plain("   ").delayed(format!("{} delayed", number(delayed)))
        }
    }
}

fn pods(scene: &Scene<'_>) -> Line {
    let stuck = scene.report().summary.stuck_pods;
    Line::new().dim(format!("{} of {}", number(stuck), plural(scene.report().summary.pods, "pod")))
}

/// How good the picture is.
fn link(scene: &Scene<'_>, ages: &Ages) -> Line {
    if let Some((since, behind)) = scene.status.paused {
        let behind = if behind == 0 { "nothing missed".to_owned() } else { format!("{} behind", plural(behind, "change")) };
        return Line::new().accent(format!("‖ paused at {}", ages.clock(since))).dim(format!(", {behind}"));
    }
    match &scene.status.link {
        Link::Starting => Line::new().dim("◌ connecting"),
        Link::Waiting(what) => Line::new().delayed(format!("◌ waiting for {what}")),
        Link::Live { .. } | Link::File { .. } if scene.is_loading() => loading(scene),
        Link::Live { changed: None } => Line::new().fine("●").dim(" live"),
        Link::Live { changed: Some(at) } => Line::new().fine("●").dim(format!(" live, changed {}", ages.clock(*at))),
        Link::Stale { since } => {
            Line::new().delayed(format!("▲ no answer for {}", ages.age(Some(*since)))).dim(format!(", showing {}", ages.clock(*since)))
        }
        Link::File { as_of, ago } => Line::new().dim(as_of_text(*as_of, *ago)),
        Link::Failed(_) => Line::new().delayed("▲ no cluster"),
    }
}

/// `as of 2026-05-04 10:12:00 UTC, 3 h ago`.
fn as_of_text(as_of: crate::model::Time, ago: Option<i64>) -> String {
    let stamp = as_of.rfc3339();
    let ago = match ago {
        Some(seconds @ 60..3600) => format!(", {} min ago", seconds / 60),
        Some(seconds @ 3600..172_800) => format!(", {} h ago", seconds / 3600),
        Some(seconds @ 172_800..) => format!(", {} days ago", seconds / 86_400),
        Some(_) | None => String::new(),
    };
    format!("as of {} {} UTC{ago}", &stamp[..10], &stamp[11..19])
}

/// `◌ loading pods 61,500 of 150,000   events 40 %   nodes done`: the kinds that matter first.
fn loading(scene: &Scene<'_>) -> Line {
    let part = |kind: Kind| {
        let count = scene.cluster.count(kind);
        let (name, loading) = (kind.row().plural, scene.cluster.coverage().of(kind).any(|(_, state)| *state == CoverageState::Loading));
        match (loading, scene.status.remaining.get(&kind)) {
            (false, _) => format!("{name} done"),
            (true, Some(rest)) => format!("{name} {} of {}", number(count), number(count + rest)),
            (true, None) => format!("{name} {}", number(count)),
        }
    };
    let known = |kind: &Kind| scene.cluster.coverage().of(*kind).next().is_some();
    let parts: Vec<String> = [Kind::Pod, Kind::Event, Kind::Node].into_iter().filter(known).map(part).collect();
    Line::new().delayed("◌").dim(format!(" loading {}", parts.join("   ")))
}

fn footer(scene: &Scene<'_>, page: &Page) -> Footer {
    if let Some(typing) = &scene.app.typing {
        let (label, note) = match typing.ask {
            Ask::Filter => ("/", not_understood(&scene.app.view().filter.ignored)),
            Ask::Search => ("/", Line::new().dim("⏎ finds, n and N go on")),
            Ask::Snapshot => ("snapshot to ", Line::new().dim("⏎ writes it, esc does not")),
            Ask::Rules => ("rule to ", Line::new().dim("a file for --accept; ⏎ asks why, esc accepts nothing")),
            Ask::DryRun => (
                "dry run on the server, yes? ",
                Line::new().dim("y ⏎ sends it: stores nothing, calls webhooks; PATCH and POST with dryRun=All; esc sends nothing"),
            ),
            Ask::Reason => ("accepted because ", Line::new().dim("⏎ writes the rule, esc does not")),
        };
        return Footer::Prompt(Prompt { label: label.into(), text: typing.input.text.clone(), cursor: typing.input.cursor, note });
    }
    match &scene.app.notice {
        Some(notice) => Footer::Notice(notice.clone()),
        None => Footer::Hints(hints(scene.app, page)),
    }
}

fn not_understood(ignored: &[String]) -> Line {
    if ignored.is_empty() {
        return Line::new();
    }
    Line::new().delayed(format!("left out: {}", ignored.join(", ")))
}

fn overlay(scene: &Scene<'_>, page: &Page) -> Option<Overlay> {
    let over = scene.app.over.as_ref()?;
    let (pane, label) = match &over.over {
        Over::Help => (help::pane(scene, page), ""),
        Over::Palette(input) => (palette::pane(scene, &input.text), ":"),
        Over::Namespaces { input, chosen } => (namespaces::pane(scene, &input.text, chosen), "/"),
    };
    let prompt = over.over.input().map(|input| {
        let hint = match (&over.over, input.text.is_empty()) {
            (Over::Palette(_), true) => "a screen, a command, a namespace, a cause, or a kind and a name: pod cart",
            (Over::Namespaces { .. }, true) => "type to narrow, tab ticks several, ⏎ takes",
            _ => "",
        };
        Prompt { label: label.into(), text: input.text.clone(), cursor: input.cursor, note: Line::new().dim(hint) }
    });
    Some(Overlay { prompt, pane })
}

/// `prod-eu · all namespaces`.
pub(super) fn place(scene: &Scene<'_>) -> Line {
    let scope = match &scene.app.namespaces {
        None => scene.status.scope.clone().unwrap_or_else(|| "all namespaces".to_owned()),
        Some(chosen) if chosen.len() <= 3 => chosen.iter().cloned().collect::<Vec<_>>().join(", "),
        Some(chosen) => format!("{} namespaces", chosen.len()),
    };
    Line::from(scene.status.context.clone()).dim(format!(" · {scope}"))
}

/// `prod-eu › title`.
pub(super) fn path(scene: &Scene<'_>, parts: &[String]) -> Vec<Part> {
    let (last, before) = parts.split_last().map_or((String::new(), &[][..]), |(last, before)| (last.clone(), before));
    let mut line = Line::new().dim(format!("{} › ", scene.status.context));
    for part in before {
        line = line.dim(format!("{part} › "));
    }
    vec![Part::new(0, line.plain(last))]
}

impl Body {
    pub(super) fn of(path: Vec<Part>, layout: crate::page::Layout) -> Self {
        Self { path, layout, ..Self::default() }
    }
}
