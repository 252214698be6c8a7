//! Arguments. Parsing does nothing: what a command needs is plain data here.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// See where Kubernetes reconciliation stopped, why, and whether it is worth waiting. It only reads.
#[derive(Debug, Parser)]
#[command(name = "holdup", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Without a command: the dashboard, on the current context of the kubeconfig. `holdup demo` needs no cluster.")]
pub struct Cli {
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
    #[command(flatten)]
    pub decisions: Decisions,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The dashboard on an embedded cluster in which an incident unfolds; needs nothing
    Demo(Demo),
    /// Triage once and print; for scripts, chat, CI. Exits 0: nothing blocked, 1: something is, 3: could not see enough
    Report(ReportArgs),
    /// Desired versus live: what differs, who wrote it, whether it matters. Exits 0: no drift, 1: drift, 3: could not see enough
    Diff(DiffArgs),
    /// Write what the dashboard sees, redacted, to a file that reopens with --from
    Snapshot(Snapshot),
    /// Serve a snapshot or recording on loopback as a read-only Kubernetes API (kubectl works on it)
    Serve(Serve),
    /// What a cause means, how Kubernetes shows it, what lifts it
    Explain(Explain),
    /// The least ClusterRole (or, with -n, Role) that holdup needs
    Rbac(Rbac),
    /// Completions for bash, zsh, fish, powershell, elvish
    Completions(Completions),
    /// Starts a program in a session of its own: how credential plugins are kept off the terminal
    #[command(name = crate::watch::SESSION, hide = true)]
    Session(Session),
}

/// Options that act as in kubectl, with the same names.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cluster (as in kubectl)")]
pub struct ClusterArgs {
    /// Path of the kubeconfig
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true)]
    pub cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true)]
    pub user: Option<String>,
    /// Namespaces, by comma or repeated
    #[arg(short, long = "namespace", global = true, value_delimiter = ',', value_name = "NAMESPACE")]
    pub namespaces: Vec<String>,
    /// All namespaces
    #[arg(short = 'A', long, global = true, conflicts_with = "namespaces")]
    pub all_namespaces: bool,
    /// Judge only pods and workloads with these labels
    #[arg(short = 'l', long, global = true, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Judge only pods and workloads with these fields
    #[arg(long, global = true, value_name = "SELECTOR")]
    pub field_selector: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonate: Option<String>,
    /// Group to impersonate; may be repeated
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    pub impersonate_groups: Vec<String>,
    /// Bearer token
    #[arg(long, global = true)]
    pub token: Option<String>,
    /// Address and port of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Path of a certificate authority's certificate
    #[arg(long, global = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// Do not check the server's certificate
    #[arg(long, global = true)]
    pub insecure_skip_tls_verify: bool,
    /// How long to wait for an answer, and for `report` to be complete: 30, 30s, 2m; 0 means for ever
    #[arg(long, global = true, value_name = "TIME", value_parser = duration)]
    pub request_timeout: Option<Duration>,
}

/// Files instead of a cluster.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Files")]
pub struct InputArgs {
    /// Read files instead of a cluster: a snapshot, a recording, what `kubectl get -o json|yaml` printed, a cluster-info dump or
    /// must-gather folder, or - for standard input; may be repeated
    #[arg(long, global = true, value_name = "PATH")]
    pub from: Vec<PathBuf>,
    /// Judge as of this time (RFC 3339); with --from only. Default: the time of capture, else the newest time in the files
    #[arg(long, global = true, requires = "from", value_parser = instant)]
    pub now: Option<crate::model::Time>,
}

/// What is known of differences between desired and live beforehand.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Differences")]
pub struct Decisions {
    /// A file with rules for differences that are accepted, in TOML: tables named accept, with kind, path and reason at least; may be repeated
    #[arg(long, value_name = "FILE")]
    pub accept: Vec<PathBuf>,
    /// A snapshot (snapshot --all) that says what was fine: what differs from it changed since. May be repeated: the newest is compared
    #[arg(long, value_name = "FILE")]
    pub baseline: Vec<PathBuf>,
}

