//! Builds kube's client from a target and a credential, over a connector of our own.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, Client, ConfigExt};
use kube::config::AuthInfo;
use rustls::ClientConfig;
use secrecy::ExposeSecret;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

use super::error::{ConfigError, Error};
use super::exec::Credential;
use super::proxy::{Protocol, Proxy, Resolves};
use super::target::Target;
use super::tls::{self, Identity, Trust};

/// From the first packet to a finished handshake, proxies included.
const CONNECT: Duration = Duration::from_secs(30);
/// Probes after this long, so that a dead peer or a forgetful NAT is noticed; kube sets none.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;

/// A client that asks `target` with this credential. It must be made inside a Tokio runtime.
pub(super) fn build(target: &Target, credential: &Credential) -> Result<Client, Error> {
    let tcp = tcp();
    match &target.proxy {
        None => finish(tcp, target, credential),
        Some(proxy) => match proxy.protocol {
            Protocol::Http => finish(tunnel(proxy, tcp), target, credential),
            Protocol::Https => {
                let secured = secured(&tcp, tls::to_proxy(&trust(target))?);
                finish(tunnel(proxy, secured), target, credential)
            }
            Protocol::Socks { resolves } => finish(socks(proxy, resolves, tcp), target, credential),
        },
    }
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEPALIVE));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    tcp
}

fn trust(target: &Target) -> Trust<'_> {
    Trust { server: &target.server, authorities: &target.authorities, insecure: target.insecure }
}

fn tunnel<C>(proxy: &Proxy, inner: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.uri.clone(), inner);
    match proxy.authorization() {
        Some(value) => tunnel.with_auth(value),
        None => tunnel,
    }
}

fn socks(proxy: &Proxy, resolves: Resolves, inner: HttpConnector) -> SocksV5<HttpConnector> {
    let socks = SocksV5::new(proxy.uri.clone(), inner).local_dns(resolves == Resolves::Here);
    match &proxy.login {
        Some((user, password)) => socks.with_auth(user.clone(), password.clone()),
        None => socks,
    }
}

/// TLS to the proxy itself, with the first configuration that its certificate satisfies.
fn secured(
    tcp: &HttpConnector,
    configs: Vec<ClientConfig>,
) -> impl Service<Uri, Response = Stream, Error = BoxError, Future: Send> + Clone + use<> {
    let https = |config| HttpsConnectorBuilder::new().with_tls_config(config).https_only().enable_http1();
    let connectors: Vec<_> = configs.into_iter().map(|config| https(config).wrap_connector(tcp.clone())).collect();
    let connectors: Arc<[HttpsConnector<HttpConnector>]> = connectors.into();
    service_fn(move |uri: Uri| {
        let connectors = Arc::clone(&connectors);
        async move {
            let mut last: BoxError = "no way to the proxy".into();
            for connector in connectors.iter() {
                match connector.clone().oneshot(uri.clone()).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    })
}

type Stream = <HttpsConnector<HttpConnector> as Service<Uri>>::Response;

fn finish<C>(connector: C, target: &Target, credential: &Credential) -> Result<Client, Error>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let identity = identity(&target.auth, credential)?;
    let config = tls::to_server(&trust(target), identity.as_ref())?;
    let mut https = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
    if let Some(name) = &target.tls_server_name {
        let name = name.clone().try_into().map_err(|_| {
            Error::from(ConfigError::Field {
                what: format!("tls-server-name {name:?}"),
                why: "it is neither a DNS name nor an address".to_owned(),
            })
        })?;
        https = https.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let connector = InTime(https.enable_http1().wrap_connector(connector));
    let http = HttpClient::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(45))
        .build::<_, Body>(connector);
    stack(target, credential, http)
}

/// kube's layers: base address, authorization, impersonation.
fn stack<H>(target: &Target, credential: &Credential, http: H) -> Result<Client, Error>
where
    H: Service<http::Request<Body>, Response = http::Response<hyper::body::Incoming>> + Clone + Send + 'static,
    H::Error: Into<BoxError>,
    H::Future: Send + 'static,
{
    let mut config = kube::Config::new(target.server.clone());
    config.auth_info = target.auth.clone();
    if let Some(token) = &credential.token {
        config.auth_info.token = Some(token.clone());
    }
    let refused = |error: kube::Error| login(&error.to_string());
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(refused)?)
        .layer(config.extra_headers_layer().map_err(refused)?)
        .map_err(Into::<BoxError>::into)
        .service(http);
    Ok(Client::new(service, target.namespace.clone()))
}

pub(super) fn login(why: &str) -> Error {
    Error::Login { why: why.to_owned(), next: "log in again as you do for kubectl, or check this user of the kubeconfig".to_owned() }
}

/// The client certificate: the plugin's, else the kubeconfig's.
fn identity(auth: &AuthInfo, credential: &Credential) -> Result<Option<Identity>, Error> {
    if let Some((certificates, key)) = &credential.certificate {
        return Ok(Some(Identity { certificates: certificates.clone().into_bytes(), key: key.expose_secret().as_bytes().to_vec() }));
    }
    let key_data = auth.client_key_data.as_ref().map(ExposeSecret::expose_secret);
    let certificates = load(auth.client_certificate_data.as_deref(), auth.client_certificate.as_deref())?;
    let key = load(key_data, auth.client_key.as_deref())?;
    match (certificates, key) {
        (Some(certificates), Some(key)) => Ok(Some(Identity { certificates, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(login("this user has a client-certificate without client-key")),
        (None, Some(_)) => Err(login("this user has a client-key without client-certificate")),
    }
}

/// Inline data wins over a file, as in client-go.
fn load(data: Option<&str>, file: Option<&str>) -> Result<Option<Vec<u8>>, Error> {
    if let Some(data) = data {
        let bytes = STANDARD.decode(data);
        return bytes.map(Some).map_err(|error| login(&error.to_string()));
    }
    let read = |path| std::fs::read(path).map_err(|error| login(&format!("{path}: {error}")));
    file.map(read).transpose()
}

/// A connector that gives up; hyper's own limit covers TCP only, neither proxy nor handshake.
#[derive(Clone)]
struct InTime<C>(C);

impl<C> Service<Uri> for InTime<C>
where
    C: Service<Uri>,
    C::Error: Into<BoxError>,
    C::Future: Send + 'static,
    C::Response: 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<C::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move {
            match tokio::time::timeout(CONNECT, connecting).await {
                Ok(connected) => connected.map_err(Into::into),
                Err(_) => Err(Late.into()),
            }
        })
    }
}

/// No connection within [`CONNECT`].
#[derive(Debug)]
struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no connection within {} s", CONNECT.as_secs())
    }
}

impl std::error::Error for Late {}
