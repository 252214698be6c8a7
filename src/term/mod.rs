//! The terminal: taken by [`Terminal::take`], given back by its `Drop` on return, error and panic, and around a suspension.
//!
//! Signals are the caller's to receive: on SIGTERM and SIGHUP it returns, on SIGTSTP (and the key ctrl-z) it calls
//! [`Terminal::suspend`], on a SIGCONT that it did not cause [`Terminal::retake`]. Keys come from [`Keys`], on a thread of its own.
//! Whatever writes to the terminal writes to [`Terminal::out`], which counts the bytes.

mod input;
mod join;
mod panics;

pub use input::{Input, Keys};

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{QueueSelector, tcflush};

/// Keep the window's title, alternate screen, clear, no cursor, pastes in brackets.
const ENTER: &[u8] = b"\x1b[22;2t\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?2004h";
/// The reverse, and first of all the end of a frame that may have been cut short.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[0m\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b]2;\x07\x1b[23;2t";
/// OSC 11: which colour is your background? The answer comes among the keys, see [`Input::Background`].
const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";

/// A question that the terminal has not answered yet; what comes after we are gone would be typed into the shell.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The terminal in raw mode with the alternate screen, for as long as this lives.
pub struct Terminal {
    out: Out,
}

/// Standard output, with its bytes counted.
#[derive(Clone, Default)]
pub struct Out {
    count: Arc<AtomicU64>,
}

impl Terminal {
    /// Takes the screen. From here on panics are kept and printed when the screen is given back.
    ///
    /// # Errors
    /// Standard output is no terminal, or there is none to read keys from.
    pub fn take() -> io::Result<Self> {
        panics::keep();
        let terminal = Self { out: Out::default() };
        // Made before, so that a failure half-way is undone by Drop.
        terminal.enter()?;
        Ok(terminal)
    }

    pub fn out(&self) -> Out {
        self.out.clone()
    }

    /// How many bytes have been written so far.
    pub fn bytes(&self) -> u64 {
        self.out.count.load(Ordering::Relaxed)
    }

    /// Columns and rows.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        crossterm::terminal::size()
    }

    /// Gives the screen back, stops until the shell continues us, takes it again. The next frame must be sent whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.leave();
        // Not SIGSTOP: where no shell could continue us, the kernel drops this one, and we just go on. To the whole group, as
        // ctrl-z would: a program that started us must stop with us.
        kill_current_process_group(Signal::TTIN)?;
        // The stop may reach another thread first; without this we could take the screen before it holds.
        std::thread::sleep(Duration::from_millis(50));
        self.enter()
    }

    /// After something else had the terminal: a stop that we did not see coming.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn retake(&mut self) -> io::Result<()> {
        // The shell has set its own modes; only leaving first makes crossterm forget what it believes to be on.
        let _ = crossterm::terminal::disable_raw_mode();
        self.enter()
    }

    fn enter(&self) -> io::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        let mut out = self.out();
        out.write_all(ENTER)?;
        out.flush()
    }

    /// Every step is tried, also when one fails: a terminal that is gone needs none of them.
    fn leave(&self) {
        let mut out = self.out();
        let _ = out.write_all(LEAVE).and_then(|()| out.flush());
        if ASKED.load(Ordering::Relaxed) {
            let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
        }
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
        panics::print();
    }
}

/// Asks for the background's colour, best before the screen is taken: nothing waits for the answer, which comes as
/// [`Input::Background`], or never.
///
/// # Errors
/// The terminal is gone.
pub fn ask_background() -> io::Result<()> {
    let mut out = io::stdout();
    ASKED.store(true, Ordering::Relaxed);
    out.write_all(ASK_BACKGROUND)?;
    out.flush()
}

/// What panicked since the screen was taken, for the log.
pub fn kept_panics() -> Vec<String> {
    panics::kept()
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stdout().write(bytes)?;
        self.count.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
