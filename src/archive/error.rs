//! Why an archive could not be opened.

use std::fmt;
use std::io;

/// Why an archive could not be opened. The text says what it means and what to do next.
#[derive(Debug)]
pub enum ArchiveError {
    /// The file is not there, or may not be read.
    Unreadable { name: String, error: io::Error },
    /// The input has no object and no list.
    NothingInIt { name: String, why: String },
    /// There is no room for what had to be unpacked or converted.
    NoRoom { error: io::Error },
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { name, error } => {
                write!(f, "cannot read {name}: {error}; give the path of a file or folder, or - for standard input")
            }
            Self::NothingInIt { name, why } => write!(
                f,
                "{name} holds no Kubernetes object: {why}; give a snapshot, a recording, the output of kubectl get -o json or -o yaml, or the folder of a cluster-info dump or must-gather"
            ),
            Self::NoRoom { error } => write!(f, "cannot unpack the input: {error}; set TMPDIR to a folder with more room"),
        }
    }
}

impl std::error::Error for ArchiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } | Self::NoRoom { error } => Some(error),
            Self::NothingInIt { .. } => None,
        }
    }
}
