//! The read-only Kubernetes API over an archive, as a tower service: whoever speaks to an API server can speak to a file.

mod body;
mod columns;
mod discovery;
mod list;
mod logs;
mod pod_status;
mod request;
mod select;
mod status;
mod table;
mod version;
mod watch;

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::TcpListener;
use tower::Service;

pub use body::ArchiveBody;
use request::{Address, Form, Query, Target, form, target};
use status::{Refusal, answer};
pub use version::served;

use super::play::Stage;
use super::{Archive, ArchivedKind};
use crate::model::{CoverageState, Time};
use crate::redact::Redactor;

/// Answers requests to the Kubernetes API out of an archive. Get, list and watch; everything else is refused.
#[derive(Clone)]
pub struct ArchiveService {
    stage: Arc<Stage>,
}

impl Archive {
    /// Serves the archive as it is; a recording as it is at its end.
    pub fn service(self: Arc<Self>) -> ArchiveService {
        ArchiveService { stage: Arc::new(Stage::still(self)) }
    }

    /// Serves the archive without the secrets that are in it: to whoever finds the port.
    pub fn redacted_service(self: Arc<Self>, redactor: Redactor) -> ArchiveService {
        ArchiveService { stage: Arc::new(Stage::still(self).hiding(redactor)) }
    }

    /// Plays a recording from this place on, so many times as fast as it was taken. The clock starts now; it is that of tokio.
    pub fn replay(self: Arc<Self>, from: Duration, speed: f64) -> ArchiveService {
        ArchiveService { stage: Arc::new(Stage::playing(self, from, speed)) }
    }
}

impl ArchiveService {
    /// The moment that is shown: of a recording that plays it moves, else it is that of the capture.
    pub fn now(&self) -> Option<Time> {
        self.stage.now()
    }

    pub fn archive(&self) -> &Archive {
        &self.stage.archive
    }
}

impl<B> Service<Request<B>> for ArchiveService {
    type Response = Response<ArchiveBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ArchiveBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let stage = Arc::clone(&self.stage);
        let request = Request::from_parts(request.into_parts().0, ());
        // Selectors read every object: that must not keep other requests waiting.
        let work = tokio::task::spawn_blocking(move || respond(&stage, &request).unwrap_or_else(|refusal| refusal.response()));
        Box::pin(async move {
            let failed = |_| {
                answer(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    &json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "the request could not be answered", "code": 500}),
                )
            };
            Ok(work.await.unwrap_or_else(failed))
        })
    }
}

/// Serves on a port until the task is dropped. A connection that fails concerns nobody else.
pub async fn serve(service: ArchiveService, listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

fn respond(stage: &Arc<Stage>, request: &Request<()>) -> Result<Response<ArchiveBody>, Refusal> {
    if request.method() != Method::GET {
        return Err(Refusal::ReadOnly { method: request.method().to_string() });
    }
    let accept = request.headers().get(http::header::ACCEPT).and_then(|value| value.to_str().ok());
    let query = Query::new(request.uri().query());
    match target(request.uri().path()) {
        Target::Version => Ok(version::version(stage.archive.about())),
        Target::Health => Ok(status::typed(StatusCode::OK, "text/plain", "ok".into())),
        Target::Core => Ok(discovery::core(&stage.archive, form(accept, discovery::FORMS))),
        Target::Groups => Ok(discovery::groups(&stage.archive, form(accept, discovery::FORMS))),
        Target::Group(group) => discovery::group(&stage.archive, group),
        Target::Resources { group, version } => discovery::resources(&stage.archive, group, version),
        Target::OpenApi { path } => discovery::open_api(path, form(accept, &[Form::Protobuf])),
        Target::Objects(address) => objects(stage, &address, &query, form(accept, &[Form::Table, Form::Partial])),
        Target::Unknown => Err(Refusal::NoSuchPath),
    }
}

fn objects(stage: &Arc<Stage>, address: &Address<'_>, query: &Query, form: Form) -> Result<Response<ArchiveBody>, Refusal> {
    let not_here =
        |namespace: Option<&str>| Refusal::NotInTheInput { plural: address.plural.to_owned(), namespace: namespace.map(str::to_owned) };
    let kind =
        stage.archive.resource(address.group, address.plural).filter(|kind| discovery::is_served(kind)).ok_or_else(|| not_here(None))?;
    if !kind.versions.iter().any(|version| version == address.version) {
        return Err(Refusal::NoSuchPath);
    }
    let namespace = address.namespace.filter(|_| kind.namespaced);
    match (address.name, address.subresource) {
        (Some(name), None | Some("status")) => list::get(stage, kind, namespace.unwrap_or_default(), name, query, form),
        (Some(name), Some("log")) if address.plural == "pods" => logs::log(stage, kind, namespace.unwrap_or_default(), name, query),
        (Some(_), Some(_)) => Err(Refusal::NoSuchPath),
        (None, _) => {
            may_be_listed(stage, kind, namespace)?;
            if query.is("watch") {
                watch::watch(stage, kind, namespace, query, form)
            } else {
                list::list(stage, kind, namespace, query, form)
            }
        }
    }
}

/// An empty list says that there is nothing: where the input says nothing at all, that would be a lie.
fn may_be_listed(stage: &Stage, kind: &ArchivedKind, namespace: Option<&str>) -> Result<(), Refusal> {
    if stage.archive.holds(kind, namespace) {
        return Ok(());
    }
    match stage.archive.about().state(&kind.group, &kind.name, namespace) {
        CoverageState::Synced | CoverageState::Stale { .. } => Ok(()),
        CoverageState::Denied { message, .. } => Err(Refusal::Forbidden { message }),
        CoverageState::Loading | CoverageState::Absent { .. } => {
            Err(Refusal::NotInTheInput { plural: kind.plural.clone(), namespace: namespace.map(str::to_owned) })
        }
    }
}
