//! Turns kubeconfig, options and environment into the one cluster, user and way to connect to.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use kube::config::{AuthInfo, Cluster, Context};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use secrecy::SecretString;

use super::error::{ConfigError, Error};
use super::exec::Plugin;
use super::kubeconfig::{Kubeconfig, User, namespace_of};
use super::options::{Environment, Options};
use super::proxy::{self, Proxy};

/// Where to connect, as whom, and through what. Nothing has been asked yet.
#[derive(Clone, Debug)]
pub struct Target {
    /// The context's name; `None` with `--server` alone or inside a pod.
    pub context: Option<String>,
    /// The namespace of the context.
    pub namespace: String,
    pub server: Uri,
    /// What had to be left out on the way, in words.
    pub warnings: Vec<String>,
    pub(super) authorities: Authorities,
    pub(super) insecure: bool,
    pub(super) tls_server_name: Option<String>,
    pub(super) auth: AuthInfo,
    pub(super) plugin: Option<Plugin>,
    pub(super) proxy: Option<Proxy>,
    /// The kubeconfig's `disable-compression`.
    pub(super) disable_compression: bool,
    pub(super) options: Options,
    pub(super) environment: Environment,
}

/// Who may sign the API server's certificate.
#[derive(Clone, Debug)]
pub(super) enum Authorities {
    /// The operating system's list.
    System,
    /// Those that were named, and where.
    Pinned(Vec<CertificateDer<'static>>, String),
    /// A file that is read again every minute, since the cluster rotates it.
    File(PathBuf),
}

impl Target {
    /// Finds the cluster to connect to, by the rules of kubectl.
    ///
    /// # Errors
    /// No cluster is named, or what is named cannot be connected to safely.
    pub fn find(options: &Options, environment: &Environment) -> Result<Self, Error> {
        let kubeconfig = Kubeconfig::read(options, environment)?;
        let mut target = if kubeconfig.is_empty() && options.context.is_none() {
            Self::without_kubeconfig(&kubeconfig, options, environment)?
        } else {
            Self::from_kubeconfig(&kubeconfig, options, environment)?
        };
        target.warnings.extend(kubeconfig.warnings);
        target.impersonate(options)?;
        Ok(target)
    }

    /// The plugin that gets the free terminal before the screen is taken, since it may ask for something.
    #[must_use]
    pub fn wants_terminal(&self) -> Option<String> {
        let plugin = self.plugin.as_ref()?;
        plugin.may_ask().then(|| plugin.shown())
    }

    /// The plugin whose credential must be waited for.
    #[must_use]
    pub fn plugin(&self) -> Option<String> {
        self.plugin.as_ref().map(Plugin::shown)
    }

    /// The same context read again; what was known before, where that fails now.
    pub(super) fn again(&self) -> Self {
        let mut options = self.options.clone();
        options.context = self.context.clone().or(options.context);
        Self::find(&options, &self.environment).unwrap_or_else(|_| self.clone())
    }

    fn from_kubeconfig(kubeconfig: &Kubeconfig, options: &Options, environment: &Environment) -> Result<Self, Error> {
        let chosen = kubeconfig.context(options.context.as_deref());
        let (name, context) = match chosen {
            Ok((name, context)) => (Some(name), context),
            Err(ConfigError::NoCurrentContext { .. }) if names_a_cluster(options) => (None, Context::default()),
            Err(error) => return Err(error.into()),
        };
        let cluster_name = options.cluster.as_ref().unwrap_or(&context.cluster);
        let known = kubeconfig.clusters.get(cluster_name);
        if known.is_none() && (options.server.is_none() || options.cluster.is_some()) {
            return Err(no_server(name.as_deref(), cluster_name));
        }
        let cluster = with_options(known.cloned().unwrap_or_default(), options);
        let user_name = options.user.as_ref().or(context.user.as_ref());
        let user = user_name.and_then(|user| kubeconfig.users.get(user)).cloned();
        if let (Some(wanted), None) = (&options.user, &user) {
            let what = format!("--user {wanted}");
            let why = "the kubeconfig has no such user".to_owned();
            return Err(ConfigError::Field { what, why }.into());
        }
        let named = Named { context: name, namespace: namespace_of(&context), cluster_name: cluster_name.clone() };
        Self::assemble(named, &cluster, user.unwrap_or_default(), options, environment)
    }

