//! All sources of desired state side by side, where they disagree with each other: as text and for JSON.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::clean::clean;
use super::diff::{Owner, owning};
use crate::desired::{Comparison, Disagreement, Saying, written};

/// The sources of an object and where they disagree.
pub struct Table {
    sources: Vec<Source>,
    rows: Vec<Disagreement>,
}

struct Source {
    id: &'static str,
    title: String,
    at: String,
    cannot: &'static str,
    loud: usize,
}

impl From<&Comparison> for Table {
    fn from(comparison: &Comparison) -> Self {
        let sources = comparison.against.iter().map(|against| Source {
            id: against.source,
            title: against.title.clone(),
            at: against.at.clone(),
            cannot: against.cannot,
            loud: against.diff.fields.iter().filter(|field| field.verdict.is_loud()).count(),
        });
        Self { sources: sources.collect(), rows: comparison.disagreements.clone() }
    }
}

#[derive(Serialize)]
pub(super) struct Wire<'a> {
    sources: Vec<Stated<'a>>,
    disagreements: Vec<Row<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stated<'a> {
    id: &'static str,
    title: &'a str,
    at: Option<&'a str>,
    cannot_show: &'a str,
    differences: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    path: String,
    live: Option<&'a Value>,
    owner: Option<Owner<'a>>,
    says: Vec<Quote<'a>>,
}

#[derive(Serialize)]
struct Quote<'a> {
    source: &'a str,
    /// False where this source cannot know.
    known: bool,
    value: Option<&'a Value>,
}

pub(super) fn wire(table: &Table) -> Wire<'_> {
    Wire { sources: table.sources.iter().map(stated).collect(), disagreements: table.rows.iter().map(|row| wired(table, row)).collect() }
}

fn stated(source: &Source) -> Stated<'_> {
    let Source { id, title, at, cannot, loud } = source;
    Stated { id, title, at: Some(at.as_str()).filter(|at| !at.is_empty()), cannot_show: cannot, differences: *loud }
}

fn wired<'a>(table: &'a Table, row: &'a Disagreement) -> Row<'a> {
    let says = table.sources.iter().zip(&row.says).map(|(source, says)| match says {
        Saying::Nothing => Quote { source: &source.title, known: false, value: None },
        Saying::Value(value) => Quote { source: &source.title, known: true, value: value.as_ref() },
    });
    Row { path: row.path.to_string(), live: row.live.as_ref(), owner: row.owner.as_ref().map(owning), says: says.collect() }
}

/// Each source has a number; a place is followed by what live has and what every source says.
pub(super) fn text(out: &mut String, table: &Table) {
    let _ = writeln!(out, "  sources, most trusted first:");
    for (nth, source) in table.sources.iter().enumerate() {
        let drift = match source.loud {
            0 => "no drift".to_owned(),
            1 => "1 difference".to_owned(),
            n => format!("{n} differences"),
        };
        let _ = writeln!(out, "  {}", clean(&format!("  {}  {} · {drift} · it cannot show: {}", nth + 1, source.title, source.cannot)));
    }
    match (table.sources.len(), table.rows.is_empty()) {
        (0, _) => {
            let _ = writeln!(out, "    none: nothing says what was asked for");
        }
        (1, _) => {
            let _ = writeln!(out, "  It is the only one.");
        }
        (_, true) => {
            let _ = writeln!(out, "  They agree with each other.");
        }
        (_, false) => table.rows.iter().for_each(|row| disagreement(out, row)),
    }
}

fn disagreement(out: &mut String, row: &Disagreement) {
    let _ = writeln!(out, "  {}", clean(&format!("they disagree at {}", row.path)));
    let owner = row.owner.as_ref().map_or(String::new(), |owner| format!("   owned by {} ({})", owner.manager, owner.class.id()));
    line(out, "live", &(short(row.live.as_ref()) + &owner));
    for (nth, says) in row.says.iter().enumerate() {
        let value = match says {
            Saying::Nothing => "cannot say".to_owned(),
            Saying::Value(value) => short(value.as_ref()),
        };
        line(out, &(nth + 1).to_string(), &value);
    }
}

fn line(out: &mut String, name: &str, text: &str) {
    let _ = writeln!(out, "    {}", clean(&format!("{name:<4}  {text}")));
}

/// In one line; the diff itself shows the whole.
fn short(value: Option<&Value>) -> String {
    match written(value).as_slice() {
        [] => "absent".to_owned(),
        [line] => line.clone(),
        [first, rest @ ..] => format!("{first} … and {} lines more", rest.len()),
    }
}
