//! Why there is no answer from a cluster, in words that say the impact and the next step.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can keep an answer away. Callers branch on the variant; people read `Display`.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The kubeconfig names no cluster that could be asked.
    Config(ConfigError),
    /// The credential could not be had: an exec plugin, a token file, an OIDC refresh.
    Login { why: String, next: String },
    /// The TLS handshake failed.
    Tls { why: String, next: String },
    /// No connection: name not resolved, refused, no route, timed out.
    NotReached { server: String, why: String },
    /// The proxy refused or could not be reached.
    Proxy { proxy: String, why: String },
    /// The API server answered, and said no.
    Status(Status),
    /// The connection broke while an answer was on its way.
    Cut { why: String },
    /// Nothing came for this long.
    Silent { after: Duration },
    /// The answer is not what an API server sends.
    Unreadable { what: String, why: String },
}

/// The API server's own refusal: `metav1.Status` and the headers that go with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub code: u16,
    /// `NotFound`, `Forbidden`, `Expired`, …; empty where the server sends none.
    pub reason: String,
    pub message: String,
    /// From the `Retry-After` header or `details.retryAfterSeconds`.
    pub retry_after: Option<Duration>,
}

/// Why no cluster was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// `--kubeconfig` names a file that is not there.
    Missing {
        path: PathBuf,
    },
    /// A kubeconfig is there and cannot be read: not the same as one without contexts.
    Unreadable {
        path: PathBuf,
        why: String,
    },
    /// Neither a kubeconfig nor a service account.
    Nothing {
        tried: Vec<String>,
    },
    NoCurrentContext {
        contexts: Vec<String>,
    },
    UnknownContext {
        name: String,
        contexts: Vec<String>,
    },
    /// The context names a cluster that is not in the file, or one without a server.
    NoServer {
        context: String,
        cluster: String,
    },
    /// A field or option without which no connection can be made safely.
    Field {
        what: String,
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Login { why, next } => write!(f, "not logged in: {why}; {next}"),
            Self::Tls { why, next } => write!(f, "no secure connection: {why}; {next}"),
            Self::NotReached { server, why } => {
                write!(f, "{server} is not reached: {why}; check the network, VPN and the server address of this context")
            }
            Self::Proxy { proxy, why } => {
                write!(f, "the proxy {proxy} does not let us through: {why}; check proxy-url, HTTPS_PROXY and NO_PROXY")
            }
            Self::Status(status) => status.fmt(f),
            Self::Cut { why } => write!(f, "the connection broke: {why}; it is tried again"),
            Self::Silent { after } => {
                write!(f, "no answer for {} s; the API server or something on the way is stuck, it is tried again", after.as_secs())
            }
            Self::Unreadable { what, why } => write!(f, "{what} cannot be read: {why}; is this address really a Kubernetes API server?"),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Status {
    /// kubectl's wording, which people search for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = if self.reason.is_empty() { self.code.to_string() } else { self.reason.clone() };
        write!(f, "Error from server ({reason}): {}", self.message)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path } => write!(f, "--kubeconfig {}: no such file", path.display()),
            Self::Unreadable { path, why } => {
                write!(f, "the kubeconfig {} cannot be read: {why}; mend it or name another with --kubeconfig", path.display())
            }
            Self::Nothing { tried } => write!(
                f,
                "no cluster is configured (tried {}); name a kubeconfig with --kubeconfig, or try `holdup demo`",
                tried.join(", ")
            ),
            Self::NoCurrentContext { contexts } => {
                write!(f, "the kubeconfig has no current context; choose one with --context{}", among(contexts))
            }
            Self::UnknownContext { name, contexts } => {
                write!(f, "there is no context {name:?}{}", among(contexts))
            }
            Self::NoServer { context, cluster } => {
                write!(f, "the context {context:?} names the cluster {cluster:?}, which has no server; choose another context")
            }
            Self::Field { what, why } => write!(f, "{what}: {why}"),
        }
    }
}

fn among(names: &[String]) -> String {
    if names.is_empty() {
        return " (there is none)".to_owned();
    }
    format!(": {}", names.join(", "))
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl Error {
    /// The HTTP status, where the server gave one.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status.code),
            Self::Config(_)
            | Self::Login { .. }
            | Self::Tls { .. }
            | Self::NotReached { .. }
            | Self::Proxy { .. }
            | Self::Cut { .. }
            | Self::Silent { .. }
            | Self::Unreadable { .. } => None,
        }
    }
}
