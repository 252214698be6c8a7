//! Gather: a whole picture for the commands that print or write once: from files, or from a cluster until every kind has come to an end.

use std::sync::Arc;

use color_eyre::{Result, eyre::bail};
use tokio::time::{Instant, timeout_at};

use super::fetch::{Cluster, Store};
use super::triage::Triage;
use super::{Loaded, demo, feeds, live, load, log, narrow};
use crate::archive::Totals;
use crate::cli::{Cli, ClusterArgs};
use crate::diagnose::Options;
use crate::model::{KINDS, Time};
use crate::watch::FeedMsg;

/// What there is to be judged.
pub struct Seen {
    pub triage: Triage,
    pub now: Time,
    pub context: Option<String>,
    /// `None`: all.
    pub namespaces: Option<Vec<String>>,
    /// Of the captured cluster, where a file holds a part of it.
    pub totals: Option<Totals>,
    /// Where whole objects come from.
    pub store: Store,
}

/// Everything that `--from` names.
///
/// # Errors
/// A file cannot be read, or holds nothing of Kubernetes.
pub fn files(cli: &Cli) -> Result<Seen> {
    Ok(of(cli, load::open(&cli.input.from, cli.input.now, narrow::options(&cli.cluster)?)?))
}

/// The demo as it is at its end.
///
/// # Errors
/// A selector on the command line cannot be read.
pub fn demo(cli: &Cli) -> Result<Seen> {
    let (archive, end) = demo::at_its_end()?;
    Ok(of(cli, load::load(archive, Some(end), narrow::options(&cli.cluster)?)))
}

fn of(cli: &Cli, loaded: Loaded) -> Seen {
    let about = loaded.archive.about();
    if about.objects == 0 {
        eprintln!("holdup: nothing to judge: the input holds no objects.");
    }
    load::tell_skipped(about);
    Seen {
        context: about.context.clone(),
        totals: about.totals,
        namespaces: Some(cli.cluster.namespaces.clone()).filter(|ns| !ns.is_empty()),
        triage: loaded.triage,
        now: loaded.now,
        store: Store::Files(Arc::new(loaded.archive)),
    }
}

/// The cluster, as soon as each kind is synced, denied or absent; after `--request-timeout` as far as it is known then.
///
/// # Errors
/// There is no cluster, or it does not answer.
pub async fn cluster(args: &ClusterArgs) -> Result<Seen> {
    let connection = live::connect(args).await?;
    let patience = live::patience(args);
    let mut triage = Triage::new(Options { clock_is_known: true, ..narrow::options(args)? });
    let mut feeds = feeds::start(connection.clone(), live::wanted(args), patience, KINDS);
    let until = Instant::now() + patience;
    let mut namespaces = None;
    while let Ok(Some(msg)) = timeout_at(until, feeds.messages.recv()).await {
        log::heard(&msg);
        match msg {
            FeedMsg::Delta(delta) => {
                triage.apply(delta);
            }
            FeedMsg::NotReached(error) => bail!("{error}"),
            FeedMsg::Scope(chosen) => {
                if let Some(why) = &chosen.why {
                    eprintln!("holdup: {why}");
                }
                namespaces = chosen.namespaces;
            }
            FeedMsg::Settled => break,
            FeedMsg::Progress { .. }
            | FeedMsg::Note { .. }
            | FeedMsg::Reached { .. }
            | FeedMsg::Discovered(_)
            | FeedMsg::Pulse { .. }
            | FeedMsg::Woke => {}
        }
    }
    let about = connection.about().clone();
    Ok(Seen {
        triage,
        now: live::clock(&connection).now(),
        context: Some(about.context.unwrap_or(about.server)),
        namespaces,
        totals: None,
        store: Store::Cluster(Arc::new(Cluster::new(connection, patience))),
    })
}
