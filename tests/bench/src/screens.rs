//! Screens: the figures of the dashboard in a terminal: at rest, while keys and changes come, and with nothing stuck.

use std::time::Duration;

use serde_json::{Value, json};

use crate::dashboard;
use crate::figures::Figure;
use crate::latency::{self, percentile};
use crate::processes::Server;
use crate::run::{SHAPES, Settings, cluster, median, say};

/// Rounds with changes take long; each has hundreds of changes and keys.
const ROUNDS: usize = 3;
/// Keys in a sync are few: so many syncs for one round.
const SYNCS: usize = 3;

/// From start to rest, and a while of rest, on both shapes of lists.
pub fn at_rest(settings: &Settings, file: &str, run: &mut Value) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (shape, minor) in SHAPES {
        let server = Server::start(file, minor)?;
        let rounds: Vec<Value> = (0..settings.rounds)
            .map(|round| dashboard::measure(&server, Duration::from_secs(if round == 0 { settings.idle } else { 1 })))
            .collect::<Result<_, _>>()?;
        figures.extend(opened(shape, &rounds));
        figures.extend(idle(shape, settings.idle, &rounds[0]));
        say(&format!("dashboard, {shape}: {}", rounds[0]));
        run[format!("dashboard_{shape}")] = Value::Array(rounds);
    }
    Ok(figures)
}

fn opened(shape: &str, rounds: &[Value]) -> Vec<Figure> {
    let of = |name: &str| median(rounds.iter().filter_map(|round| round[name].as_f64()).collect());
    let beyond = rounds.iter().filter_map(|round| round["beyond"].as_f64()).fold(0.0, f64::max);
    vec![
        Figure::new(&format!("{shape}: first frame after start"), "ms", of("first_frame_ms")).within(50.0, 20.0),
        Figure::new(&format!("{shape}: first blocker on screen after the first page of pods began"), "ms", of("first_blocker_ms"))
            .within(100.0, 40.0),
        Figure::new(&format!("{shape}: peak resident memory (dashboard)"), "MB", of("peak_kb") / 1000.0).within(110.0, 80.0),
        Figure::new(&format!("{shape}: dashboard at rest after"), "ms", of("settled_ms")),
        Figure::new(&format!("{shape}: requests beyond the exact number"), "", beyond).within(0.0, 0.0),
    ]
}

fn idle(shape: &str, seconds: u64, round: &Value) -> Vec<Figure> {
    let of = |name: &str| round[name].as_f64().unwrap_or(f64::NAN);
    vec![
        Figure::new(&format!("{shape}: CPU in {seconds} s idle, 3 % stuck"), "ms", of("idle_cpu_ms")),
        Figure::new(&format!("{shape}: bytes to the terminal in {seconds} s idle, 3 % stuck"), "B", of("idle_bytes")),
        Figure::new(&format!("{shape}: requests a second in {seconds} s idle"), "/s", of("steady") / of("idle_s")).within(0.3, 0.3),
    ]
}

/// While somebody presses keys, and while 1,000 changes a second come, on both shapes of lists.
pub fn in_motion(settings: &Settings, file: &str, run: &mut Value) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (shape, minor) in SHAPES {
        let server = Server::start(file, minor)?;
        let syncs: Vec<Value> = (0..settings.rounds * SYNCS).map(|_| latency::in_sync(&server)).collect::<Result<_, _>>()?;
        let changed: Vec<Value> = (0..settings.rounds.min(ROUNDS)).map(|_| latency::under_change(&server)).collect::<Result<_, _>>()?;
        let of = |rounds: &[Value], path: &str| -> Vec<f64> {
            rounds.iter().filter_map(|round| round.pointer(path)?.as_array()).flatten().filter_map(Value::as_f64).collect()
        };
        let moved = [
            times(&format!("{shape}: change at 1,000 changes/s → bytes to the terminal"), &of(&changed, "/changes"), (100.0, 50.0)),
            times(&format!("{shape}: key → frame in the sync"), &of(&syncs, "/all"), (33.0, 16.7)),
            times(&format!("{shape}: key → frame in the sync, esc left out"), &of(&syncs, "/plain"), (33.0, 16.7)),
            times(&format!("{shape}: key → frame at 1,000 changes/s"), &of(&changed, "/keys/all"), (33.0, 16.7)),
            times(&format!("{shape}: key → frame at 1,000 changes/s, esc left out"), &of(&changed, "/keys/plain"), (33.0, 16.7)),
        ];
        figures.extend(moved.into_iter().flatten());
        let cpu = median(changed.iter().filter_map(|round| round["cpu_percent"].as_f64()).collect());
        figures.push(Figure::new(&format!("{shape}: CPU of a core at 1,000 changes/s"), "%", cpu));
        run[format!("motion_{shape}")] = json!({"syncs": syncs, "changed": changed});
    }
    say(&figures.iter().map(Figure::row).collect::<Vec<_>>().join("\n"));
    Ok(figures)
}

/// The middle of some times, and what all but one of a hundred stay below.
fn times(what: &str, times: &[f64], (bound, goal): (f64, f64)) -> [Figure; 2] {
    let middle = Figure::new(&format!("{what}, p50 of {}", times.len()), "ms", percentile(times, 50.0));
    [middle, Figure::new(&format!("{what}, p99"), "ms", percentile(times, 99.0)).within(bound, goal)]
}

/// The same cluster with nothing stuck.
pub fn at_peace(settings: &Settings, run: &mut Value) -> Result<Vec<Figure>, String> {
    let (file, made) = cluster(settings.pods, &[&settings.seed.to_string(), "peace"])?;
    let told = dashboard::idle(&Server::start(&file, "34")?, Duration::from_secs(settings.idle))?;
    say(&format!("nothing stuck: {told}"));
    let of = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
    let figures = vec![
        Figure::new(&format!("CPU in {} s idle, nothing stuck", settings.idle), "ms", of("idle_cpu_ms")).within(60.0, 30.0),
        Figure::new(&format!("bytes to the terminal in {} s idle, nothing stuck", settings.idle), "B", of("idle_bytes")).within(0.0, 0.0),
    ];
    run["peace"] = json!({"cluster": made, "idle": told});
    Ok(figures)
}
