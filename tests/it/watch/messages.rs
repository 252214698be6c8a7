//! What feeds tell, as lines of text that tests can compare.

use std::time::Duration;

use holdup::model::{CoverageState, Delta, Kind, Place};
use holdup::watch::FeedMsg;
use tokio::sync::mpsc;

/// Longer than anything takes on a busy machine.
const SOON: Duration = Duration::from_secs(30);

pub async fn next(messages: &mut mpsc::Receiver<FeedMsg>) -> Option<FeedMsg> {
    tokio::time::timeout(SOON, messages.recv()).await.expect("a message within half a minute")
}

/// The next lines, up to and with the one that ends like this.
pub async fn until(messages: &mut mpsc::Receiver<FeedMsg>, end: &str) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(message) = next(messages).await {
        lines.push(line(&message));
        if lines.last().is_some_and(|line| line.contains(end)) {
            return lines;
        }
    }
    panic!("no {end:?} in {lines:?}");
}

/// The same without progress and plain batches.
pub async fn steps(messages: &mut mpsc::Receiver<FeedMsg>, end: &str) -> Vec<String> {
    let mut lines = until(messages, end).await;
    lines.retain(|line| !line.starts_with("progress"));
    lines
}

pub fn line(message: &FeedMsg) -> String {
    match message {
        FeedMsg::Delta(Delta::Began { kind, place, epoch }) => format!("began {} {epoch}", at(*kind, place)),
        FeedMsg::Delta(Delta::Batch { kind, place, epoch, batch }) => {
            format!("batch {} {epoch}: {} objects, {} refused", at(*kind, place), batch.len(), batch.refused())
        }
        FeedMsg::Delta(Delta::Synced { kind, place, epoch }) => format!("synced {} {epoch}", at(*kind, place)),
        FeedMsg::Delta(Delta::Lost { kind, place, why }) => format!("lost {}: {}", at(*kind, place), state(why)),
        FeedMsg::Delta(Delta::Gone { kind, .. }) => format!("gone {kind:?}"),
        FeedMsg::Progress { kind, place, read, remaining } => format!("progress {} {read} {remaining:?}", at(*kind, place)),
        FeedMsg::Note { kind, place, note } => format!("note {}: {}", at(*kind, place), note.as_deref().unwrap_or("well")),
        FeedMsg::Reached { version } => format!("reached {}", version.as_ref().map_or("", |version| version.text.as_str())),
        FeedMsg::NotReached(error) => format!("not reached: {error}"),
        FeedMsg::Scope(chosen) => format!("scope {:?} {}", chosen.namespaces, chosen.why.as_deref().unwrap_or_default()),
        FeedMsg::Discovered(discovery) => format!("discovered {} kinds", discovery.served.len()),
        FeedMsg::Settled => "settled".to_owned(),
        FeedMsg::Pulse { misses, error } => format!("pulse {misses} {}", error.as_ref().map_or_else(String::new, ToString::to_string)),
        FeedMsg::Woke => "woke".to_owned(),
    }
}

fn at(kind: Kind, place: &Place) -> String {
    match place.namespace() {
        Some(namespace) => format!("{kind:?}/{namespace}"),
        None => format!("{kind:?}"),
    }
}

fn state(state: &CoverageState) -> String {
    match state {
        CoverageState::Loading => "loading".to_owned(),
        CoverageState::Synced => "synced".to_owned(),
        CoverageState::Denied { message, .. } => format!("denied: {message}"),
        CoverageState::Absent { message } => format!("absent: {message}"),
        CoverageState::Stale { message, .. } => format!("stale: {message}"),
    }
}
