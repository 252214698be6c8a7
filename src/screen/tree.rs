//! The tree of an object: its owners above it, what it owns below it, and what refers to it or it refers to.

use super::thing::Thing;
use super::window::{filtered, window};
use super::words::name;
use super::{Scene, pods, refers};
use crate::diagnose::Workload;
use crate::model::{Job, Kind, ObjectRef, Owner, PodSpec, ReplicaSet, Seen, Selector, Service};
use crate::page::{Block, Column, Focus, Line, List, Opens, Pane, Row, Width};

/// One line of the tree.
struct Branch {
    depth: usize,
    /// The lines that lead to it from above.
    guide: String,
    /// How it is related, where the indentation does not say it.
    relation: &'static str,
    object: ObjectRef,
}

pub(super) fn pane(scene: &Scene<'_>, object: &ObjectRef) -> Pane {
    let branches = branches(scene, object);
    let id = |at: usize| format!("{} {} {}", branches[at].depth, branches[at].relation, branches[at].object);
    let window = window(scene.app, "tree", branches.len(), id, filtered(scene.app));
    let rows = (window.first..window.end).map(|at| row(scene, object, &branches[at], id(at))).collect();
    let columns = vec![Column::new("", Width::Rest(30)), Column::new("", Width::Range { least: 12, want: 30 })];
    let list = List { columns, rows, first: window.first, len: branches.len(), selected: window.selected, ..List::default() };
    Pane {
        id: "tree",
        title: Some("Owners, what it owns, what it refers to".into()),
        note: None,
        block: Block::List(list),
        focus: Focus::Here,
    }
}

fn row(scene: &Scene<'_>, object: &ObjectRef, branch: &Branch, id: String) -> Row {
    let line = Line::new().dim(branch.guide.clone());
    let line = if branch.relation.is_empty() { line } else { line.dim(format!("{} ", branch.relation)) };
    let line = line.dim(format!("{} ", branch.object.kind));
    let line = if branch.object == *object { line.span(name(&branch.object).strong()) } else { line.span(name(&branch.object)) };
    let stuck = scene.blockers_of(&branch.object).first().map(|blocker| super::words::mark(blocker.verdict));
    let state = match stuck {
        Some((role, shape)) => Line::new().role(role, format!("{shape} ")).plain(scene.state(&branch.object)),
        None => Line::from(format!("  {}", scene.state(&branch.object))),
    };
    Row::new(id, vec![line, state]).opens(Opens::Object(branch.object.to_string())).about(pods::of(scene, &branch.object, None))
}

fn branches(scene: &Scene<'_>, object: &ObjectRef) -> Vec<Branch> {
    let filter = &scene.app.view().filter;
    let mut all = Vec::new();
    let owners = owners(scene, object);
    let depth = owners.len();
    all.extend(owners.into_iter().enumerate().map(|(depth, object)| Branch::new(depth, "", object)));
    all.push(Branch::new(depth, "", object.clone()));
    if let Seen::Is(thing) = scene.find(object) {
        owned(scene, thing, depth + 1, &mut all);
        all.extend(relations(scene, thing, object).into_iter().map(|(relation, object)| Branch::new(depth + 1, relation, object)));
    }
    all.retain(|branch| branch.object == *object || filter.matches_text(&branch.object.to_string()));
    guide(&mut all);
    all
}

/// Draws the guides, from the last branch to the first: a line goes on where a sibling comes below.
fn guide(branches: &mut [Branch]) {
    let mut goes_on = Vec::new();
    for branch in branches.iter_mut().rev() {
        goes_on.resize(branch.depth + 1, false);
        let lines = (1..branch.depth).map(|depth| if goes_on[depth] { "│ " } else { "  " });
        let joint = match (branch.depth, goes_on[branch.depth]) {
            (0, _) => "",
            (_, true) => "├ ",
            (_, false) => "└ ",
        };
        branch.guide = lines.chain([joint]).collect();
        goes_on[branch.depth] = true;
    }
}

