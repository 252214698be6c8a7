//! The served cluster, in a process of its own: the archive's API, with a version to choose, changes to order, and every request counted.

use std::convert::Infallible;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use holdup::archive::{Archive, ArchiveService, Input};
use http::{Request, Response};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::Service;

use crate::changes::{Changes, Changing, Pace};
use crate::clock;
use crate::requests::Seen;

/// Serves a file until it is killed. `minor` is the version it says it has: lists are streamed from 34 on.
pub fn run(file: &str, minor: u32) -> std::io::Result<()> {
    let archive = Arc::new(Archive::open(&[Input::Path(PathBuf::from(file))]).map_err(std::io::Error::other)?);
    let changes = Arc::new(Changes::new(Arc::clone(&archive)));
    let service = Counted { service: archive.service(), minor, seen: Arc::default(), changes };
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

#[derive(Clone)]
struct Counted {
    service: ArchiveService,
    minor: u32,
    seen: Arc<Mutex<Seen>>,
    changes: Arc<Changes>,
}

impl Service<Request<Incoming>> for Counted {
    type Response = Response<Either<Changing, Full<Bytes>>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let (path, query) = (request.uri().path().to_owned(), request.uri().query().unwrap_or_default().to_owned());
        if path.starts_with("/bench/") {
            let own = self.clone();
            return Box::pin(async move { Ok(own.about_itself(&path, &query).await) });
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).note(&path, &query);
        if path == "/version" {
            let told = json!({"major": "1", "minor": self.minor.to_string(), "gitVersion": format!("v1.{}.0", self.minor)});
            return Box::pin(async move { Ok(plain(&told)) });
        }
        let (answer, seen, changes) = (self.service.call(request), Arc::clone(&self.seen), Arc::clone(&self.changes));
        Box::pin(async move {
            let answer = answer.await?;
            if path.ends_with("/pods") {
                seen.lock().unwrap_or_else(PoisonError::into_inner).pods.get_or_insert_with(clock::monotonic);
            }
            let is_watch = path == "/api/v1/pods" && query.contains("watch=true");
            Ok(answer.map(|body| Either::Left(if is_watch { changes.on(body) } else { body.into() })))
        })
    }
}

impl Counted {
    /// What the bench asks: what was asked by others, and to send changes.
    async fn about_itself(self, path: &str, query: &str) -> Response<Either<Changing, Full<Bytes>>> {
        if path == "/bench/seen" {
            let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
            return plain(&seen.json(self.service.archive()));
        }
        let pace = pace(query);
        // It sleeps between changes and reads pods before: other answers must not wait for it.
        let sent = tokio::task::spawn_blocking(move || self.changes.send(pace)).await;
        let told = sent.map_err(|error| error.to_string()).and_then(|sent| sent);
        plain(&told.unwrap_or_else(|error| json!({"error": error})))
    }
}

/// `rate=1000&seen=40&seconds=10`
fn pace(query: &str) -> Pace {
    let number = |name: &str| {
        let value = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(own, _)| *own == name);
        value.and_then(|(_, value)| value.parse::<usize>().ok()).unwrap_or(0)
    };
    Pace { rate: number("rate"), seen: number("seen"), seconds: number("seconds") as u64 }
}

fn plain(told: &Value) -> Response<Either<Changing, Full<Bytes>>> {
    let mut answer = Response::new(Either::Right(Full::new(Bytes::from(told.to_string()))));
    answer.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}
