//! Desired versus live from files alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use color_eyre::Result;
use color_eyre::eyre::{bail, eyre};
use serde_json::Value;

use super::cluster::{deployed, named, unseen};
use super::explaining::Explaining;
use super::manifests::{declared, objects};
use super::{absent, names};
use crate::archive::{Archive, ArchivedKind, Input};
use crate::cli::{Cli, DiffArgs};
use crate::desired::{self, Desired, Evidence, Fetched, Identity, Looked, Object, Release, helm};
use crate::export::clean;
use crate::export::diff::{Compared, Compilation, Remarks, Said};
use crate::model::Time;
use crate::redact::Redactor;
use crate::runtime::load;
use crate::runtime::rulings::Rulings;
use crate::runtime::survey::doubt_of;

/// Compares what the files hold.
pub(super) fn compared(cli: &Cli, args: &DiffArgs, redactor: &Redactor, rulings: Rulings) -> Result<(Compilation, Remarks)> {
    let files = Files::read(cli, args, redactor)?;
    let mut rulings = rulings.judging_at(files.as_of);
    if let Some(archive) = &files.archive {
        rulings.tags.clone_from(&archive.about().tags);
    }
    let all = match &args.release {
        Some(name) => of_release(name, (cli, args), &files, redactor, &mut rulings)?,
        None => pairs(args, &files, redactor, &mut rulings)?,
    };
    let looked = if args.objects.is_empty() { Looked::AtAll } else { Looked::AtSome };
    Ok((Compilation::Named(all), Remarks { lint: rulings.remarks(looked), log: None }))
}

/// Everything the files hold. Live objects and manifests are sorted by name, by which each finds the other.
struct Files {
    live: Vec<Object>,
    manifests: Vec<(String, Object)>,
    releases: Vec<Release>,
    explaining: Explaining,
    /// Names of releases of which Helm 2 kept the records.
    second: BTreeSet<String>,
    /// When they were captured, or as of when they are to be judged.
    as_of: Option<Time>,
    archive: Option<Archive>,
}

impl Files {
    fn read(cli: &Cli, args: &DiffArgs, redactor: &Redactor) -> Result<Self> {
        let mut archive = None;
        let mut related = objects(&args.related)?.into_iter().map(|(_, object)| object).collect();
        let live = match (args.live.is_empty(), cli.input.from.is_empty()) {
            (false, _) => objects(&args.live)?.into_iter().map(|(_, object)| object).collect(),
            (true, false) => archived(archive.insert(open(&cli.input.from)?), args, &mut related),
            (true, true) => Vec::new(),
        };
        let mut manifests = declared(&args.desired, redactor)?;
        manifests.retain(|(_, object)| is_in(object, &cli.cluster.namespaces));
        if manifests.is_empty() && !args.desired.is_empty() {
            bail!("the manifests declare nothing in namespace {}; leave -n out, or name another", cli.cluster.namespaces.join(", "));
        }
        let second = related.iter().chain(&live).filter_map(helm::second).map(str::to_owned).collect();
        manifests.sort_by(|(_, a), (_, b)| a.name().cmp(b.name()));
        let (records, related): (Vec<Value>, Vec<Value>) = related.into_iter().partition(helm::is_record);
        let mut live: Vec<Object> = live.into_iter().map(|object| Object::new(object, redactor)).collect();
        live.retain(|object| is_in(object, &cli.cluster.namespaces));
        live.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(Self {
            live,
            manifests,
            releases: records.iter().filter_map(|record| release(record, redactor)).collect(),
            explaining: related.into_iter().collect(),
            second,
            as_of: cli.input.now.or(archive.as_ref().and_then(|archive: &Archive| archive.about().now())),
            archive,
        })
    }

    fn fetched<'a>(&'a self, live: &'a Object, related: &'a [Arc<Value>], redactor: &'a Redactor) -> Fetched<'a> {
        Fetched { live, files: self.declared(live.name()), releases: &self.releases, related, redactor }
    }

    /// The manifests of a name.
    fn declared(&self, name: &str) -> &[(String, Object)] {
        called(&self.manifests, name, |(_, object)| object.name())
    }

    /// The live object that a manifest means.
    fn live(&self, identity: &Identity) -> Option<&Object> {
        called(&self.live, &identity.name, Object::name).iter().find(|live| identity.is_like(&live.identity()))
    }

    /// Whether KIND/NAME or KIND/NAMESPACE/NAME means this object.
    fn is_meant(&self, identity: &Identity, text: &str) -> bool {
        let Some((word, name)) = names(text) else { return false };
        let known = self.archive.as_ref().and_then(|archive| archive.kind(&identity.group, &identity.kind)).cloned();
        let kind = known.unwrap_or_else(|| ArchivedKind::of(&identity.group, &identity.kind));
        kind.answers_to(word) && is_called(identity, name)
    }

