//! The report as Markdown, to paste into an incident channel.

use std::fmt::Write;

use super::text::{age, left, not_checked, overview};
use super::{Exported, clean};
use crate::diagnose::{Blocker, Verdict};

/// A table of what is held up, then one section a blocker.
pub fn markdown(out: &mut dyn Write, e: &Exported<'_>) {
    let _ = writeln!(out, "# holdup: {}\n\nAs of {}.", escape(&overview(e)), e.now.rfc3339());
    if !e.report.blockers.is_empty() {
        let _ = writeln!(out, "\n| verdict | for | where | what | holds up |\n|---|---|---|---|---|");
    }
    for b in &e.report.blockers {
        let held = b.since.map_or("–".to_owned(), |since| age(e.now.since(since)));
        let _ = writeln!(
            out,
            "| {}{} | {held} | {} | {} | {} pods, {} workloads |",
            word(b),
            left(e, b).map_or(String::new(), |left| format!(", {left}")),
            b.layer.label(),
            said(e, &b.title),
            b.pods,
            b.affected.len()
        );
    }
    for b in &e.report.blockers {
        section(out, e, b);
    }
    let unread = not_checked(e);
    if !unread.is_empty() {
        let _ = writeln!(out, "\nNot checked: {}.", escape(&unread.join(", ")));
    }
}

fn section(out: &mut dyn Write, e: &Exported<'_>, b: &Blocker) {
    let _ = writeln!(out, "\n## {}: {}\n\n{}\n\n**Next:** {}\n", word(b), said(e, &b.title), said(e, &b.summary), said(e, &b.next));
    if let Some(clock) = b.clock.as_ref().filter(|_| b.verdict != Verdict::Blocked) {
        let left = left(e, b).map_or(String::new(), |left| format!(", {left}"));
        let at = clock.at.map_or(String::new(), |at| format!(" at {}{left}", at.rfc3339()));
        let _ = writeln!(out, "**Clock:** {}: {}{at}\n", clock.kind.id(), said(e, &clock.what));
    }
    for a in &*b.affected {
        let _ = writeln!(out, "* holds up {} {}", a.kind, escape(&a.place()));
    }
    for c in &b.consequences {
        let _ = writeln!(out, "* also held up, {}: {}", c.layer.id(), said(e, &c.title));
    }
    for x in b.evidence.iter().take(5) {
        let at = x.at.map_or(String::new(), |at| format!("{} ", at.rfc3339()));
        let _ = writeln!(
            out,
            "* {at}{} {} `{}`: `{}`",
            x.object.kind,
            escape(&x.object.place()),
            code(&x.path),
            code(&e.redactor.text(&x.message))
        );
    }
}

fn word(b: &Blocker) -> &'static str {
    match b.verdict {
        Verdict::Blocked => "BLOCKED",
        Verdict::Delayed | Verdict::Quiet => "DELAYED",
    }
}

fn said(e: &Exported<'_>, text: &str) -> String {
    escape(&e.redactor.text(text))
}

/// Text that Markdown and HTML leave alone.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Text inside a code span, which nothing can end early.
fn code(text: &str) -> String {
    clean(text).replace('`', "'").replace('|', "\\|")
}
