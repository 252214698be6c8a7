//! Baseline: a saved cluster that live is compared with. Only where its objects lie is kept, never the objects.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use color_eyre::{Result, eyre::eyre};

use crate::archive::{Archive, Archived, ArchivedKind, Input};
use crate::desired::{Desired, Identity, Keys, Object};
use crate::model::{Place, Time};
use crate::redact::Redactor;

/// Files with saved objects, the oldest first.
#[derive(Default)]
pub struct Baselines {
    all: Vec<Saved>,
    /// What was looked for in the newest, and found.
    seen: BTreeSet<Identity>,
    /// Kinds of which every object in these places was looked at: what is in the baseline and was not seen is gone.
    listed: BTreeSet<(String, String, Option<String>)>,
    /// How many of its objects are gone.
    deleted: usize,
}

struct Saved {
    archive: Archive,
    name: String,
    at: Option<Time>,
}

impl Baselines {
    /// # Errors
    /// A file cannot be read, or holds no object.
    pub fn open(files: &[PathBuf]) -> Result<Self> {
        let mut all = files.iter().map(|file| Saved::open(file)).collect::<Result<Vec<_>>>()?;
        all.sort_by_key(|saved| saved.at);
        Ok(Self { all, ..Self::default() })
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The file that live is compared with.
    pub fn name(&self) -> Option<&str> {
        self.all.last().map(|saved| saved.name.as_str())
    }

    /// The newest saved state of an object; `None` if it was not there then, or if only that it existed was saved.
    pub fn find(&mut self, identity: &Identity, redactor: &Redactor) -> Option<Desired> {
        let desired = self.all.last()?.find(identity, redactor)?;
        self.seen.insert(identity.clone());
        Some(desired)
    }

    /// Whether the newest has this object.
    pub fn has(&self, identity: &Identity) -> bool {
        self.all.last().is_some_and(|saved| saved.archived(identity).is_some())
    }

    /// How tags of the newest stand to those of live, which this key made, or which were in a file that names its key.
    pub fn keys(&self, identity: &Identity, live: Option<&str>, redactor: &Redactor) -> Keys {
        let Some(saved) = self.all.last() else { return Keys::Same };
        let (own, is_tagged) = (redactor.fingerprint(), saved.is_tagged(identity));
        match (&saved.archive.about().tags, live.unwrap_or(&own)) {
            (Some(theirs), live) if theirs == live => Keys::Same,
            (Some(_), _) => Keys::Other,
            // What was not redacted when it was saved is redacted now.
            (None, _) if !is_tagged => Keys::Same,
            (None, _) => Keys::Unsaid,
        }
    }

    /// All objects of a kind in a place were looked at.
    pub fn list(&mut self, group: &str, kind: &str, place: &Place) {
        if !self.all.is_empty() {
            self.listed.insert((group.to_owned(), kind.to_owned(), place.namespace().map(str::to_owned)));
        }
    }

    /// What the newest has of listed kinds and nobody met: gone since. What a controller makes comes and goes.
    pub fn gone(&self, redactor: &Redactor) -> Vec<Desired> {
        let Some(saved) = self.all.last() else { return Vec::new() };
        let mut gone = Vec::new();
        for kind in saved.archive.kinds().iter().filter(|kind| !is_passing(kind)) {
            for archived in saved.archive.objects(kind, None).filter(|archived| self.is_listed(kind, archived.namespace())) {
                let identity = identity(kind, archived);
                if !self.seen.contains(&identity) {
                    gone.extend(saved.read(archived, redactor).filter(|desired| !is_controlled(desired.object.value())));
                }
            }
        }
        gone
    }

    fn is_listed(&self, kind: &ArchivedKind, namespace: &str) -> bool {
        [None, Some(namespace.to_owned())]
            .into_iter()
            .any(|place| self.listed.contains(&(kind.group.to_string(), kind.name.to_string(), place)))
    }

    /// Groups and names of the kinds that the newest has.
    pub fn kinds(&self) -> Vec<(String, String)> {
        let kinds = self.all.last().into_iter().flat_map(|saved| saved.archive.kinds());
        kinds.map(|kind| (kind.group.to_string(), kind.name.to_string())).collect()
    }

    /// So many were told to be gone.
    pub fn count_gone(&mut self, objects: usize) {
        self.deleted += objects;
    }

    pub fn deleted(&self) -> usize {
        self.deleted
    }

    /// Every saved state of an object, the oldest first; none of files whose tags are not those of this key.
    pub fn states(&self, identity: &Identity, redactor: &Redactor) -> Vec<Desired> {
        let own = redactor.fingerprint();
        let is_comparable = |saved: &&Saved| saved.archive.about().tags.as_ref().is_none_or(|tags| *tags == own);
        self.all.iter().filter(is_comparable).filter_map(|saved| saved.find(identity, redactor)).collect()
    }

    /// How many objects were compared with the newest.
    pub fn met(&self) -> usize {
        self.seen.len()
    }
}

impl Saved {
    fn open(file: &Path) -> Result<Self> {
        let archive = Archive::open(&[Input::Path(file.to_owned())]).map_err(|error| eyre!("the baseline {error}"))?;
        Ok(Self { at: archive.about().now(), name: file.display().to_string(), archive })
    }

    fn find(&self, identity: &Identity, redactor: &Redactor) -> Option<Desired> {
        self.read(self.archived(identity)?, redactor)
    }

    fn archived(&self, identity: &Identity) -> Option<Archived<'_>> {
        let kind = self.archive.kind(&identity.group, &identity.kind)?;
        self.archive.object(kind, &identity.namespace, &identity.name)
    }

    fn read(&self, archived: Archived<'_>, redactor: &Redactor) -> Option<Desired> {
        let value: serde_json::Value = serde_json::from_slice(&archived.bytes()).ok()?;
        let is_bare = matches!(value["kind"].as_str(), Some("Secret" | "ConfigMap")) && value.get("data").is_none();
        // A snapshot of blockers holds of these only that they exist.
        let is_existence = is_bare && self.archive.about().version.is_some() && value.get("binaryData").is_none();
        (!is_existence).then(|| Desired::of_baseline(&self.name, self.at, Object::new(value, redactor)))
    }

    /// Whether values of the object were hidden when it was saved.
    fn is_tagged(&self, identity: &Identity) -> bool {
        let bytes = self.archived(identity).map(Archived::bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        crate::redact::hide_tags(&text) != text
    }
}

fn identity(kind: &ArchivedKind, archived: Archived<'_>) -> Identity {
    Identity {
        group: kind.group.to_string(),
        kind: kind.name.to_string(),
        namespace: archived.namespace().to_owned(),
        name: archived.name().to_owned(),
    }
}

fn is_controlled(object: &serde_json::Value) -> bool {
    let owners = object.pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    owners.into_iter().flatten().any(|owner| owner["controller"] == true)
}

/// What comes and goes by itself.
fn is_passing(kind: &ArchivedKind) -> bool {
    matches!(&*kind.name, "Event" | "Lease" | "Endpoints" | "EndpointSlice" | "ControllerRevision" | "VolumeAttachment" | "CSINode")
}
