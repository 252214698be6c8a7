//! Load: files into the picture, all at once.

use std::path::{Path, PathBuf};

use color_eyre::{Result, eyre::Context};

use super::triage::Triage;
use crate::archive::{Archive, Archived, Input};
use crate::diagnose::Options;
use crate::model::{Batch, Delta, Kind, Place, Time};

/// Objects read before they are applied: bounds what is in memory twice.
const PAGE: usize = 500;

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
    let archive = Archive::open(&inputs).wrap_err("the input cannot be used")?;
    Ok(load(archive, now, options))
}

/// Takes all of an archive in. A recording is taken as it is at its end.
pub fn load(archive: Archive, now: Option<Time>, options: Options) -> Loaded {
    let clock_is_known = now.is_some() || archive.about().captured_at.is_some();
    let mut triage = Triage::new(Options { clock_is_known, ..options });
    for kind in archive.kinds() {
        let row = Kind::of(&kind.api_version(), &kind.name);
        let objects: Vec<Archived<'_>> = archive.objects(kind, None).collect();
        for page in objects.chunks(PAGE) {
            let mut batch = Batch::new(row);
            for object in page {
                batch.upsert(&object.bytes());
            }
            triage.apply(Delta::Batch { kind: row, place: Place::All, epoch: 1, batch });
        }
    }
    for (kind, namespace, state) in archive.about().coverage().iter() {
        let place = namespace.map_or(Place::All, |ns| Place::Namespace(ns.into()));
        triage.apply(Delta::Lost { kind, place, why: state.clone() });
    }
    let now = now.or_else(|| archive.about().now()).unwrap_or_else(super::wall_clock);
    Loaded { triage, now, archive }
}
