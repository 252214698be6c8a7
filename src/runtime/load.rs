//! Load: files into the picture, all at once.

use std::path::{Path, PathBuf};

use color_eyre::{Result, eyre::eyre};

use super::triage::Triage;
use crate::archive::{About, Archive, Input};
use crate::diagnose::Options;
use crate::export::clean;
use crate::model::Time;

/// Files as a picture, with the time as of which they are to be judged.
pub struct Loaded {
    pub triage: Triage,
    pub now: Time,
    pub archive: Archive,
}

/// Opens what `--from` names and takes all of it in.
///
/// # Errors
/// A file cannot be read, or holds nothing of Kubernetes.
pub fn open(from: &[PathBuf], now: Option<Time>, options: Options) -> Result<Loaded> {
    let inputs: Vec<Input> =
        from.iter().map(|path| if path == Path::new("-") { Input::Stdin } else { Input::Path(path.clone()) }).collect();
    let archive = Archive::open(&inputs).map_err(|error| eyre!("{error}"))?;
    Ok(load(archive, now, options))
}

/// Says on standard error what of the files could not be used.
pub fn tell_skipped(about: &About) {
    for skipped in about.skipped.iter().take(SAID) {
        eprintln!("holdup: {}", clean(&format!("skipped {skipped}")));
    }
    if about.skipped_count > SAID {
        eprintln!("holdup: and {} more places of the input were skipped", about.skipped_count - SAID);
    }
}

/// More of them nobody reads.
const SAID: usize = 3;

/// Takes all of an archive in. A recording is taken as it is at its end.
pub fn load(archive: Archive, now: Option<Time>, options: Options) -> Loaded {
    let clock_is_known = now.is_some() || archive.about().captured_at.is_some();
    let mut triage = Triage::new(Options { clock_is_known, ..options });
    for delta in archive.deltas() {
        triage.apply(delta);
    }
    let now = now.or_else(|| archive.about().now()).unwrap_or_else(super::wall_clock);
    Loaded { triage, now, archive }
}
