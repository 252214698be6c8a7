//! What the cluster looks like: one picture, kept small, changed only by [`Cluster::apply`]. No clock, no I/O.

/// A struct in Kubernetes' own shape: camelCase names, every field optional, `null` is the default.
macro_rules! api {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* $field:ident : $type:ty),* $(,)? })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $($(#[$field_meta])* #[serde(deserialize_with = "crate::model::meta::or_default")] pub $field: $type,)*
        }
    )+};
}

mod admission;
mod batch;
mod cluster;
mod coverage;
mod delta;
mod event;
mod indexes;
mod kinds;
mod meta;
mod node;
mod other;
mod pod;
mod podspec;
mod podstatus;
mod policy;
mod quantity;
mod reads;
mod selector;
mod service;
mod storage;
mod time;
mod workload;

pub use admission::*;
pub use batch::{Batch, Change, Identity};
pub use cluster::{Cluster, Touched};
pub use coverage::{Coverage, CoverageState, Seen};
pub use delta::{Delta, Place};
pub use event::Event;
pub use kinds::{Follow, KINDS, Kind, KindRow, Object, Stored, read_object};
pub use meta::{Condition, Meta, ObjectRef, Owner, Text};
pub use node::*;
pub use other::{Marker, Other};
pub use pod::{ContainerRole, Phase, Pod, Uid};
pub use podspec::*;
pub use podstatus::*;
pub use policy::*;
pub use quantity::{Quantity, Resources};
pub use reads::Read;
pub use selector::{Requirement, Selector};
pub use service::*;
pub use storage::*;
pub use time::Time;
pub use workload::*;
