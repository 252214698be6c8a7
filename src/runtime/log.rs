//! The log: what feeds and the connection say of themselves, to the file named with `--log-file`. Bodies are never logged.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use color_eyre::{Result, eyre::Context};
use tracing_subscriber::EnvFilter;

use crate::watch::FeedMsg;

/// Starts to write to this file, which only this user can read. `HOLDUP_LOG` narrows or widens it, as in `debug`.
///
/// # Errors
/// The file cannot be written to.
pub fn start(path: &Path) -> Result<()> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let file = file.wrap_err_with(|| format!("the log file {} cannot be written to", path.display()))?;
    let filter = EnvFilter::try_from_env("HOLDUP_LOG").unwrap_or_else(|_| EnvFilter::new("holdup=info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Mutex::new(file));
    // A second start in one process would be a mistake of ours, and no reason to stop.
    let _ = lines.try_init();
    Ok(())
}

/// Notes what a feed says, without the objects in it.
pub fn heard(msg: &FeedMsg) {
    match msg {
        FeedMsg::Delta(_) | FeedMsg::Progress { .. } => {}
        FeedMsg::Note { kind, place, note: Some(note) } => tracing::warn!(?kind, ?place, "{note}"),
        FeedMsg::Note { kind, place, note: None } => tracing::info!(?kind, ?place, "well again"),
        FeedMsg::Reached { version } => tracing::info!(version = version.as_ref().map(|v| &*v.text), "the cluster answers"),
        FeedMsg::NotReached(error) => tracing::warn!("the cluster does not answer: {error}"),
        FeedMsg::Scope(chosen) => tracing::info!(namespaces = ?chosen.namespaces, why = ?chosen.why, "what is looked at"),
        FeedMsg::Discovered(found) => tracing::info!(kinds = found.served.len(), unreadable = ?found.unreadable, "what is offered"),
        FeedMsg::Settled => tracing::info!("every kind has come to a first end"),
        FeedMsg::Pulse { misses: 0, .. } => tracing::debug!("pulse"),
        FeedMsg::Pulse { misses, error } => tracing::warn!(misses, error = error.as_ref().map(ToString::to_string), "no pulse"),
        FeedMsg::Woke => tracing::info!("the machine slept, or its clock was set"),
    }
}