    /// `--server` alone, or the service account of the pod that we run in.
    fn without_kubeconfig(kubeconfig: &Kubeconfig, options: &Options, environment: &Environment) -> Result<Self, Error> {
        if options.server.is_some() {
            let named = Named { context: None, namespace: "default".to_owned(), cluster_name: String::new() };
            let cluster = with_options(Cluster::default(), options);
            return Self::assemble(named, &cluster, User::default(), options, environment);
        }
        let host = environment.get("KUBERNETES_SERVICE_HOST");
        let port = environment.get("KUBERNETES_SERVICE_PORT");
        let token = environment.service_account.join("token");
        match host.zip(port) {
            Some((host, port)) if token.exists() => {
                let at = InCluster { host, port, token: &token };
                Self::in_cluster(&at, options, environment)
            }
            Some(_) | None => Err(ConfigError::Nothing { tried: tried(kubeconfig, environment) }.into()),
        }
    }

    fn in_cluster(at: &InCluster, options: &Options, environment: &Environment) -> Result<Self, Error> {
        let folder = &environment.service_account;
        let host = if at.host.contains(':') { format!("[{}]", at.host) } else { at.host.to_owned() };
        let cluster = Cluster { server: Some(format!("https://{host}:{}", at.port)), ..Cluster::default() };
        let namespace = std::fs::read_to_string(folder.join("namespace")).unwrap_or_default();
        let named = Named {
            context: None,
            namespace: Some(namespace.trim().to_owned()).filter(|namespace| !namespace.is_empty()).unwrap_or_else(|| "default".to_owned()),
            cluster_name: String::new(),
        };
        let mut user = User::default();
        user.auth.token_file = Some(at.token.to_string_lossy().into_owned());
        let cluster = with_options(cluster, options);
        let mut target = Self::assemble(named, &cluster, user, options, environment)?;
        let bundle = folder.join("ca.crt");
        if options.certificate_authority.is_none() && bundle.exists() {
            target.authorities = Authorities::File(bundle);
        }
        Ok(target)
    }

    fn assemble(named: Named, cluster: &Cluster, user: User, options: &Options, environment: &Environment) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let server = cluster.server.as_deref().unwrap_or_default();
        if server.trim().is_empty() {
            return Err(no_server(named.context.as_deref(), &named.cluster_name));
        }
        let authorities = authorities(cluster)?;
        let (auth, mut plugin) = identity(user, options, cluster, &mut warnings)?;
        let server = server_uri(server, cluster, &auth)?;
        let way = proxy::choose(cluster.proxy_url.as_deref(), &server, environment);
        warnings.extend(way.warnings);
        if let (Some(plugin), Some(list)) = (&mut plugin, way.clean_no_proxy) {
            plugin.no_proxy = Some(list);
        }
        Ok(Self {
            context: named.context,
            namespace: named.namespace,
            server,
            warnings,
            authorities,
            insecure: cluster.insecure_skip_tls_verify.unwrap_or(false),
            tls_server_name: cluster.tls_server_name.clone().filter(|name| !name.is_empty()),
            auth,
            plugin,
            proxy: way.proxy,
            disable_compression: cluster.disable_compression.unwrap_or(false),
            options: options.clone(),
            environment: environment.clone(),
        })
    }

    /// `--as` and `--as-group` replace what the kubeconfig impersonates.
    fn impersonate(&mut self, options: &Options) -> Result<(), Error> {
        if let Some(user) = &options.impersonate {
            self.auth.impersonate = Some(user.clone());
        }
        if !options.impersonate_groups.is_empty() {
            self.auth.impersonate_groups = Some(options.impersonate_groups.clone());
        }
        let groups = self.auth.impersonate_groups.as_ref();
        if self.auth.impersonate.is_none() && groups.is_some_and(|groups| !groups.is_empty()) {
            let what = "--as-group".to_owned();
            let why = "groups can be impersonated only together with a user; add --as".to_owned();
            return Err(ConfigError::Field { what, why }.into());
        }
        Ok(())
    }
}

/// The names under which the parts were found.
struct Named {
    context: Option<String>,
    namespace: String,
    cluster_name: String,
}

struct InCluster<'a> {
    host: &'a str,
    port: &'a str,
    token: &'a Path,
}

fn names_a_cluster(options: &Options) -> bool {
    options.server.is_some() || options.cluster.is_some()
}

fn no_server(context: Option<&str>, cluster: &str) -> Error {
    ConfigError::NoServer { context: context.unwrap_or_default().to_owned(), cluster: cluster.to_owned() }.into()
}

fn tried(kubeconfig: &Kubeconfig, environment: &Environment) -> Vec<String> {
    let mut tried: Vec<String> = kubeconfig.tried.iter().map(|path| path.display().to_string()).collect();
    tried.push(environment.service_account.display().to_string());
    tried
}

