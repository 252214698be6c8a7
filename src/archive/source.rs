//! Where the bytes of an archive lie: in the user's own files, or in a spool for what had to be unpacked or converted.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// What a spool keeps in memory before it moves to a temporary file.
const IN_MEMORY: usize = 64 << 20;

/// Bytes that can be read at any place.
pub(super) enum Source {
    File(File),
    Spool(Spool),
}

/// Some bytes of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub source: u32,
    pub start: u64,
    pub end: u64,
}

impl Span {
    pub(super) fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl Source {
    /// A place for bytes that are no file of the user's.
    pub(super) fn spool() -> Self {
        Self::Spool(Spool::Memory(Vec::new()))
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.metadata().map_or(0, |about| about.len()),
            Self::Spool(Spool::Memory(bytes)) => bytes.len() as u64,
            Self::Spool(Spool::File { length, .. }) => *length,
        }
    }

    /// Appends everything that this reader has. Where reading fails, what came before is kept.
    pub(super) fn copy(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut buffer = vec![0; 256 << 10];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => self.append(&buffer[..read])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Adds to a spool; a file of the user's is never written.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            Self::Spool(spool) => spool.append(bytes),
        }
    }

    /// Fills the buffer from `at` on as far as there are bytes; says how many there were.
    pub(super) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => read_at(file, buffer, at),
            Self::Spool(spool) => spool.read_at(buffer, at),
        }
    }

    /// All bytes of a span.
    pub(super) fn bytes(&self, span: Span) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(span.len()).unwrap_or(usize::MAX)];
        let read = self.read_at(&mut bytes, span.start)?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Bytes that are no file of the user's: unpacked, converted from YAML, read from a pipe. Small ones stay in memory.
pub(super) enum Spool {
    Memory(Vec<u8>),
    /// A file without a name: it goes with the last one who holds it open.
    File {
        file: File,
        length: u64,
    },
}

impl Spool {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Self::Memory(kept) = self {
            if kept.len() + bytes.len() <= IN_MEMORY {
                kept.extend_from_slice(bytes);
                return Ok(());
            }
            let mut file = nameless_file()?;
            file.write_all(kept)?;
            *self = Self::File { file, length: kept.len() as u64 };
        }
        if let Self::File { file, length } = self {
            file.write_all(bytes)?;
            *length += bytes.len() as u64;
        }
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::File { file, .. } => read_at(file, buffer, at),
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let length = rest.len().min(buffer.len());
                buffer[..length].copy_from_slice(&rest[..length]);
                Ok(length)
            }
        }
    }
}

/// A file in the folder for temporary files, readable by this user only, and already removed.
fn nameless_file() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let mut number = u64::from(std::process::id());
    loop {
        let path = folder.join(format!("holdup-{number}.spool"));
        match create_new(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1 << 32,
            Err(error) => return Err(error),
        }
    }
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}
