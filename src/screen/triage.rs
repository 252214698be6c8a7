//! Triage: what holds the cluster up, most pressing first, and why the one under the cursor does.

use super::ages::Ages;
use super::select::{Shown, shown};
use super::window::window;
use super::words::{holds_up, mark, number, object, plural, verdict};
use super::{Body, Link, Scene, coverage, frame, pods};
use crate::diagnose::{Blocker, Consequence, Evidence, Layer};
use crate::model::ObjectRef;
use crate::page::{About, Block, Column, Focus, Layout, Line, List, Opens, Pane, Part, Role, Row, Size, Span, Text, Width, chars};

/// The label of a layer with its number, the count, gaps and the mark of the cursor.
const LAYERS_WIDTH: u16 = 34;
/// Consequences shown under their blocker; its own screen has all.
const CONSEQUENCES: usize = 3;
/// Verdict and countdown.
const VERDICT_WIDTH: u16 = 14;

pub(super) fn body(scene: &Scene<'_>, ages: &Ages) -> Body {
    let shown = shown(scene);
    let list = blockers(scene, &shown, ages);
    let selected = selected(&list, &shown);
    let about = selected.map(|blocker| about(scene, blocker));
    let height = scene.size.1.saturating_sub(2);
    let kept = if scene.is_low() { 4 } else { (height * 2 / 5).clamp(10, 20) };
    let room = height.saturating_sub(list.list().map_or(0, |list| u16::try_from(list.len).unwrap_or(u16::MAX)) + 2).max(kept);
    let why = why(scene, selected, room, ages);
    let most = height.saturating_sub(kept + u16::from(scene.is_narrow()));
    let main = Layout::Rows(vec![(Size::Content { least: 4, most: most.max(4) }, Layout::Pane(list)), (Size::Rest(1), Layout::Pane(why))]);
    let layout = if scene.is_narrow() {
        Layout::Rows(vec![(Size::Cells(1), Layout::Pane(layers_line(scene, &shown))), (Size::Rest(1), main)])
    } else {
        let side = Layout::Rows(vec![
            (Size::Rest(1), Layout::Pane(layers(scene, &shown))),
            (Size::Content { least: 2, most: 8 }, Layout::Pane(coverage::not_checked(scene))),
        ]);
        Layout::Columns(vec![(Size::Cells(LAYERS_WIDTH), side), (Size::Rest(1), main)])
    };
    Body { about, ..Body::of(vec![Part::new(0, frame::place(scene))], layout) }
}

/// A row of the list: a blocker, or one that would go with it.
enum Entry<'a> {
    Blocker(&'a Blocker),
    Also(&'a Blocker, &'a Consequence),
    /// So many more consequences than are shown.
    More(&'a Blocker, usize),
}

impl Entry<'_> {
    fn id(&self) -> String {
        match self {
            Self::Blocker(blocker) => blocker.id.clone(),
            Self::Also(blocker, also) => format!("{} > {} {}", blocker.id, also.cause, also.root),
            Self::More(blocker, _) => format!("{} > more", blocker.id),
        }
    }
}

fn entries<'a>(blockers: &[&'a Blocker]) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for blocker in blockers {
        entries.push(Entry::Blocker(blocker));
        let all = &blocker.consequences;
        let few = if all.len() <= CONSEQUENCES + 1 { all.len() } else { CONSEQUENCES };
        entries.extend(all[..few].iter().map(|also| Entry::Also(blocker, also)));
        entries.extend((few < all.len()).then(|| Entry::More(blocker, all.len() - few)));
    }
    entries
}

fn blockers(scene: &Scene<'_>, shown: &Shown<'_>, ages: &Ages) -> Pane {
    let entries = entries(&shown.blockers);
    let window = window(scene.app, "blockers", entries.len(), |at| entries[at].id(), |id| scene.blocker(own(id)).is_some());
    let rows = entries[window.first..window.end].iter().map(|entry| row(scene, entry, ages)).collect();
    let widest = shown.blockers.iter().map(|blocker| chars(&much(blocker))).max().unwrap_or(0).max(8);
    let place = if labels_fit(scene) { Width::Cells(23) } else { Width::Cells(13) };
    let columns = vec![
        Column::new("verdict", Width::Cells(VERDICT_WIDTH)),
        Column::new("for", Width::Cells(4)).right(),
        Column::new("where", place).priority(1),
        Column::new("what", Width::Rest(if labels_fit(scene) { 36 } else { 24 })),
        Column::new("workloads", Width::Cells(36)).priority(2),
        Column::new("cause", Width::Cells(28)).priority(3),
        Column::new("holds up", Width::Cells(widest)).right(),
    ];
    let foot = (scene.is_loading() && !entries.is_empty()).then(|| Line::new().dim("still reading: numbers grow"));
    let empty = if entries.is_empty() { nothing(scene, shown) } else { Vec::new() };
    let list = List { columns, rows, first: window.first, len: entries.len(), selected: window.selected, foot, empty };
    let here = scene.app.view().focus != Some("layers") || scene.is_narrow();
    Pane { id: "blockers", title: Some(heading(scene)), note: None, block: Block::List(list), focus: focus(here) }
}

