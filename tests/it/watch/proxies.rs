//! Which proxy is used, what it is told, and what it never gets.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use holdup::watch::{Environment, Error, Target, choose};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use super::certs::{Authority, ServerTls};
use super::home::{Home, options};
use super::login::{SOON, connect, version};
use super::mock::{Mock, Reply};

/// A proxy on loopback that remembers what it was told.
struct Proxy {
    port: u16,
    told: Arc<Mutex<Vec<Told>>>,
}

#[derive(Clone, Debug, Default)]
struct Told {
    head: String,
    client_certificate: bool,
    server_name: Option<String>,
}

#[derive(Clone)]
enum Speaks {
    Connect,
    ConnectOverTls(ServerTls),
    Refuses,
    Socks,
}

impl Proxy {
    async fn start(speaks: Speaks) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback can be listened on");
        let port = listener.local_addr().expect("it is bound").port();
        let told: Arc<Mutex<Vec<Told>>> = Arc::default();
        let kept = Arc::clone(&told);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(speak(stream, speaks.clone(), Arc::clone(&kept)));
            }
        });
        Self { port, told }
    }

    fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn speak(stream: TcpStream, speaks: Speaks, told: Arc<Mutex<Vec<Told>>>) {
    match speaks {
        Speaks::Connect => tunnel(stream, Told::default(), &told, "200 OK").await,
        Speaks::Refuses => tunnel(stream, Told::default(), &told, "407 Proxy Authentication Required").await,
        Speaks::Socks => socks(stream, &told).await,
        Speaks::ConnectOverTls(tls) => {
            let Ok(stream) = tls.acceptor().accept(stream).await else {
                return;
            };
            let session = stream.get_ref().1;
            let about = Told {
                head: String::new(),
                client_certificate: session.peer_certificates().is_some(),
                server_name: session.server_name().map(str::to_owned),
            };
            tunnel(stream, about, &told, "200 OK").await;
        }
    }
}

async fn tunnel(mut stream: impl AsyncRead + AsyncWrite + Unpin, about: Told, told: &Mutex<Vec<Told>>, answer: &str) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else {
            return;
        };
        head.push(byte);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let port: u16 = head.split_whitespace().nth(1).and_then(|to| to.rsplit_once(':')?.1.parse().ok()).unwrap_or(0);
    told.lock().unwrap_or_else(PoisonError::into_inner).push(Told { head, ..about });
    if stream.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes()).await.is_err() || !answer.starts_with("200") {
        return;
    }
    // Whatever name was asked for, the only server of a test is on loopback.
    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
        let _ended = copy_bidirectional(&mut stream, &mut server).await;
    }
}

/// RFC 1928 and 1929: user and password, then a connection to a name.
async fn socks(mut stream: TcpStream, told: &Mutex<Vec<Told>>) {
    let mut take = async |count: usize| {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).await.map(|_| bytes)
    };
    let greeting = async {
        let methods = take(2).await?[1];
        take(usize::from(methods)).await
    };
    if greeting.await.is_err() || stream.write_all(&[5, 2]).await.is_err() {
        return;
    }
    let mut take = async |count: usize| {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).await.map(|_| bytes)
    };
    let login = async {
        let user = take(2).await?[1];
        let user = take(usize::from(user)).await?;
        let password = take(1).await?[0];
        let password = take(usize::from(password)).await?;
        std::io::Result::Ok([user, password].join(&b':'))
    };
    let Ok(login) = login.await else { return };
    if stream.write_all(&[1, 0]).await.is_err() {
        return;
    }
    let mut head = vec![0; 5];
    if stream.read_exact(&mut head).await.is_err() {
        return;
    }
    let rest = if head[3] == 3 { usize::from(head[4]) + 2 } else { 5 };
    let mut name = vec![0; rest];
    if stream.read_exact(&mut name).await.is_err() {
        return;
    }
    let port = u16::from_be_bytes([name[rest - 2], name[rest - 1]]);
    let name = if head[3] == 3 { String::from_utf8_lossy(&name[..rest - 2]).into_owned() } else { "an address".to_owned() };
    let login = String::from_utf8_lossy(&login).into_owned();
    told.lock().unwrap_or_else(PoisonError::into_inner).push(Told { head: format!("{name} {login}"), ..Told::default() });
    if stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 1]).await.is_err() {
        return;
    }
    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
        let _ended = copy_bidirectional(&mut stream, &mut server).await;
    }
}

