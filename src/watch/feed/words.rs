//! What a feed hears and what it wants done.

use std::time::Duration;

use crate::watch::error::{Error, Status};
use crate::watch::lines::Bookmark;

/// Moments are counted from the start of the feed.
pub type Moment = Duration;

/// What is fixed for a feed's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether the server's version is known to stream lists (1.32, and 1.34 on).
    pub streams: Streams,
    pub after_list: AfterList,
    /// How long headers, or the next bytes of a list, may take.
    pub patience: Duration,
    /// Makes the jitter differ between feeds.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    Yes,
    No,
}

/// How a kind is followed once it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterList {
    Watch,
    /// Listed again after this time.
    ListAgain(Duration),
}

/// What the feed heard.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// The answer began and says yes.
    Opened,
    /// The server says no.
    Refused(Status),
    /// No answer, or it broke off.
    Failed(Error),
    /// The metadata of a page.
    Page {
        version: String,
        next: String,
    },
    /// The page is read to its end.
    PageEnd,
    /// Changes, up to this version.
    Changes {
        version: Option<String>,
    },
    Bookmark {
        mark: Bookmark,
        version: Option<String>,
    },
    /// The watch ended with this status.
    Error(Status),
    /// The answer is over.
    Ended,
    /// The time that was asked for has come.
    Woke,
    /// Sleep is over, or the pulse failed: the connection is suspect.
    Restart {
        why: Option<String>,
    },
}

/// What the feed wants done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    Ask(Ask),
    /// Let go of the present answer.
    Close,
    Began,
    Synced,
    Lost(Lost),
    Say(Note),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A page from this token on; empty is the first. The answer is read after the page before it.
    Page {
        token: String,
    },
    /// Everything, then changes, in one answer.
    Stream {
        seconds: u32,
    },
    Watch {
        version: String,
        seconds: u32,
    },
}

/// Why a kind cannot be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Who asks has no right to it (403).
    Denied(String),
    /// Who asks is nobody that the server knows (401): it has no more rights anywhere else.
    NotLetIn(String),
    Absent(String),
    /// Known until now.
    Stale(String),
}

/// What belongs beside the kind on the coverage screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It is listed every so often, since it may not be watched.
    Polling(Duration),
    /// Watches are cut after about this long by something on the way.
    Cut(Duration),
    /// It was never read, and this is why it is still loading.
    Trouble(String),
    /// Trouble and cuts are over.
    Well,
}
