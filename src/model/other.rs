//! Objects of which little is kept: secrets and config maps (that they exist), and any kind without a row of its own.

use super::pack::packed_api;
use super::{Condition, Meta, Text};

packed_api! {
    /// A Secret or ConfigMap: that it exists, never what it holds.
    pub struct Marker {
        #[serde(rename = "metadata")]
        meta: Meta,
        #[serde(rename = "type")]
        kind: Text,
    }

    /// Any other kind, built-in or custom, and objects that their own shape refused.
    pub struct Other {
        #[serde(rename = "metadata")]
        meta: Meta,
        api_version: Text,
        kind: Text,
        status: OtherStatus,
    }

    pub struct OtherStatus {
        conditions: Vec<Condition>,
        phase: Text,
        observed_generation: Option<i64>,
    }
}

impl Other {
    /// `Kind`, or `Kind.group` where the group is not Kubernetes' own.
    pub fn kind_name(&self) -> String {
        super::kinds::qualified(&self.api_version, &self.kind).into_owned()
    }
}
