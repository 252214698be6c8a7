//! ReplicaSets, of whose template no more is taken than somebody looks at.

use super::pack::pack_fields;
use super::pull::{Pull, api};
use super::read::Reader;
use super::{Container, Meta, PodSpec, PodTemplate, ReplicaSetStatus, Selector, Shelved, TemplateMeta, Text};

/// ReplicaSet, and ReplicationController, whose selector is a plain map.
///
/// A large cluster has ten of them for each Deployment. What makes one tells what its pods are to be, so of the template of one that is
/// owned the labels and images are taken, and of one that wants no pods the labels.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize), serde(rename_all = "camelCase", default))]
pub struct ReplicaSet {
    #[cfg_attr(test, serde(rename = "metadata", deserialize_with = "super::oracle::or_default"))]
    pub meta: Meta,
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::or_default"))]
    pub spec: ReplicaSetSpec,
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::or_default"))]
    pub status: ReplicaSetStatus,
}

pack_fields!(ReplicaSet { meta, spec, status });

impl Pull for ReplicaSet {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        if !r.object() {
            return None;
        }
        let (mut it, mut was_owned) = (Self::default(), false);
        while let Some(key) = r.key() {
            match &*key {
                b"metadata" => it.meta = Pull::pull(r).unwrap_or_default(),
                b"spec" => {
                    was_owned = it.meta.controller().is_some();
                    it.spec = ReplicaSetSpec::pull(r, was_owned).unwrap_or_default();
                }
                b"status" => it.status = Pull::pull(r).unwrap_or_default(),
                _ => r.skip(),
            }
        }
        if !was_owned || it.spec.replicas == Some(0) {
            it.forget_unwanted();
        }
        Some(it)
    }
}

impl ReplicaSetSpec {
    /// The API server writes owners and replicas before the template: what nobody wants of it is not even taken apart.
    fn pull(r: &mut Reader<'_>, is_owned: bool) -> Option<Self> {
        if !r.object() {
            return None;
        }
        let mut it = Self::default();
        while let Some(key) = r.key() {
            match &*key {
                b"replicas" => it.replicas = r.int(),
                b"selector" => it.selector = Pull::pull(r).unwrap_or_default(),
                b"minReadySeconds" => it.min_ready_seconds = r.int().unwrap_or_default(),
                b"template" if it.replicas == Some(0) => it.template.meta = Bare::pull(r).unwrap_or_default().meta,
                b"template" if is_owned => it.template = Lean::pull(r).unwrap_or_default().into(),
                b"template" => it.template = Pull::pull(r).unwrap_or_default(),
                _ => r.skip(),
            }
        }
        Some(it)
    }
}

impl ReplicaSet {
    /// See [`Deployment::desired`](super::Deployment::desired).
    pub fn desired(&self) -> i64 {
        self.spec.replicas.unwrap_or(1)
    }

    /// See [`Deployment::is_complete`](super::Deployment::is_complete).
    pub fn is_complete(&self) -> bool {
        let desired = self.desired();
        self.status.observed_generation >= self.meta.generation && desired > 0 && self.status.available_replicas >= desired
    }

    /// The same wherever owners and replicas stood.
    pub(super) fn forget_unwanted(&mut self) {
        if self.spec.replicas == Some(0) {
            self.spec.template.spec = Shelved::default();
        } else if self.meta.controller().is_some() {
            let whole = &self.spec.template.spec;
            let (init_containers, containers) = (images(&whole.init_containers), images(&whole.containers));
            self.spec.template.spec = Shelved::new(&PodSpec { containers, init_containers, ..PodSpec::default() });
        }
    }
}

impl From<Lean> for PodTemplate {
    fn from(lean: Lean) -> Self {
        let all = |list: Vec<Image>| list.into_iter().map(|c| image(c.name, c.image)).collect();
        let (init_containers, containers) = (all(lean.spec.init_containers), all(lean.spec.containers));
        Self { meta: lean.meta, spec: Shelved::new(&PodSpec { containers, init_containers, ..PodSpec::default() }) }
    }
}

fn images(containers: &[Container]) -> Vec<Container> {
    containers.iter().map(|c| image(c.name.clone(), c.image.clone())).collect()
}

fn image(name: Text, image: Text) -> Container {
    Container { name, image, ..Container::default() }
}

/// `spec` of a ReplicaSet.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize), serde(rename_all = "camelCase", default))]
pub struct ReplicaSetSpec {
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::or_default"))]
    pub replicas: Option<i64>,
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::or_default"))]
    pub selector: Selector,
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::or_default"))]
    pub min_ready_seconds: i64,
    #[cfg_attr(test, serde(deserialize_with = "super::oracle::or_default"))]
    pub template: PodTemplate,
}

pack_fields!(ReplicaSetSpec { replicas, selector, min_ready_seconds, template });

api! {
    /// A template of which only the metadata is taken.
    pub struct Bare {
        #[serde(rename = "metadata")]
        meta: TemplateMeta,
    }

    /// A template of which only labels and images are taken.
    pub struct Lean {
        #[serde(rename = "metadata")]
        meta: TemplateMeta,
        spec: LeanSpec,
    }

    pub struct LeanSpec {
        containers: Vec<Image>,
        init_containers: Vec<Image>,
    }

    pub struct Image {
        name: Text,
        image: Text,
    }
}
