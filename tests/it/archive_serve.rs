//! The API over an archive: what kubectl and the feeds ask for is answered as an API server would, and nothing can be changed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use holdup::archive::{Archive, ArchiveService};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use serde_json::Value;
use tower::ServiceExt;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const PARTIAL: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

fn cluster() -> ArchiveService {
    let pod = |name: &str, namespace: &str, phase: &str, node: &str| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\n \"metadata\":{{\"name\":\"{name}\",\"namespace\":\"{namespace}\",\"resourceVersion\":\"7\",\"labels\":{{\"app\":\"{name}\"}}}},\n \"spec\":{{\"nodeName\":\"{node}\",\"containers\":[{{\"name\":\"c\"}}]}},\"status\":{{\"phase\":\"{phase}\"}}}}"
        )
    };
    let log = r#"{"apiVersion":"holdup.dev/v1","kind":"Log","metadata":{"name":"a","namespace":"shop"},"container":"c","previous":false,"lines":["one","two","three"]}"#;
    let coverage = r#"[{\"kind\":\"Pod\",\"state\":\"synced\"},{\"kind\":\"Secret\",\"state\":\"denied\",\"message\":\"secrets is forbidden\"},{\"kind\":\"Deployment\",\"namespace\":\"shop\",\"state\":\"synced\"}]"#;
    let list = format!(
        "{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{{\"annotations\":{{\"holdup.dev/captured-at\":\"2026-05-04T10:00:00Z\",\"holdup.dev/coverage\":\"{coverage}\"}}}},\"items\":[{},{},{},{{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{{\"name\":\"n1\"}}}},{log}]}}",
        pod("b", "shop", "Running", "n1"),
        pod("a", "shop", "Pending", ""),
        pod("c", "db", "Running", "n2")
    );
    Arc::new(Archive::from_bytes("cluster", list.as_bytes()).unwrap()).service()
}

async fn ask(service: &ArchiveService, path: &str, accept: &str) -> Response<Bytes> {
    let request = Request::get(path).header("accept", accept).body(Empty::<Bytes>::new()).unwrap();
    let (head, body) = service.clone().oneshot(request).await.unwrap().into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}

async fn json(service: &ArchiveService, path: &str) -> Value {
    serde_json::from_slice(ask(service, path, "application/json").await.body()).unwrap()
}

async fn status(service: &ArchiveService, path: &str) -> (u16, String) {
    let response = ask(service, path, "application/json").await;
    let body: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(body["kind"], "Status");
    (response.status().as_u16(), body["message"].as_str().unwrap().to_owned())
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

/// The events of a watch that ends at once.
async fn events(service: &ArchiveService, path: &str) -> Vec<(String, Value)> {
    let response = ask(service, path, "application/json").await;
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    let event = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        (event["type"].as_str().unwrap().to_owned(), event["object"].clone())
    };
    text.lines().map(event).collect()
}

#[tokio::test]
async fn lists_come_whole_by_namespace_and_by_page() {
    let service = cluster();
    let all = json(&service, "/api/v1/pods").await;
    assert_eq!((names(&all), &all["kind"], &all["metadata"]["resourceVersion"]), (vec!["c", "a", "b"], &"PodList".into(), &"7".into()));
    assert_eq!(names(&json(&service, "/api/v1/namespaces/shop/pods").await), ["a", "b"]);
    let first = json(&service, "/api/v1/pods?limit=2").await;
    assert_eq!((names(&first), &first["metadata"]["remainingItemCount"]), (vec!["c", "a"], &1.into()));
    let rest = format!("/api/v1/pods?limit=2&continue={}", first["metadata"]["continue"].as_str().unwrap());
    let rest = json(&service, &rest).await;
    assert_eq!((names(&rest), &rest["metadata"]["continue"]), (vec!["b"], &Value::Null));
    let response = ask(&service, "/api/v1/pods", "application/json").await;
    assert_eq!(response.headers()["content-type"], "application/json");
}

