//! What holds for any two objects: nothing differs from itself, order means nothing where keys do, and no input is too odd.

use holdup::desired::{Diff, Evidence, FieldDiff, Labels, Object, Pattern, Rule, Tally, Verdict, approve, diff};
use holdup::model::Time;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{cases, line, redactor};

/// Objects of the drift cases, and one with every kind of list.
fn objects() -> Vec<Value> {
    let all = cases().into_iter().flat_map(|case| [case.desired, case.live]);
    all.chain([rich()]).collect()
}

fn rich() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "n", "finalizers": ["a/b", "c/d"],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{\"replicas\":1}}"},
        "managedFields": [{"manager": "kubectl-edit", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:template": {".": {}}}}}]},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [
                {"name": "a", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "PASSWORD", "value": "canary"}],
                 "ports": [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
                 "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/w"}]},
                {"name": "b", "image": "b:1", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}],
            "tolerations": [{"key": "k", "operator": "Exists"}, {"key": "l", "operator": "Exists"}, {"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
            "imagePullSecrets": [{"name": "a"}, {"name": "b"}], "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.2", "hostnames": ["b"]}],
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "h", "whenUnsatisfiable": "DoNotSchedule"}, {"maxSkew": 1, "topologyKey": "h", "whenUnsatisfiable": "ScheduleAnyway"}],
            "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "secret": {"secretName": "s"}}]}}}})
}

fn compare(desired: &Value, live: &Value) -> Diff {
    let [desired, live] = [desired, live].map(|side| Object::new(side.clone(), &redactor()));
    diff(&desired, &live, Evidence { released: None, related: &[] })
}

/// Lists whose items have keys, where their order means nothing.
const KEYED: &[&str] = &[
    "containers",
    "env",
    "finalizers",
    "hostAliases",
    "imagePullSecrets",
    "ports",
    "tolerations",
    "topologySpreadConstraints",
    "volumeMounts",
    "volumes",
];

