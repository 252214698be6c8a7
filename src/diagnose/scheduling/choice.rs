//! Choice: of everything that keeps a pod from every node, which is the cause. The node that lacks least tells it.

use crate::diagnose::Cx;
use crate::model::{Kind, Pod};

use super::{Alike, Depth, Message, Obstacle, Survey, Unfit, names_of, parse};

/// What stands in a pod's way.
#[derive(Debug)]
pub struct Choice<'s> {
    pub obstacle: Obstacle,
    /// Nodes that come closest and lack it, sorted by their first; empty where only the scheduler's words tell.
    pub nodes: Vec<&'s Alike<'s>>,
    /// How many nodes lack it.
    pub count: usize,
    pub proof: Proof,
}

impl<'s> Choice<'s> {
    /// Where only the scheduler's words tell that there is something.
    pub fn unknown() -> Self {
        Self { obstacle: Obstacle::Unknown, nodes: Vec::new(), count: 0, proof: Proof::Words }
    }

    /// Names of the closest nodes, sorted.
    pub fn names(&self) -> Vec<&'s str> {
        names_of(&self.nodes)
    }

    /// The only node that comes closest.
    pub fn only(&self) -> Option<&'s Alike<'s>> {
        match self.nodes.as_slice() {
            [only] if only.count() == 1 => Some(only),
            _ => None,
        }
    }
}

/// What a choice rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    Objects,
    /// The scheduler's words: objects cannot tell, or could not be read.
    Words,
    /// The scheduler said so, and objects show a node that lacks nothing any more.
    Refuted,
}

/// One obstacle with the nodes that have it and, of what these lack altogether, the weight.
struct Side {
    obstacle: Obstacle,
    weight: u32,
    count: usize,
}

/// The cause by objects where they can tell it, else by the scheduler's words. `None` where neither says anything.
pub fn choose<'s>(cx: &Cx<'_>, pod: Pod<'_>, survey: &'s Survey<'s>) -> Option<Choice<'s>> {
    let message = pod.condition("PodScheduled").map_or("", |c| &*c.message);
    let said = if let Message::Unfit(unfit) = parse(message) { unfit } else { Unfit::default() };
    let sees = cx.sees_all(Kind::Node, None) && !survey.nodes.is_empty();
    if sees && !survey.alike.iter().any(Alike::fits) {
        return by_objects(&survey.alike);
    }
    // A node that lacks nothing proves something only where every pod on it was read.
    let unseen = |o: &Obstacle| !o.is_checkable() && *o != Obstacle::Unknown;
    if said.mentions(unseen) || !sees || survey.depth == Depth::None || !cx.sees_all(Kind::Pod, None) {
        return by_words(&said, survey);
    }
    let choice = by_words(&said, survey)?;
    let proof = if choice.obstacle == Obstacle::Unknown { Proof::Words } else { Proof::Refuted };
    Some(Choice { proof, ..choice })
}

fn by_objects<'s>(alike: &'s [Alike<'s>]) -> Option<Choice<'s>> {
    let mut sides: Vec<Side> = Vec::new();
    for group in alike {
        let (weight, Some(lack)) = (group.weight(), group.heaviest()) else { continue };
        add(&mut sides, lack.obstacle(), weight, group.count());
    }
    let side = weigh(&sides)?;
    let closest = |a: &&Alike<'_>| a.weight() == side.weight && a.heaviest().is_some_and(|l| l.obstacle() == side.obstacle);
    let nodes = alike.iter().filter(closest).collect();
    let count = alike.iter().filter(|a| a.has(&side.obstacle)).map(Alike::count).sum();
    Some(Choice { obstacle: side.obstacle.clone(), nodes, count, proof: Proof::Objects })
}

/// Each node is counted under the first plugin that refused it: nothing is known of what else it lacks.
fn by_words<'s>(said: &Unfit<'_>, survey: &'s Survey<'s>) -> Option<Choice<'s>> {
    let mut sides: Vec<Side> = Vec::new();
    for reason in &said.reasons {
        let obstacle = known_taint(&reason.obstacle, survey);
        let weight = obstacle.weight();
        add(&mut sides, obstacle, weight, reason.count as usize);
    }
    let side = weigh(&sides)?;
    let lacks = |a: &&Alike<'_>| a.heaviest().is_some_and(|l| same_kind(&l.obstacle(), &side.obstacle));
    let nodes = survey.alike.iter().filter(lacks).collect();
    Some(Choice { obstacle: side.obstacle.clone(), nodes, count: side.count, proof: Proof::Words })
}

/// Later versions only count tainted nodes: the lightest taint on a node tells which it is.
fn known_taint(obstacle: &Obstacle, survey: &Survey<'_>) -> Obstacle {
    if *obstacle != Obstacle::Taint(None) {
        return obstacle.clone();
    }
    let taints = survey.alike.iter().flat_map(|a| &a.lacks).map(super::Lack::obstacle).filter(|o| matches!(o, Obstacle::Taint(_)));
    taints.min_by_key(Obstacle::weight).unwrap_or(Obstacle::Taint(None))
}

fn same_kind(a: &Obstacle, b: &Obstacle) -> bool {
    a == b || matches!((a, b), (Obstacle::Taint(_), Obstacle::Taint(_)))
}

fn add(sides: &mut Vec<Side>, obstacle: Obstacle, weight: u32, count: usize) {
    match sides.iter_mut().find(|s| s.obstacle == obstacle && s.weight == weight) {
        Some(side) => side.count += count,
        None => sides.push(Side { obstacle, weight, count }),
    }
}

/// The lightest side. Where that is a lack of room, nodes that have room but are out of service, or kept for others, may be the
/// better answer: if they are many beside the full ones.
fn weigh(sides: &[Side]) -> Option<&Side> {
    let lightest = sides.iter().min_by_key(|s| (s.weight, std::cmp::Reverse(s.count), &s.obstacle))?;
    if !lightest.obstacle.is_room() {
        return Some(lightest);
    }
    let full: usize = sides.iter().filter(|s| s.obstacle.is_room() && s.weight < 2 * Obstacle::Pods.weight()).map(|s| s.count).sum();
    let alone = |s: &&Side| s.weight == s.obstacle.weight();
    let trouble = sides.iter().filter(alone).filter(|s| s.obstacle.is_trouble()).max_by_key(|s| s.count);
    if let Some(side) = trouble.filter(|s| 2 * s.count >= full) {
        return Some(side);
    }
    let kept = |s: &&Side| matches!(&s.obstacle, Obstacle::Taint(_)) && s.weight == Obstacle::Taint(None).weight();
    let kept = sides.iter().filter(alone).filter(kept).max_by_key(|s| s.count);
    Some(kept.filter(|s| s.count >= 3 * full).unwrap_or(lightest))
}
