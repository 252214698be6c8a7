//! The diff of an object: what one source asked for beside what is, worst first, each difference with why it is there, who owns it and
//! whether it matters; and where no source says anything, who owns what.

use std::collections::BTreeMap;

use super::ages::Ages;
use super::window::window;
use super::words::plural;
use super::{Link, Scene};
use crate::app::{Document, State};
use crate::desired::{Against, Comparison, FieldDiff, Owned, Owner, Verdict, lines, written};
use crate::model::{Kind, ObjectRef, Time};
use crate::page::{Block, Column, Cut, Focus, Layout, Line, List, Opens, Pane, Row, Size, Span, Text, Width, chars};

pub(super) fn layout(scene: &Scene<'_>, object: &ObjectRef, ages: &Ages) -> Layout {
    match scene.app.documents.get(&object.to_string(), Document::Diff).map(|fetched| (&fetched.state, fetched.comparison())) {
        Some((State::Here(_), Some(comparison))) => compared(scene, object, comparison, ages),
        Some((State::Failed(why), _)) => say(vec![Line::new().delayed("▲ ").plain(why.clone()), Line::new().dim("r asks again")]),
        Some((State::Here(_) | State::Waiting, _)) | None => {
            say(vec![Line::new().dim("asking for the object and for what was asked for …")])
        }
    }
}

/// ` 2!` behind the title of the tab, once it is known.
pub(super) fn much(scene: &Scene<'_>, object: &ObjectRef) -> String {
    let comparison = scene.app.documents.get(&object.to_string(), Document::Diff).and_then(|fetched| fetched.comparison());
    let against = comparison.and_then(|comparison| comparison.against.first());
    match against.map_or(0, loud) {
        0 => String::new(),
        n => format!(" {n}!"),
    }
}

fn loud(against: &Against) -> usize {
    against.diff.fields.iter().filter(|field| field.verdict.is_loud()).count()
}

fn say(lines: Vec<Line>) -> Layout {
    let block = Block::Text(Text::whole(lines));
    Layout::Pane(Pane { id: "diff", title: Some("Desired and live".into()), note: None, block, focus: Focus::Here })
}

fn compared(scene: &Scene<'_>, object: &ObjectRef, comparison: &Comparison, ages: &Ages) -> Layout {
    let count = comparison.against.len();
    let at = scene.app.view().reading.source.checked_rem(count);
    let against = at.map(|at| &comparison.against[at]);
    let head = Pane {
        id: "sources",
        title: Some("Desired and live".into()),
        note: at.filter(|_| count > 1).map(|at| Line::new().dim(format!("source {} of {count}", at + 1))),
        block: Block::Text(Text::whole(head(comparison, at, followed(scene, object), ages))),
        focus: Focus::Never,
    };
    if scene.app.view().reading.side_by_side && count > 1 {
        let body = super::sources::pane(scene, comparison, ages);
        return Layout::Rows(vec![(Size::Content { least: 2, most: 9 }, Layout::Pane(head)), (Size::Rest(1), Layout::Pane(body))]);
    }
    let body = against.map_or_else(|| ownership(scene, &comparison.owners, ages), |against| differences(scene, against, ages));
    Layout::Rows(vec![(Size::Content { least: 2, most: 9 }, Layout::Pane(head)), (Size::Rest(1), Layout::Pane(body))])
}

/// Whether a diff changes by itself when its object is written.
#[derive(Clone, Copy)]
enum Followed {
    Yes,
    No,
}

/// What a feed brings is fetched anew; a file does not change.
fn followed(scene: &Scene<'_>, object: &ObjectRef) -> Followed {
    let is_file = matches!(scene.status.link, Link::File { .. });
    let is_here = || scene.cluster.object(Kind::named(&object.kind), &object.namespace, &object.name).is().is_some();
    if is_file || is_here() { Followed::Yes } else { Followed::No }
}

