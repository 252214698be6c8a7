//! Reads kubeconfig files as kubectl does, and keeps going where one entry cannot be read.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster, Context};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::{ConfigError, Error};
use super::options::{Environment, Options};

/// All files merged: the first one that names an entry wins (kubernetes.io, *Merging kubeconfig files*).
#[derive(Clone, Debug, Default)]
pub struct Kubeconfig {
    pub(super) clusters: BTreeMap<String, Cluster>,
    pub(super) users: BTreeMap<String, User>,
    contexts: BTreeMap<String, Context>,
    current: Option<String>,
    /// The files that were looked for, for the message when none has a cluster.
    pub(super) tried: Vec<PathBuf>,
    /// Entries that could not be read and were left out, in words.
    pub warnings: Vec<String>,
}

/// A user with the one plugin field that kube's type leaves out.
#[derive(Clone, Debug, Default)]
pub(super) struct User {
    pub auth: AuthInfo,
    pub install_hint: Option<String>,
}

/// One line of the context picker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextName {
    pub name: String,
    pub cluster: String,
    pub namespace: String,
    pub current: bool,
}

impl Kubeconfig {
    /// Reads `--kubeconfig`, else the files of `KUBECONFIG`, else `~/.kube/config`.
    ///
    /// # Errors
    /// A file named by `--kubeconfig` that is not there, and any file that is there but is not YAML: then it must not
    /// look as if there were no contexts.
    pub fn read(options: &Options, environment: &Environment) -> Result<Self, Error> {
        if let Some(path) = &options.kubeconfig {
            let mut all = Self::default();
            return match all.add(path)? {
                Found::Yes => Ok(all),
                Found::No => Err(ConfigError::Missing { path: path.clone() }.into()),
            };
        }
        let mut all = Self::default();
        for path in files(environment) {
            all.add(&path)?;
        }
        Ok(all)
    }

    /// The context asked for, else the current one.
    pub(super) fn context(&self, wanted: Option<&str>) -> Result<(String, Context), ConfigError> {
        let name = match (wanted, &self.current) {
            (Some(name), _) => name.to_owned(),
            (None, Some(name)) => name.clone(),
            (None, None) => {
                let contexts = self.names();
                return Err(ConfigError::NoCurrentContext { contexts });
            }
        };
        match self.contexts.get(&name) {
            Some(context) => Ok((name, context.clone())),
            None => Err(ConfigError::UnknownContext { contexts: self.names(), name }),
        }
    }

    /// True when no file says anything about a cluster: then a service account or `--server` may still do.
    pub(super) fn is_empty(&self) -> bool {
        self.contexts.is_empty() && self.clusters.is_empty()
    }

    /// The contexts that can be chosen: those whose cluster has a server.
    #[must_use]
    pub fn offered(&self) -> Vec<ContextName> {
        let usable = |context: &Context| self.server_of(&context.cluster).is_some();
        self.contexts
            .iter()
            .filter(|(_, context)| usable(context))
            .map(|(name, context)| ContextName {
                name: name.clone(),
                cluster: context.cluster.clone(),
                namespace: namespace_of(context),
                current: self.current.as_deref() == Some(name),
            })
            .collect()
    }

    pub(super) fn server_of(&self, cluster: &str) -> Option<&str> {
        let server = self.clusters.get(cluster)?.server.as_deref()?;
        (!server.trim().is_empty()).then_some(server)
    }

    fn names(&self) -> Vec<String> {
        self.offered().into_iter().map(|offer| offer.name).collect()
    }

    fn add(&mut self, path: &Path) -> Result<Found, Error> {
        self.tried.push(path.to_owned());
        let unreadable = |why: String| ConfigError::Unreadable { path: path.to_owned(), why };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::No),
            Err(error) => return Err(unreadable(error.to_string()).into()),
        };
        let text = decode(bytes).ok_or_else(|| unreadable("it is not UTF-8 text".to_owned()))?;
        let documents = documents(&text).map_err(unreadable)?;
        for document in documents {
            self.merge(document, path);
        }
        Ok(Found::Yes)
    }

    fn merge(&mut self, mut document: Map<String, Value>, path: &Path) {
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        for (name, mut cluster) in entries::<Cluster>(&mut document, "clusters", "cluster", self) {
            absolute(folder, &mut cluster.certificate_authority);
            unwrap_text(&mut cluster.certificate_authority_data);
            self.clusters.entry(name).or_insert(cluster);
        }
        let hints = install_hints(&document);
        for (name, mut auth) in entries::<AuthInfo>(&mut document, "users", "user", self) {
            locate(folder, &mut auth);
            let install_hint = hints.get(&name).cloned();
            let user = User { auth, install_hint };
            self.users.entry(name).or_insert(user);
        }
        for (name, context) in entries::<Context>(&mut document, "contexts", "context", self) {
            self.contexts.entry(name).or_insert(context);
        }
        let current = document.get("current-context").and_then(Value::as_str);
        if let (None, Some(name)) = (&self.current, current.filter(|name| !name.is_empty())) {
            self.current = Some(name.to_owned());
        }
    }
}

