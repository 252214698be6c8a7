//! Helm's release storage: what a release installed, out of the Secret or ConfigMap in which Helm keeps it. A payload that cannot be
//! read costs only itself, and never more memory than a release may have.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::declared::Declared;
use super::manifest;
use super::object::{Identity, Object};
use crate::redact::Redactor;

/// A payload is at most 1 MiB packed; more than this it does not unpack to, whatever its length says.
const LARGEST: u64 = 64 << 20;
const GZIP: [u8; 3] = [0x1F, 0x8B, 0x08];

/// One revision of a release.
#[derive(Clone, Debug)]
pub struct Release {
    pub name: String,
    pub namespace: String,
    pub revision: i64,
    /// `deployed`, `superseded`, `failed`, `pending-upgrade`, …
    pub status: String,
    /// When it was deployed last, as Helm wrote it; "" in old records.
    pub deployed: String,
    pub objects: Declared,
    /// The Secret or ConfigMap in which it is kept.
    pub record: String,
    /// Documents of its manifest that cannot be read: the line where each begins, and why.
    pub odd: Vec<(usize, String)>,
}

impl Release {
    /// `revision 8 (pending-upgrade)`.
    pub fn title(&self) -> String {
        let state = if self.status == "deployed" { String::new() } else { format!(" ({})", self.status) };
        format!("revision {}{state}", self.revision)
    }

    /// What of its manifest cannot be read, in which record, and what is compared all the same.
    pub fn faults(&self) -> Vec<String> {
        let rest = match self.objects.len() {
            0 => "and nothing else is declared in it".to_owned(),
            1 => "the other object of it is compared".to_owned(),
            n => format!("the other {n} objects of it are compared"),
        };
        let fault = |(line, why): &(usize, String)| {
            format!("{}: line {line} of its manifest {why}; what stands there is not known, {rest}", self.record)
        };
        self.odd.iter().map(fault).collect()
    }
}

/// Whether an object is one of Helm's records.
pub fn is_record(object: &Value) -> bool {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    matches!(text("/kind"), "Secret" | "ConfigMap") && text("/metadata/name").starts_with("sh.helm.release.v1.")
}

/// Reads a record that is not yet redacted.
///
/// # Errors
/// In words: what of the payload is not as Helm writes it.
pub fn read(record: &Value, redactor: &Redactor) -> Result<Release, String> {
    let text = record.pointer("/data/release").and_then(Value::as_str).ok_or("the record holds no release")?;
    if text.starts_with("redacted/") || text.starts_with('‹') {
        return Err("the release is redacted in this file".to_owned());
    }
    // Of a Secret the API adds a layer of base64 around Helm's own.
    let is_secret = record.get("kind").and_then(Value::as_str) == Some("Secret");
    let layers = if is_secret { 2 } else { 1 };
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..layers {
        bytes = STANDARD.decode(bytes.trim_ascii()).map_err(|_| "the release is no base64")?;
    }
    let release: Value = serde_json::from_slice(&inflated(bytes)?).map_err(|_| "the release is no JSON")?;
    if release.get("manifest").and_then(Value::as_str).is_none() {
        return Err("the release holds no manifest".to_owned());
    }
    let record = record.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    Ok(decoded(&release, record, redactor))
}

fn inflated(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut plain = Vec::new();
    GzDecoder::new(bytes.as_slice()).take(LARGEST).read_to_end(&mut plain).map_err(|_| "the release is broken off")?;
    if plain.len() as u64 >= LARGEST { Err("the release is larger than any that Helm can store".to_owned()) } else { Ok(plain) }
}

fn decoded(release: &Value, record: &str, redactor: &Redactor) -> Release {
    let text = |pointer: &str| release.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, namespace) = (text("/name"), text("/namespace"));
    let manifest::Manifests { objects, odd } = manifest::read(&text("/manifest"));
    let odd = odd.into_iter().map(|(line, why)| (line, redactor.text(&why).into_owned())).collect();
    let objects = objects.into_iter().map(|object| Object::new(owned(object, &name, &namespace), redactor)).collect();
    let revision = release.get("version").and_then(Value::as_i64).unwrap_or_default();
    let (status, deployed) = (text("/info/status"), text("/info/last_deployed"));
    Release { revision, status, deployed, objects, record: record.to_owned(), odd, name, namespace }
}

/// The object with what Helm adds when it applies it, which no manifest holds.
fn owned(mut object: Value, name: &str, namespace: &str) -> Value {
    let Some(fields) = object.as_object_mut() else { return object };
    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else { return object };
    metadata.entry("namespace").or_insert_with(|| Value::from(namespace));
    let mut add = |map: &str, key: &str, value: &str| {
        let map = metadata.entry(map).or_insert_with(|| json!({}));
        if map.is_null() {
            *map = json!({});
        }
        if let Some(map) = map.as_object_mut() {
            map.insert(key.to_owned(), Value::from(value));
        }
    };
    add("annotations", "meta.helm.sh/release-name", name);
    add("annotations", "meta.helm.sh/release-namespace", namespace);
    add("labels", "app.kubernetes.io/managed-by", "Helm");
    object
}