async fn ask(cluster: &Value, user: &Value, variables: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
    let home = Home::new();
    home.kubeconfig(cluster, user);
    let target = Target::find(&options(), &home.environment_with(variables))?;
    let connection = holdup::watch::Connection::open(target, holdup::watch::Manner::Unseen).await?;
    connection.fetch(&version(), SOON).await
}

#[tokio::test]
async fn proxy_url_wins_over_no_proxy_and_its_password_is_decoded() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let proxy = Proxy::start(Speaks::Connect).await;
    let url = format!("http://jane:pa%40ss%3Aword@127.0.0.1:{}", proxy.port);
    let cluster = json!({"server": mock.url(), "proxy-url": url});
    ask(&cluster, &json!({}), &[("NO_PROXY", "127.0.0.1,*")]).await.unwrap();
    let head = &proxy.told()[0].head;
    assert!(head.starts_with(&format!("CONNECT 127.0.0.1:{}", mock.address.port())), "{head}");
    assert!(head.contains(&format!("Basic {}", STANDARD.encode("jane:pa@ss:word"))), "{head}");
    assert_eq!(mock.asked("/version").len(), 1);
}

#[tokio::test]
async fn an_https_proxy_gets_neither_client_certificate_nor_the_clusters_server_name() {
    let (cluster_ca, proxy_ca) = (Authority::new("cluster"), Authority::new("proxy"));
    let mock = Mock::tls(ServerTls::asking(&cluster_ca.pair(&["api.example.net"]), Vec::new()), |_| Reply::json(&json!({}))).await;
    let proxy = Proxy::start(Speaks::ConnectOverTls(ServerTls::asking(&proxy_ca.server(), Vec::new()))).await;
    let client = cluster_ca.pair(&["jane"]);
    let both = format!("{}{}", cluster_ca.pem, proxy_ca.pem);
    let cluster = json!({
        "server": mock.url(), "tls-server-name": "api.example.net",
        "certificate-authority-data": STANDARD.encode(both),
        "proxy-url": format!("https://localhost:{}", proxy.port),
    });
    let user = json!({
        "client-certificate-data": STANDARD.encode(&client.certificate_pem),
        "client-key-data": STANDARD.encode(&client.key_pem),
    });
    ask(&cluster, &user, &[]).await.unwrap();
    let told = &proxy.told()[0];
    assert_eq!((told.client_certificate, told.server_name.as_deref()), (false, Some("localhost")));
    let seen = &mock.asked("/version")[0];
    assert_eq!((seen.certificate.is_some(), seen.server_name.as_deref()), (true, Some("api.example.net")));
}

