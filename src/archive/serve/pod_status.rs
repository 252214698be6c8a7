//! STATUS, READY and RESTARTS of a pod as `kubectl get pods` shows them: pkg/printers/internalversion/printers.go of Kubernetes.

use serde_json::Value;

/// What the three columns say, and when the newest restart was.
pub(super) struct PodCells {
    pub status: String,
    pub ready: u64,
    pub containers: u64,
    pub restarts: u64,
    pub restarted_at: Option<String>,
}

pub(super) fn cells(pod: &Value) -> PodCells {
    let (spec, status) = (&pod["spec"], &pod["status"]);
    let mut cells = PodCells {
        status: text(&status["phase"]).to_owned(),
        ready: 0,
        containers: list(&spec["containers"]).count() as u64,
        restarts: 0,
        restarted_at: None,
    };
    if !text(&status["reason"]).is_empty() {
        text(&status["reason"]).clone_into(&mut cells.status);
    }
    let condition = |kind: &str| list(&status["conditions"]).find(|condition| condition["type"] == kind);
    if condition("PodScheduled").is_some_and(|condition| condition["reason"] == "SchedulingGated") {
        "SchedulingGated".clone_into(&mut cells.status);
    }
    let sidecars: Vec<&str> = list(&spec["initContainers"])
        .filter(|container| container["restartPolicy"] == "Always")
        .map(|container| text(&container["name"]))
        .collect();
    cells.containers += sidecars.len() as u64;
    let initializing = initialize(&mut cells, pod, &sidecars);
    let initialized = condition("Initialized").is_some_and(|condition| condition["status"] == "True");
    if !initializing || initialized {
        run(&mut cells, pod, &sidecars, condition("Ready").is_some_and(|condition| condition["status"] == "True"));
    }
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        let ended = matches!(text(&status["phase"]), "Succeeded" | "Failed");
        match text(&status["reason"]) {
            "NodeLost" => "Unknown".clone_into(&mut cells.status),
            _ if !ended => "Terminating".clone_into(&mut cells.status),
            _ => {}
        }
    }
    cells
}

/// Looks at the init containers in order; whether one of them is not finished.
fn initialize(cells: &mut PodCells, pod: &Value, sidecars: &[&str]) -> bool {
    let total = list(&pod["spec"]["initContainers"]).count();
    for (at, container) in list(&pod["status"]["initContainerStatuses"]).enumerate() {
        cells.count_restarts(container);
        let is_sidecar = sidecars.contains(&text(&container["name"]));
        let state = &container["state"];
        if state["terminated"].is_object() {
            if state["terminated"]["exitCode"] == 0 {
                continue;
            }
            cells.status = format!("Init:{}", ended(&state["terminated"]));
        } else if is_sidecar && container["started"] == true {
            cells.ready += u64::from(container["ready"] == true);
            continue;
        } else {
            cells.status = match text(&state["waiting"]["reason"]) {
                "" | "PodInitializing" => format!("Init:{at}/{total}"),
                reason => format!("Init:{reason}"),
            };
        }
        return true;
    }
    false
}

/// Looks at the containers from the last to the first: the first that waits or ended decides.
fn run(cells: &mut PodCells, pod: &Value, sidecars: &[&str], is_ready: bool) {
    cells.restarts = 0;
    list(&pod["status"]["initContainerStatuses"])
        .filter(|container| sidecars.contains(&text(&container["name"])))
        .for_each(|container| cells.count_restarts(container));
    let mut is_running = false;
    let statuses: Vec<&Value> = list(&pod["status"]["containerStatuses"]).collect();
    for container in statuses.into_iter().rev() {
        cells.count_restarts(container);
        let state = &container["state"];
        if !text(&state["waiting"]["reason"]).is_empty() {
            text(&state["waiting"]["reason"]).clone_into(&mut cells.status);
        } else if state["terminated"].is_object() {
            cells.status = ended(&state["terminated"]);
        } else if container["ready"] == true && state["running"].is_object() {
            is_running = true;
            cells.ready += 1;
        }
    }
    if cells.status == "Completed" && is_running {
        if is_ready { "Running" } else { "NotReady" }.clone_into(&mut cells.status);
    }
}

impl PodCells {
    fn count_restarts(&mut self, container: &Value) {
        self.restarts += container["restartCount"].as_u64().unwrap_or(0);
        let at = container["lastState"]["terminated"]["finishedAt"].as_str().map(str::to_owned);
        self.restarted_at = std::mem::take(&mut self.restarted_at).max(at);
    }
}

/// How a container ended: its reason, else its signal, else its exit code.
fn ended(terminated: &Value) -> String {
    match (text(&terminated["reason"]), terminated["signal"].as_i64().unwrap_or(0)) {
        ("", 0) => format!("ExitCode:{}", terminated["exitCode"].as_i64().unwrap_or(0)),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
