//! One object, its events and its logs, when somebody opens it.

use std::time::Duration;

use super::connection::{Connection, Get, Packing};
use super::discovery::Served;
use super::error::Error;
use super::resource::{Query, Resource, Scope};

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub resource: Resource,
    /// Its kind, as events name it.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    pub name: String,
}

/// Whose words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogOf {
    pub namespace: String,
    pub pod: String,
    /// The only one of the pod when `None`.
    pub container: Option<String>,
    pub run: Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    Present,
    /// The one before the last restart.
    Previous,
}

/// So many lines from the end.
const TAIL: &str = "500";
/// Lines may be long: of the whole, so much is kept from the end.
const LOG: usize = 4 << 20;

impl Wanted {
    #[must_use]
    pub fn new(served: &Served, namespace: &str, name: &str) -> Self {
        let namespace = match served.resource.scope {
            Scope::Namespaced => namespace.to_owned(),
            Scope::Cluster => String::new(),
        };
        Self { resource: served.resource.clone(), kind: served.kind.clone(), namespace, name: name.to_owned() }
    }
}

/// The whole object as JSON, as the server wrote it: not redacted yet.
///
/// # Errors
/// The server's refusal, worded as kubectl does, or no answer within `deadline`.
pub async fn object(connection: &Connection, wanted: &Wanted, deadline: Duration) -> Result<Vec<u8>, Error> {
    let path = wanted.resource.object(&wanted.namespace, &wanted.name);
    connection.fetch(&Get::json(path), deadline).await
}

/// All events about the object, also those that feeds leave out, as a list in JSON. Kubelets give the node's name as its uid,
/// so the uid is not asked for: whoever reads compares it where it is one.
///
/// # Errors
/// As [`object`].
pub async fn events(connection: &Connection, wanted: &Wanted, deadline: Duration) -> Result<Vec<u8>, Error> {
    let events = Resource { version: "v1".into(), plural: "events".into(), ..Resource::default() };
    let place = match wanted.namespace.as_str() {
        "" => crate::model::Place::All,
        namespace => crate::model::Place::Namespace(namespace.into()),
    };
    let fields = format!("involvedObject.name={},involvedObject.kind={}", field(&wanted.name), field(&wanted.kind));
    let query = Query::default().with("fieldSelector", &fields).with("limit", "500");
    connection.fetch(&Get::json(query.after(&events.list(&place))), deadline).await
}

/// The last lines of a container.
///
/// # Errors
/// As [`object`]; a container that has not started yet is a refusal with the reason.
pub async fn log(connection: &Connection, of: &LogOf, deadline: Duration) -> Result<String, Error> {
    let pods = Resource { version: "v1".into(), plural: "pods".into(), ..Resource::default() };
    let mut query = Query::default().with("tailLines", TAIL);
    if let Some(container) = &of.container {
        query = query.with("container", container);
    }
    if of.run == Run::Previous {
        query = query.with("previous", "true");
    }
    let path = query.after(&format!("{}/log", pods.object(&of.namespace, &of.pod)));
    let get = Get { path, accept: "*/*", packing: Packing::ByDistance };
    let bytes = connection.fetch(&get, deadline).await?;
    Ok(String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LOG)..]).into_owned())
}

/// Commas, equals signs and backslashes have a meaning in field selectors (apimachinery `fields.EscapeValue`).
fn field(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | ',' | '=') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
