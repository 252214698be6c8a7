//! Accept rules: what they approve and what not, what is wrong with them, and that they never change what a difference risks.

use holdup::desired::{
    Bounds, Diff, Evidence, Fault, FieldDiff, Labels, Looked, Object, Pattern, Rule, Tally, Verdict, approve, diff, lint,
};
use holdup::model::{Quantity, Selector, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{cases, compare, line, redactor};

fn now() -> Time {
    Time::parse("2026-05-04T10:12:00Z").unwrap()
}

fn rule(kind: &str, path: &str) -> Rule {
    let path = Pattern::parse(path).unwrap();
    Rule { id: format!("rules:{path}"), kind: kind.into(), path, reason: "known".into(), ..Rule::default() }
}

fn object(kind: &str, fields: Value) -> Value {
    let mut object = fields;
    let version = match kind {
        "Deployment" => "apps/v1",
        "MutatingWebhookConfiguration" => "admissionregistration.k8s.io/v1",
        _ => "v1",
    };
    object["apiVersion"] = json!(version);
    object["kind"] = json!(kind);
    object["metadata"]["name"] = json!("x");
    object["metadata"]["namespace"] = json!("shop");
    object
}

fn differ(desired: &Value, live: &Value) -> (Diff, Labels) {
    let [desired, live] = [desired, live].map(|side| Object::new(side.clone(), &redactor()));
    (diff(&desired, &live, Evidence::default()), live.labels())
}

/// The differences after these rules, and what is wrong with the rules.
fn decided(rules: &[Rule], desired: &Value, live: &Value) -> (Diff, Vec<Fault>) {
    let (mut diff, labels) = differ(desired, live);
    let mut tally = Tally::default();
    approve(rules, &labels, &mut diff, now(), &mut tally);
    (diff, lint(rules, &tally, now(), Looked::AtAll).into_iter().map(|lint| lint.fault).collect())
}

fn at<'a>(diff: &'a Diff, path: &str) -> &'a FieldDiff {
    let found = diff.fields.iter().find(|field| field.path.to_string() == path);
    found.unwrap_or_else(|| panic!("{path}: {:?}", diff.fields.iter().map(line).collect::<Vec<_>>()))
}

fn scaled(replicas: i64) -> Value {
    object("Deployment", json!({"metadata": {"labels": {"tier": "web"}}, "spec": {"replicas": replicas}}))
}

#[test]
fn bounds_that_no_value_is_within_are_a_fault_of_their_own() {
    let amount = |text: &str| holdup::model::Quantity::parse(text);
    let bounds = Bounds { min: amount("10"), max: amount("2"), ..Bounds::default() };
    let rule = Rule { name: Some("x".into()), bounds, ..rule("Deployment", "spec.replicas") };
    let (diff, faults) = decided(&[rule], &scaled(3), &scaled(5));
    assert_eq!((at(&diff, "spec.replicas").verdict, faults), (Verdict::Drift, vec![Fault::AcceptsNothing]));
}

#[test]
fn fragment_63_a_rule_with_the_wrong_group_approves_nothing_and_says_so() {
    let hook = |policy: &str| object("MutatingWebhookConfiguration", json!({"webhooks": [{"name": "a", "failurePolicy": policy}]}));
    let path = "webhooks[name=a].failurePolicy";
    let wrong = Rule { group: Some(String::new()), name: Some("x".into()), ..rule("MutatingWebhookConfiguration", path) };
    let (diff, faults) = decided(std::slice::from_ref(&wrong), &hook("Fail"), &hook("Ignore"));
    assert_eq!((at(&diff, path).verdict, faults), (Verdict::Drift, vec![Fault::MatchesNothing]));
    let right = Rule { group: Some("admissionregistration.k8s.io".into()), ..wrong };
    let (diff, faults) = decided(&[right], &hook("Fail"), &hook("Ignore"));
    assert_eq!((at(&diff, path).verdict, faults), (Verdict::Approved, vec![]));
    assert!(at(&diff, path).risk.is_some(), "what is accepted is as risky as before");
}