    fn is_among(&self, identity: &Identity, texts: &[String]) -> bool {
        texts.is_empty() || texts.iter().any(|text| self.is_meant(identity, text))
    }

    /// Declared, and not among the live objects: that says something only where all of its kind were to be in the files.
    fn missing(&self, desired: &Desired) -> Compared {
        let identity = desired.object.identity();
        let doubt = self.archive.as_ref().and_then(|archive| doubt_of(archive.about(), &identity));
        doubt.map_or_else(|| absent(desired), |why| unseen(identity, why))
    }
}

/// Those of a name, where all are sorted by it.
fn called<'a, T>(sorted: &'a [T], name: &str, of: impl Fn(&T) -> &str) -> &'a [T] {
    let begin = sorted.partition_point(|item| of(item) < name);
    let count = sorted[begin..].partition_point(|item| of(item) == name);
    &sorted[begin..begin + count]
}

/// `-n` narrows what lies in namespaces.
fn is_in(object: &Object, namespaces: &[String]) -> bool {
    let namespace = object.identity().namespace;
    namespaces.is_empty() || namespace.is_empty() || namespaces.contains(&namespace)
}

/// A record that cannot be read costs only itself.
fn release(record: &Value, redactor: &Redactor) -> Option<Release> {
    let name = record.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let told = |why: String| eprintln!("holdup: {}", clean(&why));
    match helm::read(record, redactor) {
        Ok(release) => {
            release.faults().into_iter().for_each(told);
            Some(release)
        }
        Err(why) => {
            told(format!("{name}: {why}; this revision is left out, everything else is compared."));
            None
        }
    }
}

fn open(from: &[PathBuf]) -> Result<Archive> {
    let inputs: Vec<Input> =
        from.iter().map(|path| if path == Path::new("-") { Input::Stdin } else { Input::Path(path.clone()) }).collect();
    let archive = Archive::open(&inputs).map_err(|error| eyre!("{error}"))?;
    load::tell_skipped(archive.about());
    Ok(archive)
}

/// The live objects of an archive, and those that explain differences.
fn archived(archive: &Archive, args: &DiffArgs, related: &mut Vec<Value>) -> Vec<Value> {
    let mut live = Vec::new();
    for kind in archive.kinds() {
        let explains = EXPLAINING.contains(&&*kind.name);
        let wanted = args.objects.is_empty() || args.objects.iter().any(|name| names(name).is_some_and(|(word, _)| kind.answers_to(word)));
        for object in archive.objects(kind, None).filter(|_| explains || wanted) {
            let Ok(value) = serde_json::from_slice::<Value>(&object.bytes()) else { continue };
            let is_record = helm::is_record(&value);
            let is_settings = value.pointer("/metadata/name").is_some_and(|name| name == "argocd-cm");
            if explains && (is_record || helm::second(&value).is_some() || is_settings || !matches!(&*kind.name, "Secret" | "ConfigMap")) {
                related.push(value.clone());
            }
            if wanted && !is_record {
                live.push(value);
            }
        }
    }
    live
}

/// Kinds that explain differences of others.
const EXPLAINING: &[&str] = &[
    "HorizontalPodAutoscaler",
    "ScaledObject",
    "CustomResourceDefinition",
    "ReplicaSet",
    "ControllerRevision",
    "Secret",
    "ConfigMap",
    "Application",
    "Kustomization",
    "HelmRelease",
];

fn pairs(args: &DiffArgs, files: &Files, redactor: &Redactor, rulings: &mut Rulings) -> Result<Vec<Compared>> {
    let wanted: Vec<&Object> = files.live.iter().filter(|live| is_wanted(args, files, live)).collect();
    if let ([(_, desired)], [live]) = (files.manifests.as_slice(), files.live.as_slice())
        && wanted.is_empty()
        && args.objects.is_empty()
    {
        return one_pair(desired, live, files, redactor, rulings);
    }
    let mut missing = files.manifests.iter().map(|(file, object)| Desired::of_manifest(file, object)).collect::<Vec<_>>();
    missing.retain(|desired| {
        let identity = desired.object.identity();
        files.is_among(&identity, &args.objects) && files.live(&identity).is_none()
    });
    for text in &args.objects {
        names(text).ok_or_else(|| eyre!("{text} is no object; write KIND/NAME, as in deploy/cart"))?;
        let live = wanted.iter().map(|live| live.identity());
        if !live.chain(missing.iter().map(|desired| desired.object.identity())).any(|identity| files.is_meant(&identity, text)) {
            bail!("{text} is not in the input; without KIND/NAME everything in it is compared");
        }
    }
    let mut all: Vec<Compared> = wanted.into_iter().map(|live| one(args, live, files, (redactor, &mut *rulings))).collect();
    all.extend(missing.iter().map(|desired| files.missing(desired)));
    all.sort_by(|a, b| a.diff.object.cmp(&b.diff.object));
    Ok(all)
}

