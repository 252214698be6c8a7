//! A survey of files: they are asked as a cluster is, but that they do not hold an object proves little.

use std::sync::Arc;
use std::time::Duration;

use crate::archive::{self, About, Archive};
use crate::desired::{Identity, REST, Unchecked};
use crate::model::CoverageState;
use crate::watch::{About as Server, Connection, Get};

/// A connection to files. It must be called inside a Tokio runtime.
pub fn connection(archive: &Arc<Archive>) -> Connection {
    let about = Server { context: archive.about().context.clone(), namespace: "default".to_owned(), server: "files".to_owned() };
    Connection::over(Arc::clone(archive).service(), about)
}

/// What is known of the file behind a server that `holdup serve` is; `None` for a cluster.
pub async fn served(connection: &Connection, patience: Duration) -> Option<About> {
    let bytes = connection.fetch(&Get::json("/version".to_owned()), patience).await.ok()?;
    archive::served(&serde_json::from_slice(&bytes).ok()?)
}

/// Why an object that is not in the files may be in the cluster; `None` where they hold all of its kind.
pub fn doubt_of(about: &About, object: &Identity) -> Option<String> {
    let namespace = Some(object.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    match about.state(&object.group, &object.kind, namespace) {
        CoverageState::Synced => None,
        CoverageState::Loading => Some("it was still being read when the file was written".to_owned()),
        CoverageState::Denied { message, .. } | CoverageState::Absent { message } | CoverageState::Stale { message, .. } => Some(message),
    }
}

/// What the files say that they do not hold.
pub fn unread_of(about: &About) -> Vec<Unchecked> {
    let part = about.is_part().then(|| Unchecked {
        kind: REST.to_owned(),
        namespace: None,
        why: "the file holds what explains its blockers, not everything".to_owned(),
    });
    let denied = about.coverage.iter().filter_map(|(covered, state)| match state {
        CoverageState::Denied { message, .. } | CoverageState::Stale { message, .. } => {
            Some(Unchecked { kind: covered.kind.clone(), namespace: covered.namespace.clone(), why: message.clone() })
        }
        CoverageState::Synced | CoverageState::Loading | CoverageState::Absent { .. } => None,
    });
    part.into_iter().chain(denied).collect()
}
