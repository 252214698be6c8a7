//! One place of two objects under comparison, with what stands around it and who owns it. Decides nothing.

use serde_json::Value;

use super::equal::same;
use super::owner::{Entry, Trail};
use super::path::{Path, Step};
use super::phenomena::Autoscaler;
use super::shape::Shape;

/// What holds for the whole object.
pub struct Cx<'a> {
    pub group: &'a str,
    pub kind: &'a str,
    pub desired: &'a Value,
    pub live: &'a Value,
    pub entries: Vec<Entry<'a>>,
    /// The entries of the manager that applies the source.
    pub own: Vec<usize>,
    /// What was last applied is known, so that its absence at a place says something.
    pub applied: Option<&'a Value>,
    /// The autoscaler that targets the object.
    pub autoscaler: Option<Autoscaler>,
    /// Not served by the API server itself.
    pub is_custom: bool,
    /// Fields that the shape does not list do not exist.
    pub is_exact: bool,
    /// Keys whose value in `stringData` is no text.
    pub wrong_keys: &'a [String],
}

/// A place.
#[derive(Clone)]
pub struct Place<'a> {
    pub cx: &'a Cx<'a>,
    pub path: Path,
    pub shape: Shape<'a>,
    pub desired: Option<&'a Value>,
    pub live: Option<&'a Value>,
    pub applied: Option<&'a Value>,
    pub trail: Trail<'a>,
    pub desired_parent: Option<&'a Value>,
    pub live_parent: Option<&'a Value>,
    pub live_grandparent: Option<&'a Value>,
    pub applied_parent: Option<&'a Value>,
    /// Another item of the same list has the same key.
    pub is_duplicate: bool,
    /// What holds this place lists its fields and does not list this one.
    pub is_unlisted: bool,
    /// The part with one owner in which this place is.
    pub whole: Option<Whole<'a>>,
}

/// A list, map or struct that has one owner as a whole.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    pub shape: Shape<'a>,
    pub desired: Option<&'a Value>,
    pub applied: Option<&'a Value>,
}

impl Whole<'_> {
    /// Whether what is asked for is what was applied.
    pub fn was_applied(&self) -> bool {
        self.applied.is_some() && same(self.shape, ("", ""), self.desired, self.applied)
    }
}

impl<'a> Place<'a> {
    /// Images that the container around this place has or had.
    pub fn images(&self) -> impl Iterator<Item = &'a str> {
        let parents = [self.desired_parent, self.live_parent, self.applied_parent];
        parents.into_iter().flatten().filter_map(|parent| parent.get("image")?.as_str())
    }

    /// Whether the pods of this object use the network of their node.
    pub fn is_on_host_network(&self) -> bool {
        ["/spec/hostNetwork", "/spec/template/spec/hostNetwork", "/spec/jobTemplate/spec/template/spec/hostNetwork"]
            .iter()
            .any(|pointer| self.cx.live.pointer(pointer) == Some(&Value::Bool(true)))
    }

    /// The names of the field here and of what holds it.
    pub fn names(&self) -> (&str, &str) {
        let mut fields = self.path.fields().rev();
        let field = fields.next().unwrap_or_default();
        (fields.next().unwrap_or_default(), field)
    }

    /// The owners here, the source's own first, then in the order of writing.
    pub fn owners(&self) -> Vec<usize> {
        let mut owners: Vec<usize> = self.trail.owners().collect();
        owners.sort_by_key(|i| (!self.cx.own.contains(i), std::cmp::Reverse(self.cx.entries[*i].time), *i));
        owners
    }

    /// Whether this is an item of a list, which counts however empty it is.
    pub fn is_item(&self) -> bool {
        !matches!(self.path.steps().last(), Some(Step::Field(_)) | None)
    }

    pub fn is_one_sided(&self) -> bool {
        self.desired.is_none() || self.live.is_none()
    }

    /// Whether this is a label, annotation, finalizer or owner.
    pub fn is_metadata(&self) -> bool {
        let fields: Vec<&str> = self.path.fields().collect();
        fields
            .windows(2)
            .any(|pair| pair[0] == "metadata" && matches!(pair[1], "labels" | "annotations" | "finalizers" | "ownerReferences"))
    }
}
