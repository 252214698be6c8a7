//! Keys: scripts go in, what is on the screen and what is to be done comes out.

use std::collections::BTreeSet;
use std::time::Duration;

use holdup::app::{ACTIONS, App, At, Chord, Effect, Msg, Offered, Tab, update};
use holdup::diagnose::Report;
use holdup::page::{Page, Shown};

use crate::incident;
use crate::stage::Stage;

/// The id of the row under the cursor.
fn row(stage: &Stage) -> String {
    stage.page().row().map(|row| row.id.to_string()).unwrap_or_default()
}

fn after(script: &str) -> Stage {
    let mut stage = incident::stage();
    stage.keys(script);
    stage
}

#[test]
fn keys_move_by_rows_pages_and_to_the_ends() {
    assert_eq!(row(&after("")), "untolerated-taint:taint:gpu=true:NoSchedule");
    assert_eq!(row(&after("jj<down>")), "node-unreachable:Node//n17");
    assert_eq!(row(&after("jjjkk<up>")), "untolerated-taint:taint:gpu=true:NoSchedule");
    assert_eq!(row(&after("G")), "startup-probe-pending:Deployment/pay/ledger");
    assert_eq!(row(&after("Gg")), row(&after("")));
    assert_eq!(row(&after("<ctrl-d><ctrl-u>")), row(&after("")));
    assert_eq!(row(&after("<pagedown>")), row(&after("G")));
}

#[test]
fn keys_typed_ahead_of_a_frame_mean_what_they_would_mean_after_it() {
    let stage = incident::stage();
    let page = stage.page();
    let mut app = stage.app.clone();
    for chord in Chord::script("jjj").unwrap() {
        update(&mut app, Msg::Key { chord, at: Duration::from_secs(1) }, &page);
    }
    assert_eq!(row(&Stage { app, ..incident::stage() }), row(&after("jjj")));
}

#[test]
fn enter_goes_in_and_esc_comes_back_to_the_same_row() {
    let mut stage = after("jjj<enter>");
    assert_eq!(stage.app.view().at, At::Blocker("node-unreachable:Node//n17".into()));
    stage.keys("<enter>");
    assert!(matches!(&stage.app.view().at, At::Object { tab: Tab::Why, .. }));
    stage.keys("<esc><esc>");
    assert_eq!((stage.app.view().at.clone(), row(&stage)), (At::Triage, "node-unreachable:Node//n17".into()));
    stage.keys("<esc><esc><esc>");
    assert!(!stage.effects.contains(&Effect::Quit), "esc never quits");
}

#[test]
fn a_row_that_comes_above_the_cursor_does_not_push_it() {
    let mut stage = incident::stage();
    stage.resize(80, 24);
    let many = |extra: usize| {
        let mut report = incident::report();
        let old = (*report.blockers[1]).clone();
        for nth in 0..40 + extra {
            let mut blocker = old.clone();
            blocker.id = format!("image-denied:registry:{:02}", 99 - nth);
            report.blockers.insert(1, blocker.into());
        }
        report
    };
    stage.settle(many(0)).keys("<pagedown>jj");
    let line_of = |stage: &mut Stage| stage.frame().lines().position(|line| line.starts_with('▌'));
    let (id, line) = (row(&stage), line_of(&mut stage));
    stage.settle(many(3));
    assert_eq!((row(&stage), line_of(&mut stage)), (id, line));
}

#[test]
fn a_key_meant_for_a_row_that_went_away_opens_nothing_else() {
    let mut stage = after("j");
    let mut report = incident::report();
    report.blockers.remove(1);
    stage.settled.report = report;
    for key in ["<enter>", "y", "l"] {
        let mut stage = Stage { app: stage.app.clone(), settled: stage.settled.clone(), ..incident::stage() };
        let frame = stage.keys(key).frame();
        assert!(frame.contains("that row is gone"), "{key}: {frame}");
        assert_eq!(stage.app.view().at, At::Triage);
        assert!(stage.effects.is_empty());
        assert_eq!(row(&stage), "quota-exceeded:ResourceQuota/shop/compute", "the cursor stays on its line");
    }
}

#[test]
fn no_row_moves_for_a_moment_after_a_key() {
    let stage = after("j");
    let pressed = Duration::from_secs(1);
    assert_eq!(stage.app.holds(pressed + Duration::from_millis(299)), Some(pressed + Duration::from_millis(300)));
    assert_eq!(stage.app.holds(pressed + Duration::from_millis(300)), None);
    assert_eq!(App::new("x").holds(Duration::ZERO), None);
}

