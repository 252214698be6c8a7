//! Runs a kubeconfig's exec plugin: once for each credential, unseen or on a free terminal, and never longer than allowed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::config::{Cluster, ExecConfig, ExecInteractiveMode};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Error;
use super::options::Environment;
use super::session::{self, Launcher, Outcome};

/// A plugin as the kubeconfig describes it.
#[derive(Clone, Debug)]
pub(super) struct Plugin {
    command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    api_version: String,
    interactive: Interactive,
    /// What the plugin may know of the cluster, where the kubeconfig allows it.
    cluster: Option<Value>,
    install_hint: Option<String>,
    /// NO_PROXY without unreadable entries, where there were some.
    pub no_proxy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interactive {
    Never,
    IfAvailable,
    Always,
}

/// Whether somebody sits before the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The terminal is free: the plugin may ask, and what it says is shown as it comes.
    Terminal,
    /// The screen is taken or nobody is there: no controlling terminal, and what it says is kept.
    Unseen,
}

/// What a plugin handed out.
#[derive(Clone, Debug, Default)]
pub(super) struct Credential {
    pub token: Option<SecretString>,
    /// PEM of certificate chain and key.
    pub certificate: Option<(String, SecretString)>,
    pub expires: Option<Timestamp>,
    /// What the plugin said on the way; it belongs on the coverage screen.
    pub said: String,
}

impl Plugin {
    pub fn new(exec: ExecConfig, cluster: &Cluster, install_hint: Option<String>) -> Result<Self, Error> {
        let Some(command) = exec.command.filter(|command| !command.is_empty()) else {
            return Err(Error::Login {
                why: "the exec plugin of this user has no command".to_owned(),
                next: "mend users[].user.exec.command in the kubeconfig".to_owned(),
            });
        };
        Ok(Self {
            command,
            args: exec.args.unwrap_or_default(),
            env: exec.env.unwrap_or_default().iter().filter_map(pair).collect(),
            api_version: exec.api_version.unwrap_or_else(|| "client.authentication.k8s.io/v1beta1".to_owned()),
            interactive: match exec.interactive_mode {
                Some(ExecInteractiveMode::Never) => Interactive::Never,
                Some(ExecInteractiveMode::Always) => Interactive::Always,
                Some(ExecInteractiveMode::IfAvailable) | None => Interactive::IfAvailable,
            },
            cluster: exec.provide_cluster_info.then(|| cluster_info(cluster)),
            install_hint,
            no_proxy: None,
        })
    }

    pub fn may_ask(&self) -> bool {
        self.interactive != Interactive::Never
    }

    /// The command as it may be shown: values that look like credentials are left out, the environment altogether.
    pub fn shown(&self) -> String {
        let mut words = vec![self.command.clone()];
        let mut hide_next = false;
        for arg in &self.args {
            words.push(if hide_next { "…".to_owned() } else { shown_argument(arg) });
            hide_next = !hide_next && arg.starts_with('-') && !arg.contains('=') && is_secret_name(arg);
        }
        words.join(" ")
    }

    /// Runs the plugin and reads the credential it prints.
    pub async fn run(
        &self,
        manner: Manner,
        environment: &Environment,
        program: Option<&PathBuf>,
        limit: Duration,
    ) -> Result<Credential, Error> {
        if manner == Manner::Unseen && self.interactive == Interactive::Always {
            return Err(self.failed("it needs a terminal"));
        }
        if environment.program(&self.command).is_none() {
            return Err(self.missing());
        }
        let launcher = Launcher::find(manner, environment, program);
        let mut command = launcher.command(&self.command, &self.args);
        command.env("KUBERNETES_EXEC_INFO", self.info(manner).to_string());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(list) = &self.no_proxy {
            command.env("NO_PROXY", list).env("no_proxy", list);
        }
        match session::finish(command, launcher, limit).await {
            Ok(outcome) => self.read(&outcome),
            Err(why) => Err(self.failed(&why)),
        }
    }

