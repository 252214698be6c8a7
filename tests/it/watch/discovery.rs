//! What the server offers, from documents new and old, whole and broken.

use std::time::Duration;

use holdup::model::Kind;
use holdup::watch::{About, Catalogue, Connection, Discovery, Offer, Resource, Scope, Version, discover, version};
use serde_json::{Value, json};

use super::mock::{Answers, Reply, Seen};

const SOON: Duration = Duration::from_secs(20);

async fn discovered(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Discovery {
    let connection = Connection::over(Answers::new(script), About::default());
    discover(&connection, SOON).await.expect("the core group can be read")
}

fn aggregated(groups: &Value) -> Reply {
    Reply::json(&json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": groups}))
}

fn resource(plural: &str, kind: &str, more: &Value) -> Value {
    let mut resource = json!({
        "resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced", "singularResource": kind.to_lowercase(),
        "verbs": ["get", "list", "watch"],
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        resource[key] = value.clone();
    }
    resource
}

fn group(name: &str, versions: &[(&str, Vec<Value>)]) -> Value {
    let versions: Vec<Value> =
        versions.iter().map(|(version, resources)| json!({"version": version, "freshness": "Current", "resources": resources})).collect();
    json!({"metadata": {"name": name}, "versions": versions})
}

fn core() -> Value {
    group(
        "",
        &[("v1", vec![resource("pods", "Pod", &json!({"shortNames": ["po"]})), resource("nodes", "Node", &json!({"scope": "Cluster"}))])],
    )
}

/// The newest cluster: two documents tell everything.
async fn new_cluster(others: Value) -> Discovery {
    discovered(move |seen| match seen.path.as_str() {
        "/api" => aggregated(&json!([core()])),
        _ => aggregated(&others),
    })
    .await
}

fn names(discovery: &Discovery, word: &str) -> Vec<String> {
    discovery.named(word).iter().map(|served| format!("{} {}", served.resource.api_version(), served.resource.plural)).collect()
}

#[tokio::test]
async fn two_aggregated_documents_are_enough() {
    let answers = Answers::new(|seen| match seen.path.as_str() {
        "/api" => aggregated(&json!([core()])),
        _ => aggregated(&json!([group("apps", &[("v1", vec![resource("deployments", "Deployment", &json!({}))])])])),
    });
    let connection = Connection::over(answers.clone(), About::default());
    let discovery = discover(&connection, SOON).await.unwrap();
    assert_eq!(answers.seen().len(), 2);
    assert!(answers.seen()[0].header("accept").contains("as=APIGroupDiscoveryList"));
    let Offer::Served(pods) = discovery.offer(Kind::Pod.row()) else { panic!("pods are served") };
    assert_eq!((pods.can_watch, pods.resource), (true, Resource::of_kind(Kind::Pod, "v1")));
    let Offer::Served(nodes) = discovery.offer(Kind::Node.row()) else { panic!("nodes are served") };
    assert_eq!(nodes.resource.scope, Scope::Cluster);
    assert_eq!(discovery.offer(Kind::Job.row()), Offer::Absent);
}

#[tokio::test]
async fn an_old_server_is_asked_group_by_group_and_a_broken_group_costs_only_itself() {
    let list = |resources: Value| Reply::json(&json!({"kind": "APIResourceList", "resources": resources}));
    let discovery = discovered(move |seen| match seen.path.as_str() {
        "/api" => Reply::json(&json!({"kind": "APIVersions", "versions": ["v1"]})),
        "/apis" => Reply::json(&json!({"kind": "APIGroupList", "groups": [
            {"name": "batch", "versions": [{"version": "v1"}, {"version": "v1beta1"}]},
            {"name": "metrics.k8s.io", "versions": [{"version": "v1beta1"}]},
            {"name": "custom.example", "versions": null},
        ]})),
        "/api/v1" => list(json!([
            {"name": "pods", "kind": "Pod", "namespaced": true, "verbs": ["list", "watch"], "shortNames": null},
            {"name": "pods/log", "kind": "Pod", "namespaced": true, "verbs": ["get"]},
            {"name": "odd", "kind": "Odd", "namespaced": true, "verbs": null},
        ])),
        "/apis/batch/v1" => list(json!([{"name": "jobs", "kind": "Job", "namespaced": true, "verbs": ["list"]}])),
        "/apis/batch/v1beta1" => list(Value::Null),
        _ => Reply::refusal(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
    })
    .await;
    assert_eq!(names(&discovery, "pods"), ["v1 pods"]);
    assert_eq!(names(&discovery, "odd"), Vec::<String>::new(), "no verbs, no name");
    assert_eq!(discovery.unreadable.len(), 1);
    assert_eq!(discovery.unreadable[0].0, "metrics.k8s.io");
    let Offer::Served(jobs) = discovery.offer(Kind::Job.row()) else { panic!("jobs are served") };
    assert!(jobs.can_list && !jobs.can_watch);
}

#[tokio::test]
async fn only_the_core_group_is_fatal() {
    let ask = |path: &'static str, reply: fn() -> Reply| async move {
        let answers = Answers::new(move |seen| if seen.path == path { reply() } else { aggregated(&json!([core()])) });
        discover(&Connection::over(answers, About::default()), SOON).await
    };
    assert!(ask("/api", || Reply::refusal(500, "", "no")).await.is_err());
    assert!(ask("/api", || Reply::text(200, "<html>")).await.is_err());
    let discovery = ask("/apis", || Reply::refusal(403, "Forbidden", "no")).await.unwrap();
    assert_eq!(discovery.offer(Kind::Deployment.row()), Offer::Unknown, "asking for the kind itself will tell");
}

#[tokio::test]
async fn a_stale_group_is_listed_and_its_kinds_are_not_absent() {
    let mut apps = group("apps", &[("v1", Vec::new())]);
    apps["versions"][0]["freshness"] = json!("Stale");
    let discovery = new_cluster(json!([apps])).await;
    assert_eq!(discovery.unreadable, [("apps".to_owned(), "v1 does not answer the API server".to_owned())]);
    assert_eq!(discovery.offer(Kind::Deployment.row()), Offer::Unknown);
    assert_eq!(discovery.offer(Kind::Job.row()), Offer::Absent);
}

#[tokio::test]
async fn followed_kinds_take_the_newest_version_they_know_and_others_the_most_stable() {
    let claims = || vec![resource("resourceclaims", "ResourceClaim", &json!({}))];
    let things = || vec![resource("things", "Thing", &json!({}))];
    let discovery = new_cluster(json!([
        group("resource.k8s.io", &[("v1alpha3", claims()), ("v1beta1", claims()), ("v1beta2", claims())]),
        group("x.example", &[("v2alpha1", things()), ("v1beta10", things()), ("v1beta2", things()), ("v1", things())]),
        group("y.example", &[("odd", vec![resource("oddities", "Oddity", &json!({}))])]),
    ]))
    .await;
    let Offer::Served(claim) = discovery.offer(Kind::ResourceClaim.row()) else { panic!("claims are served") };
    assert_eq!(claim.resource.version, "v1beta2");
    assert_eq!(names(&discovery, "thing"), ["x.example/v1 things"]);
    assert_eq!(names(&discovery, "oddity"), ["y.example/odd oddities"]);
}

#[tokio::test]
async fn kinds_that_share_a_name_are_told_apart_by_group_and_a_followed_kind_comes_first() {
    let service = |group_name: &str| group(group_name, &[("v1", vec![resource("services", "Service", &json!({"shortNames": ["svc"]}))])]);
    let clusters = |group_name: &str| group(group_name, &[("v1", vec![resource("clusters", "Cluster", &json!({}))])]);
    let discovery = new_cluster(json!([service(""), service("serving.knative.dev"), clusters("a.example"), clusters("b.example")])).await;
    assert_eq!(names(&discovery, "SVC"), ["v1 services"]);
    assert_eq!(names(&discovery, "service.serving.knative.dev"), ["serving.knative.dev/v1 services"]);
    assert_eq!(names(&discovery, "cluster"), ["a.example/v1 clusters", "b.example/v1 clusters"]);
    assert_eq!(names(&discovery, "clusters.v1.b.example"), ["b.example/v1 clusters"]);
}

#[tokio::test]
async fn a_kind_installed_later_is_found_and_a_miss_does_not_ask_at_once_again() {
    let answers = Answers::new(|seen| match seen.path.as_str() {
        "/api" => aggregated(&json!([core()])),
        _ => aggregated(&json!([group("x.example", &[("v1", vec![resource("things", "Thing", &json!({}))])])])),
    });
    let catalogue = Catalogue::new(Connection::over(answers.clone(), About::default()));
    assert_eq!(catalogue.find("thing", SOON).await.unwrap().len(), 1);
    for word in ["nothing", "thing", "nothing"] {
        catalogue.find(word, SOON).await.unwrap();
    }
    assert_eq!(answers.seen().len(), 2);
}

#[tokio::test]
async fn the_version_says_whether_lists_stream() {
    let ask = |told: Value| async move {
        let answers = Answers::new(move |_| Reply::json(&told));
        version(&Connection::over(answers, About::default()), SOON).await
    };
    let read = ask(json!({"major": "1", "minor": "34+", "gitVersion": "v1.34.2-gke.100"})).await.unwrap();
    assert_eq!(read, Version { major: 1, minor: 34, text: "v1.34.2-gke.100".into() });
    for (minor, expected) in [(31, false), (32, true), (33, false), (34, true), (35, true), (0, false)] {
        assert_eq!(Version { major: 1, minor, text: String::new() }.streams_lists(), expected, "1.{minor}");
    }
    assert_eq!(ask(json!({})).await.unwrap(), Version::default());
}

#[test]
fn names_from_outside_cannot_leave_their_place_in_a_path() {
    let pods = Resource::of_kind(Kind::Pod, "v1");
    assert_eq!(pods.object("shop", "a"), "/api/v1/namespaces/shop/pods/a");
    assert_eq!(pods.object("../x", "a?b=c/d#e %"), "/api/v1/namespaces/..%2Fx/pods/a%3Fb%3Dc%2Fd%23e%20%25");
    assert_eq!(pods.object("..", ".."), "/api/v1/namespaces/%2E%2E/pods/%2E%2E");
    assert_eq!(Resource::of_kind(Kind::Node, "v1").object("ignored", "n1"), "/api/v1/nodes/n1");
}
