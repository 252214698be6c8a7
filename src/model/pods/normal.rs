//! The normal form of a spec: what is a pod's own inside it is cut out, so that replicas share it, and put back on demand.
//!
//! A pod's own are: `nodeName` (kept beside), the suffix of the token volume (dropped: Kubernetes makes it up), a claim name that ends
//! in the pod's name, and the node in a DaemonSet pod's affinity.

use std::ops::Range;

use crate::model::read::Reader;
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

/// What stands at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Five characters that Kubernetes made up.
    Token,
    /// `nodeName`, up to the quote.
    Node,
    /// `hostname`, which is not kept, up to the quote.
    Hostname,
    /// The pod's name.
    Pod,
    /// The node's name again.
    SameNode,
}

/// Finds the cuts in a spec's bytes, where the parser would: in order, without those in strings that hold escapes.
pub(super) fn cuts(json: &[u8], spec: usize, pod: &str, node: &str) -> Vec<(Range<usize>, Cut)> {
    let mut found = Finder { cuts: Vec::new(), pod: pod.as_bytes(), node: node.as_bytes() };
    let mut r = Reader::at(json, spec);
    fields(&mut r, |key, r| match key {
        b"nodeName" => found.whole(r, Cut::Node),
        b"hostname" => found.whole(r, Cut::Hostname),
        b"volumes" => items(r, |r| fields(r, |key, r| found.volume(key, r))),
        b"initContainers" | b"containers" => items(r, |r| {
            fields(r, |key, r| if key == b"volumeMounts" { items(r, |r| fields(r, |key, r| found.name(key, r))) } else { r.skip() })
        }),
        b"affinity" => below(r, b"nodeAffinity", |r| {
            below(r, b"requiredDuringSchedulingIgnoredDuringExecution", |r| {
                below(r, b"nodeSelectorTerms", |r| {
                    items(r, |r| below(r, b"matchFields", |r| items(r, |r| found.requirement(r))));
                });
            });
        }),
        _ => r.skip(),
    });
    found.cuts.sort_by_key(|(range, _)| range.start);
    found.cuts
}

fn fields<'a>(r: &mut Reader<'a>, mut each: impl FnMut(&[u8], &mut Reader<'a>)) {
    if r.object() {
        while let Some(key) = r.key() {
            each(&key, r);
        }
    }
}

fn below<'a>(r: &mut Reader<'a>, name: &[u8], mut inside: impl FnMut(&mut Reader<'a>)) {
    fields(r, |key, r| if key == name { inside(r) } else { r.skip() });
}

fn items<'a>(r: &mut Reader<'a>, mut each: impl FnMut(&mut Reader<'a>)) {
    if r.list() {
        while r.item() {
            each(r);
        }
    }
}

struct Finder<'a> {
    cuts: Vec<(Range<usize>, Cut)>,
    pod: &'a [u8],
    node: &'a [u8],
}

impl Finder<'_> {
    fn whole(&mut self, r: &mut Reader<'_>, cut: Cut) {
        if let Some((at, text)) = r.plain() {
            self.cuts.push((at..at + text.len(), cut));
        }
    }

    fn volume(&mut self, key: &[u8], r: &mut Reader<'_>) {
        match key {
            b"persistentVolumeClaim" => fields(r, |key, r| if key == b"claimName" { self.claim(r) } else { r.skip() }),
            _ => self.name(key, r),
        }
    }

    fn name(&mut self, key: &[u8], r: &mut Reader<'_>) {
        if key != b"name" {
            return r.skip();
        }
        if let Some((at, text)) = r.plain()
            && let Some(suffix) = token_suffix(text)
        {
            self.cuts.push((at + suffix..at + text.len(), Cut::Token));
        }
    }

    fn claim(&mut self, r: &mut Reader<'_>) {
        if let Some((at, text)) = r.plain()
            && text.ends_with(self.pod)
            && !self.pod.is_empty()
        {
            self.cuts.push((at + text.len() - self.pod.len()..at + text.len(), Cut::Pod));
        }
    }

    fn requirement(&mut self, r: &mut Reader<'_>) {
        let (mut is_name, mut values) = (false, Vec::new());
        fields(r, |key, r| match key {
            b"key" => is_name = r.raw().is_some_and(|k| *k == *b"metadata.name"),
            b"values" => items(r, |r| values.extend(r.plain())),
            _ => r.skip(),
        });
        let own = values.into_iter().filter(|(_, text)| is_name && *text == self.node && !text.is_empty());
        self.cuts.extend(own.map(|(at, text)| (at..at + text.len(), Cut::SameNode)));
    }
}