/// The release that an object belongs to, by its own word.
pub fn of(object: &Value) -> Option<(&str, &str)> {
    let notes = object.pointer("/metadata/annotations")?;
    Some((notes.get("meta.helm.sh/release-name")?.as_str()?, notes.get("meta.helm.sh/release-namespace")?.as_str()?))
}

/// Revisions of the release that an object belongs to, newest first.
pub fn revisions<'a>(releases: &'a [Release], live: &Value) -> Vec<&'a Release> {
    let Some((name, namespace)) = of(live) else { return Vec::new() };
    let mut found: Vec<&Release> = releases.iter().filter(|r| r.name == name && r.namespace == namespace).collect();
    found.sort_by_key(|release| std::cmp::Reverse(release.revision));
    found
}

/// Revisions that are newer than the deployed one and not history: an upgrade that is under way or failed may have written a part.
pub fn newer<'a>(releases: &'a [Release], live: &Value) -> Vec<&'a Release> {
    let revisions = revisions(releases, live);
    let newest = revisions.iter().find(|release| release.status == "deployed").map_or(i64::MIN, |release| release.revision);
    revisions.into_iter().filter(|release| release.revision > newest && release.status != "superseded").collect()
}

/// What has to be known of an object's release beside what is deployed of it.
pub fn notes(releases: &[Release], live: &Object) -> Vec<String> {
    let identity = live.identity();
    let deployed = revisions(releases, live.value()).into_iter().find(|release| release.status == "deployed");
    let note = |release: &Release| {
        let says = if object(release, &identity).is_some() { "it is among the sources" } else { "it does not declare this object" };
        match deployed {
            Some(deployed) => {
                let than = format!("{} is newer than the deployed revision {}", release.title(), deployed.revision);
                format!("helm release {}: {than}, so live may be half-way; {says}", release.name)
            }
            None => format!("helm release {}: no revision that is kept is deployed; {}: {says}", release.name, release.title()),
        }
    };
    let mut notes: Vec<String> = newer(releases, live.value()).into_iter().map(note).collect();
    let labelled = live.value().pointer("/metadata/labels/heritage").and_then(Value::as_str) == Some("Tiller");
    if labelled && of(live.value()).is_none() {
        notes.push("its labels say that it was installed by Helm 2, whose records are not read: give its manifests with -f".to_owned());
    }
    notes
}

/// The release of a record that Helm 2 kept: recognised, so that nobody thinks there is none, and not decoded.
pub fn second(object: &Value) -> Option<&str> {
    let labels = object.pointer("/metadata/labels")?;
    (labels.get("OWNER")?.as_str()? == "TILLER").then(|| labels.get("NAME")?.as_str()).flatten()
}

/// What to do about it.
pub const SECOND: &str = "Helm 2, whose records (owner TILLER) are not read; \
    `helm 2to3 convert` makes records that can be, or give the manifests with -f";

/// What a release says of an object.
pub fn object<'a>(release: &'a Release, identity: &Identity) -> Option<&'a Object> {
    release.objects.of(identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(layers: usize, plain: &[u8]) -> String {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(plain).unwrap();
        let mut bytes = gzip.finish().unwrap();
        for _ in 0..layers {
            bytes = STANDARD.encode(bytes).into_bytes();
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn both_drivers_are_read_and_what_helm_adds_is_added() {
        let release = json!({"name": "shop", "namespace": "web", "version": 7, "info": {"status": "deployed", "last_deployed": ""},
            "manifest": "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: null}\ndata: {x: y}\n"});
        let plain = release.to_string();
        for (kind, layers) in [("Secret", 2), ("ConfigMap", 1)] {
            let record = json!({"kind": kind, "metadata": {"name": "sh.helm.release.v1.shop.v7"}, "data": {"release": packed(layers, plain.as_bytes())}});
            assert!(is_record(&record));
            let release = read(&record, &Redactor::new(&[7; 32])).unwrap();
            assert_eq!((release.revision, release.status.as_str(), release.objects.len()), (7, "deployed", 1));
            assert_eq!(release.objects[0].value()["metadata"]["labels"]["app.kubernetes.io/managed-by"], "Helm");
            assert_eq!(release.objects[0].value()["metadata"]["namespace"], "web");
        }
    }

    #[test]
    fn a_broken_payload_is_told_in_words() {
        for data in [json!(null), json!("%%%"), json!("AAAA"), json!(packed(2, b"{}")[..40].to_owned()), json!(packed(2, b"not json"))] {
            let record = json!({"kind": "Secret", "metadata": {"name": "sh.helm.release.v1.a.v1"}, "data": {"release": data}});
            assert!(read(&record, &Redactor::new(&[7; 32])).is_err(), "{record}");
        }
    }
}
