//! Every screen: frames of an incident made by hand, and that no incident, key or size ever panics.

use holdup::app::{Content, Document, Effect, EventLine, Msg, Wanted};
use holdup::diagnose::Report;
use holdup::model::{Cluster, CoverageState, Delta, Kind, Place, Time};
use holdup::page::Line;
use holdup::screen::{Link, SCREENS};
use serde_json::Value;

use crate::stage::Stage;
use crate::{incident, picture};

/// Takes a picture of the frame under the name of the test's screen and its size.
fn shot(name: &str, stage: &mut Stage) {
    let size = stage.size;
    insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), stage.frame());
}

fn at(script: &str, (width, height): (u16, u16)) -> Stage {
    let mut stage = incident::stage();
    stage.resize(width, height).keys(script);
    stage
}

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

#[test]
fn triage_shows_what_holds_the_cluster_up() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = at("", size);
        stage.fresh.insert("node-unreachable:Node//n17".into());
        shot("screen_triage", &mut stage);
    }
}

#[test]
fn a_blocker_shows_what_it_rests_on() {
    for size in SIZES {
        shot("screen_blocker", &mut at("<enter>", size));
    }
}

#[test]
fn an_object_shows_its_chain() {
    for size in SIZES {
        shot("screen_object", &mut at("<enter>j<enter>", size));
        shot("screen_object_pod", &mut at(":pod cart-6d4cf56db6-x2<enter>", size));
        shot("screen_object_healthy", &mut at(":pod probe<enter>", size));
    }
}

#[test]
fn the_tree_shows_owners_and_references() {
    shot("screen_tree", &mut at("<enter>j<enter>o", (120, 40)));
}

#[test]
fn events_come_from_what_is_followed_until_all_are_here() {
    let mut stage = at(":pod cart-6d4cf56db6-x2<enter>e", (120, 40));
    shot("screen_events_before", &mut stage);
    let event = |reason: &str, message: &str| EventLine {
        at: Some(incident::now().plus(-40)),
        kind: "Warning".into(),
        reason: reason.into(),
        message: message.into(),
        count: 12,
        source: "default-scheduler".into(),
    };
    let events = vec![event("FailedScheduling", "0/12 nodes are available"), event("FailedMount", "MountVolume.SetUp failed")];
    answer(&mut stage, Ok(Content::Events(events)));
    shot("screen_events", &mut stage);
}

/// Answers the last thing that was asked for.
fn answer(stage: &mut Stage, result: Result<Content, String>) {
    let wanted = asked(stage);
    stage.send(Msg::Fetched { wanted, result });
}

/// What a key asked for; diffs are asked for ahead of any key.
fn asked(stage: &Stage) -> Wanted {
    let asked = stage.effects.iter().rev().filter_map(|effect| if let Effect::Fetch(wanted) = effect { Some(wanted) } else { None });
    asked.into_iter().find(|wanted| wanted.document != Document::Diff).expect("something was asked for").clone()
}

#[test]
fn yaml_is_searched() {
    let mut stage = at("<enter>j<enter>y", (80, 24));
    let lines = (0..200).map(|n| format!("line{n}: {}", if n % 50 == 7 { "Needle" } else { "hay" })).collect();
    answer(&mut stage, Ok(Content::Lines(lines)));
    stage.keys("/needle<enter>");
    shot("screen_yaml_found", &mut stage);
    assert!(stage.keys("n").frame().contains("match 2 of 4"));
    assert!(stage.keys("NN").frame().contains("match 4 of 4"), "it goes round");
    assert!(stage.keys("/nothing<enter>").frame().contains("nothing here contains nothing"));
}

#[test]
fn logs_begin_at_their_end_and_say_whose_they_are() {
    let mut stage = at("<enter>jl", (80, 24));
    let wanted = asked(&stage);
    assert_eq!((wanted.object.as_str(), wanted.container.as_deref()), ("Pod/shop/cart-6d4cf56db6-4k9zq", Some("cart")));
    let lines = (0..500).map(|n| format!("{n} {}", "a long line that wraps ".repeat(n % 9))).collect();
    answer(&mut stage, Ok(Content::Lines(lines)));
    shot("screen_logs", &mut stage);
    assert!(stage.keys("gG").frame().contains("\n 499 "), "{}", stage.frame());
}

#[test]
fn what_could_not_be_fetched_says_why() {
    let mut stage = at("<enter>j<enter>y", (80, 24));
    answer(&mut stage, Err("deployments.apps \"cart\" is forbidden: grant get".into()));
    assert!(stage.frame().contains("▲ deployments.apps \"cart\" is forbidden: grant get"));
    stage.effects.clear();
    stage.keys("r");
    assert!(matches!(stage.effects.as_slice(), [Effect::Fetch(_)]));
}

#[test]
fn help_palette_pickers_and_lists_lie_over_the_screen() {
    shot("over_help", &mut at("?", (120, 40)));
    shot("over_palette", &mut at(":cart", (120, 40)));
    shot("over_palette_empty", &mut at(":", (80, 24)));
    shot("over_namespaces", &mut at("n", (80, 24)));
    shot("screen_coverage", &mut at("C", (120, 40)));
    shot("screen_coverage", &mut at("C", (80, 24)));
    shot("screen_quiet", &mut at("jm z".replace(' ', "").as_str(), (80, 24)));
    shot("prompt_filter", &mut at("/registry since:soon", (80, 24)));
}

