//! Views: rows as judges see them, made when first asked for and dropped when they take too much.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use crate::model::pack::unpacked;
use crate::model::{Meta, Object, PodHead, PodObject, PodSpec, PodStatus};

use super::extras::Extra;
use super::look::Row;
use super::normal::complete;
use super::store::Pods;
use super::tables::SpecEntry;
use super::unusual::{Restarted, Unusual};

/// A page stays below a kilobyte: for more, glibc tidies up all its small free blocks first, and thousands of pages come and go.
const PAGE: usize = 16;

type Page = [OnceLock<Box<View>>; PAGE];

/// Views of single pods by row, in pages that exist where somebody looked.
#[derive(Debug, Default)]
pub(super) struct Views {
    pages: Vec<OnceLock<Box<Page>>>,
    made: AtomicUsize,
}

/// What is not the same for all pods of a template.
#[derive(Debug, Default)]
pub(super) struct View {
    unusual: OnceLock<Unusual>,
    spec: OnceLock<PodSpec>,
    object: OnceLock<Object>,
}

impl Views {
    /// Makes room for views of the rows below `end`; only what exists can be looked at through `&self`.
    pub(super) fn make_room(&mut self, end: usize) {
        let pages = end.div_ceil(PAGE);
        if self.pages.len() < pages {
            self.pages.resize_with(pages, OnceLock::new);
        }
    }

    fn get(&self, at: u32) -> Option<&View> {
        let (page, cell) = (at as usize / PAGE, at as usize % PAGE);
        let page = self.pages.get(page)?.get_or_init(|| Box::new(std::array::from_fn(|_| OnceLock::new())));
        Some(page[cell].get_or_init(|| {
            self.count();
            Box::default()
        }))
    }

    fn count(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn drop_one(&mut self, at: u32) {
        if let Some(page) = self.pages.get_mut(at as usize / PAGE).and_then(OnceLock::get_mut) {
            page[at as usize % PAGE].take();
        }
    }
}

/// Views kept between two changes: about a megabyte.
const MOST_VIEWS: usize = 512;
const FEW_VIEWS: usize = 64;

impl Pods {
    /// Drops all views if there are many. They are made again when asked for.
    pub(in crate::model) fn drop_views(&mut self) {
        self.drop_views_over(MOST_VIEWS);
    }

    /// The same when nobody will look for a while. That takes a look at every template, so a few may stay.
    pub(in crate::model) fn drop_more_views(&mut self) {
        self.drop_views_over(FEW_VIEWS);
    }

    fn drop_views_over(&mut self, most: usize) {
        if *self.views.made.get_mut() <= most {
            return;
        }
        *self.views.made.get_mut() = 0;
        self.views.pages.iter_mut().for_each(|page| drop(page.take()));
        self.specs.values_mut().for_each(SpecEntry::drop_views);
        self.owners.values_mut().for_each(|owner| owner.view = OnceLock::new());
    }

    /// What is kept of an unusual or restarted pod, with the status of a restarted one; `None` for a plain pod.
    pub(in crate::model) fn unusual(&self, row: Row<'_>) -> Option<&Unusual> {
        let extra = self.extras.get(row.extra)?;
        self.views.get(row.at).map(|view| view.unusual.get_or_init(|| self.unpack(row, extra)))
    }

    pub(in crate::model) fn status(&self, row: Row<'_>) -> &PodStatus {
        self.unusual(row).map_or_else(|| self.plain_status(row), |u| &u.status)
    }

    pub(in crate::model) fn spec(&self, row: Row<'_>) -> &PodSpec {
        let Some(entry) = self.spec_entry(row) else { return empty() };
        let own = entry.packed.own && self.extras.get(row.extra).is_some();
        match self.views.get(row.at).filter(|_| own) {
            Some(view) => view.spec.get_or_init(|| PodSpec { node_name: Default::default(), ..self.whole_spec(row) }),
            None => self.opened(entry).view(),
        }
    }

    /// The pod among objects of other kinds.
    pub(in crate::model) fn object(&self, row: Row<'_>) -> Option<&Object> {
        let view = self.views.get(row.at)?;
        Some(view.object.get_or_init(|| Object::Pod(Box::new(PodHead { meta: self.meta(row) }))))
    }

    /// The whole pod in Kubernetes' own shape, as it was read: rows, template and extra put together.
    pub(in crate::model) fn whole(&self, row: Row<'_>) -> PodObject {
        PodObject { meta: self.meta(row), spec: self.whole_spec(row), status: self.status(row).clone() }
    }

    fn meta(&self, row: Row<'_>) -> Meta {
        let unusual = self.unusual(row);
        Meta {
            name: self.name(row).into(),
            namespace: self.namespace(row).into(),
            uid: self.uid(row).into(),
            created: row.created,
            deleted: self.deleted(row),
            grace: unusual.map_or(0, |u| u.grace),
            labels: self.labels(row).into_iter().collect(),
            finalizers: self.finalizers(row).into_iter().map(Into::into).collect(),
            owners: self.owner(row).cloned().into_iter().collect(),
            annotations: unusual.map(|u| u.annotations.clone()).unwrap_or_default(),
            ..Meta::default()
        }
    }

    /// The spec as it was read, but for the token volume's suffix.
    fn whole_spec(&self, row: Row<'_>) -> PodSpec {
        let Some(entry) = self.spec_entry(row) else { return PodSpec::default() };
        let mut spec: PodSpec = unpacked(&entry.packed.bytes);
        complete(&mut spec, entry.packed.own, &self.name(row), self.node(row));
        spec
    }

    fn plain_status(&self, row: Row<'_>) -> &PodStatus {
        static EMPTY: LazyLock<PodStatus> = LazyLock::new(PodStatus::default);
        self.spec_entry(row).map_or(&EMPTY, |entry| self.opened(entry).plain_status(row.phase))
    }

    fn opened<'a>(&self, entry: &'a SpecEntry) -> &'a SpecEntry {
        if !entry.is_open() {
            self.views.count();
        }
        entry
    }

    fn unpack(&self, row: Row<'_>, extra: &Extra) -> Unusual {
        match extra {
            Extra::Unusual { packed, .. } => unpacked(packed),
            Extra::Restarted(packed) => {
                let mut status = self.plain_status(row).clone();
                unpacked::<Restarted>(packed).complete(&mut status, row.since);
                Unusual { status, ..Unusual::default() }
            }
        }
    }
}

fn empty() -> &'static PodSpec {
    static EMPTY: LazyLock<PodSpec> = LazyLock::new(PodSpec::default);
    &EMPTY
}
