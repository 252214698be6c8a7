//! Who signed a certificate, and whom a user trusts, by name: so that a refusal can say which authority did not sign it. Reads only as much
//! of a certificate as that takes, and of a broken one nothing.

use rustls::pki_types::CertificateDer;

/// The server's certificate leads to none of the authorities that the user named.
#[derive(Debug)]
pub(super) struct Unsigned {
    /// Who signed it.
    pub issuer: String,
    pub trusted: Vec<String>,
    /// Where they are named: a file, or the kubeconfig.
    pub from: String,
    /// What the library calls it.
    pub called: &'static str,
}

impl std::fmt::Display for Unsigned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { issuer, trusted, from, .. } = self;
        let same = trusted.contains(issuer);
        let also = if same { " with another key" } else { "" };
        let named: Vec<String> = trusted.iter().take(SHOWN).map(|name| format!("\"{name}\"")).collect();
        let more = if trusted.len() > SHOWN { " and others" } else { "" };
        write!(
            f,
            "the server's certificate is signed by an authority that is not trusted here: \"{issuer}\"{also}, while {from} names {}{more}",
            named.join(", ")
        )
    }
}

impl std::error::Error for Unsigned {}

/// So many authorities are named; a bundle has hundreds.
const SHOWN: usize = 3;

/// The name of whoever signed a certificate.
pub(super) fn issuer(certificate: &CertificateDer<'_>) -> String {
    name(certificate, Field::Issuer).unwrap_or_else(|| "an authority without a name".to_owned())
}

/// The name in a certificate itself.
pub(super) fn subject(certificate: &CertificateDer<'_>) -> String {
    name(certificate, Field::Subject).unwrap_or_else(|| "an authority without a name".to_owned())
}

#[derive(Clone, Copy)]
enum Field {
    Issuer,
    Subject,
}

/// Common name, else organisation.
fn name(certificate: &CertificateDer<'_>, field: Field) -> Option<String> {
    let (_, whole, _) = element(certificate.as_ref())?;
    let (_, mut rest, _) = element(whole)?;
    let mut parts = Vec::new();
    while let Some((tag, content, left)) = element(rest) {
        // The version is left out of old ones.
        if tag != VERSION {
            parts.push(content);
        }
        rest = left;
    }
    // Serial number, algorithm, issuer, validity, subject.
    let names = parts.get(match field {
        Field::Issuer => 2,
        Field::Subject => 4,
    })?;
    said(names, COMMON_NAME).or_else(|| said(names, ORGANISATION))
}

/// The text under an object identifier of a distinguished name.
fn said(mut names: &[u8], wanted: &[u8]) -> Option<String> {
    while let Some((_, set, rest)) = element(names) {
        let (_, pair, _) = element(set)?;
        let (_, oid, value) = element(pair)?;
        if oid == wanted {
            let (_, text, _) = element(value)?;
            let text = String::from_utf8_lossy(text);
            return Some(text.chars().take(LONGEST).collect()).filter(|text: &String| !text.trim().is_empty());
        }
        names = rest;
    }
    None
}

const VERSION: u8 = 0xA0;
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const ORGANISATION: &[u8] = &[0x55, 0x04, 0x0A];
/// A longer name is no name.
const LONGEST: usize = 80;

/// The first element of DER: its tag, its content, what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, first) = (*bytes.first()?, usize::from(*bytes.get(1)?));
    let (length, start) = if first < 0x80 {
        (first, 2)
    } else {
        let count = first & 0x7F;
        let digits = bytes.get(2..2 + count).filter(|_| (1..=4).contains(&count))?;
        (digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit)), 2 + count)
    };
    let end = start.checked_add(length)?;
    Some((tag, bytes.get(start..end)?, &bytes[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_has_no_name() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], &[0x30, 0x80], &[0x30, 0x02, 0x30, 0x00]] {
            assert_eq!(issuer(&CertificateDer::from(bytes)), "an authority without a name");
        }
    }
}
