//! A connection to one cluster: asks it, renews the credential when it is refused or runs out, and remembers its clock.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, DATE, USER_AGENT};
use http::{HeaderValue, Request, Response};
use hyper_util::client::legacy::connect::HttpInfo;
use k8s_openapi::jiff::Timestamp;
use kube::client::{Body as Wire, Client};
use tower::{BoxError, Service};

use super::body::Answer;
use super::clock::Clock;
use super::error::Error;
use super::exec::{Credential, Manner};
use super::proxy::is_near;
use super::spares::Spares;
use super::target::Target;
use super::{client, failure};
use crate::model::Time;

/// One question, which changes nothing: but for dry runs only GET exists in this room.
#[derive(Clone, Debug)]
pub struct Get {
    /// Path and query, beginning with a slash.
    pub path: String,
    pub accept: &'static str,
    pub packing: Packing,
}

/// Whether the answer may come compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Off on this machine and its own network, where it costs more than it saves; else on.
    ByDistance,
    /// Watches: Kubernetes 1.37 packs every event by itself, which makes them longer.
    Never,
}

/// Makes a request, anew when it has to be sent twice.
pub(super) type Make<'a> = &'a (dyn Fn() -> Result<Request<Wire>, http::Error> + Sync);

/// Plain JSON.
pub const JSON: &str = "application/json";

impl Get {
    /// Asks for JSON.
    #[must_use]
    pub fn json(path: String) -> Self {
        Self { path, accept: JSON, packing: Packing::ByDistance }
    }
}

/// A way to ask one cluster, cheap to clone. All clones share credential and clock.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    about: About,
    way: Way,
    live: Mutex<Live>,
    /// Held while a credential is renewed, so that forty refused feeds start one plugin.
    renewing: tokio::sync::Mutex<()>,
    clock: Clock,
    near: AtomicBool,
    spares: Spares,
}

/// What a screen says about the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub context: Option<String>,
    /// The namespace of the context.
    pub namespace: String,
    pub server: String,
}

enum Way {
    Network(Arc<Target>),
    /// A service in this process: nothing to renew.
    InProcess,
}

struct Live {
    client: Client,
    generation: u64,
    credential: Credential,
    /// What the client was built from; `None` in this process.
    target: Option<Arc<Target>>,
    tried: Option<Instant>,
    /// What a plugin said, and why the last renewal failed.
    notes: Vec<String>,
    trouble: Option<Error>,
}

/// A credential is renewed this long before it runs out.
const AHEAD: Duration = Duration::from_secs(60);
/// A renewal that failed is not tried again before.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a plugin may take when nobody sits before it.
const PLUGIN: Duration = Duration::from_secs(60);

impl Connection {
    /// Gets the credential and builds the client; asks the cluster nothing yet.
    ///
    /// # Errors
    /// The credential cannot be had, or certificate or key cannot be used.
    pub async fn open(target: Target, manner: Manner) -> Result<Self, Error> {
        let credential = credential(&target, manner).await?;
        let client = client::build(&target, &credential)?;
        let near = target.disable_compression || (target.proxy.is_none() && host_is_near(&target.server));
        let about = About { context: target.context.clone(), namespace: target.namespace.clone(), server: failure::shown(&target.server) };
        let mut notes = target.warnings.clone();
        notes.extend(Some(credential.said.clone()).filter(|said| !said.is_empty()));
        let target = Arc::new(target);
        let live = Live { credential, notes, target: Some(Arc::clone(&target)), ..Live::first(client) };
        Ok(Self::new(about, Way::Network(target), live, near))
    }

