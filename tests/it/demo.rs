//! The demo: its recording is what its script says, and something new comes at least every 25 seconds.

mod acts;
mod cluster;
mod declared;
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
use holdup::archive::Archive;
use holdup::desired::{Fetched, Object, Verdict, compare};
use holdup::model::Time;
use holdup::redact::Redactor;

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

/// What the demo ends with, compared with what was applied: the differences that somebody has to look at or that admission is said to have made.
fn differences() -> Vec<String> {
    let script = std::fs::read_to_string(folder().join("script.yaml")).unwrap();
    let archive = Archive::from_bytes("demo", (script::play(&script).join("\n") + "\n").as_bytes()).unwrap();
    let redactor = Redactor::new(&[0; 32]);
    let related = crate::drift::shared(&of_kind(&archive, "autoscaling", "HorizontalPodAutoscaler"));
    let mut all = Vec::new();
    for kind in archive.kinds().iter().filter(|kind| !matches!(&*kind.name, "Pod" | "ReplicaSet" | "Job" | "Event")) {
        for live in of_kind(&archive, &kind.group, &kind.name) {
            let live = Object::new(live, &redactor);
            let fetched = Fetched { live: &live, files: &[], releases: &[], related: &related, redactor: &redactor };
            let comparison = compare(&fetched, Vec::new());
            let Some(applied) = comparison.against.iter().find(|against| against.source == "last-applied") else { continue };
            let telling = applied.diff.fields.iter().filter(|field| !field.verdict.is_quiet() || field.verdict == Verdict::Admission);
            all.extend(telling.map(|field| {
                let by = field.owner.as_ref().map_or("nobody", |owner| &owner.manager);
                format!("{} {} {} by {by}", applied.diff.object, field.path, field.verdict.id())
            }));
        }
    }
    all
}

fn of_kind(archive: &Archive, group: &str, name: &str) -> Vec<serde_json::Value> {
    let kind = archive.kind(group, name).unwrap();
    archive.objects(kind, None).map(|object| serde_json::from_slice(&object.bytes()).unwrap()).collect()
}

#[test]
fn a_rollout_from_a_manifest_is_no_drift_and_what_was_done_by_hand_is_told_as_that() {
    let container = |place: &str, name: &str, field: &str, by: &str| {
        format!("{place} spec.template.spec.containers[name={name}].{field} drift by {by}")
    };
    assert_eq!(
        differences(),
        [
            container("Deployment/edge/oauth-proxy", "oauth-proxy", "image", "kubectl-set"),
            container("Deployment/media/thumbnails", "thumbnails", "image", "kubectl-set"),
            "Deployment/media/transcoder spec.template.spec.nodeSelector drift by kubectl-edit".to_owned(),
            "Deployment/media/transcoder spec.template.spec.tolerations drift by kubectl-patch".to_owned(),
            container("Deployment/pay/fraud", "fraud", "env[name=MODEL_URL].value", "kubectl-edit"),
            container("Deployment/shop/checkout", "checkout", "env[name=LOG_LEVEL].value", "kubectl-set"),
            "StatefulSet/data/warehouse spec.replicas drift by kubectl".to_owned(),
        ]
    );
}
