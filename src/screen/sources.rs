//! All sources of desired state side by side: the places at which they disagree with each other, and what each of them says there.

use super::Scene;
use super::ages::Ages;
use super::diff::by;
use super::window::window;
use crate::app::View;
use crate::desired::{Against, Comparison, Disagreement, Saying, written};
use crate::page::{Block, Column, Cut, Focus, Line, List, Opens, Pane, Row, Span, Width};

/// More columns than this nobody reads; the others are seen unfolded.
const COLUMNS: usize = 3;

pub(super) fn pane(scene: &Scene<'_>, comparison: &Comparison, ages: &Ages) -> Pane {
    let Comparison { against, disagreements, .. } = comparison;
    let rows: Vec<&Disagreement> = disagreements.iter().filter(|row| is_shown(scene.app.view(), row)).collect();
    let id = |at: usize| rows[at].path.to_string();
    let filtered = |_: &str| !scene.app.view().filter.is_empty();
    let window = window(scene.app, "diff", rows.len(), id, filtered);
    let shown = (window.first..window.end).map(|at| row(scene, rows[at], against, ages)).collect();
    let mut columns = vec![Column::new("where", Width::Rest(20)), Column::new("live", Width::Range { least: 8, want: 24 })];
    columns.extend(against.iter().take(COLUMNS).map(|against| Column::new(name(against), Width::Range { least: 12, want: 24 })));
    let list = List {
        columns,
        rows: shown,
        first: window.first,
        len: rows.len(),
        selected: window.selected,
        foot: Some(Line::new().dim("X back to one source")),
        empty: vec![Line::new().fine("The sources agree").plain(" with each other wherever they say anything.")],
    };
    let title = Some("Where the sources disagree, most trusted first".into());
    Pane { id: "diff", title, note: None, block: Block::List(list), focus: Focus::Here }
}

fn is_shown(view: &View, row: &Disagreement) -> bool {
    view.filter.is_empty() || view.filter.matches_text(&row.path.to_string())
}

/// What stands over a column: the kind of source.
fn name(against: &Against) -> &'static str {
    match against.source {
        "managed-fields" => "applied by server",
        "revision" => "earlier revision",
        other => other,
    }
}

fn row(scene: &Scene<'_>, row: &Disagreement, against: &[Against], ages: &Ages) -> Row {
    let path = row.path.to_string();
    let mut cells = vec![Line::new().span(Span::from(path.clone()).cut(Cut::Start)), short(row, &written(row.live.as_ref()))];
    cells.extend(row.says.iter().take(COLUMNS).map(|says| said(row, says)));
    let is_unfolded = scene.app.view().reading.unfolded.contains(&path);
    let below = if is_unfolded { whole(row, against, ages) } else { Vec::new() };
    Row::new(path.clone(), cells).below(below).opens(Opens::Unfold(path))
}

fn said(row: &Disagreement, says: &Saying) -> Line {
    match says {
        Saying::Nothing => Line::new().dim("cannot say"),
        Saying::Value(value) => short(row, &written(value.as_ref())),
    }
}

/// Of an image the tag stays.
fn short(row: &Disagreement, lines: &[String]) -> Line {
    let cut = if row.path.last() == "image" { Cut::Image } else { Cut::End };
    match lines {
        [] => Line::new().dim("absent"),
        [line] => Line::new().span(Span::from(line.clone()).cut(cut)),
        lines => Line::from(super::words::plural(lines.len(), "line")),
    }
}

/// Lines of a value that are unfolded.
const LINES: usize = 12;

fn whole(row: &Disagreement, against: &[Against], ages: &Ages) -> Vec<Line> {
    let owner = row.owner.as_ref().map_or(String::new(), |owner| format!(", owned by {}", by(owner, ages)));
    let mut lines = vec![Line::new().dim(format!("  live{owner}"))];
    lines.extend(value(written(row.live.as_ref())));
    for (against, says) in against.iter().zip(&row.says) {
        lines.push(Line::new().dim(format!("  {}", against.title)).hang(4));
        match says {
            Saying::Nothing => lines.push(Line::from("    cannot say").hang(6)),
            Saying::Value(said) => lines.extend(value(written(said.as_ref()))),
        }
    }
    lines
}

fn value(lines: Vec<String>) -> Vec<Line> {
    let more = lines.len().saturating_sub(LINES);
    let shown = lines.into_iter().take(LINES).map(|line| Line::from(format!("    {line}")).hang(6));
    let more = (more > 0).then(|| Line::new().dim(format!("    and {more} more; y shows the whole object")));
    let mut lines: Vec<Line> = shown.chain(more).collect();
    if lines.is_empty() {
        lines.push(Line::from("    absent"));
    }
    lines
}
