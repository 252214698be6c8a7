//! Rulings: what the user decided about differences, in files that are read once, and what of it was met while objects were compared.

use color_eyre::Result;

use super::baseline::Baselines;
use super::{rules, wall_clock};
use crate::cli::Decisions;
use crate::desired::{
    self, BASELINE, Diff, Evidence, Fault, Lint, Looked, Object, Rule, Tally, against, approve, approve_by_baseline, remember, unsettle,
};
use crate::model::Time;
use crate::redact::Redactor;

/// Decisions about differences.
#[derive(Default)]
pub struct Rulings {
    rules: Option<Vec<Rule>>,
    tally: Tally,
    pub baselines: Baselines,
    /// Names the key that made the tags of live objects, where a file says so.
    pub tags: Option<String>,
    /// As of when rules hold; the computer's clock where nobody says it.
    now: Option<Time>,
}

impl Rulings {
    /// # Errors
    /// A file cannot be read or holds a mistake.
    pub fn read(files: &Decisions) -> Result<Self> {
        let rules = if files.accept.is_empty() { None } else { Some(rules::read(&files.accept)?) };
        Ok(Self { rules, baselines: Baselines::open(&files.baseline)?, ..Self::default() })
    }

    /// The same as of this time.
    #[must_use]
    pub fn judging_at(self, now: Option<Time>) -> Self {
        Self { now: now.or(self.now), ..self }
    }

    /// Lets baseline and rules decide about the differences of an object from what this source asks for.
    pub fn judge(&mut self, live: &Object, source: Option<&str>, diff: &mut Diff, redactor: &Redactor) {
        let identity = live.identity();
        if source == Some(BASELINE) {
            unsettle(diff, self.baselines.keys(&identity, self.tags.as_deref(), redactor));
        } else if let Some(saved) = self.baselines.find(&identity, redactor) {
            let mut since = against(&saved, live, Evidence::default());
            unsettle(&mut since, self.baselines.keys(&identity, self.tags.as_deref(), redactor));
            approve_by_baseline(diff, &since, &saved.title);
        }
        let states = if self.tags.as_ref().is_none_or(|tags| *tags == redactor.fingerprint()) {
            self.baselines.states(&identity, redactor)
        } else {
            Vec::new()
        };
        if !states.is_empty() {
            remember(diff, &states, live);
        }
        if let Some(rules) = &self.rules {
            approve(rules, &live.labels(), diff, self.now.unwrap_or_else(wall_clock), &mut self.tally);
        }
    }

    /// What is wrong with rules and baselines; `None` if there are none.
    pub fn remarks(&self, looked: Looked) -> Option<Vec<Lint>> {
        let now = self.now.unwrap_or_else(wall_clock);
        let rules = self.rules.as_ref().map(|rules| desired::lint(rules, &self.tally, now, looked));
        let baseline = self.baselines.name().map(|name| self.of_baseline(name));
        (rules.is_some() || baseline.is_some()).then(|| rules.into_iter().flatten().chain(baseline.flatten()).collect())
    }

    fn of_baseline(&self, name: &str) -> Option<Lint> {
        let (fault, text) = match (self.baselines.met(), self.baselines.deleted()) {
            (0, _) => (Fault::MatchesNothing, "matches nothing: none of the objects that were compared is in this baseline".to_owned()),
            (_, 0) => return None,
            (_, 1) => (Fault::Gone, "1 object that it has is gone: if that is meant, save a new one".to_owned()),
            (_, n) => (Fault::Gone, format!("{n} objects that it has are gone: if that is meant, save a new one")),
        };
        Some(Lint { about: name.to_owned(), fault, text })
    }
}
