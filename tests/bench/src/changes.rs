//! Changes of pods, sent on open watches at a given rate: of most nothing is to be seen, and of those that are, when each was sent is told.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use holdup::archive::{Archive, ArchiveBody};
use http_body::{Body, Frame, SizeHint};
use serde_json::{Value, json};

use crate::clock;
use crate::cluster::Rng;

/// What is sent together when more than one change is due: as an API server under load does.
const TICK: Duration = Duration::from_millis(1);
/// So many pods that are well take turns.
const TURNS: usize = 10_000;
/// Above every version in the cluster.
const VERSION: usize = 2_000_000_001;

/// How many changes, and which.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// A second.
    pub rate: usize,
    /// Of a thousand: a new pod that cannot be scheduled, which raises the number of stuck pods by one.
    pub seen: usize,
    pub seconds: u64,
}

/// The open watches of pods, and how many changes there were.
pub struct Changes {
    archive: Arc<Archive>,
    watches: Mutex<Vec<UnboundedSender<Bytes>>>,
    sent: AtomicUsize,
}

impl Changes {
    pub fn new(archive: Arc<Archive>) -> Self {
        Self { archive, watches: Mutex::default(), sent: AtomicUsize::new(0) }
    }

    /// The body of a watch of pods, with the changes that come from now on.
    pub fn on(&self, watch: ArchiveBody) -> Changing {
        let (to, changes) = unbounded();
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).push(to);
        Changing { body: watch, changes: Some(changes) }
    }

    /// Sends changes until the time is over; when each that can be seen was sent.
    pub fn send(&self, pace: Pace) -> Result<Value, String> {
        let (well, stuck) = (self.well(), self.stuck().ok_or("no pod of a Deployment waits for a node")?);
        if well.is_empty() {
            return Err("no pod is well".to_owned());
        }
        let all = pace.rate * pace.seconds as usize;
        let first = self.sent.fetch_add(all, Ordering::Relaxed);
        let (began, mut rng, mut at, mut seen) = (Instant::now(), Rng::new(first as u64), 0, Vec::new());
        while at < all {
            let due = all.min((began.elapsed().as_secs_f64() * pace.rate as f64) as usize);
            let (mut piece, before) = (Vec::new(), seen.len());
            for n in first + at..first + due {
                if rng.chance(pace.seen) {
                    append(&mut piece, "ADDED", &one_more(&stuck, n));
                    seen.push(0);
                } else {
                    append(&mut piece, "MODIFIED", &restarted(&well[n % well.len()], n));
                }
            }
            let now = clock::monotonic().as_nanos() as u64;
            seen[before..].fill(now);
            self.tell(&piece.into());
            at = due;
            std::thread::park_timeout(TICK);
        }
        Ok(json!({"changes": at, "seen_ns": seen, "took_ms": began.elapsed().as_millis() as u64}))
    }

    fn tell(&self, piece: &Bytes) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|watch| piece.is_empty() || watch.unbounded_send(piece.clone()).is_ok());
    }

    /// One of so many pods.
    fn pods(&self, of: usize) -> impl Iterator<Item = String> {
        let kind = self.archive.kind("", "Pod");
        let pods = kind.into_iter().flat_map(|kind| self.archive.objects(kind, None));
        pods.step_by(of).map(|pod| String::from_utf8_lossy(&pod.bytes()).into_owned())
    }

    /// Pods of Deployments that are plainly well, from all over the cluster.
    fn well(&self) -> Vec<String> {
        let is_well = |pod: &String| {
            const ILL: [&str; 5] = ["\"ready\":false", "\"waiting\"", "\"terminated\"", "deletionTimestamp", "\"status\":\"False\""];
            pod.contains("\"kind\":\"ReplicaSet\"") && pod.contains("\"phase\":\"Running\"") && !ILL.iter().any(|ill| pod.contains(ill))
        };
        let all = self.archive.kind("", "Pod").map_or(0, |kind| self.archive.objects(kind, None).len());
        self.pods((all / TURNS).max(1)).filter(is_well).collect()
    }

    fn stuck(&self) -> Option<String> {
        self.pods(1).find(|pod| waits_for_a_node(pod))
    }
}

/// Whether this is a pod of a Deployment that no node can take.
pub fn waits_for_a_node(pod: &str) -> bool {
    pod.contains("\"reason\":\"Unschedulable\"") && pod.contains("\"kind\":\"ReplicaSet\"")
}

fn append(piece: &mut Vec<u8>, what: &str, object: &str) {
    for part in ["{\"type\":\"", what, "\",\"object\":", object, "}\n"] {
        piece.extend_from_slice(part.as_bytes());
    }
}

/// The same pod after one more restart.
fn restarted(pod: &str, n: usize) -> String {
    versioned(&pod.replacen("\"restartCount\":0", &format!("\"restartCount\":{}", n / TURNS + 1), 1), n)
}

/// Another pod of the same owner with the same trouble. The last five characters of a name are what its ReplicaSet made up.
pub fn one_more(pod: &str, n: usize) -> String {
    let name = value(pod, "name");
    let more = format!("{}{:05}", &name[..name.len().saturating_sub(5)], n % 100_000);
    let uid = value(pod, "uid");
    let other = format!("{}{n:012}", &uid[..uid.len().saturating_sub(12)]);
    versioned(&pod.replace(name, &more).replacen(uid, &other, 1), n)
}

fn versioned(pod: &str, n: usize) -> String {
    pod.replacen(value(pod, "resourceVersion"), &(VERSION + n).to_string(), 1)
}

/// The first value of this name: the metadata stand first.
fn value<'a>(pod: &'a str, name: &str) -> &'a str {
    let after = pod.split_once(&format!("\"{name}\":\"")).map_or("", |(_, after)| after);
    after.split('"').next().unwrap_or_default()
}

/// A body of the archive, and what changes while it is open.
pub struct Changing {
    body: ArchiveBody,
    changes: Option<UnboundedReceiver<Bytes>>,
}

impl From<ArchiveBody> for Changing {
    fn from(body: ArchiveBody) -> Self {
        Self { body, changes: None }
    }
}

impl Body for Changing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Poll::Ready(Some(piece)) = self.changes.as_mut().map_or(Poll::Pending, |changes| changes.poll_next_unpin(context)) {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
