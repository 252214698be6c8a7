//! `holdup diff`: desired versus live, from a cluster or from files; the exit code says what was found.

mod cluster;
mod everything;
mod explaining;
mod files;
mod manifests;

use std::process::ExitCode;

use color_eyre::{Result, eyre::bail};

use super::{BLOCKED, FINE, UNSEEN, print};
use crate::cli::{Cli, DiffArgs, DiffFormat};
use crate::desired::{Again, BASELINE, Desired, Diff, FieldDiff, Path, Told, Verdict};
use crate::export::diff::{self, Compared, Compilation, Said};
use crate::runtime::around::RELEASE;
use crate::runtime::audit;
use crate::runtime::key;
use crate::runtime::rulings::Rulings;

pub(in crate::runtime) use cluster::compare;

pub(super) async fn run(cli: &Cli, args: &DiffArgs) -> Result<ExitCode> {
    let given = [&args.desired, &args.live, &args.related, &args.audit, &args.decisions.baseline, &cli.input.from];
    if given.into_iter().flatten().filter(|path| path.as_os_str() == "-").count() > 1 {
        bail!("standard input is named twice and can be read once: write one of the two to a file");
    }
    let redactor = key::redactor();
    let rulings = Rulings::read(&args.decisions)?;
    let from_files = !cli.input.from.is_empty() || !args.live.is_empty();
    let is_nothing = args.objects.is_empty() && args.desired.is_empty() && args.release.is_none() && !is_all(args);
    let hides = redactor.clone();
    let (mut found, mut remarks) = match (from_files, is_nothing) {
        _ if is_all(args) => everything::compared(cli, args, redactor, rulings).await?,
        (true, _) => files::compared(cli, args, &redactor, rulings)?,
        (false, true) => {
            bail!("nothing is named: write an object (holdup diff deploy/cart), manifests (-f deploy/), --release NAME or --all")
        }
        (false, false) => cluster::compared(cli, args, redactor, rulings).await?,
    };
    if !args.audit.is_empty() {
        remarks.log = Some(audit::join(&args.audit, found.all_mut(), &hides)?);
        relapses(&mut found);
    }
    let text = match args.output {
        DiffFormat::Text => diff::text(&found, &remarks, super::report::paint(cli)),
        DiffFormat::Json => diff::json_with(&found, &remarks) + "\n",
        DiffFormat::Yaml => diff::yaml_with(&found, &remarks),
    };
    for remark in remarks.lint.iter().flatten() {
        eprintln!("holdup: {}", crate::export::clean(&remark.line()));
    }
    print(&text)?;
    Ok(ExitCode::from(code(&found)))
}

/// What went wrong again belongs to the answers about the whole as well.
fn relapses(found: &mut Compilation) {
    let Compilation::Everything(surveyed) = found else { return };
    let again = surveyed.all.iter().flat_map(|compared| {
        let told = |field: &FieldDiff| {
            let relapse = field.told.again.as_ref()?;
            let (times, by, last) = (relapse.times, relapse.by.clone(), relapse.last.clone());
            Some(Again { object: compared.diff.object.clone(), path: field.path.to_string(), times, by, last })
        };
        compared.diff.fields.iter().filter_map(told)
    });
    surveyed.governance.again.extend(again);
}

/// Whether everything is compared; a baseline names what, if nothing else does.
fn is_all(args: &DiffArgs) -> bool {
    let names_nothing = args.objects.is_empty() && args.desired.is_empty() && args.release.is_none();
    args.all || names_nothing && args.live.is_empty() && !args.decisions.baseline.is_empty()
}

/// KIND/NAME or KIND/NAMESPACE/NAME.
fn names(text: &str) -> Option<(&str, &str)> {
    text.split_once('/')
}

/// Declared, and not in the cluster.
pub(in crate::runtime) fn absent(asked: &Desired) -> Compared {
    let (verdict, reason) = match asked.source {
        BASELINE => (Verdict::Drift, "in the baseline, and not among the live objects: deleted since"),
        _ => (Verdict::Pending, "declared, and not among the live objects: not applied yet, or deleted"),
    };
    let field = FieldDiff {
        path: Path::default(),
        desired: Some(asked.object.value().clone()),
        live: None,
        verdict,
        risk: None,
        owner: None,
        reason: reason.to_owned(),
        told: Told::default(),
    };
    let diff = Diff { object: asked.object.identity(), fields: vec![field] };
    Compared { diff, source: Some(Said::from(asked)), ..Compared::default() }
}

fn code(found: &Compilation) -> u8 {
    let all = found.all();
    let is_loud = |compared: &Compared| compared.diff.fields.iter().any(|field| field.verdict.is_loud());
    let (is_blind, is_gone) = match found {
        Compilation::Named(all) => (all.iter().any(|compared| compared.unread.is_some() || is_guessed(compared)), false),
        Compilation::Everything(surveyed) => (surveyed.stopped.is_some(), !surveyed.governance.gone.is_empty()),
    };
    if is_gone || all.iter().any(is_loud) {
        BLOCKED
    } else if is_blind || all.iter().all(|compared| compared.source.is_none()) {
        UNSEEN
    } else {
        FINE
    }
}

/// A release would say what was asked for and could not be read; what ownership and earlier revisions say instead is not enough.
fn is_guessed(compared: &Compared) -> bool {
    let is_guess = compared.source.as_ref().is_none_or(|said| matches!(said.id, "managed-fields" | "revision"));
    is_guess && compared.unchecked.iter().any(|unchecked| unchecked.kind == RELEASE)
}
