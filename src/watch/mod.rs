//! The only room that names kube: from kubectl's options to a connection, and from a connection to what happens in a cluster.

mod body;
mod client;
mod clock;
mod connection;
mod error;
mod exec;
mod failure;
pub mod feed;
mod json;
mod kubeconfig;
mod lines;
mod options;
mod proxy;
mod session;
mod split;
mod target;
mod tls;

pub use body::{Answer, Body};
pub use connection::{About, Connection, Get, JSON, Packing};
pub use error::{ConfigError, Error, Status};
pub use exec::Manner;
pub use kubeconfig::{ContextName, Kubeconfig};
pub use lines::{Bookmark, Heard, Lines};
pub use options::{Environment, Options};
pub use proxy::{Choice, Proxy, choose};
pub use session::{SESSION, become_session};
pub use split::{Chunk, Head, Item, NoPage, Page, Verb};
pub use target::Target;
