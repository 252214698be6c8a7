//! Starts a program so that it cannot reach our terminal, waits for it, and ends it with all its children when it is late.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::exec::Manner;
use super::options::Environment;

/// The word after which our own program starts another one in a session of its own, without controlling terminal.
pub const SESSION: &str = "__session";

/// How a program is started.
///
/// Redirecting stdin and stderr is not enough: a plugin can open /dev/tty and wait unseen under the screen. Only a session
/// of its own has no controlling terminal, `setsid(2)` must be called by the child itself, and `pre_exec` is unsafe. So a
/// small program in between does it: util-linux' or BusyBox' `setsid`, else our own (macOS has none). Without both the
/// plugin runs in a background process group: then reading /dev/tty stops it, and the time limit ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
    Terminal,
    Setsid(PathBuf),
    Own(PathBuf),
    Group,
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub success: bool,
    /// In words, for a message.
    pub how: String,
    pub stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Calls `setsid` and becomes the given program; returns only if that fails.
#[must_use]
pub fn become_session(program: &str, args: &[String]) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    if let Err(error) = rustix::process::setsid() {
        return error.into();
    }
    std::process::Command::new(program).args(args).exec()
}

impl Launcher {
    pub fn find(manner: Manner, environment: &Environment, program: Option<&PathBuf>) -> Self {
        match manner {
            Manner::Terminal => Self::Terminal,
            Manner::Unseen => match (environment.program("setsid"), program) {
                (Some(setsid), _) => Self::Setsid(setsid),
                (None, Some(own)) => Self::Own(own.clone()),
                (None, None) => Self::Group,
            },
        }
    }

    pub fn command(&self, program: &str, args: &[String]) -> Command {
        let mut command = match self {
            Self::Terminal | Self::Group => Command::new(program),
            Self::Setsid(setsid) => {
                let mut command = Command::new(setsid);
                command.arg(program);
                command
            }
            Self::Own(own) => {
                let mut command = Command::new(own);
                command.arg(SESSION).arg(program);
                command
            }
        };
        if *self == Self::Group {
            command.process_group(0);
        }
        command.args(args);
        command
    }
}

/// Waits for the program, at most for `limit` where nobody sits before it.
pub(super) async fn finish(mut command: Command, launcher: Launcher, limit: Duration) -> Result<Outcome, String> {
    let seen = launcher == Launcher::Terminal;
    let stdin = if seen && std::io::stdin().is_terminal() { Stdio::inherit() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let group = Group::of(&child, &launcher);
    let pipes = child.stdout.take().zip(child.stderr.take());
    let (stdout, stderr) = pipes.ok_or("its output cannot be read")?;
    let echo = if seen { Echo::ToTerminal } else { Echo::No };
    let stdout = Pipe::read(stdout, Echo::No);
    let stderr = Pipe::read(stderr, echo);
    let ended = if seen {
        child.wait().await
    } else {
        match tokio::time::timeout(limit, child.wait()).await {
            Ok(ended) => ended,
            Err(_) => {
                drop(group);
                let _ended = child.kill().await;
                let said = text(&stderr.all().await);
                return Err(late(limit, &said));
            }
        }
    };
    group.has_ended();
    let status = ended.map_err(|error| format!("it cannot be waited for: {error}"))?;
    Ok(Outcome { success: status.success(), how: how(status), stdout: stdout.all().await, stderr: stderr.all().await })
}

fn late(limit: Duration, said: &str) -> String {
    let seconds = limit.as_secs();
    match said.is_empty() {
        true => format!("it did not end within {seconds} s"),
        false => format!("it did not end within {seconds} s: {said}"),
    }
}

impl Outcome {
    /// What the program wrote to stderr, at most its last 2,000 characters.
    pub fn said(&self) -> String {
        text(&self.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(2_000);
    text.chars().skip(skip).collect()
}

fn how(status: ExitStatus) -> String {
    match status.code() {
        Some(127) => "exit code 127 (command not found)".to_owned(),
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// A program with what it started: its session or group has the number of its first process. Killed when it is dropped, since
/// nobody waits for the answer any more.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child, launcher: &Launcher) -> Self {
        let id = child.id().filter(|_| *launcher != Launcher::Terminal);
        Self(id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    /// It has ended by itself: what it leaves behind on purpose may stay.
    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // The group may be gone already, which is what is wanted.
            let _gone = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Echo {
    ToTerminal,
    No,
}

/// A program may print this much; the rest is read and dropped.
const MOST: usize = 1 << 20;

/// One output of a program while it runs.
struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl Pipe {
    fn read(pipe: impl AsyncRead + Unpin + Send + 'static, echo: Echo) -> Self {
        let bytes = Arc::default();
        let task = tokio::spawn(gather(pipe, echo, Arc::clone(&bytes)));
        Self { bytes, task }
    }

    /// All that was written. A daemon that a plugin leaves behind may keep the pipe open: after the plugin's end one
    /// second is enough.
    async fn all(mut self) -> Vec<u8> {
        let in_time = tokio::time::timeout(Duration::from_secs(1), &mut self.task).await;
        if in_time.is_err() {
            self.task.abort();
        }
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn gather(mut pipe: impl AsyncRead + Unpin, echo: Echo, bytes: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = vec![0; 8 << 10];
    while let Ok(count) = pipe.read(&mut chunk).await {
        if count == 0 {
            break;
        }
        if echo == Echo::ToTerminal {
            // A terminal that is gone must not keep the login from succeeding.
            let _shown = std::io::stderr().write_all(&chunk[..count]);
        }
        let mut kept = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..count.min(room)]);
    }
}
