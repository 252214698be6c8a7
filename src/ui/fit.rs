//! Brings a line into a number of cells, by shortening where its spans allow it or by wrapping; it never cuts inside a cluster.

use std::borrow::Cow;

use ratatui::style::{Modifier, Style};

use super::clean::{clean, clusters, width};
use super::theme::Theme;
use crate::page::{Cut, Line, Span};

/// Clean text of one style.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Piece<'a> {
    pub text: Cow<'a, str>,
    pub style: Style,
}

/// One line of the screen.
pub(super) type Pieces<'a> = Vec<Piece<'a>>;

pub(super) fn pieces_width(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|piece| width(&piece.text)).sum()
}

pub(super) fn span_style(span: &Span, theme: &Theme) -> Style {
    let mut style = theme.style(span.role);
    if span.strong {
        style = style.add_modifier(Modifier::BOLD);
    }
    if span.found {
        style = style.add_modifier(Modifier::UNDERLINED);
    }
    style
}

/// The line in at most `room` cells: spans that may lose their middle or start do so first, the last of them first; then the end goes.
pub(super) fn fit<'a>(line: &'a Line, room: usize, theme: &Theme) -> Pieces<'a> {
    let mut pieces: Pieces<'a> = line.spans.iter().map(|span| Piece { text: ends(span, room), style: span_style(span, theme) }).collect();
    let mut over = pieces_width(&pieces).saturating_sub(room);
    for (piece, span) in pieces.iter_mut().zip(&line.spans).rev() {
        if over == 0 || span.cut == Cut::End {
            continue;
        }
        let has = width(&piece.text);
        let short = shorten(&piece.text, has.saturating_sub(over), span.cut);
        over = over.saturating_sub(has.saturating_sub(width(&short)));
        piece.text = Cow::Owned(short);
    }
    if over > 0 {
        cut_end(&mut pieces, room);
    }
    pieces
}

/// The start of a span, or of one that is to keep its end, both; never more of a huge text than can be shown.
fn ends(span: &Span, room: usize) -> Cow<'_, str> {
    const NAME: usize = 512;
    if span.cut == Cut::End || span.text.len() <= 2 * NAME {
        return clean(&span.text, if span.cut == Cut::End { room + 1 } else { usize::MAX });
    }
    let tail = (span.text.len() - NAME..).find(|at| span.text.is_char_boundary(*at)).unwrap_or(span.text.len());
    let (head, tail) = (clean(&span.text, NAME), clean(&span.text[tail..], usize::MAX));
    Cow::Owned(format!("{head}…{tail}"))
}

/// A clean text in `room` cells, but never less than the part that tells it apart and one cell for the mark.
fn shorten(text: &str, room: usize, cut: Cut) -> String {
    let tail = tail_of(text, cut);
    let kept = width(tail);
    match cut {
        Cut::Start => format!("…{}", last(text, room.max(2) - 1)),
        Cut::End | Cut::Pod | Cut::Image => {
            let head = first(&text[..text.len() - tail.len()], room.saturating_sub(kept + 1));
            format!("{head}…{tail}")
        }
    }
}

/// The part of a name that must stay.
fn tail_of(text: &str, cut: Cut) -> &str {
    match cut {
        Cut::Pod => last(text, 6),
        Cut::Image => {
            let name = text.rfind('/').map_or(0, |slash| slash + 1);
            let tag = text[name..].find(['@', ':']).map_or(text.len(), |at| name + at);
            // Of a digest the first characters would tell as much, but a tool prints either; the end is what fits behind a cut.
            if width(&text[tag..]) > 24 { last(text, 12) } else { &text[tag..] }
        }
        Cut::End | Cut::Start => "",
    }
}

/// The first `room` cells; a wide character that would be halved stays out.
pub(super) fn first(text: &str, room: usize) -> &str {
    let mut left = room;
    let end = clusters(text)
        .take_while(|(_, width)| left.checked_sub(*width).inspect(|rest| left = *rest).is_some())
        .map(|(cluster, _)| cluster.len())
        .sum();
    &text[..end]
}

/// The last `room` cells.
pub(super) fn last(text: &str, room: usize) -> &str {
    let mut over = width(text).saturating_sub(room);
    let start = clusters(text)
        .take_while(|(_, width)| {
            let goes = over > 0;
            over = over.saturating_sub(*width);
            goes
        })
        .map(|(cluster, _)| cluster.len())
        .sum();
    &text[start..]
}

fn cut_end(pieces: &mut Pieces<'_>, room: usize) {
    let mut left = room.saturating_sub(1);
    for at in 0..pieces.len() {
        let has = width(&pieces[at].text);
        if has <= left {
            left -= has;
            continue;
        }
        let mut text = first(&pieces[at].text, left).to_owned();
        if room > 0 {
            text.push('…');
        }
        pieces[at].text = Cow::Owned(text);
        pieces.truncate(at + 1);
        return;
    }
}

/// The line as at most `most` lines of `room` cells, broken between words; the last one ends in `…` if there would be more.
pub(super) fn wrap<'a>(line: &Line, room: usize, most: usize, theme: &Theme) -> Vec<Pieces<'a>> {
    let mut wrapper = Wrapper { room: room.max(1), hang: usize::from(line.hang), most, lines: vec![Vec::new()], cells: 0, full: false };
    for span in &line.spans {
        let style = span_style(span, theme);
        for (nth, paragraph) in span.text.split('\n').enumerate() {
            if nth > 0 {
                wrapper.next_line();
            }
            // No more than what can be shown, and one cell that tells that there is more.
            let text = clean(paragraph.strip_suffix('\r').unwrap_or(paragraph), room.max(1) * most.max(1) + 1);
            words(&text).for_each(|word| wrapper.word(word, style));
            if wrapper.full {
                return wrapper.cut();
            }
        }
    }
    wrapper.lines
}

