//! Desired versus live of a cluster: objects that are named, manifests, a release. What may not be read is said, and is never *missing*.

use std::sync::Arc;

use color_eyre::{Result, eyre::bail, eyre::eyre};
use futures::StreamExt;
use serde_json::Value;

use super::{absent, files, manifests, names};
use crate::archive::About;
use crate::cli::{Cli, DiffArgs, DryRun};
use crate::desired::{self, Comparison, Desired, Diff, Fetched, Identity, Looked, Object, Release, helm};
use crate::export::diff::{Compared, Compilation, Remarks};
use crate::model::Place;
use crate::redact::Redactor;
use crate::runtime::around::{Around, Reach};
use crate::runtime::live;
use crate::runtime::reader::{Reader, Unread, paged};
use crate::runtime::rulings::Rulings;
use crate::runtime::survey;
use crate::watch::Scope;
use crate::watch::Served;

/// So many objects are asked for at a time.
const AT_ONCE: usize = 8;

/// Compares what the arguments name.
pub(super) async fn compared(cli: &Cli, args: &DiffArgs, redactor: Redactor, rulings: Rulings) -> Result<(Compilation, Remarks)> {
    let connection = live::connect(&cli.cluster).await?;
    let related = manifests::objects(&args.related)?;
    let mut reader = Reader::open(connection, live::patience(&cli.cluster), redactor).await?;
    reader.rulings = rulings.judging_at(Some(live::clock(&reader.connection).now()));
    let (own, related) = (namespaces(cli, &reader), related.into_iter().map(|(_, object)| Arc::new(object)).collect());
    let declares = args.release.is_some() || !args.desired.is_empty();
    let about = if declares { survey::served(&reader.connection, reader.patience()).await } else { None };
    let mut comparing = Comparing { own, reader: &mut reader, related, about, sources: args.sources, dry_run: args.dry_run };
    let all = match (&args.release, args.desired.is_empty()) {
        (Some(name), _) => comparing.release(name, &args.objects).await?,
        (None, false) => {
            let manifests = comparing.manifests(args)?;
            comparing.declared(manifests, &args.objects).await?
        }
        (None, true) => comparing.named(&args.objects, cli.cluster.all_namespaces).await?,
    };
    Ok((Compilation::Named(all), Remarks { lint: reader.rulings.remarks(Looked::AtSome), log: None }))
}

/// The namespaces of names that have none.
fn namespaces(cli: &Cli, reader: &Reader) -> Vec<String> {
    match cli.cluster.namespaces.as_slice() {
        [] => vec![reader.connection.about().namespace.clone()],
        namespaces => namespaces.to_vec(),
    }
}

struct Comparing<'a> {
    reader: &'a mut Reader,
    own: Vec<String>,
    /// Objects that the user gave beside those of the cluster.
    related: Vec<Arc<Value>>,
    /// What is known of the file behind the server, if it serves one.
    about: Option<About>,
    /// All sources are wanted side by side.
    sources: bool,
    dry_run: DryRun,
}

