//! The two yardsticks: reading and dropping all answers with the same client, and walking the same bytes with serde_json.

use std::io::Read;
use std::time::{Duration, Instant};

use holdup::model::{Follow, KINDS, Place};
use holdup::watch::{Connection, Environment, Get, Manner, Options, Packing, Resource, Target};
use serde_json::{Value, json};

use crate::clock;

/// Reads everything that a first sync reads, and drops it.
pub fn drain(url: &str, streams: bool) -> Result<Value, String> {
    let began = Instant::now();
    let tasks = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let bytes = tasks.block_on(async {
        let options = Options { server: Some(url.to_owned()), ..Options::default() };
        let target = Target::find(&options, &Environment::default()).map_err(|error| error.to_string())?;
        let connection = Connection::open(target, Manner::Unseen).await.map_err(|error| error.to_string())?;
        // As the feeds do: a task of the runtime, not the thread that waits for it.
        let reading = tokio::spawn(async move {
            let mut bytes = 0;
            for row in KINDS.iter().filter(|row| row.follow != Follow::OnDemand) {
                let Some(version) = row.versions.first() else { continue };
                let path = Resource::of_kind(row.kind, version).list(&Place::All);
                bytes += if streams { stream(&connection, &path).await? } else { pages(&connection, &path).await? };
            }
            Ok::<u64, String>(bytes)
        });
        reading.await.map_err(|error| error.to_string())?
    })?;
    tasks.shutdown_timeout(Duration::ZERO);
    let wall = began.elapsed();
    Ok(
        json!({"cpu_ms": millis(clock::cpu()), "wall_ms": millis(wall), "bytes": bytes, "mb_per_s": bytes as f64 / 1e6 / wall.as_secs_f64(), "peak_kb": clock::peak_kb("self")}),
    )
}

async fn pages(connection: &Connection, path: &str) -> Result<u64, String> {
    let (mut bytes, mut token) = (0, String::new());
    loop {
        let more = if token.is_empty() { String::new() } else { format!("&continue={token}") };
        let answer = connection.get(&Get::json(format!("{path}?limit=500{more}"))).await.map_err(|error| error.to_string())?;
        let Ok(mut body) = answer.accepted().await else { return Ok(bytes) };
        token.clear();
        let mut is_first = true;
        while let Some(piece) = body.piece().await.map_err(|error| error.to_string())? {
            bytes += piece.len() as u64;
            if std::mem::take(&mut is_first) {
                token = continuation(&piece);
            }
        }
        if token.is_empty() {
            return Ok(bytes);
        }
    }
}

/// The token for the next page stands before the items.
fn continuation(first: &[u8]) -> String {
    let head = String::from_utf8_lossy(&first[..first.len().min(1000)]);
    let token = head.split_once("\"continue\":\"").map_or("", |(_, rest)| rest.split('"').next().unwrap_or_default());
    token.to_owned()
}

const MARK: &[u8] = b"k8s.io/initial-events-end";

async fn stream(connection: &Connection, path: &str) -> Result<u64, String> {
    let path =
        format!("{path}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
    let get = Get { packing: Packing::Never, ..Get::json(path) };
    let answer = connection.get(&get).await.map_err(|error| error.to_string())?;
    let Ok(mut body) = answer.accepted().await else { return Ok(0) };
    let (mut bytes, mut end) = (0, Vec::new());
    while let Some(piece) = body.piece().await.map_err(|error| error.to_string())? {
        bytes += piece.len() as u64;
        end.drain(..end.len().saturating_sub(300));
        end.extend_from_slice(&piece[piece.len().saturating_sub(600)..]);
        if end.windows(MARK.len()).any(|window| window == MARK) {
            break;
        }
    }
    Ok(bytes)
}

/// Walks the objects of a file, one a line, with serde_json and keeps nothing. Reading the file is not counted.
pub fn ignore(file: &str) -> Result<Value, String> {
    let mut file = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let (mut buffer, mut carry) = (vec![0; 4 << 20], Vec::new());
    let (mut cpu, mut bytes, mut objects) = (Duration::ZERO, 0, 0_u64);
    loop {
        let read = file.read(&mut buffer).map_err(|error| error.to_string())?;
        carry.extend_from_slice(&buffer[..read]);
        let end = carry.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let before = clock::cpu();
        for line in carry[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b",").unwrap_or(line)) {
            if line.starts_with(b"{") && line.ends_with(b"}") {
                serde_json::from_slice::<serde::de::IgnoredAny>(line).map_err(|error| error.to_string())?;
                bytes += line.len() as u64;
                objects += 1;
            }
        }
        cpu += clock::cpu() - before;
        carry.drain(..end);
        if read == 0 {
            return Ok(json!({"cpu_ms": millis(cpu), "bytes": bytes, "objects": objects}));
        }
    }
}

pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 100.0
}
