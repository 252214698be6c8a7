//! The real program in a real terminal: what it shows, what keys do, and that the terminal is given back however it ends.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::terminal::Terminal;
use crate::wait::eventually;

const SOON: Duration = Duration::from_secs(60);

/// The program with nothing of this machine's around it.
fn holdup(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command.args(args).env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("TZ", "UTC").env_remove("NO_COLOR");
    for (name, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e").join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        command.env(name, folder);
    }
    command.env("KUBECONFIG", "/nonexistent/kubeconfig");
    command
}

#[track_caller]
fn is_given_back(terminal: &Terminal) {
    eventually(SOON, "the screen is given back", || if terminal.is_taken() { Err(terminal.screen()) } else { Ok(()) });
}

#[test]
fn the_demo_opens_on_two_blockers_answers_keys_and_gives_the_terminal_back() {
    let mut terminal = Terminal::start(&holdup(&["demo"]));
    terminal.wait_for(SOON, "scheduling");
    terminal.wait_for(SOON, "2 blocked");
    terminal.press("?");
    terminal.wait_for(SOON, "Keys that work here");
    terminal.press("\u{1b}");
    terminal.wait_for(SOON, "Holding things up");
    terminal.press("\r");
    terminal.wait_for(SOON, "Worth waiting?");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
    is_given_back(&terminal);
}

#[test]
fn an_arrow_key_that_comes_in_pieces_is_still_an_arrow_key() {
    let mut terminal = Terminal::start(&holdup(&["demo", "--at", "4m"]));
    terminal.wait_for(SOON, "blocked");
    terminal.press("\r");
    terminal.wait_for(SOON, "Evidence");
    terminal.press("\u{1b}");
    terminal.press("[B");
    terminal.press("?");
    terminal.wait_for(SOON, "Keys that work here");
    assert!(terminal.screen().contains('›'), "the blocker was left: {}", terminal.screen());
    // Escape and a letter at once would be one chord with alt.
    terminal.press("\u{1b}");
    terminal.wait_for(SOON, "Evidence");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

#[test]
fn signals_end_it_and_the_terminal_is_given_back() {
    for signal in ["TERM", "HUP"] {
        let mut terminal = Terminal::start(&holdup(&["demo"]));
        terminal.wait_for(SOON, "Holding things up");
        let sent = Command::new("kill").args([&format!("-{signal}"), &terminal.id().to_string()]).status().expect("kill is there");
        assert!(sent.success());
        assert_eq!(terminal.await_end(SOON), 0, "SIG{signal}");
        is_given_back(&terminal);
    }
}

#[test]
fn a_small_terminal_says_so_and_does_not_break() {
    for (columns, rows) in [(20, 5), (60, 20), (1, 1)] {
        let mut terminal = Terminal::sized(&holdup(&["demo"]), columns, rows);
        eventually(SOON, "the screen is taken", || if terminal.is_taken() { Ok(()) } else { Err(terminal.screen()) });
        if columns > 1 {
            terminal.wait_for(SOON, "80");
        }
        terminal.press("q");
        assert_eq!(terminal.await_end(SOON), 0, "{columns}×{rows}");
    }
}

#[test]
fn text_from_the_cluster_never_reaches_the_terminal_raw() {
    let file = file("hostile.json", &hostile());
    let mut terminal = Terminal::start(&holdup(&["--from", &file.to_string_lossy()]));
    terminal.wait_for(SOON, "blocked");
    terminal.press("\r");
    terminal.wait_for(SOON, "Evidence");
    assert!(terminal.is_taken(), "an escape sequence of the cluster left the screen");
    assert!(!terminal.screen().contains("PWNED-BY-CLEAR\n"), "{}", terminal.screen());
    terminal.wait_for(SOON, "[?1049l");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

#[test]
fn secrets_in_messages_never_reach_the_screen() {
    let message = "couldn't parse: password=hunter2-canary https://u:canary-two@db/x Bearer canary-three-0123456789abcdef";
    let file = file("secret.json", &broken(message));
    let mut terminal = Terminal::start(&holdup(&["--from", &file.to_string_lossy()]));
    terminal.wait_for(SOON, "1 blocked");
    for keys in ["\r", "\r", "y"] {
        terminal.press(keys);
        terminal.wait_for(SOON, "redacted");
        assert!(!terminal.screen().contains("canary"), "{}", terminal.screen());
    }
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

/// A pod whose image cannot be pulled, told in escape sequences, bidirectional controls and a NUL.
fn hostile() -> String {
    broken("\u{1b}[?1049l\u{1b}[2J\u{1b}]0;PWNED\u{7}\u{202e}evil\0 \u{9b}31m pull failed")
}

fn broken(message: &str) -> String {
    serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [{
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "uid": "1", "creationTimestamp": "2026-05-04T10:00:00Z"},
        "spec": {"nodeName": "n1", "containers": [{"name": "app", "image": "registry.example.net/web:1"}]},
        "status": {"phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False", "lastTransitionTime": "2026-05-04T10:00:01Z"}],
            "containerStatuses": [{"name": "app", "ready": false, "restartCount": 0, "image": "", "state": {"waiting": {"reason": "InvalidImageName", "message": message}}}]},
    }]})
    .to_string()
}

fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn the_diff_of_what_somebody_edited_by_hand_is_shown_from_a_cluster_and_from_files() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo/demo.jsonl.gz");
    for arguments in [&["demo", "--at", "3m"][..], &["--from", recording]] {
        let mut terminal = Terminal::start(&holdup(arguments));
        terminal.wait_for(SOON, "blocked");
        terminal.press(":");
        terminal.press("deploy transcoder");
        terminal.wait_for(SOON, "media/transcoder");
        terminal.press("\r");
        terminal.wait_for(SOON, "How it is meant to be");
        terminal.press("d");
        terminal.wait_for(SOON, "last-applied annotation of kubectl");
        terminal.wait_for(SOON, "nodeSelector");
        terminal.wait_for(SOON, "kubectl-edit");
        terminal.press("q");
        assert_eq!(terminal.await_end(SOON), 0);
    }
}

#[test]
fn an_edit_just_before_the_blocker_began_comes_first_on_its_page() {
    let mut terminal = Terminal::start(&holdup(&["demo", "--at", "1m"]));
    terminal.wait_for(SOON, "blocked");
    terminal.press(":");
    terminal.press("deploy transcoder");
    terminal.wait_for(SOON, "media/transcoder");
    terminal.press("\r");
    terminal.wait_for(SOON, "spec.nodeSelector: absent → pool: gpu, by kubectl-edit");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}
