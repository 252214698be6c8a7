//! The palette: everything that has a name, fuzzily; an object of any kind is opened by kind and name.

use super::window::{filtered, window};
use super::{SCREENS, Scene};
use crate::app::{ACTIONS, Offered, Offers, Place, first_key, fuzzy};
use crate::diagnose::{CAUSES, Layer};
use crate::model::{KINDS, Kind, KindRow, Namespace, Object, ObjectRef};
use crate::page::{Block, Column, Cut, Focus, Line, List, Opens, Pane, Row, Span, Width};

/// More than anybody reads; the rest is reached by typing on.
const MOST: usize = 200;

/// Something that can be gone to.
struct Target {
    id: String,
    label: String,
    /// `screen`, `command`, `object`.
    sort: &'static str,
    note: String,
    opens: Opens,
}

pub(super) fn pane(scene: &Scene<'_>, typed: &str) -> Pane {
    let targets = found(scene, typed);
    let window = window(scene.app, "palette", targets.len(), |at| targets[at].id.clone(), filtered(scene.app));
    let rows = targets[window.first..window.end].iter().map(row).collect();
    let columns = vec![
        Column::new("", Width::Cells(9)),
        Column::new("", Width::Range { least: 24, want: 64 }),
        Column::new("", Width::Rest(10)).priority(1),
    ];
    let empty = vec![Line::new().dim("Nothing has that name. An object is opened by its kind and name: deploy shop/cart")];
    let note = if names_unknown_kind(scene, typed) { known(&scene.app.offers) } else { None };
    let list = List { columns, rows, first: window.first, len: targets.len(), selected: window.selected, foot: None, empty };
    Pane { id: "palette", title: Some("Go to".into()), note, block: Block::List(list), focus: Focus::Here }
}

fn row(target: &Target) -> Row {
    let label = Span::from(target.label.clone()).cut(if target.sort == "object" { Cut::Pod } else { Cut::End });
    let cells = vec![Line::new().dim(target.sort), Line::new().span(label), Line::new().dim(target.note.clone())];
    Row::new(target.id.clone(), cells).opens(target.opens.clone())
}

/// The best matches first; without a text, what is there to begin with.
fn found(scene: &Scene<'_>, typed: &str) -> Vec<Target> {
    let query = typed.trim_start().to_lowercase();
    if let Some((kind, name)) = kind_and_name(&query) {
        return of_kind(scene, kind, name);
    }
    if let Some((kind, name)) = offered_and_name(scene, &query) {
        return of_offered(scene, kind, name);
    }
    let mut scored: Vec<(i32, Target)> = Vec::new();
    let mut offer = |target: Target| {
        if let Some(score) = score(&query, &target) {
            scored.push((score, target));
        }
    };
    blockers(scene).chain(screens()).chain(commands()).chain(kinds()).for_each(&mut offer);
    if !query.is_empty() {
        offered(scene).for_each(&mut offer);
    }
    if !query.is_empty() {
        namespaces(scene).chain(layers()).chain(causes()).chain(workloads(scene)).for_each(&mut offer);
        scored.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.id.cmp(&other.id)));
    }
    scored.into_iter().map(|(_, target)| target).take(MOST).collect()
}

/// A name is matched fuzzily; what is said about it only as typed, or every long sentence would match.
fn score(query: &str, target: &Target) -> Option<i32> {
    let named = fuzzy(query, &target.label.to_lowercase());
    named.or_else(|| target.note.to_lowercase().contains(query).then_some(i32::MIN))
}

/// `deploy cart`: a kind by its name, plural or short name, and what follows.
fn kind_and_name(query: &str) -> Option<(&'static KindRow, &str)> {
    let (kind, name) = query.split_once([' ', '/'])?;
    Some((kind_named(kind)?, name.trim()))
}

fn kind_named(word: &str) -> Option<&'static KindRow> {
    let is =
        |row: &&KindRow| !row.plural.is_empty() && (row.name.to_lowercase() == word || row.plural == word || row.short.contains(&word));
    KINDS.iter().find(is)
}

