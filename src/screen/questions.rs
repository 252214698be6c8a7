//! What follows from comparing everything, question by question; each unfolds into the objects that it is about.

use super::Scene;
use super::window::window;
use super::words::number;
use crate::app::{Drift, DriftReading as Reading};
use crate::desired::{Governance, Stranger, Unchecked};
use crate::page::{Block, Column, Cut, Focus, Line, List, Opens, Pane, Row, Span, Width, chars};

/// One line of an answer.
struct Item {
    /// `Kind/ns/name`, a namespace, a kind.
    about: String,
    /// What a key opens: what is gone cannot be opened.
    opens: bool,
    text: String,
}

/// A question with its answer.
struct Question {
    id: &'static str,
    asks: &'static str,
    answer: Line,
    items: Vec<Item>,
}

/// More lines of one answer are counted; `holdup diff --all` lists them.
const LINES: usize = 200;

pub(super) fn pane(scene: &Scene<'_>, drift: &Drift, focus: Focus) -> Pane {
    let unfolded = &scene.app.view().reading.unfolded;
    let mut rows: Vec<Row> = Vec::new();
    for question in questions(scene, drift) {
        let is_open = unfolded.contains(question.id);
        rows.push(asked(&question, is_open));
        if is_open {
            let more = question.items.len().saturating_sub(LINES);
            rows.extend(question.items.iter().take(LINES).enumerate().map(|(nth, item)| told(scene, question.id, nth, item)));
            let rest = Line::new().dim(format!("  and {} more; holdup diff --all -o json lists them", number(more)));
            rows.extend((more > 0).then(|| Row::new(format!("{} more", question.id), vec![rest, Line::new()])));
        }
    }
    let window = window(scene.app, "questions", rows.len(), |at| rows[at].id.to_string(), |_| false);
    let len = rows.len();
    let rows = rows.into_iter().skip(window.first).take(window.end - window.first).collect();
    let columns = vec![Column::new("", Width::Range { least: 30, want: 40 }), Column::new("", Width::Rest(30))];
    let list = List { columns, rows, first: window.first, len, selected: window.selected, foot: None, empty: Vec::new() };
    let note = Line::new().accent("tab").dim(" goes there, ").accent("⏎").dim(" unfolds");
    Pane { id: "questions", title: Some("What follows from the whole".into()), note: Some(note), block: Block::List(list), focus }
}

fn asked(question: &Question, is_open: bool) -> Row {
    let sign = match (question.items.is_empty(), is_open) {
        (true, _) => "  ",
        (false, false) => "▸ ",
        (false, true) => "▾ ",
    };
    let row = Row::new(question.id, vec![Line::new().dim(sign).plain(question.asks), question.answer.clone()]);
    if question.items.is_empty() { row } else { row.opens(Opens::Unfold(question.id.to_owned())) }
}

/// A sentence that does not fit beside what it is about stands below it.
fn told(scene: &Scene<'_>, question: &str, nth: usize, item: &Item) -> Row {
    let about = Line::new().plain("    ").span(Span::from(item.about.clone()).cut(Cut::Start));
    let text = Line::new().dim(item.text.clone());
    let fits = usize::from(chars(&item.text)) + BESIDE <= usize::from(scene.size.0);
    let (beside, below) = if fits { (text, Vec::new()) } else { (Line::new(), vec![Line::from("      ").then(text).hang(6)]) };
    let row = Row::new(format!("{question} {nth} {}", item.about), vec![about, beside]).below(below);
    if item.opens { row.opens(Opens::Diff(item.about.clone())) } else { row }
}

/// Columns that the objects take.
const BESIDE: usize = 46;

fn questions(scene: &Scene<'_>, drift: &Drift) -> Vec<Question> {
    let Governance { rebuild, gone, unmanaged, exceptions, unclaimed, .. } = &drift.governance;
    let again = drift.again();
    let now = scene.now;
    let of = |strangers: &[Stranger]| -> Vec<Item> {
        strangers.iter().map(|stranger| item(stranger.object.to_string(), true, stranger.said(now))).collect()
    };
    let by_namespace = rebuild.by_namespace().into_iter().map(|line| {
        let (namespace, owners) = line.split_once(": ").unwrap_or((&line, ""));
        item(namespace.to_owned(), false, owners.to_owned())
    });
    let mut all = vec![
        question(drift, "rebuild", "Can it be rebuilt from source?", Some(rebuild.said(&drift.unread)), by_namespace.collect()),
        question(
            drift,
            "exceptions",
            "Rights and exceptions in no source",
            None,
            exceptions.iter().map(|exception| item(exception.object.to_string(), true, exception.said(now))).collect(),
        ),
        question(
            drift,
            "gone",
            "Listed in an inventory, and gone",
            None,
            gone.iter().map(|gone| item(gone.object.to_string(), false, format!("listed by {}", gone.inventory))).collect(),
        ),
        question(drift, "unmanaged", "In a managed namespace, in no source", None, of(unmanaged)),
        question(drift, "unclaimed", "Claimed by no source, no owner label", None, of(unclaimed)),
    ];
    if !again.is_empty() {
        let items: Vec<Item> = again.iter().map(|again| item(again.object.to_string(), true, again.said(now))).collect();
        // What was seen is known, however far the reading is.
        all.insert(2, Question { id: "again", asks: "Drifted again after it was put right", answer: answer(None, &items), items });
    }
    if !drift.unread.is_empty() {
        let items: Vec<Item> = drift.unread.iter().map(|unread| item(place_of(unread), false, unread.why.clone())).collect();
        let answer = answer(None, &items);
        all.push(Question { id: "unread", asks: "Not read", answer, items });
    }
    all
}

fn place_of(unread: &Unchecked) -> String {
    unread.namespace.as_ref().map_or_else(|| unread.kind.clone(), |namespace| format!("{} in {namespace}", unread.kind))
}

fn item(about: String, opens: bool, text: String) -> Item {
    Item { about, opens, text }
}

/// Nothing is answered before all was read.
fn question(drift: &Drift, id: &'static str, asks: &'static str, said: Option<String>, items: Vec<Item>) -> Question {
    let open = |why: &str| Question { id, asks, answer: Line::new().dim(why.to_owned()), items: Vec::new() };
    match drift.reading {
        Reading::Done => Question { id, asks, answer: answer(said, &items), items },
        Reading::Never | Reading::Going => open("known when all is read"),
        Reading::Stopped => open("not known: it was stopped"),
        Reading::Failed(_) => open("not known"),
    }
}

/// What is said, or how many there are, with the first.
fn answer(said: Option<String>, items: &[Item]) -> Line {
    match (said, items) {
        (Some(said), _) => Line::from(said),
        (None, []) => Line::new().fine("none"),
        (None, [first, ..]) => Line::from(number(items.len())).dim(format!("  {}  {}", first.about, first.text)),
    }
}
