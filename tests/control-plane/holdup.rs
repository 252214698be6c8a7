//! Runs of the real binary as the user `holdup`, and what its JSON says.

use crate::plane::{HOLDUP, Plane};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary with a home of its own inside the plane's folder, so that nothing of the machine's owner is read.
pub fn command(plane: &Plane, kubeconfig: &Path, arguments: &[&str]) -> Command {
    let home = plane.folder().join("home");
    std::fs::create_dir_all(&home).expect("the home can be made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("KUBECONFIG", kubeconfig)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn run(plane: &Plane, kubeconfig: &Path, arguments: &[&str]) -> Output {
    command(plane, kubeconfig, arguments).output().expect("holdup starts")
}

/// `holdup report -o json` as the user whose rights are what `holdup rbac` prints.
pub fn report(plane: &Plane, arguments: &[&str]) -> Result<Value, String> {
    report_as(plane, &plane.holdup_kubeconfig(), arguments)
}

pub fn report_as(plane: &Plane, kubeconfig: &Path, arguments: &[&str]) -> Result<Value, String> {
    let output = run(plane, kubeconfig, &[&["report", "-o", "json", "--request-timeout=30s"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("{}: not JSON, {e}; {errors}", output.status))?;
    let blocked = blockers(&report).any(|blocker| blocker["verdict"] == "blocked");
    match output.status.code() {
        Some(0) if !blocked => Ok(report),
        Some(1) if blocked => Ok(report),
        Some(3) => Ok(report),
        other => Err(format!("exit code {other:?} does not fit: {errors}\n{}", lines(&blockers(&report).collect::<Vec<_>>()))),
    }
}

pub fn blockers(report: &Value) -> impl Iterator<Item = &Value> {
    report["blockers"].as_array().into_iter().flatten()
}

pub fn references<'a>(blocker: &'a Value, field: &str) -> Vec<&'a str> {
    blocker[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Blockers as a failure shows them.
pub fn lines(blockers: &[&Value]) -> String {
    let line = |blocker: &&Value| {
        format!(
            "  {} {} [{}] root {} affected {} consequences {}\n    {} / {}",
            blocker["verdict"],
            blocker["cause"],
            blocker["layer"],
            blocker["root"],
            blocker["affected"],
            blocker["consequences"],
            blocker["title"],
            blocker["summary"]
        )
    };
    blockers.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Gives the user `holdup` exactly what `holdup rbac` prints.
pub fn grant(plane: &Plane) {
    let roles = printed(plane, &["rbac"]);
    plane.apply(&roles);
    let name = plane.kubectl(&["get", "clusterroles", "-o", "name"]).expect("roles can be listed");
    let role = name.lines().filter_map(|line| line.split_once('/')).map(|(_, name)| name).find(|name| name.starts_with(HOLDUP));
    let role = role.unwrap_or_else(|| panic!("no ClusterRole called holdup in\n{roles}"));
    let binding = ["create", "clusterrolebinding", "holdup", "--user", HOLDUP, "--clusterrole", role];
    plane.kubectl(&binding).expect("the role can be bound");
}

/// What a command prints that needs no cluster.
pub fn printed(plane: &Plane, arguments: &[&str]) -> String {
    let output = run(plane, Path::new("/nonexistent"), arguments);
    assert!(output.status.success(), "holdup {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
