//! The demo: its recording is what its script says, and something new comes at least every 25 seconds.

mod acts;
mod cluster;
mod managed;
mod nodes;
mod pods;
mod script;
mod templates;
mod workloads;
mod world;

use std::io::{Read, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use holdup::model::Time;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/demo")
}

#[test]
fn the_recording_is_what_the_script_says() {
    let script = std::fs::read_to_string(folder().join("script.yaml")).unwrap();
    let lines = script::play(&script).join("\n") + "\n";
    let path = folder().join("demo.jsonl.gz");
    if std::env::var_os("HOLDUP_BLESS").is_some() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(lines.as_bytes()).unwrap();
        std::fs::write(&path, packed.finish().unwrap()).unwrap();
    }
    let mut kept = String::new();
    GzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_string(&mut kept).unwrap();
    let differs = kept.lines().zip(lines.lines()).position(|(kept, made)| kept != made);
    assert!(kept == lines, "demo.jsonl.gz differs from script.yaml from line {differs:?} on; run HOLDUP_BLESS=1 cargo test --test it demo");
}

/// Seconds after the start at which something happens to a workload, a claim or a node, not counting signs of life.
fn news(lines: &str) -> Vec<i64> {
    let mut times = vec![0];
    let mut start = None;
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let at = Time::parse(line["at"].as_str().unwrap()).unwrap();
        let start = *start.get_or_insert(at);
        let counts = ["Pod", "Deployment", "StatefulSet", "Job", "Node", "PersistentVolumeClaim", "HorizontalPodAutoscaler"];
        if counts.iter().any(|kind| line["object"]["kind"] == *kind) {
            times.push(at.since(start));
        }
    }
    times
}

#[test]
fn something_new_comes_at_least_every_25_seconds_for_five_minutes() {
    let mut kept = String::new();
    GzDecoder::new(std::fs::File::open(folder().join("demo.jsonl.gz")).unwrap()).read_to_string(&mut kept).unwrap();
    let times = news(&kept);
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest <= Some(25), "nothing new for {longest:?} seconds");
    assert!(times.last() >= Some(&290));
}
