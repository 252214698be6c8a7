//! Feeds over archives: what is asked over the API is the same picture as what is read from the files at once.

use std::sync::Arc;
use std::time::Duration;

use holdup::archive::{Archive, serve};
use holdup::model::{Cluster, Follow, KINDS, Kind, Time};
use holdup::runtime::feeds::{Wanted, start};
use holdup::watch::{About, Connection, FeedMsg, Manner, Options, Target};

use super::home::Home;
use super::messages::{line, next};

fn demo() -> Arc<Archive> {
    let start = Time::parse("2026-05-04T10:00:00Z").expect("a time");
    Arc::new(Archive::demo(start).expect("the demo is embedded"))
}

/// The picture when every kind has come to its first end.
async fn picture(connection: Connection) -> (Cluster, Vec<String>) {
    let mut feeds = start(connection, Wanted::ByRights, Duration::from_secs(60), KINDS);
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

/// Of events those that only report progress are left out by feeds.
fn counts(cluster: &Cluster) -> Vec<(&'static str, usize)> {
    let followed = KINDS.iter().filter(|row| matches!(row.follow, Follow::Watch | Follow::Metadata) && row.kind != Kind::Event);
    followed.map(|row| (row.name, cluster.count(row.kind))).collect()
}

/// At its end the demo stands still, as its files do when they are read at once.
fn expected() -> Cluster {
    let mut cluster = Cluster::default();
    for delta in demo().deltas() {
        cluster.apply(delta);
    }
    cluster
}

#[tokio::test]
async fn the_demo_is_the_same_in_this_process_and_when_read_at_once() {
    let (cluster, lines) = picture(Connection::over(demo().service(), About::default())).await;
    assert_eq!(counts(&cluster), counts(&expected()), "{lines:#?}");
    assert!(cluster.count(Kind::Pod) > 0 && cluster.count(Kind::Event) > 0);
    assert!(!lines.iter().any(|line| line.contains("refused") && !line.contains(", 0 refused")), "{lines:#?}");
}

#[tokio::test]
async fn the_demo_is_the_same_over_a_socket() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let home = Home::new();
    let server = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(serve(demo().service(), listener));
    let options = Options { server: Some(server), ..Options::default() };
    let target = Target::find(&options, &home.environment()).unwrap();
    let connection = Connection::open(target, Manner::Unseen).await.unwrap();
    let (cluster, _) = picture(connection).await;
    assert_eq!(counts(&cluster), counts(&expected()));
}
