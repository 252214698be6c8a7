//! Pods by the hundred thousand: a row each, one template for replicas, Kubernetes' own shape for what is odd.

mod arrival;
mod chain;
mod counted;
mod cuts;
mod dictionary;
mod extras;
mod fingerprint;
mod head;
mod labels;
#[cfg(test)]
mod laws;
mod look;
mod normal;
mod reading;
mod replay;
mod row;
mod scan;
mod store;
mod tables;
mod uid;
mod unusual;
mod views;

pub(super) use arrival::Arrivals;
pub(super) use dictionary::Dictionary;
pub use look::Reserved;
pub(super) use look::Row;
pub(super) use normal::OWN;
pub(super) use reading::{read, read_first};
pub(super) use store::{Pods, Witness};
pub(super) use uid::{spelled, uuid};
