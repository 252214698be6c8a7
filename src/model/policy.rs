//! What limits or orders the rest: namespaces, quotas, limits, classes, accounts.

use super::pack::packed_api;
use super::{Condition, Meta, Resources, Text};

packed_api! {
    pub struct Namespace {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: NamespaceSpec,
        status: NamespaceStatus,
    }

    pub struct NamespaceSpec {
        finalizers: Vec<Text>,
    }

    pub struct NamespaceStatus {
        phase: Text,
        conditions: Vec<Condition>,
    }

    pub struct ResourceQuota {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: QuotaSpec,
        status: QuotaStatus,
    }

    pub struct QuotaSpec {
        hard: Resources,
        scopes: Vec<Text>,
    }

    pub struct QuotaStatus {
        hard: Resources,
        used: Resources,
    }

    pub struct LimitRange {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: LimitRangeSpec,
    }

    pub struct LimitRangeSpec {
        limits: Vec<Limit>,
    }

    pub struct Limit {
        #[serde(rename = "type")]
        kind: Text,
        max: Resources,
        min: Resources,
        default: Resources,
        default_request: Resources,
        max_limit_request_ratio: Resources,
    }

    pub struct ServiceAccount {
        #[serde(rename = "metadata")]
        meta: Meta,
        image_pull_secrets: Vec<super::Named>,
    }

    pub struct PriorityClass {
        #[serde(rename = "metadata")]
        meta: Meta,
        value: i64,
        global_default: bool,
        preemption_policy: Text,
    }

    pub struct RuntimeClass {
        #[serde(rename = "metadata")]
        meta: Meta,
        handler: Text,
    }
}