/// Words with the spaces before them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let start = rest.len() - rest.trim_start_matches(' ').len();
        let end = rest[start..].find(' ').map_or(rest.len(), |at| start + at);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

struct Wrapper<'a> {
    room: usize,
    hang: usize,
    most: usize,
    lines: Vec<Pieces<'a>>,
    cells: usize,
    /// There was more than `most` lines.
    full: bool,
}

impl Wrapper<'_> {
    fn word(&mut self, word: &str, style: Style) {
        if self.full {
            return;
        }
        if self.cells + width(word) <= self.room {
            return self.put(word, style);
        }
        let bare = word.trim_start_matches(' ');
        // A word that fits on a line of its own goes there whole; a longer one fills up the line that is begun.
        let mut rest = word;
        if width(bare) + self.hang <= self.room || self.cells + (word.len() - bare.len()) >= self.room {
            self.next_line();
            rest = bare;
        }
        while !rest.is_empty() && !self.full {
            let part = first(rest, self.room.saturating_sub(self.cells));
            // A character wider than the whole room is dropped: it cannot be shown.
            let part = if part.is_empty() && self.cells <= self.hang.min(self.room / 2) {
                clusters(rest).next().map_or("", |(c, _)| c)
            } else {
                part
            };
            if width(part) + self.cells <= self.room {
                self.put(part, style);
            }
            rest = &rest[part.len()..];
            if !rest.is_empty() {
                self.next_line();
            }
        }
    }

    fn put(&mut self, text: &str, style: Style) {
        self.cells += width(text);
        let Some(line) = self.lines.last_mut() else {
            return;
        };
        match line.last_mut() {
            Some(piece) if piece.style == style => piece.text.to_mut().push_str(text),
            _ => line.push(Piece { text: Cow::Owned(text.to_owned()), style }),
        }
    }

    fn next_line(&mut self) {
        if self.lines.len() >= self.most {
            self.full = true;
            return;
        }
        self.lines.push(Vec::new());
        self.cells = 0;
        let hang = self.hang.min(self.room / 2);
        if hang > 0 {
            self.put(&" ".repeat(hang), Style::new());
        }
    }
}

impl<'a> Wrapper<'a> {
    fn cut(mut self) -> Vec<Pieces<'a>> {
        let room = self.room;
        if let Some(line) = self.lines.last_mut() {
            let style = line.last().map(|piece| piece.style).unwrap_or_default();
            if pieces_width(line) < room {
                line.push(Piece { text: Cow::Borrowed("…"), style });
            } else {
                line.push(Piece { text: Cow::Borrowed(" "), style });
                cut_end(line, room);
            }
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &'static str, cut: Cut, room: usize) -> String {
        let line = Line::new().span(Span { text: text.into(), cut, ..Span::default() });
        fit(&line, room, &Theme::default()).into_iter().map(|piece| piece.text).collect()
    }

    fn wrapped(line: &Line, room: usize, most: usize) -> Vec<String> {
        let lines = wrap(line, room, most, &Theme::default());
        lines.into_iter().map(|line| line.into_iter().map(|piece| piece.text).collect()).collect()
    }

    #[test]
    fn names_keep_the_part_that_tells_them_apart() {
        assert_eq!(short("shop/cart-6d4cf56db6-x2x7k", Cut::Pod, 20), "shop/cart-6d4…-x2x7k");
        assert_eq!(short("registry.example.net/team/cart:1.8.2", Cut::Image, 20), "registry.exam…:1.8.2");
        assert_eq!(short("spec.template.spec.containers[0].image", Cut::Start, 20), "…containers[0].image");
        assert_eq!(short("a sentence that is long", Cut::End, 10), "a sentenc…");
        assert_eq!(short("short", Cut::Pod, 20), "short");
        assert_eq!(short("shop/cart-6d4cf56db6-x2x7k", Cut::Pod, 5), "…-x2…");
        assert_eq!(short("anything", Cut::End, 0), "");
    }

    #[test]
    fn a_span_that_may_lose_its_middle_gives_way_to_its_neighbours() {
        let line = Line::from("Pod ").span(Span::from("cart-6d4cf56db6-x2x7k").cut(Cut::Pod)).plain(" waits");
        let text: String = fit(&line, 22, &Theme::default()).into_iter().map(|piece| piece.text).collect();
        assert_eq!(text, "Pod cart-…-x2x7k waits");
    }

    #[test]
    fn lines_break_between_words_and_say_that_there_is_more() {
        let line = Line::from("Next  add a toleration for gpu=true").hang(6);
        assert_eq!(wrapped(&line, 20, 9), ["Next  add a", "      toleration for", "      gpu=true"]);
        assert_eq!(wrapped(&line, 20, 2), ["Next  add a", "      toleration fo…"]);
        assert_eq!(wrapped(&Line::from("one\r\ntwo\nthree"), 20, 2), ["one", "two…"]);
        assert_eq!(wrapped(&Line::from("abcdefghij"), 4, 9), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped(&Line::from("日本語"), 3, 9), ["日", "本", "語"]);
        assert_eq!(wrapped(&Line::from("日本語"), 1, 9).concat(), "");
    }
}
