//! Drift: every object that says what was asked for, worst first, filled while it is read; below it what follows from the whole: what is
//! gone, what nobody declares, what could be made again.

use super::ages::Ages;
use super::diff::values;
use super::questions;
use super::window::window;
use super::words::{number, plural};
use super::{Body, Scene, frame};
use crate::app::{Drift, DriftReading as Reading, Standing};
use crate::model::Time;
use crate::page::{About, Block, Column, Cut, Focus, Layout, Line, List, Opens, Pane, Part, Row, Size, Span, Width, chars};

pub(super) fn body(scene: &Scene<'_>, ages: &Ages) -> Body {
    let drift = &*scene.app.drift;
    let focus = scene.app.view().focus.unwrap_or("drift");
    let list = objects(scene, drift, ages, if focus == "questions" { Focus::Elsewhere } else { Focus::Here });
    let answers = questions::pane(scene, drift, if focus == "questions" { Focus::Here } else { Focus::Elsewhere });
    let most = (scene.size.1 / 2).max(8);
    let layout = Layout::Rows(vec![(Size::Rest(1), Layout::Pane(list)), (Size::Content { least: 3, most }, Layout::Pane(answers))]);
    let right = vec![Part::new(0, state(drift))];
    Body { right, ..Body::of(frame::path(scene, &["drift".to_owned()]), layout) }
}

/// How far the reading is, or what came of it.
fn state(drift: &Drift) -> Line {
    let progress = &drift.progress;
    match &drift.reading {
        Reading::Never => Line::new().dim("not read yet"),
        Reading::Going => Line::new()
            .delayed("◌")
            .plain(format!(" {}, {} of {} kinds", plural(progress.objects, "object"), progress.read, progress.of))
            .dim(format!("  {}", progress.kind)),
        Reading::Done => Line::from(format!("{} of {} differ", number(drift.telling), plural(drift.said, "object"))),
        Reading::Stopped => Line::new().delayed("‖").plain(format!(" stopped after {} of {} kinds", progress.read, progress.of)),
        Reading::Failed(_) => Line::new().delayed("▲ not read"),
    }
}

fn objects(scene: &Scene<'_>, drift: &Drift, ages: &Ages, focus: Focus) -> Pane {
    let shown: Vec<&Standing> = drift.standings.iter().filter(|standing| is_shown(scene, standing)).collect();
    let narrowed = scene.app.namespaces.is_some() || !scene.app.view().filter.is_empty();
    let window = window(scene.app, "drift", shown.len(), |at| shown[at].object.clone(), |_| narrowed);
    let rows = shown[window.first..window.end].iter().map(|standing| row(scene, standing, ages)).collect();
    let list = List {
        columns: columns(scene, &shown, ages),
        rows,
        first: window.first,
        len: shown.len(),
        selected: window.selected,
        foot: foot(drift),
        empty: empty(drift, narrowed),
    };
    Pane { id: "drift", title: Some("Beside what was asked for, worst first".into()), note: None, block: Block::List(list), focus }
}

fn is_shown(scene: &Scene<'_>, standing: &Standing) -> bool {
    let mut parts = standing.object.splitn(3, '/').skip(1);
    let namespace = parts.next().unwrap_or_default();
    let filter = &scene.app.view().filter;
    let worst = standing.worst.as_ref();
    let text = || {
        let field = worst.map_or(String::new(), |field| format!("{} {} {}", field.path, field.verdict.id(), by(standing)));
        format!("{} {} {field}", standing.object, standing.source)
    };
    let is_chosen = scene.app.namespaces.as_ref().is_none_or(|chosen| namespace.is_empty() || chosen.contains(namespace));
    is_chosen && (filter.is_empty() || filter.matches_text(&text()))
}

/// As wide as what stands in them, of all rows, so that nothing jumps.
fn columns(scene: &Scene<'_>, shown: &[&Standing], ages: &Ages) -> Vec<Column> {
    let widest = |width: &dyn Fn(&Standing) -> u16| shown.iter().map(|standing| width(standing)).max().unwrap_or_default();
    let kind = widest(&|standing| chars(parts(standing).0)).clamp(11, (scene.size.0 / 8).clamp(11, 26));
    let object = widest(&|standing| chars(&parts(standing).1)).clamp(12, (scene.size.0 / 4).max(12));
    let owner = widest(&|standing| chars(&written(scene, standing, ages))).clamp(15, 32);
    let sides = widest(&|standing| standing.worst.as_ref().map_or(0, |field| values(field).chars())).clamp(20, (scene.size.0 / 4).max(20));
    vec![
        Column::new("", Width::Cells(1)),
        Column::new("kind", Width::Range { least: 11, want: kind }),
        Column::new("object", Width::Range { least: 12, want: object }),
        Column::new("differs", Width::Cells(7)).right().priority(2),
        Column::new("worst difference", Width::Rest(20)),
        Column::new("desired → live", Width::Range { least: 16, want: sides }).priority(3),
        Column::new("verdict", Width::Cells(9)).priority(4),
        Column::new("last written by", Width::Cells(owner)).priority(1),
    ]
}

