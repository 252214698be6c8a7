//! Workloads: what makes pods, and what scales it.

use super::pack::packed_api;
use super::{Condition, IntOrText, Meta, Pairs, PodSpec, Selector, Shelved, Text, Time};

packed_api! {
    pub struct PodTemplate {
        #[serde(rename = "metadata")]
        meta: TemplateMeta,
        /// Most workloads are complete, and nobody looks at their templates.
        spec: Shelved<PodSpec>,
    }

    pub struct TemplateMeta {
        labels: Pairs,
    }

    pub struct Deployment {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: DeploymentSpec,
        status: DeploymentStatus,
    }

    pub struct DeploymentSpec {
        replicas: Option<i64>,
        selector: Selector,
        paused: bool,
        strategy: DeploymentStrategy,
        min_ready_seconds: i64,
        progress_deadline_seconds: Option<i64>,
        template: PodTemplate,
    }

    pub struct DeploymentStrategy {
        #[serde(rename = "type")]
        kind: Text,
        rolling_update: Option<RollingUpdate>,
    }

    pub struct RollingUpdate {
        max_surge: Option<IntOrText>,
        max_unavailable: Option<IntOrText>,
        partition: Option<i64>,
    }

    pub struct DeploymentStatus {
        observed_generation: i64,
        replicas: i64,
        updated_replicas: i64,
        ready_replicas: i64,
        available_replicas: i64,
        unavailable_replicas: i64,
        conditions: Vec<Condition>,
    }

    pub struct ReplicaSetStatus {
        observed_generation: i64,
        replicas: i64,
        ready_replicas: i64,
        available_replicas: i64,
        fully_labeled_replicas: i64,
        conditions: Vec<Condition>,
    }

    pub struct StatefulSet {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: StatefulSetSpec,
        status: StatefulSetStatus,
    }

    pub struct StatefulSetSpec {
        replicas: Option<i64>,
        selector: Selector,
        service_name: Text,
        pod_management_policy: Text,
        update_strategy: UpdateStrategy,
        min_ready_seconds: i64,
        ordinals: Ordinals,
        template: PodTemplate,
        volume_claim_templates: Vec<ClaimTemplate>,
    }

    pub struct ClaimTemplate {
        #[serde(rename = "metadata")]
        meta: Meta,
    }

    pub struct Ordinals {
        start: i64,
    }

    pub struct UpdateStrategy {
        #[serde(rename = "type")]
        kind: Text,
        rolling_update: Option<RollingUpdate>,
    }

    pub struct StatefulSetStatus {
        observed_generation: i64,
        replicas: i64,
        ready_replicas: i64,
        current_replicas: i64,
        updated_replicas: i64,
        available_replicas: i64,
        current_revision: Text,
        update_revision: Text,
        conditions: Vec<Condition>,
    }

    pub struct DaemonSet {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: DaemonSetSpec,
        status: DaemonSetStatus,
    }

    pub struct DaemonSetSpec {
        selector: Selector,
        update_strategy: UpdateStrategy,
        min_ready_seconds: i64,
        template: PodTemplate,
    }

    pub struct DaemonSetStatus {
        observed_generation: i64,
        current_number_scheduled: i64,
        desired_number_scheduled: i64,
        number_misscheduled: i64,
        number_ready: i64,
        number_available: i64,
        number_unavailable: i64,
        updated_number_scheduled: i64,
        conditions: Vec<Condition>,
    }

    pub struct Job {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: JobSpec,
        status: JobStatus,
    }

    pub struct JobSpec {
        parallelism: Option<i64>,
        completions: Option<i64>,
        backoff_limit: Option<i64>,
        active_deadline_seconds: Option<i64>,
        suspend: bool,
        managed_by: Text,
        completion_mode: Text,
        selector: Selector,
        template: PodTemplate,
    }

    pub struct JobStatus {
        conditions: Vec<Condition>,
        start_time: Option<Time>,
        completion_time: Option<Time>,
        active: i64,
        ready: i64,
        succeeded: i64,
        failed: i64,
        terminating: i64,
    }

    pub struct CronJob {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: CronJobSpec,
        status: CronJobStatus,
    }

    pub struct CronJobSpec {
        schedule: Text,
        time_zone: Text,
        suspend: bool,
        concurrency_policy: Text,
        starting_deadline_seconds: Option<i64>,
        job_template: JobTemplate,
    }

    pub struct JobTemplate {
        spec: JobSpec,
    }

    pub struct CronJobStatus {
        active: Vec<ActiveJob>,
        last_schedule_time: Option<Time>,
        last_successful_time: Option<Time>,
    }

    pub struct ActiveJob {
        kind: Text,
        namespace: Text,
        name: Text,
        uid: Text,
    }

    pub struct HorizontalPodAutoscaler {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: AutoscalerSpec,
        status: AutoscalerStatus,
    }

    pub struct AutoscalerSpec {
        scale_target_ref: TargetRef,
        min_replicas: Option<i64>,
        max_replicas: i64,
    }

    pub struct TargetRef {
        api_version: Text,
        kind: Text,
        name: Text,
    }

    pub struct AutoscalerStatus {
        conditions: Vec<Condition>,
        current_replicas: i64,
        desired_replicas: i64,
        last_scale_time: Option<Time>,
    }

    pub struct PodDisruptionBudget {
        #[serde(rename = "metadata")]
        meta: Meta,
        spec: BudgetSpec,
        status: BudgetStatus,
    }

    pub struct BudgetSpec {
        selector: Option<Selector>,
        min_available: Option<IntOrText>,
        max_unavailable: Option<IntOrText>,
        unhealthy_pod_eviction_policy: Text,
    }

    pub struct BudgetStatus {
        observed_generation: i64,
        disruptions_allowed: i64,
        current_healthy: i64,
        desired_healthy: i64,
        expected_pods: i64,
        conditions: Vec<Condition>,
    }
}

