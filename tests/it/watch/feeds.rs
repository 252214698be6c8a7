//! All feeds of a cluster: their order, the namespaces they look at, and what is missing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use holdup::model::{Cluster, CoverageState, KINDS, Kind};
use holdup::runtime::feeds::{Feeds, Wanted, start};
use holdup::watch::{About, Connection, FeedMsg};
use serde_json::{Value, json};

use super::follow::{Open, is_watch, list};
use super::messages::{line, next};
use super::mock::{Answers, Reply, Seen};

/// A cluster that serves every followed kind of its own groups, but for those of Karpenter.
fn cluster(seen: &Seen) -> Reply {
    match seen.path.as_str() {
        "/version" => Reply::json(&json!({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})),
        "/api" => documents(&[""]),
        "/apis" => documents(&groups()),
        _ if is_watch(seen) => {
            let (reply, writer) = Reply::stream();
            // The watch stays open for as long as the test runs.
            std::mem::forget(writer);
            reply
        }
        path => Reply::json(&list("5", "", &[path.rsplit('/').next().unwrap_or("x")])),
    }
}

fn groups() -> Vec<&'static str> {
    let all: BTreeSet<&str> = KINDS.iter().map(|row| row.group).filter(|group| !group.is_empty() && *group != "karpenter.sh").collect();
    all.into_iter().collect()
}

fn documents(groups: &[&str]) -> Reply {
    let group = |name: &&str| {
        let resources: Vec<Value> = KINDS
            .iter()
            .filter(|row| row.group == *name && !row.plural.is_empty())
            .map(|row| {
                let scope = if row.namespaced { "Namespaced" } else { "Cluster" };
                json!({"resource": row.plural, "responseKind": {"kind": row.name}, "scope": scope, "verbs": ["get", "list", "watch"]})
            })
            .collect();
        let versions: BTreeSet<&str> =
            KINDS.iter().filter(|row| row.group == *name).filter_map(|row| row.versions.first().copied()).collect();
        let versions: Vec<Value> = versions.iter().map(|version| json!({"version": version, "resources": resources})).collect();
        json!({"metadata": {"name": name}, "versions": versions})
    };
    Reply::json(&json!({"kind": "APIGroupDiscoveryList", "items": groups.iter().map(group).collect::<Vec<_>>()}))
}

fn feeds(answers: &Answers, wanted: Wanted) -> Feeds {
    patient(answers, wanted, Duration::from_secs(60))
}

fn patient(answers: &Answers, wanted: Wanted, patience: Duration) -> Feeds {
    let about = About { namespace: "shop".into(), ..About::default() };
    start(Connection::over(answers.clone(), about), wanted, patience, KINDS)
}

/// Runs until every kind has come to a first end, and applies what is told.
async fn settled(feeds: &mut Feeds) -> (Cluster, Vec<String>) {
    let (mut cluster, mut lines) = (Cluster::default(), Vec::new());
    loop {
        let message = next(&mut feeds.messages).await.expect("feeds go on");
        lines.push(line(&message));
        if let FeedMsg::Delta(delta) = message {
            cluster.apply(delta);
        } else if matches!(message, FeedMsg::Settled) {
            return (cluster, lines);
        }
    }
}

fn position(lines: &[String], start: &str) -> usize {
    lines.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start:?} in {lines:#?}"))
}

#[tokio::test]
async fn pods_come_first_and_alone_and_every_kind_comes_to_an_end() {
    let answers = Answers::new(cluster);
    let mut feeds = feeds(&answers, Wanted::ByRights);
    let (cluster, lines) = settled(&mut feeds).await;
    assert_eq!(lines[0], "reached v1.33.0");
    assert_eq!(lines[1], "scope None ");
    assert!(position(&lines, "synced Pod") < position(&lines, "began Node"), "{lines:#?}");
    let listed: Vec<Seen> = answers.seen().into_iter().filter(|seen| seen.path.contains("limit=500")).collect();
    assert!(listed[0].path.starts_with("/api/v1/pods?"), "{}", listed[0].path);
    assert!(listed[1..5].iter().any(|seen| seen.path.starts_with("/api/v1/nodes?")));
    for row in KINDS {
        if [Kind::Lease, Kind::ControllerRevision, Kind::Endpoints, Kind::Other].contains(&row.kind) {
            continue;
        }
        let expected = if row.group == "karpenter.sh" { "absent" } else { "synced" };
        let state = match cluster.coverage().get(row.kind, "") {
            Some(CoverageState::Synced) => "synced",
            Some(CoverageState::Absent { .. }) => "absent",
            other => panic!("{}: {other:?}", row.name),
        };
        assert_eq!(state, expected, "{}", row.name);
    }
}

#[tokio::test]
async fn a_list_that_stays_silent_is_given_up_after_the_patience_that_was_asked_for() {
    let answers = Answers::new(|seen| match cluster(seen) {
        // Headers, and then not a byte.
        _ if seen.path.starts_with("/api/v1/pods?") => {
            let (reply, writer) = Reply::stream();
            std::mem::forget(writer);
            reply
        }
        reply => reply,
    });
    let mut feeds = patient(&answers, Wanted::All, Duration::from_millis(20));
    let mut said = String::new();
    while !said.starts_with("note Pod: no answer for 0 s") {
        said = line(&next(&mut feeds.messages).await.expect("feeds go on"));
    }
}

