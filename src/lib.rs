//! holdup

pub mod app;
pub mod archive;
pub mod cli;
pub mod diagnose;
pub mod export;
pub mod model;
pub mod page;
pub mod redact;
pub mod runtime;
pub mod term;
pub mod ui;
pub mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Runs the program with these arguments, and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    runtime::commands::run(&cli).unwrap_or_else(|error| {
        eprintln!("holdup: {error:#}");
        ExitCode::from(runtime::commands::FAILED)
    })
}
