//! Perform: what the app wants done in the world. Whatever may take time runs beside the loop and answers as a message.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use color_eyre::Result;
use tokio::task::JoinHandle;

use super::{Dashboard, Next, Urgency};
use crate::app::{Asked, Document, Effect, Msg, Wanted};
use crate::archive::Existing;
use crate::desired::Rule;
use crate::diagnose::Options;
use crate::model::{KINDS, Kind, ObjectRef, Time};
use crate::redact::Redactor;
use crate::runtime::decided::Decided;
use crate::runtime::feeds::{self, Wanted as Wanting};
use crate::runtime::fetch::{self, Store};
use crate::runtime::rules;
use crate::runtime::snapshot;
use crate::runtime::triage::Triage;

/// What stands behind the picture: where whole objects, events and logs come from.
pub struct Behind {
    pub store: Store,
    pub redactor: Arc<Redactor>,
    pub options: Options,
    /// The user named namespaces at the start: others are not being read.
    pub narrowed: bool,
    /// What the user said of differences beforehand.
    pub decided: Decided,
    pending: BTreeMap<Document, JoinHandle<()>>,
    /// The reading for the drift screen.
    pub(super) survey: Option<JoinHandle<()>>,
    /// As of which write the diffs that are kept were fetched, by object.
    versions: BTreeMap<String, Version>,
}

/// Generation and time of the last write, as the feeds tell them.
type Version = (i64, Option<Time>);

impl Behind {
    pub fn new(store: Store, redactor: Redactor, options: Options, narrowed: bool) -> Self {
        Self {
            store,
            redactor: Arc::new(redactor),
            options,
            narrowed,
            decided: Decided::default(),
            pending: BTreeMap::new(),
            versions: BTreeMap::new(),
            survey: None,
        }
    }
}

/// How long what a key accepts stays accepted, unless somebody writes another day into the file: three months.
const LIFE: i64 = 90 * 86_400;

/// When the day of this time is over.
fn day_after(time: Time) -> Time {
    time.plus(86_400 - time.unix().rem_euclid(86_400))
}

