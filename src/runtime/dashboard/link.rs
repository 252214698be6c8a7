//! Link: from what feeds say of themselves to the state of the header.

use crate::model::{Kind, Time};
use crate::screen::{Link, Status};
use crate::watch::FeedMsg;

/// Takes what a feed says of itself into the state of the header; answers whether that changed anything there. Deltas are not its affair.
pub(super) fn note(status: &mut Status, msg: &FeedMsg, now: Time) -> bool {
    let before = status.clone();
    match msg {
        FeedMsg::Delta(_) | FeedMsg::Woke => {}
        FeedMsg::Discovered(found) => status.unreadable = found.unreadable.clone(),
        FeedMsg::Note { kind, place, note } => noted(status, *kind, place.namespace(), note.as_deref()),
        FeedMsg::Settled => status.remaining.clear(),
        FeedMsg::Progress { kind, remaining, .. } => progress(status, *kind, *remaining),
        FeedMsg::Reached { .. } => status.link = Link::Live { changed: None },
        FeedMsg::NotReached(error) => status.link = Link::Failed(error.to_string()),
        FeedMsg::Scope(chosen) => status.scope = chosen.why.clone(),
        FeedMsg::Pulse { misses: 0, .. } => {
            if matches!(status.link, Link::Stale { .. }) {
                status.link = Link::Live { changed: None };
            }
        }
        FeedMsg::Pulse { misses, .. } => {
            if *misses >= 2 && !matches!(status.link, Link::Stale { .. }) {
                status.link = Link::Stale { since: now };
            }
        }
    }
    *status != before
}

fn progress(status: &mut Status, kind: Kind, remaining: Option<u64>) {
    match remaining.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0) {
        Some(remaining) => {
            status.remaining.insert(kind, remaining);
        }
        None => {
            status.remaining.remove(&kind);
        }
    }
}

fn noted(status: &mut Status, kind: Kind, namespace: Option<&str>, note: Option<&str>) {
    let key = (kind, namespace.map(str::to_owned));
    match note {
        Some(note) => {
            status.notes.insert(key, note.to_owned());
        }
        None => {
            status.notes.remove(&key);
        }
    }
}
