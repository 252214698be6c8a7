//! Exec plugins that behave as those in the field do: they talk on standard error, take their time, fail, or hang.

use crate::holdup;
use crate::plane::Plane;
use crate::terminal::Terminal;
use crate::wait::{eventually, seconds};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

const CREDENTIAL: &str = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-of-holdup"}}"#;

/// What it says on standard error reaches neither the JSON nor the screen raw; the credential is asked for once.
pub fn slow_and_chatty(plane: &Plane) {
    let calls = plane.folder().join("plugin-calls");
    let body = format!(
        "echo call >>'{}'\nprintf 'opening a \\033[31mbrowser\\n' >&2\nread -t 2 _ </dev/zero\necho '{CREDENTIAL}'\n",
        calls.display()
    );
    let kubeconfig = kubeconfig(plane, "slow-plugin", &body);
    holdup::report_as(plane, &kubeconfig, &["-n", "default"]).unwrap_or_else(|why| panic!("{why}"));
    let asked = fs::read_to_string(&calls).expect("the plugin was called").lines().count();
    assert_eq!(asked, 1, "the credential was asked for {asked} times");
}

/// The report ends with 2 and says which plugin, and what it said.
pub fn failing(plane: &Plane) {
    let kubeconfig = kubeconfig(plane, "failing-plugin", "echo 'session expired, run: login --again' >&2\nexit 7\n");
    let output = holdup::run(plane, &kubeconfig, &["report", "-o", "json", "--request-timeout=20s"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("failing-plugin") && errors.contains("session expired, run: login --again"), "{errors}");
    assert!(output.stdout.is_empty(), "nothing is printed where nothing was seen");
}

/// The report gives up at its time-out, and nobody is left behind.
pub fn hanging(plane: &Plane) {
    let kubeconfig = kubeconfig(plane, "hanging-plugin", "read -r _ <'FIFO'\n");
    let start = Instant::now();
    let output = holdup::run(plane, &kubeconfig, &["report", "-o", "json", "--request-timeout=3s"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("hanging-plugin"), "{errors}");
    assert!(start.elapsed() < seconds(20), "it took {:?}", start.elapsed());
}

/// The dashboard's first frame does not wait for it: it says what it waits for.
pub fn named_while_it_runs(plane: &Plane) {
    let kubeconfig = kubeconfig(plane, "waiting-plugin", "read -r _ <'FIFO'\n");
    let terminal = Terminal::start(&holdup::command(plane, &kubeconfig, &[]));
    eventually(seconds(20), "the screen names the plugin", || {
        let screen = terminal.screen();
        if screen.contains("waiting for") && screen.contains("waiting-plugin") { Ok(()) } else { Err(screen) }
    });
}

/// A kubeconfig with a plugin called NAME, a script of this body; `FIFO` in it is a pipe that nobody writes to.
fn kubeconfig(plane: &Plane, name: &str, body: &str) -> PathBuf {
    let fifo = plane.folder().join(format!("{name}.fifo"));
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(made.success(), "{} cannot be made", fifo.display());
    let script = script(plane, name, &body.replace("FIFO", &fifo.display().to_string()));
    let user =
        format!("{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: '{}', interactiveMode: Never}}}}", script.display());
    plane.kubeconfig(name, &user, "default")
}

fn script(plane: &Plane, name: &str, body: &str) -> PathBuf {
    let path = plane.folder().join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}")).expect("the script can be written");
    make_executable(&path);
    path
}

fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("the mode can be set");
}
