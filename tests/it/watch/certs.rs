//! Certificates for the mock server and for clients, made for each test.

use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use tokio_rustls::TlsAcceptor;

/// An authority that signs for `localhost` and 127.0.0.1.
pub struct Authority {
    pub pem: String,
    params: CertificateParams,
    key: KeyPair,
}

/// A certificate with its key.
pub struct Pair {
    pub certificate: CertificateDer<'static>,
    pub certificate_pem: String,
    pub key_pem: String,
    key: Vec<u8>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("ring makes keys");
        let params = authority_params(name, Vec::new());
        let certificate = params.self_signed(&key).expect("the parameters are complete");
        Self { pem: certificate.pem(), params, key }
    }

    pub fn server(&self) -> Pair {
        self.pair(&["localhost", "127.0.0.1"])
    }

    pub fn pair(&self, names: &[&str]) -> Pair {
        self.signed(&params(names))
    }

    pub fn expired(&self) -> Pair {
        let mut params = params(&["localhost", "127.0.0.1"]);
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
        self.signed(&params)
    }

    fn signed(&self, params: &CertificateParams) -> Pair {
        let key = KeyPair::generate().expect("ring makes keys");
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).expect("the parameters are complete");
        Pair::new(&certificate, &key)
    }
}

impl Pair {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self {
            certificate: certificate.der().clone(),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            key: key.serialize_der(),
        }
    }

    /// An authority that is served as it is, as small clusters do.
    pub fn authority_as_server() -> Self {
        let key = KeyPair::generate().expect("ring makes keys");
        let params = authority_params("own", vec!["localhost".to_owned(), "127.0.0.1".to_owned()]);
        Self::new(&params.self_signed(&key).expect("the parameters are complete"), &key)
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).expect("these are names")
}

fn authority_params(name: &str, names: Vec<String>) -> CertificateParams {
    let mut params = CertificateParams::new(names).expect("these are names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params
}

/// What the server shows and asks for.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<Mutex<Arc<ServerConfig>>>,
}

impl ServerTls {
    pub fn showing(pair: &Pair) -> Self {
        let config = builder().with_no_client_auth().with_single_cert(vec![pair.certificate.clone()], key(pair));
        Self { config: Arc::new(Mutex::new(Arc::new(config.expect("the pair fits")))) }
    }

    /// Asks for a client certificate; these are refused with an alert.
    pub fn asking(pair: &Pair, refused: Vec<CertificateDer<'static>>) -> Self {
        let verifier = Arc::new(Anybody { refused });
        let config = builder().with_client_cert_verifier(verifier).with_single_cert(vec![pair.certificate.clone()], key(pair));
        Self { config: Arc::new(Mutex::new(Arc::new(config.expect("the pair fits")))) }
    }

    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn key(pair: &Pair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(pair.key.clone().into())
}

fn builder() -> rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier> {
    ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS 1.2 and 1.3")
}

/// Takes any client certificate, version 1 too, but for those that a test wants refused.
#[derive(Debug)]
struct Anybody {
    refused: Vec<CertificateDer<'static>>,
}

impl ClientCertVerifier for Anybody {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if self.refused.iter().any(|refused| refused == end_entity) {
            return Err(rustls::Error::InvalidCertificate(rustls::CertificateError::Expired));
        }
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}