#[test]
fn a_filter_narrows_while_it_is_typed_and_keeps_the_cursor_on_its_object() {
    let mut stage = after("j/registry");
    assert_eq!(row(&stage), "image-denied:registry:registry.example.net");
    stage.keys("<esc>");
    assert_eq!(
        (stage.page().pane("blockers").and_then(|pane| pane.list()).map(|list| list.len), row(&stage)),
        (Some(7), "image-denied:registry:registry.example.net".into())
    );
    assert_eq!(row(&after("j/quota<enter>")), "quota-exceeded:ResourceQuota/shop/compute");
    assert_eq!(row(&after("j/quota<enter><esc>")), "image-denied:registry:registry.example.net", "what a filter hid is not gone");
    assert_eq!(row(&after("/layer:rollout is:delayed<enter>")), "deployment-progressing:Deployment/shop/api");
    assert_eq!(row(&after("/ns:db<enter>")), "untolerated-taint:taint:gpu=true:NoSchedule");
    assert_eq!(
        row(&after("/kind:node !taint<enter>")),
        "image-denied:registry:registry.example.net",
        "{}",
        after("/kind:node !taint<enter>").frame()
    );
    assert!(after("/since:soon<enter>").frame().contains("not understood and left out: since:soon (since:<15m, since:>2h)"));
}

#[test]
fn digits_choose_a_layer_and_have_a_second_key() {
    assert_eq!(row(&after("4")), "image-denied:registry:registry.example.net");
    assert_eq!(row(&after("40")), row(&after("")));
    assert_eq!(row(&after("J")), "quota-exceeded:ResourceQuota/shop/compute");
    assert_eq!(row(&after("JJKK")), row(&after("")));
    let mut stage = after("<tab>jj");
    assert_eq!(stage.page().focused().map(|pane| pane.id), Some("layers"));
    assert_eq!(stage.app.layer.map(holdup::diagnose::Layer::id), Some("scheduling"));
    assert_eq!(stage.keys("<enter>").page().focused().map(|pane| pane.id), Some("blockers"));
}

#[test]
fn muted_blockers_go_to_the_quiet_screen_and_come_back() {
    let mut stage = after("jm");
    assert!(stage.frame().contains("muted for this session"));
    assert_eq!(row(&stage), "quota-exceeded:ResourceQuota/shop/compute");
    stage.keys("zm<esc>");
    stage.keys("gj");
    assert_eq!(row(&stage), "image-denied:registry:registry.example.net");
}

#[test]
fn logs_of_a_blocker_are_those_of_a_pod_that_shows_it() {
    let stage = after("l");
    let [Effect::Fetch(wanted)] = stage.effects.as_slice() else { panic!("{:?}", stage.effects) };
    assert_eq!(wanted.pod.as_deref(), Some("Pod/shop/cart-6d4cf56db6-x2x7k"));
    assert_eq!(stage.app.view().at, At::Object { object: "Pod/shop/cart-6d4cf56db6-x2x7k".into(), tab: Tab::Logs });
    let tabs = after("ly<left><left><left><right>");
    assert!(matches!(tabs.app.view().at, At::Object { tab: Tab::Events, .. }), "{:?}", tabs.app.view().at);
}

#[test]
fn what_is_here_is_not_fetched_again() {
    let mut stage = after("ly");
    stage.effects.clear();
    stage.keys("ly");
    assert_eq!(stage.effects, []);
    stage.keys("r");
    assert!(matches!(stage.effects.as_slice(), [Effect::Fetch(_)]));
}

#[test]
fn any_object_is_opened_by_kind_and_name() {
    let opened = |script: &str| {
        let stage = after(script);
        if let At::Object { object, .. } = &stage.app.view().at { object.clone() } else { format!("{:?}", stage.app.view().at) }
    };
    assert_eq!(opened(":pod probe<enter>"), "Pod/shop/probe-1");
    assert_eq!(opened(":deploy cart<enter>"), "Deployment/shop/cart");
    assert_eq!(opened(":no n4<enter>"), "Node//n4");
    assert_eq!(opened(":secret shop/cart-db<enter>"), "Secret/shop/cart-db", "also where the kind may not be listed");
    assert_eq!(opened(":pods<enter>probe<enter>"), "Pod/shop/probe-1", "a kind leads to its objects");
    assert_eq!(opened(":zzzzzz<enter>"), "Triage");
}

#[test]
fn the_palette_goes_to_screens_commands_causes_and_namespaces() {
    assert_eq!(after(":coverage<enter>").app.view().at, At::Coverage);
    assert!(after(":pause<enter>").app.paused);
    assert_eq!(row(&after(":quota-exceeded<enter>")), "quota-exceeded:ResourceQuota/shop/compute");
    assert_eq!(after(":db<enter>").effects[1..], [Effect::SetNamespaces(Some(BTreeSet::from(["db".to_owned()])))]);
    assert_eq!(after(":mute<enter>").app.muted.len(), 1, "a command acts on the row below the palette");
    assert_eq!(after(":cov<esc>").app.view().at, At::Triage);
}