#[test]
fn fragment_64_what_a_trusted_manager_wrote_is_approved_and_nothing_else() {
    let pod = |image: &str| object("Pod", json!({"spec": {"containers": [{"name": "a", "image": image}]}}));
    let mut live = pod("b:1");
    let fields = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {"f:image": {}}}}});
    live["metadata"]["managedFields"] = json!([{"manager": "no-sync", "operation": "Update", "fieldsV1": fields}]);
    let path = "spec.containers[name=a].image";
    let trusted = Rule { manager: Some("no-sync".into()), ..rule("Pod", "spec") };
    assert_eq!(at(&decided(std::slice::from_ref(&trusted), &pod("a:1"), &live).0, path).verdict, Verdict::Approved);
    live["metadata"]["managedFields"][0]["manager"] = json!("kubectl-edit");
    let (diff, _) = decided(&[trusted], &pod("a:1"), &live);
    assert_eq!(at(&diff, path).verdict, Verdict::Drift);
    assert!(at(&diff, path).reason.contains("accepts it from no-sync only"), "{}", at(&diff, path).reason);
}

#[test]
fn fragment_65_every_rule_counts_and_not_only_the_last() {
    let config = |value: &str| object("ConfigMap", json!({"metadata": {"annotations": {"a.b/c": value}}, "data": {"k": value}}));
    let rules = [rule("ConfigMap", "data"), rule("ConfigMap", "metadata.annotations")].map(|r| Rule { name: Some("x".into()), ..r });
    let (diff, faults) = decided(&rules, &config("1"), &config("2"));
    for path in ["data.k", r#"metadata.annotations["a.b/c"]"#] {
        assert_eq!(at(&diff, path).verdict, Verdict::Approved, "{path}");
        assert!(at(&diff, path).reason.starts_with("accepted: known (rules:"), "{}", at(&diff, path).reason);
    }
    assert_eq!(faults, []);
}

#[test]
fn values_labels_and_names_limit_a_rule() {
    let bounds = Bounds { min: Quantity::parse("2"), max: Quantity::parse("10"), ..Bounds::default() };
    let within = Rule { bounds, namespace: Some("sh*".into()), ..rule("Deployment", "spec.replicas") };
    let verdict = |rule: &Rule, live: i64| at(&decided(std::slice::from_ref(rule), &scaled(3), &scaled(live)).0, "spec.replicas").verdict;
    assert_eq!([2, 10, 11, 1].map(|live| verdict(&within, live)), [Verdict::Approved, Verdict::Approved, Verdict::Drift, Verdict::Drift]);
    let (diff, _) = decided(std::slice::from_ref(&within), &scaled(3), &scaled(11));
    assert!(at(&diff, "spec.replicas").reason.contains("accepts it only as 2 or more, 10 or less"));
    let exactly = Rule { bounds: Bounds { values: vec![json!(5), json!("7")], ..Bounds::default() }, ..within.clone() };
    assert_eq!([5, 7].map(|live| verdict(&exactly, live)), [Verdict::Approved, Verdict::Drift], "a text is no number");
    for other in [
        Rule { namespace: Some("pay".into()), ..within.clone() },
        Rule { name: Some("y".into()), ..within.clone() },
        Rule { kind: "StatefulSet".into(), ..within.clone() },
    ] {
        assert_eq!(verdict(&other, 5), Verdict::Drift, "{other:?}");
    }
    let labelled = |key: &str| Rule { selector: Selector::from_map(&[(key, "web")].into_iter().collect()), ..within.clone() };
    assert_eq!([labelled("tier"), labelled("app")].map(|rule| verdict(&rule, 5)), [Verdict::Approved, Verdict::Drift]);
}

#[test]
fn what_was_added_whole_is_approved_only_if_each_of_its_parts_is() {
    let live = object("ConfigMap", json!({"metadata": {"annotations": {"a": "1", "b": "2"}}}));
    let verdict = |rules: &[Rule]| at(&decided(rules, &object("ConfigMap", json!({})), &live).0, "metadata.annotations").verdict;
    let [a, b] = ["metadata.annotations.a", "metadata.annotations.b"].map(|path| rule("ConfigMap", path));
    assert_eq!(verdict(std::slice::from_ref(&a)), Verdict::Drift);
    assert_eq!(verdict(&[a, b]), Verdict::Approved);
    assert_eq!(verdict(&[rule("ConfigMap", "metadata.annotations.*")]), Verdict::Approved);
    let ports = |ports: Value| object("Service", json!({"spec": {"ports": ports}}));
    let (diff, _) =
        decided(&[rule("Service", "spec.ports[port=8080]")], &ports(json!([{"port": 80}])), &ports(json!([{"port": 80}, {"port": 8080}])));
    assert_eq!(at(&diff, "spec.ports[port=8080,protocol=TCP]").verdict, Verdict::Approved);
}