#[tokio::test]
async fn socks_resolves_names_at_the_proxy_when_asked_to() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let proxy = Proxy::start(Speaks::Socks).await;
    let server = format!("http://api.example.invalid:{}", mock.address.port());
    let cluster = json!({"server": server, "proxy-url": format!("socks5h://jane:s%20p@127.0.0.1:{}", proxy.port)});
    ask(&cluster, &json!({}), &[]).await.unwrap();
    assert_eq!(proxy.told()[0].head, "api.example.invalid jane:s p");
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_gone_is_named() {
    let proxy = Proxy::start(Speaks::Refuses).await;
    for port in [proxy.port, 9] {
        let cluster = json!({"server": "https://api.example.invalid", "proxy-url": format!("http://u:pw@127.0.0.1:{port}")});
        let error = ask(&cluster, &json!({}), &[]).await.unwrap_err();
        assert!(matches!(error, Error::Proxy { .. }), "{error:?}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

#[tokio::test]
async fn the_environment_chooses_by_scheme_and_never_for_this_machine() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let proxy = Proxy::start(Speaks::Connect).await;
    let url = format!("127.0.0.1:{}", proxy.port);
    ask(&json!({"server": mock.url()}), &json!({}), &[("HTTP_PROXY", &url)]).await.unwrap();
    assert!(proxy.told().is_empty(), "loopback goes directly");
    let far = json!({"server": format!("http://api.example.invalid:{}", mock.address.port())});
    ask(&far, &json!({}), &[("http_proxy", &url), ("HTTPS_PROXY", "http://127.0.0.1:9")]).await.unwrap();
    assert_eq!(proxy.told().len(), 1);
}

#[test]
fn no_proxy_is_matched_against_the_api_server() {
    let is_direct = |list: &str, server: &str| {
        let variables = [("NO_PROXY", list), ("HTTPS_PROXY", "http://proxy:3128")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let environment = Environment { variables, ..Environment::default() };
        choose(None, &server.parse().expect("a server"), &environment).proxy.is_none()
    };
    let cases = [
        ("*", "https://api.example.net", true),
        ("example.net", "https://api.example.net:6443", true),
        ("example.net", "https://example.net", true),
        (".example.net", "https://example.net", false),
        (".example.net", "https://api.example.net", true),
        ("*.example.net", "https://api.example.net", true),
        ("ample.net", "https://example.net", false),
        ("API.example.NET", "https://api.EXAMPLE.net.", true),
        ("api.example.net:6443", "https://api.example.net:6443", true),
        ("api.example.net:443", "https://api.example.net:6443", false),
        ("10.0.0.0/8", "https://10.1.2.3:6443", true),
        ("10.0.0.0/8", "https://11.1.2.3:6443", false),
        ("0.0.0.0/0", "https://11.1.2.3", true),
        ("fd00::/8", "https://[fd12::1]:6443", true),
        ("192.168.1.2", "https://192.168.1.2", true),
        ("proxy", "https://api.example.net", false),
        ("other, ,api.example.net", "https://api.example.net", true),
        ("x/99, http://y, api.example.net", "https://api.example.net", true),
    ];
    for (list, server, expected) in cases {
        assert_eq!(is_direct(list, server), expected, "{list} {server}");
    }
}

#[test]
fn entries_that_cannot_be_read_are_warned_of_and_kept_from_plugins() {
    let variables = [("NO_PROXY", "a.example,,x/99,b.example"), ("HTTPS_PROXY", "ftp://proxy")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let environment = Environment { variables, ..Environment::default() };
    let choice = choose(None, &"https://api.example.net".parse().unwrap(), &environment);
    assert_eq!(choice.clean_no_proxy.as_deref(), Some("a.example,b.example"));
    assert_eq!((choice.proxy, choice.warnings.len()), (None, 3), "{:?}", choice.warnings);
}

#[tokio::test]
async fn compression_is_asked_for_when_the_server_is_far_or_behind_a_proxy() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let proxy = Proxy::start(Speaks::Connect).await;
    let cluster = json!({"server": "http://api.example.invalid", "proxy-url": format!("http://127.0.0.1:{}", proxy.port)});
    let mut far = cluster.clone();
    far["server"] = json!(format!("http://api.example.invalid:{}", mock.address.port()));
    ask(&far, &json!({}), &[]).await.unwrap();
    far["disable-compression"] = json!(true);
    ask(&far, &json!({}), &[]).await.unwrap();
    let asked: Vec<String> = mock.asked("/version").iter().map(|seen| seen.header("accept-encoding").to_owned()).collect();
    assert_eq!(asked, ["gzip", "identity"]);
    let home = Home::new();
    home.kubeconfig(&json!({"server": mock.url()}), &json!({}));
    connect(&home).await.fetch(&version(), SOON).await.unwrap();
}