impl Comparing<'_> {
    async fn compare(&mut self, live: Value, given: Option<Desired>) -> Compared {
        let reach = match (self.sources, &given) {
            (true, _) => Reach::Every,
            (false, Some(given)) => beside(given),
            (false, None) => Reach::First,
        };
        let comparison = compared_with(self.reader, live, given, &self.related, (reach, self.dry_run)).await;
        if self.sources { Compared::with_sources(comparison) } else { comparison.into() }
    }

    async fn named(&mut self, texts: &[String], everywhere: bool) -> Result<Vec<Compared>> {
        let (mut all, mut seen) = (Vec::new(), Vec::new());
        for text in texts {
            let (served, namespace, name) = self.parse(text)?;
            let one = identity(&served, &namespace.unwrap_or_default(), &name);
            // However it is written, an object is asked for once: dry runs cost the server something.
            if seen.contains(&one) {
                continue;
            }
            seen.push(one);
            let found = if everywhere { self.anywhere(text).await? } else { self.somewhere(text).await? };
            all.extend(found);
        }
        Ok(all)
    }

    /// The object of this name in the namespaces that were asked for; it is enough if one has it.
    async fn somewhere(&mut self, text: &str) -> Result<Vec<Compared>> {
        let (served, namespace, name) = self.parse(text)?;
        let places = match (served.resource.scope, namespace) {
            (Scope::Cluster, _) => vec![String::new()],
            (Scope::Namespaced, Some(namespace)) => vec![namespace],
            (Scope::Namespaced, None) => self.own.clone(),
        };
        let (mut all, mut missing) = (Vec::new(), String::new());
        for place in &places {
            match self.reader.object(&served, place, &name).await {
                Ok(live) => all.push(self.compare(live, None).await),
                Err(Unread::Unseen(why)) => all.push(unseen(identity(&served, place, &name), why)),
                Err(Unread::Missing(why)) => {
                    let Reader { rulings, redactor, .. } = &mut *self.reader;
                    match rulings.baselines.find(&identity(&served, place, &name), redactor) {
                        Some(saved) => all.push(absent(&saved)),
                        None => missing = why,
                    }
                }
            }
        }
        if all.is_empty() {
            bail!("{missing}");
        }
        Ok(all)
    }

    async fn anywhere(&mut self, text: &str) -> Result<Vec<Compared>> {
        let (served, _, name) = self.parse(text)?;
        let query = paged(500, "", "").with("fieldSelector", &format!("metadata.name={name}"));
        match self.reader.page(&served, &Place::All, query).await {
            Ok(page) if page.items.is_empty() => bail!("no namespace has {text}"),
            Ok(page) => {
                let mut all = Vec::new();
                for live in page.items.iter().filter_map(|item| serde_json::from_str(item).ok()) {
                    all.push(self.compare(live, None).await);
                }
                Ok(all)
            }
            Err(Unread::Unseen(why)) => Ok(vec![unseen(identity(&served, "", &name), why)]),
            Err(Unread::Missing(why)) => bail!("{why}"),
        }
    }

    fn parse(&self, text: &str) -> Result<(Served, Option<String>, String)> {
        let (kind, name) = names(text).ok_or_else(|| eyre!("{text} is no object; write KIND/NAME, as in deploy/cart"))?;
        let (namespace, name) = name.split_once('/').map_or((None, name), |(ns, name)| (Some(ns.to_owned()), name));
        if name.is_empty() {
            bail!("{text} is no object; write KIND/NAME, as in deploy/cart");
        }
        let served = self.reader.kind(kind).map_err(|(Unread::Missing(why) | Unread::Unseen(why))| eyre!("{why}"))?;
        Ok((served, namespace, name.to_owned()))
    }

    fn manifests(&self, args: &DiffArgs) -> Result<Vec<Desired>> {
        let read = manifests::declared(&args.desired, &self.reader.redactor)?;
        Ok(read.into_iter().map(|(file, object)| Desired::of_manifest(&file, &object)).collect())
    }

    async fn release(&mut self, name: &str, only: &[String]) -> Result<Vec<Compared>> {
        let mut all = Vec::new();
        let (mut refused, mut found) = (Vec::new(), false);
        for namespace in self.own.clone() {
            let asked = match self.reader.release(name, &namespace).await {
                Ok(history) => {
                    refused.extend(history.faults().map(|why| unseen(named(name, &namespace), why)));
                    deployed(&history.releases)
                }
                Err(why) => {
                    refused.push(unseen(named(name, &namespace), why));
                    continue;
                }
            };
            let Some(asked) = asked else { continue };
            found = true;
            // A revision of which nothing could be read is told below, and is no reason to say that nothing was named.
            if asked.is_empty() && !refused.is_empty() {
                continue;
            }
            all.extend(self.declared(asked, only).await?);
        }
        if !found && refused.is_empty() {
            for namespace in &self.own {
                if let Some(place) = self.reader.second(name, namespace).await {
                    bail!("{name} was installed by {}; its record is in namespace {place}", helm::SECOND);
                }
            }
            bail!(
                "no record of a Helm release {name} in namespace {}; `helm list -A` shows where it lies, -n names another",
                self.own.join(", ")
            );
        }
        all.extend(refused);
        Ok(all)
    }

    /// Objects that manifests or a release declare, each beside the live one.
    async fn declared(&mut self, asked: Vec<Desired>, only: &[String]) -> Result<Vec<Compared>> {
        let mut wanted = Vec::new();
        for desired in asked {
            let version = desired.object.value().get("apiVersion").and_then(Value::as_str).unwrap_or_default();
            let identity = desired.object.identity();
            let served = self.reader.kind_of(version, &identity.kind);
            if only.is_empty() || self.is_among(only, served.as_ref().ok(), &identity) {
                wanted.push((desired, identity, served));
            }
        }
        if wanted.is_empty() {
            bail!("nothing that was named is declared there; without KIND/NAME everything in it is compared");
        }
        let lives = self.fetch(&wanted).await;
        let mut all = Vec::new();
        for ((desired, mut identity, served), live) in wanted.into_iter().zip(lives) {
            match live {
                Ok(live) => all.push(self.compare(live, Some(desired)).await),
                Err(Unread::Missing(_)) if served.is_err() && is_in_every_cluster(&desired) => {
                    identity.namespace = self.place(&identity);
                    all.push(unseen(identity, "this server serves only a part of a cluster, and not this kind".to_owned()));
                }
                Err(Unread::Missing(_)) => {
                    let gone = self.gone(&desired, served.as_ref().ok());
                    let doubt = self.about.as_ref().and_then(|about| survey::doubt_of(about, &gone.diff.object));
                    all.push(match doubt {
                        Some(why) => unseen(gone.diff.object, why),
                        None => gone,
                    });
                }
                Err(Unread::Unseen(why)) => {
                    identity.namespace = self.place(&identity);
                    all.push(unseen(identity, why));
                }
            }
        }
        Ok(all)
    }

    /// Declared and not there, under the name it would have.
    fn gone(&self, desired: &Desired, served: Option<&Served>) -> Compared {
        let mut compared = absent(desired);
        let namespace = self.place(&compared.diff.object);
        compared.diff.object.namespace = match served.map(|served| served.resource.scope) {
            Some(Scope::Cluster) => String::new(),
            Some(Scope::Namespaced) | None => namespace,
        };
        if served.is_none()
            && let Some(field) = compared.diff.fields.first_mut()
        {
            "declared, and the cluster has no such kind: its definition is not installed".clone_into(&mut field.reason);
        }
        compared
    }

    async fn fetch(&self, wanted: &[(Desired, Identity, Result<Served, Unread>)]) -> Vec<Result<Value, Unread>> {
        let one = |(_, identity, served): &(Desired, Identity, Result<Served, Unread>)| {
            let (served, place, name) = (served.clone(), self.place(identity), identity.name.clone());
            async move { self.reader.object(&served?, &place, &name).await }
        };
        futures::stream::iter(wanted.iter().map(one).collect::<Vec<_>>()).buffered(AT_ONCE).collect().await
    }

    /// Where an object of a manifest lies.
    fn place(&self, identity: &Identity) -> String {
        match (identity.namespace.as_str(), self.own.first()) {
            ("", Some(own)) => own.clone(),
            (given, _) => given.to_owned(),
        }
    }

    fn is_among(&self, only: &[String], served: Option<&Served>, identity: &Identity) -> bool {
        only.iter().filter_map(|text| names(text)).any(|(word, name)| {
            let kind = self.reader.kind(word).ok();
            let is_kind = match (kind, served) {
                (Some(kind), Some(served)) => kind.kind == served.kind && kind.resource.group == served.resource.group,
                (Some(_) | None, _) => word.eq_ignore_ascii_case(&identity.kind),
            };
            is_kind && files::is_called(identity, name)
        })
    }
}