    fn info(&self, manner: Manner) -> Value {
        let mut spec = json!({ "interactive": manner == Manner::Terminal && self.may_ask() });
        if let Some(cluster) = &self.cluster {
            spec["cluster"] = cluster.clone();
        }
        json!({ "apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec })
    }

    fn read(&self, outcome: &Outcome) -> Result<Credential, Error> {
        let said = outcome.said();
        if !outcome.success {
            let why = match said.is_empty() {
                true => outcome.how.clone(),
                false => format!("{}: {said}", outcome.how),
            };
            return Err(self.failed(&why));
        }
        let printed = String::from_utf8_lossy(&outcome.stdout);
        let options = serde_saphyr::options! { with_snippet: false };
        let answer: Result<Answer, _> = serde_saphyr::from_str_with_options(&printed, options);
        let Ok(Answer { status: Some(status) }) = answer else {
            return Err(self.failed("what it printed is no ExecCredential with a status"));
        };
        self.accept(status, said)
    }

    fn accept(&self, status: Printed, said: String) -> Result<Credential, Error> {
        let credential = Credential {
            expires: status.expires(),
            token: status.token.filter(|token| !token.is_empty()).map(SecretString::from),
            certificate: status.client_certificate_data.zip(status.client_key_data.map(SecretString::from)),
            said,
        };
        if credential.token.is_none() && credential.certificate.is_none() {
            return Err(self.failed("it printed neither a token nor a certificate"));
        }
        Ok(credential)
    }

    fn missing(&self) -> Error {
        let next = match &self.install_hint {
            Some(hint) => hint.trim().to_owned(),
            None => format!("install {} or add its folder to PATH", self.command),
        };
        Error::Login { why: format!("the plugin {} is not found", self.command), next }
    }

    fn failed(&self, why: &str) -> Error {
        Error::Login { why: format!("the plugin failed: {why}"), next: format!("run `{}` in a terminal, then try again", self.shown()) }
    }
}

#[derive(Deserialize)]
struct Answer {
    status: Option<Printed>,
}

/// `ExecCredentialStatus` of client.authentication.k8s.io.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Printed {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Printed {
    /// A time that cannot be read means that the credential is kept until the server refuses it.
    fn expires(&self) -> Option<Timestamp> {
        self.expiration_timestamp.as_ref()?.parse().ok()
    }
}

fn pair(entry: &HashMap<String, String>) -> Option<(String, String)> {
    Some((entry.get("name")?.clone(), entry.get("value")?.clone()))
}

/// `ExecCredential.spec.cluster`, with the authority's bytes instead of its path.
fn cluster_info(cluster: &Cluster) -> Value {
    use base64::Engine;
    let from_file = || {
        let path = cluster.certificate_authority.as_ref()?;
        let bytes = std::fs::read(path).ok()?;
        Some(base64::engine::general_purpose::STANDARD.encode(bytes))
    };
    let authority = cluster.certificate_authority_data.clone().or_else(from_file);
    let extensions = cluster.extensions.iter().flatten();
    let config = extensions
        .filter(|extension| extension.name == "client.authentication.k8s.io/exec")
        .map(|extension| extension.extension.clone())
        .next();
    let mut info = json!({});
    let fields = [
        ("server", cluster.server.clone().map(Value::from)),
        ("tls-server-name", cluster.tls_server_name.clone().map(Value::from)),
        ("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify.map(Value::from)),
        ("certificate-authority-data", authority.map(Value::from)),
        ("proxy-url", cluster.proxy_url.clone().map(Value::from)),
        ("config", config),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            info[name] = value;
        }
    }
    info
}

fn shown_argument(arg: &str) -> String {
    match arg.split_once('=') {
        Some((name, _)) if is_secret_name(name) => format!("{name}=…"),
        Some(_) | None => arg.to_owned(),
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = ["token", "secret", "password", "passwd", "credential", "api-key", "apikey", "private-key", "access-key"];
    words.iter().any(|word| name.contains(word))
}
