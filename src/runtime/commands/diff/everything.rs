//! `holdup diff --all`: everything of a cluster or of files, worst first, with progress on a terminal; stopped, it says what it has.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use color_eyre::{Result, eyre::bail, eyre::eyre};
use tokio::signal::unix::{SignalKind, signal};

use super::manifests;
use crate::archive::{About, Archive, Input};
use crate::cli::{Cli, ClusterArgs, DiffArgs};
use crate::desired::{Census, Identity, Looked, Unchecked, Weight};
use crate::export::diff::{Compared, Compilation, Remarks, Surveyed};
use crate::model::{Place, Time};
use crate::redact::Redactor;
use crate::runtime::commands::unless_stopped;
use crate::runtime::feeds::Wanted;
use crate::runtime::reader::{Reader, Unread, paged};
use crate::runtime::rulings::Rulings;
use crate::runtime::survey::{At, Narrow, Step, Survey};
use crate::runtime::{live, load, survey, wall_clock};

/// What is surveyed.
struct Subject {
    reader: Reader,
    narrow: Narrow,
    /// What is known of the file that is read, by itself or by a server; `None`: a cluster.
    about: Option<About>,
    now: Time,
    unread: Vec<Unchecked>,
}

/// Compares everything that the arguments reach.
pub(super) async fn compared(cli: &Cli, args: &DiffArgs, redactor: Redactor, rulings: Rulings) -> Result<(Compilation, Remarks)> {
    let from = if args.live.is_empty() { &cli.input.from } else { &args.live };
    let mut subject = unless_stopped(async {
        let related = manifests::objects(&args.related)?.into_iter().map(|(_, object)| Arc::new(object)).collect();
        if from.is_empty() { of_cluster(&cli.cluster, related, redactor).await } else { of_files(cli, from, related, redactor).await }
    })
    .await?;
    subject.reader.rulings = rulings.judging_at(Some(subject.now));
    subject.reader.rulings.tags = subject.about.as_ref().and_then(|about| about.tags.clone());
    let mut found = Found { unread: std::mem::take(&mut subject.unread), ..Found::default() };
    let mut census = Census::default();
    let stopped = survey(&mut subject, &mut census, &mut found).await?;
    found.all.sort_by_cached_key(|compared| (Weight::of(&compared.diff.fields), compared.diff.object.clone()));
    let Found { all, unread, .. } = found;
    let looked = if stopped.is_some() { Looked::AtSome } else { Looked::AtAll };
    let remarks = Remarks { lint: subject.reader.rulings.remarks(looked), log: None };
    Ok((Compilation::Everything(Box::new(Surveyed { all, unread, governance: census.close(), now: subject.now, stopped })), remarks))
}

/// Answers where it was stopped, if it was.
async fn survey(subject: &mut Subject, census: &mut Census, found: &mut Found) -> Result<Option<String>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let about = subject.about.clone();
    let doubt = |object: &Identity| about.as_ref().and_then(|about| survey::doubt_of(about, object));
    let mut tell = |step: Step| found.take(step);
    let mut survey = Survey::new(&mut subject.reader, &subject.narrow, census, &doubt, &mut tell);
    let ended = tokio::select! {
        () = survey.run() => Ok(false),
        _ = interrupt.recv() => Ok(true),
        _ = terminate.recv() => Err("terminated"),
        _ = hang_up.recv() => Err("the terminal is gone"),
    };
    found.progress.clear();
    match ended {
        Ok(is_stopped) => Ok(is_stopped.then(|| found.at.clone())),
        Err(why) => bail!("{why}"),
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    all: Vec<Compared>,
    unread: Vec<Unchecked>,
    differing: usize,
    at: String,
    progress: Progress,
}

impl Found {
    fn take(&mut self, step: Step) {
        match step {
            Step::At(At { kind, read, of, objects }) => {
                self.at = format!("after {read} of {of} kinds, at {kind}");
                self.progress.say(&format!("{objects} objects seen, {} differ; {read} of {of} kinds: {kind}", self.differing));
            }
            Step::Compared(compared) => {
                self.differing += usize::from(compared.is_telling());
                self.all.push(*compared);
            }
            Step::Unread(unchecked) => self.unread.push(unchecked),
        }
    }
}

