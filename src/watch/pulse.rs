//! The pulse: asks every half minute for the leases of kube-system, which is data and proof of life in one, and notices sleep.

use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant as Moment, sleep_until};

use super::connection::{Connection, Get};
use super::error::Error;
use super::follow::Restart;
use super::items::Items;
use super::message::FeedMsg;
use super::resource::Resource;
use super::split::Page;
use crate::model::{Batch, CoverageState, Delta, Kind, Place};

/// How often is asked, and how long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    pub every: Duration,
    pub patience: Duration,
    /// How often the two clocks of this machine are compared.
    pub glance: Duration,
    /// Leases of nodes are asked for at most this often, and only while somebody wants them.
    pub nodes_every: Duration,
}

impl Default for Rhythm {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { every: seconds(30), patience: seconds(10), glance: seconds(10), nodes_every: seconds(60) }
    }
}

/// The clocks differ by more than this only when the machine slept or its clock was set.
const DRIFT: Duration = Duration::from_secs(5);
/// Whether the leases of nodes are wanted: some node is not plainly ready, or nothing was heard for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeLeases {
    Wanted,
    Unwanted,
}

/// Asks until nobody listens any more.
pub async fn pulse(
    connection: Connection,
    rhythm: Rhythm,
    to: mpsc::Sender<FeedMsg>,
    restarts: watch::Sender<Restart>,
    nodes: watch::Receiver<NodeLeases>,
) {
    let mut pulse = Pulse {
        connection,
        rhythm,
        to,
        restarts,
        nodes,
        misses: 0,
        control: Leases::of("kube-system"),
        node: Leases::of("kube-node-lease"),
        sleep: SleepWatch::new(Instant::now(), SystemTime::now()),
        asked_nodes: None,
    };
    // It ends when nobody listens.
    let _over = pulse.run().await;
}

/// Nobody listens any more.
struct Over;

struct Pulse {
    connection: Connection,
    rhythm: Rhythm,
    to: mpsc::Sender<FeedMsg>,
    restarts: watch::Sender<Restart>,
    nodes: watch::Receiver<NodeLeases>,
    misses: u32,
    control: Leases,
    node: Leases,
    sleep: SleepWatch,
    asked_nodes: Option<Moment>,
}

impl Pulse {
    async fn run(&mut self) -> Result<(), Over> {
        loop {
            let next = Moment::now() + self.rhythm.every;
            self.beat().await?;
            if self.wants_nodes() {
                self.asked_nodes = Some(Moment::now());
                let answer = self.node.ask(&self.connection, self.rhythm.patience).await;
                let told = self.node.told(answer);
                self.tell(told).await?;
            }
            self.rest(next).await?;
        }
    }

    /// One question. Every answer is a sign of life, a 403 too.
    async fn beat(&mut self) -> Result<(), Over> {
        let answer = self.control.ask(&self.connection, self.rhythm.patience).await;
        let error = match &answer {
            Ok(_) | Err(Error::Status(_)) => None,
            Err(error) => Some(error.clone()),
        };
        let told = self.control.told(answer);
        self.tell(told).await?;
        let before = self.misses;
        self.misses = if error.is_some() { before + 1 } else { 0 };
        match (before, self.misses) {
            (1, 2) => {
                self.connection.reconnect();
                let why = error.as_ref().map(ToString::to_string);
                self.restart(why);
            }
            // Feeds that rest need not wait for their turn.
            (2.., 0) => self.restart(None),
            (0, 0) => return Ok(()),
            _ => {}
        }
        self.tell(vec![FeedMsg::Pulse { misses: self.misses, error }]).await
    }

    /// Until the next beat, or the end of a sleep.
    async fn rest(&mut self, next: Moment) -> Result<(), Over> {
        while Moment::now() < next {
            let glance = (Moment::now() + self.rhythm.glance).min(next);
            tokio::select! {
                () = self.to.closed() => return Err(Over),
                () = sleep_until(glance) => {}
            }
            if self.sleep.slept(Instant::now(), SystemTime::now()) {
                self.connection.reconnect();
                self.tell(vec![FeedMsg::Woke]).await?;
                self.restart(None);
                return Ok(());
            }
        }
        Ok(())
    }