/// What a release installed, each object beside the live one; the same name in several namespaces is several releases.
fn of_release(
    name: &str,
    (cli, args): (&Cli, &DiffArgs),
    files: &Files,
    redactor: &Redactor,
    rulings: &mut Rulings,
) -> Result<Vec<Compared>> {
    let asked = &cli.cluster.namespaces;
    let own = |release: &&Release| release.name == name && (asked.is_empty() || asked.contains(&release.namespace));
    let mut revisions: Vec<Release> = files.releases.iter().filter(own).cloned().collect();
    revisions.sort_by(|a, b| a.namespace.cmp(&b.namespace).then_with(|| b.revision.cmp(&a.revision)));
    if revisions.is_empty() && files.second.contains(name) {
        bail!("{name} was installed by {}", helm::SECOND);
    }
    if revisions.is_empty() {
        bail!(
            "the input holds no record of a Helm release {name} that can be read; records are Secrets or ConfigMaps named sh.helm.release.v1.…"
        );
    }
    let wanted = |desired: &Desired| files.is_among(&desired.object.identity(), &args.objects);
    let mut all = Vec::new();
    for revisions in revisions.chunk_by(|a, b| a.namespace == b.namespace) {
        for desired in deployed(revisions).into_iter().flatten().filter(wanted) {
            all.push(files.live(&desired.object.identity()).map_or_else(
                || files.missing(&desired),
                |live| beside(args, live, Some(desired.clone()), files, (redactor, &mut *rulings)),
            ));
        }
    }
    let odd =
        revisions.iter().flat_map(|release| release.faults().into_iter().map(|why| unseen(named(&release.name, &release.namespace), why)));
    all.extend(odd);
    if all.is_empty() {
        bail!("nothing that was named is declared there; without KIND/NAME everything in it is compared");
    }
    Ok(all)
}

/// Manifests name what is compared; without them the arguments do, or everything is.
fn is_wanted(args: &DiffArgs, files: &Files, live: &Object) -> bool {
    let identity = live.identity();
    let declared =
        files.manifests.is_empty() || files.declared(live.name()).iter().any(|(_, desired)| desired.identity().is_like(&identity));
    declared && files.is_among(&identity, &args.objects)
}

pub(super) fn is_called(identity: &Identity, name: &str) -> bool {
    identity.name == name || format!("{}/{}", identity.namespace, identity.name) == name
}

fn one(args: &DiffArgs, live: &Object, files: &Files, judging: (&Redactor, &mut Rulings)) -> Compared {
    beside(args, live, None, files, judging)
}

fn beside(
    args: &DiffArgs,
    live: &Object,
    given: Option<Desired>,
    files: &Files,
    (redactor, rulings): (&Redactor, &mut Rulings),
) -> Compared {
    let from_baseline = given.is_none() && files.manifests.is_empty();
    let given = if from_baseline { rulings.baselines.find(&live.identity(), redactor) } else { given };
    let mut comparison = desired::compare_with(given, &files.fetched(live, &files.explaining.of(live), redactor), Vec::new());
    if let Some(first) = comparison.against.first_mut() {
        rulings.judge(live, Some(first.source), &mut first.diff, redactor);
    }
    if args.sources { Compared::with_sources(comparison) } else { comparison.into() }
}

/// Two objects that do not have the same name are compared all the same if that is all there is, and they are of one kind.
fn one_pair(desired: &Object, live: &Object, files: &Files, redactor: &Redactor, rulings: &mut Rulings) -> Result<Vec<Compared>> {
    let (asked, found) = (desired.identity(), live.identity());
    if asked.kind != found.kind {
        bail!("the manifest holds {asked}, the live file {found}: there is nothing to compare");
    }
    let related = files.explaining.of(live);
    let evidence = Evidence { released: desired::released(&files.fetched(live, &related, redactor)), related: &related };
    let source = files.manifests.first().map(|(file, object)| Said::from(&Desired::of_manifest(file, object)));
    let mut diff = desired::diff(desired, live, evidence);
    rulings.judge(live, Some("manifest"), &mut diff, redactor);
    Ok(vec![Compared { diff, source, ..Compared::default() }])
}
