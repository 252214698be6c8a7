//! Cuts: where in a pod's bytes something of its own stands among what it shares with its siblings.

use std::ops::Range;

use crate::model::read::Reader;

use super::normal::token_suffix;

/// What stands at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Five characters that Kubernetes made up.
    Token,
    /// `nodeName`, up to the quote.
    Node,
    /// Something that is not kept, up to the quote.
    Any,
    /// The pod's name.
    Pod,
    /// The node's name again.
    SameNode,
    /// When Ready changed.
    Since,
}

/// Cuts in order.
pub(super) type Cuts = Vec<(Range<usize>, Cut)>;

/// Finds the cuts in a spec's bytes, where the parser would: in order, without those in strings that hold escapes.
pub(super) fn in_spec(json: &[u8], spec: usize, pod: &str, node: &str) -> Cuts {
    let mut found = Finder { cuts: Vec::new(), pod: pod.as_bytes(), node: node.as_bytes() };
    let mut r = Reader::at(json, spec);
    fields(&mut r, |key, r| match key {
        b"nodeName" => found.whole(r, Cut::Node),
        b"hostname" => found.whole(r, Cut::Any),
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

/// Finds the cuts in a plain pod's status: times, addresses and ids. A status that is like another but for those is plain too.
pub(super) fn in_status(json: &[u8], status: usize) -> Cuts {
    let mut found = Finder { cuts: Vec::new(), pod: b"", node: b"" };
    let mut r = Reader::at(json, status);
    fields(&mut r, |key, r| match key {
        b"hostIP" | b"podIP" | b"startTime" => found.whole(r, Cut::Any),
        b"hostIPs" | b"podIPs" => items(r, |r| fields(r, |key, r| if key == b"ip" { found.whole(r, Cut::Any) } else { r.skip() })),
        b"conditions" => items(r, |r| found.condition(r)),
        b"initContainerStatuses" | b"containerStatuses" => items(r, |r| {
            fields(r, |key, r| match key {
                b"containerID" => found.whole(r, Cut::Any),
                b"state" => fields(r, |_, r| fields(r, |key, r| found.state(key, r))),
                _ => r.skip(),
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

    fn condition(&mut self, r: &mut Reader<'_>) {
        let (mut is_ready, mut times) = (false, Vec::new());
        fields(r, |key, r| match key {
            b"type" => is_ready = r.raw().is_some_and(|t| *t == *b"Ready"),
            b"lastTransitionTime" => times.extend(r.plain()),
            _ => r.skip(),
        });
        let cut = if is_ready { Cut::Since } else { Cut::Any };
        self.cuts.extend(times.into_iter().map(|(at, text)| (at..at + text.len(), cut)));
    }

    fn state(&mut self, key: &[u8], r: &mut Reader<'_>) {
        match key {
            b"startedAt" | b"finishedAt" | b"containerID" => self.whole(r, Cut::Any),
            _ => r.skip(),
        }
    }
}
