//! Hands a whole archive to the model at once, as the feeds would: for reports on files, tests and benches.

use crate::model::{Batch, CoverageState, Delta, KINDS, Kind, ObjectRef, Place, Text};

use super::about::not_in_the_input;
use super::{Archive, Archived, ArchivedKind};

/// How many objects go into one batch.
const PAGE: usize = 500;

impl Archive {
    /// The deltas that bring a cluster to the state of the archive, what is complete in it included.
    pub fn deltas(&self) -> impl Iterator<Item = Delta> {
        let followed = KINDS.iter().filter(|row| row.kind != Kind::Other);
        let others = self.kinds.iter().filter(|kind| kind.followed() == Kind::Other);
        let missing = Delta::Lost { kind: Kind::Other, place: Place::All, why: not_in_the_input() };
        followed
            .flat_map(|row| self.stretches(row.kind, self.kind(row.group, row.name)))
            .chain([missing])
            .chain(self.about.gone.iter().filter_map(|text| gone(text)))
            .chain(others.flat_map(|kind| self.batches(Kind::Other, &Place::All, self.objects(kind, None))))
    }

    /// All namespaces at once where the file says that it has them; else each by itself, the rest not in the input.
    fn stretches(&self, kind: Kind, archived: Option<&ArchivedKind>) -> Vec<Delta> {
        let Some(archived) = archived else { return vec![Delta::Lost { kind, place: Place::All, why: not_in_the_input() }] };
        let everywhere = self.about.state(&archived.group, &archived.name, None);
        if everywhere == CoverageState::Synced {
            let mut deltas = self.stretch(kind, &Place::All, self.objects(archived, None), everywhere);
            deltas.extend(self.exceptions(kind, archived));
            return deltas;
        }
        let mut deltas = self.stretch(kind, &Place::All, self.objects(archived, Some("")), everywhere);
        for namespace in self.namespaces(archived) {
            let state = self.about.state(&archived.group, &archived.name, Some(&namespace));
            deltas.extend(self.stretch(kind, &Place::Namespace(namespace.clone()), self.objects(archived, Some(&namespace)), state));
        }
        deltas
    }

    fn stretch<'a>(&'a self, kind: Kind, place: &Place, objects: impl Iterator<Item = Archived<'a>>, state: CoverageState) -> Vec<Delta> {
        let mut deltas = vec![Delta::Began { kind, place: place.clone(), epoch: 0 }];
        deltas.extend(self.batches(kind, place, objects));
        let place = place.clone();
        deltas.push(match state {
            CoverageState::Synced => Delta::Synced { kind, place, epoch: 0 },
            CoverageState::Loading | CoverageState::Denied { .. } | CoverageState::Absent { .. } | CoverageState::Stale { .. } => {
                Delta::Lost { kind, place, why: state }
            }
        });
        deltas
    }

    fn batches<'a>(&'a self, kind: Kind, place: &Place, objects: impl Iterator<Item = Archived<'a>>) -> Vec<Delta> {
        let objects: Vec<Archived<'_>> = objects.collect();
        let batch = |page: &[Archived<'_>]| {
            let mut batch = Batch::new(kind);
            page.iter().for_each(|object| batch.upsert(&object.bytes()));
            Delta::Batch { kind, place: place.clone(), epoch: 0, batch }
        };
        objects.chunks(PAGE).map(batch).collect()
    }

    /// Namespaces of which the file says something else than of all others.
    fn exceptions(&self, kind: Kind, archived: &ArchivedKind) -> Vec<Delta> {
        let other = |covered: &super::Covered| *covered.group == *archived.group && *covered.kind == *archived.name;
        let lost = self.about.coverage.iter().filter(|(covered, state)| other(covered) && **state != CoverageState::Synced);
        lost.filter_map(|(covered, why)| {
            let namespace = covered.namespace.as_deref()?;
            Some(Delta::Lost { kind, place: Place::Namespace(namespace.into()), why: why.clone() })
        })
        .collect()
    }

    /// The namespaces that hold objects of a kind, or of which a file says something about it.
    fn namespaces(&self, kind: &ArchivedKind) -> Vec<Text> {
        let held = self.objects(kind, None).map(|object| Text::from(object.namespace()));
        let said = self.about.coverage.keys().filter(|covered| *covered.group == *kind.group && *covered.kind == *kind.name);
        let said = said.filter_map(|covered| covered.namespace.as_deref().map(Text::from));
        let mut all: Vec<Text> = held.chain(said).collect();
        all.retain(|namespace| !namespace.is_empty());
        all.sort();
        all.dedup();
        all
    }
}

/// An object that was looked up and was not there, from its reference.
fn gone(reference: &str) -> Option<Delta> {
    let object = ObjectRef::parse(reference)?;
    Some(Delta::Gone { kind: Kind::named(&object.kind), namespace: object.namespace.clone(), name: object.name.clone() })
}