#[tokio::test]
async fn a_kind_is_listed_once_and_watched_once() {
    let answers = Answers::new(cluster);
    let mut feeds = feeds(&answers, Wanted::All);
    settled(&mut feeds).await;
    let watched = || answers.seen().iter().filter(|seen| is_watch(seen)).count();
    let followed = answers.seen().iter().filter(|seen| seen.path.contains("limit=500")).count();
    while watched() < followed {
        tokio::task::yield_now().await;
    }
    let paths: Vec<String> = answers.seen().into_iter().map(|seen| seen.path).filter(|path| path.contains("limit=500")).collect();
    let distinct: BTreeSet<&String> = paths.iter().collect();
    assert_eq!((paths.len(), watched()), (distinct.len(), distinct.len()));
}

#[tokio::test]
async fn without_rights_to_the_whole_cluster_the_namespace_of_the_context_is_looked_at_and_said() {
    let answers = Answers::new(|seen| {
        let is_everywhere = !seen.path.contains("/namespaces/") && !["/version", "/api", "/apis"].contains(&seen.path.as_str());
        let is_allowed = seen.path.contains("/namespaces/shop/");
        match is_everywhere || (seen.path.contains("/namespaces/") && !is_allowed) {
            true => Reply::refusal(403, "Forbidden", "cannot list at the cluster scope"),
            false => cluster(seen),
        }
    });
    let mut feeds = feeds(&answers, Wanted::ByRights);
    let (cluster, lines) = settled(&mut feeds).await;
    let scope = lines.iter().rfind(|line| line.starts_with("scope")).unwrap();
    assert!(
        scope.starts_with("scope Some([\"shop\"]) pods of the whole cluster may not be listed (cannot list at the cluster scope)"),
        "{scope}"
    );
    assert!(matches!(cluster.coverage().get(Kind::Pod, ""), Some(CoverageState::Denied { .. })), "{lines:#?}");
    assert_eq!(cluster.coverage().get(Kind::Pod, "shop"), Some(&CoverageState::Synced));
    assert_eq!(cluster.coverage().get(Kind::Deployment, "shop"), Some(&CoverageState::Synced));
    assert!(matches!(cluster.coverage().get(Kind::Node, ""), Some(CoverageState::Denied { .. })));
}

#[tokio::test]
async fn all_namespaces_asked_for_by_name_stay_asked_for() {
    let answers = Answers::new(|seen| match seen.path.starts_with("/api/v1/pods") {
        true => Reply::refusal(403, "Forbidden", "no"),
        false => cluster(seen),
    });
    let mut feeds = feeds(&answers, Wanted::All);
    let (_, lines) = settled(&mut feeds).await;
    position(&lines, "lost Pod: denied: no");
    assert_eq!(lines.iter().filter(|line| line.starts_with("scope")).count(), 1);
}

#[tokio::test]
async fn several_namespaces_have_a_feed_each_and_above_four_only_what_matters_most_is_watched() {
    let names = |count: usize| (1..=count).map(|number| format!("n{number}")).collect::<Vec<_>>();
    for (count, expected) in [(2, true), (5, false)] {
        let answers = Answers::new(cluster);
        let mut feeds = feeds(&answers, Wanted::Namespaces(names(count)));
        settled(&mut feeds).await;
        let watched = |plural: &str| {
            let of_kind = |seen: &&Seen| is_watch(seen) && seen.path.contains("/namespaces/") && seen.path.contains(&format!("/{plural}?"));
            answers.seen().iter().filter(of_kind).count()
        };
        while watched("pods") + watched("deployments") < 2 * count || (expected && watched("services") < count) {
            tokio::task::yield_now().await;
        }
        assert_eq!(watched("services") > 0, expected, "{count} namespaces");
        assert!(answers.seen().iter().any(|seen| is_watch(seen) && seen.path.starts_with("/api/v1/nodes?")));
        assert!(answers.asked("/api/v1/namespaces/n1/nodes").is_empty());
    }
}

#[tokio::test]
async fn discovery_that_cannot_be_read_asks_for_each_kind_itself() {
    let answers = Answers::new(|seen| match seen.path.as_str() {
        "/api" | "/apis" | "/version" => Reply::refusal(403, "Forbidden", "no"),
        path if path.contains("karpenter.sh") => Reply::refusal(404, "NotFound", "the server could not find the requested resource"),
        _ => cluster(seen),
    });
    let mut feeds = feeds(&answers, Wanted::All);
    let (cluster, lines) = settled(&mut feeds).await;
    assert_eq!(lines[0], "reached ");
    assert_eq!(cluster.coverage().get(Kind::Deployment, ""), Some(&CoverageState::Synced));
    assert!(matches!(cluster.coverage().get(Kind::NodePool, ""), Some(CoverageState::Absent { .. })));
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_is_said_and_tried_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let tries = AtomicUsize::new(0);
    let answers = Answers::new(move |seen| match seen.path.as_str() {
        "/version" if tries.fetch_add(1, Ordering::Relaxed) == 0 => {
            let (reply, writer) = Reply::stream();
            writer.cut();
            reply
        }
        _ => cluster(seen),
    });
    let mut feeds = feeds(&answers, Wanted::All);
    let (_, lines) = settled(&mut feeds).await;
    assert!(lines[0].starts_with("not reached: the connection broke"), "{}", lines[0]);
    assert_eq!(lines[1], "reached v1.33.0");
}

#[tokio::test]
async fn feeds_end_when_they_are_dropped() {
    let open = Open::default();
    let watches = open.clone();
    let answers = Answers::new(move |seen| if is_watch(seen) { watches.reply() } else { cluster(seen) });
    let mut running = feeds(&answers, Wanted::All);
    settled(&mut running).await;
    while answers.seen().iter().all(|seen| !is_watch(seen)) {
        tokio::task::yield_now().await;
    }
    assert!(open.writer().is_read());
    drop(running);
    let deadline = Instant::now() + Duration::from_secs(20);
    while open.writer().is_read() {
        assert!(Instant::now() < deadline, "a watch is still read");
        tokio::task::yield_now().await;
    }
}
