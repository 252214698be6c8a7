//! Figures taken inside one process: what is kept for pods, how long judging takes, and the work that callgrind counts.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use holdup::archive::{Archive, Input};
use holdup::diagnose::Options;
use holdup::model::{Batch, Cluster, Delta, KINDS, Kind, Place, Time};
use holdup::runtime::Triage;
use holdup::watch::{Items, Page};
use serde_json::{Value, json};

use crate::cluster::{Plan, Size, each_pod};
use crate::{changes, counting, drain::millis};

/// As many as the API server is asked for at once.
const PAGE: usize = 500;
/// As the network brings them.
const PIECE: usize = 64 << 10;

/// A feed of pods without a network: pages are cut, read and applied as the feed does it.
struct Feed {
    cluster: Cluster,
    batch: Batch,
    items: Items,
}

impl Feed {
    fn new() -> Self {
        let mut cluster = Cluster::default();
        cluster.apply(Delta::Began { kind: Kind::Pod, place: Place::All, epoch: 0 });
        Self { cluster, batch: Batch::new(Kind::Pod), items: Items::default() }
    }

    fn read(&mut self, page: &[u8]) -> Result<(), String> {
        let mut cut = Page::default();
        for piece in page.chunks(PIECE) {
            cut.push(piece);
            if let Some(piece) = cut.take() {
                self.items.read(&piece, &mut self.batch);
                self.apply();
            }
        }
        let (_, last) = cut.finish().map_err(|_| "a page of the generator cannot be read".to_owned())?;
        if let Some(piece) = last {
            self.items.read(&piece, &mut self.batch);
            self.apply();
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.batch = Batch::new(Kind::Pod);
        self.items = Items::default();
    }

    fn apply(&mut self) {
        let batch = self.batch.take();
        self.cluster.apply(Delta::Batch { kind: Kind::Pod, place: Place::All, epoch: 0, batch });
    }
}

/// Hands over pages of those pods that are wanted; `wanted` is told where each stands.
fn pages(plan: &Plan, wanted: impl Fn(usize) -> bool, mut each: impl FnMut(&[u8]) -> Result<(), String>) -> Result<(), String> {
    const HEAD: &[u8] = b"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"2000000000\"},\"items\":[";
    let (mut page, mut held, mut at, mut failed) = (HEAD.to_vec(), 0, 0, Ok(()));
    let mut send = |page: &mut Vec<u8>| {
        page.extend_from_slice(b"]}\n");
        let sent = each(page);
        page.truncate(HEAD.len());
        sent
    };
    each_pod(plan, |pod| {
        at += 1;
        if !wanted(at - 1) || failed.is_err() {
            return;
        }
        if held > 0 {
            page.push(b',');
        }
        page.extend_from_slice(pod);
        held += 1;
        if held == PAGE {
            held = 0;
            failed = send(&mut page);
        }
    });
    failed?;
    if held > 0 { send(&mut page) } else { Ok(()) }
}

/// Bytes kept for pods: for all of them, and for one more of a template that is known.
pub fn kept(pods: usize, seed: u64) -> Result<Value, String> {
    counting::start();
    let plan = Plan::new(Size::of(pods), seed);
    // One in eight of the plain pods of Deployments comes last: rows grow by an eighth.
    let last: HashSet<usize> = plan.plain().filter(|at| at % 8 == 7).collect();
    let before = counting::held();
    let mut feed = Feed::new();
    // What the generator itself takes goes when each call ends.
    pages(&plan, |at| !last.contains(&at), |page| feed.read(page))?;
    // What a feed knows of the pods before it is thrown away now and then: no pod keeps it.
    feed.forget();
    let most = counting::held();
    pages(&plan, |at| last.contains(&at), |page| feed.read(page))?;
    let all = counting::held();
    feed.forget();
    let without_feed = counting::held();
    let each = |bytes: isize, count: usize| (bytes as f64 / count.max(1) as f64 * 10.0).round() / 10.0;
    Ok(json!({
        "pods": feed.cluster.count(Kind::Pod),
        "all_per_pod": each(all - before, pods),
        "one_more": each(without_feed - most, last.len()),
        "feed_bytes": all - without_feed,
    }))
}

/// Reads and applies the same pods so many times, each time into a new cluster: callgrind counts the difference.
pub fn read(pods: usize, passes: usize, seed: u64) -> Result<Value, String> {
    let plan = Plan::new(Size::of(pods), seed);
    let mut all = Vec::new();
    pages(
        &plan,
        |_| true,
        |page| {
            all.push(page.to_vec());
            Ok(())
        },
    )?;
    let mut count = 0;
    for _ in 0..passes {
        let mut feed = Feed::new();
        for page in &all {
            feed.read(page)?;
        }
        count += feed.cluster.count(Kind::Pod);
    }
    Ok(json!({"pods": count}))
}

/// Bytes kept for each kind, and for what judging remembers.
pub fn held(file: &str) -> Result<Value, String> {
    counting::start();
    let archive = Archive::open(&[Input::Path(file.into())]).map_err(|error| error.to_string())?;
    let mut triage = Triage::new(Options { clock_is_known: true, ..Options::default() });
    let mut kinds: BTreeMap<String, isize> = BTreeMap::new();
    for row in KINDS {
        let Some(kind) = archive.kind(row.group, row.name) else { continue };
        let (before, place) = (counting::held(), Place::All);
        triage.apply(Delta::Began { kind: row.kind, place: place.clone(), epoch: 0 });
        let mut batch = Batch::new(row.kind);
        for (i, object) in archive.objects(kind, None).enumerate() {
            batch.upsert(&object.bytes());
            if i % PAGE == PAGE - 1 {
                triage.apply(Delta::Batch { kind: row.kind, place: place.clone(), epoch: 0, batch: batch.take() });
            }
        }
        triage.apply(Delta::Batch { kind: row.kind, place: place.clone(), epoch: 0, batch });
        triage.apply(Delta::Synced { kind: row.kind, place, epoch: 0 });
        kinds.insert(row.name.to_owned(), counting::held() - before);
    }
    let before = counting::held();
    triage.judge(Time::parse(NOW).ok_or("the time of judgement is no time")?);
    kinds.insert("judging".to_owned(), counting::held() - before);
    let before = counting::held();
    let report = triage.report();
    kinds.insert("report".to_owned(), counting::held() - before);
    Ok(json!({"blockers": report.blockers.len(), "held": kinds}))
}

/// Long after everything in the cluster happened.
const NOW: &str = "2026-04-30T00:00:00Z";
const CHANGES: usize = 51;

/// Judging everything from nothing, then after one change to one pod that is stuck, and after one more pod is.
pub fn judge(file: &str) -> Result<Value, String> {
    let archive = Archive::open(&[Input::Path(file.into())]).map_err(|error| error.to_string())?;
    let now = Time::parse(NOW).ok_or("the time of judgement is no time")?;
    let mut triage = Triage::new(Options { clock_is_known: true, ..Options::default() });
    for delta in archive.deltas() {
        triage.apply(delta);
    }
    let began = Instant::now();
    triage.judge(now);
    let judged = began.elapsed();
    let began = Instant::now();
    let report = triage.report();
    let grouped = began.elapsed();
    let stuck = stuck_pod(&archive).ok_or("no pod crashes")?;
    let (mut applying, mut judging, mut grouping) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..CHANGES {
        let changed = stuck.replace("\"restartCount\":", &format!("\"restartCount\":{}", round % 9 + 1));
        let mut batch = Batch::new(Kind::Pod);
        batch.upsert(changed.as_bytes());
        let began = Instant::now();
        triage.apply(Delta::Batch { kind: Kind::Pod, place: Place::All, epoch: 0, batch });
        applying.push(began.elapsed());
        let began = Instant::now();
        triage.judge(now);
        judging.push(began.elapsed());
        let began = Instant::now();
        let again = triage.report();
        grouping.push(began.elapsed());
        if again.blockers.len() != report.blockers.len() {
            return Err("one more restart changed the number of blockers".to_owned());
        }
    }
    let grown = grow(&mut triage, &archive, now)?;
    let whole: Vec<Duration> = (0..CHANGES).map(|i| applying[i] + judging[i] + grouping[i]).collect();
    Ok(json!({
        "blockers": report.blockers.len(), "blocked": report.summary.blocked, "delayed": report.summary.delayed,
        "judge_ms": millis(judged), "group_ms": millis(grouped), "all_ms": millis(judged + grouped),
        "change_ms": millis(median(whole)), "change_apply_ms": millis(median(applying)),
        "change_judge_ms": millis(median(judging)), "change_group_ms": millis(median(grouping)),
        "one_more_ms": millis(median(grown)),
    }))
}

/// One more pod after another that waits for a node as those of the largest blocker do, after which everything was judged: what each costs.
fn grow(triage: &mut Triage, archive: &Archive, now: Time) -> Result<Vec<Duration>, String> {
    let kind = archive.kind("", "Pod").ok_or("there are no pods")?;
    let mut pods = archive.objects(kind, None).map(|pod| String::from_utf8_lossy(&pod.bytes()).into_owned());
    let stuck = pods.find(|pod| changes::waits_for_a_node(pod)).ok_or("no pod of a Deployment waits for a node")?;
    let more = (0..CHANGES).map(|n| {
        let mut batch = Batch::new(Kind::Pod);
        batch.upsert(changes::one_more(&stuck, n).as_bytes());
        let began = Instant::now();
        triage.apply(Delta::Batch { kind: Kind::Pod, place: Place::All, epoch: 0, batch });
        triage.judge(now);
        triage.report();
        began.elapsed()
    });
    Ok(more.collect())
}

fn stuck_pod(archive: &Archive) -> Option<String> {
    let pods = archive.kind("", "Pod")?;
    let texts = archive.objects(pods, None).map(|pod| String::from_utf8_lossy(&pod.bytes()).into_owned());
    texts.into_iter().find(|text| text.contains("CrashLoopBackOff"))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
