//! Opens files, folders and standard input: unpacks, converts and hands every stretch of JSON to the scanner.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::folder::{Member, Role, members};
use super::gather::{Gather, TextLog};
use super::scan::{LOG_STARTS, scan};
use super::source::{Source, Span};
use super::yaml::{Document, documents};
use super::{Archive, ArchiveError, Input, Previous};

/// Files up to this size are kept in the spool, so that a folder of thousands needs no thousands of open files.
const SMALL: u64 = 1 << 20;
/// Of a log no more than this is kept.
const LOG_LINES: usize = 5000;
const LOG_BYTES: u64 = 4 << 20;
/// The source in which everything lies that is no file of the user's.
const SPOOL: u32 = 0;

pub(super) fn open(inputs: &[Input]) -> Result<Archive, ArchiveError> {
    let mut builder = Builder::new();
    for input in inputs {
        match input {
            Input::Stdin => builder.input("standard input", &mut io::stdin().lock())?,
            Input::Path(path) => builder.path(path)?,
        }
    }
    Ok(builder.finish())
}

pub(super) fn from_bytes(name: &str, mut bytes: &[u8]) -> Result<Archive, ArchiveError> {
    let mut builder = Builder::new();
    builder.input(name, &mut bytes)?;
    Ok(builder.finish())
}

struct Builder {
    sources: Vec<Source>,
    gather: Gather,
}

impl Builder {
    fn new() -> Self {
        Self { sources: vec![Source::spool()], gather: Gather::default() }
    }

    fn finish(self) -> Archive {
        self.gather.into_archive(self.sources)
    }

    fn path(&mut self, path: &Path) -> Result<(), ArchiveError> {
        let name = path.display().to_string();
        let unreadable = |error| ArchiveError::Unreadable { name: name.clone(), error };
        if path.is_dir() {
            let before = self.gather.found;
            for member in members(path).map_err(unreadable)? {
                self.member(member)?;
            }
            self.gather.folder = None;
            return self.found_since(before, &name, "no file below it ends in .json, .jsonl, .yaml, .yml or one of these and .gz");
        }
        let mut file = File::open(path).map_err(unreadable)?;
        self.file_or_pipe(&name, &mut file)
    }

