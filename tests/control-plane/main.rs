//! holdup against a real control plane: scenarios made by real controllers, and judged by the real binary.
//!
//! `cargo test --features control-plane --test control-plane [WORD…]` runs the cases whose name holds one of the words.
//! There is one control plane for all of them, so this target has a harness of its own: it starts the plane, runs what
//! can stand side by side, then what needs the plane for itself, stops it and looks whether anything was left behind.
//! With `-- --stay` it only makes the troubles, says with which kubeconfig to look at them, and stops at the next Enter.

mod api;
mod audit;
mod cases;
mod child;
mod drift;
mod drift_audit;
mod drift_dry_run;
mod drift_helm;
mod drift_owners;
mod holdup;
mod kubelet;
mod logs;
mod pki;
mod plane;
mod plugins;
mod pod_status;
mod programs;
mod restart;
mod rights;
mod scenario;
mod serve;
#[expect(dead_code, reason = "shared with tests/it, which needs more of it")]
mod terminal;
mod troubles;
mod wait;

use cases::{Case, Outcomes};
use plane::Plane;
use std::process::ExitCode;

fn main() -> ExitCode {
    let (options, words): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with('-'));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let wanted: Vec<Case> = cases::all().into_iter().filter(|case| case.is_wanted(&words)).collect();
    let has = |option: &str| options.iter().any(|given| given == option);
    if has("--list") {
        wanted.iter().for_each(|case| say(&format!("{}: test", case.name)));
        return ExitCode::SUCCESS;
    }
    let plane = Plane::start();
    troubles::add_nodes(&plane);
    if has("--stay") { stay(&plane, wanted) } else { test(plane, wanted) }
}

fn test(plane: Plane, cases: Vec<Case>) -> ExitCode {
    let folder = plane.folder().to_owned();
    holdup::grant(&plane);
    let mut outcomes = Outcomes::of(&plane, cases);
    drop(plane);
    outcomes.add("a run leaves nothing behind", || audit::nothing_is_left(&folder));
    outcomes.summary()
}

fn stay(plane: &Plane, cases: Vec<Case>) -> ExitCode {
    let outcomes = Outcomes::of_making(plane, cases);
    let kubeconfig = plane.folder().join("admin.kubeconfig");
    say(&format!("the troubles stand; export KUBECONFIG={}; Enter ends it", kubeconfig.display()));
    let _ = std::io::stdin().read_line(&mut String::new());
    outcomes.summary()
}

#[expect(clippy::print_stdout, reason = "a test harness speaks on standard output")]
fn say(line: &str) {
    println!("{line}");
}
