//! Writes snapshots: a List as `kubectl get -o json` gives it, object by object, to a file that is whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::about::Totals;
use crate::model::{Coverage, CoverageState, Time};

/// What a snapshot says of itself.
#[derive(Debug, Clone)]
pub struct Header {
    pub captured_at: Time,
    pub context: String,
    /// What in it is complete; everything else counts as not in the input.
    pub coverage: Coverage,
    /// References that were looked up and were not there.
    pub gone: Vec<String>,
    /// What the whole cluster held, of which the file may hold a part.
    pub totals: Totals,
    /// Names the key that made the tags in it.
    pub tags: String,
}

/// What to do with a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Keep,
    Overwrite,
}

/// A snapshot while it is written: under a temporary name beside its place, readable by this user alone. Dropped before
/// [`Writer::finish`] it leaves nothing, and what was there before stays whole.
pub struct Writer {
    path: PathBuf,
    temporary: Temporary,
    existing: Existing,
    out: Out,
    objects: u64,
}

/// The temporary file, removed unless it took its place.
struct Temporary(Option<PathBuf>);

enum Out {
    Plain(BufWriter<File>),
    Packed(Box<GzEncoder<BufWriter<File>>>),
}

impl Writer {
    /// Begins a snapshot, gzipped if the name ends in `.gz`.
    ///
    /// # Errors
    /// The file is there and is to be kept, or its folder cannot be written to.
    pub fn create(path: &Path, header: &Header, existing: Existing) -> io::Result<Self> {
        if existing == Existing::Keep && path.symlink_metadata().is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} is there already; choose another name or use --force", path.display()),
            ));
        }
        let (temporary, file) = temporary(path)?;
        let buffered = BufWriter::with_capacity(1 << 16, file);
        let packed = path.extension().is_some_and(|e| e == "gz");
        let mut out = if packed { Out::Packed(Box::new(GzEncoder::new(buffered, Compression::default()))) } else { Out::Plain(buffered) };
        out.write_all(head(header).as_bytes())?;
        Ok(Self { path: path.to_owned(), temporary, existing, out, objects: 0 })
    }

    /// Adds one object. It must be redacted.
    ///
    /// # Errors
    /// The disk is full, or gone.
    pub fn object(&mut self, json: &[u8]) -> io::Result<()> {
        self.out.write_all(if self.objects == 0 { b"\n" } else { b",\n" })?;
        self.objects += 1;
        self.out.write_all(json)
    }

    /// Completes the file and puts it in its place in one step. Answers how many objects it holds.
    ///
    /// # Errors
    /// The disk is full, or gone; nothing is left then.
    pub fn finish(mut self) -> io::Result<u64> {
        self.out.write_all(b"\n]}\n")?;
        let file = match self.out {
            Out::Plain(buffered) => buffered.into_inner().map_err(io::IntoInnerError::into_error)?,
            Out::Packed(packed) => packed.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?,
        };
        file.sync_all()?;
        if let Some(temporary) = &self.temporary.0 {
            place(temporary, &self.path, self.existing)?;
        }
        self.temporary.0 = None;
        Ok(self.objects)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Packed(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Packed(out) => out.flush(),
        }
    }
}

/// Puts the complete file where it belongs. A link, unlike a renaming, never takes the place of a file that came meanwhile.
fn place(temporary: &Path, path: &Path, existing: Existing) -> io::Result<()> {
    let linked = match existing {
        Existing::Overwrite => return fs::rename(temporary, path),
        Existing::Keep => fs::hard_link(temporary, path),
    };
    match linked {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no links.
        Err(_) => fs::rename(temporary, path),
    }
}

/// A new file beside `path` that only this user can read.
fn temporary(path: &Path) -> io::Result<(Temporary, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("{} names no file", path.display())))?;
    let mut last = None;
    for attempt in 0..100 {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{attempt}", std::process::id()));
        let place = path.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&place) {
            Ok(file) => return Ok((Temporary(Some(place)), file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("no temporary name is free")))
}

