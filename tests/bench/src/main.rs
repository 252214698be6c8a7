//! The figures of the project, measured in one run: `cargo run --manifest-path tests/bench/Cargo.toml --profile dist`.
//!
//! Everything that is measured runs in a process of its own, which is this program with another first argument.

mod changes;
mod clock;
mod cluster;
mod counting;
mod dashboard;
mod drain;
mod drift;
mod figures;
mod inside;
mod latency;
mod processes;
mod reflector;
mod requests;
mod run;
mod screens;
mod server;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const USAGE: &str = "holdup-bench [--pods 150000] [--rounds 5] [--quick] [--idle SECONDS] [--seed 1] [--keep]
holdup-bench generate FILE PODS SEED [peace] | serve FILE MINOR | drain URL pages|stream | ignore FILE | kept PODS SEED | judge FILE | held FILE
holdup-bench dashboard FILE MINOR SECONDS | idle FILE MINOR SECONDS | keys FILE MINOR | changes FILE MINOR | reflect URL
holdup-bench read PODS PASSES SEED     under valgrind --tool=callgrind: instructions
holdup-bench drift [OBJECTS]            desired versus live of 5,000 objects with a last-applied copy and managedFields, offline
holdup-bench beside KUBECTL KUBECONFIG [OBJECTS]    300 objects, a tenth changed by hand: `kubectl diff` and `holdup diff` on a control plane
    that `cargo test --features control-plane --test control-plane -- nothing --stay` starts, says where, and stops at Enter
holdup-bench holdup …                  the program itself, with its use of CPU and memory written at the end";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words.first() == Some(&"holdup") {
        return program();
    }
    match work(&words) {
        Ok(told) => {
            print(&told);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("holdup-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn work(words: &[&str]) -> Result<String, String> {
    let told = match words {
        ["generate", file, pods, seed] => run::generate(file, &plan(pods, seed)?)?,
        ["generate", file, pods, seed, "peace"] => run::generate(file, &plan(pods, seed)?.at_peace())?,
        ["serve", file, minor] => {
            server::run(file, number(minor)? as u32).map_err(|error| error.to_string())?;
            return Ok(String::new());
        }
        ["drain", url, shape] => drain::drain(url, *shape == "stream")?,
        ["ignore", file] => drain::ignore(file)?,
        ["kept", pods, seed] => inside::kept(number(pods)?, number(seed)? as u64)?,
        ["read", pods, passes, seed] => inside::read(number(pods)?, number(passes)?, number(seed)? as u64)?,
        ["held", file] => inside::held(file)?,
        ["judge", file] => inside::judge(file)?,
        ["dashboard", file, minor, seconds] => {
            dashboard::measure(&processes::Server::start(file, minor)?, Duration::from_secs(number(seconds)? as u64))?
        }
        ["keys", file, minor] => latency::in_sync(&processes::Server::start(file, minor)?)?,
        ["changes", file, minor] => latency::under_change(&processes::Server::start(file, minor)?)?,
        ["idle", file, minor, seconds] => {
            dashboard::idle(&processes::Server::start(file, minor)?, Duration::from_secs(number(seconds)? as u64))?
        }
        ["drift"] => return drift::drift(5_000),
        ["drift", count] => return drift::drift(number(count)?),
        ["beside", kubectl, kubeconfig] => return drift::beside(kubectl, kubeconfig, 300),
        ["beside", kubectl, kubeconfig, count] => return drift::beside(kubectl, kubeconfig, number(count)?),
        ["reflect", url] => reflector::reflect(url)?,
        ["--help" | "-h"] => return Ok(USAGE.to_owned()),
        options => return run::run(&settings(options)?),
    };
    Ok(told.to_string())
}

fn plan(pods: &str, seed: &str) -> Result<cluster::Plan, String> {
    Ok(cluster::Plan::new(cluster::Size::of(number(pods)?), number(seed)? as u64))
}

fn settings(options: &[&str]) -> Result<run::Settings, String> {
    let mut settings = run::Settings::default();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || options.next().ok_or_else(|| format!("{option} needs a number")).and_then(|text| number(text));
        match *option {
            "--pods" => settings.pods = value()?,
            "--rounds" => settings.rounds = value()?.max(1),
            "--idle" => settings.idle = value()? as u64,
            "--seed" => settings.seed = value()? as u64,
            "--quick" => (settings.rounds, settings.idle) = (1, 5),
            "--keep" => settings.keeps = true,
            other => return Err(format!("{other} is not known\n{USAGE}")),
        }
    }
    Ok(settings)
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is no number\n{USAGE}"))
}

fn print(text: &str) {
    use std::io::Write;
    // Nobody may be reading any more.
    let _gone = writeln!(std::io::stdout(), "{text}");
}

/// The program under test. Where it is told to, it leaves what it used in a file.
fn program() -> ExitCode {
    let code = holdup::run(std::env::args_os().skip(1).collect::<Vec<OsString>>());
    if let Some(file) = std::env::var_os(processes::USAGE_FILE) {
        let used = serde_json::json!({"cpu_ms": drain::millis(clock::cpu()), "peak_kb": clock::peak_kb("self")});
        let _told = std::fs::write(file, used.to_string());
    }
    code
}
