//! A feed from requests to deltas, against a service in this process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use holdup::model::{Cluster, Kind, Place, Seen as Look};
use holdup::watch::feed::{AfterList, Plan, Streams};
use holdup::watch::{About, Connection, Errand, FeedMsg, IfDenied, Resource, Restart, Settled, follow};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::messages::{line, next, steps};
use super::mock::{Answers, Reply, Seen, Writer};

const PAGES: Plan = Plan { streams: Streams::No, after_list: AfterList::Watch, patience: Duration::from_secs(60), seed: 3 };
const STREAMS: Plan = Plan { streams: Streams::Yes, ..PAGES };

pub struct Running {
    pub messages: mpsc::Receiver<FeedMsg>,
    pub restarts: watch::Sender<Restart>,
    pub settled: oneshot::Receiver<Settled>,
}

pub fn run(answers: &Answers, kind: Kind, plan: Plan) -> Running {
    run_with(answers, kind, plan, IfDenied::Stay)
}

fn run_with(answers: &Answers, kind: Kind, plan: Plan, if_denied: IfDenied) -> Running {
    let connection = Connection::over(answers.clone(), About::default());
    let (to, messages) = mpsc::channel(4);
    let (restarts, _) = watch::channel(Restart::default());
    let (settle, settled) = oneshot::channel();
    let errand = Errand { kind, place: Place::All, resource: Resource::of_kind(kind, "v1"), plan, if_denied };
    tokio::spawn(follow(connection, errand, to, restarts.subscribe(), settle));
    Running { messages, restarts, settled }
}

pub fn list(version: &str, token: &str, names: &[&str]) -> Value {
    let items: Vec<Value> = names.iter().map(|name| object(name, version)).collect();
    json!({"metadata": {"resourceVersion": version, "continue": token}, "items": items})
}

pub fn object(name: &str, version: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version}})
}

pub fn event(kind: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": object}))
}

/// The bookmark that ends a streaming list.
pub fn end_mark(version: &str) -> String {
    let metadata = json!({"resourceVersion": version, "annotations": {"k8s.io/initial-events-end": "true"}});
    event("BOOKMARK", &json!({"metadata": metadata}))
}

/// Hands the writers of streamed answers to the test.
#[derive(Clone, Default)]
pub struct Open(Arc<Mutex<Vec<Writer>>>);

impl Open {
    pub fn reply(&self) -> Reply {
        let (reply, writer) = Reply::stream();
        self.0.lock().expect("no test panicked with it").push(writer);
        reply
    }

    /// The newest answer that is being written.
    pub fn writer(&self) -> Writer {
        self.0.lock().expect("no test panicked with it").last().expect("an answer was begun").clone()
    }

    /// Ends all answers.
    pub fn end(&self) {
        self.0.lock().expect("no test panicked with it").clear();
    }
}

pub fn is_watch(seen: &Seen) -> bool {
    seen.query("watch") == Some("true")
}

