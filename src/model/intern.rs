//! Interner: each distinct string once, in one arena that is rebuilt when half of it is unused. A symbol keeps its number for life.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::sharded::Sharded;

/// A string of an [`Interner`]. Equal symbols are equal strings; their order is that of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Sym(pub(super) u32);

impl Sym {
    /// The empty string, which is always there and never counted.
    pub(super) const EMPTY: Self = Self(0);
}

/// Counts uses: what nobody uses any more goes.
#[derive(Debug)]
pub(super) struct Interner {
    arena: String,
    spans: Vec<Span>,
    free: Vec<u32>,
    table: Sharded,
    hasher: DefaultHashBuilder,
    unused: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: u32,
    len: u32,
    uses: u32,
}

impl Default for Interner {
    fn default() -> Self {
        let spans = vec![Span { start: 0, len: 0, uses: 1 }];
        Self { arena: String::new(), spans, free: Vec::new(), table: Sharded::default(), hasher: DefaultHashBuilder::default(), unused: 0 }
    }
}

impl Interner {
    pub(super) fn get(&self, sym: Sym) -> &str {
        self.spans.get(sym.0 as usize).map_or("", |span| self.text(*span))
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The symbol of a string that is used already.
    pub(super) fn find(&self, text: &str) -> Option<Sym> {
        if text.is_empty() {
            return Some(Sym::EMPTY);
        }
        self.table.find(self.hasher.hash_one(text), |n| self.text(self.spans[n as usize]) == text).map(Sym)
    }

    /// The symbol of a string, used once more.
    pub(super) fn take(&mut self, text: &str) -> Sym {
        let sym = self.find(text).unwrap_or_else(|| self.add(text));
        self.again(sym)
    }

    /// One more use of a symbol.
    pub(super) fn again(&mut self, sym: Sym) -> Sym {
        if sym != Sym::EMPTY {
            self.spans[sym.0 as usize].uses += 1;
        }
        sym
    }

    /// One use less; with the last the string goes.
    pub(super) fn release(&mut self, sym: Sym) {
        let Some(span) = self.spans.get_mut(sym.0 as usize).filter(|_| sym != Sym::EMPTY) else { return };
        span.uses -= 1;
        if span.uses == 0 {
            self.forget(sym);
        }
    }

    fn text(&self, span: Span) -> &str {
        self.arena.get(span.start as usize..(span.start + span.len) as usize).unwrap_or_default()
    }

    fn add(&mut self, text: &str) -> Sym {
        let span = Span { start: self.arena.len() as u32, len: text.len() as u32, uses: 0 };
        push_str(&mut self.arena, text);
        let n = match self.free.pop() {
            Some(n) => n,
            None => {
                push(&mut self.spans, Span::default());
                self.spans.len() as u32 - 1
            }
        };
        self.spans[n as usize] = span;
        self.table.insert(self.hasher.hash_one(text), n);
        Sym(n)
    }

    fn forget(&mut self, sym: Sym) {
        let hash = self.hasher.hash_one(self.get(sym));
        self.table.remove(hash, sym.0);
        self.unused += self.spans[sym.0 as usize].len as usize;
        self.spans[sym.0 as usize] = Span::default();
        self.free.push(sym.0);
        if self.unused > 64 << 10 && self.unused > self.arena.len() / 2 {
            self.rebuild();
        }
    }

    /// Copies what is used into a new arena; symbols keep their numbers.
    fn rebuild(&mut self) {
        let mut arena = String::with_capacity(self.arena.len() - self.unused);
        for span in &mut self.spans {
            let text = &self.arena[span.start as usize..(span.start + span.len) as usize];
            span.start = arena.len() as u32;
            arena.push_str(text);
        }
        (self.arena, self.unused) = (arena, 0);
    }
}

/// Grows by a sixteenth, not to the double: at 150,000 rows the spare half would be megabytes.
pub(super) fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 16).max(16));
    }
    list.push(item);
}

fn push_str(arena: &mut String, text: &str) {
    if arena.capacity() - arena.len() < text.len() {
        arena.reserve_exact((arena.len() / 16).max(text.len()).max(1024));
    }
    arena.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_symbol_until_the_last_use_goes() {
        let mut strings = Interner::default();
        let (a, b) = (strings.take("a"), strings.take("b"));
        assert_eq!((strings.take("a"), strings.get(a), strings.get(b)), (a, "a", "b"));
        strings.release(a);
        assert_eq!(strings.find("a"), Some(a));
        strings.release(a);
        assert_eq!((strings.find("a"), strings.find("b")), (None, Some(b)));
    }

    #[test]
    fn churn_does_not_grow_the_arena_and_symbols_keep_their_strings() {
        let mut strings = Interner::default();
        let kept: Vec<(Sym, String)> = (0..100).map(|i| format!("kept-{i}")).map(|text| (strings.take(&text), text)).collect();
        for i in 0..200_000 {
            let sym = strings.take(&format!("passing-by-{i}"));
            strings.release(sym);
        }
        assert!(kept.iter().all(|(sym, text)| strings.get(*sym) == text && strings.find(text) == Some(*sym)));
        assert!(strings.arena.capacity() < 1 << 20 && strings.spans.len() < 200, "{}", strings.arena.capacity());
    }
}
