//! What must hold for any bytes.

use holdup::archive::{Archive, Input};
use holdup::diagnose::Options;
use holdup::model::{Batch, Delta, Kind, Place, Time};
use holdup::runtime::Triage;
use holdup::watch::{Items, Page};
use serde_json::Value;

use crate::damage::Damage;
use crate::desired;

pub type Check = fn(Kind, &[u8], &mut Damage) -> Result<(), String>;

pub fn named(name: &str) -> Option<Check> {
    match name {
        "reader" => Some(reader),
        "list" => Some(list),
        "judge" => Some(judge),
        "managed" => Some(desired::managed),
        "release" => Some(desired::release),
        "quantity" => Some(desired::quantity),
        "manifests" => Some(desired::manifests),
        "rule" => Some(desired::rule),
        "log" => Some(desired::log),
        _ => None,
    }
}

/// The reader takes what serde_json takes and has a name, and never what ended too early. Texts that are no Unicode it reads as well
/// as it can.
fn reader(kind: Kind, bytes: &[u8], _: &mut Damage) -> Result<(), String> {
    let mut batch = Batch::new(kind);
    batch.upsert(bytes);
    if batch.len() + batch.refused() != 1 {
        return Err(format!("one input became {} and {} refused", batch.len(), batch.refused()));
    }
    match (serde_json::from_slice::<Value>(bytes), batch.refused()) {
        (Ok(value), 1) if is_named(&value) => Err("a sound object was refused".to_owned()),
        (Err(error), 0) if error.is_eof() => Err(format!("what ended too early was taken: {error}")),
        _ => Ok(()),
    }
}

fn is_named(value: &Value) -> bool {
    value.pointer("/metadata/name").and_then(Value::as_str).is_some_and(|name| !name.is_empty())
}

/// A page that arrives in pieces, cut anywhere, is what it is when it comes at once.
fn list(kind: Kind, bytes: &[u8], damage: &mut Damage) -> Result<(), String> {
    let page = [b"{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[", bytes, b",", bytes, b"]}"].concat();
    let whole = read(kind, &page, |_| usize::MAX);
    let cut = read(kind, &page, |_| 1 + damage.below(300));
    if whole == cut { Ok(()) } else { Err(format!("at once {whole:?}, in pieces {cut:?}")) }
}

/// How many objects were read and refused; none where the page ended too early.
fn read(kind: Kind, page: &[u8], mut next: impl FnMut(usize) -> usize) -> Option<(usize, usize)> {
    let (mut cutting, mut items, mut batch, mut at) = (Page::default(), Items::default(), Batch::new(kind), 0);
    while at < page.len() {
        let end = page.len().min(at.saturating_add(next(at)));
        cutting.push(&page[at..end]);
        if let Some(piece) = cutting.take() {
            items.read(&piece, &mut batch);
        }
        at = end;
    }
    let (_, last) = cutting.finish().ok()?;
    last.into_iter().for_each(|piece| items.read(&piece, &mut batch));
    Some((batch.len(), batch.refused()))
}

/// No object makes a cause fail, whether it comes by a feed or from a file.
fn judge(kind: Kind, bytes: &[u8], _: &mut Damage) -> Result<(), String> {
    let mut triage = Triage::new(Options { clock_is_known: true, ..Options::default() });
    let mut batch = Batch::new(kind);
    batch.upsert(bytes);
    triage.apply(Delta::Began { kind, place: Place::All, epoch: 0 });
    triage.apply(Delta::Batch { kind, place: Place::All, epoch: 0, batch });
    triage.apply(Delta::Synced { kind, place: Place::All, epoch: 0 });
    sound(&mut triage)?;
    let file = std::env::temp_dir().join(format!("holdup-fuzz-{}.json", std::process::id()));
    std::fs::write(&file, bytes).map_err(|error| error.to_string())?;
    let archive = Archive::open(&[Input::Path(file.clone())]);
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    let Ok(archive) = archive else { return Ok(()) };
    let mut triage = Triage::new(Options::default());
    for delta in archive.deltas() {
        triage.apply(delta);
    }
    sound(&mut triage)
}

fn sound(triage: &mut Triage) -> Result<(), String> {
    let now = Time::parse("2026-12-01T00:00:00Z").ok_or("the time of judgement is no time")?;
    triage.judge(now);
    let report = triage.report();
    let failed = report.quiet.iter().find(|quiet| quiet.reason.starts_with("internal error"));
    failed.map_or(Ok(()), |quiet| Err(quiet.reason.to_string()))
}