#[test]
fn a_removal_is_accepted_by_a_rule_without_values_or_for_it() {
    let [with, without] = [json!({"data": {"a": "1", "k": "1"}}), json!({"data": {"a": "1"}})].map(|fields| object("ConfigMap", fields));
    let verdict = |bounds: Bounds| at(&decided(&[Rule { bounds, ..rule("ConfigMap", "data.k") }], &with, &without).0, "data.k").verdict;
    assert_eq!(verdict(Bounds::default()), Verdict::Approved);
    assert_eq!(verdict(Bounds { absent: true, ..Bounds::default() }), Verdict::Approved);
    assert_eq!(verdict(Bounds { values: vec![json!("2")], ..Bounds::default() }), Verdict::Drift);
}

#[test]
fn an_expired_rule_no_longer_approves_and_says_what_that_leaves() {
    let rule = Rule { expires: Some(now()), name: Some("x".into()), ..rule("Deployment", "spec.replicas") };
    let (diff, faults) = decided(std::slice::from_ref(&rule), &scaled(3), &scaled(5));
    assert_eq!((at(&diff, "spec.replicas").verdict, faults), (Verdict::Drift, vec![Fault::Expired]));
    assert!(at(&diff, "spec.replicas").reason.contains("has expired"));
    let later = Rule { expires: Some(now().plus(1)), ..rule };
    assert_eq!(at(&decided(&[later], &scaled(3), &scaled(5)).0, "spec.replicas").verdict, Verdict::Approved);
}

#[test]
fn rules_for_more_than_anybody_had_in_mind_are_found() {
    let faults = |rule: Rule| decided(&[rule], &scaled(3), &scaled(5)).1;
    assert_eq!(faults(rule("*", "spec.replicas")), [Fault::TooWide]);
    assert_eq!(faults(rule("Deployment", "spec")), [Fault::TooWide]);
    assert_eq!(faults(rule("Deployment", "spec.replicas")), [Fault::TooWide]);
    assert_eq!(faults(Rule { name: Some("x".into()), ..rule("Deployment", "spec.replicas") }), []);
    assert_eq!(faults(Rule { name: Some("x".into()), ..rule("Deployment", "spec.a[0]") }), [Fault::MatchesNothing, Fault::Positional]);
    let pod = |privileged: bool| {
        object("Pod", json!({"spec": {"containers": [{"name": "a", "image": "a:1", "securityContext": {"privileged": privileged}}]}}))
    };
    let weakened = Rule { name: Some("x".into()), ..rule("Pod", "spec.containers[name=a]") };
    assert_eq!(decided(&[weakened], &pod(false), &pod(true)).1, [Fault::TooWide]);
}

#[test]
fn a_rule_made_for_a_difference_accepts_it_and_no_other_value() {
    let (diff, _) = differ(&scaled(3), &scaled(5));
    let rule = Rule { reason: "sale".into(), ..Rule::of(&diff.object, at(&diff, "spec.replicas")) };
    let verdict = |live: i64| at(&decided(std::slice::from_ref(&rule), &scaled(3), &scaled(live)).0, "spec.replicas").verdict;
    assert_eq!([5, 6].map(verdict), [Verdict::Approved, Verdict::Drift]);
    assert_eq!((rule.group.as_deref(), rule.namespace.as_deref(), rule.name.as_deref()), (Some("apps"), Some("shop"), Some("x")));
}

fn paths() -> impl Strategy<Value = String> {
    let known: Vec<String> = cases().iter().flat_map(|case| compare(case).fields).map(|field| field.path.to_string()).collect();
    let wide = ["", "spec", "metadata", "spec.*", "data", "webhooks[*]", "rules"].map(str::to_owned);
    prop::sample::select(known.into_iter().chain(wide).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_difference_risks_depends_on_no_rule(which in 0_usize..25, paths in prop::collection::vec(paths(), 1..6)) {
        let all = cases();
        let case = &all[which % all.len()];
        let before = compare(case);
        let rules: Vec<Rule> = paths.iter().map(|path| rule("*", path)).collect();
        let mut after = before.clone();
        approve(&rules, &Labels::new(), &mut after, now(), &mut Tally::default());
        prop_assert_eq!(before.fields.len(), after.fields.len());
        for (before, after) in before.fields.iter().zip(&after.fields) {
            prop_assert_eq!(&before.risk, &after.risk);
            prop_assert!(before.verdict == after.verdict || after.verdict == Verdict::Approved && after.reason.contains(&before.reason));
            let before = (&before.path, &before.desired, &before.live, &before.owner);
            prop_assert_eq!(before, (&after.path, &after.desired, &after.live, &after.owner));
        }
    }
}
