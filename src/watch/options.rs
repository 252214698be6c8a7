//! What a user says about the cluster to reach: kubectl's options, and the environment they are read in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// kubectl's options that choose a cluster, a user and a way there; empty means what the kubeconfig says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
    /// `--as`, the user to impersonate.
    pub impersonate: Option<String>,
    /// `--as-group`, repeated.
    pub impersonate_groups: Vec<String>,
    pub token: Option<String>,
    pub server: Option<String>,
    pub certificate_authority: Option<PathBuf>,
    pub insecure_skip_tls_verify: bool,
    /// How long an exec plugin may take when nobody sits before it; `None` is 60 s.
    pub plugin_timeout: Option<Duration>,
    /// The running program, which starts a plugin in a session of its own where no `setsid` is installed.
    pub program: Option<PathBuf>,
}

/// The part of the process environment that a connection depends on, taken once so that tests can bring their own.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub variables: BTreeMap<String, String>,
    pub home: Option<PathBuf>,
    /// Where a pod finds its service account.
    pub service_account: PathBuf,
}

/// Where the kubelet mounts a service account (kubernetes.io/docs/tasks/run-application/access-api-from-pod).
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

impl Environment {
    /// The environment of this process; variables that are not UTF-8 are left out.
    #[must_use]
    pub fn of_process() -> Self {
        let variables = std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?))).collect();
        Self { variables, home: std::env::home_dir(), service_account: PathBuf::from(SERVICE_ACCOUNT) }
    }

    /// The value of a variable that is set and not empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The first of several spellings that is set; curl and Go read both cases of the proxy variables.
    #[must_use]
    pub fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    /// Where a program of this name would be found, as `execvp` looks for it.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| is_program(path));
        }
        let path = self.variables.get("PATH")?;
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|path| is_program(path))
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
