//! The drift screen: filled while everything is read, worst first, stopped by esc, with the questions that follow from the whole.

use holdup::app::{At, DriftReading, Effect, Msg, Progress, Records, Standing, Surveyed, Tab};
use holdup::desired::{
    ActorClass, Direction, Exception, FieldDiff, Gone, Governance, Identity, Operation, Owner, Path, Rebuild, Risk, RiskClass, Step,
    Stranger, Told, Unchecked, Verdict, Weight,
};
use serde_json::{Value, json};

use crate::incident;
use crate::stage::Stage;

/// A path written with a slash between its steps; a step with `=` is an item.
fn path(text: &str) -> Path {
    text.split('/').fold(Path::default(), |path, step| match step.split_once('=') {
        Some((key, value)) => path.join(Step::Item(vec![(key.to_owned(), value.to_owned())])),
        None => path.field(step),
    })
}

fn field(at: &str, (desired, live): (Value, Value), by: (&str, &str), risk: Option<(RiskClass, Direction)>) -> FieldDiff {
    let side = |value: Value| Some(value).filter(|value| !value.is_null());
    let owner = Owner {
        manager: by.0.to_owned(),
        operation: Operation::Update,
        subresource: String::new(),
        time: by.1.to_owned(),
        class: ActorClass::Person,
    };
    FieldDiff {
        path: path(at),
        desired: side(desired),
        live: side(live),
        verdict: Verdict::Drift,
        risk: risk.map(|(class, direction)| Risk { class, direction, text: String::new() }),
        owner: Some(owner),
        reason: String::new(),
        told: Told::default(),
    }
}

fn standing(object: &str, source: &str, fields: &[FieldDiff]) -> Standing {
    let worst = fields.first().cloned();
    Standing {
        object: object.to_owned(),
        source: source.to_owned(),
        weight: Weight::of(fields),
        telling: fields.len(),
        worst,
        unchecked: None,
    }
}

fn standings() -> Vec<Standing> {
    let weaker = Some((RiskClass::Privilege, Direction::Weakening));
    let applied = "last-applied annotation of kubectl";
    let root = field(
        "spec/template/spec/securityContext/runAsNonRoot",
        (json!(true), json!(false)),
        ("kubectl-edit", "2026-05-04T11:41:40Z"),
        weaker,
    );
    let image = field(
        "spec/template/spec/containers/name=cart/image",
        (json!("registry.example.net/shop/cart:1.8.2"), json!("registry.example.net/shop/cart:1.8.3-hotfix")),
        ("kubectl-set", "2026-05-04T11:41:03Z"),
        Some((RiskClass::Image, Direction::Changed)),
    );
    let key = field("data/log-level", (json!("info"), json!("debug")), ("kubectl-edit", "2026-05-03T09:00:00Z"), None);
    let mut unread = standing("Deployment/pay/ledger", "", &[]);
    unread.unchecked = Some("not checked: Helm release in pay: ledger: secrets is forbidden".into());
    vec![
        standing("ConfigMap/shop/settings", applied, &[key]),
        standing("Deployment/shop/web", "helm release web, revision 7", &[]),
        standing("Deployment/shop/cart", applied, &[root, image.clone()]),
        unread,
        standing("Rollout.argoproj.io/shop/a-workload-with-a-rather-long-name", applied, &[image]),
    ]
}

fn identity(text: &str) -> Identity {
    let parts: Vec<&str> = text.split('/').collect();
    Identity { group: String::new(), kind: parts[0].into(), namespace: parts[1].into(), name: parts[2].into() }
}

