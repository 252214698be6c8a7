//! Triage: cluster and engine together, as every command uses them.

use crate::diagnose::{Engine, Options, Progress, Report};
use crate::model::{Cluster, Delta, Time};

/// The picture and what is said of it.
#[derive(Debug, Default)]
pub struct Triage {
    pub cluster: Cluster,
    pub engine: Engine,
}

impl Triage {
    pub fn new(options: Options) -> Self {
        Self { cluster: Cluster::default(), engine: Engine::new(options) }
    }

    /// Takes in one delta; answers whether anything that is kept changed.
    pub fn apply(&mut self, delta: Delta) -> bool {
        let touched = self.cluster.apply(delta);
        self.engine.touch(&self.cluster, &touched);
        !touched.is_empty()
    }

    /// Judges everything that waits to be judged.
    pub fn judge(&mut self, now: Time) {
        while self.step(now) == Progress::More {}
    }

    /// Judges some of it. What was opened for looking at it is closed where it has become much, and at the end.
    pub fn step(&mut self, now: Time) -> Progress {
        let progress = self.engine.step(&self.cluster, now);
        match progress {
            Progress::More => self.cluster.drop_views(),
            Progress::Done => self.cluster.drop_all_views(),
        }
        progress
    }

    /// Does some of the work of the next report.
    pub fn prepare(&mut self, groups: usize) -> Progress {
        self.engine.prepare(&self.cluster, groups)
    }

    /// What is found now; what did not change since this was last asked costs nothing.
    pub fn report(&mut self) -> Report {
        self.engine.update(&self.cluster)
    }
}
