//! A pod's status, kept only for pods that are odd: the parts that diagnosis reads.

use super::pack::packed_api;
use super::pack::{Pack, put, take};
use super::pull::Pull;
use super::read::Reader;
use super::{Condition, Text, Time};

/// Whether an id was given. Ids are long, are never repeated, and explain nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Given(pub(super) bool);

impl Given {
    pub fn is_empty(self) -> bool {
        !self.0
    }
}

impl Pull for Given {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        r.raw().map(|id| Self(!id.is_empty()))
    }
}

impl Pack for Given {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, u64::from(self.0));
    }

    fn unpack(input: &mut &[u8]) -> Self {
        Self(take(input) != 0)
    }
}

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
        resize: Text,
    }

    pub struct ContainerStatus {
        name: Text,
        image: Text,
        #[serde(rename = "containerID")]
        container_id: Given,
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
