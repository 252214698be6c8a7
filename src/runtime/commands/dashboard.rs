//! `holdup` and `holdup demo`: the dashboard over a cluster, over files, or over the demo.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use chrono::{Local, Offset};
use color_eyre::{Result, eyre::bail};

use crate::cli::{Cli, Demo};
use crate::diagnose::Options;
use crate::model::KINDS;
use crate::runtime::clock::Clock;
use crate::runtime::dashboard::{self, Behind, Start};
use crate::runtime::decided::Decided;
use crate::runtime::fetch::{Cluster, Store};
use crate::runtime::{Triage, demo, feeds, key, live, load, narrow, theme};
use crate::screen::{Link, Status};

pub(super) async fn run(cli: &Cli) -> Result<ExitCode> {
    // Files may come through standard input; keys are then read from the terminal itself.
    let piped = cli.input.from.iter().any(|path| path == std::path::Path::new("-")) && std::io::stdout().is_terminal();
    if !has_terminal() && !piped {
        bail!("the dashboard needs a terminal; for scripts and pipes use: holdup report");
    }
    let decided = Decided::read(&cli.decisions)?;
    if !cli.input.from.is_empty() {
        let status = Status { link: Link::Waiting(names(cli)), context: names(cli), utc_offset: utc_offset(), ..Status::default() };
        dashboard::run_after(theme::theme(&cli.screen).0, status, || of_files(cli, decided)).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let start = super::unless_stopped(of_cluster(cli, decided)).await?;
    dashboard::run(start).await?;
    Ok(ExitCode::SUCCESS)
}

/// `holdup demo`: on a terminal the dashboard, else the report of its fifth minute.
pub(super) async fn demo(cli: &Cli, args: &Demo) -> Result<ExitCode> {
    if !has_terminal() {
        return super::report::of_demo(cli);
    }
    let played = demo::play(args.at.unwrap_or_default(), args.speed)?;
    let options = Options { clock_is_known: true, ..narrow::options(&cli.cluster)? };
    let (theme, notices) = theme::theme(&cli.screen);
    let store = Store::Cluster(Arc::new(Cluster::new(played.connection.clone(), live::PATIENCE)));
    let start = Start {
        triage: Triage::new(options.clone()),
        clock: played.clock,
        status: Status { context: "demo".to_owned(), utc_offset: utc_offset(), ..Status::default() },
        feeds: Some(feeds::start(played.connection, feeds::Wanted::All, live::PATIENCE, KINDS)),
        behind: Behind::new(store, key::redactor(), options, false),
        follows: None,
        namespaces: namespaces(cli),
        theme,
        notices,
    };
    dashboard::run(start).await?;
    Ok(ExitCode::SUCCESS)
}

/// Keys come from the one, the screen goes to the other.
fn has_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

async fn of_cluster(cli: &Cli, decided: Decided) -> Result<Start> {
    let options = Options { clock_is_known: true, ..narrow::options(&cli.cluster)? };
    let connection = live::connect(&cli.cluster).await?;
    let context = connection.about().context.clone().unwrap_or_else(|| connection.about().server.clone());
    let (theme, notices) = theme::theme(&cli.screen);
    let store = Store::Cluster(Arc::new(Cluster::new(connection.clone(), live::patience(&cli.cluster))));
    Ok(Start {
        triage: Triage::new(options.clone()),
        clock: live::clock(&connection),
        status: Status { link: Link::Waiting(context.clone()), context, utc_offset: utc_offset(), ..Status::default() },
        feeds: Some(feeds::start(connection.clone(), live::wanted(&cli.cluster), live::patience(&cli.cluster), KINDS)),
        behind: behind(decided, store, options, !cli.cluster.namespaces.is_empty()),
        follows: Some(connection),
        namespaces: namespaces(cli),
        theme,
        notices,
    })
}

fn of_files(cli: &Cli, decided: Decided) -> Result<Start> {
    let options = narrow::options(&cli.cluster)?;
    let loaded = load::open(&cli.input.from, cli.input.now, options.clone())?;
    let context = loaded.archive.about().context.clone().unwrap_or_else(|| names(cli));
    let ago = crate::runtime::wall_clock().since(loaded.now);
    let (theme, notices) = theme::theme(&cli.screen);
    Ok(Start {
        triage: loaded.triage,
        clock: Clock::Still(loaded.now),
        follows: None,
        status: Status { context, link: Link::File { as_of: loaded.now, ago: Some(ago) }, utc_offset: utc_offset(), ..Status::default() },
        feeds: None,
        behind: behind(decided, Store::Files(Arc::new(loaded.archive)), options, false),
        namespaces: namespaces(cli),
        theme,
        notices,
    })
}

/// Where whole objects come from, with what the user said of their differences.
fn behind(decided: Decided, store: Store, options: Options, narrowed: bool) -> Behind {
    let mut behind = Behind::new(store, key::redactor(), options, narrowed);
    behind.decided = decided;
    behind
}

/// What the user named; all else stays out of sight until it is asked for.
fn namespaces(cli: &Cli) -> Option<std::collections::BTreeSet<String>> {
    let named = &cli.cluster.namespaces;
    (!named.is_empty()).then(|| named.iter().cloned().collect())
}

/// What stands in the header for files that do not name their cluster.
fn names(cli: &Cli) -> String {
    let name =
        |path: &std::path::PathBuf| path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
    cli.input.from.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Seconds east of Greenwich, now, here.
fn utc_offset() -> i32 {
    Local::now().offset().fix().local_minus_utc()
}
