//! Decided: what the user said of differences before the dashboard started, and what a key added since: accept rules and baselines.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use color_eyre::Result;

use super::baseline::Baselines;
use super::rules;
use crate::cli::Decisions;
use crate::desired::{Comparison, Desired, Keys, Object, Unchecked, Watched, remember, unsettle};
use crate::model::Time;
use crate::redact::Redactor;

/// Shared by the tasks that fetch.
#[derive(Clone, Default)]
pub struct Decided(Arc<Mutex<Files>>);

#[derive(Default)]
struct Files {
    accept: Vec<PathBuf>,
    /// Where the baselines lie.
    baseline: Vec<PathBuf>,
    baselines: Baselines,
    watched: Watched,
}

impl Decided {
    /// # Errors
    /// A file cannot be read, or holds a mistake.
    pub fn read(decisions: &Decisions) -> Result<Self> {
        rules::read(&decisions.accept)?;
        let baselines = Baselines::open(&decisions.baseline)?;
        let (accept, baseline) = (decisions.accept.clone(), decisions.baseline.clone());
        Ok(Self(Arc::new(Mutex::new(Files { accept, baseline, baselines, watched: Watched::default() }))))
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files, for whoever reads them anew.
    pub fn decisions(&self) -> Decisions {
        let files = self.files();
        Decisions { accept: files.accept.clone(), baseline: files.baseline.clone() }
    }

    /// Another file with rules.
    pub fn add(&self, file: PathBuf) {
        let mut files = self.files();
        if !files.accept.contains(&file) {
            files.accept.push(file);
        }
    }

    /// How the object was saved, and whether its tags can be compared.
    pub fn baseline(&self, live: &Object, redactor: &Redactor) -> Option<(Desired, Keys)> {
        let mut files = self.files();
        let saved = files.baselines.find(&live.identity(), redactor)?;
        Some((saved, files.baselines.keys(&live.identity(), None, redactor)))
    }

    /// Remembers how the object is, and says what that means beside how it was.
    pub fn watch(&self, live: &Object, comparison: &mut Comparison, redactor: &Redactor) {
        let mut files = self.files();
        let states = files.baselines.states(&live.identity(), redactor);
        comparison.against.iter_mut().for_each(|against| remember(&mut against.diff, &states, live));
        files.watched.see(live, comparison);
    }

    /// A comparison after the rules have decided; of rules that cannot be read, why.
    pub fn decide(&self, mut comparison: Comparison, now: Time) -> Comparison {
        let files = self.files().accept.clone();
        if files.is_empty() {
            return comparison;
        }
        match rules::read(&files) {
            Ok(rules) => comparison.approved(&rules, now),
            Err(error) => {
                comparison.unchecked.push(Unchecked { kind: "accept rules".to_owned(), namespace: None, why: format!("{error:#}") });
                comparison
            }
        }
    }
}

/// Tags of a baseline that was compared first.
pub fn settle(comparison: &mut Comparison, keys: Keys) {
    if let Some(first) = comparison.against.first_mut() {
        unsettle(&mut first.diff, keys);
    }
}
