//! `holdup report`: triage once and print; the exit code says what was found.

use std::io::IsTerminal;
use std::process::ExitCode;

use color_eyre::{Result, eyre::bail};

use super::{BLOCKED, FINE, UNSEEN, print};
use crate::cli::{Cli, Format, ReportArgs};
use crate::diagnose::Verdict;
use crate::export::{self, Exported, Paint};
use crate::model::{CoverageState, Kind};
use crate::runtime::{Loaded, key, load, narrow};

pub(super) fn run(cli: &Cli, args: &ReportArgs) -> Result<ExitCode> {
    if cli.input.from.is_empty() {
        bail!("reading a live cluster is not there yet; use --from");
    }
    let loaded = load::open(&cli.input.from, cli.input.now, narrow::options(&cli.cluster)?)?;
    if loaded.archive.about().objects == 0 {
        eprintln!("holdup: nothing to judge: the input holds no objects.");
    }
    for skipped in loaded.archive.about().skipped.iter().take(3) {
        eprintln!("holdup: skipped {skipped}");
    }
    let context = loaded.archive.about().context.clone();
    print_report(cli, args, loaded, context.as_deref())
}

fn print_report(cli: &Cli, args: &ReportArgs, mut loaded: Loaded, context: Option<&str>) -> Result<ExitCode> {
    loaded.triage.judge(loaded.now);
    let cluster = &loaded.triage.cluster;
    let only = narrow::resolve(cluster, &args.objects, &cli.cluster.namespaces)?;
    let mut report = narrow::narrow(loaded.triage.report(), cluster, &only, &cli.cluster.namespaces);
    if let Some(totals) = loaded.archive.about().totals.filter(|_| cli.cluster.namespaces.is_empty()) {
        (report.summary.pods, report.summary.workloads) = (totals.pods, totals.workloads);
    }
    let namespaces = Some(cli.cluster.namespaces.as_slice()).filter(|ns| !ns.is_empty());
    let exported = Exported {
        report: &report,
        cluster,
        now: loaded.now,
        context,
        namespaces,
        complete: is_complete(&loaded),
        only: &only,
        redactor: &key::redactor(),
    };
    print(&render(&exported, args.output, paint(cli)))?;
    Ok(ExitCode::from(code(&exported)))
}

fn render(exported: &Exported<'_>, format: Format, paint: Paint) -> String {
    match format {
        Format::Text => export::text(exported, paint),
        Format::Json => export::json(exported) + "\n",
        Format::Yaml => export::yaml(exported),
        Format::Markdown => export::markdown(exported),
    }
}

/// Colours only on a terminal and never with `NO_COLOR` (no-color.org: set and not empty).
fn paint(cli: &Cli) -> Paint {
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

fn is_complete(loaded: &Loaded) -> bool {
    let waiting = |s: &CoverageState| matches!(s, CoverageState::Loading | CoverageState::Stale { .. });
    !loaded.triage.cluster.coverage().iter().any(|(_, _, state)| waiting(state))
}
