//! The dashboard in a terminal of its own: when the first frame, the first blocker and the whole picture are there, and what it uses when idle.

use std::time::Duration;

use serde_json::{Value, json};

use crate::processes::Server;
use crate::terminal::Terminal;
use crate::{clock, drain::millis};

/// Opens the dashboard on a server, waits until it is complete, and lets it stand for `idle`.
pub fn measure(server: &Server, idle: Duration) -> Result<Value, String> {
    server.seen()?;
    let mut terminal = Terminal::start(&server.url)?;
    let process = terminal.process();
    let frame = terminal.until("the first frame", |screen| !screen.trim().is_empty())?;
    let blocker = terminal.until("the first blocker", has_blockers)?;
    let settled = terminal.settle()?;
    let asked = server.seen()?;
    let (used, bytes) = stand(&mut terminal, idle);
    let later = server.seen()?;
    let peak = clock::peak_kb(&process.to_string());
    let first_pods = Duration::from_nanos(asked["pods_ns"].as_u64().unwrap_or(0));
    Ok(json!({
        "first_frame_ms": millis(frame.saturating_sub(terminal.started)),
        "first_blocker_ms": millis(blocker.saturating_sub(first_pods)),
        "settled_ms": millis(settled.saturating_sub(terminal.started)),
        "peak_kb": peak, "idle_s": idle.as_secs(), "idle_cpu_ms": millis(used), "idle_bytes": bytes,
        "requests": asked["requests"], "beyond": asked["beyond"], "steady_requests": later["requests"], "steady": later["all"],
    }))
}

/// The same where nothing is stuck: what it uses when idle.
pub fn idle(server: &Server, idle: Duration) -> Result<Value, String> {
    let mut terminal = Terminal::start(&server.url)?;
    terminal.until("a picture with nothing stuck", |screen| screen.contains("nothing stuck ") && screen.contains("● live"))?;
    terminal.settle()?;
    let (used, bytes) = stand(&mut terminal, idle);
    Ok(json!({"idle_s": idle.as_secs(), "idle_cpu_ms": millis(used), "idle_bytes": bytes}))
}

/// CPU and bytes while nothing happens.
fn stand(terminal: &mut Terminal, idle: Duration) -> (Duration, usize) {
    let before = clock::cpu_of(terminal.process());
    let bytes = terminal.listen(idle);
    (clock::cpu_of(terminal.process()).saturating_sub(before), bytes)
}

/// The head says how many are blocked.
fn has_blockers(screen: &str) -> bool {
    screen.match_indices(" blocked").any(|(at, _)| screen[..at].ends_with(|c: char| c.is_ascii_digit()))
}
