//! A pod's status, kept only for pods that are odd: the parts that diagnosis reads.

use super::pack::packed_api;
use super::{Condition, Text, Time};

packed_api! {
    pub struct PodStatus {
        phase: Text,
        reason: Text,
        message: Text,
        conditions: Vec<Condition>,
        init_container_statuses: Vec<ContainerStatus>,
        container_statuses: Vec<ContainerStatus>,
        nominated_node_name: Text,
        start_time: Option<Time>,
        #[serde(rename = "podIP")]
        pod_ip: Text,
        resize: Text,
    }

    pub struct ContainerStatus {
        name: Text,
        image: Text,
        #[serde(rename = "imageID")]
        image_id: Text,
        #[serde(rename = "containerID")]
        container_id: Text,
        ready: bool,
        started: Option<bool>,
        restart_count: i64,
        state: ContainerState,
        last_state: ContainerState,
    }

    /// At most one of the three is set; none means waiting.
    pub struct ContainerState {
        waiting: Option<Waiting>,
        running: Option<Running>,
        terminated: Option<Terminated>,
    }

    pub struct Waiting {
        reason: Text,
        message: Text,
    }

    pub struct Running {
        started_at: Option<Time>,
    }

    pub struct Terminated {
        exit_code: i64,
        signal: i64,
        reason: Text,
        message: Text,
        started_at: Option<Time>,
        finished_at: Option<Time>,
    }
}