impl Dashboard {
    pub(super) async fn perform(&mut self, effects: Vec<Effect>) -> Result<Next> {
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(Next::Quit),
                Effect::Suspend => self.suspend()?,
                Effect::Redraw => {
                    self.painter.forget();
                    self.want(Urgency::AtOnce);
                }
                Effect::Fetch(wanted) => self.fetch(wanted),
                Effect::Snapshot { path } => self.snapshot(PathBuf::from(path)),
                Effect::Accept { path, rule, wanted } => self.accept(PathBuf::from(path), *rule, wanted),
                Effect::SetNamespaces(namespaces) => self.look_at(namespaces),
                Effect::Survey { run, records } => self.survey(run, records),
                Effect::StopSurvey => self.stop_survey(),
                Effect::Discover => self.discover(),
            }
        }
        Ok(Next::Go)
    }

    /// Where all namespaces are seen, the app shows fewer by itself. Elsewhere other feeds are needed.
    fn look_at(&mut self, namespaces: Option<BTreeSet<String>>) {
        let Store::Cluster(cluster) = &self.behind.store else { return };
        if self.picture.status.scope.is_none() && !self.behind.narrowed {
            return;
        }
        let wanted = namespaces.map_or(Wanting::ByRights, |all| Wanting::Namespaces(all.into_iter().collect()));
        self.picture.restart(Triage::new(self.behind.options.clone()));
        self.events.follow(feeds::start(cluster.connection.clone(), wanted, cluster.patience, KINDS));
    }

    fn discover(&self) {
        let (store, answer) = (self.behind.store.clone(), self.events.answers());
        tokio::spawn(async move {
            let _ = answer.send(Msg::Offered(store.kinds().await));
        });
    }

    /// One of each kind pending at a time, the newest wins.
    fn fetch(&mut self, wanted: Wanted) {
        let document = wanted.document;
        let (store, redactor, answer) = (self.behind.store.clone(), self.behind.redactor.clone(), self.events.answers());
        if let Some(pending) = self.behind.pending.remove(&wanted.document) {
            pending.abort();
        }
        let (decided, now) = (self.behind.decided.clone(), self.picture.now());
        let task = tokio::spawn(async move {
            let result = fetch::fetch(&store, &wanted, &redactor, (&decided, now)).await;
            let _ = answer.send(Msg::Fetched { wanted, result });
        });
        self.behind.pending.insert(document, task);
    }

    /// Fetches the diff of an object anew that was written since: whoever looks sees it change, and two that write it in turn are noticed.
    /// One at a time, so that a busy object costs no more than its answers.
    pub(super) fn refetch(&mut self) {
        if self.behind.pending.get(&Document::Diff).is_some_and(|pending| !pending.is_finished()) {
            return;
        }
        let cluster = &self.picture.triage.cluster;
        let version = |wanted: &Wanted| {
            let object = ObjectRef::parse(&wanted.object)?;
            let found = cluster.object(Kind::named(&object.kind), &object.namespace, &object.name).is()?;
            Some((found.meta().generation, found.meta().changed))
        };
        let kept: Vec<(Wanted, Version)> =
            self.picture.app.documents.diffs().filter_map(|wanted| Some((wanted.clone(), version(wanted)?))).collect();
        self.behind.versions.retain(|object, _| kept.iter().any(|(wanted, _)| wanted.object == *object));
        let mut written = None;
        for (wanted, version) in kept {
            let known = self.behind.versions.entry(wanted.object.clone()).or_insert(version);
            if *known != version && written.is_none() {
                *known = version;
                written = Some(wanted);
            }
        }
        if let Some(wanted) = written {
            self.fetch(wanted);
        }
    }

    /// The disk is not waited for; the diff comes anew when the rule is written.
    fn accept(&mut self, path: PathBuf, rule: Rule, wanted: Wanted) {
        let now = self.picture.now();
        let rule = Rule { owner: std::env::var("USER").unwrap_or_default(), expires: Some(day_after(now.plus(LIFE))), ..rule };
        let (store, redactor, answer) = (self.behind.store.clone(), self.behind.redactor.clone(), self.events.answers());
        let decided = self.behind.decided.clone();
        tokio::spawn(async move {
            let until = rule.expires.map_or(String::new(), |end| end.plus(-1).rfc3339()[..10].to_owned());
            let name = path.display().to_string();
            let written = tokio::task::spawn_blocking(move || rules::append(&path, &rule).map(|()| path)).await;
            let told = match written.map_err(color_eyre::Report::from).flatten() {
                Ok(path) => {
                    decided.add(path);
                    // Whoever agreed to one dry run did not agree to another.
                    if wanted.asked != Asked::DryRun {
                        let result = fetch::fetch(&store, &wanted, &redactor, (&decided, now)).await;
                        let _ = answer.send(Msg::Fetched { wanted, result });
                    }
                    format!("accepted until {until} by a rule in {name}; holdup diff --accept {name} reads it")
                }
                Err(error) => format!("nothing was accepted: {error:#}"),
            };
            let _ = answer.send(Msg::Told(told.into()));
        });
    }

    fn snapshot(&mut self, path: PathBuf) {
        let plan = snapshot::plan(&self.picture.triage, self.picture.now(), &self.picture.status.context);
        let (store, redactor, answer) = (self.behind.store.clone(), self.behind.redactor.clone(), self.events.answers());
        tokio::spawn(async move {
            let told = match snapshot::write(&store, plan, &path, Existing::Keep, &redactor).await {
                Ok(written) => format!("snapshot of {written} objects written to {}", path.display()),
                Err(error) => format!("no snapshot: {error:#}"),
            };
            let _ = answer.send(Msg::Told(told.into()));
        });
    }
}
