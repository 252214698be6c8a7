//! The per-user key under which redacted values get their tags.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use ring::rand::{SecureRandom, SystemRandom};

use crate::redact::Redactor;

/// A redactor with this user's key, made on first use. Where the key can be neither read nor kept, a passing one is used: tags are
/// then comparable within one run only, and nothing is disclosed.
pub fn redactor() -> Redactor {
    let key = stored().unwrap_or_else(fresh);
    Redactor::new(&key)
}

fn stored() -> Option<[u8; 32]> {
    let path = state_folder()?.join("redact.key");
    read(&path).or_else(|| create(&path))
}

fn read(path: &PathBuf) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    fs::File::open(path).ok()?.read_exact(&mut key).ok()?;
    Some(key)
}

fn create(path: &PathBuf) -> Option<[u8; 32]> {
    fs::create_dir_all(path.parent()?).ok()?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok()?;
    let key = fresh();
    file.write_all(&key).ok()?;
    Some(key)
}

fn fresh() -> [u8; 32] {
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).expect("the operating system has randomness");
    key
}

/// `$XDG_STATE_HOME/holdup`; an empty variable counts as unset.
fn state_folder() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_STATE_HOME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || std::env::home_dir().map(|home| home.join(".local/state"));
    Some(set.or_else(home)?.join("holdup"))
}
