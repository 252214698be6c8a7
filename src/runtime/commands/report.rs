//! `holdup report`: triage once and print; the exit code says what was found.

use std::fmt::Write;
use std::io::IsTerminal;
use std::process::ExitCode;

use color_eyre::Result;

use super::{BLOCKED, FINE, Printed, UNSEEN};
use crate::cli::{Cli, Format, ReportArgs};
use crate::diagnose::Verdict;
use crate::export::{self, Exported, Paint};
use crate::model::{Cluster, CoverageState, Kind};
use crate::runtime::gather::{self, Seen};
use crate::runtime::{key, narrow};

pub(super) async fn run(cli: &Cli, args: &ReportArgs) -> Result<ExitCode> {
    let seen = if cli.input.from.is_empty() { gather::cluster(&cli.cluster).await? } else { gather::files(cli)? };
    print_report(cli, args, seen)
}

/// The demo's fifth minute; it did its work, whatever it shows.
pub(super) fn of_demo(cli: &Cli) -> Result<ExitCode> {
    print_report(cli, &ReportArgs { objects: Vec::new(), output: Format::Text }, gather::demo(cli)?)?;
    Ok(ExitCode::SUCCESS)
}

fn print_report(cli: &Cli, args: &ReportArgs, mut seen: Seen) -> Result<ExitCode> {
    seen.triage.judge(seen.now);
    let report = seen.triage.report();
    let cluster = &seen.triage.cluster;
    let only = narrow::resolve(cluster, &args.objects, &cli.cluster.namespaces)?;
    let mut report = narrow::narrow(report, cluster, &only, &cli.cluster.namespaces);
    if let Some(totals) = seen.totals.filter(|_| cli.cluster.namespaces.is_empty()) {
        (report.summary.pods, report.summary.workloads) = (totals.pods, totals.workloads);
    }
    let exported = Exported {
        report: &report,
        cluster,
        now: seen.now,
        context: seen.context.as_deref(),
        namespaces: seen.namespaces.as_deref(),
        complete: is_complete(cluster),
        only: &only,
        redactor: &key::redactor(),
    };
    let mut out = Printed::default();
    render(&mut out, &exported, args.output, paint(cli));
    out.finish()?;
    let code = code(&exported);
    // The process ends: what is known of a large cluster need not be taken apart first.
    std::mem::forget(seen);
    Ok(ExitCode::from(code))
}

fn render(out: &mut dyn Write, exported: &Exported<'_>, format: Format, paint: Paint) {
    match format {
        Format::Text => export::text(out, exported, paint),
        Format::Json => export::json(out, exported),
        Format::Yaml => export::yaml(out, exported),
        Format::Markdown => export::markdown(out, exported),
    }
}

/// Colours only on a terminal and never with `NO_COLOR` (no-color.org: set and not empty).
pub(super) fn paint(cli: &Cli) -> Paint {
    let refused = cli.screen.no_color || std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if !refused && std::io::stdout().is_terminal() { Paint::Colour } else { Paint::Plain }
}

fn code(e: &Exported<'_>) -> u8 {
    if e.report.blockers.iter().any(|b| b.verdict == Verdict::Blocked) {
        BLOCKED
    } else if pods_are_unreadable(e) {
        UNSEEN
    } else {
        FINE
    }
}

/// Pods were refused in every namespace of the scope. That a file does not hold any is no refusal: the input is all there is.
fn pods_are_unreadable(e: &Exported<'_>) -> bool {
    let mut states = e.cluster.coverage().of(Kind::Pod).map(|(_, state)| state).peekable();
    states.peek().is_some() && states.all(|s| matches!(s, CoverageState::Denied { .. } | CoverageState::Loading))
}

fn is_complete(cluster: &Cluster) -> bool {
    let waiting = |s: &CoverageState| matches!(s, CoverageState::Loading | CoverageState::Stale { .. });
    !cluster.coverage().iter().any(|(_, _, state)| waiting(state))
}
