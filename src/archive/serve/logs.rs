//! `pods/log`: what a file holds of a container's output.

use std::sync::Arc;

use http::{Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::super::play::Stage;
use super::super::{ArchivedKind, Previous, log_name};
use super::body::ArchiveBody;
use super::request::Query;
use super::status::{Refusal, typed};

/// Answers a log. A file does not grow: who follows it gets what there is.
pub(super) fn log(
    stage: &Arc<Stage>,
    pods: &ArchivedKind,
    namespace: &str,
    pod: &str,
    query: &Query,
) -> Result<Response<ArchiveBody>, Refusal> {
    let container = match query.get("container") {
        Some(container) => container.to_owned(),
        None => default_container(stage, pods, namespace, pod)?,
    };
    let previous = if query.is("previous") { Previous::Yes } else { Previous::No };
    let run = if previous == Previous::Yes { "the previous run of " } else { "" };
    let absent = || Refusal::NoLog { message: format!("no log of {run}container {container} of pod {namespace}/{pod} is in the input") };
    let slot = stage.log(namespace, &log_name(pod, &container, previous)).ok_or_else(absent)?;
    let bytes = stage.bytes(slot).map_err(|_| absent())?;
    let log: Log = serde_json::from_slice(&bytes).map_err(|_| absent())?;
    let kept = query.number("tailLines").and_then(|lines| usize::try_from(lines).ok()).unwrap_or(usize::MAX);
    let mut text = String::new();
    for line in &log.lines[log.lines.len().saturating_sub(kept)..] {
        text.push_str(line);
        text.push('\n');
    }
    let limit = query.number("limitBytes").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX);
    let mut bytes = text.into_bytes();
    bytes.truncate(limit);
    Ok(typed(StatusCode::OK, "text/plain", bytes.into()))
}

#[derive(Deserialize)]
struct Log {
    lines: Vec<String>,
}

/// As the API server chooses: the only container there is. kubectl itself looks at the annotation and takes the first.
fn default_container(stage: &Stage, pods: &ArchivedKind, namespace: &str, pod: &str) -> Result<String, Refusal> {
    let not_found = || Refusal::NotFound { plural: "pods".to_owned(), group: String::new(), name: pod.to_owned() };
    let bytes = stage.get(pods, namespace, pod).and_then(|slot| stage.bytes(slot).ok()).ok_or_else(not_found)?;
    let object: Value = serde_json::from_slice(&bytes).map_err(|_| not_found())?;
    let annotated = object["metadata"]["annotations"]["kubectl.kubernetes.io/default-container"].as_str();
    let names: Vec<&str> =
        object["spec"]["containers"].as_array().into_iter().flatten().filter_map(|container| container["name"].as_str()).collect();
    match (annotated, &names[..]) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, [name]) => Ok((*name).to_owned()),
        (None, []) => Err(not_found()),
        (None, several) => Err(Refusal::BadRequest {
            message: format!("a container name must be specified for pod {pod}, choose one of: [{}]", several.join(" ")),
        }),
    }
}
