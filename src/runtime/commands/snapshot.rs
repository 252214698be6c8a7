//! `holdup snapshot FILE`.

use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::{Result, eyre::bail};

use super::print;
use crate::archive::Existing;
use crate::cli::{Cli, Snapshot};
use crate::runtime::{fetch::Store, key, load, narrow, snapshot};

pub(super) async fn run(cli: &Cli, args: &Snapshot) -> Result<ExitCode> {
    if cli.input.from.is_empty() {
        bail!("reading a live cluster is not there yet; use --from");
    }
    let mut loaded = load::open(&cli.input.from, cli.input.now, narrow::options(&cli.cluster)?)?;
    loaded.triage.judge(loaded.now);
    let context = loaded.archive.about().context.clone().unwrap_or_else(|| "files".to_owned());
    let plan = if args.all {
        snapshot::everything(&loaded.triage, loaded.now, &context)
    } else {
        snapshot::plan(&loaded.triage, loaded.now, &context)
    };
    let existing = if args.force { Existing::Overwrite } else { Existing::Keep };
    let store = Store::Files(Arc::new(loaded.archive));
    let written = snapshot::write(&store, plan, &args.file, existing, &key::redactor()).await?;
    print(&format!("{written} objects written to {}\n", args.file.display()))?;
    Ok(ExitCode::SUCCESS)
}
