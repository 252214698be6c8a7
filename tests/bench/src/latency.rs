//! Latency: how soon a change is on the screen, and how soon a key, during the first sync and while changes come.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::Rng;
use crate::processes::{self, Server};
use crate::terminal::Terminal;
use crate::{clock, drain::millis};

/// 1,000 changes a second for ten seconds, forty of them a second to be seen: four hundred samples.
const CHANGES: &str = "/bench/changes?rate=1000&seen=40&seconds=10";
const SECONDS: f64 = 10.0;
/// Who waits longer for a key has a program that hangs.
const HANGS: Duration = Duration::from_secs(10);
const ESCAPE: &str = "\x1b";
/// Where the list of blockers begins, after the layers and the line between them.
const LIST: std::ops::Range<u16> = 35..118;

/// A key that was pressed, and how long until the screen showed it.
type Answered = (&'static str, Duration);

/// Opens the dashboard and presses keys from its first frame until it is complete.
pub fn in_sync(server: &Server) -> Result<Value, String> {
    let mut terminal = Terminal::start(&server.url)?;
    // Each time at other moments.
    let mut keys = Keys::new(terminal.started.subsec_nanos().into());
    terminal.until("the first frame", |screen| !screen.trim().is_empty())?;
    let mut times = Vec::new();
    while !is_complete(&terminal.screen().contents()) {
        times.push(keys.press(&mut terminal)?);
    }
    Ok(answers(&times))
}

/// Opens the dashboard, lets changes come when it is complete, and then presses keys while more come.
pub fn under_change(server: &Server) -> Result<Value, String> {
    let mut terminal = Terminal::start(&server.url)?;
    terminal.until("the end of the first sync", is_complete)?;
    terminal.settle()?;
    let (changes, cpu) = changes(&mut terminal, &server.url)?;
    terminal.settle()?;
    let times = keys_under_change(&mut terminal, &server.url)?;
    let changes: Vec<f64> = changes.into_iter().map(millis).collect();
    Ok(json!({"changes": changes, "keys": answers(&times), "cpu_percent": cpu.as_secs_f64() / SECONDS * 100.0}))
}

fn is_complete(screen: &str) -> bool {
    screen.contains("● live")
}

/// All, and those that are not held for a while to see what follows, as an escape is.
fn answers(times: &[Answered]) -> Value {
    let all: Vec<f64> = times.iter().map(|(_, time)| millis(*time)).collect();
    let plain: Vec<f64> = times.iter().filter(|(key, _)| *key != ESCAPE).map(|(_, time)| millis(*time)).collect();
    json!({"all": all, "plain": plain})
}

/// The number below which so much of all lie, the largest where there are few.
pub fn percentile(numbers: &[f64], percent: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

type Sending = std::thread::JoinHandle<Result<Value, String>>;

fn send(url: &str) -> Sending {
    let url = url.to_owned();
    std::thread::spawn(move || processes::ask(&url, CHANGES))
}

fn sent(sending: Sending) -> Result<Value, String> {
    sending.join().map_err(|_| "the changes were not sent".to_owned())?
}

/// From each change that is to be seen to the bytes that show it, and the CPU of the dashboard. Each such change raises the number
/// of stuck pods by one, so that the number on the screen says which of them it shows.
fn changes(terminal: &mut Terminal, url: &str) -> Result<(Vec<Duration>, Duration), String> {
    let base = stuck(&terminal.screen().contents()).ok_or("the screen does not say how many pods are stuck")?;
    let before = clock::cpu_of(terminal.process());
    let (sending, mut shown) = (send(url), Vec::new());
    while !sending.is_finished() {
        watch(terminal, &mut shown);
    }
    let cpu = clock::cpu_of(terminal.process()).saturating_sub(before);
    let told = sent(sending)?;
    let times: Vec<Duration> =
        told["seen_ns"].as_array().into_iter().flatten().filter_map(Value::as_u64).map(Duration::from_nanos).collect();
    let end = Instant::now() + HANGS;
    while shown.last().is_none_or(|(_, number)| *number < base + times.len()) && Instant::now() < end {
        watch(terminal, &mut shown);
    }
    let mut latencies = Vec::new();
    for (i, time) in times.iter().enumerate() {
        let came = shown.iter().find(|(_, number)| *number > base + i).ok_or_else(|| {
            format!("change {i} of {} never came to the screen, which says:\n{}", times.len(), terminal.screen().contents())
        })?;
        latencies.push(came.0.saturating_sub(*time));
    }
    Ok((latencies, cpu))
}

fn watch(terminal: &mut Terminal, shown: &mut Vec<(Duration, usize)>) {
    if let Some(at) = terminal.next(Duration::from_millis(50))
        && let Some(number) = stuck(&terminal.screen().contents())
    {
        shown.push((at, number));
    }
}

/// The head ends with `131 of 5,000 pods`.
fn stuck(screen: &str) -> Option<usize> {
    let (before, _) = screen.lines().next()?.rsplit_once(" of ")?;
    before.rsplit(' ').next()?.replace(',', "").parse().ok()
}

fn keys_under_change(terminal: &mut Terminal, url: &str) -> Result<Vec<Answered>, String> {
    let (sending, mut times, mut keys) = (send(url), Vec::new(), Keys::new(1));
    while !sending.is_finished() {
        times.push(keys.press(terminal)?);
    }
    sent(sending)?;
    Ok(times)
}

/// Somebody at the keyboard: up and down in the list, and help now and then.
struct Keys {
    rng: Rng,
    pressed: Instant,
}

impl Keys {
    fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), pressed: Instant::now() }
    }

    /// Waits 30 to 80 ms after the last key, presses the next, and waits until the screen shows it; how long that took.
    fn press(&mut self, terminal: &mut Terminal) -> Result<Answered, String> {
        let next = self.pressed + Duration::from_millis(30 + self.rng.below(51) as u64);
        while let Some(left) = next.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            terminal.next(left);
        }
        let (key, wanted) = self.choose(terminal.screen());
        self.pressed = Instant::now();
        let (pressed, end) = (terminal.press(key)?, Instant::now() + HANGS);
        while let Some(at) = terminal.next(end.saturating_duration_since(Instant::now())) {
            if wanted.holds(terminal.screen()) {
                return Ok((key, at.saturating_sub(pressed)));
            }
        }
        Err(format!("{key:?} did not lead to {wanted:?}:\n{}", terminal.screen().contents()))
    }

    fn choose(&mut self, screen: &vt100::Screen) -> (&'static str, Wanted) {
        if has_help(screen) {
            return (ESCAPE, Wanted::NoHelp);
        }
        let (help, down) = (self.rng.chance(100), self.rng.chance(500));
        match cursor(screen) {
            Some(line) if !help && down && has_row(screen, line + 1) => ("j", Wanted::CursorLeft(line)),
            Some(line) if !help && has_row(screen, line - 1) => ("k", Wanted::CursorLeft(line)),
            Some(_) | None => ("?", Wanted::Help),
        }
    }
}

