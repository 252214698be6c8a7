//! What is kept of a pod beside its row: the whole status of an odd one, the last exits of one that restarted, nothing of a plain one.

use crate::model::pack::packed_api;
use crate::model::{
    Condition, Container, ContainerState, ContainerStatus, Pairs, Phase, PodSpec, PodStatus, Running, Terminated, Text, Time,
};

packed_api! {
    /// Everything that is not in the row, of a pod that is not plain.
    pub struct Unusual {
        deleted: Option<Time>,
        grace: i64,
        finalizers: Vec<Text>,
        annotations: Pairs,
        status: PodStatus,
    }

    /// A plain pod whose containers restarted: a crash loop is known while it happens to run.
    pub struct Restarted {
        start_time: Option<Time>,
        exits: Vec<Exit>,
    }

    /// The last exit of one container.
    pub struct Exit {
        init: bool,
        name: Text,
        restart_count: i64,
        running_since: Option<Time>,
        exit_code: i64,
        signal: i64,
        reason: Text,
        started_at: Option<Time>,
        finished_at: Option<Time>,
    }
}

impl Restarted {
    /// What is kept of a status; `None` where no container ever restarted.
    pub(super) fn of(status: &PodStatus) -> Option<Self> {
        let init = status.init_container_statuses.iter().map(|c| (true, c));
        let all = init.chain(status.container_statuses.iter().map(|c| (false, c)));
        let exits: Vec<Exit> = all.filter(|(_, c)| c.restart_count > 0 || c.last_state.terminated.is_some()).map(exit).collect();
        (!exits.is_empty()).then_some(Self { start_time: status.start_time, exits })
    }

    /// Adds the exits to the status that follows from being plain.
    pub(super) fn complete(&self, status: &mut PodStatus, since: Option<Time>) {
        status.start_time = self.start_time;
        for condition in status.conditions.iter_mut().filter(|c| matches!(&*c.kind, "Ready" | "ContainersReady")) {
            condition.last_transition_time = since;
        }
        for exit in &self.exits {
            let list = if exit.init { &mut status.init_container_statuses } else { &mut status.container_statuses };
            match list.iter_mut().find(|c| c.name == exit.name) {
                Some(container) => exit.complete(container),
                // A status of a container that the spec does not have: only hand-made objects are like this.
                None => {
                    let mut container = ContainerStatus { name: exit.name.clone(), ready: true, ..ContainerStatus::default() };
                    container.state.running = Some(Running::default());
                    exit.complete(&mut container);
                    list.push(container);
                }
            }
        }
    }
}

fn exit((init, status): (bool, &ContainerStatus)) -> Exit {
    let last = status.last_state.terminated.clone().unwrap_or_default();
    Exit {
        init,
        name: status.name.clone(),
        restart_count: status.restart_count,
        running_since: status.state.running.as_ref().and_then(|r| r.started_at),
        exit_code: last.exit_code,
        signal: last.signal,
        reason: last.reason,
        started_at: last.started_at,
        finished_at: last.finished_at,
    }
}

impl Exit {
    fn complete(&self, status: &mut ContainerStatus) {
        status.restart_count = self.restart_count;
        if let Some(running) = &mut status.state.running {
            running.started_at = self.running_since;
        }
        let exited = self.finished_at.is_some() || !self.reason.is_empty() || self.exit_code != 0;
        status.last_state.terminated = exited.then(|| Terminated {
            exit_code: self.exit_code,
            signal: self.signal,
            reason: self.reason.clone(),
            message: Text::default(),
            started_at: self.started_at,
            finished_at: self.finished_at,
        });
    }
}

/// The status that follows from being plain: every condition True and every container running, or all of them completed.
pub(super) fn plain_status(spec: &PodSpec, phase: Phase) -> PodStatus {
    let runs = phase == Phase::Running;
    // An init container that has completed counts as ready.
    let init = |c: &Container| ContainerStatus { ready: runs || !c.is_sidecar(), ..container(c, runs && c.is_sidecar()) };
    PodStatus {
        phase: phase.name().into(),
        conditions: conditions(runs),
        init_container_statuses: spec.init_containers.iter().map(init).collect(),
        container_statuses: spec.containers.iter().map(|c| container(c, runs)).collect(),
        ..PodStatus::default()
    }
}

fn conditions(runs: bool) -> Vec<Condition> {
    let kinds = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    let holds = |kind: &str| runs || matches!(kind, "Initialized" | "PodScheduled");
    let condition = |kind: &str| Condition {
        kind: kind.into(),
        status: if holds(kind) { "True" } else { "False" }.into(),
        reason: if runs || kind == "PodScheduled" { "" } else { "PodCompleted" }.into(),
        ..Condition::default()
    };
    kinds.into_iter().map(condition).collect()
}

fn container(c: &Container, runs: bool) -> ContainerStatus {
    let running = runs.then(Running::default);
    let terminated = (!runs).then(|| Terminated { reason: "Completed".into(), ..Terminated::default() });
    ContainerStatus {
        name: c.name.clone(),
        image: c.image.clone(),
        ready: runs,
        started: Some(runs),
        state: ContainerState { waiting: None, running, terminated },
        ..ContainerStatus::default()
    }
}