fn focus(here: bool) -> Focus {
    if here { Focus::Here } else { Focus::Elsewhere }
}

fn heading(scene: &Scene<'_>) -> Line {
    let filter = &scene.app.view().filter.text;
    let title = Line::from("Holding things up");
    let title = match scene.app.layer {
        Some(layer) => title.dim(" in ").accent(layer.label()),
        None => title,
    };
    if filter.is_empty() { title } else { title.dim("  /").accent(filter.clone()) }
}

fn row(scene: &Scene<'_>, entry: &Entry<'_>, ages: &Ages) -> Row {
    match entry {
        Entry::Blocker(blocker) => blocker_row(scene, blocker, ages),
        Entry::Also(blocker, also) => {
            let (role, shape) = mark(also.verdict);
            let what = Line::new().dim(also.title.to_string());
            let cells = vec![
                Line::new().dim("└ ").role(role, shape).dim(" also"),
                Line::new(),
                place(scene, also.layer, Role::Dim),
                what,
                Line::new().dim(names(&also.affected)),
                Line::new().dim(also.cause),
                Line::new().dim(holds_up(also.pods, also.affected.len())),
            ];
            Row::new(entry.id(), cells).opens(Opens::Object(also.root.to_string())).about(pods::about(scene, &also.root, blocker))
        }
        Entry::More(blocker, more) => {
            let cells = vec![Line::new().dim("└ "), Line::new(), Line::new(), Line::new().dim(format!("and {more} more"))];
            Row::new(entry.id(), cells).opens(Opens::Blocker(blocker.id.clone())).about(about(scene, blocker))
        }
    }
}

fn blocker_row(scene: &Scene<'_>, blocker: &Blocker, ages: &Ages) -> Row {
    let fresh = scene.fresh.contains(&blocker.id);
    let clearing = scene.clearing(&blocker.id).is_some();
    let role = if clearing { Role::Dim } else { Role::Plain };
    let what = if fresh { Line::new().accent("new ") } else { Line::new() };
    let cells = vec![
        verdict(scene, blocker, ages),
        Line::new().role(role, ages.age(blocker.since)),
        place(scene, blocker.layer, role),
        what.role(role, blocker.title.to_string()),
        Line::new().dim(names(&blocker.affected)),
        Line::new().dim(blocker.cause),
        Line::new().role(role, much(blocker)),
    ];
    let row = Row::new(blocker.id.clone(), cells).opens(Opens::Blocker(blocker.id.clone())).about(about(scene, blocker));
    Row { fresh, ..row }
}

/// The first few workloads; a wide screen has room for more columns, not for wider gaps.
fn names(affected: &[ObjectRef]) -> String {
    affected.iter().take(6).map(ObjectRef::place).collect::<Vec<_>>().join(" ")
}

fn much(blocker: &Blocker) -> String {
    holds_up(blocker.pods, blocker.affected.len())
}

/// `Pending · scheduling`, or only the layer's word where what is wrong would have to be cut for it.
fn place(scene: &Scene<'_>, layer: Layer, role: Role) -> Line {
    Line::new().role(role, if labels_fit(scene) { layer.label() } else { layer.id() })
}

fn labels_fit(scene: &Scene<'_>) -> bool {
    scene.size.0 >= 132
}

/// What logs, events, yaml and diff are about while this blocker is under the cursor.
pub(super) fn about(scene: &Scene<'_>, blocker: &Blocker) -> About {
    let shown = blocker.pod_names.first().or_else(|| blocker.affected.first()).unwrap_or(&blocker.root);
    let pod = blocker.evidence.iter().map(|evidence| &evidence.object).find(|object| &*object.kind == "Pod").unwrap_or(shown);
    About { declared: Some(declared(scene, blocker).to_string()), ..pods::about(scene, pod, blocker) }
}

/// Whose diff may explain a blocker: its root, or where nobody declares that one or it is missing, the first workload it holds up.
pub(super) fn declared<'a>(scene: &Scene<'_>, blocker: &'a Blocker) -> &'a ObjectRef {
    const MADE: &[&str] = &["Pod", "Node", "ReplicaSet", "Job", "PersistentVolumeClaim", "PersistentVolume", "Lease", "EndpointSlice"];
    let no = MADE.contains(&&*blocker.root.kind) || scene.find(&blocker.root).is_absent();
    blocker.affected.iter().find(|_| no).unwrap_or(&blocker.root)
}

