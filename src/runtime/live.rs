//! Live: from the command line to a connection.

use std::time::Duration;

use color_eyre::{Result, eyre::eyre};

use super::clock::Clock;
use super::feeds::Wanted;
use super::wall_clock;
use crate::cli::ClusterArgs;
use crate::watch::{Connection, Environment, Error, Manner, Options, Target};

/// How long one answer may take where the user says nothing.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Finds the cluster as kubectl does. A plugin that may ask something gets the free terminal now, before any screen is taken.
///
/// # Errors
/// No kubeconfig, no context, no credential: in words, with what to try instead.
pub async fn connect(args: &ClusterArgs) -> Result<Connection> {
    let target = Target::find(&options(args), &Environment::of_process()).map_err(|error| no_cluster(&error))?;
    let plugin = target.plugin();
    let manner = if target.wants_terminal().is_some() { Manner::Terminal } else { Manner::Unseen };
    let opening = Connection::open(target, manner);
    let opened = match (plugin, manner) {
        (Some(plugin), Manner::Terminal) => {
            eprintln!("holdup: waiting for {plugin}");
            opening.await
        }
        (Some(plugin), Manner::Unseen) => patiently(opening, &plugin).await,
        (None, _) => opening.await,
    };
    opened.map_err(|error| no_cluster(&error))
}

/// A plugin that answers at once is not worth a line.
async fn patiently<T>(opening: impl Future<Output = T>, plugin: &str) -> T {
    let mut opening = std::pin::pin!(opening);
    tokio::select! {
        opened = &mut opening => opened,
        () = tokio::time::sleep(NOTICED) => {
            eprintln!("holdup: waiting for {plugin}");
            opening.await
        }
    }
}

/// Who waits longer than this wonders why.
const NOTICED: Duration = Duration::from_secs(1);

/// Which namespaces the arguments ask for.
pub fn wanted(args: &ClusterArgs) -> Wanted {
    match (args.all_namespaces, args.namespaces.as_slice()) {
        (true, _) => Wanted::All,
        (false, []) => Wanted::ByRights,
        (false, namespaces) => Wanted::Namespaces(namespaces.to_vec()),
    }
}

/// How long an answer may take, and a report may be waited for; 0 on the command line means for ever, as in kubectl.
pub fn patience(args: &ClusterArgs) -> Duration {
    match args.request_timeout {
        None => PATIENCE,
        Some(Duration::ZERO) => Duration::from_secs(365 * 86_400),
        Some(time) => time,
    }
}

/// The cluster's clock, as its answers tell it.
pub fn clock(connection: &Connection) -> Clock {
    Clock::live(wall_clock().plus(connection.clock_offset().unwrap_or(0)))
}

fn options(args: &ClusterArgs) -> Options {
    Options {
        kubeconfig: args.kubeconfig.clone(),
        context: args.context.clone(),
        cluster: args.cluster.clone(),
        user: args.user.clone(),
        impersonate: args.impersonate.clone(),
        impersonate_groups: args.impersonate_groups.clone(),
        token: args.token.clone(),
        server: args.server.clone(),
        certificate_authority: args.certificate_authority.clone(),
        insecure_skip_tls_verify: args.insecure_skip_tls_verify,
        // A plugin that hangs must not keep a script longer than it asked for.
        plugin_timeout: args.request_timeout.filter(|time| !time.is_zero()),
        program: std::env::current_exe().ok(),
    }
}

fn no_cluster(error: &Error) -> color_eyre::Report {
    eyre!("{error}\n\nWithout a cluster: holdup demo shows an embedded one; --from reads files (holdup --help).")
}