#[test]
fn the_header_says_how_good_the_picture_is() {
    let mut stage = incident::stage();
    let header = |stage: &mut Stage, link: Link| {
        stage.status.link = link;
        stage.frame().lines().next().unwrap_or_default().to_owned()
    };
    let now = incident::now();
    assert!(header(&mut stage, Link::Live { changed: Some(now) }).contains("● live, changed 12:03:41"));
    assert!(header(&mut stage, Link::Stale { since: now.plus(-48) }).contains("▲ no answer for 48s, showing 12:02:53"));
    assert!(header(&mut stage, Link::File { as_of: now, ago: Some(3 * 3600) }).contains("as of 2026-05-04 12:03:41 UTC, 3 h ago"));
    assert!(header(&mut stage, Link::Waiting("the exec plugin aws".into())).contains("◌ waiting for the exec plugin aws"));
    stage.status.paused = Some((now, 214));
    assert!(stage.frame().contains("‖ paused at 12:03:41, 214 changes behind"));
}

#[test]
fn while_lists_load_the_screen_counts() {
    let mut stage = incident::stage();
    stage.cluster.apply(Delta::Lost { kind: Kind::Pod, place: Place::All, why: CoverageState::Loading });
    stage.status.remaining.insert(Kind::Pod, 149_991);
    let frame = stage.frame();
    assert!(frame.contains("◌ loading pods 9 of 150,000   events done   nodes done"), "{frame}");
    assert!(frame.contains("still reading: numbers grow"), "{frame}");
}

#[test]
fn an_empty_screen_says_what_would_be_here() {
    let now = incident::now();
    let mut empty = Stage::new(picture::of(&[], &[]), Report::default(), now);
    assert!(empty.frame().contains("Nothing is stuck: 0 pods in 0 workloads."));
    empty.status.link = Link::Failed("No cluster was reached.\nholdup demo needs none.".into());
    assert!(empty.frame().contains("No cluster was reached.\n"));
    let mut starting = Stage::new(Cluster::default(), Report::default(), now);
    starting.status.link = Link::Starting;
    assert!(starting.frame().contains("Reading the cluster: what is stuck appears here as it comes."));
    let mut layer = at("9/zzz<enter>", (120, 40));
    assert!(layer.frame().contains("Nothing that is held up matches zzz; 6 others are left out."), "{}", layer.frame());
    assert!(at("6", (120, 40)).frame().contains("Nothing is held up at Crashing · runtime; 6 blockers in other layers."));
}

#[test]
fn a_notice_stands_until_the_next_key() {
    let mut stage = incident::stage();
    stage.send(Msg::Told(Line::from("wrote holdup-prod-eu.json.gz: 214 objects")));
    assert!(stage.frame().contains("wrote holdup-prod-eu.json.gz: 214 objects"));
    assert!(!stage.keys("j").frame().contains("wrote"));
}

#[test]
fn the_page_knows_when_its_ages_change() {
    assert_eq!(incident::stage().page().changes_in, Some(1));
    let mut old = incident::report();
    old.blockers.truncate(3);
    let stage = Stage::new(picture::of(&[], &[]), old, incident::now());
    assert_eq!(stage.page().changes_in, Some(19));
    assert_eq!(Stage::new(picture::of(&[], &[]), Report::default(), incident::now()).page().changes_in, None);
}

#[test]
fn every_screen_has_an_id_and_a_title() {
    assert!(SCREENS.iter().all(|screen| !screen.id.is_empty() && !screen.title.is_empty()));
}

/// Keys that lead everywhere.
const TOUR: &str = "jk<enter><tab>j<enter>oyelp<esc>GgN?jj<esc>:pod a<down><enter><esc>n<tab><esc>zC<esc><esc>m5J/x<enter><esc>";

#[test]
fn no_incident_and_no_key_panics_at_any_size() {
    for (nth, (name, objects, now)) in cases().into_iter().enumerate() {
        let cluster = picture::of(&objects, &[]);
        let report = picture::judge(&cluster, &now);
        let mut stage = Stage::new(cluster, report, Time::parse(&now).expect("a time"));
        // The whole tour is long; a part of the incidents takes it.
        if nth % 4 == 0 {
            stage.keys(TOUR);
        }
        for size in [(80, 24), (300, 100), (41, 9), (1, 1)] {
            stage.resize(size.0, size.1).keys("<enter>e<esc><esc>");
        }
        assert!(stage.resize(80, 24).frame().lines().count() == 24, "{name}");
    }
}

fn cases() -> Vec<(String, Vec<Value>, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut found = Vec::new();
    for layer in std::fs::read_dir(root).expect("cases") {
        for file in std::fs::read_dir(layer.expect("a folder").path()).expect("a folder") {
            let path = file.expect("a file").path();
            let case: Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
            let objects = case["objects"].as_array().cloned().unwrap_or_default();
            found.push((path.display().to_string(), objects, case["now"].as_str().expect("now").to_owned()));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn a_blocker_that_comes_back_counts_from_when_it_came_first() {
    let since = |stage: &Stage| stage.settled.report.blockers.iter().find(|b| b.cause == "image-denied").map(|b| b.since);
    let (whole, mut without, mut again) = (incident::report(), incident::report(), incident::report());
    without.blockers.retain(|b| b.cause != "image-denied");
    let first = whole.blockers.iter().find(|b| b.cause == "image-denied").expect("it is there").since;
    for b in again.blockers.iter_mut().filter(|b| b.cause == "image-denied") {
        std::sync::Arc::make_mut(b).since = Some(incident::now());
    }
    let mut stage = incident::stage();
    assert_eq!(since(stage.settle(without.clone())), None);
    assert!(stage.settled.clearing.iter().any(|(b, _)| b.cause == "image-denied"), "it stays for a while");
    assert_eq!(since(stage.settle(again.clone())), Some(first));
    assert_eq!(since(stage.settle(again)), Some(first), "in the reports after that, too");
    assert!(stage.settled.clearing.is_empty());
    stage.settle(without);
    assert_eq!(stage.settled.clearing.iter().map(|(b, _)| b.since).collect::<Vec<_>>(), [first]);
}