/// Where the two sides come from, what the source does not know, and what the others say.
fn head(comparison: &Comparison, at: Option<usize>, followed: Followed, ages: &Ages) -> Vec<Line> {
    let mut lines = Vec::new();
    match at.map(|at| &comparison.against[at]) {
        Some(against) => {
            lines.push(Line::new().dim("desired  ").plain(against.title.clone()).dim(ago(&against.at, ages)).hang(9));
            lines.push(Line::new().dim(format!("         it cannot show {}", against.cannot)).hang(9));
        }
        None => lines.push(
            Line::new()
                .dim("desired  ")
                .plain("Nothing says what was asked for: no annotation, release or revision. Who owns what:")
                .hang(9),
        ),
    }
    let generation = comparison.generation.map_or(String::new(), |generation| format!(", generation {generation}"));
    let live = Line::new().dim("live     ");
    lines.push(match followed {
        Followed::Yes => live.plain(format!("as the API server holds it now{generation}")),
        Followed::No => live.plain(format!("as it was when asked for{generation}")).dim("  not followed: r asks again").hang(9),
    });
    let others = comparison.against.iter().enumerate().filter(|(nth, _)| Some(*nth) != at).map(|(_, other)| other);
    let others: Vec<String> = others.map(|other| format!("{}: {}", other.title, verdict_of(other))).collect();
    if !others.is_empty() {
        lines.push(Line::new().dim("others   ").plain(others.join(" · ")).dim("  x next, X all").hang(9));
    }
    lines.extend(comparison.release.iter().map(|note| Line::new().dim("helm     ").plain(note.clone()).hang(9)));
    let told = comparison.told.iter().flat_map(|told| told.lines()).chain(comparison.notes.iter().cloned());
    lines.extend(told.map(|line| Line::new().dim("gitops   ").plain(line).hang(9)));
    let probed = comparison.probed.iter().flat_map(|probed| probed.lines());
    lines.extend(probed.map(|line| Line::new().dim("dry run  ").plain(line).hang(9)));
    lines.extend(comparison.unchecked.iter().map(|unchecked| Line::new().delayed("▲ ").plain(unchecked.to_string()).hang(2)));
    lines
}

fn verdict_of(against: &Against) -> String {
    match loud(against) {
        0 => "no drift".to_owned(),
        n => plural(n, "difference"),
    }
}

/// `, 41m ago`.
fn ago(time: &str, ages: &Ages) -> String {
    Time::parse(time).map_or(String::new(), |at| format!(", {} ago", ages.age(Some(at))))
}

fn differences(scene: &Scene<'_>, against: &Against, ages: &Ages) -> Pane {
    let fields: Vec<&FieldDiff> = against.diff.fields.iter().filter(|field| is_shown(scene, field, against)).collect();
    let id = |at: usize| fields[at].path.to_string();
    let filtered = |_: &str| !scene.app.view().filter.is_empty() || !scene.app.view().reading.explained;
    let window = window(scene.app, "diff", fields.len(), id, filtered);
    let rows = (window.first..window.end).map(|at| difference(scene, fields[at], ages)).collect();
    let list = List {
        columns: columns(scene, &fields, ages),
        rows,
        first: window.first,
        len: fields.len(),
        selected: window.selected,
        foot: folded(scene, against),
        empty: vec![Line::new().fine("No drift").plain(": live is what this source asked for, or the difference is explained.")],
    };
    let is_still = is_quiet(against) && !fields.is_empty();
    let note = is_still.then(|| Line::new().fine("No drift").dim(": all of it is explained"));
    Pane { id: "diff", title: Some("Differences, worst first".into()), note, block: Block::List(list), focus: Focus::Here }
}

/// Whether nobody made a difference that is not explained.
fn is_quiet(against: &Against) -> bool {
    against.diff.fields.iter().all(|field| field.verdict.is_quiet())
}

/// As wide as what stands in them, of all rows, so that nothing jumps; the path, which tells most at its end, takes the rest.
fn columns(scene: &Scene<'_>, fields: &[&FieldDiff], ages: &Ages) -> Vec<Column> {
    let widest = |width: &dyn Fn(&FieldDiff) -> u16| fields.iter().map(|field| width(field)).max().unwrap_or_default();
    let sides = widest(&|field| values(field).chars()).clamp(20, (scene.size.0 * 2 / 7).max(20));
    let verdict = widest(&|field| chars(field.verdict.id())).max(7);
    let owner = widest(&|field| field.owner.as_ref().map_or(0, |owner| chars(&by(owner, ages)))).clamp(15, 32);
    vec![
        Column::new("", Width::Cells(1)),
        Column::new("where", Width::Rest(30)),
        Column::new("desired → live", Width::Range { least: 20, want: sides }),
        Column::new("verdict", Width::Cells(verdict)),
        Column::new("last written by", Width::Range { least: 15, want: owner }).priority(1),
    ]
}

