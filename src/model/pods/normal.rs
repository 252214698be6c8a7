//! The normal form of a spec: what is a pod's own inside it is cut out, so that replicas share it, and put back on demand.
//!
//! A pod's own are: `nodeName` (kept beside), the suffix of the token volume (dropped: Kubernetes makes it up), a claim name that ends
//! in the pod's name, and the node in a DaemonSet pod's affinity.

use crate::model::{Container, PodSpec, Requirement, Text};

/// Stands for the pod's name at the end of a claim name, and for the node in an affinity on `metadata.name`.
pub(in crate::model) const OWN: char = '\u{1}';
const TOKEN_VOLUME: &str = "kube-api-access-";

/// What was cut out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Own {
    /// Claims or affinity: the spec must be completed before it is exact.
    pub parts: usize,
    pub tokens: usize,
}

/// Brings a spec into its normal form. A spec that holds the mark already is left as it is.
pub(super) fn normalize(spec: &mut PodSpec, pod: &str) -> Own {
    let tokens = cut_token_volumes(spec);
    let node = std::mem::take(&mut spec.node_name);
    let mut parts = 0;
    if !own_places(spec).any(|text| text.contains(OWN)) {
        for text in own_places(spec) {
            parts += usize::from(cut(text, pod, &node));
        }
    }
    Own { parts, tokens }
}

/// Completes the normal form: what was cut out is there again, but for the token volume's suffix.
pub(super) fn complete(spec: &mut PodSpec, own_parts: bool, pod: &str, node: &str) {
    spec.node_name = node.into();
    if !own_parts {
        return;
    }
    for text in own_places(spec) {
        match text {
            Place::Claim(text) => put_back(text, pod),
            Place::Node(text) => put_back(text, node),
        }
    }
}

/// A text that may be a pod's own in part.
enum Place<'a> {
    Claim(&'a mut Text),
    Node(&'a mut Text),
}

impl Place<'_> {
    fn contains(&self, c: char) -> bool {
        let (Place::Claim(text) | Place::Node(text)) = self;
        text.contains(c)
    }
}

fn own_places(spec: &mut PodSpec) -> impl Iterator<Item = Place<'_>> {
    let claims = spec.volumes.iter_mut().filter_map(|v| v.persistent_volume_claim.as_mut()).map(|c| Place::Claim(&mut c.claim_name));
    let terms = spec.affinity.node_affinity.required.iter_mut().flat_map(|r| &mut r.node_selector_terms);
    let names = terms.flat_map(|t| &mut t.match_fields).filter(|r| is_name(r)).flat_map(|r| &mut r.values);
    claims.chain(names.map(Place::Node))
}

fn is_name(requirement: &Requirement) -> bool {
    &*requirement.key == "metadata.name"
}

fn cut(place: Place<'_>, pod: &str, node: &str) -> bool {
    match place {
        Place::Claim(text) => match text.strip_suffix(pod).filter(|_| !pod.is_empty()) {
            Some(rest) => *text = format!("{rest}{OWN}").into(),
            None => return false,
        },
        Place::Node(text) if !node.is_empty() && &**text == node => *text = OWN.to_string().into(),
        Place::Node(_) => return false,
    }
    true
}

fn put_back(text: &mut Text, own: &str) {
    if let Some(rest) = text.strip_suffix(OWN) {
        *text = format!("{rest}{own}").into();
    }
}

fn cut_token_volumes(spec: &mut PodSpec) -> usize {
    let containers = spec.init_containers.iter_mut().chain(&mut spec.containers);
    let mounts = containers.flat_map(|c: &mut Container| &mut c.volume_mounts).map(|m| &mut m.name);
    let names = spec.volumes.iter_mut().map(|v| &mut v.name).chain(mounts);
    let mut cut = 0;
    for name in names.filter(|name| token_suffix(name.as_bytes()).is_some()) {
        *name = TOKEN_VOLUME.trim_end_matches('-').into();
        cut += 1;
    }
    cut
}

/// Where the made-up suffix of a token volume's name begins.
pub(super) fn token_suffix(name: &[u8]) -> Option<usize> {
    let suffix = name.strip_prefix(TOKEN_VOLUME.as_bytes())?;
    (suffix.len() == 5 && suffix.iter().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())).then_some(TOKEN_VOLUME.len())
}
