//! What stands in front of the API: webhooks, policies, aggregated APIs.

use super::pack::packed_api;
use super::{Condition, Meta, Selector, Text};

packed_api! {
    /// Validating or mutating: they have the same shape.
    pub struct WebhookConfiguration {
        #[serde(rename = "metadata")]
        meta: Meta,
        webhooks: Vec<Webhook>,
    }

    pub struct Webhook {
        name: Text,
        failure_policy: Text,
        timeout_seconds: Option<i64>,
        client_config: WebhookClient,
        rules: Vec<AdmissionRule>,
        namespace_selector: Option<Selector>,
        object_selector: Option<Selector>,
    }

    pub struct WebhookClient {
        service: Option<ServiceRef>,
        url: Text,
    }

    pub struct ServiceRef {
        namespace: Text,
        name: Text,
        port: Option<i64>,
    }

    pub struct AdmissionRule {
        operations: Vec<Text>,
        api_groups: Vec<Text>,
        resources: Vec<Text>,
    }

    pub struct ValidatingAdmissionPolicy {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: PolicySpec,
    }

    pub struct PolicySpec {
        failure_policy: Text,
    }

    pub struct ValidatingAdmissionPolicyBinding {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: BindingSpec,
    }

    pub struct BindingSpec {
        policy_name: Text,
        validation_actions: Vec<Text>,
    }

    #[allow(clippy::upper_case_acronyms)]
    pub struct APIService {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: ApiServiceSpec,
        status: ConditionsOnly,
    }

    pub struct ApiServiceSpec {
        service: Option<ServiceRef>,
        group: Text,
        version: Text,
    }

    pub struct ConditionsOnly {
        conditions: Vec<Condition>,
    }

    /// Schemas are skipped while reading: they are large and explain nothing here.
    pub struct CustomResourceDefinition {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: DefinitionSpec,
        status: ConditionsOnly,
    }

    pub struct DefinitionSpec {
        group: Text,
        names: DefinitionNames,
    }

    pub struct DefinitionNames {
        kind: Text,
        plural: Text,
    }
}
