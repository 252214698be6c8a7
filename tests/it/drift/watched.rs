//! What only time shows: two that write a field in turn, and what went wrong again after it had been put right.

use holdup::desired::{Comparison, Fetched, FieldDiff, Object, Verdict, Watched, compare};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::redactor;

fn hook(policy: &str, manager: &str, at: &str) -> Value {
    let applied = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "istio"},
        "webhooks": [{"name": "a", "failurePolicy": "Ignore"}]});
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "istio", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()},
            "managedFields": [{"manager": manager, "operation": "Update", "time": at, "fieldsV1": {"f:webhooks": {"k:{\"name\":\"a\"}": {"f:failurePolicy": {}}}}}]},
        "webhooks": [{"name": "a", "failurePolicy": policy}]})
}

/// The difference of the policy, if there is one.
fn policy(found: &Comparison) -> Option<&FieldDiff> {
    found.against[0].diff.fields.iter().find(|field| field.path.last() == "failurePolicy")
}

fn look(watched: &mut Watched, live: &Value) -> Comparison {
    let redactor = redactor();
    let live = Object::new(live.clone(), &redactor);
    let mut comparison = compare(&Fetched { live: &live, files: &[], releases: &[], related: &[], redactor: &redactor }, Vec::new());
    watched.see(&live, &mut comparison);
    comparison
}

#[test]
fn fragment_41_a_mesh_and_a_gitops_tool_that_turn_a_policy_are_a_conflict_once_the_turns_were_seen() {
    let mut watched = Watched::default();
    let first = look(&mut watched, &hook("Fail", "pilot-discovery", "2026-05-04T10:00:00Z"));
    assert_eq!(policy(&first).map(|field| field.verdict), Some(Verdict::Controller), "one look shows no turns");
    let right = look(&mut watched, &hook("Ignore", "kustomize-controller", "2026-05-04T10:05:00Z"));
    assert!(policy(&right).is_none());
    let again = look(&mut watched, &hook("Fail", "pilot-discovery", "2026-05-04T10:10:00Z"));
    let field = policy(&again).expect("it differs");
    assert_eq!(field.verdict, Verdict::Conflict);
    let words = "pilot-discovery and kustomize-controller write it in turn, last at 2026-05-04T10:00:00Z, 2026-05-04T10:05:00Z and 2026-05-04T10:10:00Z";
    assert!(field.reason.starts_with(words) && field.reason.contains("seen while watching"), "{}", field.reason);
    assert!(field.risk.is_some());
    let relapse = field.told.again.as_ref().expect("it had been put right");
    assert_eq!((relapse.times, relapse.by.as_str(), relapse.righted_by.as_str()), (2, "pilot-discovery", "kustomize-controller"));
}

#[test]
fn who_writes_the_same_again_or_something_else_once_more_is_no_conflict() {
    let mut watched = Watched::default();
    for (value, manager, at) in [("Fail", "kubectl-edit", "1"), ("Fail", "argocd", "2"), ("Fail", "kubectl-edit", "3")] {
        let found = look(&mut watched, &hook(value, manager, at));
        let field = policy(&found).expect("it differs");
        assert!(field.verdict != Verdict::Conflict && field.told.again.is_none(), "{}", field.reason);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_conflict_names_two_that_both_wrote(writes in prop::collection::vec((0_usize..3, 0_usize..3), 1..12)) {
        let mut watched = Watched::default();
        let managers = ["pilot-discovery", "kubectl-edit", "kustomize-controller"];
        let mut seen = std::collections::BTreeSet::new();
        for (n, (policy, manager)) in writes.iter().enumerate() {
            let live = hook(["Fail", "Ignore", "Odd"][*policy], managers[*manager], &format!("2026-05-04T10:00:{n:02}Z"));
            seen.insert(managers[*manager]);
            let found = look(&mut watched, &live);
            for field in found.against.iter().flat_map(|against| &against.diff.fields).filter(|field| field.verdict == Verdict::Conflict) {
                let named = managers.iter().filter(|name| field.reason.split(" write it").next().is_some_and(|start| start.contains(*name)));
                let named: Vec<_> = named.collect();
                prop_assert!(named.len() == 2 && named.iter().all(|name| seen.contains(**name)), "{}", field.reason);
            }
        }
    }
}
