//! Terminal: the dashboard in a pseudo-terminal, what it shows, and when its bytes came.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use crate::{clock, processes};

const ROWS: u16 = 40;
const COLUMNS: u16 = 120;
/// Long enough for the slowest machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// What the terminal got, and when.
pub struct Terminal {
    bytes: Receiver<(Duration, Vec<u8>)>,
    shows: vt100::Parser,
    keys: Box<dyn Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    pub started: Duration,
    _pair: Box<dyn portable_pty::MasterPty + Send>,
}

impl Terminal {
    /// Opens the dashboard on a server.
    pub fn start(url: &str) -> Result<Self, String> {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).map_err(|error| error.to_string())?;
        let program = processes::again(&["holdup", "-A", "--server", url])?;
        let mut command = CommandBuilder::new(program.get_program());
        command.args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            }
        }
        command.env("TERM", "xterm-256color");
        let started = clock::monotonic();
        let child = pair.slave.spawn_command(command).map_err(|error| error.to_string())?;
        let mut reader = pair.master.try_clone_reader().map_err(|error| error.to_string())?;
        let keys = pair.master.take_writer().map_err(|error| error.to_string())?;
        let (rows, columns) = NonZero::new(ROWS).zip(NonZero::new(COLUMNS)).ok_or("a terminal without cells")?;
        let (to, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 << 10];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 || to.send((clock::monotonic(), buffer[..read].to_vec())).is_err() {
                    return;
                }
            }
        });
        Ok(Self { bytes, shows: vt100::Parser::new(rows, columns, 0), keys, child, started, _pair: pair.master })
    }

    /// Reads until the screen is as wanted; when that was.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> Result<Duration, String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let (at, bytes) =
                self.bytes.recv_timeout(left).map_err(|_| format!("{what} did not come:\n{}", self.shows.screen().contents()))?;
            self.shows.process(&bytes);
            if wanted(&self.shows.screen().contents()) {
                return Ok(at);
            }
        }
    }

    /// Reads until the program has done next to nothing for three seconds; when that began.
    pub fn settle(&mut self) -> Result<Duration, String> {
        let process = self.process();
        let (end, mut quiet_since, mut quiet) = (Instant::now() + PATIENCE, clock::monotonic(), 0);
        while quiet < 3 {
            if Instant::now() > end {
                return Err("the dashboard did not come to rest".to_owned());
            }
            let before = clock::cpu_of(process);
            self.listen(Duration::from_secs(1));
            if clock::cpu_of(process).saturating_sub(before) <= Duration::from_millis(20) {
                quiet += 1;
            } else {
                (quiet, quiet_since) = (0, clock::monotonic());
            }
        }
        Ok(quiet_since)
    }

    /// Reads for so long; how many bytes came.
    pub fn listen(&mut self, time: Duration) -> usize {
        let (end, mut count) = (Instant::now() + time, 0);
        loop {
            match self.bytes.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok((_, bytes)) => {
                    count += bytes.len();
                    self.shows.process(&bytes);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return count,
            }
        }
    }

    /// The next bytes, if they come within this time, taken into what is shown; when they came.
    pub fn next(&mut self, within: Duration) -> Option<Duration> {
        let (at, bytes) = self.bytes.recv_timeout(within).ok()?;
        self.shows.process(&bytes);
        Some(at)
    }

    /// Presses a key; when.
    pub fn press(&mut self, key: &str) -> Result<Duration, String> {
        let at = clock::monotonic();
        self.keys.write_all(key.as_bytes()).map_err(|error| error.to_string())?;
        Ok(at)
    }

    pub fn screen(&self) -> &vt100::Screen {
        self.shows.screen()
    }

    pub fn process(&self) -> u32 {
        self.child.process_id().unwrap_or(0)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _asked_to_quit = self.keys.write_all(b"q");
        self.listen(Duration::from_millis(500));
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
