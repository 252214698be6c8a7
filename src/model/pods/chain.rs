//! Chains: lists that run through the items themselves, so that belonging costs eight bytes and leaving costs nothing.

/// No item.
pub(in crate::model) const NONE: u32 = u32::MAX;

/// An item's neighbours in one chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct Link {
    previous: u32,
    next: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self { previous: NONE, next: NONE }
    }
}

/// Puts an item before the first of a chain.
pub(in crate::model) fn join<T: ?Sized>(items: &mut T, first: &mut u32, at: u32, link: fn(&mut T, u32) -> Option<&mut Link>) {
    if let Some(other) = link(items, *first) {
        other.previous = at;
    }
    if let Some(own) = link(items, at) {
        *own = Link { previous: NONE, next: *first };
    }
    *first = at;
}

/// Takes an item out of its chain.
pub(in crate::model) fn leave<T: ?Sized>(items: &mut T, first: &mut u32, at: u32, link: fn(&mut T, u32) -> Option<&mut Link>) {
    let Some(Link { previous, next }) = link(items, at).map(std::mem::take) else { return };
    if let Some(other) = link(items, previous) {
        other.next = next;
    } else if *first == at {
        *first = next;
    }
    if let Some(other) = link(items, next) {
        other.previous = previous;
    }
}

/// The items of a chain; the newest member first.
pub(in crate::model) fn chain<'a>(first: u32, link: impl Fn(u32) -> Option<Link> + 'a) -> impl Iterator<Item = u32> + 'a {
    std::iter::successors(Some(first).filter(|at| *at != NONE), move |at| link(*at).map(|l| l.next).filter(|at| *at != NONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_join_and_leave_anywhere() {
        let mut links = vec![Link::default(); 5];
        let mut first = NONE;
        fn of(links: &mut [Link], at: u32) -> Option<&mut Link> {
            links.get_mut(at as usize)
        }
        (0..5).for_each(|at| join(&mut links[..], &mut first, at, of));
        let all = |links: &Vec<Link>, first| chain(first, |at| links.get(at as usize).copied()).collect::<Vec<_>>();
        assert_eq!(all(&links, first), [4, 3, 2, 1, 0]);
        for (gone, left) in [(2, vec![4, 3, 1, 0]), (4, vec![3, 1, 0]), (0, vec![3, 1]), (1, vec![3]), (3, vec![])] {
            leave(&mut links[..], &mut first, gone, of);
            assert_eq!(all(&links, first), left);
        }
    }
}
