//! Starts this program again for each thing that is measured, and reads what it tells.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Where the program under test leaves what it used.
pub const USAGE_FILE: &str = "HOLDUP_BENCH_USAGE";

/// This program, with nothing of the machine's settings around it.
pub fn again(arguments: &[&str]) -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).env("KUBECONFIG", "/nonexistent/kubeconfig").env("HOME", folder()?).env("TZ", "UTC");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy", "KUBERNETES_SERVICE_HOST"] {
        command.env_remove(name);
    }
    Ok(command)
}

/// Where files of this run lie.
pub fn folder() -> Result<PathBuf, String> {
    let folder = std::env::temp_dir().join(format!("holdup-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

/// Runs it to its end and reads the JSON it prints.
pub fn told(arguments: &[&str]) -> Result<Value, String> {
    let ended = again(arguments)?.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !ended.status.success() {
        return Err(format!("{} ended with {}", arguments[0], ended.status));
    }
    serde_json::from_slice(&ended.stdout).map_err(|error| format!("{}: {error}", arguments[0]))
}

/// One sync to a complete triage, printed as JSON: what it printed, what it used, and how long it took.
pub fn sync(url: &str) -> Result<(Value, Value, Duration), String> {
    let usage = folder()?.join("usage");
    let began = Instant::now();
    let mut command = again(&["holdup", "report", "-A", "-o", "json", "--request-timeout", "0", "--server", url])?;
    let ended = command.env(USAGE_FILE, &usage).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| error.to_string())?;
    let wall = began.elapsed();
    let report = serde_json::from_slice(&ended.stdout).map_err(|error| format!("the report is no JSON: {error}"))?;
    let used = std::fs::read(&usage).map_err(|error| error.to_string())?;
    Ok((report, serde_json::from_slice(&used).map_err(|error| error.to_string())?, wall))
}

/// A server that runs until this is dropped.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    pub fn start(file: &str, minor: &str) -> Result<Self, String> {
        let mut command = again(&["serve", file, minor])?;
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let mut url = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut url).map_err(|error| error.to_string())?;
        }
        let server = Self { child, url: url.trim().to_owned() };
        if server.url.is_empty() { Err("the server did not start".to_owned()) } else { Ok(server) }
    }

    /// What was asked since this was called last.
    pub fn seen(&self) -> Result<Value, String> {
        ask(&self.url, "/bench/seen")
    }
}

/// What a server tells about itself.
pub fn ask(url: &str, path: &str) -> Result<Value, String> {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).map_err(|error| error.to_string())?;
    let asked = write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    asked.map_err(|error| error.to_string())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let told: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    told["error"].as_str().map_or(Ok(told.clone()), |error| Err(error.to_owned()))
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
