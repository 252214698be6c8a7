//! One run: makes the cluster, serves it, measures everything in turn, and says what came of it.

use std::io::BufWriter;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cluster::{self, Plan};
use crate::figures::{Figure, told};
use crate::processes::{self, Server};
use crate::screens;

/// A server below this is slower than what it serves: its figures would be the server's.
const SLOWEST: f64 = 500.0;
const FEW: usize = 2_000;
/// Pods that are kept by the reflector of kube: all would not fit.
const BESIDE: usize = 30_000;
/// Lists come in pages from the one, as streams from the other.
pub const SHAPES: [(&str, &str); 2] = [("pages", "31"), ("stream", "34")];

pub struct Settings {
    pub pods: usize,
    pub rounds: usize,
    /// Seconds.
    pub idle: u64,
    pub seed: u64,
    /// The cluster's file stays.
    pub keeps: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { pods: 150_000, rounds: 5, idle: 60, seed: 1, keeps: false }
    }
}

/// Writes a cluster to a file.
pub fn generate(file: &str, plan: &Plan) -> Result<Value, String> {
    let out = std::fs::File::create(file).map_err(|error| error.to_string())?;
    let mut out = BufWriter::with_capacity(1 << 20, out);
    let written = cluster::write(plan, &mut out).map_err(|error| error.to_string())?;
    std::io::Write::flush(&mut out).map_err(|error| error.to_string())?;
    Ok(
        json!({"pods": plan.pods.len(), "objects": written.objects, "bytes": written.bytes, "bytes_per_pod": written.pod_bytes / plan.pods.len().max(1) as u64,
        "hash": format!("{:016x}", written.hash)}),
    )
}

pub fn run(settings: &Settings) -> Result<String, String> {
    let folder = processes::folder()?;
    let measured = measure(settings);
    if !settings.keeps {
        std::fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
    }
    measured
}

fn measure(settings: &Settings) -> Result<String, String> {
    let seed = settings.seed.to_string();
    let made = made(settings.pods, &seed)?;
    say(&format!("cluster: {}", made.1));
    let few = self::made(FEW, &seed)?;
    let mut figures = Vec::new();
    let mut run = json!({"cluster": made.1, "few": few.1, "rounds": settings.rounds, "seed": settings.seed});
    let rounds = syncs(settings, &made.0, &mut run)?;
    figures.extend(rounds);
    figures.extend(small(&few.0)?);
    figures.extend(inside(settings, &seed, &made.0, &mut run)?);
    figures.extend(instructions(&seed)?);
    figures.extend(screens::at_rest(settings, &made.0, &mut run)?);
    figures.extend(screens::in_motion(settings, &made.0, &mut run)?);
    figures.extend(screens::at_peace(settings, &mut run)?);
    figures.extend(beside(settings, &mut run)?);
    Ok(told(&figures, &run))
}

fn made(pods: usize, seed: &str) -> Result<(String, Value), String> {
    cluster(pods, &[seed])
}

/// Has a cluster written; where it is, and what it is like.
pub fn cluster(pods: usize, words: &[&str]) -> Result<(String, Value), String> {
    let file = processes::folder()?.join(format!("{pods}-{}.json", words.join("-"))).display().to_string();
    let pods = pods.to_string();
    let made = processes::told(&[&["generate", &file, &pods], words].concat())?;
    Ok((file, made))
}

/// Drain, walk and sync in turn, so that whatever else the machine does disturbs all alike.
fn syncs(settings: &Settings, file: &str, run: &mut Value) -> Result<Vec<Figure>, String> {
    let servers: Vec<Server> = SHAPES.iter().map(|(_, minor)| Server::start(file, minor)).collect::<Result<_, _>>()?;
    let mut rows: Vec<Value> = Vec::new();
    for round in 0..settings.rounds {
        let ignored = processes::told(&["ignore", file])?;
        for ((shape, _), server) in SHAPES.iter().zip(&servers) {
            let drained = processes::told(&["drain", &server.url, shape])?;
            server.seen()?;
            let (report, used, wall) = processes::sync(&server.url)?;
            let requests = server.seen()?;
            let pods = report["summary"]["pods"].as_u64().unwrap_or(0);
            if pods != settings.pods as u64 {
                return Err(format!("the report speaks of {pods} pods, not of {}: {}", settings.pods, report["summary"]));
            }
            let row = json!({"shape": shape, "round": round, "ignored": ignored, "drained": drained, "used": used, "wall_ms": wall.as_millis() as u64,
                "summary": report["summary"], "requests": requests["requests"]});
            say(&row.to_string());
            rows.push(row);
        }
    }
    let mut figures = Vec::new();
    for (shape, _) in SHAPES {
        let of = |path: &str| {
            median(rows.iter().filter(|row| row["shape"] == shape).filter_map(|row| row.pointer(path).and_then(Value::as_f64)).collect())
        };
        let speed = of("/drained/mb_per_s");
        if speed < SLOWEST {
            return Err(format!("server too slow: {speed:.0} MB/s with {shape}, and {SLOWEST} are needed"));
        }
        let (sync, drain, ignored) = (of("/used/cpu_ms"), of("/drained/cpu_ms"), of("/ignored/cpu_ms"));
        figures.push(Figure::new(&format!("{shape}: (sync − drain) / IgnoredAny"), "", (sync - drain) / ignored).within(1.3, 0.8));
        figures.push(Figure::new(&format!("{shape}: client CPU of the sync"), "ms", sync));
        figures.push(Figure::new(&format!("{shape}: client CPU of the drain"), "ms", drain));
        figures.push(Figure::new(&format!("{shape}: wall of the sync"), "ms", of("/wall_ms")));
        figures.push(Figure::new(&format!("{shape}: server drains at"), "MB/s", speed));
        figures
            .push(Figure::new(&format!("{shape}: peak resident memory (report)"), "MB", of("/used/peak_kb") / 1000.0).within(110.0, 80.0));
    }
    let ignored = median(rows.iter().filter_map(|row| row.pointer("/ignored/cpu_ms").and_then(Value::as_f64)).collect());
    figures.push(Figure::new("IgnoredAny over the same bytes, CPU", "ms", ignored));
    run["rows"] = Value::Array(rows);
    Ok(figures)
}

