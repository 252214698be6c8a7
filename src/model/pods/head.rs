//! The metadata of a pod, read without copying: what comes by the hundred thousand is compared in place.

use std::borrow::Cow;

use crate::model::Time;
use crate::model::pull::cut_cow;
use crate::model::read::Reader;

/// What a pod's metadata says. Labels and annotations are positions in the bytes: most pods' are never taken apart.
#[derive(Debug, Default)]
pub(super) struct Head<'a> {
    pub name: Cow<'a, str>,
    pub namespace: Cow<'a, str>,
    pub uid: Cow<'a, str>,
    pub created: Option<Time>,
    pub deleted: Option<Time>,
    pub grace: i64,
    pub labels: &'a [u8],
    pub annotations: Option<usize>,
    /// Where the finalizers stand.
    pub finalizers: Option<usize>,
    /// The only finalizer is the one that counts a Job's pods: every running pod of a Job has it.
    pub is_tracked: bool,
    pub owner: Option<OwnerHead<'a>>,
}

/// An owner reference.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnerHead<'a> {
    pub api_version: Cow<'a, str>,
    pub kind: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub uid: Cow<'a, str>,
    pub controller: bool,
}

pub(super) const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";

impl<'a> Head<'a> {
    pub(super) fn read(r: &mut Reader<'a>) -> Self {
        let mut head = Self::default();
        if !r.object() {
            return head;
        }
        while let Some(key) = r.key() {
            match &*key {
                b"name" => head.name = text(r),
                b"namespace" => head.namespace = text(r),
                b"uid" => head.uid = text(r),
                b"creationTimestamp" => head.created = r.time(),
                b"deletionTimestamp" => head.deleted = r.time(),
                b"deletionGracePeriodSeconds" => head.grace = r.int().unwrap_or_default(),
                b"labels" => head.labels = value(r),
                b"annotations" => head.annotations = Some(skipped(r)),
                b"finalizers" => head.read_finalizers(r),
                b"ownerReferences" => head.owner = controller(r),
                b"managedFields" => r.jump(),
                _ => r.skip(),
            }
        }
        head
    }

    fn read_finalizers(&mut self, r: &mut Reader<'a>) {
        let (start, mut count, mut tracking) = (r.position(), 0, 0);
        if r.list() {
            while r.item() {
                count += 1;
                tracking += usize::from(r.raw().is_some_and(|f| *f == *JOB_TRACKING.as_bytes()));
            }
        }
        self.is_tracked = count == 1 && tracking == 1;
        self.finalizers = (count > 0 && !self.is_tracked).then_some(start);
    }
}

fn text<'a>(r: &mut Reader<'a>) -> Cow<'a, str> {
    cut_cow(r.str().unwrap_or_default())
}

/// The bytes of a value that is stepped over.
fn value<'a>(r: &mut Reader<'a>) -> &'a [u8] {
    let start = skipped(r);
    r.since(start)
}

/// Where the value begins that is stepped over.
fn skipped(r: &mut Reader<'_>) -> usize {
    let start = r.position();
    r.skip();
    start
}

/// The owner with `controller: true`, else the only owner.
fn controller<'a>(r: &mut Reader<'a>) -> Option<OwnerHead<'a>> {
    let (mut first, mut controller, mut count) = (None, None, 0);
    if !r.list() {
        return None;
    }
    while r.item() {
        let Some(owner) = OwnerHead::read(r) else { continue };
        count += 1;
        if owner.controller && controller.is_none() {
            controller = Some(owner);
        } else if first.is_none() {
            first = Some(owner);
        }
    }
    controller.or(first.filter(|_| count == 1))
}

impl<'a> OwnerHead<'a> {
    fn read(r: &mut Reader<'a>) -> Option<Self> {
        let mut owner = Self::default();
        if !r.object() {
            return None;
        }
        while let Some(key) = r.key() {
            match &*key {
                b"apiVersion" => owner.api_version = text(r),
                b"kind" => owner.kind = text(r),
                b"name" => owner.name = text(r),
                b"uid" => owner.uid = text(r),
                b"controller" => owner.controller = r.bool().unwrap_or_default(),
                _ => r.skip(),
            }
        }
        Some(owner)
    }
}
