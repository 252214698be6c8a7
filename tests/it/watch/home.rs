//! A home folder of its own for a test: kubeconfigs, plugin scripts and the environment that goes with them.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use holdup::watch::{Environment, Options};

/// Removed with everything in it when dropped.
pub struct Home {
    pub folder: PathBuf,
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Home {
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("holdup-watch-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join(".kube")).expect("the temporary folder can be written");
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the temporary folder can be written");
        path
    }

    /// A program that `sh` runs.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("the file is ours");
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Only PATH and HOME, so that proxies and kubeconfigs of the machine stay out.
    pub fn environment(&self) -> Environment {
        self.environment_with(&[])
    }

    pub fn environment_with(&self, variables: &[(&str, &str)]) -> Environment {
        let mut all = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())]);
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Environment { variables: all, home: Some(self.folder.clone()), service_account: self.path("serviceaccount") }
    }

    /// The kubeconfig of this home: one context `test` with these members of cluster and user, as JSON.
    pub fn kubeconfig(&self, cluster: &serde_json::Value, user: &serde_json::Value) -> PathBuf {
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
        });
        self.write(".kube/config", &config.to_string())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What cannot be removed is in a temporary folder anyway.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn options() -> Options {
    Options::default()
}

pub fn text(path: &Path) -> String {
    path.display().to_string()
}
