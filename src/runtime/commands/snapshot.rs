//! `holdup snapshot FILE`.

use std::process::ExitCode;

use color_eyre::Result;

use super::print;
use crate::archive::Existing;
use crate::cli::{Cli, Snapshot};
use crate::runtime::{gather, key, snapshot};

pub(super) async fn run(cli: &Cli, args: &Snapshot) -> Result<ExitCode> {
    let mut seen = if cli.input.from.is_empty() { gather::cluster(&cli.cluster).await? } else { gather::files(cli)? };
    seen.triage.judge(seen.now);
    let context = seen.context.clone().unwrap_or_else(|| "files".to_owned());
    let plan =
        if args.all { snapshot::everything(&seen.triage, seen.now, &context) } else { snapshot::plan(&seen.triage, seen.now, &context) };
    let existing = if args.force { Existing::Overwrite } else { Existing::Keep };
    let written = snapshot::write(&seen.store, plan, &args.file, existing, &std::sync::Arc::new(key::redactor())).await?;
    print(&format!("{written} objects written to {}\n", args.file.display()))?;
    Ok(ExitCode::SUCCESS)
}
