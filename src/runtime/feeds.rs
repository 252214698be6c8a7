//! Which feeds run, where and in which order: pods first and alone, then everything else, four at a time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::model::{CoverageState, Delta, Follow, Kind, KindRow, Place};
use crate::watch::feed::{AfterList, Plan, Streams};
use crate::watch::{
    Chosen, Connection, Discovery, Errand, Error, FeedMsg, IfDenied, NodeLeases, Offer, Resource, Restart, Rhythm, Settled, Version,
    discover, follow, pulse, version,
};

/// Which namespaces the user wants to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All, if pods may be listed there, else the namespace of the context.
    ByRights,
    All,
    Namespaces(Vec<String>),
}

/// Feeds that run. Dropped, they end.
pub struct Feeds {
    pub messages: mpsc::Receiver<FeedMsg>,
    restarts: watch::Sender<Restart>,
    nodes: watch::Sender<NodeLeases>,
    task: JoinHandle<()>,
}

/// Nobody reads faster than one who judges; more than this need not wait in memory.
const WAITING: usize = 2;
/// So many kinds are listed at a time.
const AT_ONCE: usize = 4;
/// A watch is a connection each: with more namespaces than this only what matters most is watched.
const WATCHED_NAMESPACES: usize = 4;
/// What is not watched for that reason is listed this often.
const LISTED_EVERY: Duration = Duration::from_secs(60);
/// Kinds without the verb to watch.
const POLLED_EVERY: Duration = Duration::from_secs(30);
/// `/version` is optional and must not hold anything up.
const VERSION: Duration = Duration::from_secs(3);
const DISCOVERY: Duration = Duration::from_secs(15);
/// Kinds that are absent may be installed.
const LOOK_AGAIN: Duration = Duration::from_secs(300);

/// Starts the feeds for these kinds; `patience` is for headers and for the next bytes of a list. It must be called inside a
/// Tokio runtime.
#[must_use]
pub fn start(connection: Connection, wanted: Wanted, patience: Duration, kinds: &'static [KindRow]) -> Feeds {
    let (to, messages) = mpsc::channel(WAITING);
    let (restarts, _) = watch::channel(Restart::default());
    let (nodes, wants_nodes) = watch::channel(NodeLeases::Unwanted);
    let director = Director {
        connection,
        kinds,
        patience,
        to,
        restarts: restarts.clone(),
        version: None,
        reached: false,
        namespaces: None,
        running: JoinSet::new(),
        slots: Arc::new(Semaphore::new(AT_ONCE)),
    };
    let task = tokio::spawn(async move {
        // It ends when nobody listens.
        let _over = director.run(wanted, wants_nodes).await;
    });
    Feeds { messages, restarts, nodes, task }
}

impl Feeds {
    /// Everything connects anew, as after sleep.
    pub fn restart(&self) {
        self.restarts.send_modify(|restart| {
            restart.count += 1;
            restart.why = None;
        });
    }

