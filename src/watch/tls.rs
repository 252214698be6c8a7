//! TLS to the API server and to an HTTPS proxy: what kube and rustls do otherwise than Go is set right here.

use std::sync::Arc;

use http::Uri;
use kube::client::ConfigExt;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};

use super::error::Error;
use super::issuer::{self, Unsigned};
use super::target::Authorities;

/// A client certificate chain and its key, as PEM.
pub(super) struct Identity {
    pub certificates: Vec<u8>,
    pub key: Vec<u8>,
}

/// How the API server's certificate is judged.
pub(super) struct Trust<'a> {
    pub server: &'a Uri,
    pub authorities: &'a Authorities,
    pub insecure: bool,
}

/// TLS towards the API server.
pub(super) fn to_server(trust: &Trust, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    let mut config = trusting(trust, trust.authorities)?;
    if let Some(identity) = identity {
        config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(certified(identity)?));
        // Some servers forget who a resumed session belongs to and answer 401 at random.
        config.resumption = Resumption::disabled();
    }
    Ok(config)
}

/// TLS towards an HTTPS proxy, to be tried in this order: signed by the cluster's authorities, as Go wants it, or by the
/// system's, as everybody expects it. Neither carries the cluster's client certificate or server name.
pub(super) fn to_proxy(trust: &Trust) -> Result<Vec<ClientConfig>, Error> {
    let mut configs = Vec::with_capacity(2);
    if !matches!(trust.authorities, Authorities::System) {
        configs.push(trusting(trust, trust.authorities)?);
    }
    configs.push(trusting(trust, &Authorities::System)?);
    Ok(configs)
}

/// kube makes the configuration: the platform's verifier, none at all, or one that reads a rotating file again.
fn trusting(trust: &Trust, authorities: &Authorities) -> Result<ClientConfig, Error> {
    let mut base = kube::Config::new(trust.server.clone());
    base.accept_invalid_certs = trust.insecure;
    if let Authorities::File(path) = authorities {
        base.root_cert_file = Some(path.clone());
    }
    let mut config = base.rustls_client_config().map_err(|error| unusable(&error.to_string()))?;
    if let (Authorities::Pinned(pins, from), false) = (authorities, trust.insecure) {
        let verifier = Pinned { inner: webpki(pins)?, pins: pins.clone(), from: from.clone() };
        config.dangerous().set_certificate_verifier(Arc::new(verifier));
    }
    Ok(config)
}

fn unusable(why: &str) -> Error {
    Error::Tls { why: why.to_owned(), next: "check certificate-authority of this cluster".to_owned() }
}

/// Authorities that webpki cannot parse are left out as long as one is left, as Go does.
fn webpki(pins: &[CertificateDer<'static>]) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(pins.iter().cloned());
    let provider = Arc::new(ring::default_provider());
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(|error| unusable(&error.to_string()))
}

/// A key pair that the server may ask for. A version 1 certificate is passed on as it is: only the server reads it.
fn certified(identity: &Identity) -> Result<CertifiedKey, Error> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&identity.certificates).filter_map(Result::ok).collect();
    if chain.is_empty() {
        return Err(bad_identity("client-certificate holds no certificate", "mend this user of the kubeconfig"));
    }
    let key = PrivateKeyDer::from_pem_slice(&identity.key)
        .map_err(|_| bad_identity("client-key holds no unencrypted PEM private key", "mend this user of the kubeconfig"))?;
    let is_p521 = contains(key.secret_der(), &P521);
    let signing = ring::sign::any_supported_type(&key).map_err(|error| match is_p521 {
        true => bad_identity(
            "the client key is on the curve P-521, which this program cannot sign with",
            "ask for a client certificate with a P-256, P-384, Ed25519 or RSA key",
        ),
        false => bad_identity(
            &format!("the client key cannot be used: {error}"),
            "ask for a client certificate with a P-256, P-384, Ed25519 or RSA key",
        ),
    })?;
    Ok(CertifiedKey::new(chain, signing))
}

/// The DER encoding of the object identifier of secp521r1, 1.3.132.0.35.
const P521: [u8; 7] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23];

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

fn bad_identity(why: &str, next: &str) -> Error {
    Error::Tls { why: why.to_owned(), next: next.to_owned() }
}

