//! Exits: how a container last ended, whether it is in a crash loop, and what exit codes usually mean. Never asks how it is momentarily: between two crashes a container runs.

use super::standing;
use crate::diagnose::{Cx, Finding, Key, texts};
use crate::model::{Container, ContainerRole, ContainerStatus, Pod, Terminated, Time};

/// A container that ran this long starts with a fresh back-off (kubelet, `MaxContainerBackOff` doubled).
const RESET: i64 = 600;

/// Restarts in one loop from which on waiting does not help: dependencies that were only slow have come up by then.
const LOOP: i64 = 3;

/// The newest end of a container.
#[derive(Clone, Copy)]
pub(super) struct Exit<'a> {
    pub pod: Pod<'a>,
    pub role: ContainerRole,
    pub status: &'a ContainerStatus,
    pub end: &'a Terminated,
}

/// The newest end of this container, if it ever ended.
pub(super) fn of<'a>(pod: Pod<'a>, role: ContainerRole, status: &'a ContainerStatus) -> Option<Exit<'a>> {
    let end = status.state.terminated.as_ref().or(status.last_state.terminated.as_ref())?;
    Some(Exit { pod, role, status, end })
}

impl<'a> Exit<'a> {
    pub fn container(&self) -> Option<&'a Container> {
        self.pod.spec().container(&self.status.name)
    }

    /// `status.containerStatuses[name=web].lastState.terminated`
    pub fn path(&self) -> String {
        let field = if self.status.state.terminated.is_some() { "state.terminated" } else { "lastState.terminated" };
        standing::status_path(self.role, &self.status.name, field)
    }

    /// Seconds between start and end. A container that could not be started says that it began in 1970.
    pub fn ran(&self) -> Option<i64> {
        let started = self.end.started_at.filter(|t| t.unix() > 86_400)?;
        self.end.finished_at.map(|end| end.since(started)).filter(|seconds| *seconds >= 0)
    }

    /// The kubelet waits before it starts the container again.
    pub fn is_backing_off(&self) -> bool {
        self.status.state.waiting.as_ref().is_some_and(|w| &*w.reason == "CrashLoopBackOff")
    }

    /// It could not be started at all.
    pub fn never_ran(&self) -> bool {
        matches!(&*self.end.reason, "StartError" | "ContainerCannotRun")
    }

    /// Node or runtime restarted under it: the container did nothing wrong.
    pub fn was_lost(&self) -> bool {
        matches!(&*self.end.reason, "Unknown" | "ContainerStatusUnknown")
    }

    /// The kubelet starts it again when it ends like this.
    pub fn is_restarted(&self) -> bool {
        let sidecar = self.container().is_some_and(Container::is_sidecar);
        match &*self.pod.spec().restart_policy {
            _ if sidecar => true,
            "Never" => false,
            "OnFailure" => self.end.exit_code != 0,
            _ => self.role == ContainerRole::App || self.end.exit_code != 0,
        }
    }

    /// Whether it is in trouble: it waits to be started again, has just ended, or runs only until it ends the next time.
    pub fn is_trouble(&self, cx: &Cx<'_>) -> bool {
        let state = &self.status.state;
        match (&state.waiting, &state.terminated, &state.running) {
            (Some(_), _, _) => self.is_backing_off(),
            (None, Some(end), _) => end.exit_code != 0 || self.is_restarted(),
            (None, None, Some(running)) => {
                !self.was_lost() && self.status.restart_count >= LOOP && self.still_loops(cx, running.started_at)
            }
            (None, None, None) => false,
        }
    }

    /// A run that is already much longer than the last one is a recovery, if the container is ready too.
    fn still_loops(&self, cx: &Cx<'_>, started: Option<Time>) -> bool {
        let ran = self.ran().unwrap_or(0);
        if ran >= RESET {
            return false;
        }
        let enough = if self.status.ready { (2 * ran).clamp(60, RESET) } else { RESET };
        !cx.older(started, enough)
    }

    /// Enough ends in a row, or an end that the next start will meet again.
    pub fn is_hopeless(&self) -> bool {
        let fresh = self.ran().is_some_and(|ran| ran >= RESET);
        !self.is_restarted() || self.status.restart_count >= LOOP && !fresh || matches!(self.end.exit_code, 126 | 127)
    }

    /// When the kubelet starts it again: the end plus the pause that its message names, else the one that restarts make likely.
    pub fn next_start(&self) -> Option<Time> {
        let waiting = self.status.state.waiting.as_ref().filter(|_| self.is_backing_off());
        let named = waiting.and_then(|w| texts::capture(r"^back-off (\S+) restarting", &w.message)).and_then(seconds);
        let likely = (10 << (self.status.restart_count - i64::from(self.status.state.terminated.is_none())).clamp(0, 5)).min(300);
        self.end.finished_at.map(|end| end.plus(named.unwrap_or(likely)))
    }

    /// What an image does is what every container of it does that has no command of its own: the wider key of a crash.
    pub fn image_key(&self) -> Option<Key> {
        let container = self.container().filter(|c| c.command.is_empty())?;
        Some(Key::image(&format!("{} exit {}", container.image, self.end.exit_code)))
    }

    /// The end as facts and as evidence, with what the container left as its last words.
    pub fn prove(&self, mut finding: Finding) -> Finding {
        let end = self.end;
        finding = finding
            .fact("container", &self.status.name)
            .fact("exitCode", end.exit_code)
            .fact("reason", if end.reason.is_empty() { "Error" } else { &end.reason })
            .fact("restartCount", self.status.restart_count)
            .evidence(self.pod.reference(), self.path(), self.said(), end.finished_at);
        if let Some(image) = self.container().map(|c| &*c.image) {
            finding = finding.fact("image", image);
        }
        if let Some(ran) = self.ran() {
            finding = finding.fact("ran", format!("{ran}s"));
        }
        finding.wider = finding.wider.or(self.image_key());
        finding
    }

    fn said(&self) -> String {
        let end = self.end;
        let words = if end.message.is_empty() { String::new() } else { format!(", message: {}", end.message) };
        format!("exitCode: {}, reason: {}, restartCount: {}{words}", end.exit_code, end.reason, self.status.restart_count)
    }

    /// `exit code 1 (an error of the application)`
    pub fn in_words(&self) -> String {
        format!("exit code {} ({})", self.end.exit_code, meaning(self.end.exit_code, &self.end.reason))
    }

    /// Since when it has been going on: not ready since, else the end of the run before this one.
    pub fn since(&self) -> Option<Time> {
        let unready = self.pod.condition("Ready").filter(|c| !c.is_true()).and_then(|c| c.last_transition_time);
        unready.or(self.end.finished_at).or(self.pod.created())
    }
}

