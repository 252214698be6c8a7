//! `holdup explain CAUSE`: what a cause means, from its row.

use std::fmt::Write;
use std::process::ExitCode;

use color_eyre::{Result, eyre::bail};

use super::print;
use crate::cli::Explain;
use crate::diagnose::{CAUSES, Cause, Layer, cause};

pub(super) fn run(args: &Explain) -> Result<ExitCode> {
    let text = match &args.cause {
        None => list(),
        Some(id) => match cause(id) {
            Some(cause) => page(cause),
            None => bail!("no cause is called {id}.{} `holdup explain` lists all.", suggestion(id)),
        },
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn page(c: &Cause) -> String {
    let needs: Vec<&str> = c.needs.iter().map(|kind| kind.row().plural).collect();
    let mut out = format!("{}\n{}\n\n", c.id, c.title);
    let mut part = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "{name}\n{}\n", wrap(text, 78));
        }
    };
    part("Layer", c.layer.label());
    part("What it means", c.explanation);
    part("Told apart", c.told_apart);
    part("What lifts it", c.cure);
    part("Needs to read", &needs.join(", "));
    if !c.docs.is_empty() {
        let _ = writeln!(out, "More\n    https://kubernetes.io/docs/{}", c.docs);
    }
    out
}

fn list() -> String {
    let mut out = String::new();
    for layer in Layer::ALL {
        let mut rows: Vec<&Cause> = CAUSES.iter().copied().flatten().filter(|c| c.layer == layer).collect();
        rows.sort_by_key(|c| c.id);
        let _ = writeln!(out, "{}", layer.label());
        for c in rows {
            let _ = writeln!(out, "  {:36} {}", c.id, c.title);
        }
    }
    out
}

/// The ids that share a word with what was typed.
fn suggestion(id: &str) -> String {
    let words: Vec<&str> = id.split(['-', ' ', '_']).filter(|w| w.len() > 2).collect();
    let like = CAUSES.iter().copied().flatten().filter(|c| words.iter().any(|w| c.id.contains(w))).map(|c| c.id);
    let like: Vec<&str> = like.take(5).collect();
    if like.is_empty() { String::new() } else { format!(" Did you mean {}?", like.join(", ")) }
}

fn wrap(text: &str, width: usize) -> String {
    let mut lines = vec![String::from("   ")];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |l| l.chars().count());
        if last + 1 + word.chars().count() > width {
            lines.push("   ".into());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}
