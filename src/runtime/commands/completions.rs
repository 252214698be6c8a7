//! `holdup completions SHELL`.

use std::process::ExitCode;

use clap::CommandFactory;
use color_eyre::Result;

use super::print;
use crate::cli::{Cli, Completions};

pub(super) fn run(args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "holdup", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