/// Go accepts a certificate that is itself in the pool of authorities; webpki refuses an authority as a server. Dates and
/// name are checked all the same.
#[derive(Debug)]
struct Pinned {
    inner: Arc<WebPkiServerVerifier>,
    pins: Vec<CertificateDer<'static>>,
    /// Where they are named.
    from: String,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged = self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match judged {
            Err(error) if is_authority_as_server(&error) && self.is_pinned(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
                Err(self.unsigned(intermediates.last().unwrap_or(end_entity), "UnknownIssuer"))
            }
            // An authority of the same name with another key, as after a rotation.
            Err(rustls::Error::InvalidCertificate(CertificateError::BadSignature)) => {
                Err(self.unsigned(intermediates.last().unwrap_or(end_entity), "BadSignature"))
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

impl Pinned {
    fn unsigned(&self, top: &CertificateDer<'_>, called: &'static str) -> rustls::Error {
        let trusted = self.pins.iter().map(issuer::subject).collect();
        let unsigned = Unsigned { issuer: issuer::issuer(top), trusted, from: self.from.clone(), called };
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(unsigned))))
    }

    fn is_pinned(&self, certificate: &CertificateDer<'_>) -> bool {
        self.pins.iter().any(|pin| pin.as_ref() == certificate.as_ref())
    }
}

/// webpki's own error comes wrapped; it is named only here, where all other checks (dates among them) have passed.
fn is_authority_as_server(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::Other(_))) && format!("{error:?}").contains("CaUsedAsEndEntity")
}

/// A failed handshake in words, with what to do.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is rustls' and grows")]
pub(super) fn explain(error: &rustls::Error) -> Error {
    let (why, next) = match error {
        rustls::Error::InvalidCertificate(problem) => {
            let (why, next) = explain_certificate(problem, &format!("{error:?}"));
            return Error::Tls { why, next };
        }
        rustls::Error::AlertReceived(alert) => explain_alert(*alert),
        rustls::Error::InvalidMessage(_) => {
            ("the server does not speak TLS there".to_owned(), "check the port and whether the address should begin with http://")
        }
        other => (other.to_string(), "check the server address and what stands between"),
    };
    Error::Tls { why, next: next.to_owned() }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is rustls' and grows")]
fn explain_certificate(problem: &CertificateError, debug: &str) -> (String, String) {
    match problem {
        CertificateError::Other(OtherError(cause)) if cause.is::<Unsigned>() => {
            let called = cause.downcast_ref::<Unsigned>().map_or("", |unsigned| unsigned.called);
            (cause.to_string(), format!("{NAME_IT}, and see whether a proxy opens the connection ({called})"))
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => (
            "the server's certificate is signed by an authority that is not trusted here: none is named for this cluster, and this machine \
             does not know it"
                .to_owned(),
            format!("{NAME_IT}, and see whether a proxy opens the connection ({problem:?})"),
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("the server's certificate has expired".to_owned(), "renew it on the control plane; check this machine's clock".to_owned())
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("the server's certificate is not valid yet".to_owned(), "check this machine's clock".to_owned())
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            (format!("the server's certificate is for another name ({problem})"), "use a server address that it names, or tls-server-name".to_owned())
        }
        _ if debug.contains("UnsupportedSignatureAlgorithm") => (
            "the server's certificate is signed in a way this program cannot verify (P-521, SHA-1 or RSA below 2048)".to_owned(),
            "use a certificate with P-256, P-384, Ed25519 or RSA and SHA-256".to_owned(),
        ),
        _ if debug.contains("UnsupportedCertVersion") => {
            ("the server's certificate is X.509 version 1".to_owned(), "issue a version 3 certificate with a subject alternative name".to_owned())
        }
        other => (format!("the server's certificate is refused: {other}"), "check it with `openssl s_client -connect`".to_owned()),
    }
}

/// What to set where nobody trusts who signed.
const NAME_IT: &str = "set certificate-authority of this cluster, or --certificate-authority, to the file of the authority that signed it";

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is rustls' and grows")]
fn explain_alert(alert: AlertDescription) -> (String, &'static str) {
    match alert {
        AlertDescription::CertificateExpired
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown
        | AlertDescription::CertificateRequired
        | AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => {
            (format!("the server refuses our client certificate ({alert:?})"), "log in again or renew the client certificate of this user")
        }
        AlertDescription::HandshakeFailure => (
            "the server found no common way to sign or encrypt (HandshakeFailure); a P-521 server key would explain it".to_owned(),
            "use a server key on P-256 or P-384, Ed25519 or RSA",
        ),
        other => (format!("the server broke the handshake off ({other:?})"), "check the server address and tls-server-name"),
    }
}

/// Whether a new client certificate may help.
pub(super) fn is_about_us(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::AlertReceived(alert) if explain_alert(*alert).1.starts_with("log in"))
}
