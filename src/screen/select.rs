//! Which blockers the triage screen shows: namespaces, layer, filter, and what is muted.

use super::Scene;
use crate::app::Facts;
use crate::diagnose::{Blocker, Layer, Verdict};
use crate::model::Kind;

/// More pods than this are not looked up for `node:`.
const LOOKED_UP: usize = 500;

/// What is shown, and how much each layer would show.
pub(super) struct Shown<'a> {
    /// Of the chosen layer, in the report's order, then those that are clearing.
    pub blockers: Vec<&'a Blocker>,
    /// Of all layers: how many blockers each has.
    pub counts: Vec<(Layer, usize)>,
    /// In all layers.
    pub all: usize,
    /// What namespaces and filter leave out.
    pub left_out: usize,
    pub muted: usize,
}

pub(super) fn shown<'a>(scene: &Scene<'a>) -> Shown<'a> {
    let clearing = scene.settled.clearing.iter().map(|(blocker, _)| blocker);
    let every: Vec<&Blocker> = scene.report().blockers.iter().chain(clearing).map(|blocker| &**blocker).collect();
    let (muted, heard): (Vec<&Blocker>, Vec<&Blocker>) = every.into_iter().partition(|blocker| scene.app.muted.contains(&blocker.id));
    let before = heard.len();
    let kept: Vec<&Blocker> = heard.into_iter().filter(|blocker| in_namespaces(scene, blocker) && passes(scene, blocker)).collect();
    let count = |layer: Layer| kept.iter().filter(|blocker| blocker.layer == layer).count();
    Shown {
        counts: Layer::ALL.map(|layer| (layer, count(layer))).into(),
        all: kept.len(),
        left_out: before - kept.len(),
        muted: muted.len(),
        blockers: kept.into_iter().filter(|blocker| scene.app.layer.is_none_or(|layer| blocker.layer == layer)).collect(),
    }
}

/// What is in none of the chosen namespaces is not shown; what belongs to no namespace is, where it holds something up there.
fn in_namespaces(scene: &Scene<'_>, blocker: &Blocker) -> bool {
    let Some(chosen) = &scene.app.namespaces else { return true };
    let mut places = blocker.affected.iter().chain([&blocker.root]).map(|object| &*object.namespace).filter(|ns| !ns.is_empty()).peekable();
    places.peek().is_none() || places.any(|ns| chosen.contains(ns))
}

fn passes(scene: &Scene<'_>, blocker: &Blocker) -> bool {
    let filter = &scene.app.view().filter;
    if filter.is_empty() {
        return true;
    }
    let objects = || blocker.affected.iter().chain([&blocker.root]).chain(&blocker.services);
    let text = text(blocker);
    let nodes = nodes(scene, blocker);
    filter.matches(&Facts {
        text: &text,
        namespaces: objects().map(|object| &*object.namespace).collect(),
        layer: blocker.layer.id(),
        cause: blocker.cause,
        kinds: objects().map(|object| &*object.kind).collect(),
        nodes: nodes.iter().map(String::as_str).collect(),
        is: states(scene, blocker),
        age: blocker.since.and_then(|since| u32::try_from(scene.now.since(since)).ok()),
    })
}

/// All that is written about a blocker here and on its screen.
fn text(blocker: &Blocker) -> String {
    let mut text = format!("{} {} {} {} {}", blocker.layer.label(), blocker.title, blocker.summary, blocker.key, blocker.cause);
    for object in blocker.affected.iter().chain(&*blocker.pod_names).chain([&blocker.root]) {
        text.push_str(&format!(" {object}"));
    }
    for evidence in &blocker.evidence {
        text.push(' ');
        text.push_str(&evidence.message);
    }
    text
}

fn nodes(scene: &Scene<'_>, blocker: &Blocker) -> Vec<String> {
    let named = [&blocker.root].into_iter().chain(blocker.evidence.iter().map(|evidence| &evidence.object));
    let mut nodes: Vec<String> =
        named.filter(|object| &*object.kind == Kind::Node.row().name).map(|object| object.name.to_string()).collect();
    let pods = blocker.pod_names.iter().take(LOOKED_UP).filter_map(|pod| scene.cluster.pod(&pod.namespace, &pod.name));
    nodes.extend(pods.filter_map(|pod| pod.node().map(str::to_owned)));
    nodes
}

fn states(scene: &Scene<'_>, blocker: &Blocker) -> Vec<&'static str> {
    let mut states = vec![match blocker.verdict {
        _ if scene.clearing(&blocker.id).is_some() => "clearing",
        Verdict::Blocked => "blocked",
        Verdict::Delayed => "delayed",
        Verdict::Quiet => "quiet",
    }];
    states.extend(scene.fresh.contains(&blocker.id).then_some("new"));
    states
}