fn governance() -> Governance {
    let stranger = |object: &str, by: &str| Stranger {
        object: identity(object),
        by: by.into(),
        since: "2026-03-24T10:00:00Z".into(),
        has_owner: false,
        note: String::new(),
    };
    let bob = "RoleBinding/shop/bob";
    Governance {
        rebuild: Rebuild { objects: 340, can: 312, unknown: 0, cannot: vec![("shop".into(), "kubectl-create".into(), 28)] },
        gone: vec![Gone { object: identity("ConfigMap/shop/cart-config"), inventory: "helm release cart, revision 7".into() }],
        unmanaged: vec![stranger("ConfigMap/shop/feature-flags", "kubectl-create"), stranger(bob, "kubectl-create")],
        exceptions: vec![Exception {
            object: identity(bob),
            path: String::new(),
            what: "subject bob reads secrets in shop (ClusterRole secret-reader)".into(),
            by: "kubectl-create".into(),
            since: "2026-03-24T10:00:00Z".into(),
        }],
        again: Vec::new(),
        unclaimed: vec![stranger("ConfigMap/shop/feature-flags", "kubectl-create"), stranger("Pod/shop/debug", "kubectl-run")],
        unnamed: 0,
    }
}

/// The reading that was asked for last.
fn asked(stage: &Stage) -> Option<(u32, Records)> {
    stage.effects.iter().rev().find_map(|effect| if let Effect::Survey { run, records } = effect { Some((*run, *records)) } else { None })
}

fn tell(stage: &mut Stage, surveyed: Surveyed) {
    let (run, _) = asked(stage).expect("it was asked for");
    stage.send(Msg::Surveyed { run, surveyed });
}

/// The screen while it is read.
fn reading((width, height): (u16, u16)) -> Stage {
    let mut stage = incident::stage();
    stage.resize(width, height).keys("w");
    let progress = Progress { kind: "deployments".into(), read: 17, of: 63, objects: 1234 };
    tell(&mut stage, Surveyed::At(progress));
    standings().into_iter().for_each(|standing| tell(&mut stage, Surveyed::Object(Box::new(standing))));
    stage
}

fn read(size: (u16, u16)) -> Stage {
    let mut stage = reading(size);
    let unread = |kind: &str, why: &str| Unchecked { kind: kind.into(), namespace: None, why: why.into() };
    tell(&mut stage, Surveyed::Sealed);
    tell(&mut stage, Surveyed::Unread(unread("Helm release", "the records of 3 releases are Secrets, and were not opened")));
    tell(&mut stage, Surveyed::Unread(unread("ConfigMap", "configmaps is forbidden: grant list")));
    tell(&mut stage, Surveyed::Done(Box::new(governance())));
    stage
}

fn shot(name: &str, stage: &mut Stage) {
    let (width, height) = stage.size;
    insta::assert_snapshot!(format!("{name}_{width}x{height}"), stage.frame());
}

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

#[test]
fn everything_is_read_when_somebody_asks_for_it_and_shown_as_it_comes() {
    let stage = incident::stage();
    assert_eq!((asked(&stage), &stage.app.drift.reading), (None, &DriftReading::Never));
    let mut stage = incident::stage();
    stage.keys("w");
    assert!(matches!(asked(&stage), Some((_, Records::Closed))), "Secrets stay closed");
    assert!(stage.frame().contains("appear here as they are read"), "{}", stage.frame());
    for size in SIZES {
        shot("screen_drift_reading", &mut reading(size));
    }
}

#[test]
fn the_worst_object_stands_first_and_the_questions_below_are_answered() {
    for size in SIZES {
        let mut stage = read(size);
        shot("screen_drift", &mut stage);
        let list = stage.page();
        let rows: Vec<&str> = list.pane("drift").and_then(|pane| pane.list()).unwrap().rows.iter().map(|row| &*row.id).collect();
        let order = [
            "Deployment/shop/cart",
            "Rollout.argoproj.io/shop/a-workload-with-a-rather-long-name",
            "ConfigMap/shop/settings",
            "Deployment/pay/ledger",
            "Deployment/shop/web",
        ];
        assert_eq!(rows[..], order[..rows.len()]);
    }
}

#[test]
fn a_question_unfolds_into_its_objects_and_a_row_opens_the_diff() {
    let mut stage = read((120, 40));
    stage.keys("<tab><enter>j");
    shot("screen_drift_unfolded", stage.keys("j<enter>"));
    assert!(stage.frame().contains("RoleBinding/shop/bob"));
    stage.keys("j<enter>");
    assert_eq!(stage.app.view().at, At::Object { object: "RoleBinding/shop/bob".into(), tab: Tab::Diff });
    stage.keys("<esc><tab><enter>");
    assert_eq!(stage.app.view().at, At::Object { object: "Deployment/shop/cart".into(), tab: Tab::Diff });
    assert!(matches!(stage.effects.last(), Some(Effect::Fetch(wanted)) if wanted.object == "Deployment/shop/cart"));
    stage.keys("<esc>");
    assert_eq!((stage.app.view().at.clone(), &stage.app.drift.reading), (At::Drift, &DriftReading::Done), "it is not read again");
}

