//! A program that cannot outlive the test, however the test ends.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A shell holds the program and reads from a pipe whose other end is in this process. When that end closes, because the
/// value was dropped or because this process is gone, the shell kills what it holds. It has a process group of its own,
/// so that Ctrl-C reaches only the test.
pub struct Child {
    keeper: std::process::Child,
    log: PathBuf,
}

const KEEP: &str = r#""$@" </dev/null & held=$!; read -r _; kill -9 "$held"; wait "$held""#;

/// Removes a folder when the pipe closes; the programs that write there are being killed in the same moment.
const REMOVE: &str = r#"read -r _; for try in 1 2 3 4 5 6 7 8; do rm -rf "$1" 2>/dev/null && exit; done"#;

impl Child {
    pub fn start(program: &Path, arguments: &[String], log: &Path) -> Self {
        let out = File::options().create(true).append(true).open(log).expect("the log can be written");
        let keeper = Command::new("sh")
            .args(["-c", KEEP, "keeper"])
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(out.try_clone().expect("a second handle of the log"))
            .stderr(out)
            .process_group(0)
            .spawn()
            .expect("sh starts");
        Self { keeper, log: log.to_owned() }
    }

    /// The end of what the program has written, for messages.
    pub fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// A folder that is gone after the test, also when the test was killed.
pub struct Folder {
    path: PathBuf,
    keeper: std::process::Child,
}

impl Folder {
    pub fn create(name: &str) -> Self {
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("the temporary folder can be made");
        let keeper = Command::new("sh")
            .args(["-c", REMOVE, "keeper"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("sh starts");
        Self { path, keeper }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
