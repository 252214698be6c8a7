//! Rank: the order in which blockers are shown; total, so that two runs print the same.

use std::cmp::{Ordering, Reverse};

use super::Blocker;

/// Blocked before delayed, then by impact, then the youngest first (what began with the incident stands above old rot), then by id.
pub(super) fn order(a: &Blocker, b: &Blocker) -> Ordering {
    let numbers =
        |x: &Blocker| (x.verdict, Reverse(x.down), Reverse(x.affected.len()), Reverse(x.pods), x.since.is_none(), Reverse(x.since));
    numbers(a).cmp(&numbers(b)).then_with(|| a.id.cmp(&b.id))
}
