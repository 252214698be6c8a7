//! Credentials, refusals, compression and the server's clock.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use holdup::watch::{Connection, Error, Get, JSON, Manner, Packing, Target};
use serde_json::json;

use super::home::{Home, options};
use super::mock::{Mock, Reply, Seen};

pub const SOON: Duration = Duration::from_secs(20);

pub async fn connect(home: &Home) -> Connection {
    let target = Target::find(&options(), &home.environment()).expect("the kubeconfig is complete");
    Connection::open(target, Manner::Unseen).await.expect("the credential can be had")
}

pub fn version() -> Get {
    Get::json("/version".into())
}

fn cluster(mock: &Mock) -> serde_json::Value {
    json!({"server": mock.url()})
}

#[tokio::test]
async fn a_refusal_is_worded_as_kubectl_does() {
    let mock = Mock::plain(|_| Reply::refusal(403, "Forbidden", "pods is forbidden: User \"jane\" cannot list")).await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({}));
    let error = connect(&home).await.fetch(&version(), SOON).await.unwrap_err();
    assert_eq!(error.to_string(), "Error from server (Forbidden): pods is forbidden: User \"jane\" cannot list");
}

#[tokio::test]
async fn retry_after_is_read_from_header_and_status() {
    let mock = Mock::plain(|seen| match seen.path.as_str() {
        "/header" => Reply::refusal(429, "TooManyRequests", "slow down").with("retry-after", "7"),
        _ => Reply::text(429, json!({"reason": "TooManyRequests", "details": {"retryAfterSeconds": 3}}).to_string()),
    })
    .await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({}));
    let connection = connect(&home).await;
    let mut waits = Vec::new();
    for path in ["/header", "/body"] {
        match connection.fetch(&Get::json(path.into()), SOON).await {
            Err(Error::Status(status)) => waits.push(status.retry_after.map(|wait| wait.as_secs())),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(waits, [Some(7), Some(3)]);
}

#[tokio::test]
async fn a_page_of_a_load_balancer_becomes_one_line() {
    let mock = Mock::plain(|_| Reply::text(502, "<html>\n  <h1>Bad   Gateway</h1>\n</html>")).await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({}));
    let error = connect(&home).await.fetch(&version(), SOON).await.unwrap_err();
    assert_eq!(error.to_string(), "Error from server (502): <html> <h1>Bad Gateway</h1> </html>");
}

#[tokio::test]
async fn nobody_listening_says_so_and_what_to_check() {
    let home = Home::new();
    home.kubeconfig(&json!({"server": "http://127.0.0.1:9"}), &json!({}));
    let error = connect(&home).await.fetch(&version(), SOON).await.unwrap_err();
    assert!(matches!(error, Error::NotReached { .. }), "{error:?}");
    assert!(error.to_string().contains("refused") && error.to_string().contains("VPN"), "{error}");
}

#[tokio::test]
async fn an_answer_that_never_comes_has_a_deadline() {
    let mock = Mock::plain(|_| {
        let (reply, writer) = Reply::stream();
        std::mem::forget(writer);
        reply
    })
    .await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({}));
    let error = connect(&home).await.fetch(&version(), Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error:?}");
}

#[tokio::test]
async fn a_401_is_answered_once_with_the_kubeconfig_read_again() {
    let mock = Mock::plain(|seen| match seen.header("authorization") {
        "Bearer new" => Reply::json(&json!({"ok": true})),
        _ => Reply::refusal(401, "Unauthorized", "Unauthorized"),
    })
    .await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({"token": "old"}));
    let connection = connect(&home).await;
    home.kubeconfig(&cluster(&mock), &json!({"token": "new"}));
    connection.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version").len(), 2);
}

#[tokio::test]
async fn a_401_that_stays_is_not_answered_by_renewing_again_and_again() {
    let mock = Mock::plain(|_| Reply::refusal(401, "Unauthorized", "Unauthorized")).await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({"token": "old"}));
    let connection = connect(&home).await;
    for asked in [2, 3] {
        let error = connection.fetch(&version(), SOON).await.unwrap_err();
        assert_eq!((error.code(), mock.asked("/version").len()), (Some(401), asked));
    }
}

