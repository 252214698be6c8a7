//! Fold: what waits hangs under what it waits for, over any number of steps; circles collapse into one.

/// Where a group ends up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The group under which it hangs, or itself.
    pub root: u32,
    /// It waits on itself, directly or through others.
    pub circle: bool,
}

/// For each group its place; `edges` names the groups that each waits on, `lighter` the one of two that is told first.
/// The end of each chain is the root of all that leads to it; in a circle, and of several ends, it is the lightest.
pub(super) fn fold<'a>(count: usize, edges: impl Fn(u32) -> &'a [u32], lighter: impl Fn(u32, u32) -> u32) -> Vec<Place> {
    let mut walk = Walk { visits: vec![Visit::default(); count], path: Vec::new(), next: 1 };
    for start in 0..number(count) {
        if walk.visits[start as usize].at == 0 {
            walk.from(start, &edges, &lighter);
        }
    }
    walk.visits.into_iter().map(|visit| visit.place.unwrap_or(Place { root: 0, circle: false })).collect()
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Tarjan's walk: it leaves strongly connected components in the order in which what they wait on has been left before.
struct Walk {
    visits: Vec<Visit>,
    /// Groups whose component is not complete.
    path: Vec<u32>,
    next: u32,
}

#[derive(Clone, Default)]
struct Visit {
    /// When the group was met, from 1; 0 is not yet.
    at: u32,
    /// The earliest group on the path that is reached from it.
    low: u32,
    place: Option<Place>,
}

impl Walk {
    fn from<'a>(&mut self, start: u32, edges: &impl Fn(u32) -> &'a [u32], lighter: &impl Fn(u32, u32) -> u32) {
        // A chain of thousands would be too deep for calls.
        let mut steps = vec![(start, 0)];
        self.meet(start);
        while let Some((group, done)) = steps.last_mut() {
            let group = *group;
            let Some(to) = edges(group).get(*done).copied() else {
                steps.pop();
                self.leave(group, edges, lighter);
                if let Some((above, _)) = steps.last() {
                    self.reaches(*above, self.visits[group as usize].low);
                }
                continue;
            };
            *done += 1;
            if self.visits[to as usize].at == 0 {
                self.meet(to);
                steps.push((to, 0));
            } else if self.visits[to as usize].place.is_none() {
                self.reaches(group, self.visits[to as usize].at);
            }
        }
    }

    fn meet(&mut self, group: u32) {
        self.visits[group as usize] = Visit { at: self.next, low: self.next, place: None };
        self.next += 1;
        self.path.push(group);
    }

    fn reaches(&mut self, group: u32, low: u32) {
        let visit = &mut self.visits[group as usize];
        visit.low = visit.low.min(low);
    }

    /// Where the first group of a component is left, the component is complete.
    fn leave<'a>(&mut self, group: u32, edges: &impl Fn(u32) -> &'a [u32], lighter: &impl Fn(u32, u32) -> u32) {
        let visit = &self.visits[group as usize];
        if visit.low != visit.at {
            return;
        }
        let from = self.path.iter().rposition(|g| *g == group).unwrap_or(0);
        let members = self.path.split_off(from);
        let beyond = members.iter().flat_map(|m| edges(*m)).filter_map(|to| self.visits[*to as usize].place).map(|place| place.root);
        let root = beyond.reduce(lighter).or_else(|| members.iter().copied().reduce(lighter)).unwrap_or(group);
        let circle = members.len() > 1 || edges(group).contains(&group);
        for member in members {
            self.visits[member as usize].place = Some(Place { root, circle });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(edges: &[&[u32]]) -> Vec<(u32, bool)> {
        let places = fold(edges.len(), |group| edges[group as usize], u32::min);
        places.into_iter().map(|place| (place.root, place.circle)).collect()
    }

    #[test]
    fn a_chain_hangs_under_its_end() {
        assert_eq!(folded(&[&[1], &[2], &[]]), [(2, false), (2, false), (2, false)]);
    }

    #[test]
    fn a_circle_hangs_under_its_lightest_member() {
        assert_eq!(folded(&[&[], &[3], &[1], &[2]]), [(0, false), (1, true), (1, true), (1, true)]);
        assert_eq!(folded(&[&[0]]), [(0, true)]);
    }

    #[test]
    fn of_several_ends_the_lightest_is_the_root_and_a_circle_on_the_way_is_none() {
        assert_eq!(folded(&[&[], &[], &[3, 1], &[2, 0]]), [(0, false), (1, false), (0, true), (0, true)]);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_no_deep_call() {
        let edges: Vec<Vec<u32>> = (1..=100_000).map(|next| if next < 100_000 { vec![next] } else { Vec::new() }).collect();
        let places = fold(edges.len(), |group| &edges[group as usize], u32::min);
        assert!(places.iter().all(|place| *place == Place { root: 99_999, circle: false }));
    }
}
