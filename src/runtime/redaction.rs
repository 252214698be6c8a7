//! Redaction of a report: every text in it that the cluster wrote, whole, before anything cuts or wraps it.

use crate::diagnose::{Evidence, Report};
use crate::redact::Redactor;

/// The same report without secrets.
pub fn redacted(mut report: Report, redactor: &Redactor) -> Report {
    let hide = |text: &mut String| {
        if let std::borrow::Cow::Owned(redacted) = redactor.text(text) {
            *text = redacted;
        }
    };
    let hide_all = |evidence: &mut Vec<Evidence>| evidence.iter_mut().for_each(|e| hide(&mut e.message));
    for blocker in &mut report.blockers {
        [&mut blocker.title, &mut blocker.summary, &mut blocker.next].into_iter().for_each(hide);
        blocker.facts.values_mut().for_each(hide);
        hide_all(&mut blocker.evidence);
        for consequence in &mut blocker.consequences {
            hide(&mut consequence.title);
            hide_all(&mut consequence.evidence);
        }
    }
    report.quiet.iter_mut().for_each(|quiet| hide(&mut quiet.reason));
    report
}