#[test]
fn several_namespaces_are_chosen_at_once() {
    let stage = after("n<down><tab><down><tab><enter>");
    let both = Some(BTreeSet::from(["db".to_owned(), "shop".to_owned()]));
    assert_eq!(stage.effects, [Effect::SetNamespaces(both.clone())]);
    assert_eq!(stage.app.namespaces, both);
    let mut narrowed = after("ndb<enter>");
    assert_eq!(narrowed.effects, [Effect::SetNamespaces(Some(BTreeSet::from(["db".to_owned()])))]);
    assert!(narrowed.frame().contains("prod-eu · db"));
    assert_eq!(narrowed.keys("n<up><enter>").app.namespaces, None);
}

#[test]
fn a_snapshot_asks_for_its_name() {
    let named = after("s<enter>");
    assert_eq!(named.effects, [Effect::Snapshot { path: "holdup-prod-eu.json.gz".into() }]);
    assert_eq!(after("s<ctrl-u>x.json<enter>").effects, [Effect::Snapshot { path: "x.json".into() }]);
    assert_eq!(after("s<ctrl-u><enter>").effects, []);
    assert_eq!(after("s<esc>").effects, []);
    assert_eq!(App::new("arn:aws:eks/prod eu").snapshot_name, "holdup-arn-aws-eks-prod-eu.json.gz");
}

#[test]
fn prompts_are_edited_and_their_letters_do_nothing_else() {
    let mut stage = after("/qqq<ctrl-w>is:b?<backspace>");
    assert_eq!(stage.app.view().filter.text, "is:b");
    assert_eq!(stage.effects, []);
    stage.send(Msg::Paste("locked\n".into()));
    assert_eq!(stage.app.view().filter.text, "is:blocked");
    assert_eq!(stage.keys("<ctrl-c>").effects, [Effect::Quit]);
}

#[test]
fn quit_suspend_redraw_and_unbound_keys() {
    assert_eq!(after("q").effects, [Effect::Quit]);
    assert_eq!(after("<ctrl-z>").effects, [Effect::Suspend]);
    assert_eq!(after("<ctrl-l>").effects, [Effect::Redraw]);
    assert_eq!(after("<f9>X<alt-j>").effects, []);
    assert_eq!(after("?<esc>").app.over, None);
    assert_eq!(after("??").app.over, None);
}

#[test]
fn help_lists_what_works_here_and_does_it() {
    let frame = after("?").frame();
    assert!(frame.contains("open what the row is about") && !frame.contains("next match of the search"));
    assert!(after("<enter>j<enter>y?").frame().contains("search in this text"));
    assert!(after("?G").frame().contains("not checked"));
}

#[test]
fn every_action_can_be_run_on_any_page_without_harm() {
    let scripts = ["", "<enter>", "<enter>j<enter>", "<enter>j<enter>y", "z", "C", "?", ":x", "n", "/a", "s"];
    for script in scripts {
        let stage = after(script);
        for page in [stage.page(), Page::default()] {
            for action in ACTIONS {
                let mut app = stage.app.clone();
                (action.run)(&mut app, &page);
                update(&mut app, Msg::Drawn(Shown::default()), &page);
            }
        }
    }
}

#[test]
fn an_empty_cluster_takes_every_key() {
    let mut stage = Stage::new(crate::picture::of(&[], &[]), Report::default(), incident::now());
    stage.keys("jkGg<enter><esc><ctrl-d>ly<tab>J5/x<enter><esc>:a<enter><esc>n<enter>zCm");
    assert_eq!(stage.frame().lines().count(), 40);
}

#[test]
fn kinds_that_nobody_follows_are_asked_for_with_the_palette_and_their_objects_named_there() {
    let widget = Offered {
        kind: "Widget.example.net".into(),
        plural: "widgets.example.net".into(),
        words: vec!["widgets".into(), "widget".into(), "wd".into()],
        namespaced: true,
    };
    let mut stage = after(":");
    assert_eq!(stage.effects, [Effect::Discover]);
    assert!(stage.keys("wd shop/a").frame().contains("asking for the kinds that are not followed"), "{}", stage.frame());
    stage.send(Msg::Offered(Ok(vec![widget])));
    assert!(stage.frame().contains("Widget.example.net shop/a"), "{}", stage.frame());
    stage.keys("<enter>");
    assert_eq!(stage.app.view().at, At::Object { object: "Widget.example.net/shop/a".into(), tab: Tab::Why });
    let mut stage = after(":");
    stage.send(Msg::Offered(Err("no answer within 60 s".into())));
    assert!(stage.keys("nowhere shop/a").frame().contains("are not known: no answer within 60 s"), "{}", stage.frame());
}
