//! Which cluster is chosen, and what is said when none can be.

use std::time::Duration;

use holdup::watch::{ConfigError, Connection, Environment, Error, Get, Kubeconfig, Manner, Options, Target};
use serde_json::json;

use super::home::{Home, options, text};
use super::mock::{Mock, Reply};

fn target(options: &Options, environment: &Environment) -> Result<Target, Error> {
    Target::find(options, environment)
}

fn config_error(options: &Options, environment: &Environment) -> ConfigError {
    match target(options, environment) {
        Err(Error::Config(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_current_context_names_cluster_and_namespace() {
    let home = Home::new();
    home.kubeconfig(&json!({"server": "http://127.0.0.1:1"}), &json!({}));
    let target = target(&options(), &home.environment()).unwrap();
    assert_eq!((target.context.as_deref(), target.namespace.as_str()), (Some("test"), "shop"));
    assert_eq!(target.server.to_string(), "http://127.0.0.1:1/");
}

#[test]
fn a_missing_kubeconfig_option_is_a_short_error() {
    let home = Home::new();
    let wanted = Options { kubeconfig: Some(home.path("nowhere")), ..options() };
    let error = target(&wanted, &home.environment()).unwrap_err();
    assert_eq!(error.to_string(), format!("--kubeconfig {}: no such file", text(&home.path("nowhere"))));
}

#[test]
fn without_any_kubeconfig_the_error_names_what_was_tried_and_what_else_there_is() {
    let home = Home::new();
    let said = target(&options(), &home.environment()).unwrap_err().to_string();
    for part in [&text(&home.path(".kube/config")), "serviceaccount", "--kubeconfig", "holdup demo"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn an_unreadable_kubeconfig_does_not_look_like_one_without_contexts() {
    let home = Home::new();
    home.write(".kube/config", "clusters: [\n - {");
    let error = config_error(&options(), &home.environment());
    assert!(matches!(error, ConfigError::Unreadable { .. }), "{error:?}");

    home.write(".kube/config", "apiVersion: v1\nclusters: []\ncontexts: []\n");
    let error = config_error(&options(), &home.environment());
    assert!(matches!(error, ConfigError::Nothing { .. }), "{error:?}");
}

#[test]
fn an_error_about_the_file_shows_nothing_of_its_content() {
    let home = Home::new();
    home.write(".kube/config", "users:\n- name: u\n  user: {token: s3cr3t-t0ken\n");
    let said = target(&options(), &home.environment()).unwrap_err().to_string();
    assert!(!said.contains("s3cr3t"), "{said}");
}

#[test]
fn no_current_context_lists_the_contexts_that_can_be_chosen() {
    let home = Home::new();
    home.write(
        ".kube/config",
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}, {name: empty, cluster: {}}]\n\
         contexts: [{name: good, context: {cluster: c}}, {name: lost, context: {cluster: gone}}, {name: bare, context: {cluster: empty}}]\n",
    );
    let environment = home.environment();
    assert_eq!(config_error(&options(), &environment), ConfigError::NoCurrentContext { contexts: vec!["good".into()] });
    let unknown = Options { context: Some("nope".into()), ..options() };
    let contexts = vec!["good".to_owned()];
    assert_eq!(config_error(&unknown, &environment), ConfigError::UnknownContext { name: "nope".into(), contexts });
    let offered = Kubeconfig::read(&options(), &environment).unwrap().offered();
    assert_eq!(offered.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>(), ["good"]);
    let serverless = Options { context: Some("lost".into()), ..options() };
    assert!(matches!(config_error(&serverless, &environment), ConfigError::NoServer { .. }));
}

#[test]
fn of_several_files_the_first_to_name_an_entry_wins_and_missing_ones_are_skipped() {
    let home = Home::new();
    let one = home.write("one", "current-context: a\nclusters: [{name: c, cluster: {server: 'http://first:1'}}]\n");
    let two = home.write(
        "two",
        "current-context: b\nclusters: [{name: c, cluster: {server: 'http://second:1'}}]\ncontexts: [{name: a, context: {cluster: c}}]\n",
    );
    let list = format!("{}::{}:{}", text(&one), text(&home.path("missing")), text(&two));
    let target = target(&options(), &home.environment_with(&[("KUBECONFIG", &list)])).unwrap();
    assert_eq!((target.context.as_deref(), target.server.host()), (Some("a"), Some("first")));
}

#[test]
fn an_entry_that_cannot_be_read_is_left_out_with_a_warning() {
    let home = Home::new();
    home.write(
        ".kube/config",
        "current-context: good\n\
         clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}, {cluster: {}}]\n\
         users: [{name: odd, user: {token: [s3cr3t]}}, {name: u, user: {}}]\n\
         contexts: [{name: good, context: {cluster: c, user: u}}, {name: 7}]\n",
    );
    let target = target(&options(), &home.environment()).unwrap();
    assert_eq!(target.warnings.len(), 3, "{:?}", target.warnings);
    assert!(target.warnings.iter().any(|warning| warning.contains("user \"odd\"")), "{:?}", target.warnings);
    assert!(!target.warnings.iter().any(|warning| warning.contains("s3cr3t")), "{:?}", target.warnings);
}

#[test]
fn options_override_the_kubeconfig_as_in_kubectl() {
    let home = Home::new();
    let authority = home.write("ca.crt", &super::certs::Authority::new("x").pem);
    home.kubeconfig(&json!({"server": "https://one:1", "tls-server-name": "other"}), &json!({}));
    let wanted = Options { server: Some("two:2".into()), certificate_authority: Some(authority), ..options() };
    let target = target(&wanted, &home.environment()).unwrap();
    assert_eq!(target.server.to_string(), "https://two:2/");
    let lonely = Options { impersonate_groups: vec!["g".into()], ..options() };
    assert!(config_error(&lonely, &home.environment()).to_string().contains("--as"));
    let nobody = Options { user: Some("nobody".into()), ..options() };
    assert!(config_error(&nobody, &home.environment()).to_string().contains("nobody"));
}

#[test]
fn an_authority_that_cannot_be_read_is_an_error_and_never_wider_trust() {
    let home = Home::new();
    for cluster in [
        json!({"server": "https://127.0.0.1:1", "certificate-authority-data": "%%%"}),
        json!({"server": "https://127.0.0.1:1", "certificate-authority": "missing.crt"}),
        json!({"server": "https://127.0.0.1:1", "certificate-authority-data": "aGVsbG8="}),
    ] {
        home.kubeconfig(&cluster, &json!({}));
        assert!(matches!(config_error(&options(), &home.environment()), ConfigError::Field { .. }), "{cluster}");
    }
}

#[tokio::test]
async fn a_pod_uses_its_service_account() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    std::fs::create_dir_all(home.path("serviceaccount")).unwrap();
    home.write("serviceaccount/token", "sa-token");
    home.write("serviceaccount/namespace", "jobs\n");
    let port = mock.address.port().to_string();
    let environment = home.environment_with(&[("KUBERNETES_SERVICE_HOST", "127.0.0.1"), ("KUBERNETES_SERVICE_PORT", &port)]);
    let mut target = target(&options(), &environment).unwrap();
    assert_eq!((target.context.clone(), target.namespace.as_str()), (None, "jobs"));
    assert_eq!(target.server.to_string(), format!("https://127.0.0.1:{port}/"));
    // The mock of this test speaks no TLS.
    target.server = mock.url().parse().unwrap();
    let connection = Connection::open(target, Manner::Unseen).await.unwrap();
    connection.fetch(&Get::json("/version".into()), Duration::from_secs(10)).await.unwrap();
    assert_eq!(mock.asked("/version")[0].header("authorization"), "Bearer sa-token");
}

#[tokio::test]
async fn server_and_token_alone_are_enough() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let wanted = Options {
        server: Some(mock.url()),
        token: Some("abc".into()),
        impersonate: Some("jane".into()),
        impersonate_groups: vec!["dev".into(), "ops".into()],
        ..options()
    };
    let target = target(&wanted, &home.environment()).unwrap();
    let connection = Connection::open(target, Manner::Unseen).await.unwrap();
    connection.fetch(&Get::json("/version".into()), Duration::from_secs(10)).await.unwrap();
    let seen = &mock.asked("/version")[0];
    assert_eq!((seen.header("authorization"), seen.header("impersonate-user")), ("Bearer abc", "jane"));
    assert_eq!(seen.headers["impersonate-group"], ["dev", "ops"]);
}

#[tokio::test]
async fn a_path_in_the_server_address_is_kept() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&json!({"server": format!("{}/k8s/clusters/c-1/", mock.url())}), &json!({}));
    let target = target(&options(), &home.environment()).unwrap();
    let connection = Connection::open(target, Manner::Unseen).await.unwrap();
    connection.fetch(&Get::json("/version".into()), Duration::from_secs(10)).await.unwrap();
    assert_eq!(mock.answers.seen()[0].path, "/k8s/clusters/c-1/version");
}
