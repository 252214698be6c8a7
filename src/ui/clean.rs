//! Makes text from the cluster harmless: what a terminal would obey or hide is shown as an escape, and every cell has one known width.
//!
//! This is the one place for it on the way to the terminal. A clean text has no control character, no bidi control, no invisible
//! character and no mark without a base, so its clusters (a base with at most two marks) take exactly the cells that
//! [`clusters`] says.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// Tabs go to the next multiple of this.
const TAB: usize = 4;
/// Real scripts need two; more is a joke at the reader's cost.
const MARKS: usize = 2;

/// The text, harmless, up to `cells` cells of it. Nothing is read past that, so a message of a megabyte costs what is shown of it.
pub(super) fn clean(text: &str, cells: usize) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let head = &bytes[..bytes.len().min(cells)];
    let marked = bytes.get(cells).is_some_and(|byte| !byte.is_ascii());
    if !marked && head.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Cow::Borrowed(&text[..head.len()]);
    }
    let mut cleaner = Cleaner::default();
    let mut chars = text.chars().peekable();
    while cleaner.cells < cells
        && let Some(c) = chars.next()
    {
        cleaner.push(c, chars.peek().copied());
    }
    // Marks of the last base.
    while let Some(mark) = chars.next_if(|c| is_mark(*c)) {
        cleaner.mark(mark);
    }
    Cow::Owned(cleaner.out)
}

/// How many cells a clean text takes.
pub(super) fn width(clean: &str) -> usize {
    if clean.is_ascii() { clean.len() } else { clusters(clean).map(|(_, width)| width).sum() }
}

/// The clusters of a clean text with their widths, 1 or 2.
pub(super) fn clusters(clean: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut rest = clean;
    std::iter::from_fn(move || {
        let base = rest.chars().next()?;
        let mut end = base.len_utf8();
        if !base.is_ascii() || !rest.as_bytes().get(end).is_none_or(u8::is_ascii) {
            end += rest[end..].chars().take_while(|c| is_mark(*c)).map(char::len_utf8).sum::<usize>();
        }
        let (cluster, after) = rest.split_at(end);
        rest = after;
        Some((cluster, cells(base).max(1)))
    })
}

#[derive(Default)]
struct Cleaner {
    out: String,
    cells: usize,
    /// Where the last base begins, if marks may join it.
    base: Option<usize>,
    marks: usize,
}

impl Cleaner {
    fn push(&mut self, c: char, next: Option<char>) {
        match c {
            '\t' => self.spaces(TAB - self.cells % TAB),
            // A space carries no mark: lines break at it.
            '\n' | ' ' => self.spaces(1),
            '\r' if next.is_none_or(|next| next == '\n') => {}
            '\0' => self.escape("\\0"),
            '\r' => self.escape("\\r"),
            c if c.is_control() => self.escape(&format!("\\x{:02x}", u32::from(c))),
            c if is_variation(c) && self.last_is_symbol() => {}
            // One Khmer sign takes three cells, and no terminal agrees.
            c if is_hidden(c) || cells(c) > 2 => self.escape(&format!("\\u{{{:x}}}", u32::from(c))),
            c if is_mark(c) => self.mark(c),
            c => self.base(c),
        }
    }

    fn base(&mut self, c: char) {
        self.base = Some(self.out.len());
        self.marks = 0;
        self.out.push(c);
        self.cells += cells(c).max(1);
    }

    fn mark(&mut self, c: char) {
        let Some(base) = self.base else {
            return self.escape(&format!("\\u{{{:x}}}", u32::from(c)));
        };
        if self.marks == MARKS {
            return;
        }
        let before = self.out[base..].width();
        self.out.push(c);
        self.marks += 1;
        if self.out[base..].width() != before {
            self.out.pop();
        }
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
        self.cells += count;
        self.base = None;
    }

    fn escape(&mut self, visible: &str) {
        self.out.push_str(visible);
        self.cells += visible.len();
        self.base = None;
    }

    fn last_is_symbol(&self) -> bool {
        self.out.chars().next_back().is_some_and(|c| !c.is_ascii())
    }
}

/// How many cells a character takes when it stands alone. That of a text is what a terminal's buffer counts with, and for some marks
/// of Indic scripts it is not what the character alone is said to have.
fn cells(c: char) -> usize {
    c.encode_utf8(&mut [0; 4]).width()
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && cells(c) == 0 && !is_hidden(c)
}

/// Chooses between two looks of the character before it; terminals disagree about the width of the result.
fn is_variation(c: char) -> bool {
    ('\u{fe00}'..='\u{fe0f}').contains(&c)
}

/// Characters that a terminal obeys or hides: bidi controls, joiners, fillers, separators, tags; and the skin tones, which some
/// terminals merge into the character before them and others do not.
fn is_hidden(c: char) -> bool {
    matches!(u32::from(c),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x2028..=0x202e
        | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1bca0..=0x1bca3
        | 0x1d173..=0x1d17a | 0x1f3fb..=0x1f3ff | 0xe0000..=0xe0fff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        clean(text, 1000).into_owned()
    }

    #[test]
    fn plain_text_is_borrowed_and_bounded() {
        assert!(matches!(clean("shop/cart", 100), Cow::Borrowed("shop/cart")));
        assert_eq!(clean("shop/cart", 4), "shop");
        assert_eq!(clean(&"x".repeat(1 << 20), 7), "xxxxxxx");
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(all("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
        assert_eq!(all("a\0b\u{9b}c\u{7f}"), "a\\0b\\x9bc\\x7f");
        assert_eq!(all("\u{202e}txt.exe"), "\\u{202e}txt.exe");
        assert_eq!(all("ng\u{200b}inx"), "ng\\u{200b}inx");
        assert_eq!(all("over\rwritten\r\nnext\r"), "over\\rwritten next");
    }

    #[test]
    fn tabs_go_to_the_next_stop() {
        assert_eq!(all("a\tb\t\tc"), "a   b       c");
    }

    #[test]
    fn marks_stay_with_their_base_and_are_few() {
        assert_eq!(all("e\u{301}te\u{301}"), "e\u{301}te\u{301}");
        assert_eq!(all("a\u{301}\u{302}\u{303}\u{304}b"), "a\u{301}\u{302}b");
        assert_eq!(all("\u{301}x"), "\\u{301}x");
        assert_eq!(width("e\u{301}te\u{301}"), 3);
        assert_eq!(clean("e\u{301}x", 1), "e\u{301}");
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(width(&all("日本")), 4);
        assert_eq!(clusters("日e\u{301}").collect::<Vec<_>>(), [("日", 2), ("e\u{301}", 1)]);
        assert_eq!(all("⚠\u{fe0f} no"), "⚠ no");
        assert_eq!(all("👍\u{1f3fd}"), "👍\\u{1f3fd}");
    }
}