impl Branch {
    fn new(depth: usize, relation: &'static str, object: ObjectRef) -> Self {
        Self { depth, guide: String::new(), relation, object }
    }
}

/// From the top controller down to the object's own.
fn owners(scene: &Scene<'_>, object: &ObjectRef) -> Vec<ObjectRef> {
    let mut found = Vec::new();
    let mut at = object.clone();
    // Ownership has no circles, but what the cluster sends may.
    while let Some(owner) = owner(scene, &at).filter(|owner| !found.contains(owner) && owner != object) {
        found.insert(0, owner.clone());
        at = owner;
    }
    found
}

fn owner(scene: &Scene<'_>, object: &ObjectRef) -> Option<ObjectRef> {
    let owner: &Owner = match scene.find(object).is()? {
        Thing::Pod(pod) => pod.owner()?,
        Thing::Object(found) => found.meta().controller()?,
    };
    let kind = Kind::of(&owner.api_version, &owner.kind);
    let kind = if kind == Kind::Other { format!("{}.{}", owner.kind, owner.group()) } else { owner.kind.to_string() };
    let namespace = if kind == "Node" { "" } else { &object.namespace };
    Some(ObjectRef::new(kind.trim_end_matches('.').to_owned(), namespace, &owner.name))
}

fn owned(scene: &Scene<'_>, thing: Thing<'_>, depth: usize, into: &mut Vec<Branch>) {
    let cluster = scene.cluster;
    let Thing::Object(object) = thing else { return };
    let meta = object.meta();
    let mut makers: Vec<(ObjectRef, &str)> = Vec::new();
    if let Some(Workload::Deployment(_)) = thing.workload() {
        let mut sets = cluster.owned::<ReplicaSet>(&meta.uid);
        // Old revisions without pods say nothing.
        sets.retain(|set| set.status.replicas > 0 || set.spec.replicas.unwrap_or(1) > 0);
        sets.sort_by_key(|set| std::cmp::Reverse(set.meta.created));
        makers.extend(sets.into_iter().map(|set| (ObjectRef::new("ReplicaSet", &set.meta.namespace, &set.meta.name), &*set.meta.uid)));
    }
    if let Some(Workload::CronJob(_)) = thing.workload() {
        let mut jobs = cluster.owned::<Job>(&meta.uid);
        jobs.sort_by_key(|job| std::cmp::Reverse(job.meta.created));
        makers.extend(jobs.into_iter().map(|job| (ObjectRef::new("Job", &job.meta.namespace, &job.meta.name), &*job.meta.uid)));
    }
    for (maker, uid) in makers {
        into.push(Branch::new(depth, "", maker));
        pods_of(scene, uid, depth + 1, into);
    }
    pods_of(scene, &meta.uid, depth, into);
}

fn pods_of(scene: &Scene<'_>, uid: &str, depth: usize, into: &mut Vec<Branch>) {
    let mut pods: Vec<ObjectRef> = scene.cluster.pods_of(uid).map(|pod| pod.reference()).collect();
    pods.sort();
    into.extend(pods.into_iter().map(|object| Branch::new(depth, "", object)));
}

fn relations(scene: &Scene<'_>, thing: Thing<'_>, object: &ObjectRef) -> Vec<(&'static str, ObjectRef)> {
    match (thing, thing.workload()) {
        (Thing::Pod(pod), _) => {
            let node = pod.node().map(|node| ("on", ObjectRef::new("Node", "", node)));
            let mut all: Vec<_> = node.into_iter().chain(named(pod.spec(), &object.namespace, &object.name)).collect();
            all.extend(services(scene, &object.namespace, |key| pod.label(key).map(str::to_owned)));
            all
        }
        (Thing::Object(_), Some(workload)) => {
            let template = workload.template();
            let mut all = named(&template.spec, &object.namespace, "");
            all.extend(services(scene, &object.namespace, |key| template.meta.labels.get(key).map(|value| value.to_string())));
            all.extend(scalers(scene, object));
            all
        }
        (Thing::Object(found), None) => of_object(scene, found, object),
    }
}