#[tokio::test]
async fn a_token_file_and_basic_credentials_work() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    std::fs::write(home.path(".kube/token"), "from-file").unwrap();
    home.kubeconfig(&cluster(&mock), &json!({"tokenFile": "token"}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    home.kubeconfig(&cluster(&mock), &json!({"username": "jane", "password": "pass"}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    let sent: Vec<String> = mock.asked("/version").iter().map(|seen| seen.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["Bearer from-file", "Basic amFuZTpwYXNz"]);
}

#[tokio::test]
async fn an_oidc_token_is_sent_and_an_expired_one_without_refresh_names_the_login() {
    let token = |expires: i64| {
        use base64::Engine;
        let encode = |text: String| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.sig", encode("{}".into()), encode(json!({"exp": expires}).to_string()))
    };
    let user = |token: &str| json!({"auth-provider": {"name": "oidc", "config": {"id-token": token}}});
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let good = token(4_000_000_000);
    home.kubeconfig(&cluster(&mock), &user(&good));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version")[0].header("authorization"), format!("Bearer {good}"));
    home.kubeconfig(&cluster(&mock), &user(&token(1_000)));
    let error = connect(&home).await.fetch(&version(), SOON).await.unwrap_err();
    assert!(matches!(error, Error::Login { .. }), "{error:?}");
}

#[test]
fn providers_that_kubectl_dropped_name_what_replaced_them() {
    let home = Home::new();
    home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &json!({"auth-provider": {"name": "gcp"}}));
    let error = Target::find(&options(), &home.environment()).unwrap_err();
    assert!(error.to_string().contains("gke-gcloud-auth-plugin"), "{error}");
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[tokio::test]
async fn nothing_is_compressed_on_this_machine_and_what_is_packed_all_the_same_is_unpacked() {
    let mock = Mock::plain(|_| {
        let two = [packed("{\"a\":"), packed("1}")].concat();
        Reply::text(200, two).with("content-encoding", "gzip")
    })
    .await;
    let home = Home::new();
    home.kubeconfig(&json!({"server": mock.named_url()}), &json!({}));
    let connection = connect(&home).await;
    let answer = connection.fetch(&version(), SOON).await.unwrap();
    assert_eq!(answer, b"{\"a\":1}");
    let watch = Get { path: "/version".into(), accept: JSON, packing: Packing::Never };
    connection.fetch(&watch, SOON).await.unwrap();
    let asked: Vec<String> = mock.asked("/version").iter().map(|seen| seen.header("accept-encoding").to_owned()).collect();
    assert_eq!(asked, ["identity", "identity"]);
}

#[tokio::test]
async fn the_clock_of_the_server_is_read_from_its_answers() {
    let mock = Mock::plain(|_| Reply::json(&json!({})).with("date", "Fri, 01 Jan 2100 00:00:00 GMT")).await;
    let home = Home::new();
    home.kubeconfig(&cluster(&mock), &json!({}));
    let connection = connect(&home).await;
    assert_eq!(connection.clock_offset(), None);
    connection.fetch(&version(), SOON).await.unwrap();
    assert!(connection.clock_offset().is_some_and(|ahead| ahead > 365 * 86_400), "{:?}", connection.clock_offset());
}

#[tokio::test]
async fn forty_refused_requests_renew_once() {
    let tokens = AtomicUsize::new(0);
    let mock = Mock::plain(move |seen: &Seen| {
        tokens.fetch_add(1, Ordering::Relaxed);
        match seen.header("authorization") {
            "Bearer 2" => Reply::json(&json!({})),
            _ => Reply::refusal(401, "Unauthorized", "Unauthorized"),
        }
    })
    .await;
    let home = Home::new();
    home.write("count", "0");
    let plugin = home.script(
        "plugin",
        "n=$(($(cat \"$DIR/count\") + 1)); echo $n > \"$DIR/count\"\n\
         echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"'$n'\"}}'",
    );
    let env = json!([{"name": "DIR", "value": super::home::text(&home.folder)}]);
    home.kubeconfig(&cluster(&mock), &json!({"exec": {"command": plugin, "env": env}}));
    let connection = connect(&home).await;
    let get = version();
    let all = (0..40).map(|_| connection.fetch(&get, SOON));
    for answer in futures::future::join_all(all).await {
        answer.unwrap();
    }
    assert_eq!(home.read("count").trim(), "2");
}
