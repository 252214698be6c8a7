//! The API server dies under a running dashboard and comes back.

use crate::plane::Plane;
use crate::scenario::await_text;
use crate::terminal::Terminal;
use crate::wait::{eventually, seconds};
use crate::{audit, holdup};
use regex_lite::Regex;

const NAMESPACE: &str = "dashboard";

/// It says that what it shows is stale, recovers by itself, and then shows what a fresh dashboard shows.
pub fn dashboard_recovers(plane: &Plane) {
    plane.apply(include_str!("scenarios/dashboard.yaml"));
    await_text(plane, "/api/v1/namespaces/dashboard/pods", "ImagePullBackOff");
    let mut running = dashboard(plane);
    running.wait_for(seconds(60), "● live");
    running.wait_for(seconds(60), "registry.test/front:1");

    let requests = audit::requests(plane).len();
    plane.kill_server();
    running.wait_for(seconds(120), "▲");
    plane.restart_server();
    plane.apply(include_str!("scenarios/dashboard-later.yaml"));

    running.wait_for(seconds(120), "● live");
    let fresh = dashboard(plane);
    fresh.wait_for(seconds(60), "● live");
    eventually(seconds(90), "both dashboards show the same", || {
        let (old, new) = (picture(&running.screen()), picture(&fresh.screen()));
        if old == new && old.contains("back") { Ok(()) } else { Err(format!("running:\n{old}\nfresh:\n{new}")) }
    });
    relisted_after_expiry(plane, requests);

    running.press("q");
    assert_eq!(running.await_end(seconds(10)), 0);
}

fn dashboard(plane: &Plane) -> Terminal {
    Terminal::start(&holdup::command(plane, &plane.holdup_kubeconfig(), &["-n", NAMESPACE]))
}

/// The restarted server remembers no version from before, so a watch that resumes is told 410 Expired, and whoever was so
/// told must list anew. The requests for pods after the restart show both.
fn relisted_after_expiry(plane: &Plane, before: usize) {
    let old = plane.api.text("/api/v1/pods?watch=true&resourceVersion=1&timeoutSeconds=1");
    assert!(format!("{old:?}").contains("too old resource version"), "a watch from the first version is answered with {old:?}");
    let requests = audit::requests(plane);
    let of_pods = requests[before..].iter().filter(|uri| uri.contains("/pods?"));
    let of_pods: Vec<&String> = of_pods.collect();
    let resumed = of_pods.iter().position(|uri| uri.contains("watch=") && !uri.contains("sendInitialEvents=true"));
    let relisted = of_pods.iter().rposition(|uri| !uri.contains("watch=") || uri.contains("sendInitialEvents=true"));
    assert!(resumed.is_some() && resumed < relisted, "after the restart holdup asked for pods with\n{of_pods:#?}");
}

/// A screen without what differs between two dashboards that show the same: clocks, ages, what is marked as new.
fn picture(screen: &str) -> String {
    let times = Regex::new(r"\d+:\d\d(:\d\d)?|\b\d+[smhd]\b|\bnew\b").expect("a regular expression");
    let spaces = Regex::new(r" +").expect("a regular expression");
    let body = screen.lines().skip(1).map(|line| spaces.replace_all(&times.replace_all(line, ""), " ").trim().to_owned());
    body.collect::<Vec<_>>().join("\n")
}
