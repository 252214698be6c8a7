//! Copies of themselves that objects carry in annotations, as their tools last applied them: kubectl's and its siblings'. The copy is
//! read before the object is redacted, and redacted like the object.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;

/// An annotation in which a tool keeps what it applied.
struct Carrier {
    name: &'static str,
    tool: &'static str,
    packing: Packing,
}

#[derive(Clone, Copy)]
enum Packing {
    Json,
    /// gzip, then base64.
    Gzip,
}

const CARRIERS: &[Carrier] = &[
    Carrier { name: KUBECTL, tool: "kubectl", packing: Packing::Json },
    Carrier { name: "kapp.k14s.io/original", tool: "kapp", packing: Packing::Json },
    Carrier { name: "qbec.io/last-applied", tool: "qbec", packing: Packing::Gzip },
    Carrier { name: "objectset.rio.cattle.io/applied", tool: "Fleet", packing: Packing::Gzip },
    Carrier { name: "kubecfg.ksonnet.io/last-applied-configuration", tool: "kubecfg", packing: Packing::Json },
    Carrier { name: "kopf.zalando.org/last-handled-configuration", tool: "kopf", packing: Packing::Json },
];

pub const KUBECTL: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// More than this no annotation unpacks to: all annotations together hold 256 KiB.
const LARGEST: u64 = 8 << 20;

/// Whether an annotation holds a copy of its object, or a digest of one.
pub fn is_copy(name: &str) -> bool {
    CARRIERS.iter().any(|carrier| carrier.name == name) || name.starts_with("kapp.k14s.io/original")
}

/// A copy with where it was found.
#[derive(Clone, Debug)]
pub struct Copy {
    pub annotation: &'static str,
    pub tool: &'static str,
    pub object: Value,
}

/// The copies in an object that is not yet redacted; what cannot be read is none.
pub fn copies(object: &Value) -> Vec<Copy> {
    let Some(notes) = object.pointer("/metadata/annotations").and_then(Value::as_object) else { return Vec::new() };
    CARRIERS.iter().filter_map(|carrier| copy(carrier, notes.get(carrier.name)?.as_str()?)).collect()
}

fn copy(carrier: &Carrier, text: &str) -> Option<Copy> {
    let object: Value = match carrier.packing {
        Packing::Json => serde_json::from_str(text).ok()?,
        Packing::Gzip => {
            let packed = STANDARD.decode(text.trim()).ok()?;
            let mut json = Vec::new();
            GzDecoder::new(packed.as_slice()).take(LARGEST).read_to_end(&mut json).ok()?;
            serde_json::from_slice(&json).ok()?
        }
    };
    object.is_object().then_some(Copy { annotation: carrier.name, tool: carrier.tool, object })
}
