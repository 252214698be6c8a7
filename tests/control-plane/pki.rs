//! The certificates and keys of one control plane, made anew for each run.

use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};
use std::fs;
use std::path::{Path, PathBuf};

pub struct Pki {
    folder: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key, both in PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Pki {
    pub fn create(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("the folder for keys can be made");
        let mut params = named("control plane of the tests", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = CertifiedIssuer::self_signed(params, key()).expect("a certificate authority");
        let pki = Self { folder: folder.to_owned(), authority };
        pki.write("ca.crt", &pki.authority.pem());
        pki
    }

    pub fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// A client or server certificate for 127.0.0.1 and the names of the `kubernetes` Service.
    pub fn issue(&self, name: &str, group: Option<&str>) -> Identity {
        let mut params = named(name, group);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        for host in ["localhost", "kubernetes.default.svc"] {
            params.subject_alt_names.push(SanType::DnsName(host.try_into().expect("a host name")));
        }
        let key = key();
        let certificate = params.signed_by(&key, &self.authority).expect("a signed certificate").pem();
        Identity { certificate, key: key.serialize_pem() }
    }

    /// Writes `NAME.crt` and `NAME.key`.
    pub fn issue_files(&self, name: &str, group: Option<&str>) {
        let identity = self.issue(name, group);
        self.write(&format!("{name}.crt"), &identity.certificate);
        self.write(&format!("{name}.key"), &identity.key);
    }

    /// The pair with which service account tokens are signed.
    pub fn issue_signing_pair(&self) {
        let key = key();
        self.write("sa.key", &key.serialize_pem());
        self.write("sa.pub", &key.public_key_pem());
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("the file can be written");
    }

    pub fn authority_data(&self) -> String {
        STANDARD.encode(self.authority.pem())
    }
}

impl Identity {
    /// The fields of a kubeconfig user.
    pub fn as_user(&self) -> String {
        let (certificate, key) = (STANDARD.encode(&self.certificate), STANDARD.encode(&self.key));
        format!("{{client-certificate-data: {certificate}, client-key-data: {key}}}")
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key pair")
}

fn named(name: &str, group: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    params
}