/// The same with those lists in another order: the next number of `seed` says how each is cut and put together again, or turned around.
fn shuffled(mut value: Value, name: &str, seed: &mut impl Iterator<Item = usize>) -> Value {
    match &mut value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| *value = shuffled(value.take(), name, seed)),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = shuffled(item.take(), name, seed));
            if KEYED.contains(&name) && !items.is_empty() {
                let turn = seed.next().unwrap_or_default();
                let count = items.len();
                items.rotate_left(turn % count);
                if turn.is_multiple_of(2) {
                    items.reverse();
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    value
}

/// The values by which a hostile object replaces what it should hold.
fn odd(choice: u8) -> Value {
    match choice % 9 {
        0 => json!(null),
        1 => json!(7),
        2 => json!("x"),
        3 => json!([]),
        4 => json!({}),
        5 => json!(true),
        6 => json!([null, 3, {"name": null}, {"name": ["x"]}, "y", {"name": "a"}, {"name": "a"}]),
        7 => json!({"": {"": null}, ".": [], "a.b/c\"]": 1e300, "f:x": {"k:{": 0}}),
        _ => json!(-0.5),
    }
}

/// Replaces the node that is `at` steps into the tree.
fn spoil(value: &mut Value, at: &mut usize, choice: u8) -> bool {
    if *at == 0 {
        *value = odd(choice);
        return true;
    }
    *at -= 1;
    match value {
        Value::Object(fields) => fields.values_mut().any(|value| spoil(value, at, choice)),
        Value::Array(items) => items.iter_mut().any(|value| spoil(value, at, choice)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn spoiled(mut value: Value, wounds: &[(u16, u8)]) -> Value {
    for (at, choice) in wounds {
        spoil(&mut value, &mut (usize::from(*at) % 150 + 1), *choice);
    }
    value
}

#[test]
fn nothing_differs_from_itself() {
    for object in objects() {
        let found = compare(&object, &object);
        assert!(found.fields.is_empty(), "{}", found.fields.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn the_order_counts_where_kubernetes_counts_on_it() {
    let pod = |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec});
    let [a, b] = [json!({"name": "a"}), json!({"name": "b"})];
    let found = compare(&pod(json!({"initContainers": [a, b]})), &pod(json!({"initContainers": [b, a]})));
    assert_eq!(found.fields[0].verdict, Verdict::Drift);
    let [first, second] = [json!({"name": "A", "value": "1"}), json!({"name": "B", "value": "$(A)"})];
    let env = |env: Value| pod(json!({"containers": [{"name": "c", "env": env}]}));
    let found = compare(&env(json!([first, second])), &env(json!([second, first])));
    assert_eq!(found.fields[0].verdict, Verdict::Drift);
    let hooks = |hooks: Value| json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": {"name": "x"}, "webhooks": hooks});
    let found = compare(&hooks(json!([a, b])), &hooks(json!([b, a])));
    assert_eq!(found.fields[0].verdict, Verdict::Drift);
}

#[test]
fn json_and_yaml_are_the_same() {
    for object in objects() {
        let text = serde_saphyr::to_string(&object).unwrap();
        let read = holdup::desired::manifest::read(&text).objects.remove(0);
        assert!(compare(&object, &read).fields.is_empty(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_object_is_too_odd(which in 0_usize..25, desired in prop::collection::vec(any::<(u16, u8)>(), 0..6), live in prop::collection::vec(any::<(u16, u8)>(), 0..6)) {
        let all = objects();
        let object = &all[which % all.len()];
        let [desired, live] = [spoiled(object.clone(), &desired), spoiled(object.clone(), &live)];
        let found = compare(&desired, &live);
        prop_assert!(compare(&desired, &desired).fields.is_empty());
        prop_assert!(found.fields.iter().all(|field| field.desired != field.live || field.reason.contains("null") || field.verdict == Verdict::Equal));
        let text = super::json(found);
        prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
    }

    #[test]
    fn the_order_of_keyed_items_is_no_difference(seed in prop::collection::vec(any::<usize>(), 60)) {
        for object in objects() {
            let found = compare(&object, &shuffled(object.clone(), "", &mut seed.iter().copied()));
            let loud: Vec<String> = found.fields.iter().filter(|field| field.verdict != Verdict::Equal).map(line).collect();
            prop_assert!(loud.is_empty(), "{}", loud.join("\n"));
        }
    }

    #[test]
    fn whoever_accepts_it_the_risk_stays(which in 0_usize..25, wounds in prop::collection::vec(any::<(u16, u8)>(), 1..6), accepted in any::<u64>(), wide in any::<bool>()) {
        let all = objects();
        let object = &all[which % all.len()];
        let found = compare(object, &spoiled(object.clone(), &wounds));
        let one = |field: &FieldDiff| Rule { id: "r:1".into(), reason: "known".into(), ..Rule::of(&found.object, field) };
        let all = Rule { id: "r:1".into(), kind: "*".into(), path: Pattern::parse("*").unwrap(), reason: "known".into(), ..Rule::default() };
        let some = found.fields.iter().enumerate().filter(|(at, _)| accepted >> (at % 64) & 1 == 1).map(|(_, field)| one(field));
        let rules: Vec<Rule> = if wide { vec![all] } else { some.collect() };
        let mut judged = found.clone();
        approve(&rules, &Labels::default(), &mut judged, Time::parse("2026-05-04T12:00:00Z").unwrap(), &mut Tally::default());
        let risks = |diff: &Diff| diff.fields.iter().map(|field| (field.path.to_string(), field.risk.clone())).collect::<Vec<_>>();
        prop_assert_eq!(risks(&judged), risks(&found));
    }

    #[test]
    fn json_and_yaml_are_the_same_however_odd(which in 0_usize..25, wounds in prop::collection::vec(any::<(u16, u8)>(), 0..4)) {
        let all = objects();
        let object = spoiled(all[which % all.len()].clone(), &wounds);
        let text = serde_saphyr::to_string(&object).unwrap();
        for read in holdup::desired::manifest::read(&text).objects {
            let found = compare(&object, &read);
            prop_assert!(found.fields.is_empty(), "{}\n{text}", found.fields.iter().map(line).collect::<Vec<_>>().join("\n"));
        }
    }

    #[test]
    fn what_is_equal_is_equal_the_other_way_round(which in 0_usize..25, wounds in prop::collection::vec(any::<(u16, u8)>(), 0..4)) {
        let all = objects();
        let object = &all[which % all.len()];
        let other = spoiled(object.clone(), &wounds);
        let there = compare(object, &other);
        let back = compare(&other, object);
        for field in there.fields.iter().filter(|field| field.verdict == Verdict::Equal) {
            let same = back.fields.iter().filter(|other| other.path == field.path).all(|other| other.verdict == Verdict::Equal);
            prop_assert!(same, "{}", line(field));
        }
    }

    #[test]
    fn redacting_twice_is_redacting_once(which in 0_usize..25, wounds in prop::collection::vec(any::<(u16, u8)>(), 0..4)) {
        let all = objects();
        let once = Object::new(spoiled(all[which % all.len()].clone(), &wounds), &redactor());
        let twice = Object::new(once.value().clone(), &redactor());
        prop_assert_eq!(once.value(), twice.value());
    }
}
