//! One object, its events and its logs.

use std::time::Duration;

use holdup::model::Kind;
use holdup::watch::fetch::{LogOf, Run, Wanted, events, log, object};
use holdup::watch::{About, Connection, Resource};
use serde_json::{Value, json};

use super::mock::{Answers, Reply};

const SOON: Duration = Duration::from_secs(20);

fn wanted(kind: Kind, namespace: &str, name: &str) -> Wanted {
    let resource = Resource::of_kind(kind, kind.row().versions[0]);
    Wanted { resource, kind: kind.row().name.into(), namespace: namespace.into(), name: name.into() }
}

fn asking(reply: fn() -> Reply) -> (Answers, Connection) {
    let answers = Answers::new(move |_| reply());
    (answers.clone(), Connection::over(answers, About::default()))
}

#[tokio::test]
async fn an_object_is_fetched_whole_and_a_refusal_reads_as_in_kubectl() {
    let (answers, connection) = asking(|| Reply::json(&json!({"kind": "Deployment", "metadata": {"name": "web"}})));
    let bytes = object(&connection, &wanted(Kind::Deployment, "shop", "web"), SOON).await.unwrap();
    let read: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(read["metadata"]["name"], "web");
    assert_eq!(answers.seen()[0].path, "/apis/apps/v1/namespaces/shop/deployments/web");

    let (_, connection) = asking(|| Reply::refusal(404, "NotFound", "deployments.apps \"web\" not found"));
    let error = object(&connection, &wanted(Kind::Deployment, "shop", "web"), SOON).await.unwrap_err();
    assert_eq!(error.to_string(), "Error from server (NotFound): deployments.apps \"web\" not found");
}

#[tokio::test]
async fn events_are_those_of_the_object_and_of_a_node_in_every_namespace() {
    let (answers, connection) = asking(|| Reply::json(&json!({"items": []})));
    events(&connection, &wanted(Kind::Pod, "shop", "web-1"), SOON).await.unwrap();
    events(&connection, &wanted(Kind::Node, "", "n1"), SOON).await.unwrap();
    let asked = answers.seen();
    assert!(asked[0].path.starts_with("/api/v1/namespaces/shop/events?"), "{}", asked[0].path);
    assert_eq!(asked[0].query("fieldSelector"), Some("involvedObject.name%3Dweb-1%2CinvolvedObject.kind%3DPod"));
    assert!(asked[1].path.starts_with("/api/v1/events?"), "{}", asked[1].path);
}

#[tokio::test]
async fn logs_are_the_last_500_lines_of_one_container_and_of_the_run_before_it() {
    let (answers, connection) = asking(|| Reply::text(200, b"one\ntw\xffo\n".to_vec()));
    let mut of = LogOf { namespace: "shop".into(), pod: "web-1".into(), container: Some("app".into()), run: Run::Previous };
    assert_eq!(log(&connection, &of, SOON).await.unwrap(), "one\ntw\u{fffd}o\n");
    of.container = None;
    of.run = Run::Present;
    log(&connection, &of, SOON).await.unwrap();
    let paths: Vec<String> = answers.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(
        paths,
        [
            "/api/v1/namespaces/shop/pods/web-1/log?tailLines=500&container=app&previous=true",
            "/api/v1/namespaces/shop/pods/web-1/log?tailLines=500"
        ]
    );
}

#[tokio::test]
async fn a_container_without_a_run_before_is_a_refusal_in_the_servers_words() {
    let (_, connection) = asking(|| Reply::refusal(400, "BadRequest", "previous terminated container \"app\" in pod \"web-1\" not found"));
    let of = LogOf { namespace: "shop".into(), pod: "web-1".into(), container: Some("app".into()), run: Run::Previous };
    let error = log(&connection, &of, SOON).await.unwrap_err();
    assert!(error.to_string().contains("previous terminated container"), "{error}");
}