/// The blocker under the cursor, or that of the consequence there.
fn selected<'a>(list: &Pane, shown: &Shown<'a>) -> Option<&'a Blocker> {
    let id = list.list()?.selected.as_ref()?;
    shown.blockers.iter().copied().find(|blocker| blocker.id == own(id))
}

/// The id of the blocker that a row belongs to.
fn own(id: &str) -> &str {
    id.split_once(" > ").map_or(id, |(blocker, _)| blocker)
}

/// Why, in about `room` lines.
fn why(scene: &Scene<'_>, blocker: Option<&Blocker>, room: u16, ages: &Ages) -> Pane {
    let lines =
        blocker.map(|blocker| if scene.is_low() { why_short(blocker) } else { why_long(scene, blocker, room, ages) }).unwrap_or_default();
    // Whole here, as the list may have had to cut it.
    let title = blocker.map_or_else(|| Line::from("Why"), |blocker| Line::from("Why").dim(format!("  {}", blocker.title)));
    Pane { id: "why", title: Some(title), note: None, block: Block::Text(Text::whole(lines)), focus: Focus::Never }
}

fn why_short(blocker: &Blocker) -> Vec<Line> {
    vec![Line::from(blocker.summary.to_string()), next(blocker)]
}

fn why_long(scene: &Scene<'_>, blocker: &Blocker, room: u16, ages: &Ages) -> Vec<Line> {
    let mut lines = vec![Line::from(blocker.summary.to_string()), Line::new()];
    // What is to be done must be seen without scrolling; the blocker's own screen has all evidence, whole.
    let few = if room < 18 { 1 } else { 2 };
    let most = usize::from(scene.size.0) * 2;
    for evidence in blocker.evidence.iter().take(few) {
        lines.extend(quoted(evidence, most, ages));
    }
    if !blocker.services.is_empty() {
        let names: Vec<String> = blocker.services.iter().take(5).map(ObjectRef::place).collect();
        let more = if blocker.services.len() > 5 { format!(" and {} more", blocker.services.len() - 5) } else { String::new() };
        lines.push(Line::new().dim("Services without endpoints: ").plain(format!("{}{more}", names.join(", "))));
    }
    lines.extend(unchecked(blocker));
    lines.push(Line::new());
    lines.push(Line::from("Worth waiting?  ").then(super::words::worth_waiting(blocker, ages)).hang(16));
    lines.push(next(blocker));
    if scene.app.muted.contains(&blocker.id) {
        lines.push(Line::new().dim("muted for this session"));
    }
    lines
}

fn next(blocker: &Blocker) -> Line {
    Line::new().accent("Next").plain(format!("  {}", blocker.next)).hang(6)
}

/// `Pod shop/cart-…  condition PodScheduled, 11:45:12`, and below it what was received, up to `most` characters.
fn quoted(evidence: &Evidence, most: usize, ages: &Ages) -> Vec<Line> {
    let since = evidence.at.map(|at| format!(", {}", ages.clock(at))).unwrap_or_default();
    let path = Span::new(Role::Dim, format!("  {}", path(&evidence.path)));
    let head = object(&evidence.object).span(path).dim(since);
    if evidence.message.is_empty() {
        return vec![head];
    }
    let quote = quote(evidence);
    let cut = quote.char_indices().nth(most).map(|(at, _)| format!("{}…\"", &quote[..at]));
    vec![head, Line::from(format!("  {}", cut.unwrap_or(quote))).hang(3)]
}

/// A message in quotation marks, as it came; a value as it is.
pub(super) fn quote(evidence: &Evidence) -> String {
    let is_value = !evidence.message.contains(' ') && !evidence.path.starts_with("event");
    if is_value { evidence.message.to_string() } else { format!("\"{}\"", evidence.message) }
}

/// A field's path as people call it: `condition PodScheduled` for `status.conditions[type=PodScheduled].message`.
pub(super) fn path(path: &str) -> String {
    let condition = path.strip_prefix("status.conditions[type=").and_then(|rest| rest.split_once(']'));
    condition.map_or_else(|| path.to_owned(), |(name, _)| format!("condition {name}"))
}

/// `not checked: quotas in shop (forbidden)`.
pub(super) fn unchecked(blocker: &Blocker) -> Option<Line> {
    if blocker.unchecked.is_empty() {
        return None;
    }
    let one = |entry: &crate::diagnose::Unchecked| {
        let place = if entry.namespace.is_empty() { String::new() } else { format!(" in {}", entry.namespace) };
        format!("{}{place} ({})", entry.kind, entry.why)
    };
    let all: Vec<String> = blocker.unchecked.iter().map(one).collect();
    Some(Line::new().dim("not checked: ").plain(all.join(", ")).dim(": these could stand in the way too").hang(2))
}