/// Something is typed that may be an object of a kind that is not known yet.
fn names_unknown_kind(scene: &Scene<'_>, typed: &str) -> bool {
    let query = typed.trim_start().to_lowercase();
    query.contains([' ', '/']) && kind_and_name(&query).is_none() && offered_and_name(scene, &query).is_none()
}

/// The same of a kind that nobody follows.
fn offered_and_name<'s, 'q>(scene: &Scene<'s>, query: &'q str) -> Option<(&'s Offered, &'q str)> {
    let (kind, name) = query.split_once([' ', '/'])?;
    Some((scene.app.offers.named(kind)?, name.trim()))
}

/// Of a kind that is not followed only files hold objects; of a cluster the one that was named in full is asked for.
fn of_offered(scene: &Scene<'_>, kind: &Offered, name: &str) -> Vec<Target> {
    let held =
        scene.cluster.objects(Kind::Other, None).filter(|object| matches!(object, Object::Other(other) if other.kind_name() == kind.kind));
    let mut objects: Vec<ObjectRef> =
        held.map(|object| ObjectRef::new(kind.kind.clone(), &object.meta().namespace, &object.meta().name)).collect();
    objects.retain(|object| object.place().to_lowercase().contains(name));
    objects.sort_by_key(|object| (object.name.len(), object.place()));
    objects.truncate(MOST);
    let named = in_full(&kind.kind, kind.namespaced, name).filter(|object| !objects.contains(object));
    let known: Vec<Target> = objects.iter().map(|object| target_of(object, scene.state(object))).collect();
    known.into_iter().chain(named.map(|object| target_of(&object, ASKED.to_owned()))).collect()
}

/// What is said of an object of which nothing is known.
const ASKED: &str = "not among what is followed: ask for it";

/// Objects of a kind whose name contains what was typed, and that very name, should it not be among what is followed.
fn of_kind(scene: &Scene<'_>, kind: &'static KindRow, name: &str) -> Vec<Target> {
    let contains = |object: &ObjectRef| object.place().to_lowercase().contains(name);
    let mut objects: Vec<ObjectRef> = if kind.kind == Kind::Pod {
        scene.cluster.pods(None).map(|pod| pod.reference()).filter(contains).take(MOST).collect()
    } else {
        let all =
            scene.cluster.objects(kind.kind, None).map(|object| ObjectRef::new(kind.name, &object.meta().namespace, &object.meta().name));
        all.filter(contains).take(MOST).collect()
    };
    objects.sort_by_key(|object| (object.name.len() != name.len(), object.name.len(), object.place()));
    let mut targets: Vec<Target> = objects.iter().map(|object| target_of(object, scene.state(object))).collect();
    targets.extend(
        in_full(kind.name, kind.namespaced, name)
            .filter(|object| !objects.contains(object))
            .map(|object| target_of(&object, ASKED.to_owned())),
    );
    targets
}

/// The object that was named in full.
fn in_full(kind: &str, namespaced: bool, name: &str) -> Option<ObjectRef> {
    let (namespace, name) = match (namespaced, name.split_once('/')) {
        (true, Some((namespace, name))) => (namespace, name),
        (false, None) => ("", name),
        (true, None) | (false, Some(_)) => return None,
    };
    (!name.is_empty()).then(|| ObjectRef::new(kind.to_owned(), namespace, name))
}

fn target_of(object: &ObjectRef, note: String) -> Target {
    Target {
        id: object.to_string(),
        label: format!("{} {}", object.kind, object.place()),
        sort: "object",
        note,
        opens: Opens::Object(object.to_string()),
    }
}

fn blockers<'a>(scene: &Scene<'a>) -> impl Iterator<Item = Target> + 'a {
    scene.report().blockers.iter().take(MOST).map(|blocker| Target {
        id: blocker.id.clone(),
        label: blocker.title.to_string(),
        sort: "blocker",
        note: blocker.layer.label().to_owned(),
        opens: Opens::Blocker(blocker.id.clone()),
    })
}

