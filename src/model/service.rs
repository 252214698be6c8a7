//! Services and what stands behind them.

use super::pull::api;
use super::{IntOrText, Meta, Text};
use std::collections::BTreeMap;

api! {
    pub struct Service {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: ServiceSpec,
        status: ServiceStatus,
    }

    pub struct ServiceSpec {
        #[serde(rename = "type")]
        kind: Text,
        selector: BTreeMap<Text, Text>,
        ports: Vec<ServicePort>,
        publish_not_ready_addresses: bool,
        load_balancer_class: Text,
        #[serde(rename = "clusterIP")]
        cluster_ip: Text,
        external_name: Text,
    }

    pub struct ServicePort {
        name: Text,
        port: i64,
        target_port: IntOrText,
        protocol: Text,
    }

    pub struct ServiceStatus {
        load_balancer: LoadBalancer,
        conditions: Vec<super::Condition>,
    }

    pub struct LoadBalancer {
        ingress: Vec<LoadBalancerIngress>,
    }

    pub struct LoadBalancerIngress {
        ip: Text,
        hostname: Text,
    }

    /// Counted while reading: addresses themselves explain nothing.
    pub struct EndpointSlice {
        #[serde(rename = "metadata")]
        meta: Meta,
        ports: Vec<EndpointPort>,
        endpoints: Vec<Endpoint>,
    }

    pub struct EndpointPort {
        name: Text,
        port: Option<i64>,
        protocol: Text,
    }

    pub struct Endpoint {
        conditions: EndpointConditions,
        target_ref: Option<EndpointTarget>,
        node_name: Text,
    }

    pub struct EndpointConditions {
        /// Absent means ready.
        ready: Option<bool>,
        serving: Option<bool>,
        terminating: Option<bool>,
    }

    pub struct EndpointTarget {
        kind: Text,
        name: Text,
    }

    /// The older core/v1 kind; files from older tools hold it instead of slices.
    pub struct Endpoints {
        #[serde(rename = "metadata")]
        meta: Meta,
        subsets: Vec<EndpointSubset>,
    }

    pub struct EndpointSubset {
        addresses: Vec<EndpointAddress>,
        not_ready_addresses: Vec<EndpointAddress>,
        ports: Vec<EndpointPort>,
    }

    pub struct EndpointAddress {
        target_ref: Option<EndpointTarget>,
    }

    pub struct Ingress {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: IngressSpec,
        status: ServiceStatus,
    }

    pub struct IngressSpec {
        ingress_class_name: Text,
    }
}

impl EndpointSlice {
    /// The Service it belongs to.
    pub fn service(&self) -> &str {
        self.meta.label("kubernetes.io/service-name").unwrap_or("")
    }
}
