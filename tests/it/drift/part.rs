//! A snapshot that holds a part of a cluster, by itself and served: neither says that what it lacks is gone, or that everything can be
//! made again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::served::SOON;
use crate::terminal::Terminal;

fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("part");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

fn holdup(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command.args(args).env("KUBECONFIG", "/nonexistent/kubeconfig").env("TERM", "xterm-256color").env("TZ", "UTC").env_remove("NO_COLOR");
    for (name, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")] {
        std::fs::create_dir_all(place(folder)).expect("a folder");
        command.env(name, place(folder));
    }
    command
}

/// What the program prints, and its exit code.
fn run(args: &[&str]) -> (i32, String) {
    let output = holdup(args).output().expect("it starts");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn config(name: &str) -> Value {
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": {"k": "1"}});
    let mut live = applied.clone();
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    live
}

/// As `holdup snapshot` writes it: one kind is whole in one namespace, of all others the file says nothing.
fn part() -> PathBuf {
    let coverage = json!([{"kind": "ConfigMap", "state": "synced", "namespace": "shop"}]).to_string();
    let notes = json!({"holdup.dev/captured-at": "2026-05-04T10:12:00Z", "holdup.dev/coverage": coverage,
        "holdup.dev/totals": json!({"pods": 12, "workloads": 3}).to_string()});
    let file = place("part.json");
    let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {"annotations": notes}, "items": [config("cart")]});
    std::fs::write(&file, list.to_string()).expect("written");
    file
}

/// `holdup serve`, until the test ends.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(file: &Path) -> Self {
        let mut child = holdup(&["serve", "--port", "0"]).arg(file).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("an address");
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("an address").to_owned();
        Self { child, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_part_says_that_it_is_one_by_itself_and_served() {
    let file = part();
    let served = Served::start(&file);
    let path = file.to_str().expect("a path");
    let own = run(&["diff", "--all", "--from", path]);
    let other = run(&["diff", "--all", "--server", &served.url]);
    for (way, (_, text)) in [("from", &own), ("server", &other)] {
        assert!(text.contains("the rest of the cluster: the file holds what explains its blockers, not everything"), "{way}: {text}");
        assert!(text.contains("rebuilt from source? Not known: only a part of it is here, and of that the 1 object can."), "{way}: {text}");
    }
    let mut terminal = Terminal::start(&holdup(&["--server", &served.url]));
    terminal.wait_for(SOON, "Nothing is stuck");
    terminal.press("w");
    terminal.wait_for(SOON, "the rest of the cluster");
    terminal.wait_for(SOON, "not known: only a part of it is here");
    terminal.press("q");
    assert_eq!(terminal.await_end(SOON), 0);
}

#[test]
fn what_a_served_part_lacks_is_not_called_deleted() {
    let served = Served::start(&part());
    let manifest = place("secret.json");
    std::fs::write(&manifest, json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}}).to_string())
        .expect("written");
    let (code, text) = run(&["diff", "-f", manifest.to_str().expect("a path"), "--server", &served.url]);
    assert!(code == 3 && text.contains("not read") && !text.contains("deleted"), "{code}: {text}");
}

#[test]
fn a_snapshot_of_everything_does_not_call_itself_a_part() {
    let (source, all) = (part(), place("all.json"));
    let (code, text) = run(&["snapshot", "--all", "--force", all.to_str().expect("a path"), "--from", source.to_str().expect("a path")]);
    assert_eq!(code, 0, "{text}");
    let (_, text) = run(&["diff", "--all", "--from", all.to_str().expect("a path")]);
    assert!(!text.contains("the rest of the cluster"), "{text}");
}
