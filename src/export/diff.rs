//! Desired versus live as text, JSON and YAML.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::clean::{self, clean};
use super::sources::{self, Table};
use super::survey;
use super::text::Paint;
use super::told::{self, Accepted, Behind, Relapsed};
use super::wire::{API_VERSION, escape};
use crate::desired::Probed;
use crate::desired::gitops::Told;
use crate::desired::lines;
use crate::desired::{self, ANY_DRIFT, Against, Comparison, Diff, FieldDiff, Governance, Unchecked, Verdict};
use crate::model::Time;

pub use super::told::{Reach, Remarks};

/// An object with its differences and where the desired side comes from.
#[derive(Default)]
pub struct Compared {
    pub diff: Diff,
    /// `None`: nothing says what was asked for.
    pub source: Option<Said>,
    /// Titles of the less trusted sources.
    pub others: Vec<String>,
    /// All of them side by side, where that was asked for.
    pub table: Option<Table>,
    /// How server-side dry runs went, where they were asked for.
    pub probed: Option<Probed>,
    /// What the tools say that apply the object from a repository.
    pub told: Vec<Told>,
    /// Upgrades that have not ended; rules of those tools that hold for nothing, are not evaluated or were never declared.
    pub notes: Vec<String>,
    /// Who owns fields, and how many, where nothing says what was asked for.
    pub owners: Vec<(desired::Owner, usize)>,
    /// Why the object could not be read; then there is nothing else.
    pub unread: Option<String>,
    /// What could not be read that might explain differences.
    pub unchecked: Vec<Unchecked>,
    /// Explained differences that were counted and not kept.
    pub folded: BTreeMap<&'static str, usize>,
}

/// A source of desired state in words.
pub struct Said {
    /// Id of the kind of source.
    pub id: &'static str,
    pub title: String,
    /// When it was asked for, where that is known; else "".
    pub at: String,
    pub cannot: &'static str,
}

/// Objects that were compared.
pub enum Compilation {
    /// One or several that were named.
    Named(Vec<Compared>),
    /// Everything in reach.
    Everything(Box<Surveyed>),
}

/// Everything that says what was asked for, and what follows from the whole.
pub struct Surveyed {
    /// Worst first.
    pub all: Vec<Compared>,
    pub governance: Governance,
    /// What could not be read.
    pub unread: Vec<Unchecked>,
    /// The time of the cluster.
    pub now: Time,
    /// Where it was stopped: what follows from the whole is not known then.
    pub stopped: Option<String>,
}

impl Compilation {
    pub fn all_mut(&mut self) -> &mut [Compared] {
        match self {
            Self::Named(all) => all,
            Self::Everything(surveyed) => &mut surveyed.all,
        }
    }

    pub fn all(&self) -> &[Compared] {
        match self {
            Self::Named(all) => all,
            Self::Everything(surveyed) => &surveyed.all,
        }
    }
}

impl From<Comparison> for Compared {
    /// Beside the most trusted of its sources; without one there is still who owns what.
    fn from(comparison: Comparison) -> Self {
        let Comparison { object, against, owners, told, release, notes, probed, unchecked, .. } = comparison;
        let notes = release.into_iter().chain(notes).collect();
        let mut against = against.into_iter();
        let first = against.next();
        let others: Vec<String> = against.map(|other| other.title).collect();
        match first {
            Some(Against { source: id, title, at, cannot, diff }) => {
                Self { diff, source: Some(Said { id, title, at, cannot }), others, told, notes, probed, unchecked, ..Self::default() }
            }
            None => {
                let mut owners: Vec<_> = owners.into_iter().map(|owned| (owned.owner, owned.count)).collect();
                owners.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| (&a.manager, &a.subresource).cmp(&(&b.manager, &b.subresource))));
                Self { diff: Diff { object, fields: Vec::new() }, owners, told, notes, probed, unchecked, ..Self::default() }
            }
        }
    }
}

impl Compared {
    /// The same with all sources side by side.
    pub fn with_sources(comparison: Comparison) -> Self {
        let table = Some(Table::from(&comparison));
        Self { table, ..Self::from(comparison) }
    }
}

impl From<&desired::Desired> for Said {
    fn from(desired: &desired::Desired) -> Self {
        Self { id: desired.source, title: desired.title.clone(), at: desired.at.clone(), cannot: desired.cannot() }
    }
}

/// One object as itself, several as a list.
pub fn json(all: &Compilation) -> String {
    json_with(all, &Remarks::default())
}