impl Deployment {
    /// Pods it should have. `spec.replicas` absent means 1.
    pub fn desired(&self) -> i64 {
        self.spec.replicas.unwrap_or(1)
    }

    /// Nothing is missing, nothing is on its way, nothing is switched off, by its own words.
    pub fn is_complete(&self) -> bool {
        let (status, desired) = (&self.status, self.desired());
        let all = status.updated_replicas >= desired && status.available_replicas >= desired && status.replicas <= desired;
        status.observed_generation >= self.meta.generation && desired > 0 && !self.spec.paused && all
    }
}

impl StatefulSet {
    /// See [`Deployment::desired`].
    pub fn desired(&self) -> i64 {
        self.spec.replicas.unwrap_or(1)
    }

    /// See [`Deployment::is_complete`].
    pub fn is_complete(&self) -> bool {
        let (status, desired) = (&self.status, self.desired());
        let all = status.ready_replicas >= desired && status.available_replicas.max(status.ready_replicas) >= desired;
        let updated = status.update_revision.is_empty() || status.current_revision == status.update_revision;
        status.observed_generation >= self.meta.generation && desired > 0 && all && updated
    }
}

impl DaemonSet {
    /// Pods it should have: one for each node that fits.
    pub fn desired(&self) -> i64 {
        self.status.desired_number_scheduled
    }

    /// See [`Deployment::is_complete`].
    pub fn is_complete(&self) -> bool {
        let (status, desired) = (&self.status, self.desired());
        let all = status.number_available >= desired && status.updated_number_scheduled >= desired;
        status.observed_generation >= self.meta.generation && all && status.number_misscheduled == 0
    }
}

impl Job {
    /// Pods it should have at this moment.
    pub fn desired(&self) -> i64 {
        if self.spec.suspend || self.is_finished() {
            return 0;
        }
        let left = self.spec.completions.map_or(i64::MAX, |completions| (completions - self.status.succeeded).max(0));
        self.spec.parallelism.unwrap_or(1).min(left)
    }

    /// See [`Deployment::is_complete`].
    pub fn is_complete(&self) -> bool {
        !self.spec.suspend && Condition::find(&self.status.conditions, "Complete").is_some_and(Condition::is_true)
    }

    /// Complete or failed.
    fn is_finished(&self) -> bool {
        self.status.conditions.iter().any(|c| matches!(&*c.kind, "Complete" | "Failed") && c.is_true())
    }
}