/// Its kind, and `shop/cart`, or the name alone where it lies in no namespace.
fn parts(standing: &Standing) -> (&str, String) {
    let (kind, place) = standing.object.split_once('/').unwrap_or(("", &standing.object));
    (kind, place.strip_prefix('/').unwrap_or(place).to_owned())
}

fn row(scene: &Scene<'_>, standing: &Standing, ages: &Ages) -> Row {
    let (kind, place) = parts(standing);
    let (kind, object) = (Line::new().dim(kind.to_owned()), Line::new().span(Span::from(place).cut(Cut::Start)));
    let cells = match &standing.worst {
        Some(field) => {
            let loud = field.verdict.is_loud();
            let mark = match (loud, field.is_weaker()) {
                (true, true) => Line::new().delayed("!"),
                (true, false) => Line::from("!"),
                (false, _) => Line::new().dim("·"),
            };
            let path = field.path.to_string();
            let path = path.strip_prefix("spec.template.").unwrap_or(&path).to_owned();
            let path = Line::new().span(Span::from(if path.is_empty() { "the whole object".to_owned() } else { path }).cut(Cut::Start));
            let verdict = if loud { Line::new().delayed(field.verdict.id()) } else { Line::new().dim(field.verdict.id()) };
            vec![
                mark,
                kind,
                object,
                number(standing.telling).into(),
                path,
                values(field),
                verdict,
                Line::new().dim(written(scene, standing, ages)),
            ]
        }
        None => {
            let (mark, says) = match &standing.unchecked {
                Some(_) => (Line::new().delayed("▲"), Line::new().delayed("not known")),
                None => (Line::new().dim("·"), Line::new().dim("as asked for")),
            };
            vec![mark, kind, object, Line::new().dim("–"), says, Line::new().dim(standing.source.clone()), Line::new(), Line::new()]
        }
    };
    let below = standing.unchecked.iter().map(|why| Line::from("  ").dim(why.clone()).hang(2)).collect();
    let about = About { object: standing.object.clone(), ..About::default() };
    Row::new(standing.object.clone(), cells).below(below).opens(Opens::Diff(standing.object.clone())).about(about)
}

fn by(standing: &Standing) -> &str {
    standing.worst.as_ref().and_then(|field| field.owner.as_ref()).map_or("", |owner| &owner.manager)
}

/// So wide may be who wrote it, and when, so that the other columns stay.
fn most(scene: &Scene<'_>) -> u16 {
    match scene.size.0 {
        0..100 => 20,
        100..160 => 25,
        160.. => 32,
    }
}

/// `kubectl-set, 11:41`; where there is no room for it the day alone, or nothing but the name.
fn written(scene: &Scene<'_>, standing: &Standing, ages: &Ages) -> String {
    let Some(owner) = standing.worst.as_ref().and_then(|field| field.owner.as_ref()) else { return String::new() };
    let Some(at) = Time::parse(&owner.time) else { return owner.manager.clone() };
    let minute = ages.minute(at);
    let day = minute.split_once(' ').map(|(day, _)| day.to_owned());
    let tries = [Some(minute), day].into_iter().flatten().map(|time| format!("{}, {time}", owner.manager));
    tries.into_iter().find(|text| chars(text) <= most(scene)).unwrap_or_else(|| owner.manager.clone())
}

fn foot(drift: &Drift) -> Option<Line> {
    if drift.is_going() {
        return Some(Line::new().delayed("◌").dim(" still reading: rows come, worse ones above   ").accent("esc").dim(" stops"));
    }
    let more = (drift.left_out > 0).then(|| format!("{} that differ less are left out; ", plural(drift.left_out, "object")));
    let again = Line::new().dim(more.unwrap_or_default()).accent("r").dim(" reads it again");
    let sealed = again.clone().dim("   ").accent("H").dim(" opens Helm's records (Secrets) as well");
    (!drift.standings.is_empty()).then_some(if drift.is_sealed { sealed } else { again })
}

fn empty(drift: &Drift, narrowed: bool) -> Vec<Line> {
    match &drift.reading {
        Reading::Failed(why) => vec![Line::new().delayed("▲ ").plain(why.clone()), Line::new().dim("r asks again")],
        Reading::Never | Reading::Going => {
            vec![Line::new().dim("Objects that say what was asked for appear here as they are read, worst first.")]
        }
        Reading::Done | Reading::Stopped if narrowed => vec!["No object that was read matches.".into()],
        Reading::Stopped => vec!["Nothing that was read before you stopped it says what was asked for.".into()],
        Reading::Done => vec![
            "No object says what was asked for: no annotation, no release that may be read, nothing applied on the server.".into(),
            Line::new().dim("holdup diff -f FOLDER compares with manifests."),
        ],
    }
}