fn small(file: &str) -> Result<Vec<Figure>, String> {
    let server = Server::start(file, "34")?;
    let (_, used, _) = processes::sync(&server.url)?;
    Ok(vec![
        Figure::new("peak resident memory with 2,000 pods (report)", "MB", used["peak_kb"].as_f64().unwrap_or(0.0) / 1000.0)
            .within(24.0, 16.0),
    ])
}

fn inside(settings: &Settings, seed: &str, file: &str, run: &mut Value) -> Result<Vec<Figure>, String> {
    let kept = processes::told(&["kept", &settings.pods.to_string(), seed])?;
    say(&format!("kept: {kept}"));
    let judged = processes::told(&["judge", file])?;
    say(&format!("judged: {judged}"));
    let of = |value: &Value, name: &str| value[name].as_f64().unwrap_or(f64::NAN);
    let figures = vec![
        Figure::new("kept for one more plain pod of a known template", "B", of(&kept, "one_more")).within(110.0, 92.0),
        Figure::new("everything kept for pods / pods", "B", of(&kept, "all_per_pod")).within(220.0, 180.0),
        Figure::new("judging everything from nothing, with grouping", "ms", of(&judged, "all_ms")).within(300.0, 60.0),
        Figure::new("judging after one change, with grouping", "ms", of(&judged, "change_ms")).within(2.0, 0.2),
        Figure::new("judging after one more pod of the largest blocker, with grouping", "ms", of(&judged, "one_more_ms")),
    ];
    (run["kept"], run["judged"]) = (kept, judged);
    Ok(figures)
}

/// What others are built on does less, the pods alone: in turn with a whole sync of the same cluster.
fn beside(settings: &Settings, run: &mut Value) -> Result<Vec<Figure>, String> {
    let pods = settings.pods.min(BESIDE);
    let (file, _) = made(pods, &settings.seed.to_string())?;
    let server = Server::start(&file, "31")?;
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds {
        theirs.push(processes::told(&["reflect", &server.url])?);
        ours.push(processes::sync(&server.url)?.1);
    }
    let mut figures = Vec::new();
    for (what, rows) in [("pods in a kube reflector", &theirs), ("everything in holdup", &ours)] {
        let of = |name: &str| median(rows.iter().filter_map(|row| row[name].as_f64()).collect());
        figures.push(Figure::new(&format!("{pods} pods, {what}: CPU"), "ms", of("cpu_ms")));
        figures.push(Figure::new(&format!("{pods} pods, {what}: peak resident memory"), "MB", of("peak_kb") / 1000.0));
    }
    say(&format!("reflector: {}", theirs[0]));
    run["beside"] = json!({"reflector": theirs, "holdup": ours});
    Ok(figures)
}

/// Instructions of two passes less one, so that making the pods does not count. Without valgrind there is no such row.
fn instructions(seed: &str) -> Result<Vec<Figure>, String> {
    let count = |passes: &str| -> Result<Option<f64>, String> {
        let program = processes::again(&[])?;
        let ran = std::process::Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(program.get_program())
            .args(["read", &FEW.to_string(), passes, seed])
            .stdin(Stdio::null())
            .output();
        let Ok(ran) = ran else { return Ok(None) };
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        let count = said.lines().find_map(|line| line.split_once("Collected :")).and_then(|(_, count)| count.trim().parse().ok());
        count.map(Some).ok_or_else(|| format!("callgrind told no number:\n{said}"))
    };
    let (Some(one), Some(three)) = (count("1")?, count("3")?) else {
        say("valgrind is not installed: no instructions are counted");
        return Ok(Vec::new());
    };
    let each = (three - one) / 2.0 / FEW as f64 / 1000.0;
    Ok(vec![Figure::new("instructions a pod, read and applied (2,000 pods)", "k", each).within(75.0, 55.0)])
}

pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

pub fn say(text: &str) {
    eprintln!("{text}");
}
