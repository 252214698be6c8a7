//! A small API server on loopback that answers as a test says, and fails the test when it is asked to change anything.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::certs::ServerTls;

/// One request as the server saw it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub method: String,
    /// Path and query.
    pub path: String,
    pub headers: BTreeMap<String, Vec<String>>,
    /// The client certificate, DER.
    pub certificate: Option<Vec<u8>>,
    /// Which connection it came on.
    pub connection: usize,
    pub server_name: Option<String>,
    /// False for a resumed TLS session.
    pub handshake_was_full: bool,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|values| values.first()).map_or("", String::as_str)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
    }
}

/// What the server answers.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Stream,
}

impl Reply {
    pub fn json(value: &serde_json::Value) -> Self {
        Self::text(200, value.to_string())
    }

    pub fn text(status: u16, text: impl Into<Bytes>) -> Self {
        Self { status, headers: vec![("content-type", "application/json".to_owned())], body: Stream::whole(text.into()) }
    }

    /// A `metav1.Status` that says no.
    pub fn refusal(status: u16, reason: &str, message: &str) -> Self {
        let told = serde_json::json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason, "message": message});
        Self::text(status, told.to_string())
    }

    /// An answer that the test goes on writing.
    pub fn stream() -> (Self, Writer) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let body = Stream { pieces: receiver };
        (Self { status: 200, headers: vec![("content-type", "application/json".to_owned())], body }, Writer(sender))
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn into_response(self) -> Response<Stream> {
        let mut response = Response::builder().status(self.status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(self.body).expect("tests write valid headers")
    }
}

/// Writes an answer piece by piece; dropped, the answer ends.
#[derive(Clone)]
pub struct Writer(mpsc::UnboundedSender<Result<Bytes, std::io::Error>>);

impl Writer {
    pub fn write(&self, text: impl Into<Bytes>) {
        // The reader may have gone, which the test will see elsewhere.
        let _gone = self.0.send(Ok(text.into()));
    }

    /// Whether somebody still reads.
    pub fn is_read(&self) -> bool {
        !self.0.is_closed()
    }

    /// Breaks the connection in the middle of the answer.
    pub fn cut(&self) {
        let _gone = self.0.send(Err(std::io::Error::other("cut by the test")));
    }
}

/// The bytes of an answer.
pub struct Stream {
    pieces: mpsc::UnboundedReceiver<Result<Bytes, std::io::Error>>,
}

impl Stream {
    fn whole(bytes: Bytes) -> Self {
        let (sender, pieces) = mpsc::unbounded_channel();
        sender.send(Ok(bytes)).expect("the receiver is at hand");
        Self { pieces }
    }
}

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

pub type Script = dyn Fn(&Seen) -> Reply + Send + Sync;

/// Answers requests, over sockets or in this process, and remembers them.
#[derive(Clone)]
pub struct Answers {
    script: Arc<Script>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Answers {
    pub fn new(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), seen: Arc::default() }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests whose path begins like this.
    pub fn asked(&self, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path.starts_with(path)).collect()
    }

    pub fn answer<B>(&self, request: &Request<B>, about: Seen) -> Response<Stream> {
        let mut seen = Seen {
            method: request.method().to_string(),
            path: request.uri().path_and_query().map_or_else(String::new, ToString::to_string),
            ..about
        };
        for (name, value) in request.headers() {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            seen.headers.entry(name.to_string()).or_default().push(value);
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen.clone());
        (self.script)(&seen).into_response()
    }

    fn only_reads(&self) -> bool {
        self.seen().iter().all(|seen| seen.method == "GET")
    }
}

/// The same answers as a service in this process, for tests in which time is paused.
impl tower::Service<Request<kube::client::Body>> for Answers {
    type Response = Response<Stream>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        std::future::ready(Ok(self.answer(&request, Seen::default())))
    }
}

/// The server; it stops when dropped.
pub struct Mock {
    pub address: SocketAddr,
    pub answers: Answers,
    scheme: &'static str,
    task: JoinHandle<()>,
}

impl Mock {
    pub async fn plain(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(Answers::new(script), None).await
    }

    pub async fn tls(tls: ServerTls, script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(Answers::new(script), Some(tls)).await
    }

    async fn start(answers: Answers, tls: Option<ServerTls>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback can be listened on");
        let address = listener.local_addr().expect("it is bound");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let task = tokio::spawn(accept(listener, answers.clone(), tls));
        Self { address, answers, scheme, task }
    }

    pub fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.scheme, self.address.port())
    }

    /// The same address under the name `localhost`.
    pub fn named_url(&self) -> String {
        format!("{}://localhost:{}", self.scheme, self.address.port())
    }

    pub fn asked(&self, path: &str) -> Vec<Seen> {
        self.answers.asked(path)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.task.abort();
        if !std::thread::panicking() {
            assert!(self.answers.only_reads(), "a request that is no GET: {:?}", self.answers.seen());
        }
    }
}

async fn accept(listener: TcpListener, answers: Answers, tls: Option<ServerTls>) {
    let mut connection = 0;
    while let Ok((stream, _)) = listener.accept().await {
        connection += 1;
        let about = Seen { connection, ..Seen::default() };
        tokio::spawn(greet(stream, answers.clone(), tls.clone(), about));
    }
}

async fn greet(stream: TcpStream, answers: Answers, tls: Option<ServerTls>, mut about: Seen) {
    let Some(tls) = tls else {
        return serve(stream, answers, about).await;
    };
    let Ok(stream) = tls.acceptor().accept(stream).await else {
        return;
    };
    let (_, session) = stream.get_ref();
    about.certificate = session.peer_certificates().map(|chain| chain[0].to_vec());
    about.handshake_was_full = session.handshake_kind() == Some(rustls::HandshakeKind::Full);
    about.server_name = session.server_name().map(str::to_owned);
    serve(stream, answers, about).await;
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, answers: Answers, about: Seen) {
    let service = service_fn(move |request| {
        let response = answers.answer(&request, about.clone());
        async move { Ok::<_, Infallible>(response) }
    });
    // A client that goes away is no failure of the server.
    let _closed = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
