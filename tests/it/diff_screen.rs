//! The diff of an object on the screen: from what was fetched to frames, with keys between.

use holdup::app::{ACTIONS, Asked, Content, Document, Effect, Msg};
use holdup::desired::{Comparison, Fetched, Object, Probed, Unchecked, compare};
use holdup::export::diff::{Compared, Compilation, Remarks};
use holdup::redact::Redactor;
use serde_json::{Value, json};

use crate::incident;
use crate::stage::Stage;

fn container(image: &str) -> Value {
    json!({"name": "cart", "image": image, "env": [{"name": "DB_PASSWORD", "value": "hunter2hunter2"}]})
}

fn applied() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cart", "namespace": "shop", "annotations": {}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "cart"}}, "template": {"metadata": {"labels": {"app": "cart"}},
            "spec": {"securityContext": {"runAsNonRoot": true}, "containers": [container("registry.example.net/shop/cart:1.8.2")]}}}})
}

fn entry(manager: &str, time: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "time": time, "fieldsType": "FieldsV1", "fieldsV1": fields})
}

/// As kubectl applied it at 11:00, with an image set and a right weakened by hand, and scaled by an autoscaler.
fn live() -> Value {
    let mut live = applied();
    live["metadata"]["uid"] = "d1".into();
    live["metadata"]["generation"] = 31.into();
    live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = applied().to_string().into();
    live["spec"]["replicas"] = 8.into();
    live["spec"]["progressDeadlineSeconds"] = 600.into();
    live["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirst".into();
    live["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] = false.into();
    live["spec"]["template"]["spec"]["containers"][0] = container("registry.example.net/shop/cart:1.8.3-hotfix");
    let name = r#"k:{"name":"cart"}"#;
    live["metadata"]["managedFields"] = json!([
        entry("kubectl-client-side-apply", "2026-05-04T11:00:00Z", &json!({
            "f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
            "f:spec": {"f:selector": {}, "f:template": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                "f:spec": {"f:containers": {name: {".": {}, "f:name": {}, "f:env": {}}}}}}})),
        entry("kubectl-set", "2026-05-04T11:41:03Z", &json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {name: {"f:image": {}}}}}}})),
        entry("kubectl-edit", "2026-05-04T11:41:40Z", &json!({"f:spec": {"f:template": {"f:spec": {"f:securityContext": {"f:runAsNonRoot": {}}}}}})),
        {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-05-04T12:01:00Z",
            "subresource": "scale", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    live
}

fn around() -> Vec<Value> {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "cart", "uid": "d1", "controller": true}]);
    let set = |revision: &str, image: &str, created: &str| {
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": format!("cart-{revision}"), "namespace": "shop",
            "creationTimestamp": created, "annotations": {"deployment.kubernetes.io/revision": revision}, "ownerReferences": owner},
            "spec": {"template": {"metadata": {"labels": {"app": "cart", "pod-template-hash": revision}},
                "spec": {"dnsPolicy": "ClusterFirst", "securityContext": {"runAsNonRoot": true}, "containers": [container(image)]}}}})
    };
    vec![
        set("12", "registry.example.net/shop/cart:1.8.3-hotfix", "2026-05-04T11:41:03Z"),
        set("11", "registry.example.net/shop/cart:1.8.2", "2026-05-04T11:00:00Z"),
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "cart", "namespace": "shop"},
            "spec": {"minReplicas": 2, "maxReplicas": 10, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "cart"}}}),
    ]
}

fn comparison(live: Value, related: &[Value], unchecked: Vec<Unchecked>) -> Comparison {
    let redactor = Redactor::new(&[7; 32]);
    let live = Object::new(live, &redactor);
    compare(&Fetched { live: &live, files: &[], releases: &[], related: &crate::drift::shared(related), redactor: &redactor }, unchecked)
        .worst_first()
}

/// The diff of the blocker's first workload, before anything has come.
fn asked((width, height): (u16, u16)) -> Stage {
    let mut stage = incident::stage();
    stage.resize(width, height).keys("<enter>jd");
    stage
}