/// Options over the cluster's entry; an insecure connection and a CA exclude each other, and a new server needs its own
/// name (client-go `clientcmd/client_config.go`).
fn with_options(mut cluster: Cluster, options: &Options) -> Cluster {
    if let Some(server) = &options.server {
        cluster.server = Some(server.clone());
        cluster.tls_server_name = None;
    }
    if options.insecure_skip_tls_verify || options.certificate_authority.is_some() {
        cluster.insecure_skip_tls_verify = Some(options.insecure_skip_tls_verify);
        cluster.certificate_authority_data = None;
        cluster.certificate_authority = options.certificate_authority.as_ref().map(|path| path.to_string_lossy().into_owned());
    }
    cluster
}

/// A certificate authority that cannot be read is an error: trusting the system's list instead would widen what the
/// user pinned.
fn authorities(cluster: &Cluster) -> Result<Authorities, Error> {
    let (pem, from) = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => {
            let pem = STANDARD.decode(data).map_err(|error| field("certificate-authority-data", error.to_string()))?;
            (pem, "certificate-authority-data of this cluster".to_owned())
        }
        (None, Some(path)) => {
            let pem = std::fs::read(path).map_err(|error| field("certificate-authority", format!("{path}: {error}")))?;
            (pem, path.clone())
        }
        (None, None) => return Ok(Authorities::System),
    };
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect();
    if certificates.is_empty() {
        return Err(field("certificate-authority", "it holds no certificate".to_owned()));
    }
    Ok(Authorities::Pinned(certificates, from))
}

fn field(what: &str, why: String) -> Error {
    ConfigError::Field { what: format!("{what} of this cluster cannot be read"), why }.into()
}

/// kubectl completes `host:port` to https where anything speaks of TLS, else to http.
fn server_uri(server: &str, cluster: &Cluster, auth: &AuthInfo) -> Result<Uri, Error> {
    let server = server.trim().trim_end_matches('/');
    let secure = cluster.certificate_authority_data.is_some()
        || cluster.certificate_authority.is_some()
        || cluster.insecure_skip_tls_verify == Some(true)
        || auth.client_certificate.is_some()
        || auth.client_certificate_data.is_some();
    let whole = match (server.contains("://"), secure) {
        (true, _) => server.to_owned(),
        (false, true) => format!("https://{server}"),
        (false, false) => format!("http://{server}"),
    };
    let wrong = |why: String| Error::from(ConfigError::Field { what: format!("the server address {server:?}"), why });
    let uri: Uri = whole.parse().map_err(|error: http::uri::InvalidUri| wrong(error.to_string()))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(_)) => Ok(uri),
        _ => Err(wrong("it is neither http nor https".to_owned())),
    }
}

/// The user's credentials without what cannot be read, and the plugin that we run ourselves.
fn identity(user: User, options: &Options, cluster: &Cluster, warnings: &mut Vec<String>) -> Result<(AuthInfo, Option<Plugin>), Error> {
    let mut auth = user.auth;
    drop_unreadable(&mut auth, warnings);
    let exec = auth.exec.take();
    if let Some(token) = &options.token {
        auth.token = Some(SecretString::from(token.as_str()));
        auth.token_file = None;
        auth.username = None;
        auth.password = None;
        auth.auth_provider = None;
        return Ok((auth, None));
    }
    refuse_old_providers(&auth)?;
    let plugin = exec.map(|exec| Plugin::new(exec, cluster, user.install_hint));
    Ok((auth, plugin.transpose()?))
}

/// A broken client certificate is said and left out: the server then says what it thinks of us without it.
fn drop_unreadable(auth: &mut AuthInfo, warnings: &mut Vec<String>) {
    use secrecy::ExposeSecret;
    let certificate = auth.client_certificate_data.as_deref();
    let key = auth.client_key_data.as_ref().map(SecretString::expose_secret);
    let broken = [("client-certificate-data", certificate), ("client-key-data", key)]
        .into_iter()
        .find(|(_, data)| data.is_some_and(|data| STANDARD.decode(data).is_err()));
    if let Some((field, _)) = broken {
        warnings.push(format!("kubeconfig: {field} is not base64: connecting without a client certificate"));
        auth.client_certificate_data = None;
        auth.client_key_data = None;
        auth.client_certificate = None;
        auth.client_key = None;
    }
}

/// client-go dropped these in 1.26; kubectl refuses them too.
fn refuse_old_providers(auth: &AuthInfo) -> Result<(), Error> {
    let Some(provider) = &auth.auth_provider else {
        return Ok(());
    };
    let instead = match provider.name.as_str() {
        "oidc" => return Ok(()),
        "gcp" => "gke-gcloud-auth-plugin",
        "azure" => "kubelogin",
        _ => "an exec plugin",
    };
    Err(Error::Login {
        why: format!("auth-provider {:?} is not supported, as in kubectl since 1.26", provider.name),
        next: format!("use {instead} in this user of the kubeconfig"),
    })
}
