//! Reads a pod from bytes: its own parts are taken, what siblings share is recognised, and only an odd pod's status is read in full.

use std::borrow::Cow;

use crate::model::pack::{Pack, packed, put_text};
use crate::model::pull::Pull;
use crate::model::read::Reader;
use crate::model::{PodSpec, PodStatus, meta};

use super::arrival::{Arrival, ArrivalUid, Arrivals, PackedSpec, Rest};
use super::dictionary::{Dictionary, FamilyId};
use super::head::Head;
use super::normal::normalize;
use super::replay::Pattern;
use super::scan::Scan;
use super::uid::uuid;
use super::unusual::{Restarted, Unusual};

/// Reads one pod. `false` for bytes that are no object with a name; nothing is learned from those.
pub(in crate::model) fn read(json: &[u8], dictionary: &mut Dictionary, out: &mut Arrivals) -> bool {
    let (mut reading, mut r) = (Reading::new(json, dictionary, out), Reader::new(json));
    reading.read(&mut r) && r.is_at_end() && reading.finish().is_some()
}

/// Reads the pod that these bytes begin with: how long it is, and whether it was one. `None` when its end is not among them.
pub(in crate::model) fn read_first(json: &[u8], dictionary: &mut Dictionary, out: &mut Arrivals) -> Option<(usize, bool)> {
    let (mut reading, mut r) = (Reading::new(json, dictionary, out), Reader::new(json));
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
    status: Option<Status>,
    status_at: Option<usize>,
}

/// A spec as found.
enum Spec<'a> {
    /// A sibling's: its position in the batch, and the node in this one.
    Known(u32, &'a [u8]),
    /// Parsed, with its place in the bytes. Nothing is learned from it before the whole object was read soundly.
    New(Box<PodSpec>, (usize, usize)),
}

/// A status as found.
#[derive(Clone, Copy)]
enum Status {
    /// Like that of a plain sibling.
    Known(Scan),
    /// Looked at, with its place in the bytes.
    New(Scan, (usize, usize)),
}

impl<'a, 'b> Reading<'a, 'b> {
    fn new(json: &'a [u8], dictionary: &'b mut Dictionary, out: &'b mut Arrivals) -> Self {
        Self { json, dictionary, out, head: None, spec: None, spec_at: None, status: None, status_at: None }
    }

    /// Without metadata before them spec and status wait: whose they are decides how they are read.
    fn read(&mut self, r: &mut Reader<'a>) -> bool {
        if !r.object() {
            return false;
        }
        while let Some(key) = r.key() {
            match &*key {
                b"metadata" => (self.head, self.spec, self.status) = (Some(Head::read(r)), None, None),
                b"spec" => {
                    self.spec_at = Some(r.position());
                    self.spec = self.read_spec(r);
                }
                b"status" => {
                    self.status_at = Some(r.position());
                    self.status = self.read_status(r);
                }
                _ => r.skip(),
            }
        }
        true
    }

