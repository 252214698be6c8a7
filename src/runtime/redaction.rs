//! Redaction of a report: every text in it that the cluster wrote, whole, before anything cuts or wraps it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::diagnose::{Blocker, Evidence, Quiet, Report};
use crate::redact::Redactor;

/// Redacts one report after another; what did not change since the last is not looked at again.
pub struct Redaction {
    redactor: Arc<Redactor>,
    blockers: Known<Blocker>,
    quiet: Known<Quiet>,
}

impl Redaction {
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, blockers: Known::default(), quiet: Known::default() }
    }

    /// The same report without secrets.
    pub fn redacted(&mut self, mut report: Report) -> Report {
        self.blockers.each(&mut report.blockers, |b| blocker(b, &self.redactor));
        self.quiet.each(&mut report.quiet, |q| quiet(q, &self.redactor));
        report
    }
}

/// What became of parts of the last report, by where they lie in memory; they are kept, so nothing else can come to lie there.
struct Known<T>(HashMap<usize, (Arc<T>, Arc<T>)>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Known<T> {
    fn each(&mut self, parts: &mut [Arc<T>], redacted: impl Fn(&T) -> Option<T>) {
        let mut before = std::mem::take(&mut self.0);
        self.0.reserve(parts.len());
        for part in parts {
            let at = Arc::as_ptr(part) as usize;
            let known = before.remove(&at);
            let (own, shown) = known.unwrap_or_else(|| (part.clone(), redacted(part).map_or_else(|| part.clone(), Arc::new)));
            *part = shown.clone();
            self.0.insert(at, (own, shown));
        }
    }
}

/// The blocker without secrets, if it has any.
fn blocker(blocker: &Blocker, redactor: &Redactor) -> Option<Blocker> {
    let mut copy = blocker.clone();
    let mut found = hide(&mut copy.title, redactor) | hide(&mut copy.summary, redactor) | hide(&mut copy.next, redactor);
    copy.facts.values_mut().for_each(|text| found |= hide(text, redactor));
    found |= hide_evidence(&mut copy.evidence, redactor);
    for consequence in &mut copy.consequences {
        found |= hide(&mut consequence.title, redactor);
        found |= hide_evidence(&mut consequence.evidence, redactor);
    }
    found.then_some(copy)
}

fn quiet(quiet: &Quiet, redactor: &Redactor) -> Option<Quiet> {
    let mut copy = quiet.clone();
    hide(&mut copy.reason, redactor).then_some(copy)
}

fn hide_evidence(evidence: &mut [Arc<Evidence>], redactor: &Redactor) -> bool {
    let mut found = false;
    for evidence in evidence {
        if let Cow::Owned(message) = redactor.text(&evidence.message) {
            Arc::make_mut(evidence).message = message.into();
            found = true;
        }
    }
    found
}

/// Answers whether there was something to hide.
fn hide<T: Deref<Target = str> + From<String>>(text: &mut T, redactor: &Redactor) -> bool {
    let Cow::Owned(redacted) = redactor.text(text) else { return false };
    *text = redacted.into();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ObjectRef;

    fn told(reason: &str) -> Arc<Quiet> {
        let object = ObjectRef::new("CronJob", "shop", reason);
        Arc::new(Quiet { object, cause: "cronjob-suspended", reason: reason.into(), since: None })
    }

    #[test]
    fn what_did_not_change_is_the_same_piece_of_memory_and_what_came_is_redacted() {
        let mut redaction = Redaction::new(Arc::new(Redactor::new(&[7; 32])));
        let (plain, secret) = (told("suspended"), told("password=hunter2secret"));
        let first = redaction.redacted(Report { quiet: vec![secret.clone(), plain.clone()], ..Report::default() });
        assert!(Arc::ptr_eq(&first.quiet[1], &plain) && !first.quiet[0].reason.contains("hunter2secret"));
        let second = redaction.redacted(Report { quiet: vec![plain, secret, told("token=abcdefgh12345678")], ..Report::default() });
        assert!(Arc::ptr_eq(&second.quiet[0], &first.quiet[1]) && Arc::ptr_eq(&second.quiet[1], &first.quiet[0]));
        assert!(!second.quiet[2].reason.contains("abcdefgh12345678"));
    }
}