    /// A connection to a service in this process, which answers as an API server does. Files and the demo are asked this
    /// way. It must be called inside a Tokio runtime.
    pub fn over<S, B>(service: S, about: About) -> Self
    where
        S: Service<Request<Wire>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let client = Client::new(service, about.namespace.clone());
        Self::new(about, Way::InProcess, Live::first(client), true)
    }

    fn new(about: About, way: Way, live: Live, near: bool) -> Self {
        let shared = Shared {
            about,
            way,
            live: Mutex::new(live),
            renewing: tokio::sync::Mutex::new(()),
            clock: Clock::default(),
            near: AtomicBool::new(near),
            spares: Spares::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The buffers into which lists are read.
    pub(super) fn spares(&self) -> &Spares {
        &self.shared.spares
    }

    #[must_use]
    pub fn about(&self) -> &About {
        &self.shared.about
    }

    /// Seconds by which the API server's clock is ahead of ours, by the newest `Date` it sent.
    #[must_use]
    pub fn clock_offset(&self) -> Option<i64> {
        self.shared.clock.offset()
    }

    /// The API server's time, as far as it is known.
    #[must_use]
    pub fn now(&self) -> Option<Time> {
        let ours = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let ours = i64::try_from(ours).unwrap_or(i64::MAX);
        Time::from_unix(ours.saturating_add(self.clock_offset().unwrap_or(0)))
    }

    /// What belongs on the coverage screen: entries that were left out, what a plugin said, why a renewal failed.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let live = self.live();
        let trouble = live.trouble.iter().map(ToString::to_string);
        live.notes.iter().cloned().chain(trouble).collect()
    }

    /// Why the last renewal of the credential failed. A login that only a person can do is [`Error::Login`]: then
    /// [`Self::login`] on a free terminal is the way on.
    #[must_use]
    pub fn trouble(&self) -> Option<Error> {
        self.live().trouble.clone()
    }

    /// Asks, and hands back whatever was answered once its headers are there. A 401 is answered once with a fresh
    /// credential.
    ///
    /// # Errors
    /// No answer came.
    pub async fn get(&self, get: &Get) -> Result<Answer, Error> {
        self.ask(get.packing, &|| Request::get(&get.path).header(ACCEPT, get.accept).body(Wire::empty())).await
    }

    /// The same with a request that is made elsewhere.
    pub(super) async fn ask(&self, packing: Packing, make: Make<'_>) -> Result<Answer, Error> {
        self.renew_if_due().await;
        let generation = self.live().generation;
        let first = self.send(packing, make).await;
        let refused = match &first {
            Ok(response) => response.status() == http::StatusCode::UNAUTHORIZED,
            Err(error) => failure::refuses_certificate(error),
        };
        let response =
            if refused && self.renew(generation, Manner::Unseen).await == Renewed::Yes { self.send(packing, make).await } else { first };
        match response {
            Ok(response) => Ok(Answer::new(response)),
            Err(error) => Err(self.explain(&error)),
        }
    }

    /// Asks and reads the whole answer.
    ///
    /// # Errors
    /// No answer within `deadline`, or one that says no.
    pub async fn fetch(&self, get: &Get, deadline: Duration) -> Result<Vec<u8>, Error> {
        let whole = async { self.get(get).await?.accepted().await?.all().await };
        match tokio::time::timeout(deadline, whole).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::Silent { after: deadline }),
        }
    }

    /// Logs in again on a terminal that is free, after a renewal that only a person can do.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn login(&self) -> Result<(), Error> {
        let _turn = self.shared.renewing.lock().await;
        self.replace(Manner::Terminal).await
    }

    /// Drops pooled connections: after sleep or silence they are suspect. Running answers are not touched, and the credential
    /// stays.
    pub fn reconnect(&self) {
        let mut live = self.live();
        let Some(target) = live.target.clone() else {
            return;
        };
        // What could be built once can be built again; if a file has gone meanwhile, the present client stays.
        if let Ok(client) = client::build(&target, &live.credential) {
            live.client = client;
        }
    }

    async fn send(&self, packing: Packing, make: Make<'_>) -> Result<Response<Wire>, kube::Error> {
        let client = self.live().client.clone();
        let encoding = match packing {
            Packing::ByDistance if !self.shared.near.load(Ordering::Relaxed) => "gzip",
            Packing::ByDistance | Packing::Never => "identity",
        };
        let mut request = make().map_err(kube::Error::HttpError)?;
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(concat!("holdup/", env!("CARGO_PKG_VERSION"))));
        let response = client.send(request).await?;
        self.learn(&response);
        Ok(response)
    }

    /// Every answer tells the server's time, and how far away it is.
    fn learn(&self, response: &Response<Wire>) {
        if let Some(date) = response.headers().get(DATE).and_then(|date| date.to_str().ok()) {
            self.shared.clock.read(date, SystemTime::now());
        }
        let direct = matches!(&self.shared.way, Way::Network(target) if target.proxy.is_none());
        if let (true, Some(info)) = (direct, response.extensions().get::<HttpInfo>())
            && is_near(info.remote_addr().ip())
        {
            self.shared.near.store(true, Ordering::Relaxed);
        }
    }

    fn explain(&self, error: &kube::Error) -> Error {
        match &self.shared.way {
            Way::Network(target) => {
                let told = failure::unanswered(error, &target.server, target.proxy.as_ref());
                match self.live().trouble.clone() {
                    Some(trouble @ Error::Login { .. }) if matches!(told, Error::Tls { .. }) => trouble,
                    Some(_) | None => told,
                }
            }
            Way::InProcess => failure::unanswered(error, &http::Uri::default(), None),
        }
    }

    async fn renew_if_due(&self) {
        let (expires, generation) = {
            let live = self.live();
            (live.credential.expires, live.generation)
        };
        let ahead = i64::try_from(AHEAD.as_secs()).unwrap_or(i64::MAX);
        if expires.is_some_and(|at| at.as_second() - Timestamp::now().as_second() <= ahead) {
            let _kept = self.renew(generation, Manner::Unseen).await;
        }
    }

    /// Replaces the client that has this generation, unless another feed did so while this one waited.
    async fn renew(&self, generation: u64, manner: Manner) -> Renewed {
        let _turn = self.shared.renewing.lock().await;
        {
            let live = self.live();
            if live.generation != generation {
                return Renewed::Yes;
            }
            if live.tried.is_some_and(|tried| tried.elapsed() < PATIENCE) {
                return Renewed::No;
            }
        }
        match self.replace(manner).await {
            Ok(()) => Renewed::Yes,
            Err(_) => Renewed::No,
        }
    }

    /// Reads the kubeconfig again, since other programs log in by writing it, and builds a new client.
    async fn replace(&self, manner: Manner) -> Result<(), Error> {
        let Way::Network(target) = &self.shared.way else {
            return Err(client::login("there is nothing to log in to"));
        };
        self.live().tried = Some(Instant::now());
        let made = async {
            let fresh = target.again();
            let credential = credential(&fresh, manner).await?;
            Ok((client::build(&fresh, &credential)?, credential, fresh))
        };
        let made: Result<_, Error> = made.await;
        let mut live = self.live();
        match made {
            Ok((client, credential, target)) => {
                live.target = Some(Arc::new(target));
                live.client = client;
                live.generation += 1;
                live.credential = credential;
                live.trouble = None;
                Ok(())
            }
            Err(error) => {
                live.trouble = Some(error.clone());
                Err(error)
            }
        }
    }

    fn live(&self) -> std::sync::MutexGuard<'_, Live> {
        self.shared.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.shared.about).finish()
    }
}

impl Live {
    fn first(client: Client) -> Self {
        Self { client, generation: 0, credential: Credential::default(), target: None, tried: None, notes: Vec::new(), trouble: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewed {
    Yes,
    No,
}

async fn credential(target: &Target, manner: Manner) -> Result<Credential, Error> {
    let Some(plugin) = &target.plugin else {
        return Ok(Credential::default());
    };
    let program = target.options.program.as_ref();
    plugin.run(manner, &target.environment, program, target.options.plugin_timeout.unwrap_or(PLUGIN)).await
}

fn host_is_near(server: &http::Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(is_near)
}
