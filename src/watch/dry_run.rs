//! Server-side dry runs: the only requests of this program that are no reads. Each carries `dryRun=All`, so that the API server answers
//! what it would store and stores nothing; a test holds this file to it.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request};
use kube::client::Body as Wire;

use super::connection::{Connection, JSON, Packing};
use super::error::Error;
use super::resource::{Query, Resource};
use crate::model::Place;

/// What is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRun {
    pub verb: Verb,
    pub resource: Resource,
    pub namespace: String,
    /// For an apply; a new object gets a name that nobody has.
    pub name: String,
    /// In whose name it is tried.
    pub manager: String,
    /// The object as JSON.
    pub body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Server-side apply to the object that is there, as if all conflicts were forced.
    Apply,
    /// A new object beside it.
    Create,
}

/// Asks what would be stored, and answers with that: not redacted yet.
///
/// # Errors
/// The server's refusal, or no answer within `deadline`.
pub async fn dry_run(connection: &Connection, wanted: &DryRun, deadline: Duration) -> Result<Vec<u8>, Error> {
    let make = || request(wanted);
    let whole = async { connection.ask(Packing::Never, &make).await?.accepted().await?.all().await };
    match tokio::time::timeout(deadline, whole).await {
        Ok(answer) => answer,
        Err(_) => Err(Error::Silent { after: deadline }),
    }
}

/// The one place in which a request is made that is no GET.
fn request(wanted: &DryRun) -> Result<Request<Wire>, http::Error> {
    let query = Query::default().with("dryRun", "All").with("fieldManager", &wanted.manager);
    let DryRun { resource, namespace, name, .. } = wanted;
    let place = if namespace.is_empty() { Place::All } else { Place::Namespace(namespace.as_str().into()) };
    let (method, path, query, kind) = match wanted.verb {
        Verb::Apply => (Method::PATCH, resource.object(namespace, name), query.with("force", "true"), "application/apply-patch+yaml"),
        Verb::Create => (Method::POST, resource.list(&place), query, JSON),
    };
    let request = Request::builder().method(method).uri(query.after(&path));
    request.header(CONTENT_TYPE, kind).header(ACCEPT, JSON).body(Wire::from(wanted.body.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_carries_dry_run_whatever_names_hold() {
        let resource = Resource { version: "v1".into(), plural: "configmaps".into(), ..Resource::default() };
        for verb in [Verb::Apply, Verb::Create] {
            for (namespace, name, manager) in [("shop", "a", "kubectl"), ("sh?op", "a&dryRun=", "x&dryRun=None#"), ("", "../b", "")] {
                let wanted = DryRun {
                    verb,
                    resource: resource.clone(),
                    namespace: namespace.into(),
                    name: name.into(),
                    manager: manager.into(),
                    body: b"{}".to_vec(),
                };
                let uri = request(&wanted).unwrap().uri().clone();
                let values: Vec<&str> = uri.query().unwrap().split('&').filter_map(|pair| pair.strip_prefix("dryRun=")).collect();
                assert_eq!(values, ["All"], "{uri}");
            }
        }
    }
}
