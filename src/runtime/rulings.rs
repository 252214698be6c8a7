//! Rulings: what the user decided about differences, in files that are read once, and what of it was met while objects were compared.

use std::path::PathBuf;

use color_eyre::Result;

use super::{rules, wall_clock};
use crate::desired::{self, Diff, Lint, Looked, Object, Rule, Tally, approve};
use crate::model::Time;

/// Decisions about differences.
#[derive(Default)]
pub struct Rulings {
    rules: Option<Vec<Rule>>,
    tally: Tally,
    /// As of when rules hold; the computer's clock where nobody says it.
    now: Option<Time>,
}

impl Rulings {
    /// # Errors
    /// A file cannot be read or holds a mistake.
    pub fn read(accept: &[PathBuf]) -> Result<Self> {
        let rules = if accept.is_empty() { None } else { Some(rules::read(accept)?) };
        Ok(Self { rules, ..Self::default() })
    }

    /// The same as of this time.
    #[must_use]
    pub fn judging_at(self, now: Option<Time>) -> Self {
        Self { now: now.or(self.now), ..self }
    }

    /// Lets the rules decide about the differences of an object.
    pub fn judge(&mut self, live: &Object, diff: &mut Diff) {
        if let Some(rules) = &self.rules {
            let now = self.now.unwrap_or_else(wall_clock);
            approve(rules, &live.labels(), diff, now, &mut self.tally);
        }
    }

    /// What is wrong with the rules; `None` if there are none.
    pub fn remarks(&self, looked: Looked) -> Option<Vec<Lint>> {
        let now = self.now.unwrap_or_else(wall_clock);
        Some(desired::lint(self.rules.as_ref()?, &self.tally, now, looked))
    }
}
