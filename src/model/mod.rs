//! What the cluster looks like: one picture, kept small, changed only by [`Cluster::apply`]. No clock, no I/O.

mod admission;
mod batch;
mod cluster;
mod coverage;
mod delta;
mod env;
mod event;
mod indexes;
mod intern;
mod kinds;
mod meta;
mod node;
#[cfg(test)]
mod oracle;
mod other;
mod pack;
mod pod;
mod pods;
mod podspec;
mod podstatus;
mod policy;
mod pull;
mod quantity;
mod read;
mod reads;
mod selector;
mod service;
mod storage;
mod time;
mod words;
mod workload;

pub use admission::*;
pub use batch::Batch;
pub use cluster::{Cluster, Touched};
pub use coverage::{Coverage, CoverageState, Seen};
pub use delta::{Delta, Place};
pub use env::EnvVar;
pub use event::Event;
#[cfg(test)]
use kinds::read_whole_pod;
pub use kinds::{Follow, KINDS, Kind, KindRow, Object, Stored, read_object};
pub use meta::{Condition, Meta, ObjectRef, Owner, Text};
pub use node::*;
pub use other::{Marker, Other};
pub use pod::{ContainerRole, Phase, Pod, PodHead, PodObject, Uid};
pub use podspec::*;
pub use podstatus::*;
pub use policy::*;
pub use quantity::{Quantity, Resources};
pub use reads::{Look, Read};
pub use selector::{Requirement, Selector};
pub use service::*;
pub use storage::*;
pub use time::Time;
pub use workload::*;