fn layers(scene: &Scene<'_>, shown: &Shown<'_>) -> Pane {
    let all = ("0".to_owned(), "all", None, shown.all);
    let each = shown.counts.iter().map(|(layer, count)| {
        let number = layer.number().map_or(" ".to_owned(), |number| number.to_string());
        (number, layer.label(), Some(*layer), *count)
    });
    let row = |(number, label, layer, count): (String, &'static str, Option<Layer>, usize)| {
        let role = if count == 0 { Role::Dim } else { Role::Plain };
        let count = if count == 0 { Line::new().dim("·") } else { Line::from(super::words::number(count)) };
        let is_chosen = layer.is_some() && layer == scene.app.layer;
        let line = Line::new().accent(number).plain(" ");
        let line = if is_chosen { chosen(line, is_chosen, label.to_owned()) } else { line.role(role, label) };
        let cells = vec![line, count];
        Row::new(layer.map_or("all", Layer::id), cells).opens(Opens::Layer(layer.map(|layer| layer.id().into())))
    };
    let rows: Vec<Row> = std::iter::once(all).chain(each).map(row).collect();
    let list = List {
        columns: vec![Column::new("", Width::Rest(20)), Column::new("", Width::Cells(4)).right()],
        len: rows.len(),
        rows,
        selected: Some(scene.app.layer.map_or("all", Layer::id).into()),
        ..List::default()
    };
    let here = scene.app.view().focus == Some("layers");
    Pane { id: "layers", title: Some("Layers".into()), note: None, block: Block::List(list), focus: focus(here) }
}

/// `all 6  1 admission 1  2 scheduling 2`: only layers that have something, and the chosen one.
fn layers_line(scene: &Scene<'_>, shown: &Shown<'_>) -> Pane {
    let mut line = chosen(Line::new(), scene.app.layer.is_none(), format!("all {}", shown.all));
    for (layer, count) in &shown.counts {
        let here = scene.app.layer == Some(*layer);
        if *count > 0 || here {
            let key = layer.number().map(|number| format!("{number} ")).unwrap_or_default();
            line = chosen(line.plain("  "), here, format!("{key}{} {count}", layer.id()));
        }
    }
    let text = Text { wrap: crate::page::Wrap::Sideways(0), ..Text::whole(vec![line]) };
    Pane { id: "layers", title: None, note: None, block: Block::Text(text), focus: Focus::Never }
}

fn chosen(line: Line, here: bool, text: String) -> Line {
    if here { line.accent(format!("[{text}]")) } else { line.dim(text) }
}

/// What stands where no blocker does.
fn nothing(scene: &Scene<'_>, shown: &Shown<'_>) -> Vec<Line> {
    if let Link::Failed(why) = &scene.status.link {
        return why.lines().map(|line| Line::from(line.to_owned())).collect();
    }
    let filter = &scene.app.view().filter.text;
    if shown.left_out > 0 {
        let what = if filter.is_empty() { "in these namespaces".to_owned() } else { format!("matches {filter}") };
        let others = plural(shown.left_out, "other");
        return vec![
            Line::from(format!("Nothing that is held up {what}; {others} are left out.")),
            Line::new().dim("esc clears the filter, n chooses namespaces"),
        ];
    }
    if let Some(layer) = scene.app.layer.filter(|_| shown.all > 0) {
        let others = plural(shown.all, "blocker");
        return vec![
            Line::from(format!("Nothing is held up at {}; {others} in other layers.", layer.label())),
            Line::new().dim("0 shows all layers"),
        ];
    }
    if scene.is_loading() || matches!(scene.status.link, Link::Starting | Link::Waiting(_)) {
        return vec![Line::new().dim("Reading the cluster: what is stuck appears here as it comes.")];
    }
    if scene.is_blind() {
        return vec![
            Line::from("Pods may not be read here, so nothing can be said."),
            Line::new().accent("C").plain(" shows what may be read, and what would lift it."),
        ];
    }
    let summary = &scene.report().summary;
    let mut lines = vec![Line::new().fine("Nothing is stuck").plain(format!(
        ": {} in {}.",
        plural(summary.pods, "pod"),
        plural(summary.workloads, "workload")
    ))];
    let quiet = summary.quiet + shown.muted;
    if quiet > 0 {
        lines.push(Line::from(format!("{} quiet or muted ", number(quiet))).accent("z").plain(" shows them."));
    }
    lines
}
