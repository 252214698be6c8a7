//! Keeps what panics say while the screen is taken: printed at once it would be written over the dashboard and lost with it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// More than this of the same night would bury the first, which tells most.
const MOST: usize = 20;

static TAKEN: AtomicBool = AtomicBool::new(false);
static KEPT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From now on, until [`print`], panics are kept.
pub(super) fn keep() {
    static HOOK: Once = Once::new();
    TAKEN.store(true, Ordering::SeqCst);
    // Set once and for all: a hook cannot be taken back while a panic unwinds, which is when the terminal is dropped.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| if TAKEN.load(Ordering::SeqCst) { store(info) } else { before(info) }));
    });
}

fn store(info: &PanicHookInfo<'_>) {
    let mut text = info.to_string();
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text = format!("{text}\n{trace}");
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() < MOST {
        kept.push(text);
    }
}

pub(super) fn kept() -> Vec<String> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Prints what was kept, after the screen has been given back.
pub(super) fn print() {
    TAKEN.store(false, Ordering::SeqCst);
    let kept = std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner));
    let mut out = std::io::stderr().lock();
    for text in kept {
        // Without a place to print to there is nobody to read it.
        let _ = writeln!(out, "{text}");
    }
}
