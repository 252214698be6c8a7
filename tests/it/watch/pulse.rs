//! The pulse: leases, proof of life, and sleep.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant, SystemTime};

use holdup::model::Kind;
use holdup::watch::{About, Connection, FeedMsg, NodeLeases, Restart, Rhythm, SleepWatch, pulse};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use super::messages::{steps, until};
use super::mock::{Answers, Reply};

const FAST: Rhythm = Rhythm {
    every: Duration::from_millis(20),
    patience: Duration::from_millis(200),
    glance: Duration::from_millis(5),
    nodes_every: Duration::ZERO,
};

struct Running {
    answers: Answers,
    messages: mpsc::Receiver<FeedMsg>,
    restarts: watch::Receiver<Restart>,
    nodes: watch::Sender<NodeLeases>,
}

fn run(answers: Answers) -> Running {
    let connection = Connection::over(answers.clone(), About::default());
    let (to, messages) = mpsc::channel(4);
    let (restart, restarts) = watch::channel(Restart::default());
    let (nodes, wanted) = watch::channel(NodeLeases::Unwanted);
    tokio::spawn(pulse(connection, FAST, to, restart, wanted));
    Running { answers, messages, restarts, nodes }
}

fn leases() -> Reply {
    Reply::json(
        &json!({"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "kube-scheduler", "namespace": "kube-system"}}]}),
    )
}

/// 200 answers, 0 breaks off, anything else is refused with it.
fn as_told(code: &Arc<AtomicU16>) -> Answers {
    let code = Arc::clone(code);
    Answers::new(move |_| match code.load(Ordering::Relaxed) {
        200 => leases(),
        0 => {
            let (reply, writer) = Reply::stream();
            writer.cut();
            reply
        }
        code => Reply::refusal(code, "", "no"),
    })
}

#[tokio::test]
async fn the_leases_of_kube_system_are_read_whole_each_time() {
    let mut running = run(Answers::new(|_| leases()));
    for epoch in [1, 2] {
        let lines = steps(&mut running.messages, "synced").await;
        let expected = ["began", "batch", "synced"].map(|step| format!("{step} Lease/kube-system {epoch}"));
        assert!(lines.iter().zip(&expected).all(|(line, expected)| line.starts_with(expected.as_str())), "{lines:?}");
    }
    assert_eq!(running.answers.seen()[0].path, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
}

#[tokio::test]
async fn a_403_is_an_answer_and_said_once() {
    let code = Arc::new(AtomicU16::new(403));
    let mut running = run(as_told(&code));
    assert_eq!(steps(&mut running.messages, "lost").await, ["lost Lease/kube-system: denied: Error from server (403): no"]);
    let before = running.answers.seen().len();
    while running.answers.seen().len() < before + 3 {
        tokio::task::yield_now().await;
    }
    code.store(200, Ordering::Relaxed);
    let lines = steps(&mut running.messages, "synced").await;
    assert!(lines[0].starts_with("began"), "no second word and no pulse in between: {lines:?}");
    assert!(!running.restarts.has_changed().unwrap());
}

#[tokio::test]
async fn two_failures_make_everything_stale_and_the_first_answer_wakes_those_that_rest() {
    let code = Arc::new(AtomicU16::new(0));
    let mut running = run(as_told(&code));
    let lines = until(&mut running.messages, "pulse 2").await;
    assert!(lines.iter().any(|line| line.starts_with("pulse 1")), "{lines:?}");
    running.restarts.changed().await.unwrap();
    assert!(running.restarts.borrow_and_update().why.as_ref().is_some_and(|why| why.contains("broke")));
    code.store(200, Ordering::Relaxed);
    until(&mut running.messages, "pulse 0").await;
    running.restarts.changed().await.unwrap();
    assert_eq!(running.restarts.borrow().why, None);
}

#[tokio::test]
async fn leases_of_nodes_are_read_only_while_they_are_wanted() {
    let mut running = run(Answers::new(|_| leases()));
    steps(&mut running.messages, "synced").await;
    steps(&mut running.messages, "synced").await;
    assert!(running.answers.asked("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease").is_empty());
    running.nodes.send(NodeLeases::Wanted).unwrap();
    steps(&mut running.messages, "synced Lease/kube-node-lease").await;
}

#[test]
fn sleep_is_when_the_wall_clock_went_ahead_of_the_steady_one() {
    let (steady, wall) = (Instant::now(), SystemTime::now());
    let seconds = Duration::from_secs;
    let mut sleep = SleepWatch::new(steady, wall);
    assert!(!sleep.slept(steady + seconds(10), wall + seconds(10)));
    assert!(!sleep.slept(steady + seconds(20), wall + seconds(23)), "an adjusted clock");
    assert!(sleep.slept(steady + seconds(30), wall + seconds(3_633)));
    assert!(!sleep.slept(steady + seconds(40), wall + seconds(3_643)), "once");
    assert!(!sleep.slept(steady + seconds(50), wall), "set back");
    assert_eq!(Kind::Lease.row().plural, "leases");
}