/// One line on standard error that is written over, where somebody looks at it.
struct Progress {
    is_watched: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self { is_watched: std::io::stderr().is_terminal() }
    }
}

impl Progress {
    fn say(&self, text: &str) {
        if self.is_watched {
            let _ = write!(std::io::stderr(), "\r\u{1b}[Kholdup: {}", crate::export::clean(text));
        }
    }

    fn clear(&self) {
        if self.is_watched {
            let _ = write!(std::io::stderr(), "\r\u{1b}[K");
        }
    }
}

async fn of_cluster(args: &ClusterArgs, related: Vec<Arc<serde_json::Value>>, redactor: Redactor) -> Result<Subject> {
    let connection = live::connect(args).await?;
    let now = connection.now();
    let reader = Reader::open(connection, live::patience(args), redactor).await?;
    let places = places(args, &reader).await;
    let now = reader.connection.now().or(now).unwrap_or_else(wall_clock);
    let secrets = Unchecked {
        kind: "Secret".to_owned(),
        namespace: None,
        why: "not opened unless named, or in the baseline; compare one with holdup diff secret/NAME".to_owned(),
    };
    let about = survey::served(&reader.connection, live::patience(args)).await;
    let unread = about.iter().flat_map(survey::unread_of).chain([secrets]).collect();
    Ok(Subject { narrow: narrow(args, places, related), about, now, unread, reader })
}

fn narrow(args: &ClusterArgs, places: Vec<Place>, related: Vec<Arc<serde_json::Value>>) -> Narrow {
    let text = |selector: &Option<String>| selector.clone().unwrap_or_default();
    Narrow { places, labels: text(&args.selector), fields: text(&args.field_selector), related }
}

/// A file is asked as a cluster is: the same questions, the same answers.
async fn of_files(cli: &Cli, from: &[std::path::PathBuf], related: Vec<Arc<serde_json::Value>>, redactor: Redactor) -> Result<Subject> {
    let inputs: Vec<Input> =
        from.iter().map(|path| if path == Path::new("-") { Input::Stdin } else { Input::Path(path.clone()) }).collect();
    let archive = Arc::new(Archive::open(&inputs).map_err(|error| eyre!("{error}"))?);
    load::tell_skipped(archive.about());
    let reader = Reader::open(survey::connection(&archive), live::patience(&cli.cluster), redactor).await?;
    let named = &cli.cluster.namespaces;
    let places =
        if named.is_empty() { vec![Place::All] } else { named.iter().map(|name| Place::Namespace(name.as_str().into())).collect() };
    let now = cli.input.now.or_else(|| archive.about().now()).unwrap_or_else(wall_clock);
    Ok(Subject {
        reader,
        narrow: narrow(&cli.cluster, places, related),
        unread: survey::unread_of(archive.about()),
        about: Some(archive.about().clone()),
        now,
    })
}

/// All namespaces if pods can be listed there, else that of the context, as for reports.
async fn places(args: &ClusterArgs, reader: &Reader) -> Vec<Place> {
    let one = |namespace: &str| Place::Namespace(namespace.into());
    match live::wanted(args) {
        Wanted::All => vec![Place::All],
        Wanted::Namespaces(names) => names.iter().map(|name| one(name)).collect(),
        Wanted::ByRights => {
            let Err(Unread::Unseen(why)) = pods(reader).await else { return vec![Place::All] };
            let namespace = &reader.connection.about().namespace;
            eprintln!("holdup: pods of the whole cluster may not be listed ({why}): looking at namespace {namespace} alone");
            vec![one(namespace)]
        }
    }
}

/// Whether pods can be listed everywhere.
async fn pods(reader: &Reader) -> Result<(), Unread> {
    let served = reader.kind("pods")?;
    reader.page(&served, &Place::All, paged(1, "", "")).await.map(|_| ())
}