    fn wants_nodes(&self) -> bool {
        let due = self.asked_nodes.is_none_or(|asked| asked.elapsed() >= self.rhythm.nodes_every);
        due && *self.nodes.borrow() == NodeLeases::Wanted
    }

    fn restart(&self, why: Option<String>) {
        self.restarts.send_modify(|restart| {
            restart.count += 1;
            restart.why = why;
        });
    }

    async fn tell(&self, messages: Vec<FeedMsg>) -> Result<(), Over> {
        for message in messages {
            self.to.send(message).await.map_err(|_| Over)?;
        }
        Ok(())
    }
}

/// The leases of one namespace, read whole each time.
struct Leases {
    place: Place,
    epoch: u32,
    said: Option<CoverageState>,
}

impl Leases {
    fn of(namespace: &str) -> Self {
        Self { place: Place::Namespace(namespace.into()), epoch: 0, said: None }
    }

    async fn ask(&self, connection: &Connection, patience: Duration) -> Result<Batch, Error> {
        let path = Resource::of_kind(Kind::Lease, "v1").list(&self.place);
        let bytes = connection.fetch(&Get::json(path), patience).await?;
        read(&bytes)
    }

    fn told(&mut self, answer: Result<Batch, Error>) -> Vec<FeedMsg> {
        let (kind, place) = (Kind::Lease, self.place.clone());
        match answer {
            Ok(batch) => {
                self.epoch += 1;
                self.said = None;
                let epoch = self.epoch;
                let began = Delta::Began { kind, place: place.clone(), epoch };
                let batch = Delta::Batch { kind, place: place.clone(), epoch, batch };
                let synced = Delta::Synced { kind, place, epoch };
                [began, batch, synced].map(FeedMsg::Delta).into()
            }
            Err(error) => {
                let why = self.lost(&error);
                let is_new = self.said.as_ref() != Some(&why);
                self.said = Some(why.clone());
                is_new.then_some(FeedMsg::Delta(Delta::Lost { kind, place, why })).into_iter().collect()
            }
        }
    }

    fn lost(&self, error: &Error) -> CoverageState {
        let message = error.to_string();
        match error.code() {
            Some(401 | 403) => CoverageState::Denied { message, since: None },
            Some(404) => CoverageState::Absent { message },
            Some(_) | None => CoverageState::Stale { message, since: None },
        }
    }
}

fn read(bytes: &[u8]) -> Result<Batch, Error> {
    let (mut page, mut items, mut batch) = (Page::default(), Items::default(), Batch::new(Kind::Lease));
    page.push(bytes);
    while let Some(piece) = page.take() {
        items.read(&piece, &mut batch);
    }
    let unreadable = |_| Error::Unreadable { what: "the leases".to_owned(), why: "the answer is no list".to_owned() };
    let (_, rest) = page.finish().map_err(unreadable)?;
    if let Some(piece) = rest {
        items.read(&piece, &mut batch);
    }
    Ok(batch)
}

/// Compares the clock that stands still during sleep with the one that does not.
#[derive(Clone, Copy, Debug)]
pub struct SleepWatch {
    steady: Instant,
    wall: SystemTime,
}

impl SleepWatch {
    #[must_use]
    pub fn new(steady: Instant, wall: SystemTime) -> Self {
        Self { steady, wall }
    }

    /// Whether the wall clock went ahead of the steady one since the last look.
    pub fn slept(&mut self, steady: Instant, wall: SystemTime) -> bool {
        let passed = steady.saturating_duration_since(self.steady);
        // A clock that was set back has not slept.
        let by_wall = wall.duration_since(self.wall).unwrap_or_default();
        *self = Self { steady, wall };
        by_wall > passed + DRIFT
    }
}