/// Whether a file is there.
enum Found {
    Yes,
    No,
}

pub(super) fn namespace_of(context: &Context) -> String {
    context.namespace.clone().filter(|namespace| !namespace.is_empty()).unwrap_or_else(|| "default".to_owned())
}

/// kubectl skips files of a `KUBECONFIG` list that are missing, and empty names between two colons.
fn files(environment: &Environment) -> Vec<PathBuf> {
    if let Some(list) = environment.get("KUBECONFIG") {
        return std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect();
    }
    let home = environment.home.iter();
    home.map(|home| home.join(".kube/config")).collect()
}

/// Windows editors write kubeconfigs in UTF-16 or with a byte order mark.
fn decode(bytes: Vec<u8>) -> Option<String> {
    let wide = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16(&units).ok()
    };
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes).ok(),
    }
}

/// The mappings of a YAML stream. The reader shows no snippet of the text in its errors: it holds credentials.
fn documents(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
    };
    let values: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options).map_err(|error| error.to_string())?;
    let maps = values.into_iter().map(|value| match value {
        Value::Object(map) => Ok(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Err("it is not a mapping".to_owned()),
    });
    maps.collect()
}

/// The readable entries of one list; the others become warnings.
fn entries<T: DeserializeOwned>(document: &mut Map<String, Value>, list: &str, field: &str, all: &mut Kubeconfig) -> Vec<(String, T)> {
    let Some(Value::Array(items)) = document.remove(list) else {
        return Vec::new();
    };
    let mut read = Vec::with_capacity(items.len());
    for (at, mut item) in items.into_iter().enumerate() {
        let Some(name) = item.get("name").and_then(Value::as_str).map(str::to_owned) else {
            all.warnings.push(format!("kubeconfig: {list}[{at}] has no name and is left out"));
            continue;
        };
        let content = item.get_mut(field).map(Value::take).unwrap_or_default();
        let content = if content.is_null() { Value::Object(Map::new()) } else { content };
        match serde_json::from_value(content) {
            Ok(entry) => read.push((name, entry)),
            Err(error) => all.warnings.push(format!("kubeconfig: {field} {name:?} is left out: {}", kind_of(&error))),
        }
    }
    read
}

/// The error without the value it is about, which may be a secret.
fn kind_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((_, rest)) if text.starts_with("invalid type") => match rest.rsplit_once("expected ") {
            Some((_, expected)) => format!("a field is of the wrong type, expected {expected}"),
            None => "a field is of the wrong type".to_owned(),
        },
        Some(_) | None => text,
    }
}

fn install_hints(document: &Map<String, Value>) -> BTreeMap<String, String> {
    let users = document.get("users").and_then(Value::as_array);
    let hint = |user: &Value| {
        let hint = user.pointer("/user/exec/installHint")?.as_str()?.to_owned();
        Some((user.get("name")?.as_str()?.to_owned(), hint))
    };
    users.into_iter().flatten().filter_map(hint).collect()
}

/// Paths are relative to the file they stand in; a plugin's command only when it has a slash, as in client-go.
fn locate(folder: &Path, auth: &mut AuthInfo) {
    absolute(folder, &mut auth.client_certificate);
    absolute(folder, &mut auth.client_key);
    absolute(folder, &mut auth.token_file);
    unwrap_text(&mut auth.client_certificate_data);
    if let Some(key) = auth.client_key_data.take() {
        auth.client_key_data = Some(SecretString::from(without_space(key.expose_secret())));
    }
    if let Some(exec) = &mut auth.exec
        && exec.command.as_ref().is_some_and(|command| command.contains('/'))
    {
        absolute(folder, &mut exec.command);
    }
}

/// An empty name counts as none, as in client-go.
fn absolute(folder: &Path, file: &mut Option<String>) {
    let Some(name) = file.take().filter(|name| !name.is_empty()) else {
        return;
    };
    *file = Some(folder.join(name).to_string_lossy().into_owned());
}

/// Go's base64 ignores line ends inside `*-data` fields, kube's does not.
fn unwrap_text(data: &mut Option<String>) {
    if let Some(text) = data.take().filter(|text| !text.trim().is_empty()) {
        *data = Some(without_space(&text));
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace()).collect()
}
