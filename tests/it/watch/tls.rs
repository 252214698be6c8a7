//! TLS: what Go accepts is accepted, what cannot work says why, and nobody gets a certificate that is not for him.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use holdup::watch::{Connection, Error, Manner, Target};
use serde_json::{Value, json};

use super::certs::{Authority, Pair, ServerTls};
use super::home::{Home, options};
use super::login::{SOON, connect, version};
use super::mock::{Mock, Reply};

const V1: (&str, &str) = (include_str!("pem/v1.crt"), include_str!("pem/v1.key"));
const P521: (&str, &str) = (include_str!("pem/p521.crt"), include_str!("pem/p521.key"));

/// base64 as some tools write it: a line break every 64 characters.
fn wrapped(text: &str) -> String {
    let packed = STANDARD.encode(text);
    packed.as_bytes().chunks(64).map(|line| format!("{}\r\n", String::from_utf8_lossy(line))).collect()
}

fn trusting(mock: &Mock, pem: &str) -> Value {
    json!({"server": mock.url(), "certificate-authority-data": wrapped(pem)})
}

fn user(certificate: &str, key: &str) -> Value {
    json!({"client-certificate-data": wrapped(certificate), "client-key-data": wrapped(key)})
}

async fn refusal(home: &Home) -> String {
    let error = connect(home).await.fetch(&version(), SOON).await.expect_err("the handshake fails");
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn a_pinned_authority_and_a_wrapped_client_certificate_work() {
    let authority = Authority::new("cluster");
    let mock = Mock::tls(ServerTls::asking(&authority.server(), Vec::new()), |_| Reply::json(&json!({}))).await;
    let client = authority.pair(&["jane"]);
    let home = Home::new();
    home.kubeconfig(&trusting(&mock, &authority.pem), &user(&client.certificate_pem, &client.key_pem));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version")[0].certificate.as_deref(), Some(client.certificate.as_ref()));
}

#[tokio::test]
async fn an_authority_served_as_it_is_is_accepted_only_when_it_is_the_pinned_one() {
    let own = Pair::authority_as_server();
    let mock = Mock::tls(ServerTls::showing(&own), |_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&trusting(&mock, &own.certificate_pem), &json!({}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();

    home.kubeconfig(&trusting(&mock, &Pair::authority_as_server().certificate_pem), &json!({}));
    refusal(&home).await;

    let mut cluster = trusting(&mock, &own.certificate_pem);
    cluster["tls-server-name"] = json!("another.example.net");
    home.kubeconfig(&cluster, &json!({}));
    assert!(refusal(&home).await.contains("another name"));
}

#[tokio::test]
async fn a_certificate_authority_that_does_not_parse_does_not_hide_one_that_does() {
    let authority = Authority::new("cluster");
    let mock = Mock::tls(ServerTls::showing(&authority.server()), |_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let junk = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    home.kubeconfig(&trusting(&mock, &format!("{junk}{}", authority.pem)), &json!({}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
}

#[tokio::test]
async fn refused_server_certificates_name_cause_and_remedy() {
    let authority = Authority::new("cluster");
    let home = Home::new();
    let cases = [
        (authority.expired(), authority.pem.clone(), "expired"),
        (authority.pair(&["elsewhere.example.net"]), authority.pem.clone(), "another name"),
        (authority.server(), Authority::new("cluster").pem, "authority that is not trusted here: \"cluster\" with another key"),
        (
            authority.server(),
            Authority::new("another").pem,
            "\"cluster\", while certificate-authority-data of this cluster names \"another\"",
        ),
        (authority.server(), Authority::new("another").pem, "set certificate-authority of this cluster"),
    ];
    for (pair, pem, expected) in cases {
        let mock = Mock::tls(ServerTls::showing(&pair), |_| Reply::json(&json!({}))).await;
        home.kubeconfig(&trusting(&mock, &pem), &json!({}));
        let said = refusal(&home).await;
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_named_so() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let server = format!("https://127.0.0.1:{}", mock.address.port());
    home.kubeconfig(&json!({"server": server}), &json!({}));
    assert!(refusal(&home).await.contains("does not speak TLS"));
}

#[tokio::test]
async fn insecure_and_tls_server_name_do_what_they_say() {
    let authority = Authority::new("cluster");
    let mock = Mock::tls(ServerTls::showing(&authority.pair(&["api.example.net"])), |_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&json!({"server": mock.url(), "insecure-skip-tls-verify": true}), &json!({}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    let mut cluster = trusting(&mock, &authority.pem);
    cluster["tls-server-name"] = json!("api.example.net");
    home.kubeconfig(&cluster, &json!({}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version")[1].server_name.as_deref(), Some("api.example.net"));
}

#[tokio::test]
async fn a_version_1_client_certificate_is_passed_on_and_a_p521_key_is_explained() {
    let authority = Authority::new("cluster");
    let mock = Mock::tls(ServerTls::asking(&authority.server(), Vec::new()), |_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&trusting(&mock, &authority.pem), &user(V1.0, V1.1));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    assert!(mock.asked("/version")[0].certificate.is_some());

    home.kubeconfig(&trusting(&mock, &authority.pem), &user(P521.0, P521.1));
    let target = Target::find(&options(), &home.environment()).unwrap();
    let said = Connection::open(target, Manner::Unseen).await.unwrap_err().to_string();
    assert!(said.contains("P-521") && said.contains("P-256"), "{said}");
}

#[tokio::test]
async fn a_client_certificate_that_is_not_base64_is_left_out_with_a_warning() {
    let authority = Authority::new("cluster");
    let mock = Mock::tls(ServerTls::asking(&authority.server(), Vec::new()), |_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&trusting(&mock, &authority.pem), &json!({"client-certificate-data": "###", "client-key-data": "###"}));
    let connection = connect(&home).await;
    connection.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version")[0].certificate, None);
    assert!(connection.notes().iter().any(|note| note.contains("client-certificate-data")), "{:?}", connection.notes());
}

#[tokio::test]
async fn sessions_with_a_client_certificate_are_never_resumed() {
    let authority = Authority::new("cluster");
    let mock = Mock::tls(ServerTls::asking(&authority.server(), Vec::new()), |_| Reply::json(&json!({})).with("connection", "close")).await;
    let client = authority.pair(&["jane"]);
    let home = Home::new();
    home.kubeconfig(&trusting(&mock, &authority.pem), &user(&client.certificate_pem, &client.key_pem));
    let connection = connect(&home).await;
    for _ in 0..3 {
        connection.fetch(&version(), SOON).await.unwrap();
    }
    let seen = mock.asked("/version");
    let connections: Vec<usize> = seen.iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [1, 2, 3]);
    assert!(seen.iter().all(|seen| seen.handshake_was_full));
}

#[tokio::test]
async fn an_alert_about_our_certificate_asks_the_plugin_for_a_fresh_one() {
    let authority = Authority::new("cluster");
    let (old, new) = (authority.pair(&["jane"]), authority.pair(&["jane"]));
    let tls = ServerTls::asking(&authority.server(), vec![old.certificate.clone()]);
    let mock = Mock::tls(tls, |_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let credential = |pair: &Pair| {
        json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": {"clientCertificateData": pair.certificate_pem, "clientKeyData": pair.key_pem}})
        .to_string()
    };
    home.write("1.json", &credential(&old));
    home.write("2.json", &credential(&new));
    let folder = super::home::text(&home.folder);
    let plugin = home.script("plugin", &format!("cd {folder}; if [ -e ran ]; then cat 2.json; else touch ran; cat 1.json; fi"));
    home.kubeconfig(&trusting(&mock, &authority.pem), &json!({"exec": {"command": plugin}}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version")[0].certificate.as_deref(), Some(new.certificate.as_ref()));
}