/// The same with what is said of the whole.
pub fn json_with(all: &Compilation, remarks: &Remarks) -> String {
    let mut value = wire(all);
    remarks.add(&mut value);
    escape(&serde_json::to_string(&value).expect("plain data with text keys can always be written"))
}

/// The same as YAML.
pub fn yaml_with(all: &Compilation, remarks: &Remarks) -> String {
    let mut value = wire(all);
    remarks.add(&mut value);
    clean::clean_all(&mut value);
    serde_saphyr::to_string(&value).expect("plain data with text keys can always be written")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    api_version: &'static str,
    kind: &'static str,
    object: String,
    desired_source: Option<&'a str>,
    desired_at: Option<&'a str>,
    cannot_show: Option<&'a str>,
    other_sources: &'a [String],
    summary: BTreeMap<&'static str, usize>,
    fields: Vec<Field<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owners: Vec<Owning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<&'a str>,
    unchecked: Vec<Unread<'a>>,
    #[serde(flatten)]
    table: Option<sources::Wire<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tracked_by: Vec<Tracker<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<Tried<'a>>,
}

/// Null where it was done, else why not.
#[derive(Serialize)]
struct Tried<'a> {
    apply: Option<&'a str>,
    create: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tracker<'a> {
    title: &'a str,
    object: &'a str,
    state: Option<&'a str>,
    revision: Option<&'a str>,
    at: Option<&'a str>,
    in_inventory: bool,
    notes: &'a [String],
}

#[derive(Serialize)]
pub(super) struct Unread<'a> {
    kind: &'a str,
    namespace: Option<&'a str>,
    why: &'a str,
}

#[derive(Serialize)]
struct Owning<'a> {
    #[serde(flatten)]
    owner: Owner<'a>,
    fields: usize,
}

#[derive(Serialize)]
struct Field<'a> {
    path: String,
    desired: Option<&'a Value>,
    live: Option<&'a Value>,
    verdict: &'static str,
    risk: Option<&'a str>,
    controls: Vec<&'static str>,
    owner: Option<Owner<'a>>,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<Accepted<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<Behind<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<Relapsed<'a>>,
}

#[derive(Serialize)]
pub(super) struct Owner<'a> {
    manager: &'a str,
    operation: &'static str,
    time: Option<&'a str>,
    subresource: &'a str,
    class: &'static str,
}

fn wire(all: &Compilation) -> Value {
    let items: Vec<Wire<'_>> = all.all().iter().map(one).collect();
    let value = match (all, items.as_slice()) {
        (Compilation::Named(_), [item]) => serde_json::to_value(item),
        (Compilation::Named(_), items) => {
            serde_json::to_value(items).map(|items| serde_json::json!({"apiVersion": API_VERSION, "kind": "DiffList", "items": items}))
        }
        (Compilation::Everything(surveyed), items) => serde_json::to_value(items).map(|items| survey::wire(surveyed, &items)),
    };
    value.expect("plain data with text keys can always be written")
}

fn one(compared: &Compared) -> Wire<'_> {
    let source = compared.source.as_ref();
    Wire {
        api_version: API_VERSION,
        kind: "Diff",
        object: compared.diff.object.to_string(),
        desired_source: source.map(|said| said.title.as_str()),
        desired_at: source.map(|said| said.at.as_str()).filter(|at| !at.is_empty()),
        cannot_show: source.map(|said| said.cannot).filter(|cannot| !cannot.is_empty()),
        other_sources: &compared.others,
        summary: summary(compared),
        fields: compared.diff.fields.iter().map(field).collect(),
        owners: compared.owners.iter().map(|(owner, fields)| Owning { owner: owning(owner), fields: *fields }).collect(),
        unread: compared.unread.as_deref(),
        unchecked: unreads(&compared.unchecked),
        table: compared.table.as_ref().map(sources::wire),
        tracked_by: compared.told.iter().map(tracker).collect(),
        notes: &compared.notes,
        dry_run: compared.probed.as_ref().map(|Probed { apply, create }| Tried { apply: apply.as_deref(), create: create.as_deref() }),
    }
}

fn tracker(told: &Told) -> Tracker<'_> {
    let Told { title, keeper: object, state, revision, at, is_listed: in_inventory, notes } = told;
    let [state, revision, at] = [state, revision, at].map(|text| Some(text.as_str()).filter(|text| !text.is_empty()));
    Tracker { title, object, state, revision, at, in_inventory: *in_inventory, notes }
}