/// Go's spelling of a duration in whole seconds: `2m40s`.
fn seconds(duration: &str) -> Option<i64> {
    let parts = texts::captures(r"^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)(?:\.\d+)?s)?$", duration)?;
    let number = |i: usize| parts.get(i).and_then(|m| m.as_str().parse::<i64>().ok()).unwrap_or(0);
    Some(number(1) * 3600 + number(2) * 60 + number(3))
}

/// What an exit code usually means; conventions, not facts of Kubernetes.
pub(super) fn meaning(code: i64, reason: &str) -> &'static str {
    match (code, reason) {
        (_, "OOMKilled") => "killed for using more memory than it may",
        (0, _) => "it finished by itself",
        (1, _) => "an error of the application",
        (2, _) => "wrong usage or configuration, or a panic of a Go program",
        (125, _) => "the container tool failed before the start",
        (126, _) => "the command is not executable",
        (127, _) => "the command was not found",
        (128, _) => "it could not be started",
        (130, _) => "interrupted, SIGINT",
        (131, _) => "SIGQUIT",
        (132, _) => "an illegal instruction, SIGILL",
        (134, _) => "it aborted, SIGABRT",
        (135, _) => "a bus error, SIGBUS",
        (136, _) => "an arithmetic error, SIGFPE",
        (137, _) => "killed, SIGKILL, not for its own memory limit",
        (139, _) => "a segmentation fault, SIGSEGV",
        (141, _) => "a broken pipe, SIGPIPE",
        (143, _) => "it was asked to end, SIGTERM",
        (255, "Unknown") => "lost when node or runtime restarted",
        (255, _) => "it returned -1",
        (129..=165, _) => "ended by a signal",
        _ => "an error of the application",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_read_as_go_writes_them() {
        assert_eq!(seconds("10s"), Some(10));
        assert_eq!(seconds("2m40s"), Some(160));
        assert_eq!(seconds("5m0s"), Some(300));
        assert_eq!(seconds("1h0m1.5s"), Some(3601));
        assert_eq!(seconds("soon"), None);
    }

    #[test]
    fn signals_are_told_from_codes() {
        assert_eq!(meaning(137, "OOMKilled"), "killed for using more memory than it may");
        assert_eq!(meaning(150, "Error"), "ended by a signal");
        assert_eq!(meaning(-5, ""), "an error of the application");
    }
}