fn answer(stage: &mut Stage, result: Result<Comparison, String>) -> &mut Stage {
    let asked = stage.effects.iter().filter_map(|effect| if let Effect::Fetch(wanted) = effect { Some(wanted) } else { None });
    let wanted = asked.into_iter().find(|wanted| wanted.object == "Deployment/shop/cart" && wanted.document == Document::Diff);
    let wanted = wanted.expect("its diff was asked for").clone();
    stage.send(Msg::Fetched { wanted, result: result.map(|comparison| Content::Diff(Box::new(comparison))) })
}

fn shown(size: (u16, u16)) -> Stage {
    let mut stage = asked(size);
    answer(&mut stage, Ok(comparison(live(), &around(), Vec::new())));
    stage
}

fn shot(name: &str, stage: &mut Stage) {
    let (width, height) = stage.size;
    insta::assert_snapshot!(format!("{name}_{width}x{height}"), stage.frame());
}

#[test]
fn fragment_90_the_diff_shows_the_worst_first_with_who_wrote_it() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        shot("screen_diff", &mut shown(size));
    }
}

#[test]
fn enter_unfolds_a_difference_and_folds_it_again() {
    let mut stage = shown((120, 40));
    let folded = stage.frame();
    shot("screen_diff_unfolded", stage.keys("<enter>"));
    assert_eq!(stage.keys("<enter>").frame(), folded);
}

#[test]
fn fragment_88_z_shows_what_is_explained_and_x_the_other_source() {
    let mut stage = shown((120, 40));
    assert!(!stage.frame().contains("progressDeadlineSeconds"));
    assert!(stage.keys("z").frame().contains("progressDeadlineSeconds"));
    assert!(!stage.keys("z").frame().contains("progressDeadlineSeconds"));
    shot("screen_diff_revision", stage.keys("x"));
    assert!(stage.keys("x").frame().contains("source 1 of 2"), "it goes round");
}

