//! The programs of the control plane: where `build.sh` keeps them, built first where they are missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Programs(BTreeMap<String, PathBuf>);

impl Programs {
    /// Builds what is missing; its lines go to the test's own output, since a first build takes minutes.
    pub fn ready() -> Result<Self, String> {
        let built = Command::new(script()).stdin(Stdio::null()).status().map_err(|e| format!("{}: {e}", script().display()))?;
        if !built.success() {
            return Err("the control plane could not be built, see above".into());
        }
        let places = Command::new(script()).arg("--where").output().map_err(|e| e.to_string())?;
        Ok(Self(String::from_utf8_lossy(&places.stdout).lines().filter_map(place).collect()))
    }

    pub fn path(&self, name: &str) -> &Path {
        self.0.get(name).unwrap_or_else(|| panic!("build.sh knows no {name}"))
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/control-plane/build.sh")
}

fn place(line: &str) -> Option<(String, PathBuf)> {
    let (name, path) = line.split_once(' ')?;
    Some((name.to_owned(), PathBuf::from(path)))
}
