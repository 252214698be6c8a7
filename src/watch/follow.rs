//! Carries out what a feed decides: asks, reads answers as they come, and hands on objects in order.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::body::Body;
use super::connection::Connection;
use super::error::Error;
use super::feed::{Ask, Do, Feed, Heard, Lost, Moment, Note, Plan};
use super::lines::{self, Lines};
use super::message::FeedMsg;
use super::reader::{Parcel, Underway, read_parcels};
use super::request::{self, Shape};
use super::resource::Resource;
use super::split::{NoPage, PORTION, Page, Piece};
use super::task::Task;
use crate::model::{CoverageState, Delta, Kind, Place};

/// One kind in one place.
#[derive(Clone, Debug)]
pub struct Errand {
    pub kind: Kind,
    pub place: Place,
    pub resource: Resource,
    pub plan: Plan,
    pub if_denied: IfDenied,
}

/// What a feed does whose first list is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfDenied {
    /// It says so and tries again later.
    Stay,
    /// It ends without a word, for want of rights alone: somebody else chooses a smaller place.
    GiveUp,
}

/// How the first list went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    Synced,
    /// It failed and is tried again, or the kind is denied or absent.
    Later,
    /// Who asks has no right to it, in the server's words.
    Denied(String),
}

/// Everybody who follows is to connect anew; counted, so that none is missed.
#[derive(Clone, Debug, Default)]
pub struct Restart {
    pub count: u64,
    /// Why what is known is stale; `None` when nothing is wrong.
    pub why: Option<String>,
}

/// Follows until nobody listens any more.
pub async fn follow(
    connection: Connection,
    errand: Errand,
    to: mpsc::Sender<FeedMsg>,
    restarts: watch::Receiver<Restart>,
    settled: oneshot::Sender<Settled>,
) {
    let (parcels, pending) = mpsc::channel(1);
    let (kind, place) = (errand.kind, errand.place.clone());
    // Two tasks, so that the next bytes are fetched while these are read.
    let mut reading = Task::spawn(read_parcels(kind, place.clone(), connection.spares().clone(), pending, to.clone()));
    let mut follower = Follower::new(connection, errand, parcels, settled);
    // It ends when the reader has gone, or when it gave up.
    let _ended = follower.run(restarts).await;
    drop(follower);
    if reading.wait().await.is_none() {
        let message = "internal error while reading its objects; please report it".to_owned();
        let why = CoverageState::Stale { message, since: None };
        // Nobody may be left to hear it.
        let _told = to.send(FeedMsg::Delta(Delta::Lost { kind, place, why })).await;
    }
}

/// Nobody listens any more, or the feed gave up.
struct Over;

struct Follower {
    connection: Connection,
    errand: Errand,
    feed: Feed,
    began: Instant,
    answer: Answering,
    /// The answer to be read after the present page.
    next: Option<Task<Result<Body, Error>>>,
    heard: VecDeque<Heard>,
    parcels: mpsc::Sender<Parcel>,
    settled: Option<oneshot::Sender<Settled>>,
    remaining: Option<u64>,
}

/// What is awaited.
enum Answering {
    Nothing,
    Headers(Task<Result<Body, Error>>, Shape),
    Page(Body, Page),
    Watch(Body, Lines),
}

/// What came while waiting; it is worked off without being interrupted.
enum Came {
    Headers(Result<Body, Error>),
    Bytes(Result<Option<Bytes>, Error>),
}

/// This much is read before it is handed on, if it is there already.
const AT_ONCE: usize = 256 << 10;
/// The connection hands over one piece when it has its turn, and needs one turn to notice that it is wanted.
const TURNS: usize = 2;

impl Follower {
    fn new(connection: Connection, errand: Errand, parcels: mpsc::Sender<Parcel>, settled: oneshot::Sender<Settled>) -> Self {
        Self {
            connection,
            feed: Feed::new(errand.plan.clone()),
            errand,
            began: Instant::now(),
            answer: Answering::Nothing,
            next: None,
            heard: VecDeque::new(),
            parcels,
            settled: Some(settled),
            remaining: None,
        }
    }

    async fn run(&mut self, mut restarts: watch::Receiver<Restart>) -> Result<(), Over> {
        let doing = self.feed.start(self.now());
        self.perform(doing).await?;
        loop {
            let heard = match self.heard.pop_front() {
                Some(heard) => heard,
                None => self.listen(&mut restarts).await?,
            };
            let doing = self.feed.hear(heard, self.now());
            self.perform(doing).await?;
        }
    }

    fn now(&self) -> Moment {
        self.began.elapsed()
    }

    /// Waits for the next thing to hear; what can be interrupted here loses nothing.
    async fn listen(&mut self, restarts: &mut watch::Receiver<Restart>) -> Result<Heard, Over> {
        loop {
            if matches!(self.answer, Answering::Nothing)
                && let Some(next) = self.next.take()
            {
                self.answer = Answering::Headers(next, Shape::Page);
            }
            let wakes = self.feed.wakes().map(|moment| self.began + moment);
            let came = tokio::select! {
                biased;
                () = self.parcels.closed() => return Err(Over),
                changed = restarts.changed() => {
                    changed.map_err(|_| Over)?;
                    let why = restarts.borrow_and_update().why.clone();
                    return Ok(Heard::Restart { why });
                }
                came = self.answer.next() => came,
                () = until(wakes) => return Ok(Heard::Woke),
            };
            self.work_off(came).await?;
            if let Some(heard) = self.heard.pop_front() {
                return Ok(heard);
            }
        }
    }