/// What the screen looks like after a key.
#[derive(Debug)]
enum Wanted {
    /// Rows stay where they are after a key: only the key moves the cursor.
    CursorLeft(u16),
    Help,
    NoHelp,
}

impl Wanted {
    fn holds(&self, screen: &vt100::Screen) -> bool {
        match self {
            Self::CursorLeft(line) => cursor(screen).is_some_and(|now| now != *line),
            Self::Help => has_help(screen),
            Self::NoHelp => !has_help(screen),
        }
    }
}

fn has_help(screen: &vt100::Screen) -> bool {
    screen.contents().contains("Keys that work here")
}

fn text(screen: &vt100::Screen, line: u16, columns: std::ops::Range<u16>) -> String {
    columns.filter_map(|column| screen.cell(line, column)).map(vt100::Cell::contents).collect()
}

/// The line of the cursor in the list of blockers.
fn cursor(screen: &vt100::Screen) -> Option<u16> {
    (3..screen.size().0.get()).find(|line| text(screen, *line, LIST.start..LIST.start + 1) == "▌")
}

/// Whether this line of the list has a row to go to.
fn has_row(screen: &vt100::Screen, line: u16) -> bool {
    let text = text(screen, line, LIST);
    ["BLOCKED", "DELAYED", "clearing", "└"].iter().any(|mark| text.contains(mark))
}
