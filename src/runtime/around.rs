//! Around: what lies around an object of a cluster that says what was asked for, or explains a difference. What may not be read is said.

use std::sync::Arc;

use serde_json::Value;

use super::reader::{Reader, Unread};
use crate::desired::gitops::{self, Tool, Word};
use crate::desired::{self, Fetched, Object, Release, Unchecked, helm};

/// What was found around an object; not redacted but for the releases.
#[derive(Default)]
pub struct Around {
    pub releases: Vec<Release>,
    /// Shared with others of which they say something too.
    pub related: Vec<Arc<Value>>,
    pub unchecked: Vec<Unchecked>,
    /// There may be Helm records that were not opened.
    pub is_sealed: bool,
}

/// How far one looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What explains differences from something that was given.
    Explanations,
    /// The same from a release, whose records are open already.
    Release,
    /// Until something says what was asked for.
    First,
    /// Everything that says it, but for what is opened only when somebody asks for it: Helm's records.
    Ahead,
    /// Everything that says it.
    Every,
}

/// The kind under which a release is listed that could not be read.
pub const RELEASE: &str = "Helm release";

impl Reader {
    /// What lies around a live object, beside what is known already.
    pub async fn around(&mut self, live: &Object, known: &[Arc<Value>], reach: Reach) -> Around {
        let mut around = Around { related: known.to_vec(), ..Around::default() };
        self.explanations(live, &mut around).await;
        self.claimed(live, &mut around).await;
        if reach == Reach::Explanations {
            return around;
        }
        match reach {
            Reach::Ahead => around.is_sealed = helm::of(live.value()).is_some(),
            Reach::Explanations | Reach::Release | Reach::First | Reach::Every => self.releases_of(live, &mut around).await,
        }
        if reach == Reach::Release {
            return around;
        }
        if reach != Reach::First || self.is_unsaid(live, &around) {
            match self.revisions(live.value()).await {
                Ok(revisions) => around.related.extend(revisions.into_iter().map(Arc::new)),
                Err(unchecked) => around.unchecked.push(unchecked),
            }
        }
        around
    }

    /// Who scales the object, and the definition of its kind.
    async fn explanations(&mut self, live: &Object, around: &mut Around) {
        let identity = live.identity();
        if live.value().pointer("/spec/replicas").is_some() {
            let (scalers, unchecked) = self.autoscalers(&identity.namespace, &identity.name).await;
            around.related.extend(scalers);
            around.unchecked.extend(unchecked);
        }
        let version = live.value().get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let Ok(served) = self.kind_of(version, &identity.kind) else { return };
        let is_built_in = desired::is_built_in(&identity.group);
        // The shipped table knows the kinds of the version it was made for; newer ones publish their schema.
        if is_built_in && desired::is_exact(version, &identity.kind) {
            return;
        }
        let defined = if is_built_in { Ok(None) } else { self.definition(&served.resource).await };
        let (found, why) = match defined {
            Ok(Some(definition)) => (Some(definition), None),
            Ok(None) => (self.published(&served).await, None),
            Err(why) => (self.published(&served).await, Some(why)),
        };
        let is_unknown = found.is_none();
        around.related.extend(found);
        let unchecked = |why| Unchecked { kind: "CustomResourceDefinition".to_owned(), namespace: None, why };
        around.unchecked.extend(why.filter(|_| is_unknown).map(unchecked));
    }

    /// Who applies the object from a repository, by its own word. A label that others write as well proves nothing by itself.
    async fn claimed(&mut self, live: &Object, around: &mut Around) {
        let object = live.identity();
        for claim in gitops::claims(live.value()) {
            let unchecked = |why: String| Unchecked { kind: claim.tool.kind().to_owned(), namespace: claim.namespace.clone(), why };
            match self.keepers(&claim).await {
                Ok(keepers) => {
                    let about = |keeper: &Arc<Value>| match Tool::of(keeper) {
                        Some(_) => Arc::new(gitops::about(keeper, &object)),
                        None => keeper.clone(),
                    };
                    around.related.extend(keepers.objects.iter().map(about));
                    around.unchecked.extend(keepers.unread.clone());
                    let is_missing = keepers.objects.is_empty() && claim.word != Word::Shared;
                    around
                        .unchecked
                        .extend(is_missing.then(|| unchecked(format!("the object names {}, which does not exist", claim.name))));
                }
                Err(Unread::Missing(_)) if claim.word == Word::Shared => {}
                Err(Unread::Missing(why)) => around.unchecked.push(unchecked(format!("{}: {why}; its tool may run elsewhere", claim.name))),
                Err(Unread::Unseen(why)) => around.unchecked.push(unchecked(format!("{}: {why}", claim.name))),
            }
        }
    }

    async fn releases_of(&mut self, live: &Object, around: &mut Around) {
        let Some((name, namespace)) = helm::of(live.value()) else { return };
        let unchecked =
            |why: &str| Unchecked { kind: RELEASE.to_owned(), namespace: Some(namespace.to_owned()), why: format!("{name}: {why}") };
        match self.release(name, namespace).await {
            Ok(history) => {
                let is_empty = history.releases.is_empty() && history.broken.is_empty();
                around.unchecked.extend(is_empty.then(|| unchecked("no record of it is there, so what it says is not known")));
                around.unchecked.extend(history.faults().map(|why| unchecked(&why)));
                around.releases.extend(history.releases.iter().cloned());
            }
            Err(why) => around.unchecked.push(unchecked(&why)),
        }
    }

    /// Nothing says what was asked for so far, and there is no release that says it but may not be read: an earlier pod template is not
    /// what was asked for.
    fn is_unsaid(&self, live: &Object, around: &Around) -> bool {
        let Around { releases, related, unchecked, .. } = around;
        let is_blind = unchecked.iter().any(|unchecked| unchecked.kind == RELEASE);
        let said = || desired::desired(&Fetched { live, files: &[], releases, related, redactor: &self.redactor });
        // A copy always says something; asking the others is dear.
        !is_blind && live.copies().is_empty() && said().is_empty()
    }
}
