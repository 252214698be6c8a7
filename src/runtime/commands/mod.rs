//! One file a command. Each returns how the program exits; what went wrong is an error with what it means and what to do.

mod completions;
mod dashboard;
mod diff;
mod explain;
mod rbac;
mod report;
mod serve;
mod snapshot;

use std::io::{BufWriter, StdoutLock, Write};
use std::process::ExitCode;

use color_eyre::{Result, eyre::bail};
use tokio::signal::unix::{SignalKind, signal};

pub(super) use diff::{absent, compare};

use crate::cli::{Cli, Command};
use crate::runtime::log;

/// Nothing is blocked, or the command did its work.
pub const FINE: u8 = 0;
/// Something is blocked.
pub const BLOCKED: u8 = 1;
/// It could not run: usage, unreadable input, no cluster.
pub const FAILED: u8 = 2;
/// It ran, but could not see enough to say.
pub const UNSEEN: u8 = 3;

/// Runs the command that the arguments name.
///
/// # Errors
/// What kept it from running, in words.
pub async fn run(cli: &Cli) -> Result<ExitCode> {
    if let Some(path) = &cli.screen.log_file {
        log::start(path)?;
    }
    if cli.command.is_some() && !(cli.decisions.accept.is_empty() && cli.decisions.baseline.is_empty()) {
        bail!("--accept and --baseline belong behind the command that reads them: holdup diff --accept FILE");
    }
    match &cli.command {
        Some(Command::Report(args)) => unless_stopped(report::run(cli, args)).await,
        // A survey that is stopped says what it has.
        Some(Command::Diff(args)) if args.all => diff::run(cli, args).await,
        Some(Command::Diff(args)) => unless_stopped(diff::run(cli, args)).await,
        Some(Command::Explain(args)) => explain::run(args),
        Some(Command::Rbac(args)) => rbac::run(&cli.cluster, args),
        Some(Command::Completions(args)) => completions::run(args),
        Some(Command::Session(args)) => Err(session(&args.program)),
        Some(Command::Snapshot(args)) => unless_stopped(snapshot::run(cli, args)).await,
        Some(Command::Serve(args)) => serve::run(args).await,
        Some(Command::Demo(args)) => dashboard::demo(cli, args).await,
        None => dashboard::run(cli).await,
    }
}

/// Does the work unless a signal ends it first. Work that is dropped takes the plugin with it that it waits for; a process that dies
/// of a signal would leave the plugin behind, since that lives in a session of its own.
pub(super) async fn unless_stopped<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        done = work => done,
        _ = interrupt.recv() => bail!("interrupted"),
        _ = terminate.recv() => bail!("terminated"),
        _ = hang_up.recv() => bail!("the terminal is gone"),
    }
}

/// Becomes the given program in a session of its own; returns only what kept it from that.
fn session(program: &[std::ffi::OsString]) -> color_eyre::Report {
    let words: Vec<String> = program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match words.split_first() {
        Some((name, args)) => crate::watch::become_session(name, args).into(),
        None => color_eyre::eyre::eyre!("no program is named"),
    }
}

/// Writes to standard output. A reader that has gone away (`| head`) is no failure.
pub(super) fn print(text: &str) -> Result<()> {
    let mut out = Printed::default();
    // What went wrong is told at the end.
    let _told = std::fmt::Write::write_str(&mut out, text);
    out.finish()
}

/// Standard output for what is written in pieces.
struct Printed {
    out: BufWriter<StdoutLock<'static>>,
    failed: Option<std::io::Error>,
}

impl Default for Printed {
    fn default() -> Self {
        Self { out: BufWriter::new(std::io::stdout().lock()), failed: None }
    }
}

impl std::fmt::Write for Printed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
        if self.failed.is_some() { Err(std::fmt::Error) } else { Ok(()) }
    }
}

impl Printed {
    /// What is left is written. A reader that has gone away (`| head`) is no failure.
    fn finish(mut self) -> Result<()> {
        match self.failed.map_or_else(|| self.out.flush(), Err) {
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }
}
