//! Services and what stands behind them.

use super::pack::packed_api;
use super::{IntOrText, Meta, Text};
use std::collections::BTreeMap;

packed_api! {
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

    /// Which pods stand behind it explains nothing that the pods do not: how many are ready does.
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
    }

    pub struct EndpointConditions {
        /// Absent means ready.
        ready: Option<bool>,
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

    pub struct EndpointAddress {}

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