#[test]
fn capital_x_puts_all_sources_side_by_side_and_back() {
    let mut around = around();
    around[1]["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example.net/shop/cart:1.8.1".into();
    let mut stage = asked((120, 40));
    answer(&mut stage, Ok(comparison(live(), &around, Vec::new())));
    let one = stage.frame();
    shot("screen_diff_sources", stage.keys("X<enter>"));
    assert_eq!(stage.keys("<enter>X").frame(), one);
    assert!(stage.keys("Xx").frame().contains("source 2 of 2"), "x shows one source again");
    let mut alike = shown((80, 24));
    assert!(alike.keys("X").frame().contains("The sources agree with each other"), "{}", alike.frame());
}

#[test]
fn while_it_is_asked_for_and_when_it_cannot_be_had_the_screen_says_so() {
    let mut stage = asked((80, 24));
    assert!(stage.frame().contains("asking for the object and for what was asked for"));
    answer(&mut stage, Err("deployments.apps \"cart\" is forbidden: grant get".into()));
    assert!(stage.frame().contains("▲ deployments.apps \"cart\" is forbidden: grant get"), "{}", stage.frame());
    stage.effects.clear();
    stage.keys("r");
    assert!(matches!(stage.effects.as_slice(), [Effect::Fetch(wanted)] if wanted.document == Document::Diff));
}

#[test]
fn without_a_source_ownership_is_shown() {
    let mut live = live();
    live["metadata"]["annotations"] = json!({});
    let why = "replicasets.apps is forbidden: grant list".to_owned();
    let unread = vec![Unchecked { kind: "ReplicaSet".to_owned(), namespace: Some("shop".to_owned()), why }];
    let mut stage = asked((120, 40));
    answer(&mut stage, Ok(comparison(live, &[], unread)));
    shot("screen_diff_ownership", stage.keys("j<enter>"));
}

#[test]
fn secrets_and_escape_sequences_never_reach_the_diff() {
    let mut hostile = live();
    hostile["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = "tr0ub4dor-tr0ub4dor".into();
    hostile["spec"]["template"]["spec"]["containers"][0]["image"] = "cart:\u{1b}[31mred\u{7}\n\u{202e}x".into();
    let mut stage = asked((200, 60));
    answer(&mut stage, Ok(comparison(hostile, &around(), Vec::new())));
    for script in ["z", "<enter>j<enter>j<enter>j<enter>"] {
        let frame = stage.keys(script).frame();
        assert!(!frame.contains("hunter2") && !frame.contains("tr0ub4dor"), "{frame}");
        assert!(!frame.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{frame}");
    }
}

#[test]
fn d_on_a_row_of_the_first_screen_is_about_the_root_or_the_first_workload() {
    let mut stage = incident::stage();
    stage.keys("d");
    let asked: Vec<&str> =
        stage.effects.iter().filter_map(|e| if let Effect::Fetch(w) = e { Some(w.object.as_str()) } else { None }).collect();
    assert_eq!(asked, ["Deployment/db/pg"]);
    assert!(stage.frame().contains("[diff]"));
}

#[test]
fn a_rollout_since_the_previous_revision_is_no_drift() {
    let mut live = applied();
    live["metadata"]["uid"] = "d1".into();
    live["spec"]["template"]["spec"]["containers"][0] = container("registry.example.net/shop/cart:1.8.3-hotfix");
    live["metadata"]["managedFields"] = json!([entry(
        "helm",
        "2026-05-04T11:41:00Z",
        &json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
            r#"k:{"name":"cart"}"#: {".": {}, "f:image": {}}}}}}})
    )]);
    let found = comparison(live, &around(), Vec::new());
    let image = found.against[0].diff.fields.iter().find(|field| field.path.last() == "image").expect("it changed");
    assert_eq!((found.against[0].source, image.verdict.id()), ("revision", "unknown"));
    assert!(image.reason.starts_with("helm changed it since this revision"), "{}", image.reason);
}

#[test]
fn a_change_just_before_it_began_comes_first() {
    let mut live = live();
    live["spec"]["template"]["spec"]["nodeSelector"] = json!({"pool": "gpu"});
    let edit = json!({"f:spec": {"f:template": {"f:spec": {"f:nodeSelector": {}}}}});
    live["metadata"]["managedFields"].as_array_mut().unwrap().push(entry("kubectl-patch", "2026-05-04T11:41:40Z", &edit));
    for size in [(80, 24), (120, 40)] {
        let mut stage = incident::stage();
        stage.resize(size.0, size.1).keys("<enter>j<enter>");
        let before = stage.frame();
        answer(&mut stage, Ok(comparison(live.clone(), &around(), Vec::new())));
        assert_ne!(stage.frame(), before);
        shot("screen_object_changed", &mut stage);
    }
}

#[test]
fn what_a_newer_question_pushed_aside_is_asked_again_when_it_is_opened() {
    let mut stage = incident::stage();
    stage.keys("<enter>j<enter><esc><esc>d");
    let asked: Vec<&str> = stage
        .effects
        .iter()
        .filter_map(|e| if let Effect::Fetch(w) = e { Some(w) } else { None })
        .filter(|wanted| wanted.document == Document::Diff)
        .map(|wanted| wanted.object.as_str())
        .collect();
    assert_eq!(asked, ["Deployment/db/pg", "Deployment/shop/cart", "Deployment/db/pg"]);
}

#[test]
fn what_was_asked_ahead_is_asked_again_by_d_only_if_something_was_left_unopened() {
    for (is_sealed, again) in [(true, 1), (false, 0)] {
        let mut stage = incident::stage();
        stage.keys("<enter>j<enter>");
        answer(&mut stage, Ok(Comparison { is_sealed, ..comparison(live(), &around(), Vec::new()) }));
        stage.effects.clear();
        stage.keys("d");
        let asked =
            stage.effects.iter().filter(|e| matches!(e, Effect::Fetch(w) if w.document == Document::Diff && w.asked == Asked::ByUser));
        assert_eq!(asked.count(), again);
    }
}

#[test]
fn a_dry_run_is_asked_for_first_and_sent_only_on_yes() {
    let runs = |stage: &Stage| stage.effects.iter().filter(|e| matches!(e, Effect::Fetch(w) if w.asked == Asked::DryRun)).count();
    let mut stage = shown((120, 40));
    assert!(stage.keys("D").frame().contains("dry run on the server, yes?"), "{}", stage.frame());
    let narrow = shown((80, 24)).keys("D").frame();
    assert!(narrow.contains("y ⏎ sends it: stores nothing, calls webhooks"), "{narrow}");
    for script in ["<esc>", "D<enter>", "Dn<enter>", "Dyesno<enter>", "r"] {
        stage.keys(script);
        assert_eq!(runs(&stage), 0, "{script}");
    }
    let mut stage = shown((120, 40));
    assert_eq!(runs(stage.keys("Dyes<enter>")), 1);
    let probed = Some(Probed { apply: None, create: Some("it needs the verb create".to_owned()) });
    let wanted =
        stage.effects.iter().find_map(|e| if let Effect::Fetch(w) = e { Some(w).filter(|w| w.asked == Asked::DryRun) } else { None });
    let (wanted, answered) = (wanted.unwrap().clone(), Comparison { probed, ..comparison(live(), &around(), Vec::new()) });
    stage.send(Msg::Fetched { wanted, result: Ok(Content::Diff(Box::new(answered))) });
    assert!(stage.frame().contains("server-side dry run of a new object was not made: it needs the verb create"), "{}", stage.frame());
    stage.effects.clear();
    stage.keys("r");
    assert_eq!(runs(&stage), 0, "reloading asks for no dry run");
}

#[test]
fn a_long_value_is_unfolded_in_part() {
    let mut live = live();
    let args: Vec<String> = (0..500).map(|n| format!("--flag-{n}")).collect();
    live["spec"]["template"]["spec"]["containers"][0]["args"] = json!(args);
    let mut stage = asked((120, 100));
    answer(&mut stage, Ok(comparison(live, &around(), Vec::new())));
    let frame = stage.keys("z/args<enter><enter>").frame();
    assert!(frame.contains("and 440 more; y shows the whole object"), "{frame}");
}

#[test]
fn fragment_86_of_a_long_text_the_changed_line_is_shown_with_its_neighbours() {
    let text = |port: u16| (0..100).map(|at| if at == 40 { format!("port={port}\n") } else { format!("key{at}=v\n") }).collect::<String>();
    let asked_for = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"},
        "data": {"app.properties": text(80), "app.json": json!({"host": "a", "port": 80}).to_string()}});
    let mut live = asked_for.clone();
    live["data"] = json!({"app.properties": text(81), "app.json": json!({"host": "a", "port": 81}).to_string()});
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": asked_for.to_string()});
    let found = comparison(live, &[], Vec::new());
    let text = holdup::export::diff::text(
        &Compilation::Named(vec![Compared::from(found.clone())]),
        &Remarks::default(),
        holdup::export::Paint::Plain,
    );
    let properties = "  … 38 lines are the same\n    key38=v\n    key39=v\n  - port=80\n  + port=81\n    key41=v\n    key42=v\n  … 57 lines are the same\n";
    assert!(text.contains(properties), "{text}");
    assert!(text.contains("  - port: 80\n  + port: 81\n"), "a tree in a text is shown by its fields: {text}");
    let mut stage = asked((120, 60));
    answer(&mut stage, Ok(found));
    let frame = stage.keys("<enter>").frame();
    assert!(frame.contains("… 38 lines are the same") && frame.contains("- port=80") && !frame.contains("key37"), "{frame}");
}

#[test]
fn fragment_89_a_asks_for_a_file_and_a_reason_and_writes_the_narrowest_rule() {
    let mut stage = shown((120, 40));
    assert!(stage.keys("a").frame().contains("rule to accept.toml"), "{}", stage.frame());
    assert!(stage.keys("<ctrl-u>ours.toml<enter>").frame().contains("accepted because "), "{}", stage.frame());
    stage.keys("INC-42<enter>");
    let Some(Effect::Accept { path, rule, wanted }) = stage.effects.last() else { panic!("{:?}", stage.effects.last()) };
    assert_eq!((path.as_str(), rule.reason.as_str(), wanted.object.as_str()), ("ours.toml", "INC-42", "Deployment/shop/cart"));
    assert_eq!(rule.path.to_string(), "spec.template.spec.securityContext.runAsNonRoot");
    assert_eq!(rule.bounds.values, [json!(false)]);
    let before = stage.effects.len();
    assert!(stage.keys("a<enter><enter>").frame().contains("nothing was accepted"), "a rule without a reason is not written");
    assert!(stage.keys("a<esc>").frame().contains("a accept"), "esc accepts nothing");
    assert_eq!(stage.effects.len(), before);
}

#[test]
fn what_a_rule_accepts_is_folded_away_and_z_shows_by_whose_word() {
    let mut stage = asked((120, 40));
    let found = comparison(live(), &around(), Vec::new());
    let field = found.against[0].diff.fields.iter().find(|field| field.path.last() == "image").expect("the image differs");
    let rule = holdup::desired::Rule {
        id: "accept.toml:1".into(),
        reason: "INC-42".into(),
        ..holdup::desired::Rule::of(&found.against[0].diff.object, field)
    };
    let now = stage.now;
    answer(&mut stage, Ok(found.approved(&[rule], now)));
    let frame = stage.frame();
    assert!(frame.contains("1 approved") && !frame.contains("INC-42"), "{frame}");
    let frame = stage.keys("z").frame();
    assert!(frame.contains("accepted: INC-42 (accept.toml:1)"), "{frame}");
}

#[test]
fn what_went_wrong_again_is_said_below_its_row() {
    let mut stage = asked((120, 40));
    let mut found = comparison(live(), &around(), Vec::new());
    let field = found.against[0].diff.fields.iter_mut().find(|field| field.path.last() == "image").expect("the image differs");
    let mut turns = holdup::desired::Turns::default();
    for (value, by) in [(2, "kubectl-set"), (1, "argocd-controller"), (3, "kubectl-set")] {
        turns.see(holdup::desired::Mark::of(Some(&json!(value))), by, "");
    }
    field.told.again = turns.relapse(&holdup::desired::Mark::of(Some(&json!(1))));
    answer(&mut stage, Ok(found));
    let frame = stage.frame();
    assert!(frame.contains("drifted again: 2 times in all; put right by argocd-controller, then changed by kubectl-set"), "{frame}");
    let frame = stage.keys("w").frame();
    assert!(
        frame.contains("Drifted again after it was put right") && frame.contains("1  Deployment/shop/cart"),
        "while it is read: {frame}"
    );
    let wanted = stage.app.documents.diffs().next().expect("it is kept").clone();
    let right = comparison(live(), &around(), Vec::new());
    let frame = stage.send(Msg::Fetched { wanted, result: Ok(Content::Diff(Box::new(right))) }).frame();
    assert!(!frame.contains("Drifted again"), "put right: {frame}");
}

/// Every frame while the cursor goes down the help, as words.
fn help(stage: &mut Stage) -> (Vec<String>, String) {
    stage.keys("?");
    let page = stage.page();
    let overlay = page.overlay.as_ref().expect("the help");
    let rows = overlay.pane.list().expect("a list").len;
    let mut words = String::new();
    for _ in 0..=rows {
        words += &stage.frame().split_whitespace().collect::<Vec<_>>().join(" ");
        stage.keys("j");
    }
    let here = ACTIONS.iter().filter(|action| {
        page.overlay.as_ref().is_some_and(|over| over.pane.list().is_some_and(|list| list.rows.iter().any(|row| *row.id == *action.id)))
    });
    (here.map(|action| action.doc.to_owned()).collect(), words)
}

#[test]
fn help_is_wrapped_and_scrolled_where_it_does_not_fit() {
    for size in [(80, 24), (100, 30), (120, 40)] {
        let (docs, words) = help(&mut shown(size));
        assert!(docs.iter().any(|doc| doc.contains("tells defaults and admission from drift")), "{docs:?}");
        for doc in &docs {
            assert!(words.contains(doc.as_str()), "{size:?}: {doc}");
        }
    }
    let mut stage = shown((80, 24));
    stage.keys("?");
    insta::assert_snapshot!("over_help_diff_80x24", stage.frame());
}