pub(super) fn unreads(all: &[Unchecked]) -> Vec<Unread<'_>> {
    all.iter().map(|Unchecked { kind, namespace, why }| Unread { kind, namespace: namespace.as_deref(), why }).collect()
}

fn summary(compared: &Compared) -> BTreeMap<&'static str, usize> {
    let mut counts = compared.folded.clone();
    for field in &compared.diff.fields {
        *counts.entry(field.verdict.id()).or_default() += 1;
    }
    counts
}

pub(super) fn owning(owner: &desired::Owner) -> Owner<'_> {
    Owner {
        manager: &owner.manager,
        operation: owner.operation.id(),
        time: Some(owner.time.as_str()).filter(|time| !time.is_empty()),
        subresource: &owner.subresource,
        class: owner.class.id(),
    }
}

fn field(field: &FieldDiff) -> Field<'_> {
    Field {
        path: field.path.to_string(),
        desired: field.desired.as_ref(),
        live: field.live.as_ref(),
        verdict: field.verdict.id(),
        risk: field.risk.as_ref().map(|risk| risk.text.as_str()),
        controls: controls(field),
        owner: field.owner.as_ref().map(owning),
        reason: &field.reason,
        accepted: field.told.approval.as_ref().map(told::accepted),
        who: field.told.who.as_ref().map(told::behind),
        again: field.told.again.as_ref().map(told::relapsed),
    }
}

fn controls(field: &FieldDiff) -> Vec<&'static str> {
    let class = field.risk.as_ref().map(|risk| risk.class.controls()).unwrap_or_default();
    let any = if field.verdict.is_loud() { ANY_DRIFT } else { &[] };
    let mut all: Vec<&'static str> = any.iter().chain(class).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What a person needs: each difference that somebody has to look at, with its reason; the rest is counted.
pub fn text(all: &Compilation, remarks: &Remarks, paint: Paint) -> String {
    let mut out = String::new();
    let shown = all.all().iter().filter(|compared| match all {
        Compilation::Named(_) => true,
        Compilation::Everything(_) => compared.is_telling(),
    });
    for (i, compared) in shown.enumerate() {
        out.push_str(if i > 0 { "\n" } else { "" });
        object(&mut out, compared, (remarks, paint));
    }
    match all {
        Compilation::Named(_) => {}
        Compilation::Everything(surveyed) => survey::text(&mut out, surveyed),
    }
    if let Some(line) = remarks.footer() {
        let _ = writeln!(out, "{}", clean(&line));
    }
    out
}

/// What is explained still has to be seen where it weakens the object, unless the API makes it so of every object.
fn tells(field: &FieldDiff) -> bool {
    let is_spelling = matches!(field.verdict, Verdict::Equal | Verdict::Defaulted | Verdict::Server);
    !field.verdict.is_quiet() || field.is_weaker() && !is_spelling
}

impl Compared {
    /// Whether there is something that somebody has to look at.
    pub fn is_telling(&self) -> bool {
        self.unread.is_some() || !self.unchecked.is_empty() || self.diff.fields.iter().any(tells)
    }
}

fn object(out: &mut String, compared: &Compared, with: (&Remarks, Paint)) {
    let name = &compared.diff.object;
    if let Some(why) = &compared.unread {
        let _ = writeln!(out, "{}", clean(&format!("{name} · not read: {why}")));
        return;
    }
    let source = compared.source.as_ref().map_or("nothing says what was asked for", |said| &said.title);
    let _ = writeln!(out, "{}", clean(&format!("{name} · desired: {source}")));
    let told = compared
        .told
        .iter()
        .flat_map(Told::lines)
        .chain(compared.notes.iter().cloned())
        .chain(compared.probed.iter().flat_map(Probed::lines));
    for line in compared.source.iter().flat_map(about).chain(told).chain(compared.unchecked.iter().map(Unchecked::to_string)) {
        let _ = writeln!(out, "  {}", clean(&line));
    }
    let (shown, folded): (Vec<_>, Vec<_>) = compared.diff.fields.iter().partition(|field| tells(field));
    shown.iter().for_each(|field| row(out, field, with));
    let (approved, folded): (Vec<_>, Vec<_>) = folded.into_iter().partition(|field| told::approved(field).is_some());
    for line in approved.into_iter().filter_map(told::approved) {
        let _ = writeln!(out, "  {}", clean(&line));
    }
    compared.table.iter().for_each(|table| sources::text(out, table));
    match compared.source {
        Some(_) => {
            admitted(out, &shown, &folded);
            let _ = writeln!(out, "{}", footer(&shown, &folded, compared));
        }
        None => owners(out, compared),
    }
}