/// Kinds that every API server serves: one that does not is `holdup serve` of a snapshot, or an aggregator, and proves nothing.
fn is_in_every_cluster(desired: &Desired) -> bool {
    let version = desired.object.value().get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    matches!(version, "v1" | "apps/v1" | "batch/v1") && desired::is_exact(version, &desired.object.identity().kind)
}

fn identity(served: &Served, namespace: &str, name: &str) -> Identity {
    Identity { group: served.resource.group.clone(), kind: served.kind.clone(), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// A release, where an object is named.
pub(super) fn named(name: &str, namespace: &str) -> Identity {
    Identity { group: "helm.sh".into(), kind: "Release".into(), namespace: namespace.to_owned(), name: name.to_owned() }
}

pub(super) fn unseen(object: Identity, why: String) -> Compared {
    Compared { diff: Diff { object, fields: Vec::new() }, unread: Some(why), ..Compared::default() }
}

/// What the deployed revision declares, else the newest one; `None` where there is no revision.
pub(super) fn deployed(revisions: &[Release]) -> Option<Vec<Desired>> {
    let release = revisions.iter().find(|release| release.status == "deployed").or(revisions.first())?;
    Some(release.objects.iter().map(|object| Desired::of_release(release, object)).collect())
}

/// Compares a live object with what was given, else with the most trusted source that it has.
pub(in crate::runtime) async fn compare(reader: &mut Reader, live: Value, given: Option<Desired>, related: &[Arc<Value>]) -> Compared {
    let reach = given.as_ref().map_or(Reach::First, beside);
    compared_with(reader, live, given, related, (reach, DryRun::None)).await.into()
}

/// How far one looks beside what is given: of a release its upgrades under way, which are read already.
fn beside(given: &Desired) -> Reach {
    if given.source == "helm" { Reach::Release } else { Reach::Explanations }
}

async fn compared_with(
    reader: &mut Reader,
    live: Value,
    given: Option<Desired>,
    related: &[Arc<Value>],
    (reach, dry_run): (Reach, DryRun),
) -> Comparison {
    let raw = (dry_run == DryRun::Server).then(|| live.clone());
    let live = Object::new(live, &reader.redactor);
    let Reader { rulings, redactor, .. } = &mut *reader;
    let given = given.or_else(|| rulings.baselines.find(&live.identity(), redactor));
    let Around { releases, related, unchecked, .. } = reader.around(&live, related, reach).await;
    let fetched = Fetched { live: &live, files: &[], releases: &releases, related: &related, redactor: &reader.redactor };
    let first = raw.as_ref().and_then(|_| given.clone().or_else(|| desired::desired(&fetched).into_iter().next()));
    let mut comparison = desired::compare_with(given, &fetched, unchecked);
    if let (Some(first), Some(raw)) = (&first, &raw) {
        comparison.decide(&reader.try_out(first, &live, raw).await);
    }
    let redactor = reader.redactor.clone();
    if let Some(first) = comparison.against.first_mut() {
        reader.rulings.judge(&live, Some(first.source), &mut first.diff, &redactor);
    }
    comparison
}