    async fn work_off(&mut self, came: Came) -> Result<(), Over> {
        match (came, std::mem::replace(&mut self.answer, Answering::Nothing)) {
            (Came::Headers(Ok(body)), Answering::Headers(_, shape)) => {
                self.answer = match shape {
                    Shape::Page => Answering::Page(body, Page::with(self.connection.spares().clone())),
                    Shape::Watch => Answering::Watch(body, Lines::default()),
                };
                self.heard.push_back(Heard::Opened);
            }
            (Came::Headers(Err(error)) | Came::Bytes(Err(error)), _) => self.heard.push_back(refusal(error)),
            (Came::Bytes(Ok(Some(bytes))), Answering::Page(body, page)) => self.page(body, page, bytes).await?,
            (Came::Bytes(Ok(Some(bytes))), Answering::Watch(body, lines)) => self.lines(body, lines, bytes).await?,
            (Came::Bytes(Ok(None)), Answering::Page(_, page)) => self.page_end(page).await?,
            (Came::Bytes(Ok(None)), _) => self.heard.push_back(Heard::Ended),
            // Bytes come only from a body, headers only where they are awaited.
            (Came::Headers(Ok(_)) | Came::Bytes(Ok(Some(_))), _) => {}
        }
        Ok(())
    }

    async fn page(&mut self, body: Body, mut page: Page, mut bytes: Bytes) -> Result<(), Over> {
        self.feed.touch(self.now());
        while !bytes.is_empty() {
            if let Some(piece) = page.pass(&mut bytes) {
                self.hand_on(Some(piece)).await?;
                continue;
            }
            let knew = page.head().is_some();
            page.push(&bytes.split_to(bytes.len().min(PORTION)));
            if let (false, Some(head)) = (knew, page.head()) {
                self.remaining = head.remaining_item_count;
                self.heard.push_back(Heard::Page { version: head.resource_version.clone(), next: head.next.clone() });
            }
            self.hand_on(page.take()).await?;
        }
        self.answer = Answering::Page(body, page);
        Ok(())
    }

    async fn page_end(&mut self, page: Page) -> Result<(), Over> {
        let knew = page.head().is_some();
        match page.finish() {
            Ok((head, piece)) => {
                self.remaining = head.remaining_item_count;
                self.hand_on(piece).await?;
                if !knew {
                    self.heard.push_back(Heard::Page { version: head.resource_version, next: head.next });
                }
                self.heard.push_back(Heard::PageEnd);
            }
            Err(NoPage::Partial) => self.heard.push_back(Heard::Failed(Error::Cut { why: "the list ended too early".to_owned() })),
            Err(NoPage::NoList) => {
                let what = format!("the list of {}", self.errand.resource.plural);
                self.heard.push_back(Heard::Failed(Error::Unreadable { what, why: "it has no items".to_owned() }));
            }
        }
        Ok(())
    }

    async fn lines(&mut self, mut body: Body, mut lines: Lines, bytes: Bytes) -> Result<(), Over> {
        let (said, end) = self.gather(&mut body, &mut lines, bytes).await;
        self.feed.touch(self.now());
        if said.skipped > 0 {
            self.note(format!("{} watch lines were longer than 8 MB or could not be read", said.skipped)).await?;
        }
        let changed = !said.chunks.is_empty();
        // Before the bookmark that ends a list it proves nothing.
        let version = if self.feed.is_listing() && said.bookmark.is_none() { None } else { said.version() };
        self.hand_on(changed.then_some(Piece::Chunks(said.chunks))).await?;
        if changed {
            self.heard.push_back(Heard::Changes { version: version.clone() });
        }
        if let Some(mark) = said.bookmark {
            self.heard.push_back(Heard::Bookmark { mark, version });
        }
        match (said.error, end) {
            (Some(status), _) => self.heard.push_back(Heard::Error(status)),
            (None, Some(end)) => self.heard.push_back(end),
            (None, None) => self.answer = Answering::Watch(body, lines),
        }
        Ok(())
    }

    /// One wake-up for all that is there already. Of a list more is on its way: the connection has its turn to bring it.
    async fn gather(&mut self, body: &mut Body, lines: &mut Lines, bytes: Bytes) -> (lines::Heard, Option<Heard>) {
        let (mut said, mut read, mut waited) = (lines::Heard::default(), bytes.len(), 0);
        let turns = if self.feed.is_listing() { TURNS } else { 0 };
        lines.hear(&bytes, &mut said);
        // The connection reads on into the same memory once nobody holds it.
        drop(bytes);
        while read < AT_ONCE {
            match body.piece().now_or_never() {
                Some(Ok(Some(more))) => {
                    (read, waited) = (read + more.len(), 0);
                    lines.hear(&more, &mut said);
                }
                Some(Ok(None)) => return (said, Some(Heard::Ended)),
                Some(Err(error)) => return (said, Some(refusal(error))),
                None if waited < turns => {
                    waited += 1;
                    tokio::task::yield_now().await;
                }
                None => break,
            }
        }
        (said, None)
    }