#[test]
fn esc_stops_it_and_what_an_earlier_reading_still_tells_is_dropped() {
    let mut stage = reading((120, 40));
    stage.keys("<esc>");
    assert_eq!(stage.effects.last(), Some(&Effect::StopSurvey));
    tell(&mut stage, Surveyed::Done(Box::new(governance())));
    let frame = stage.frame();
    assert!(frame.contains("stopped after 17 of 63 kinds") && frame.contains("not known: it was stopped"), "{frame}");
    assert!(frame.contains("shop/cart"), "what was read stays: {frame}");
    let (before, _) = asked(&stage).unwrap();
    stage.keys("r");
    assert!(asked(&stage).is_some_and(|(run, records)| run != before && records == Records::Closed));
    stage.send(Msg::Surveyed { run: before, surveyed: Surveyed::Object(Box::new(standings().remove(0))) });
    assert!(stage.app.drift.standings.is_empty());
    stage.keys("<esc><esc>");
    assert_eq!(stage.app.view().at, At::Triage, "the second esc goes back");
}

#[test]
fn records_are_opened_by_a_key_and_by_nothing_else() {
    let mut stage = reading((120, 40));
    stage.effects.retain(|effect| !matches!(effect, Effect::StopSurvey));
    stage.keys("H");
    assert!(matches!(asked(&stage), Some((_, Records::Closed))), "while it reads, the key does nothing");
    let mut stage = read((120, 40));
    stage.keys("H");
    assert!(matches!(asked(&stage), Some((_, Records::Opened))));
}

#[test]
fn a_filter_narrows_it_and_a_failure_is_told() {
    let mut stage = read((120, 40));
    let frame = stage.keys("/hotfix<enter>").frame();
    assert!(frame.contains("shop/cart") && !frame.contains("shop/settings"), "{frame}");
    let mut stage = incident::stage();
    stage.keys("w");
    tell(&mut stage, Surveyed::Failed("the server cannot be reached".into()));
    assert!(stage.frame().contains("▲ the server cannot be reached"), "{}", stage.frame());
}

#[test]
fn of_very_many_objects_the_worst_stay() {
    let mut stage = incident::stage();
    stage.keys("w");
    let (run, _) = asked(&stage).unwrap();
    let page = stage.page();
    for nth in 0..6000 {
        let surveyed = Surveyed::Object(Box::new(standing(&format!("ConfigMap/shop/c{nth}"), "manifest", &[])));
        holdup::app::update(&mut stage.app, Msg::Surveyed { run, surveyed }, &page);
    }
    tell(&mut stage, Surveyed::Object(Box::new(standings().remove(2))));
    let drift = &stage.app.drift;
    assert_eq!((drift.standings.len(), drift.left_out, drift.said), (5000, 1001, 6001));
    assert_eq!(drift.standings[0].object, "Deployment/shop/cart");
}

#[test]
fn who_wrote_it_last_is_read_whole_at_every_width() {
    for size in SIZES {
        let frame = read(size).frame();
        for by in ["kubectl-edit, 11:41", "kubectl-set, 11:41", "kubectl-edit, 05-03"] {
            assert!(frame.contains(by), "{size:?}: {by}\n{frame}");
        }
    }
}

#[test]
fn only_the_pane_that_keys_move_in_carries_the_cursors_mark() {
    let mut stage = read((80, 24));
    for expected in [true, false] {
        let frame = stage.frame();
        let (above, below) = frame.split_once("What follows from the whole").expect("both panes");
        assert_eq!((above.contains('▌'), below.contains('▌')), (expected, !expected), "{frame}");
        stage.keys("<tab>");
    }
}