fn named(spec: &PodSpec, namespace: &str, pod: &str) -> Vec<(&'static str, ObjectRef)> {
    refers::of_spec(spec, namespace, pod).into_iter().map(|object| ("uses", object)).collect()
}

/// Services that select these labels.
fn services(scene: &Scene<'_>, namespace: &str, label: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, ObjectRef)> {
    let all = scene.cluster.all::<Service>(Some(namespace)).filter(|service| !service.spec.selector.is_empty());
    let selects = |service: &&Service| service.spec.selector.iter().all(|(key, value)| label(key).as_deref() == Some(value));
    all.filter(selects).map(|service| ("selected by", ObjectRef::new("Service", namespace, &service.meta.name))).collect()
}

fn scalers(scene: &Scene<'_>, object: &ObjectRef) -> Vec<(&'static str, ObjectRef)> {
    let all = scene.cluster.all::<crate::model::HorizontalPodAutoscaler>(Some(&object.namespace));
    let targets =
        all.filter(|scaler| *scaler.spec.scale_target_ref.kind == *object.kind && scaler.spec.scale_target_ref.name == object.name);
    targets.map(|scaler| ("scaled by", ObjectRef::new("HorizontalPodAutoscaler", &object.namespace, &scaler.meta.name))).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds name nothing")]
fn of_object(scene: &Scene<'_>, found: &crate::model::Object, object: &ObjectRef) -> Vec<(&'static str, ObjectRef)> {
    use crate::model::Object as O;
    let pods = |selector: &Selector| {
        let all = scene.cluster.pods(Some(&object.namespace)).filter(|pod| selector.matches(|key| pod.label(key)));
        all.map(|pod| ("selects", pod.reference())).collect::<Vec<_>>()
    };
    match found {
        O::Service(service) if !service.spec.selector.is_empty() => {
            pods(&Selector { match_labels: service.spec.selector.clone(), ..Selector::default() })
        }
        O::PodDisruptionBudget(budget) => budget.spec.selector.as_ref().map(pods).unwrap_or_default(),
        O::HorizontalPodAutoscaler(scaler) => {
            let target = &scaler.spec.scale_target_ref;
            vec![("scales", ObjectRef::new(target.kind.to_string(), &object.namespace, &target.name))]
        }
        O::Node(node) => {
            let mut pods: Vec<_> = scene.cluster.pods_on(&node.meta.name).collect();
            pods.sort_by_key(|pod| (pod.is_plain(), pod.namespace(), pod.name()));
            pods.into_iter().map(|pod| ("runs", pod.reference())).collect()
        }
        O::PersistentVolumeClaim(claim) => {
            let class = claim
                .spec
                .storage_class_name
                .iter()
                .filter(|class| !class.is_empty())
                .map(|class| ("of class", ObjectRef::new("StorageClass", "", class)));
            let volume = Some(&claim.spec.volume_name)
                .filter(|name| !name.is_empty())
                .map(|name| ("bound to", ObjectRef::new("PersistentVolume", "", name)));
            let uses = |pod: &crate::model::Pod<'_>| pod.spec().claims(&pod.name()).iter().any(|name| **name == *claim.meta.name);
            let pods = scene.cluster.pods(Some(&object.namespace)).filter(uses).map(|pod| ("used by", pod.reference()));
            class.chain(volume).chain(pods).collect()
        }
        O::PersistentVolume(volume) => {
            let claim = volume
                .spec
                .claim_ref
                .as_ref()
                .map(|claim| ("bound to", ObjectRef::new("PersistentVolumeClaim", &claim.namespace, &claim.name)));
            claim.into_iter().collect()
        }
        _ => Vec::new(),
    }
}
