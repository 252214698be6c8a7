//! The version that an archive answers with: that of a server whose clients take what it sends, and beside it that it is a file, and what
//! of a cluster that file holds. Who asks a file in this way must not take what it lacks for gone.

use http::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::about::{About, Covered, Totals};
use super::body::ArchiveBody;
use super::status::answer;
use crate::model::CoverageState;

/// The key beside those of Kubernetes; other clients do not look at it.
const OURS: &str = "holdup.dev";

#[derive(Serialize, Deserialize)]
struct Told {
    totals: Option<Totals>,
    tags: Option<String>,
    coverage: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    group: String,
    kind: String,
    namespace: Option<String>,
    state: String,
    message: String,
}

/// The version in which streaming lists are on for everybody.
pub(super) fn version(about: &About) -> Response<ArchiveBody> {
    let mut version = json!({"major": "1", "minor": "34", "gitVersion": "v1.34.0+holdup", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc", "platform": ""});
    let coverage = about.coverage.iter().map(|(covered, state)| line(covered, state)).collect();
    version[OURS] = json!(Told { totals: about.totals, tags: about.tags.clone(), coverage });
    answer(StatusCode::OK, &version)
}

/// What a server says of the file that it serves; `None` for a cluster.
pub fn served(version: &Value) -> Option<About> {
    let told: Told = serde_json::from_value(version.get(OURS)?.clone()).ok()?;
    let coverage = told.coverage.into_iter().map(heard).collect();
    Some(About { totals: told.totals, tags: told.tags, coverage, ..About::default() })
}

fn line(covered: &Covered, state: &CoverageState) -> Line {
    let (state, message) = match state {
        CoverageState::Loading => ("loading", ""),
        CoverageState::Synced => ("synced", ""),
        CoverageState::Denied { message, .. } => ("denied", message.as_str()),
        CoverageState::Absent { message } => ("absent", message.as_str()),
        CoverageState::Stale { message, .. } => ("stale", message.as_str()),
    };
    let Covered { group, kind, namespace } = covered.clone();
    Line { group, kind, namespace, state: state.to_owned(), message: message.to_owned() }
}

fn heard(line: Line) -> (Covered, CoverageState) {
    let Line { group, kind, namespace, state, message } = line;
    let state = match state.as_str() {
        "synced" => CoverageState::Synced,
        "denied" => CoverageState::Denied { message, since: None },
        "stale" => CoverageState::Stale { message, since: None },
        "absent" => CoverageState::Absent { message },
        _ => CoverageState::Loading,
    };
    (Covered { group, kind, namespace }, state)
}