#[tokio::test]
async fn pages_then_a_watch_become_deltas_in_order() {
    let open = Open::default();
    let streams = open.clone();
    let answers = Answers::new(move |seen| match (is_watch(seen), seen.query("continue")) {
        (true, _) => streams.reply(),
        (false, None) => Reply::json(&list("40", "t/1=", &["a", "b"])),
        (false, Some(_)) => Reply::json(&list("41", "", &["c"])),
    });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    let lines = steps(&mut feed.messages, "synced").await;
    assert_eq!(lines, ["began Pod 1", "batch Pod 1: 2 objects, 0 refused", "batch Pod 1: 1 objects, 0 refused", "synced Pod 1"]);
    assert_eq!(feed.settled.await, Ok(Settled::Synced));
    while answers.asked("/api/v1/pods").len() < 3 {
        tokio::task::yield_now().await;
    }
    open.writer().write([event("MODIFIED", &object("a", "42")), event("DELETED", &object("b", "43"))].concat());
    assert_eq!(line(&next(&mut feed.messages).await.unwrap()), "batch Pod 1: 2 objects, 0 refused");

    let asked = answers.asked("/api/v1/pods");
    assert_eq!(asked[0].path, "/api/v1/pods?limit=500");
    assert_eq!(asked[1].path, "/api/v1/pods?limit=500&continue=t%2F1%3D");
    assert_eq!(asked[2].query("resourceVersion"), Some("40"));
    assert_eq!((asked[2].query("allowWatchBookmarks"), asked[2].header("accept-encoding")), (Some("true"), "identity"));
    let seconds: u32 = asked[2].query("timeoutSeconds").unwrap().parse().unwrap();
    assert!((261..=319).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn a_streaming_list_becomes_the_same_picture_and_goes_on_as_a_watch() {
    let open = Open::default();
    let streams = open.clone();
    let answers = Answers::new(move |_| streams.reply());
    let mut feed = run(&answers, Kind::Node, STREAMS);
    let mut cluster = Cluster::default();
    while answers.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    let asked = &answers.seen()[0];
    assert_eq!((asked.query("sendInitialEvents"), asked.query("resourceVersionMatch")), (Some("true"), Some("NotOlderThan")));
    assert_eq!(asked.query("resourceVersion"), None);
    let text = [event("ADDED", &object("n1", "3")), event("ADDED", &object("n2", "4")), end_mark("7")].concat();
    for piece in text.as_bytes().chunks(11) {
        open.writer().write(piece.to_vec());
    }
    loop {
        let message = next(&mut feed.messages).await.unwrap();
        let is_end = line(&message).starts_with("synced");
        if let FeedMsg::Delta(delta) = message {
            cluster.apply(delta);
        }
        if is_end {
            break;
        }
    }
    assert_eq!(cluster.count(Kind::Node), 2);
    assert!(matches!(cluster.object(Kind::Node, "", "n3"), Look::Absent));
    open.writer().write(event("ADDED", &object("n3", "8")));
    open.end();
    assert_eq!(steps(&mut feed.messages, "batch").await, ["batch Node 1: 1 objects, 0 refused"]);
    while answers.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(answers.seen()[1].query("resourceVersion"), Some("8"), "resumed after the newest event");
}

#[tokio::test]
async fn events_leave_out_the_reasons_of_progress_and_secrets_come_without_content() {
    let answers = Answers::new(|_| Reply::refusal(404, "NotFound", "no"));
    let mut events = run(&answers, Kind::Event, PAGES);
    let mut secrets = run(&answers, Kind::Secret, PAGES);
    steps(&mut events.messages, "lost").await;
    steps(&mut secrets.messages, "lost").await;
    let fields = answers.asked("/api/v1/events")[0].query("fieldSelector").unwrap().to_owned();
    assert!(fields.starts_with("reason%21%3DScheduled%2Creason%21%3DPulled%2C") && !fields.contains("type"), "{fields}");
    assert!(!fields.contains("%20"), "{fields}");
    let accept = answers.asked("/api/v1/secrets")[0].header("accept").to_owned();
    assert!(accept.starts_with("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"), "{accept}");
}

#[tokio::test]
async fn every_refusal_of_a_streaming_list_ends_in_pages() {
    for (code, message) in [(400, "x"), (405, "x"), (422, "x"), (500, "RequestWatchProgress is disabled"), (403, "cannot watch")] {
        let answers = Answers::new(move |seen| match is_watch(seen) {
            true => Reply::refusal(code, "", message),
            false => Reply::json(&list("4", "", &["a"])),
        });
        let mut feed = run(&answers, Kind::Pod, STREAMS);
        let lines = steps(&mut feed.messages, "synced").await;
        assert_eq!(lines.last().map(String::as_str), Some("synced Pod 2"), "{code}");
    }
}

#[tokio::test]
async fn a_close_before_the_bookmark_ends_in_pages_too() {
    let answers = Answers::new(|seen| match (seen.query("sendInitialEvents"), is_watch(seen)) {
        (Some(_), _) => Reply::text(200, event("ADDED", &object("a", "3"))),
        (None, true) => Reply::refusal(403, "Forbidden", "no"),
        (None, false) => Reply::json(&list("4", "", &["a", "b"])),
    });
    let mut feed = run(&answers, Kind::Pod, STREAMS);
    let lines = steps(&mut feed.messages, "note").await;
    assert!(lines.contains(&"synced Pod 2".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "note Pod: polling every 30 s: it may be listed, not watched");
}

#[tokio::test]
async fn an_expired_watch_lists_anew_and_says_nothing() {
    let open = Open::default();
    let streams = open.clone();
    let lists = AtomicUsize::new(0);
    let answers = Answers::new(move |seen| match is_watch(seen) {
        true => streams.reply(),
        false => match lists.fetch_add(1, Ordering::Relaxed) {
            0 => Reply::json(&list("4", "", &["a", "gone"])),
            _ => Reply::json(&list("9", "", &["a"])),
        },
    });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    steps(&mut feed.messages, "synced").await;
    while answers.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    let status = json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"});
    open.writer().write(event("ERROR", &status));
    let lines = steps(&mut feed.messages, "synced").await;
    assert_eq!(lines, ["began Pod 2", "batch Pod 2: 1 objects, 0 refused", "synced Pod 2"]);
}

#[tokio::test]
async fn an_expired_continue_token_starts_again_from_the_first_page() {
    let refused = AtomicUsize::new(0);
    let answers = Answers::new(move |seen| match (is_watch(seen), seen.query("continue")) {
        (true, _) => Reply::stream().0,
        (false, None) => Reply::json(&list("4", "t", &["a"])),
        (false, Some(_)) if refused.fetch_add(1, Ordering::Relaxed) == 0 => {
            Reply::refusal(410, "Expired", "The provided continue parameter is too old")
        }
        (false, Some(_)) => Reply::json(&list("4", "", &["b"])),
    });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    let lines = steps(&mut feed.messages, "synced").await;
    assert_eq!(lines.last().map(String::as_str), Some("synced Pod 2"));
    assert!(!lines.iter().any(|line| line.starts_with("lost") || line.starts_with("note")), "{lines:?}");
}

#[tokio::test]
async fn a_feed_that_may_give_up_ends_without_a_word_when_it_is_denied() {
    let answers = Answers::new(|_| Reply::refusal(403, "Forbidden", "pods is forbidden"));
    let mut feed = run_with(&answers, Kind::Pod, STREAMS, IfDenied::GiveUp);
    let mut lines = Vec::new();
    while let Some(message) = next(&mut feed.messages).await {
        lines.push(line(&message));
    }
    assert_eq!(lines, ["began Pod 1"]);
    assert_eq!(feed.settled.await, Ok(Settled::Denied("pods is forbidden".into())));
}

#[tokio::test]
async fn a_feed_that_may_give_up_stays_when_it_is_not_let_in_whatever_the_words() {
    let answers = Answers::new(|_| Reply::refusal(401, "Unauthorized", "the token is too old"));
    let mut feed = run_with(&answers, Kind::Pod, STREAMS, IfDenied::GiveUp);
    let lines = steps(&mut feed.messages, "lost").await;
    assert_eq!(lines.last().map(String::as_str), Some("lost Pod: denied: the token is too old"));
    assert_eq!(feed.settled.await, Ok(Settled::Later));
}

#[tokio::test]
async fn denied_and_absent_are_said_with_the_words_of_the_server() {
    for (code, expected) in [(403, "lost Pod: denied: no"), (404, "lost Pod: absent: no"), (401, "lost Pod: denied: no")] {
        let answers = Answers::new(move |_| Reply::refusal(code, "", "no"));
        let mut feed = run(&answers, Kind::Pod, PAGES);
        assert_eq!(steps(&mut feed.messages, "lost").await, ["began Pod 1", expected]);
        assert_eq!(feed.settled.await, Ok(Settled::Later));
    }
}

#[tokio::test]
async fn trouble_before_the_first_list_is_said_beside_the_kind_and_cleared_by_it() {
    let tries = AtomicUsize::new(0);
    let answers = Answers::new(move |seen| match (is_watch(seen), tries.fetch_add(1, Ordering::Relaxed)) {
        (_, 0) => Reply::refusal(429, "TooManyRequests", "slow down").with("retry-after", "0"),
        (true, _) => Reply::stream().0,
        (false, _) => Reply::json(&list("4", "", &["a"])),
    });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    let lines = steps(&mut feed.messages, "well").await;
    assert_eq!(lines[..2], ["began Pod 1", "note Pod: Error from server (TooManyRequests): slow down"]);
    assert_eq!(lines[lines.len() - 2..], ["synced Pod 2", "note Pod: well"]);
}

#[tokio::test]
async fn an_answer_that_is_no_list_or_ends_too_early_is_trouble_and_not_an_empty_cluster() {
    for (text, expected) in [("<html>login</html>", "cannot be read"), (r#"{"metadata":{},"items":[{"metadata""#, "ended too early")] {
        let answers = Answers::new(move |_| Reply::text(200, text));
        let mut feed = run(&answers, Kind::Pod, PAGES);
        let lines = steps(&mut feed.messages, "note").await;
        assert!(lines.last().is_some_and(|line| line.contains(expected)), "{lines:?}");
        assert!(!lines.iter().any(|line| line.starts_with("synced")), "{lines:?}");
    }
}

#[tokio::test]
async fn a_cut_in_the_middle_of_a_line_resumes_after_the_last_whole_one() {
    let open = Open::default();
    let streams = open.clone();
    let answers = Answers::new(move |seen| if is_watch(seen) { streams.reply() } else { Reply::json(&list("4", "", &["a"])) });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    steps(&mut feed.messages, "synced").await;
    while answers.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    let writer = open.writer();
    writer.write(event("ADDED", &object("b", "5")) + "{\"type\":\"ADDED\",\"obj");
    assert_eq!(line(&next(&mut feed.messages).await.unwrap()), "batch Pod 1: 1 objects, 0 refused");
    writer.cut();
    while answers.seen().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(answers.seen()[2].query("resourceVersion"), Some("5"));
}

#[tokio::test]
async fn silence_before_headers_is_said_and_data_after_it_clears_it() {
    let open = Open::default();
    let streams = open.clone();
    let lists = AtomicUsize::new(0);
    let answers = Answers::new(move |seen| match (is_watch(seen), lists.fetch_add(1, Ordering::Relaxed)) {
        (true, _) => Reply::stream().0,
        (false, 0) => streams.reply(),
        (false, _) => Reply::json(&list("4", "", &["a"])),
    });
    let mut feed = run(&answers, Kind::Pod, Plan { patience: Duration::from_millis(100), ..PAGES });
    let lines = steps(&mut feed.messages, "well").await;
    assert!(lines.iter().any(|line| line.contains("no answer")), "{lines:?}");
    assert!(lines.iter().any(|line| line == "synced Pod 2"), "{lines:?}");
}

#[tokio::test]
async fn a_restart_resumes_the_watch_at_once() {
    let open = Open::default();
    let streams = open.clone();
    let answers = Answers::new(move |seen| if is_watch(seen) { streams.reply() } else { Reply::json(&list("4", "", &["a"])) });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    steps(&mut feed.messages, "synced").await;
    while answers.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    feed.restarts.send_modify(|restart| {
        restart.count += 1;
        restart.why = Some("no pulse".into());
    });
    assert_eq!(steps(&mut feed.messages, "synced").await, ["lost Pod: stale: no pulse", "synced Pod 1"]);
    assert_eq!(answers.seen().len(), 3);
}

#[tokio::test]
async fn a_list_that_is_on_its_way_says_how_far_it_is() {
    let answers = Answers::new(|seen| match (is_watch(seen), seen.query("continue")) {
        (true, _) => Reply::stream().0,
        (false, None) => {
            let mut page = list("4", "t", &["a", "b"]);
            page["metadata"]["remainingItemCount"] = json!(1);
            Reply::json(&page)
        }
        (false, Some(_)) => Reply::json(&list("4", "", &["c"])),
    });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    let lines = super::messages::until(&mut feed.messages, "synced").await;
    let progress: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with("progress")).collect();
    assert_eq!(progress, ["progress Pod 2 Some(1)", "progress Pod 3 None"]);
}

#[tokio::test]
async fn the_second_page_is_asked_for_while_the_first_is_still_coming() {
    let open = Open::default();
    let streams = open.clone();
    let answers =
        Answers::new(move |seen| if seen.query("continue").is_some() { Reply::json(&list("4", "", &["b"])) } else { streams.reply() });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    while answers.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    let text = list("4", "t", &["a"]).to_string();
    let items = text.find("\"items\"").unwrap() + 20;
    open.writer().write(text[..items].to_owned());
    while answers.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    open.writer().write(text[items..].to_owned());
    open.end();
    assert_eq!(steps(&mut feed.messages, "synced").await.len(), 4);
}

#[tokio::test]
async fn one_odd_object_does_not_blind_a_kind() {
    let answers = Answers::new(|seen| match is_watch(seen) {
        true => Reply::stream().0,
        false => Reply::text(
            200,
            r#"{"metadata":{"resourceVersion":"4"},"items":[null,7,{"metadata":null},{"metadata":{"name":["x"]}},{"metadata":{"name":"a","namespace":"shop"},"spec":"odd","status":[]}]}"#,
        ),
    });
    let mut feed = run(&answers, Kind::Pod, PAGES);
    let lines = steps(&mut feed.messages, "synced").await;
    assert_eq!(lines[1], "batch Pod 1: 1 objects, 4 refused");
}

#[tokio::test]
async fn a_feed_ends_when_nobody_listens() {
    let answers = Answers::new(|seen| if is_watch(seen) { Reply::stream().0 } else { Reply::json(&list("4", "", &["a"])) });
    let connection = Connection::over(answers.clone(), About::default());
    let (to, messages) = mpsc::channel(1);
    let (restarts, _) = watch::channel(Restart::default());
    let (settle, _) = oneshot::channel();
    let errand =
        Errand { kind: Kind::Pod, place: Place::All, resource: Resource::of_kind(Kind::Pod, "v1"), plan: PAGES, if_denied: IfDenied::Stay };
    let task = tokio::spawn(follow(connection, errand, to, restarts.subscribe(), settle));
    drop(messages);
    tokio::time::timeout(Duration::from_secs(20), task).await.expect("it ends").unwrap();
}