#[tokio::test]
async fn selectors_narrow_lists_pages_and_watches() {
    let service = cluster();
    assert_eq!(names(&json(&service, "/api/v1/pods?fieldSelector=status.phase%3DRunning").await), ["c", "b"]);
    assert_eq!(names(&json(&service, "/api/v1/pods?labelSelector=app+in+(a,b)&fieldSelector=metadata.name%21%3Da").await), ["b"]);
    let page = json(&service, "/api/v1/pods?limit=1&labelSelector=app!%3Dc").await;
    assert_eq!(names(&page), ["a"]);
    let next = format!("/api/v1/pods?limit=1&labelSelector=app!%3Dc&continue={}", page["metadata"]["continue"].as_str().unwrap());
    assert_eq!(names(&json(&service, &next).await), ["b"]);
    let seen = events(&service, "/api/v1/pods?watch=1&timeoutSeconds=0&fieldSelector=spec.nodeName%3Dn1").await;
    assert_eq!(seen.iter().map(|(_, object)| object["metadata"]["name"].as_str().unwrap()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(
        status(&service, "/api/v1/pods?fieldSelector=spec.color%3Dred").await,
        (400, "field label not supported: spec.color".to_owned())
    );
}

#[tokio::test]
async fn a_streaming_list_is_one_line_an_object_and_ends_with_its_bookmark() {
    let service = cluster();
    let path = "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0&timeoutSeconds=0";
    let seen = events(&service, path).await;
    assert_eq!(seen.iter().map(|(kind, _)| kind.as_str()).collect::<Vec<_>>(), ["ADDED", "ADDED", "ADDED", "BOOKMARK"]);
    assert_eq!(seen[3].1["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    assert_eq!(seen[3].1["metadata"]["resourceVersion"], "7");
    assert!(events(&service, "/api/v1/pods?watch=true&resourceVersion=7&timeoutSeconds=0").await.is_empty());
}

#[tokio::test]
async fn single_objects_tables_metadata_and_logs() {
    let service = cluster();
    assert_eq!(json(&service, "/api/v1/namespaces/shop/pods/a").await["metadata"]["name"], "a");
    assert_eq!(json(&service, "/api/v1/nodes/n1").await["kind"], "Node");
    let table: Value = serde_json::from_slice(ask(&service, "/api/v1/namespaces/shop/pods", TABLE).await.body()).unwrap();
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["rows"][0]["cells"].as_array().unwrap()[..4], ["a".into(), "0/1".into(), "Pending".into(), Value::from("0")]);
    let partial: Value = serde_json::from_slice(ask(&service, "/api/v1/pods", PARTIAL).await.body()).unwrap();
    assert_eq!(
        (&partial["kind"], &partial["items"][0]["kind"], &partial["items"][0]["spec"]),
        (&"PartialObjectMetadataList".into(), &"PartialObjectMetadata".into(), &Value::Null)
    );
    assert_eq!(ask(&service, "/api/v1/namespaces/shop/pods/a/log?tailLines=2", "*/*").await.body(), "two\nthree\n");
    let (code, message) = status(&service, "/api/v1/namespaces/shop/pods/b/log").await;
    assert_eq!((code, message.as_str()), (404, "no log of container c of pod shop/b is in the input"));
}

#[tokio::test]
async fn what_the_input_does_not_hold_is_never_an_empty_list() {
    let service = cluster();
    assert_eq!(status(&service, "/api/v1/secrets").await, (403, "secrets is forbidden".to_owned()));
    assert_eq!(status(&service, "/api/v1/services").await.0, 404);
    assert_eq!(
        status(&service, "/apis/apps/v1/namespaces/db/deployments").await,
        (404, "deployments of namespace db are not in the input".to_owned())
    );
    assert!(names(&json(&service, "/apis/apps/v1/namespaces/shop/deployments").await).is_empty());
    assert!(names(&json(&service, "/api/v1/namespaces/empty/pods").await).is_empty());
    assert_eq!(status(&service, "/api/v1/namespaces/shop/pods/none").await, (404, "pods \"none\" not found".to_owned()));
}

#[tokio::test]
async fn discovery_speaks_both_forms_and_hides_our_own_kinds() {
    let service = cluster();
    let old = json(&service, "/api/v1").await;
    let of = |list: &Value, key: &str| {
        list["resources"].as_array().unwrap().iter().map(|r| r[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(&old, "name"), ["nodes", "pods", "pods/log", "secrets"]);
    let response = ask(&service, "/apis", AGGREGATED).await;
    assert_eq!(response.headers()["content-type"], "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let new: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!((new["items"].as_array().unwrap().len(), &new["items"][0]["metadata"]["name"]), (1, &"apps".into()));
    assert_eq!(json(&service, "/apis").await["groups"][0]["preferredVersion"]["groupVersion"], "apps/v1");
    assert_eq!(json(&service, "/version").await["major"], "1");
    assert_eq!(status(&service, "/apis/none/v1").await.0, 404);
}

#[tokio::test]
async fn nothing_can_be_changed() {
    let service = cluster();
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let request = Request::builder()
            .method(method)
            .uri("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
            .body(Empty::<Bytes>::new())
            .unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 405, "{method}");
    }
}

const RECORDING: &str = r#"{"at":"2026-05-04T10:00:00Z","type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"x","resourceVersion":"1","labels":{"l":"1"}}}}
{"at":"2026-05-04T10:01:00Z","type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"x","resourceVersion":"2","labels":{"l":"1"}}}}
{"at":"2026-05-04T10:02:00Z","type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"x","resourceVersion":"3"}}}
{"at":"2026-05-04T10:02:00Z","type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"4"}}}
{"at":"2026-05-04T10:03:00Z","type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"x","resourceVersion":"5"}}}
"#;

/// What a watch says of each object until it has said this much.
async fn until(service: &ArchiveService, path: &str, count: usize) -> Vec<(String, String, String)> {
    let request = Request::get(path).body(Empty::<Bytes>::new()).unwrap();
    let mut body = service.clone().oneshot(request).await.unwrap().into_body();
    let (mut text, mut seen) = (String::new(), Vec::new());
    while seen.len() < count {
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame()).await.expect("in time").expect("open").unwrap();
        text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        while let Some((line, rest)) = text.split_once('\n') {
            let event: Value = serde_json::from_str(line).unwrap();
            let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            seen.push((of(&event["type"]), of(&event["object"]["metadata"]["name"]), of(&event["object"]["metadata"]["resourceVersion"])));
            text = rest.to_owned();
        }
    }
    seen
}

fn told(seen: &[(String, String, String)]) -> Vec<String> {
    seen.iter().map(|(what, name, _)| format!("{what} {name}")).collect()
}

#[tokio::test]
async fn a_recording_plays_and_a_watch_sees_what_comes() {
    let archive = Arc::new(Archive::from_bytes("recording", RECORDING.as_bytes()).unwrap());
    let service = Arc::clone(&archive).replay(Duration::from_secs(30), 600.0);
    let path = "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let seen = until(&service, path, 5).await;
    assert_eq!(told(&seen), ["ADDED a", "BOOKMARK ", "ADDED b", "MODIFIED a", "DELETED b"]);
    let resumed = until(&service, &format!("/api/v1/pods?watch=true&resourceVersion={}", seen[1].2), 3).await;
    assert_eq!(told(&resumed), ["ADDED b", "MODIFIED a", "DELETED b"]);
    let resumed = until(&service, "/api/v1/pods?watch=true&resourceVersion=3", 1).await;
    assert_eq!(told(&resumed), ["DELETED b"]);
    assert_eq!(names(&json(&service, "/api/v1/pods").await), ["a"]);
    assert_eq!(names(&json(&service, "/api/v1/nodes").await), ["n"]);
    let still = archive.replay(Duration::from_secs(150), 1e-9);
    assert_eq!(names(&json(&still, "/api/v1/namespaces/x/pods").await), ["a", "b"]);
    assert_eq!(still.now().map(|now| now.rfc3339()).as_deref(), Some("2026-05-04T10:02:30Z"));
}

#[tokio::test]
async fn what_stops_matching_a_selector_is_gone_for_its_watch() {
    let archive = Arc::new(Archive::from_bytes("recording", RECORDING.as_bytes()).unwrap());
    let service = archive.replay(Duration::ZERO, 600.0);
    let seen = until(&service, "/api/v1/namespaces/x/pods?watch=true&labelSelector=l%3D1", 4).await;
    assert_eq!(told(&seen), ["ADDED a", "ADDED b", "DELETED a", "DELETED b"]);
}

#[tokio::test]
async fn the_demo_starts_now_and_its_incident_unfolds() {
    let now = holdup::model::Time::parse("2031-01-02T03:04:05Z").unwrap();
    let service = Arc::new(Archive::demo(now).unwrap()).replay(Duration::ZERO, 1e-9);
    assert_eq!(service.now(), Some(now));
    let pods = json(&service, "/api/v1/pods").await;
    let waiting = |reason: &str| pods["items"].as_array().unwrap().iter().filter(|pod| pod["status"].to_string().contains(reason)).count();
    assert_eq!((waiting("Unschedulable"), waiting("ImagePullBackOff"), waiting("CrashLoopBackOff")), (3, 1, 0));
    assert!(!pods.to_string().contains("2026-"), "every time was moved");
    let end = Arc::new(Archive::demo(now).unwrap()).service();
    assert!(json(&end, "/api/v1/pods").await.to_string().contains("CrashLoopBackOff"));
    assert_eq!(end.archive().about().now().map(|at| at.since(now) / 60), Some(5));
}

#[tokio::test]
async fn it_is_served_on_a_port_and_to_a_client_of_kube_in_process() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(holdup::archive::serve(cluster(), listener));
    let connector = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let response = connector.get(format!("http://{address}/api/v1/pods").parse().unwrap()).await.unwrap();
    assert!(response.headers().contains_key("content-length"));
    let list: Value = serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!(names(&list), ["c", "a", "b"]);
    server.abort();
    let client = kube::Client::new(cluster(), "default");
    let nodes: Value = client.request(Request::get("/api/v1/nodes").body(Vec::new()).unwrap()).await.unwrap();
    assert_eq!(names(&nodes), ["n1"]);
}

#[tokio::test]
async fn steps_of_one_second_come_one_after_the_other() {
    let step = |name: &str, at: &str| {
        format!(
            "{{\"at\":\"2026-05-04T10:00:{at}Z\",\"type\":\"ADDED\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"{name}\"}}}}}}\n"
        )
    };
    let recording = [step("a", "00"), step("b", "00.25"), step("c", "00.7504"), step("d", "01.1")].concat();
    let archive = Arc::new(Archive::from_bytes("recording", recording.as_bytes()).unwrap());
    for (millis, expected) in [(249, 1), (250, 2), (750, 3), (1099, 3), (1100, 4)] {
        let service = Arc::clone(&archive).replay(Duration::from_millis(millis), 1e-9);
        assert_eq!(names(&json(&service, "/api/v1/pods").await).len(), expected, "{millis}");
    }
}
