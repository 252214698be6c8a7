//! The requests of feeds.

use super::connection::{Get, JSON, Packing};
use super::feed::Ask;
use super::resource::Query;
use crate::model::{Follow, Kind};

/// What kind of answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Page,
    Watch,
}

/// The request, and the shape of its answer. Lists carry no resourceVersion: `0` would be served whole from a cache that may
/// lag, whatever the limit.
pub(super) fn of(ask: &Ask, kind: Kind, path: &str) -> (Get, Shape) {
    let (query, shape) = match ask {
        Ask::Page { token } if token.is_empty() => (paged(), Shape::Page),
        Ask::Page { token } => (paged().with("continue", token), Shape::Page),
        Ask::Stream { seconds } => {
            (watching(*seconds).with("sendInitialEvents", "true").with("resourceVersionMatch", "NotOlderThan"), Shape::Watch)
        }
        Ask::Watch { version, seconds } => (watching(*seconds).with("resourceVersion", version), Shape::Watch),
    };
    let query = if kind == Kind::Event { query.with("fieldSelector", EVENTS) } else { query };
    let packing = match shape {
        Shape::Page => Packing::ByDistance,
        Shape::Watch => Packing::Never,
    };
    (Get { path: query.after(path), accept: accept(kind, shape), packing }, shape)
}

/// Pages of 500 cost the least for their memory.
fn paged() -> Query {
    Query::default().with("limit", "500")
}

fn watching(seconds: u32) -> Query {
    Query::default().with("watch", "true").with("allowWatchBookmarks", "true").with("timeoutSeconds", &seconds.to_string())
}

/// Reasons that only report progress stay away: with them a busy cluster has some 360,000 events.
const EVENTS: &str = "reason!=Scheduled,reason!=Pulled,reason!=Created,reason!=Started,reason!=SuccessfulCreate,\
    reason!=SuccessfulDelete,reason!=ScalingReplicaSet,reason!=Completed,reason!=SawCompletedJob,reason!=LeaderElection,\
    reason!=SuccessfulAttachVolume,reason!=SuccessfulRescale";

/// Of Secrets and ConfigMaps the server sends the metadata alone, where it can.
fn accept(kind: Kind, shape: Shape) -> &'static str {
    match (kind.row().follow, shape) {
        (Follow::Metadata, Shape::Page) => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
        (Follow::Metadata, Shape::Watch) => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
        (Follow::Watch | Follow::Poll | Follow::OnDemand, _) => JSON,
    }
}