    fn file_or_pipe(&mut self, name: &str, file: &mut File) -> Result<(), ArchiveError> {
        let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|about| about.len());
        let mut magic = [0; 2];
        let own = length.filter(|length| *length > SMALL && file.read_exact(&mut magic).is_ok() && !is_gzip(&magic));
        let Some(end) = own else {
            let mut file: Box<dyn Read> = Box::new((&magic[..if length.is_some_and(|l| l > SMALL) { 2 } else { 0 }]).chain(file));
            return self.input(name, &mut file);
        };
        let file = file.try_clone().map_err(|error| ArchiveError::Unreadable { name: name.to_owned(), error })?;
        let source = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        self.sources.push(Source::File(file));
        let before = self.gather.found;
        self.stretch(name, Span { source, start: 0, end })?;
        self.found_since(before, name, "it holds no list and no object with a name")
    }

    /// Something in a folder: what cannot be read there is said, and the rest is read.
    fn member(&mut self, member: Member) -> Result<(), ArchiveError> {
        let name = member.path.display().to_string();
        let mut file = match File::open(&member.path) {
            Ok(file) => file,
            Err(error) => {
                self.gather.skip(&name, 1, format!("cannot be read: {error}"));
                return Ok(());
            }
        };
        match member.role {
            Role::Log { namespace, pod, container, previous } => {
                let lines = last_lines(&file, is_named_gzip(&member.path)).unwrap_or_default();
                self.write_log(&name, &TextLog { namespace, pod, container, previous, lines })
            }
            Role::Objects { namespace } => {
                self.gather.folder = namespace;
                match self.file_or_pipe(&name, &mut file) {
                    Err(ArchiveError::NothingInIt { why, .. }) => self.gather.skip(&name, 1, why),
                    Err(ArchiveError::Unreadable { error, .. }) => self.gather.skip(&name, 1, format!("cannot be read: {error}")),
                    Err(full @ ArchiveError::NoRoom { .. }) => return Err(full),
                    Ok(()) => {}
                }
                Ok(())
            }
        }
    }

    /// Reads everything from a pipe, a small file or memory into the spool, unpacked, and looks at it there.
    fn input(&mut self, name: &str, from: &mut dyn Read) -> Result<(), ArchiveError> {
        let before = self.gather.found;
        let start = self.spool().len();
        let mut magic = Vec::new();
        let unreadable = |error| ArchiveError::Unreadable { name: name.to_owned(), error };
        from.take(2).read_to_end(&mut magic).map_err(unreadable)?;
        let whole = magic.chain(from);
        let copied = if is_gzip(&magic) { self.spool().copy(&mut MultiGzDecoder::new(whole)) } else { self.spool().copy(&mut { whole }) };
        let end = self.spool().len();
        match copied {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(ArchiveError::NoRoom { error }),
            Err(error) if end == start => return Err(unreadable(error)),
            Err(error) => self.gather.skip(name, 1, format!("cannot be read to its end ({error}); what came before is used")),
            Ok(()) => {}
        }
        self.stretch(name, Span { source: SPOOL, start, end })?;
        self.found_since(before, name, if end == start { "it is empty" } else { "it holds no list and no object with a name" })
    }

    fn found_since(&self, before: usize, name: &str, why: &str) -> Result<(), ArchiveError> {
        if self.gather.found > before {
            return Ok(());
        }
        let why = self.gather.first_skipped(name).unwrap_or_else(|| why.to_owned());
        Err(ArchiveError::NothingInIt { name: name.to_owned(), why })
    }

    fn spool(&mut self) -> &mut Source {
        &mut self.sources[SPOOL as usize]
    }

    fn stretch(&mut self, name: &str, span: Span) -> Result<(), ArchiveError> {
        let mut start = vec![0; LOG_STARTS.len() + 64];
        let source = &self.sources[span.source as usize];
        let read = source.read_at(&mut start, span.start).unwrap_or(0).min(usize::try_from(span.len()).unwrap_or(usize::MAX));
        let start = start[..read].strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&start[..read]).trim_ascii_start();
        if start.is_empty() || matches!(start[0], b'{' | b'[') || start.starts_with(LOG_STARTS) {
            self.json(name, span)
        } else {
            self.yaml(name, span)
        }
    }

    fn json(&mut self, name: &str, span: Span) -> Result<(), ArchiveError> {
        let Self { sources, gather } = self;
        let source = &sources[span.source as usize];
        scan(source, span, &mut |piece| gather.take(piece));
        let mut odd = gather.finish_stretch();
        odd.sort();
        let lines = lines_at(source, span, odd.iter().map(|(at, _)| *at));
        for ((_, why), line) in odd.into_iter().zip(lines) {
            gather.skip(name, line, why);
        }
        for log in std::mem::take(&mut gather.logs) {
            self.write_log(name, &log)?;
        }
        Ok(())
    }

    fn yaml(&mut self, name: &str, span: Span) -> Result<(), ArchiveError> {
        let bytes =
            self.sources[span.source as usize].bytes(span).map_err(|error| ArchiveError::Unreadable { name: name.to_owned(), error })?;
        let text = String::from_utf8_lossy(&bytes);
        let mut failed = Ok(());
        documents(&text, &mut |document| match document {
            Document::Odd { line, why } => self.gather.skip(name, line as u64, why),
            Document::Json { line, json } => {
                if let Err(error) = self.converted(name, line, &json) {
                    failed = Err(error);
                }
            }
        });
        failed
    }

    fn converted(&mut self, name: &str, line: usize, json: &[u8]) -> Result<(), ArchiveError> {
        let start = self.spool().len();
        self.spool().append(json).map_err(|error| ArchiveError::NoRoom { error })?;
        let end = self.spool().len();
        let Self { sources, gather } = self;
        scan(&sources[0], Span { source: SPOOL, start, end }, &mut |piece| gather.take(piece));
        for (_, why) in gather.finish_stretch() {
            gather.skip(name, line as u64, why);
        }
        Ok(())
    }

    fn write_log(&mut self, name: &str, log: &TextLog) -> Result<(), ArchiveError> {
        let lines = &log.lines[log.lines.len().saturating_sub(LOG_LINES)..];
        let json = serde_json::json!({"apiVersion": "holdup.dev/v1", "kind": "Log",
            "metadata": {"namespace": log.namespace, "name": log.pod},
            "container": log.container, "previous": log.previous == Previous::Yes, "lines": lines});
        self.converted(name, 1, json.to_string().as_bytes())
    }
}

fn is_gzip(magic: &[u8]) -> bool {
    magic == [0x1F, 0x8B]
}

fn is_named_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "gz")
}

/// The end of a log.
fn last_lines(file: &File, packed: bool) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    if packed {
        MultiGzDecoder::new(file).take(LOG_BYTES).read_to_end(&mut text)?;
    } else {
        let length = file.metadata()?.len();
        let start = length.saturating_sub(LOG_BYTES);
        text = Source::File(file.try_clone()?).bytes(Span { source: 0, start, end: length })?;
    }
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

/// The lines, counted from 1, in which these places lie; the places come in order.
fn lines_at(source: &Source, span: Span, places: impl Iterator<Item = u64>) -> Vec<u64> {
    let (mut line, mut at) = (1, span.start);
    let mut buffer = vec![0; 256 << 10];
    let mut lines = Vec::new();
    for place in places {
        while at < place {
            let wanted = usize::try_from(place - at).unwrap_or(usize::MAX).min(buffer.len());
            let read = source.read_at(&mut buffer[..wanted], at).unwrap_or(0);
            if read == 0 {
                break;
            }
            line += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
            at += read as u64;
        }
        lines.push(line);
    }
    lines
}
