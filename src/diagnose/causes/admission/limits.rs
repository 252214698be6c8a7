//! LimitRanges that refuse a pod or a claim.

use super::refusal;
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{Kind, LimitRange, ObjectRef, Quantity};

pub(super) const VIOLATION: Cause = Cause {
    id: "limitrange-violation",
    title: "A LimitRange forbids these requests or limits",
    explanation: "The namespace's LimitRange sets a minimum, a maximum or a ratio for each container, pod or claim, and the template is \
                  outside of it: every pod is refused before a node is looked for.",
    told_apart: "quota-exceeded is about the sum of the namespace, this is about the single container, pod or claim. Nodes may be idle.",
    cure: "Bring the template's requests and limits within the range, or change the LimitRange.",
    docs: "concepts/policy/limit-range/",
    needs: &[Kind::LimitRange],
    judge: Judge::Workload(violation),
    ..super::ROW
};

/// One bound that is not kept.
struct Violation {
    /// `minimum`, `maximum`, `ratio`
    bound: &'static str,
    resource: String,
    /// `Container`, `Pod`, `PersistentVolumeClaim`
    per: String,
    limit: String,
    /// `limit is 8Gi`, as it goes on after the bound.
    but: String,
}

fn violation(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let violation = Violation::read(refusal.message)?;
    let namespace = &workload.meta().namespace;
    let ranges: Vec<&LimitRange> = cx.all(Some(namespace)).collect();
    let range = ranges.iter().find(|r| violation.is_set_by(r));
    let root = range.map_or_else(|| workload.reference(), |r| ObjectRef::new("LimitRange", namespace, &r.meta.name));
    let key = Key::object(&root);
    let Violation { bound, resource, per, limit, but } = &violation;
    let finding = if range.is_none() && cx.sees_all(Kind::LimitRange, Some(namespace)) {
        let title = format!("no LimitRange in {namespace} sets {bound} {resource} {limit} any more");
        refusal.lifted(cx, key, root, "the LimitRange that refused them has changed").title(title)
    } else {
        let name = range.map_or("LimitRange".to_owned(), |r| format!("LimitRange {namespace}/{}", r.meta.name));
        let finding = Finding::blocked(key, root)
            .title(format!("{name}: {bound} {resource} per {per} is {limit}, {but}"))
            .because(format!("{name} sets the {bound} of {resource} per {per} to {limit}; in the template the {but}."))
            .next(format!("Bring {resource} of {} within {limit}, or change the {bound} in {name}.", workload.reference()));
        refusal.prove(finding)
    };
    let finding = range.iter().fold(finding, |f, r| f.fact("limitRange", &r.meta.name));
    Some(finding.fact("resource", resource).fact(bound, limit).fact("found", but))
}

impl Violation {
    /// The first one named; several are in brackets, one after the other.
    fn read(message: &str) -> Option<Self> {
        let bounds = r"(?i)(?P<bound>minimum|maximum) (?P<resource>\S+) usage per (?P<per>\w+) is (?P<limit>[^,\s]+?)[.,]?\s+(?P<but>but (?:request|limit) is [^\s,\]]+|No (?:request|limit) is specified)";
        let ratio = r"(?i)(?P<resource>\S+) max limit to request ratio per (?P<per>\w+) is (?P<limit>[^,\s]+), but (?P<but>.+?)(?:, \w+ \w+ usage per|\]|$)";
        let text = |c: &texts::Captures<'_>, name: &str| c.name(name).map_or(String::new(), |m| m.as_str().to_owned());
        let made = |c: &texts::Captures<'_>, bound| Self {
            bound,
            resource: text(c, "resource").trim_start_matches('[').to_owned(),
            per: text(c, "per"),
            limit: text(c, "limit"),
            but: text(c, "but").trim_start_matches("but ").trim_end_matches('.').to_owned(),
        };
        if let Some(c) = texts::captures(bounds, message) {
            let bound = if text(&c, "bound").eq_ignore_ascii_case("minimum") { "minimum" } else { "maximum" };
            return Some(made(&c, bound));
        }
        texts::captures(ratio, message).map(|c| made(&c, "ratio"))
    }

    fn is_set_by(&self, range: &LimitRange) -> bool {
        let limit = Quantity::parse(&self.limit);
        let of_kind = range.spec.limits.iter().filter(|l| self.per.eq_ignore_ascii_case(&l.kind));
        let mut bounds = of_kind.filter_map(|l| match self.bound {
            "minimum" => l.min.get(&*self.resource),
            "maximum" => l.max.get(&*self.resource),
            _ => l.max_limit_request_ratio.get(&*self.resource),
        });
        bounds.any(|b| limit.as_ref().is_some_and(|l| l.nano() == b.nano()))
    }
}
