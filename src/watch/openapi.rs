//! What the API server publishes of one group: schemas of its kinds, and whether it honours dry runs. Only that group's document is read.

use std::time::Duration;

use serde_json::Value;

use super::connection::{Connection, Get};
use super::error::Error;
use super::resource::Resource;

/// The document of the largest built-in group has two MB; more than this is not parsed.
const LARGEST: usize = 24 << 20;

/// The OpenAPI v3 document of the group and version of a resource.
///
/// # Errors
/// It cannot be had, or is no document.
pub async fn open_api(connection: &Connection, resource: &Resource, deadline: Duration) -> Result<Value, Error> {
    let path = match resource.group.as_str() {
        "" => format!("/openapi/v3/api/{}", resource.version),
        group => format!("/openapi/v3/apis/{group}/{}", resource.version),
    };
    let bytes = connection.fetch(&Get::json(path.clone()), deadline).await?;
    let unreadable = |why: String| Error::Unreadable { what: path.clone(), why };
    if bytes.len() > LARGEST {
        return Err(unreadable(format!("{} MB are more than any API has", bytes.len() >> 20)));
    }
    serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))
}

/// Whether the server of a resource says that it knows the parameter `dryRun`: one that does not would store what it is sent.
#[must_use]
pub fn takes_dry_run(document: &Value, resource: &Resource) -> bool {
    let paths = document["paths"].as_object().into_iter().flatten();
    let own = |path: &str| path.ends_with(&format!("/{}/{{name}}", resource.plural));
    let knows = |operation: &Value| operation["parameters"].as_array().into_iter().flatten().any(|one| one["name"] == "dryRun");
    paths.filter(|(path, _)| own(path)).any(|(_, operations)| knows(&operations["patch"]))
}