/// What the source may not know, and since when it says what it says, unless its title tells already.
fn about(said: &Said) -> Vec<String> {
    let at = Some(&said.at).filter(|at| !at.is_empty() && !said.title.contains(at.as_str())).map(|at| format!("last written {at}; "));
    let cannot = Some(said.cannot).filter(|cannot| !cannot.is_empty());
    cannot.map(|cannot| format!("{}it cannot show: {cannot}", at.unwrap_or_default())).into_iter().collect()
}

/// Without a source there is still who wrote what.
fn owners(out: &mut String, compared: &Compared) {
    if compared.owners.is_empty() {
        let _ = writeln!(out, "  Nobody is recorded as the owner of a field.");
    }
    for (owner, fields) in &compared.owners {
        let place = if owner.subresource.is_empty() { String::new() } else { format!(" of {}", owner.subresource) };
        let time = if owner.time.is_empty() { String::new() } else { format!(", last write {}", owner.time) };
        let line = format!("{} ({}) owns {fields} fields{place}{time}", owner.manager, owner.class.id());
        let _ = writeln!(out, "  {}", clean(&line));
    }
}

fn row(out: &mut String, field: &FieldDiff, (remarks, paint): (&Remarks, Paint)) {
    let colour = |code: &str, text: String| match paint {
        Paint::Plain => text,
        Paint::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
    };
    let path = field.path.to_string();
    let path = if path.is_empty() { "the whole object" } else { &path };
    let _ = writeln!(out, "  {}", clean(path));
    for line in lines::beside(field.desired.as_ref(), field.live.as_ref()) {
        let _ = match line {
            lines::Line::Desired(line) => writeln!(out, "{}", colour("31", format!("  - {}", clean(&line)))),
            lines::Line::Live(line) => writeln!(out, "{}", colour("32", format!("  + {}", clean(&line)))),
            lines::Line::Both(line) => writeln!(out, "    {}", clean(&line)),
            lines::Line::Alike(count) => writeln!(out, "  … {}", lines::alike(count)),
        };
    }
    let owner = field.owner.as_ref().map_or("owner unknown".to_owned(), |owner| format!("{} ({})", owner.manager, owner.class.id()));
    let risk = field.risk.as_ref().map_or(String::new(), |risk| format!(" · {}", risk.text));
    let _ = writeln!(out, "    {}", clean(&format!("{} · {owner}{risk} · {}", field.verdict.id(), field.reason)));
    for line in remarks.lines(field) {
        let _ = writeln!(out, "    {}", clean(&line));
    }
}

/// Where nothing else is to be looked at, a line each for what admission did.
fn admitted(out: &mut String, shown: &[&FieldDiff], folded: &[&FieldDiff]) {
    if shown.iter().any(|field| !field.verdict.is_quiet()) {
        return;
    }
    let all = || folded.iter().filter(|field| field.verdict == Verdict::Admission);
    for field in all().take(ADMITTED) {
        let _ = writeln!(out, "  {}", clean(&format!("{} · admission · {}", field.path, field.reason)));
    }
    let more = all().count().saturating_sub(ADMITTED);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more by admission; -o json has them all");
    }
}

/// More of what admission did nobody reads in a terminal.
const ADMITTED: usize = 8;

fn footer(shown: &[&FieldDiff], folded: &[&FieldDiff], compared: &Compared) -> String {
    let (open, weaker): (Vec<&FieldDiff>, Vec<&FieldDiff>) = shown.iter().partition(|field| !field.verdict.is_quiet());
    let is_admitted = |field: &&FieldDiff| field.verdict == Verdict::Admission;
    let admitted = shown.iter().chain(folded).copied().filter(is_admitted).count();
    let mut counts = compared.folded.clone();
    let folded = folded.iter().filter(|field| !open.is_empty() || !is_admitted(field));
    folded.for_each(|field| *counts.entry(field.verdict.id()).or_default() += 1);
    let rest: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(" Explained and not shown: {}.", rest.join(", ")) };
    let weaker = if weaker.is_empty() { "" } else { " What it is allowed to do is weaker for what is shown." };
    match open.len() {
        0 if admitted == 1 => format!("  No drift: the cluster's admission wrote what differs.{weaker}{rest}"),
        0 if admitted > 1 => format!("  No drift: the cluster's admission wrote the {admitted} that differ.{weaker}{rest}"),
        0 => format!("  No drift.{weaker}{rest}"),
        1 => format!("  1 difference.{rest}"),
        n => format!("  {n} differences.{rest}"),
    }
}