/// Everything before the first object. Metadata comes first, so that a reader knows what it reads.
fn head(header: &Header) -> String {
    let coverage: Vec<Value> = header.coverage.iter().map(|(kind, namespace, state)| line(kind.row(), namespace, state)).collect();
    let annotations = json!({
        "holdup.dev/captured-at": header.captured_at.rfc3339(),
        "holdup.dev/context": header.context,
        "holdup.dev/version": env!("CARGO_PKG_VERSION"),
        "holdup.dev/coverage": Value::from(coverage).to_string(),
        "holdup.dev/gone": json!(header.gone).to_string(),
        "holdup.dev/tags": header.tags,
        "holdup.dev/totals": json!({"pods": header.totals.pods, "workloads": header.totals.workloads}).to_string(),
    });
    format!("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{{\"resourceVersion\":\"\",\"annotations\":{annotations}}},\"items\":[")
}

fn line(row: &crate::model::KindRow, namespace: Option<&str>, state: &CoverageState) -> Value {
    let kind =
        if row.group.contains('.') && !row.group.ends_with("k8s.io") { format!("{}.{}", row.name, row.group) } else { row.name.to_owned() };
    let (state, message, since) = match state {
        CoverageState::Loading => ("loading", None, None),
        CoverageState::Synced => ("synced", None, None),
        CoverageState::Denied { message, since } => ("denied", Some(message), *since),
        CoverageState::Absent { message } => ("absent", Some(message), None),
        CoverageState::Stale { message, since } => ("stale", Some(message), *since),
    };
    json!({"kind": kind, "state": state, "namespace": namespace, "message": message, "since": since.map(Time::rfc3339)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Archive;
    use crate::model::Kind;
    use std::os::unix::fs::PermissionsExt;

    fn header() -> Header {
        let mut coverage = Coverage::default();
        coverage.set(Kind::Secret, None, CoverageState::Denied { message: "secrets is forbidden".into(), since: None });
        coverage.set(Kind::Pod, Some("shop"), CoverageState::Synced);
        let captured_at = Time::parse("2026-05-04T10:12:00Z").expect("a time");
        Header {
            captured_at,
            context: "prod-eu".into(),
            coverage,
            gone: vec!["Secret/shop/db".into()],
            totals: Totals { pods: 7, workloads: 3 },
            tags: "key".into(),
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("holdup-write-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    const POD: &[u8] = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop"}}"#;

    #[test]
    fn what_is_written_is_read_back_with_what_it_says_of_itself() {
        for name in ["plain.json", "packed.json.gz"] {
            let path = folder("back").join(name);
            let mut writer = Writer::create(&path, &header(), Existing::Overwrite).expect("created");
            writer.object(POD).expect("written");
            assert_eq!(writer.finish().expect("finished"), 1);
            assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
            let archive = Archive::open(&[crate::archive::Input::Path(path.clone())]).expect("readable");
            let about = archive.about();
            assert_eq!((about.captured_at, about.context.as_deref()), (Some(header().captured_at), Some("prod-eu")));
            assert_eq!((&about.gone, about.tags.as_deref()), (&vec!["Secret/shop/db".to_owned()], Some("key")));
            assert!(matches!(about.coverage().get(Kind::Secret, ""), Some(CoverageState::Denied { .. })));
            assert!(about.coverage().is_synced(Kind::Pod, "shop"));
            assert_eq!((about.objects, about.totals), (1, Some(header().totals)));
        }
    }

    #[test]
    fn an_unfinished_snapshot_leaves_nothing_and_what_was_there_stays() {
        let folder = folder("unfinished");
        let path = folder.join("old.json");
        fs::write(&path, "old").expect("written");
        assert!(Writer::create(&path, &header(), Existing::Keep).is_err());
        let mut writer = Writer::create(&path, &header(), Existing::Overwrite).expect("created");
        writer.object(POD).expect("written");
        drop(writer);
        assert_eq!(fs::read_to_string(&path).expect("there"), "old");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1);
    }
}