    /// Whether the leases of nodes are to be read from now on.
    pub fn want_node_leases(&self, wanted: NodeLeases) {
        self.nodes.send_replace(wanted);
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Nobody listens any more.
struct Over;

struct Director {
    connection: Connection,
    kinds: &'static [KindRow],
    patience: Duration,
    to: mpsc::Sender<FeedMsg>,
    restarts: watch::Sender<Restart>,
    version: Option<Version>,
    reached: bool,
    /// `None` is all.
    namespaces: Option<Vec<String>>,
    running: JoinSet<()>,
    slots: Arc<Semaphore>,
}

impl Director {
    async fn run(mut self, wanted: Wanted, nodes: watch::Receiver<NodeLeases>) -> Result<(), Over> {
        self.reach().await?;
        self.running.spawn(pulse(self.connection.clone(), Rhythm::default(), self.to.clone(), self.restarts.clone(), nodes));
        let connection = self.connection.clone();
        let discovering = tokio::spawn(async move { discover(&connection, DISCOVERY).await });
        self.pods(wanted).await?;
        let discovery = match discovering.await {
            Ok(Ok(discovery)) => discovery,
            Ok(Err(error)) => unreadable(&error),
            Err(_) => unreadable(&Error::Cut { why: "discovery panicked".to_owned() }),
        };
        let absent = self.others(&discovery).await?;
        self.tell(FeedMsg::Discovered(discovery)).await?;
        self.tell(FeedMsg::Settled).await?;
        self.look_again(absent).await
    }

    /// Asks until the cluster answers anything at all.
    async fn reach(&mut self) -> Result<(), Over> {
        let mut wait = Duration::from_secs(1);
        let mut restarts = self.restarts.subscribe();
        loop {
            match version(&self.connection, VERSION).await {
                Ok(version) => {
                    self.version = Some(version);
                    return self.reached().await;
                }
                Err(Error::Status(_) | Error::Unreadable { .. }) => return self.reached().await,
                // A gateway may swallow this one path: pods will tell.
                Err(Error::Silent { .. }) => return Ok(()),
                Err(error) => self.tell(FeedMsg::NotReached(error)).await?,
            }
            tokio::select! {
                () = self.to.closed() => return Err(Over),
                _ = restarts.changed() => {}
                () = tokio::time::sleep(wait) => {}
            }
            wait = (wait * 2).min(Duration::from_secs(30));
        }
    }

    async fn reached(&mut self) -> Result<(), Over> {
        if std::mem::replace(&mut self.reached, true) {
            return Ok(());
        }
        self.tell(FeedMsg::Reached { version: self.version.clone() }).await
    }

    /// Pods first and alone; they also show whether the whole cluster may be seen.
    async fn pods(&mut self, wanted: Wanted) -> Result<(), Over> {
        let by_rights = wanted == Wanted::ByRights;
        if let Wanted::Namespaces(namespaces) = wanted {
            self.namespaces = Some(namespaces);
        }
        self.choose(None).await?;
        let row = Kind::Pod.row();
        let if_denied = if by_rights { IfDenied::GiveUp } else { IfDenied::Stay };
        let mut why = None;
        for settled in self.start_row(row, &Offer::Unknown, if_denied) {
            match settled.await {
                Ok(Settled::Synced) => self.reached().await?,
                Ok(Settled::Denied(message)) => why = Some(message),
                Ok(Settled::Later) | Err(_) => {}
            }
        }
        let Some(message) = why else {
            return Ok(());
        };
        let namespace = self.connection.about().namespace.clone();
        let why = format!("pods of the whole cluster may not be listed ({message}): looking at namespace {namespace} alone");
        self.namespaces = Some(vec![namespace]);
        self.choose(Some(why)).await?;
        // The attempt began a list of all namespaces; without a word it would be loading for ever.
        let denied = CoverageState::Denied { message, since: self.connection.now() };
        self.tell(FeedMsg::Delta(Delta::Lost { kind: Kind::Pod, place: Place::All, why: denied })).await?;
        for settled in self.start_row(row, &Offer::Unknown, IfDenied::Stay) {
            // However it went, the other kinds have their turn.
            let _settled = settled.await;
        }
        Ok(())
    }

    async fn choose(&self, why: Option<String>) -> Result<(), Over> {
        let namespaces = self.namespaces.clone();
        self.tell(FeedMsg::Scope(Chosen { namespaces, why })).await
    }

    /// The other kinds in the order of the table; hands back those that the server does not have.
    async fn others(&mut self, discovery: &Discovery) -> Result<Vec<&'static KindRow>, Over> {
        let rows: Vec<&'static KindRow> = self.kinds.iter().filter(|row| row.kind != Kind::Pod && is_fed(row)).collect();
        for row in &rows {
            for place in self.places(row) {
                self.tell(FeedMsg::Delta(Delta::Began { kind: row.kind, place, epoch: 0 })).await?;
            }
        }
        let mut absent = Vec::new();
        let mut settling = JoinSet::new();
        for row in rows {
            match discovery.offer(row) {
                Offer::Absent => {
                    self.absent(row).await?;
                    absent.push(row);
                }
                offer @ (Offer::Served(_) | Offer::Unknown) => self.in_turn(row, &offer, &mut settling).await,
            }
        }
        while settling.join_next().await.is_some() {}
        Ok(absent)
    }

    /// Starts a kind when a slot is free, and frees the slot when its first list is done.
    async fn in_turn(&mut self, row: &'static KindRow, offer: &Offer, settling: &mut JoinSet<()>) {
        for place in self.places(row) {
            let slot = Arc::clone(&self.slots).acquire_owned().await;
            let settled = self.start_one(row, offer, place, IfDenied::Stay);
            settling.spawn(async move {
                let _settled = settled.await;
                drop(slot);
            });
        }
    }

    fn start_row(&mut self, row: &'static KindRow, offer: &Offer, if_denied: IfDenied) -> Vec<oneshot::Receiver<Settled>> {
        let places = self.places(row);
        places.into_iter().map(|place| self.start_one(row, offer, place, if_denied)).collect()
    }

    fn start_one(&mut self, row: &'static KindRow, offer: &Offer, place: Place, if_denied: IfDenied) -> oneshot::Receiver<Settled> {
        let (settle, settled) = oneshot::channel();
        let resource = match offer {
            Offer::Served(served) => served.resource.clone(),
            Offer::Absent | Offer::Unknown => Resource::of_kind(row.kind, row.versions.first().copied().unwrap_or("v1")),
        };
        let errand = Errand { kind: row.kind, place, resource, plan: self.plan(row, offer), if_denied };
        let (kind, place, to) = (errand.kind, errand.place.clone(), self.to.clone());
        let feed = follow(self.connection.clone(), errand, self.to.clone(), self.restarts.subscribe(), settle);
        self.running.spawn(async move {
            if AssertUnwindSafe(feed).catch_unwind().await.is_err() {
                let message = "internal error in this feed; please report it".to_owned();
                let why = CoverageState::Stale { message, since: None };
                // Nobody may be left to hear it.
                let _told = to.send(FeedMsg::Delta(Delta::Lost { kind, place, why })).await;
            }
        });
        settled
    }

    fn plan(&self, row: &KindRow, offer: &Offer) -> Plan {
        let streams = self.version.as_ref().is_some_and(Version::streams_lists);
        let many = self.namespaces.as_ref().is_some_and(|namespaces| namespaces.len() > WATCHED_NAMESPACES);
        let after_list = match offer {
            Offer::Served(served) if !served.can_watch => AfterList::ListAgain(POLLED_EVERY),
            _ if many && row.namespaced && !matters_most(row.kind) => AfterList::ListAgain(LISTED_EVERY),
            Offer::Served(_) | Offer::Absent | Offer::Unknown => AfterList::Watch,
        };
        Plan {
            streams: if streams && after_list == AfterList::Watch { Streams::Yes } else { Streams::No },
            after_list,
            patience: self.patience,
            seed: seed(),
        }
    }

    fn places(&self, row: &KindRow) -> Vec<Place> {
        match &self.namespaces {
            Some(namespaces) if row.namespaced => namespaces.iter().map(|namespace| Place::Namespace(namespace.as_str().into())).collect(),
            Some(_) | None => vec![Place::All],
        }
    }

    async fn absent(&self, row: &KindRow) -> Result<(), Over> {
        for place in self.places(row) {
            let why = CoverageState::Absent { message: "the API server does not serve it".to_owned() };
            self.tell(FeedMsg::Delta(Delta::Lost { kind: row.kind, place, why })).await?;
        }
        Ok(())
    }

    /// Now and then for kinds that were absent.
    async fn look_again(&mut self, mut absent: Vec<&'static KindRow>) -> Result<(), Over> {
        loop {
            tokio::select! {
                () = self.to.closed() => return Err(Over),
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            if absent.is_empty() {
                continue;
            }
            let Ok(discovery) = discover(&self.connection, DISCOVERY).await else {
                continue;
            };
            let mut settling = JoinSet::new();
            let came: Vec<_> = absent.extract_if(.., |row| discovery.offer(row) != Offer::Absent).collect();
            for row in &came {
                self.in_turn(row, &discovery.offer(row), &mut settling).await;
            }
            settling.detach_all();
            if !came.is_empty() {
                self.tell(FeedMsg::Discovered(discovery)).await?;
            }
        }
    }

    async fn tell(&self, message: FeedMsg) -> Result<(), Over> {
        self.to.send(message).await.map_err(|_| Over)
    }
}

/// Leases come with the pulse, and what is fetched on demand has no feed.
fn is_fed(row: &KindRow) -> bool {
    match row.follow {
        Follow::Watch | Follow::Metadata => !row.plural.is_empty(),
        Follow::Poll | Follow::OnDemand => false,
    }
}

/// Pods, events and workloads: what an incident changes.
fn matters_most(kind: Kind) -> bool {
    use Kind::{CronJob, DaemonSet, Deployment, Event, Job, Pod, ReplicaSet, StatefulSet};
    [Pod, Event, Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob].contains(&kind)
}

/// Nothing is known of what is served: each kind is asked for itself.
fn unreadable(error: &Error) -> Discovery {
    Discovery { served: Vec::new(), unreadable: vec![("*".to_owned(), error.to_string())] }
}

/// Different for each feed and each run, so that they do not come back at the same moment.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
