//! Reads a pod from bytes: its own parts are taken, what siblings share is recognised, and only an odd pod's status is read in full.

use std::borrow::Cow;

use crate::model::pack::packed;
use crate::model::pull::Pull;
use crate::model::read::Reader;
use crate::model::{PodSpec, PodStatus, meta};

use super::arrival::{Arrival, ArrivalUid, Arrivals, PackedSpec, Rest};
use super::dictionary::Dictionary;
use super::head::Head;
use super::normal::normalize;
use super::replay::Pattern;
use super::scan::Scan;
use super::uid::uuid;
use super::unusual::{Restarted, Unusual};

/// Reads one pod. `false` for bytes that are no object with a name; nothing is learned from those.
pub(in crate::model) fn read(json: &[u8], dictionary: &mut Dictionary, out: &mut Arrivals) -> bool {
    let (mut reading, mut r) = (Reading::of(json, dictionary, out), Reader::new(json));
    reading.read(&mut r) && r.is_at_end() && reading.finish().is_some()
}

/// Reads the pod that these bytes begin with: how long it is, and whether it was one. `None` when its end is not among them.
pub(in crate::model) fn read_first(json: &[u8], dictionary: &mut Dictionary, out: &mut Arrivals) -> Option<(usize, bool)> {
    let (mut reading, mut r) = (Reading::of(json, dictionary, out), Reader::new(json));
    let is_object = reading.read(&mut r);
    let end = r.sound_end()?;
    Some((end, is_object && reading.finish().is_some()))
}

struct Reading<'a, 'b> {
    json: &'a [u8],
    dictionary: &'b mut Dictionary,
    out: &'b mut Arrivals,
    head: Option<Head<'a>>,
    spec: Option<Spec<'a>>,
    spec_at: Option<usize>,
    status_at: Option<usize>,
    scan: Scan,
}

/// A spec as found.
enum Spec<'a> {
    /// A sibling's: its position in the batch, and the node in this one.
    Known(u32, &'a [u8]),
    /// Parsed, with its place in the bytes. Nothing is learned from it before the whole object was read soundly.
    New(Box<PodSpec>, (usize, usize)),
}

impl<'a, 'b> Reading<'a, 'b> {
    fn of(json: &'a [u8], dictionary: &'b mut Dictionary, out: &'b mut Arrivals) -> Self {
        Self { json, dictionary, out, head: None, spec: None, spec_at: None, status_at: None, scan: Scan::default() }
    }

    fn read(&mut self, r: &mut Reader<'a>) -> bool {
        if !r.object() {
            return false;
        }
        while let Some(key) = r.key() {
            match &*key {
                b"metadata" => (self.head, self.spec) = (Some(Head::read(r)), None),
                b"spec" => self.read_spec(r),
                b"status" => {
                    self.status_at = Some(r.position());
                    self.scan = Scan::read(r);
                }
                _ => r.skip(),
            }
        }
        true
    }

    /// Without metadata before it the spec waits: whose it is decides how it is read.
    fn read_spec(&mut self, r: &mut Reader<'a>) {
        self.spec_at = Some(r.position());
        self.spec = self.head.is_some().then(|| self.recognize_or_parse(r)).flatten();
        if self.spec.is_none() {
            r.skip();
        }
    }

    fn recognize_or_parse(&mut self, r: &mut Reader<'a>) -> Option<Spec<'a>> {
        let (head, start) = (self.head.as_ref()?, r.position());
        let family = self.dictionary.family(head);
        if let Some((position, replayed)) = self.dictionary.replay(family, self.json, start, &head.name, self.out) {
            r.go_on_at(replayed.end);
            return Some(Spec::Known(position, replayed.node));
        }
        let spec = PodSpec::pull(r).unwrap_or_default();
        Some(Spec::New(Box::new(spec), (start, r.position())))
    }

    /// Adds the pod to the batch.
    fn finish(mut self) -> Option<()> {
        if self.spec.is_none() {
            let mut r = Reader::at(self.json, self.spec_at.unwrap_or(self.json.len()));
            self.spec = if self.spec_at.is_some() { self.recognize_or_parse(&mut r) } else { None };
        }
        let head = self.head.take().filter(|head| !head.name.is_empty())?;
        let family = self.dictionary.family(&head);
        let spec = self.spec.take().unwrap_or_else(|| Spec::New(Box::default(), (0, 0)));
        let (spec, node): (u32, Cow<'a, str>) = match spec {
            Spec::Known(position, node) => (position, String::from_utf8_lossy(node)),
            Spec::New(spec, place) => {
                let node = spec.node_name.to_string();
                let (spec, pattern) = normal(self.json, *spec, place, &head.name);
                (self.dictionary.learn(family, spec, pattern, self.out), Cow::Owned(node))
            }
        };
        let labels = self.dictionary.labels(&head, self.out);
        let owner = self.dictionary.owner(family, self.out);
        let rest = self.rest(&head, spec);
        let (name, namespace) = (self.out.keep(&head.name, None), self.keep_namespace(&head.namespace));
        let arrival = Arrival {
            name,
            namespace,
            node: self.out.keep(&node, None),
            uid: self.keep_uid(&head.uid),
            owner,
            labels,
            spec,
            created: head.created,
            since: self.scan.since,
            restarts: u32::try_from(self.scan.restarts).unwrap_or_default(),
            phase: self.scan.phase,
            ready: self.scan.ready,
            is_tracked: head.is_tracked,
            rest,
        };
        self.out.pods.push(arrival);
        Some(())
    }

    fn keep_namespace(&mut self, namespace: &str) -> super::arrival::Span {
        let before = self.out.pods.last().map(|pod| pod.namespace);
        self.out.keep(namespace, before)
    }

    fn keep_uid(&mut self, uid: &str) -> ArrivalUid {
        uuid(uid.as_bytes()).map_or_else(|| ArrivalUid::Text(self.out.keep(uid, None)), ArrivalUid::Uuid)
    }

    fn rest(&self, head: &Head<'_>, spec: u32) -> Rest {
        let gated = self.out.specs.get(spec as usize).is_some_and(|s| s.gated);
        let plain = self.scan.is_plain() && head.deleted.is_none() && head.finalizers.is_none() && !gated;
        if plain && self.scan.restarts <= 0 && !self.scan.exited {
            return Rest::Plain;
        }
        let status = self.status_at.and_then(|at| PodStatus::pull(&mut Reader::at(self.json, at))).unwrap_or_default();
        if plain {
            return Restarted::of(&status).map_or(Rest::Plain, |restarted| Rest::Restarted(packed(&restarted)));
        }
        let unusual = Unusual {
            deleted: head.deleted,
            grace: head.grace,
            finalizers: head.finalizers.and_then(|at| Pull::pull(&mut Reader::at(self.json, at))).unwrap_or_default(),
            annotations: head.annotations.map(|at| meta::annotations(&mut Reader::at(self.json, at))).unwrap_or_default(),
            status,
        };
        Rest::Unusual(head.deleted, packed(&unusual))
    }
}

/// The normal form of a spec, and how the next sibling's is recognised.
fn normal(json: &[u8], mut spec: PodSpec, place: (usize, usize), pod: &str) -> (PackedSpec, Option<Pattern>) {
    let node = spec.node_name.to_string();
    let own = normalize(&mut spec, pod);
    let pattern = if place.1 > place.0 { Pattern::learn(json, place, (pod, &node), own) } else { None };
    (PackedSpec { bytes: packed(&spec), own: own.parts > 0, gated: !spec.scheduling_gates.is_empty() }, pattern)
}
