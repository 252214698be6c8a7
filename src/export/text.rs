//! The report as plain text, for a terminal or a pipe.

use std::fmt::Write;

use super::{Exported, clean};
use crate::diagnose::{Blocker, Verdict};
use crate::model::{CoverageState, ObjectRef, Time};

/// Whether colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Colour,
}

/// Everything a person needs at a glance, worst first.
pub fn text(out: &mut dyn Write, e: &Exported<'_>, paint: Paint) {
    heading(out, e);
    for b in &e.report.blockers {
        blocker(out, e, b, paint);
    }
    footer(out, e);
}

/// `45s`, `3m`, `2h`, `5d`: one form everywhere.
pub(super) fn age(seconds: i64) -> String {
    match seconds.max(0) {
        s if s < 120 => format!("{s}s"),
        s if s < 7200 => format!("{}m", s / 60),
        s if s < 172_800 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86_400),
    }
}

/// What the first line says: where, as of when, how much.
pub(super) fn overview(e: &Exported<'_>) -> String {
    let s = e.report.summary;
    let scope = e.namespaces.map_or("all namespaces".to_owned(), |ns| format!("namespace {}", ns.join(", ")));
    let context = e.context.map_or(String::new(), |c| format!("{c} · "));
    if let Some(why) = e.cluster.coverage().refused_everywhere(crate::model::Kind::Pod) {
        let why = said(e, why);
        return format!("{context}{scope} · Could not see enough to say: pods may not be read ({why}).");
    }
    if e.report.blockers.is_empty() && s.pods == 0 && s.workloads == 0 {
        return format!("{context}{scope} · Nothing to judge: there are no pods and no workloads.");
    }
    if e.report.blockers.is_empty() {
        let subject = if e.only.is_empty() { "Nothing is stuck".to_owned() } else { format!("Nothing holds {} up", places(e.only)) };
        return format!("{context}{scope} · {subject}: {} pods in {} workloads. {} quiet.", s.pods, s.workloads, s.quiet);
    }
    format!(
        "{context}{scope} · {} blocked, {} delayed · {} of {} pods stuck, in {} of {} workloads",
        s.blocked, s.delayed, s.stuck_pods, s.pods, s.stuck_workloads, s.workloads
    )
}

/// What was not read, so that silence about it is not taken for health: `secrets: forbidden`.
pub(super) fn not_checked(e: &Exported<'_>) -> Vec<String> {
    let why = |state: &CoverageState| match state {
        CoverageState::Denied { .. } => Some("forbidden"),
        CoverageState::Stale { .. } => Some("stale"),
        CoverageState::Loading => Some("still loading"),
        CoverageState::Absent { .. } | CoverageState::Synced => None,
    };
    let entry = |(kind, ns, state): (crate::model::Kind, Option<&str>, &CoverageState)| {
        why(state).map(|w| format!("{}{}: {w}", kind.row().plural, ns.map_or(String::new(), |n| format!(" in {n}"))))
    };
    e.cluster.coverage().iter().filter_map(entry).collect()
}

fn heading(out: &mut dyn Write, e: &Exported<'_>) {
    let complete = if e.complete { "" } else { "  (not everything could be read)" };
    let _ = writeln!(out, "{}{complete}", clean(&overview(e)));
}

fn blocker(out: &mut dyn Write, e: &Exported<'_>, b: &Blocker, paint: Paint) {
    let held = b.since.map_or(String::new(), |since| format!(" for {}", age(e.now.since(since))));
    let left = left(e, b).map_or(String::new(), |left| format!(" {left}"));
    let word = match b.verdict {
        Verdict::Blocked => painted("■ BLOCKED", "31", paint),
        Verdict::Delayed | Verdict::Quiet => painted("◔ DELAYED", "33", paint),
    };
    let _ = writeln!(out, "\n{word}{left}{held}  {}  {}", b.layer.label(), said(e, &b.title));
    line(out, "", &said(e, &b.summary));
    for reference in &*b.affected {
        line(out, "holds up  ", &clean(&format!("{} {}", reference.kind, reference.place())));
    }
    for service in &b.services {
        line(out, "no endpoint  ", &clean(&format!("Service {}", service.place())));
    }
    for c in &b.consequences {
        let pods = if c.pods == 1 { "1 pod".to_owned() } else { format!("{} pods", c.pods) };
        line(out, "└ also held up  ", &format!("{}: {} ({pods})", c.layer.id(), said(e, &c.title)));
    }
    for x in b.evidence.iter().take(3) {
        let at = x.at.map_or(String::new(), |at| format!("{}  ", hour(at)));
        line(
            out,
            "evidence  ",
            &format!("{at}{} {}  {}  \"{}\"", x.object.kind, clean(&x.object.place()), clean(&x.path), said(e, &x.message)),
        );
    }
    for u in &b.unchecked {
        let place = if u.namespace.is_empty() { String::new() } else { format!(" in {}", u.namespace) };
        line(out, "not checked  ", &clean(&format!("{}{place}: {}", u.kind, u.why)));
    }
    line(out, "next  ", &said(e, &b.next));
    line(out, "", &painted(&format!("holdup explain {}", b.cause), "2", paint));
}

fn footer(out: &mut dyn Write, e: &Exported<'_>) {
    let unread = not_checked(e);
    if !unread.is_empty() {
        let _ = writeln!(out, "\nNot checked: {}.", clean(&unread.join(", ")));
    }
    if !e.report.blockers.is_empty() && !e.report.quiet.is_empty() {
        let _ = writeln!(out, "\n{} quiet, each with its reason in -o json.", e.report.quiet.len());
    }
}

fn line(out: &mut dyn Write, label: &str, what: &str) {
    let _ = writeln!(out, "    {label}{what}");
}

fn said(e: &Exported<'_>, text: &str) -> String {
    clean(&e.redactor.text(text)).into_owned()
}

fn painted(text: &str, code: &str, paint: Paint) -> String {
    match paint {
        Paint::Plain => text.to_owned(),
        Paint::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
    }
}

/// `3:10`.
/// `3:10 left`, of what is delayed and whose clock says when it runs out.
pub(super) fn left(e: &Exported<'_>, b: &Blocker) -> Option<String> {
    let at = b.clock.as_ref().filter(|_| b.verdict == Verdict::Delayed)?.at?;
    (at > e.now).then(|| format!("{} left", countdown(at.since(e.now))))
}

fn countdown(seconds: i64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// The time of day in UTC, from the RFC 3339 form.
fn hour(at: Time) -> String {
    at.rfc3339()[11..19].to_owned()
}

fn places(objects: &[ObjectRef]) -> String {
    objects.iter().map(|o| format!("{}/{}", o.kind, o.name)).collect::<Vec<_>>().join(", ")
}
