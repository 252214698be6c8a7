//! Damages objects of the test cases and hands them to the program's readers, for as long as one likes:
//! `cargo run --release --manifest-path tests/fuzz/Cargo.toml -- reader 900`.
//!
//! It needs nothing but a stable compiler. What it finds is written to a file; a finding becomes a test.

mod corpus;
mod damage;
mod desired;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use corpus::Corpus;
use damage::Damage;

const USAGE: &str = "holdup-fuzz reader|list|judge|managed|release|quantity|manifests|rule|log SECONDS [SEED]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (target, seconds, seed) = match words.as_slice() {
        [target, seconds] => (*target, seconds.parse(), Ok(1)),
        [target, seconds, seed] => (*target, seconds.parse(), seed.parse()),
        _ => return usage(),
    };
    match (targets::named(target), seconds, seed) {
        (Some(check), Ok(seconds), Ok(seed)) => run(target, check, Duration::from_secs(seconds), seed),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn run(target: &str, check: targets::Check, time: Duration, seed: u64) -> ExitCode {
    let (corpus, mut damage, began) = (Corpus::open(), Damage::new(seed), Instant::now());
    let mut count = 0_u64;
    while began.elapsed() < time {
        count += 1;
        let (kind, bytes) = damage.one_of(&corpus);
        let answer = catch_unwind(AssertUnwindSafe(|| check(kind, &bytes, &mut damage)));
        let said = match answer {
            Ok(Ok(())) => continue,
            Ok(Err(said)) => said,
            Err(_) => "it panicked".to_owned(),
        };
        let file = std::env::temp_dir().join(format!("holdup-fuzz-{target}-{seed}-{count}.json"));
        let kept = std::fs::write(&file, &bytes).map_or_else(|error| error.to_string(), |()| file.display().to_string());
        eprintln!("{target}, {}: {said}: {kept}", kind.row().name);
        return ExitCode::FAILURE;
    }
    eprintln!("{target}: {count} inputs in {} s, nothing found", time.as_secs());
    ExitCode::SUCCESS
}
