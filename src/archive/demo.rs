//! The embedded cluster in which an incident unfolds: the recording that `assets/demo/script.yaml` stands for.

use std::io::Read;

use flate2::read::GzDecoder;

use super::shift::shift;
use super::{Archive, ArchiveError};
use crate::model::Time;

const RECORDING: &[u8] = include_bytes!("../../assets/demo/demo.jsonl.gz");
/// When the recording starts; all times in it are moved from there.
const EPOCH: &str = "2026-05-04T12:00:00Z";

impl Archive {
    /// Seconds after its start at which the demo stands still.
    pub const DEMO_SECONDS: u32 = 300;

    /// The demo, all times in it moved so that it starts at `start`.
    pub fn demo(start: Time) -> Result<Self, ArchiveError> {
        let mut lines = Vec::new();
        let unpacked = GzDecoder::new(RECORDING).read_to_end(&mut lines);
        unpacked.map_err(|error| ArchiveError::Unreadable { name: "the demo".to_owned(), error })?;
        let by = Time::parse(EPOCH).map_or(0, |epoch| start.since(epoch));
        shift(&mut lines, by);
        Self::from_bytes("demo", &lines)
    }
}
