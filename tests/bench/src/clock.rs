//! What this process used: CPU time, the largest memory it ever had, and a clock that all processes share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this process, in user and system mode.
pub fn cpu() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// Time since the machine started: the same in every process.
pub fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

fn read(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The most resident memory a process has had, in kB (`VmHWM`).
pub fn peak_kb(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

/// CPU time of another process: ticks of 10 ms, as Linux tells them.
pub fn cpu_of(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// CPU time of all that this process started and that has ended, and of what those started in turn.
pub fn cpu_of_ended() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(13) + ticks(14)) * 10)
}
