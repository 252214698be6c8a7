//! The served cluster, in a process of its own: the archive's API, with a version to choose and every request counted.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use holdup::archive::{Archive, ArchiveBody, ArchiveService, Input};
use http::{Request, Response};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use tokio::net::TcpListener;
use tower::Service;

use crate::clock;

/// Serves a file until it is killed. `minor` is the version it says it has: lists are streamed from 34 on.
pub fn run(file: &str, minor: u32) -> std::io::Result<()> {
    let archive = Archive::open(&[Input::Path(PathBuf::from(file))]).map_err(std::io::Error::other)?;
    let service = Counted { service: Arc::new(archive).service(), minor, seen: Arc::default() };
    tokio::runtime::Runtime::new()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let mut out = std::io::stdout();
        writeln!(out, "http://{}", listener.local_addr()?)?;
        out.flush()?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

/// What was asked since the last time this was asked for.
#[derive(Default)]
struct Seen {
    requests: BTreeMap<String, u64>,
    /// When the first list of pods began to be answered.
    pods: Option<Duration>,
}

#[derive(Clone)]
struct Counted {
    service: ArchiveService,
    minor: u32,
    seen: Arc<Mutex<Seen>>,
}

impl Service<Request<Incoming>> for Counted {
    type Response = Response<Either<ArchiveBody, Full<Bytes>>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let (path, query) = (request.uri().path().to_owned(), request.uri().query().unwrap_or_default().to_owned());
        if path == "/bench/seen" {
            let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
            let told = json!({"requests": seen.requests, "pods_ns": seen.pods.map(|at| at.as_nanos() as u64)});
            return Box::pin(async move { Ok(plain(told.to_string())) });
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner).requests.entry(format!("{path} {}", shape(&query))).or_default() += 1;
        if path == "/version" {
            let told = json!({"major": "1", "minor": self.minor.to_string(), "gitVersion": format!("v1.{}.0", self.minor)});
            return Box::pin(async move { Ok(plain(told.to_string())) });
        }
        let (answer, seen) = (self.service.call(request), Arc::clone(&self.seen));
        Box::pin(async move {
            let answer = answer.await?;
            if path.ends_with("/pods") {
                seen.lock().unwrap_or_else(PoisonError::into_inner).pods.get_or_insert_with(clock::monotonic);
            }
            Ok(answer.map(Either::Left))
        })
    }
}

fn plain(text: String) -> Response<Either<ArchiveBody, Full<Bytes>>> {
    let mut answer = Response::new(Either::Right(Full::new(Bytes::from(text))));
    answer.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}

fn shape(query: &str) -> &'static str {
    if query.contains("sendInitialEvents=true") {
        "stream"
    } else if query.contains("watch=true") {
        "watch"
    } else if query.contains("limit=") {
        "page"
    } else {
        "get"
    }
}
