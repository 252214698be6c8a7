//! Turns YAML into JSON, document by document and list item by list item, so that one that is odd costs only itself.

use serde_json::Value;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Options};

use crate::model::nesting;

/// A document, or what stands where one should be.
pub(super) enum Document {
    /// JSON, ready to be scanned, and the line where it began.
    Json { line: usize, json: Vec<u8> },
    /// The line where something begins that is no YAML, and why.
    Odd { line: usize, why: String },
}

/// Hands over the documents of a text in order.
pub(super) fn documents(text: &str, found: &mut dyn FnMut(Document)) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut start = 0;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let marker = line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        if let Some(rest) = marker {
            document(start, &lines, found);
            start = number;
            lines.clear();
            lines.push(rest);
        } else if line.trim_end() != "..." {
            lines.push(line);
        }
    }
    document(start, &lines, found);
}

fn document(start: usize, lines: &[&str], found: &mut dyn FnMut(Document)) {
    let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if !lines.iter().any(is_content) {
        return;
    }
    match items(lines) {
        Some((first, end)) => list(start, lines, (first, end), found),
        None => found(single(start, lines)),
    }
}

fn single(start: usize, lines: &[&str]) -> Document {
    match converted(start, &lines.join("\n")) {
        Ok(value) => Document::Json { line: start + 1, json: value.to_string().into_bytes() },
        Err(odd) => odd,
    }
}

/// The lines that hold the items of a list as kubectl writes it: under a top-level `items:`, each beginning with a dash.
fn items(lines: &[&str]) -> Option<(usize, usize)> {
    let first = lines.iter().position(|line| line.trim_end() == "items:")? + 1;
    let dash = indent_of_dash(lines.get(first)?)?;
    let ends =
        |line: &&str| !line.trim().is_empty() && !line.starts_with('#') && indent(line) <= dash && !line[indent(line)..].starts_with("- ");
    let length = lines[first..].iter().position(ends).unwrap_or(lines.len() - first);
    Some((first, first + length))
}

fn list(start: usize, lines: &[&str], (first, end): (usize, usize), found: &mut dyn FnMut(Document)) {
    let mut frame: Vec<&str> = lines[..first - 1].to_vec();
    frame.extend(&lines[end..]);
    let mut json = match converted(start, &frame.join("\n")) {
        Ok(frame) => opened(&frame),
        Err(odd) => return found(odd),
    };
    let dash = indent_of_dash(lines[first]).unwrap_or(0);
    let mut at = first;
    while at < end {
        let length = lines[at + 1..end].iter().position(|line| indent_of_dash(line) == Some(dash)).map_or(end - at, |length| length + 1);
        match converted(start + at, &item_text(&lines[at..at + length], dash)) {
            Ok(item) => json.extend_from_slice(format!("{item},\n").as_bytes()),
            Err(odd) => found(odd),
        }
        at += length;
    }
    if json.ends_with(b",\n") {
        json.truncate(json.len() - 2);
    }
    json.extend_from_slice(b"]}");
    found(Document::Json { line: start + 1, json });
}

/// The fields around the items, up to where these begin.
fn opened(frame: &Value) -> Vec<u8> {
    let mut json = b"{".to_vec();
    for (key, value) in frame.as_object().into_iter().flatten() {
        json.extend_from_slice(format!("{}:{value},", Value::from(key.as_str())).as_bytes());
    }
    json.extend_from_slice(b"\"items\":[\n");
    json
}

/// The lines of an item without its dash.
fn item_text(lines: &[&str], dash: usize) -> String {
    let mut text = format!("{}  {}", " ".repeat(dash), &lines[0][dash + 2..]);
    for line in &lines[1..] {
        text.push('\n');
        text.push_str(line);
    }
    text
}

fn converted(start: usize, text: &str) -> Result<Value, Document> {
    serde_saphyr::from_str_with_options::<Value>(text, options()).map_err(|error| {
        let line = error.location().map_or(0, |place| usize::try_from(place.line()).unwrap_or(1).saturating_sub(1));
        Document::Odd { line: start + line + 1, why: fault(&error) }
    })
}

/// kubectl writes what any reader of YAML understands.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: nesting::DEEPEST_DOCUMENT,
            max_nodes: nesting::MOST_VALUES,
            max_events: 4 * nesting::MOST_VALUES,
            max_total_scalar_bytes: nesting::LARGEST_TEXT,
        },
    }
}

fn fault(error: &Error) -> String {
    let error = error.without_snippet();
    if matches!(error, Error::Budget { breach: BudgetBreach::Depth { .. }, .. }) {
        return nesting::TOO_DEEP.to_owned();
    }
    format!("is no valid YAML: {}", error.to_string().lines().next().unwrap_or_default())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn indent_of_dash(line: &str) -> Option<usize> {
    line[indent(line)..].starts_with("- ").then(|| indent(line))
}