/// How it looks, and where it logs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Program")]
pub struct ScreenArgs {
    /// Path of the configuration
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// No colours
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Write a log to this file; bodies are never logged
    #[arg(long, global = true, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// How many times faster than life it unfolds
    #[arg(long, default_value_t = 1.0)]
    pub speed: f64,
    /// Begin at this moment of the five minutes: 90s, 3m
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub at: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Only what holds these objects up: KIND/NAME
    #[arg(value_name = "KIND/NAME")]
    pub objects: Vec<String>,
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Yaml,
    Markdown,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Only these objects: KIND/NAME
    #[arg(value_name = "KIND/NAME")]
    pub objects: Vec<String>,
    /// Manifests that say what is desired: a file, a folder (a kustomization is built by kubectl), or - for standard input; may be
    /// repeated
    #[arg(short = 'f', long = "filename", visible_alias = "desired", value_name = "PATH")]
    pub desired: Vec<PathBuf>,
    /// A file with the live objects, instead of --from
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub live: Vec<PathBuf>,
    /// A file with other objects of the cluster that explain differences: autoscalers, definitions, releases
    #[arg(long, value_name = "FILE")]
    pub related: Vec<PathBuf>,
    /// Compare what this Helm release installed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["desired", "live"])]
    pub release: Option<String>,
    /// Compare every object that says what was asked for, worst first; also: what is gone, what nobody declares, what no source allowed,
    /// and whether the cluster could be rebuilt from source
    #[arg(long, conflicts_with_all = ["objects", "desired", "release"])]
    pub all: bool,
    /// Also put all sources of what was asked for side by side, where they disagree
    #[arg(long, conflicts_with = "all")]
    pub sources: bool,
    #[command(flatten)]
    pub decisions: Decisions,
    /// server: let the API server say what it would store, to tell defaults and admission from drift. Sends a PATCH and a POST with
    /// dryRun=All for each object: nothing is stored, webhooks are called, and the rights to patch and create are needed
    #[arg(long, value_enum, default_value_t = DryRun::None, conflicts_with_all = ["all", "live", "from"])]
    pub dry_run: DryRun,
    /// An audit log of the API server, as JSON lines, gzip too, or - for standard input, that names who made a difference; may be repeated
    #[arg(long, value_name = "FILE")]
    pub audit: Vec<PathBuf>,
    #[arg(short, long, value_enum, default_value_t = DiffFormat::Text)]
    pub output: DiffFormat,
}

/// Whether the API server is asked what it would store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    #[default]
    None,
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    Text,
    Json,
    Yaml,
}

#[derive(Debug, Args)]
pub struct Snapshot {
    /// Written gzipped if it ends in .gz
    pub file: PathBuf,
    /// Everything, not only what explains the present blockers
    #[arg(long)]
    pub all: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// A snapshot, a recording, or anything else that --from reads
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Port on loopback; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub port: u16,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Id of a cause; without it all are listed
    pub cause: Option<String>,
}

#[derive(Debug, Args)]
pub struct Rbac {
    /// Add rules for what is read only on request
    #[arg(long, value_enum, value_delimiter = ',')]
    pub with: Vec<Extra>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Extra {
    Logs,
    Secrets,
    /// Server-side dry runs of holdup diff: the same verbs as real changes, which the API server does not tell apart
    DryRun,
    /// The objects of Argo CD and Flux
    Gitops,
}

#[derive(Debug, Args)]
pub struct Completions {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Session {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<std::ffi::OsString>,
}

/// `30`, `30s`, `1m30s`, `2h`; plain numbers are seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text} is no time; write 30, 30s, 1m30s or 2h");
    let (mut seconds, mut digits) = (0.0, String::new());
    for c in text.chars() {
        let unit = match c {
            '0'..='9' | '.' => {
                digits.push(c);
                continue;
            }
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            _ => return Err(wrong()),
        };
        seconds += std::mem::take(&mut digits).parse::<f64>().map_err(|_| wrong())? * unit;
    }
    if !digits.is_empty() {
        seconds += digits.parse::<f64>().map_err(|_| wrong())?;
    } else if text.is_empty() {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

fn instant(text: &str) -> Result<crate::model::Time, String> {
    crate::model::Time::parse(text).ok_or_else(|| format!("{text} is no time; write it as 2026-05-04T10:12:00Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_are_read_as_kubectl_does() {
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert!(duration("soon").is_err() && duration("").is_err() && duration("-1s").is_err());
    }
}
