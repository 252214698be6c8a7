//! Services and what stands behind them.

use super::pack::packed_api;
use super::{IntOrText, Meta, Object, Pairs, Read, Text};

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
        selector: Pairs,
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

impl Service {
    /// Its endpoints come from its selector.
    pub fn selects(&self) -> bool {
        !self.spec.selector.is_empty() && &*self.spec.kind != "ExternalName"
    }
}

impl Endpoint {
    pub fn is_ready(&self) -> bool {
        self.conditions.ready.unwrap_or(true)
    }
}

impl Object {
    /// Equal for a Service that selects pods, and an EndpointSlice that gives it a ready endpoint with each of its ports: then there is
    /// nothing to say of the Service. `None` for all others.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other kind serves or is served")]
    pub(super) fn serving_mark(&self) -> Option<u64> {
        match self {
            Self::Service(s) if s.selects() && s.meta.deleted.is_none() => {
                Some(mark(&s.meta.namespace, &s.meta.name, s.spec.ports.iter().map(|p| &*p.name)))
            }
            Self::EndpointSlice(s) if s.endpoints.iter().any(Endpoint::is_ready) && s.ports.iter().all(|p| p.port.is_some()) => {
                Some(mark(&s.meta.namespace, s.service(), s.ports.iter().map(|p| &*p.name)))
            }
            _ => None,
        }
    }
}

fn mark<'p>(namespace: &str, service: &str, ports: impl Iterator<Item = &'p str>) -> u64 {
    let mut ports: Vec<&str> = ports.collect();
    ports.sort_unstable();
    Read::slices_of(namespace, service).and(&ports)
}
