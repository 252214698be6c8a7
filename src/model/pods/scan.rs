//! A first look at a pod's status: whether it is plain is decided while reading, without a clock, and of a plain one nothing more is read.

use crate::model::read::Reader;
use crate::model::{Phase, Time};

/// What the first look finds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    pub phase: Phase,
    pub ready: bool,
    /// When Ready changed last.
    pub since: Option<Time>,
    pub restarts: i64,
    /// Some container has exited before.
    pub exited: bool,
    /// Every app container is ready and runs.
    pub runs: bool,
    /// A resize or a disruption is under way.
    pub disturbed: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self { phase: Phase::Unknown, ready: false, since: None, restarts: 0, exited: false, runs: true, disturbed: false }
    }
}

impl Scan {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let mut scan = Self::default();
        if !r.object() {
            return scan;
        }
        while let Some(key) = r.key() {
            match &*key {
                b"phase" => scan.phase = r.raw().map_or(Phase::Unknown, |p| Phase::of(&p)),
                b"conditions" => scan.conditions(r),
                b"containerStatuses" => scan.runs = scan.containers(r),
                b"initContainerStatuses" => {
                    scan.containers(r);
                }
                b"resize" => scan.disturbed |= r.raw().is_some_and(|s| !s.is_empty()),
                _ => r.skip(),
            }
        }
        scan
    }

    /// Running and Ready with every container running and ready, or Succeeded, and nothing under way.
    pub(super) fn is_plain(&self) -> bool {
        let calm = match self.phase {
            Phase::Succeeded => true,
            Phase::Running => self.ready && self.runs,
            Phase::Pending | Phase::Failed | Phase::Unknown => false,
        };
        calm && !self.disturbed
    }

    pub(super) fn never_restarted(&self) -> bool {
        self.restarts <= 0 && !self.exited
    }

    fn conditions(&mut self, r: &mut Reader<'_>) {
        (self.ready, self.since) = (false, None);
        if !r.list() {
            return;
        }
        // As where the whole status is read, the first condition of a type counts.
        let mut met = false;
        while r.item() {
            let (mut kind, mut holds, mut since) = (None, false, None);
            if !r.object() {
                continue;
            }
            while let Some(key) = r.key() {
                match &*key {
                    b"type" => kind = r.raw().map(|t| Kind::of(&t)),
                    b"status" => holds = r.raw().is_some_and(|s| *s == *b"True"),
                    b"lastTransitionTime" if !matches!(kind, Some(Kind::Other)) => since = r.time(),
                    _ => r.skip(),
                }
            }
            match kind {
                Some(Kind::Ready) if !met => (self.ready, self.since, met) = (holds, since, true),
                Some(Kind::Disturbing) => self.disturbed |= holds,
                Some(Kind::Ready | Kind::Other) | None => {}
            }
        }
    }

    /// Whether all of them are ready and run.
    fn containers(&mut self, r: &mut Reader<'_>) -> bool {
        let mut all = true;
        if !r.list() {
            return all;
        }
        while r.item() {
            let (mut ready, mut runs) = (false, false);
            if !r.object() {
                continue;
            }
            while let Some(key) = r.key() {
                match &*key {
                    b"ready" => ready = r.bool().unwrap_or_default(),
                    b"restartCount" => self.restarts = self.restarts.saturating_add(r.int().unwrap_or_default()),
                    b"state" => runs = has(r, b"running"),
                    b"lastState" => self.exited |= has(r, b"terminated"),
                    _ => r.skip(),
                }
            }
            all &= ready && runs;
        }
        all
    }
}

enum Kind {
    Ready,
    Disturbing,
    Other,
}

impl Kind {
    fn of(text: &[u8]) -> Self {
        match text {
            b"Ready" => Self::Ready,
            b"DisruptionTarget" | b"PodResizePending" | b"PodResizeInProgress" => Self::Disturbing,
            _ => Self::Other,
        }
    }
}

/// Whether an object has an object under this name.
fn has(r: &mut Reader<'_>, name: &[u8]) -> bool {
    let mut found = false;
    if !r.object() {
        return found;
    }
    while let Some(key) = r.key() {
        if *key == *name {
            found = r.peek() == b'{';
        }
        r.skip();
    }
    found
}