    fn read_spec(&mut self, r: &mut Reader<'a>) -> Option<Spec<'a>> {
        let Some(head) = &self.head else {
            r.skip();
            return None;
        };
        let (family, start) = (self.dictionary.family(head), r.position());
        if let Some((position, replayed)) = self.dictionary.spec(family, self.json, start, &head.name, self.out) {
            r.go_on_at(replayed.end);
            return Some(Spec::Known(position, replayed.node));
        }
        let spec = PodSpec::pull(r).unwrap_or_default();
        Some(Spec::New(Box::new(spec), (start, r.position())))
    }

    fn read_status(&mut self, r: &mut Reader<'a>) -> Option<Status> {
        let Some(head) = &self.head else {
            r.skip();
            return None;
        };
        let (family, start) = (self.dictionary.family(head), r.position());
        if let Some((scan, end)) = self.dictionary.status(family, self.json, start) {
            r.go_on_at(end);
            return Some(Status::Known(scan));
        }
        let scan = Scan::read(r);
        Some(Status::New(scan, (start, r.position())))
    }

    /// Adds the pod to the batch, and learns from it.
    fn finish(mut self) -> Option<()> {
        self.head.as_ref().filter(|head| !head.name.is_empty())?;
        let waiting = |at: Option<usize>| at.map(|at| Reader::at(self.json, at));
        let (spec, status) = (waiting(self.spec_at), waiting(self.status_at));
        let spec = self.spec.take().or_else(|| self.read_spec(&mut spec?));
        let status = self.status.take().or_else(|| self.read_status(&mut status?));
        let head = self.head.take()?;
        let family = self.dictionary.family(&head);
        let (spec, node) = self.take_spec(&head, family, spec);
        let (scan, rest) = self.take_status(&head, family, spec, status);
        let arrival = Arrival {
            name: self.out.keep(&head.name, None),
            namespace: self.keep_namespace(&head.namespace),
            node: self.out.keep(&node, None),
            uid: self.keep_uid(&head.uid),
            owner: self.dictionary.owner(family, self.out),
            labels: self.dictionary.labels(&head, self.out),
            spec,
            created: head.created,
            since: scan.since,
            restarts: u16::try_from(scan.restarts.max(0)).unwrap_or(u16::MAX),
            phase: scan.phase,
            ready: scan.ready,
            is_tracked: head.is_tracked,
            rest,
        };
        self.out.pods.push(arrival);
        Some(())
    }

    fn take_spec(&mut self, head: &Head<'_>, family: FamilyId, spec: Option<Spec<'a>>) -> (u32, Cow<'a, str>) {
        match spec.unwrap_or_else(|| Spec::New(Box::default(), (0, 0))) {
            Spec::Known(position, node) => (position, String::from_utf8_lossy(node)),
            Spec::New(spec, place) => {
                let node = spec.node_name.to_string();
                let (spec, pattern) = normal(self.json, *spec, place, &head.name);
                (self.dictionary.learn_spec(family, spec, pattern, self.out), Cow::Owned(node))
            }
        }
    }

    fn take_status(&mut self, head: &Head<'_>, family: FamilyId, spec: u32, status: Option<Status>) -> (Scan, Rest) {
        let (scan, place) = match status {
            Some(Status::Known(scan)) => (scan, None),
            Some(Status::New(scan, place)) => (scan, Some(place)),
            None => (Scan::default(), None),
        };
        if let Some(place) = place.filter(|_| scan.is_plain() && scan.never_restarted()) {
            self.dictionary.learn_status(family, scan, Pattern::of_status(self.json, place, scan.since));
        }
        (scan, self.rest(head, &scan, spec))
    }

    fn keep_namespace(&mut self, namespace: &str) -> super::arrival::Span {
        let before = self.out.pods.last().map(|pod| pod.namespace);
        self.out.keep(namespace, before)
    }

    fn keep_uid(&mut self, uid: &str) -> ArrivalUid {
        uuid(uid.as_bytes()).map_or_else(|| ArrivalUid::Text(self.out.keep(uid, None)), ArrivalUid::Uuid)
    }

    fn rest(&self, head: &Head<'_>, scan: &Scan, spec: u32) -> Rest {
        let gated = self.out.specs.get(spec as usize).is_some_and(|s| s.gated);
        let plain = scan.is_plain() && head.deleted.is_none() && head.finalizers.is_none() && !gated;
        if plain && scan.never_restarted() {
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
    let pattern = if place.1 > place.0 { Pattern::of_spec(json, place, (pod, &node), own) } else { None };
    (PackedSpec { bytes: packed(&spec), own: own.parts > 0, gated: !spec.scheduling_gates.is_empty(), requests: requests(&spec) }, pattern)
}

/// What the scheduler reserves for a pod, in thousandths, rounded up; what does not fit is as much as fits.
fn requests(spec: &PodSpec) -> Box<[u8]> {
    let mut out = Vec::new();
    for resource in spec.requested_resources() {
        let nano = spec.requested(resource);
        let milli = nano.div_euclid(1_000_000) + i128::from(nano.rem_euclid(1_000_000) != 0);
        if milli != 0 {
            put_text(&mut out, resource);
            i64::try_from(milli).unwrap_or(i64::MAX).pack(&mut out);
        }
    }
    out.into()
}