/// What is explained is folded away, but not where it weakens the object or a controller decides, nor what admission did where that is all.
fn is_shown(scene: &Scene<'_>, field: &FieldDiff, against: &Against) -> bool {
    let view = scene.app.view();
    let is_all = field.verdict == Verdict::Admission && is_quiet(against);
    let tells = is_all || !field.verdict.is_quiet() || field.verdict == Verdict::Controller || field.is_weaker();
    let risk = field.risk.as_ref().map_or("", |risk| &risk.text);
    let owner = field.owner.as_ref().map_or("", |owner| &owner.manager);
    let text = || format!("{} {} {owner} {risk} {}", field.path, field.verdict.id(), field.reason);
    (tells || view.reading.explained) && (view.filter.is_empty() || view.filter.matches_text(&text()))
}

fn folded(scene: &Scene<'_>, against: &Against) -> Option<Line> {
    if scene.app.view().reading.explained {
        return Some(Line::new().dim("z hides what is explained"));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let hidden = against.diff.fields.iter().filter(|field| field.verdict.is_quiet() && !is_shown(scene, field, against));
    hidden.for_each(|field| *counts.entry(field.verdict.id()).or_default() += 1);
    let counts: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
    (!counts.is_empty()).then(|| Line::new().dim(format!("· explained: {}   z shows them", counts.join(", "))))
}

fn difference(scene: &Scene<'_>, field: &FieldDiff, ages: &Ages) -> Row {
    let path = field.path.to_string();
    let loud = field.verdict.is_loud();
    let mark = match (loud, field.risk.is_some()) {
        (true, true) => Line::new().delayed("!"),
        (true, false) => Line::from("!"),
        (false, _) => Line::new().dim("·"),
    };
    let verdict = if loud { Line::new().delayed(field.verdict.id()) } else { Line::new().dim(field.verdict.id()) };
    let cells = vec![
        mark,
        Line::new().span(Span::from(if path.is_empty() { "the whole object".to_owned() } else { path.clone() }).cut(Cut::Start)),
        values(field),
        verdict,
        Line::new().dim(field.owner.as_ref().map_or(String::new(), |owner| by(owner, ages))),
    ];
    let unfolded = scene.app.view().reading.unfolded.contains(&path);
    let again = field.told.again.as_ref().map(|relapse| Line::from("  ").delayed(relapse.words()).hang(2));
    let below = if unfolded { whole(field, ages) } else { vec![why(field)] };
    let below = below.into_iter().chain(again).collect();
    Row::new(path.clone(), cells).below(below).opens(Opens::Unfold(path))
}

/// `cart:1.8.2 → cart:1.8.3-hotfix`: of an image the tag stays.
pub(super) fn values(field: &FieldDiff) -> Line {
    let cut = if field.path.last() == "image" { Cut::Image } else { Cut::End };
    let side = |value: Option<&_>| {
        let lines = written(value);
        match lines.as_slice() {
            [] => Span::from("absent"),
            [line] => Span::from(line.clone()).cut(cut),
            lines => Span::from(plural(lines.len(), "line")),
        }
    };
    Line::new().span(side(field.desired.as_ref())).dim(" → ").span(side(field.live.as_ref()))
}

/// `kubectl-set, 11:41`.
pub(super) fn by(owner: &Owner, ages: &Ages) -> String {
    let time = Time::parse(&owner.time).map_or(String::new(), |at| format!(", {}", ages.minute(at)));
    format!("{}{time}", owner.manager)
}

/// What it means and what decided it, below its row.
fn why(field: &FieldDiff) -> Line {
    let line = Line::from("  ");
    let line = match &field.risk {
        Some(risk) => line.plain(risk.text.clone()).dim(" · "),
        None => line,
    };
    line.dim(field.reason.clone()).hang(2)
}

/// So many lines of the sides are read below a row; a file in a config map may have thousands.
const SIDES: usize = 60;

/// Both sides; of long ones what changed, with what stands around it.
fn beside(field: &FieldDiff) -> Vec<Line> {
    let said = |sign: &str, text: String| Line::new().dim(format!("  {sign} ")).plain(text).hang(4);
    let line = |line| match line {
        lines::Line::Desired(text) => said("-", text),
        lines::Line::Live(text) => said("+", text),
        lines::Line::Both(text) => Line::new().dim(format!("    {text}")).hang(4),
        lines::Line::Alike(count) => Line::new().dim(format!("  … {}", lines::alike(count))),
    };
    let absent = |sign, side: &Option<_>| side.is_none().then(|| said(sign, "absent".to_owned()));
    let all = lines::beside(field.desired.as_ref(), field.live.as_ref());
    let more = all.len().saturating_sub(SIDES);
    let more = (more > 0).then(|| Line::new().dim(format!("  and {more} more; y shows the whole object")));
    let shown = all.into_iter().take(SIDES).map(line);
    absent("-", &field.desired).into_iter().chain(shown).chain(more).chain(absent("+", &field.live)).collect()
}

/// Everything that is known of a difference.
fn whole(field: &FieldDiff, ages: &Ages) -> Vec<Line> {
    let mut lines = beside(field);
    lines.push(why(field));
    lines.push(match &field.owner {
        Some(owner) => Line::new().dim("  ").then(wrote(owner, ages)).hang(2),
        None => Line::new().dim("  No manager owns it."),
    });
    if let Some(risk) = &field.risk {
        let controls = risk.class.controls();
        lines.extend((!controls.is_empty()).then(|| Line::new().dim(format!("  asked about by {}", controls.join(", "))).hang(2)));
    }
    lines
}

/// `kubectl-set (person, Update) wrote last at 11:41:03, 22m ago: the field then or before`.
fn wrote(owner: &Owner, ages: &Ages) -> Line {
    let part = if owner.subresource.is_empty() { String::new() } else { format!(", {}", owner.subresource) };
    let line = Line::from(owner.manager.clone()).dim(format!(" ({}, {}{part})", owner.class.id(), owner.operation.id()));
    match Time::parse(&owner.time) {
        Some(at) => line.dim(format!(" last wrote at {}, {} ago: this field then or before", ages.clock(at), ages.age(Some(at)))),
        None => line.dim(" does not say when it wrote"),
    }
}

/// Who owns what, where nothing says what was asked for.
fn ownership(scene: &Scene<'_>, owners: &[Owned], ages: &Ages) -> Pane {
    let id = |at: usize| format!("{at} {}", owners[at].owner.manager);
    let window = window(scene.app, "diff", owners.len(), id, |_| false);
    let rows = (window.first..window.end).map(|at| owned(scene, id(at), &owners[at], ages)).collect();
    let columns = vec![
        Column::new("manager", Width::Rest(16)),
        Column::new("who", Width::Range { least: 7, want: 12 }),
        Column::new("operation", Width::Range { least: 9, want: 16 }),
        Column::new("wrote", Width::Cells(6)).right(),
        Column::new("owns", Width::Cells(10)).right(),
    ];
    let empty = vec![Line::new().dim("The object has no managedFields either: nothing says who wrote it.")];
    let list = List { columns, rows, first: window.first, len: owners.len(), selected: window.selected, foot: None, empty };
    Pane { id: "diff", title: Some("Managers, as they name themselves".into()), note: None, block: Block::List(list), focus: Focus::Here }
}

fn owned(scene: &Scene<'_>, id: String, owned: &Owned, ages: &Ages) -> Row {
    let owner = &owned.owner;
    let part = if owner.subresource.is_empty() { String::new() } else { format!(" {}", owner.subresource) };
    let cells = vec![
        owner.manager.clone().into(),
        Line::new().dim(owner.class.id()),
        Line::new().dim(format!("{}{part}", owner.operation.id())),
        ages.age(Time::parse(&owner.time)).into(),
        plural(owned.count, "field").into(),
    ];
    let more = owned.count - owned.paths.len();
    let more = (more > 0).then(|| Line::new().dim(format!("  and {more} more")));
    let paths = owned.paths.iter().map(|path| Line::new().dim(format!("  {path}")).hang(4));
    let below = if scene.app.view().reading.unfolded.contains(&id) { paths.chain(more).collect() } else { Vec::new() };
    Row::new(id.clone(), cells).below(below).opens(Opens::Unfold(id))
}