    async fn hand_on(&mut self, piece: Option<Piece>) -> Result<(), Over> {
        let Some(piece) = piece else {
            return Ok(());
        };
        let underway = self.feed.is_listing().then_some(Underway { remaining: self.remaining });
        self.send(Parcel::Objects { epoch: self.feed.epoch(), piece, underway }).await?;
        // A reader that holds us up is not silence.
        self.feed.touch(self.now());
        Ok(())
    }

    async fn perform(&mut self, doing: Vec<Do>) -> Result<(), Over> {
        for step in doing {
            match step {
                Do::Ask(ask) => self.ask(&ask),
                Do::Close => {
                    self.answer = Answering::Nothing;
                    self.next = None;
                    self.heard.clear();
                }
                Do::Began => {
                    self.delta(|kind, place, epoch| Delta::Began { kind, place, epoch }).await?;
                }
                Do::Synced => {
                    self.delta(|kind, place, epoch| Delta::Synced { kind, place, epoch }).await?;
                    self.settle(Settled::Synced).await?;
                }
                Do::Lost(lost) => self.lost(lost).await?,
                Do::Say(note) => self.say(&note).await?,
            }
        }
        Ok(())
    }

    fn ask(&mut self, ask: &Ask) {
        let (get, shape) = request::of(ask, self.errand.kind, &self.errand.resource.list(&self.errand.place));
        let connection = self.connection.clone();
        let task = Task::spawn(async move { connection.get(&get).await?.accepted().await });
        match (&self.answer, ask) {
            (Answering::Page(..), Ask::Page { token }) if !token.is_empty() => self.next = Some(task),
            _ => self.answer = Answering::Headers(task, shape),
        }
    }

    async fn lost(&mut self, lost: Lost) -> Result<(), Over> {
        if let (Lost::Denied(message), IfDenied::GiveUp, true) = (&lost, self.errand.if_denied, self.settled.is_some()) {
            self.settle(Settled::Denied(message.clone())).await?;
            return Err(Over);
        }
        let since = self.connection.now();
        let why = match lost {
            Lost::Denied(message) | Lost::NotLetIn(message) => CoverageState::Denied { message, since },
            Lost::Absent(message) => CoverageState::Absent { message },
            Lost::Stale(message) => CoverageState::Stale { message, since },
        };
        self.delta(|kind, place, _| Delta::Lost { kind, place, why }).await?;
        self.settle(Settled::Later).await
    }

    async fn say(&mut self, note: &Note) -> Result<(), Over> {
        let note = match note {
            Note::Polling(every) => format!("polling every {} s: it may be listed, not watched", every.as_secs()),
            Note::Cut(after) => {
                format!("watches are cut after {} s by something on the way, a proxy or load balancer; they are resumed", after.as_secs())
            }
            Note::Trouble(why) => {
                self.settle(Settled::Later).await?;
                why.clone()
            }
            Note::Well => {
                let (kind, place) = (self.errand.kind, self.errand.place.clone());
                return self.tell(FeedMsg::Note { kind, place, note: None }).await;
            }
        };
        self.note(note).await
    }

    async fn note(&mut self, note: String) -> Result<(), Over> {
        let (kind, place) = (self.errand.kind, self.errand.place.clone());
        self.tell(FeedMsg::Note { kind, place, note: Some(note) }).await
    }

    async fn delta(&mut self, delta: impl FnOnce(Kind, Place, u32) -> Delta) -> Result<(), Over> {
        let delta = delta(self.errand.kind, self.errand.place.clone(), self.feed.epoch());
        self.tell(FeedMsg::Delta(delta)).await
    }

    async fn tell(&mut self, message: FeedMsg) -> Result<(), Over> {
        self.send(Parcel::Message(message)).await
    }

    async fn send(&mut self, parcel: Parcel) -> Result<(), Over> {
        self.parcels.send(parcel).await.map_err(|_| Over)
    }

    /// Said through the reader, so that whoever waits finds everything before it in its place.
    async fn settle(&mut self, how: Settled) -> Result<(), Over> {
        match self.settled.take() {
            Some(to) => self.send(Parcel::Settled(to, how)).await,
            None => Ok(()),
        }
    }
}

impl Answering {
    async fn next(&mut self) -> Came {
        match self {
            Self::Nothing => std::future::pending().await,
            Self::Headers(task, _) => {
                Came::Headers(task.wait().await.unwrap_or_else(|| Err(Error::Cut { why: "the request panicked".to_owned() })))
            }
            Self::Page(body, _) | Self::Watch(body, _) => Came::Bytes(body.piece().await),
        }
    }
}

fn refusal(error: Error) -> Heard {
    if let Error::Status(status) = error { Heard::Refused(status) } else { Heard::Failed(error) }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