fn screens() -> impl Iterator<Item = Target> {
    let free = SCREENS.iter().filter(|screen| !matches!(screen.id, "blocker" | "object"));
    free.map(|screen| Target {
        id: format!("screen {}", screen.id),
        label: screen.id.to_owned(),
        sort: "screen",
        note: screen.title.to_owned(),
        opens: Opens::Screen(screen.id),
    })
}

fn commands() -> impl Iterator<Item = Target> {
    let named = ACTIONS.iter().filter(|action| action.places.contains(&Place::Screen) || action.places.contains(&Place::Always));
    // What moves the cursor is nothing to go to.
    let named =
        named.filter(|action| !action.hint.is_empty() || ["coverage", "previous-logs", "quit", "suspend", "redraw"].contains(&action.id));
    let named = named.filter(|action| !["open", "back", "palette", "next-tab"].contains(&action.id));
    named.map(|action| Target {
        id: format!("command {}", action.id),
        label: action.id.replace('-', " "),
        sort: "command",
        note: format!("{}  {}", first_key(action), action.doc),
        opens: Opens::Action(action.id),
    })
}

fn kinds() -> impl Iterator<Item = Target> {
    KINDS.iter().filter(|row| !row.plural.is_empty()).map(|row| Target {
        id: format!("kind {}", row.plural),
        label: row.plural.to_owned(),
        sort: "kind",
        note: row.short.join(" "),
        opens: Opens::Query(format!("{} ", row.short.first().copied().unwrap_or(row.plural))),
    })
}

fn offered<'a>(scene: &Scene<'a>) -> impl Iterator<Item = Target> + 'a {
    scene.app.offers.all().iter().map(|kind| Target {
        id: format!("kind {}", kind.plural),
        label: kind.plural.clone(),
        sort: "kind",
        note: "not followed: an object is asked for by its name".to_owned(),
        opens: Opens::Query(format!("{} ", kind.plural)),
    })
}

/// How far the kinds are known that nobody follows.
fn known(offers: &Offers) -> Option<Line> {
    match offers {
        Offers::Here(_) | Offers::Unknown => None,
        Offers::Asked => Some(Line::new().delayed("◌ ").dim("asking for the kinds that are not followed …")),
        Offers::Failed(why) => Some(Line::new().delayed("▲ ").plain(format!("kinds that are not followed are not known: {why}"))),
    }
}

fn namespaces<'a>(scene: &Scene<'a>) -> impl Iterator<Item = Target> + 'a {
    scene.cluster.all::<Namespace>(None).map(|namespace| Target {
        id: format!("namespace {}", namespace.meta.name),
        label: namespace.meta.name.to_string(),
        sort: "namespace",
        note: "show only this namespace".to_owned(),
        opens: Opens::Namespace(Some(namespace.meta.name.to_string())),
    })
}

fn layers() -> impl Iterator<Item = Target> {
    Layer::ALL.into_iter().map(|layer| Target {
        id: format!("layer {}", layer.id()),
        label: layer.label().to_owned(),
        sort: "layer",
        note: "show only this layer".to_owned(),
        opens: Opens::Layer(Some(layer.id().into())),
    })
}

fn causes() -> impl Iterator<Item = Target> {
    CAUSES.iter().copied().flatten().map(|cause| Target {
        id: format!("cause {}", cause.id),
        label: cause.id.to_owned(),
        sort: "cause",
        note: cause.title.to_owned(),
        opens: Opens::Filter(format!("cause:{}", cause.id)),
    })
}

/// Objects that people know by name; pods are found once their kind was typed.
fn workloads<'a>(scene: &Scene<'a>) -> impl Iterator<Item = Target> + use<'a> {
    let scene = *scene;
    let kinds = [
        Kind::Deployment,
        Kind::StatefulSet,
        Kind::DaemonSet,
        Kind::CronJob,
        Kind::Job,
        Kind::Node,
        Kind::Service,
        Kind::PersistentVolumeClaim,
    ];
    kinds.into_iter().flat_map(move |kind| {
        let row = kind.row();
        scene.cluster.objects(kind, None).map(move |object| {
            let reference = ObjectRef::new(row.name, &object.meta().namespace, &object.meta().name);
            target_of(&reference, String::new())
        })
    })
}
