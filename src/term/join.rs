//! Joins what a slow line has split: an arrow key that arrives as escape, `[`, `B`, and the answers of a terminal to questions.
//!
//! A lone escape is held for a few milliseconds; what follows in that time and continues a sequence belongs to it.

use std::time::{Duration, Instant};

use super::Input;
use crate::app::{Chord, Held, Key};

/// How long an escape waits for what may follow. People are slower.
const HOLD: Duration = Duration::from_millis(12);
/// An answer to a question comes in one piece; after this the rest is lost.
const ANSWER: Duration = Duration::from_millis(100);
/// Longer than any sequence or answer that we know.
const LONGEST: usize = 64;

#[derive(Default)]
pub(super) struct Join {
    state: State,
    held: Vec<Chord>,
    until: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Nothing,
    /// An escape came.
    Escape,
    /// An escape and `[` or `O` came.
    Sequence,
    /// An escape and `]` came: an answer, to its end.
    Answer,
}

impl Join {
    /// When what is held must be given out at the latest.
    pub fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Nothing followed in time: what was held are keys of their own; half an answer is nothing.
    pub fn late(&mut self) -> Vec<Input> {
        let held = self.reset();
        match std::mem::take(&mut self.state) {
            State::Answer => Vec::new(),
            State::Nothing | State::Escape | State::Sequence => held.into_iter().map(Input::Key).collect(),
        }
    }

    pub fn feed(&mut self, chord: Chord, now: Instant) -> Vec<Input> {
        let mut out = Vec::new();
        if self.until.is_some_and(|until| until < now) {
            out = self.late();
        }
        match (self.state, chord.key, chord.held) {
            (State::Nothing, Key::Esc, Held::Nothing) => self.hold(State::Escape, chord, now + HOLD),
            (State::Nothing, Key::Char(']'), Held::Alt) | (State::Escape, Key::Char(']'), Held::Nothing) => {
                self.hold(State::Answer, chord, now + ANSWER);
            }
            (State::Nothing, ..) => out.push(Input::Key(chord)),
            (State::Escape, Key::Char('[' | 'O'), Held::Nothing) => self.hold(State::Sequence, chord, now + HOLD),
            (State::Escape, ..) => {
                out.extend(self.late());
                out.extend(self.feed(chord, now));
            }
            (State::Sequence, ..) => out.extend(self.sequence(chord, now)),
            (State::Answer, ..) => out.extend(self.answer(chord, now)),
        }
        out
    }

    fn sequence(&mut self, chord: Chord, now: Instant) -> Vec<Input> {
        let parameter = matches!(chord.key, Key::Char('0'..='9' | ';'));
        self.hold(State::Sequence, chord, now + HOLD);
        if parameter && self.held.len() < LONGEST {
            return Vec::new();
        }
        let known = sequence(&typed(&self.held[1..]));
        match known {
            Some(key) => {
                self.reset();
                self.state = State::Nothing;
                vec![Input::Key(Chord::key(key))]
            }
            None => self.late(),
        }
    }

    /// An answer ends with BEL (ctrl-g) or ST (escape, backslash).
    fn answer(&mut self, chord: Chord, now: Instant) -> Vec<Input> {
        let bell = chord == Chord::ctrl('g') || chord == Chord::alt(Key::Char('\\'));
        let split = chord == Chord::char('\\') && self.held.last() == Some(&Chord::key(Key::Esc));
        self.hold(State::Answer, chord, now + ANSWER);
        if !bell && !split && self.held.len() < LONGEST {
            return Vec::new();
        }
        let text = typed(&self.reset());
        self.state = State::Nothing;
        colour(&text).map(Input::Background).into_iter().collect()
    }

    fn hold(&mut self, state: State, chord: Chord, until: Instant) {
        self.state = state;
        self.held.push(chord);
        self.until = Some(until);
    }

    fn reset(&mut self) -> Vec<Chord> {
        self.until = None;
        std::mem::take(&mut self.held)
    }
}

fn typed(chords: &[Chord]) -> String {
    chords.iter().filter_map(|chord| chord.key.char()).collect()
}

/// The key of a sequence behind its escape, without regard to modifiers: `[B`, `OB`, `[1;5B`, `[5~`.
fn sequence(text: &str) -> Option<Key> {
    let inner = text.strip_prefix(['[', 'O'])?;
    let last = inner.chars().next_back()?;
    let number = inner.split([';', '~']).next().unwrap_or_default();
    match (last, number) {
        ('A', _) => Some(Key::Up),
        ('B', _) => Some(Key::Down),
        ('C', _) => Some(Key::Right),
        ('D', _) => Some(Key::Left),
        ('H', _) | ('~', "1" | "7") => Some(Key::Home),
        ('F', _) | ('~', "4" | "8") => Some(Key::End),
        ('Z', _) => Some(Key::BackTab),
        ('~', "3") => Some(Key::Delete),
        ('~', "5") => Some(Key::PageUp),
        ('~', "6") => Some(Key::PageDown),
        _ => None,
    }
}

/// The colour of `]11;rgb:1e1e/2020/2424`, whose parts have one to four digits.
fn colour(text: &str) -> Option<[u8; 3]> {
    let rgb = text.split_once("11;rgb:")?.1;
    let mut parts = rgb.split('/').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_hexdigit).collect();
        let most = 16u32.checked_pow(u32::try_from(digits.len()).ok()?)? - 1;
        let value = u32::from_str_radix(&digits, 16).ok()?;
        u8::try_from(value * 255 / most.max(1)).ok()
    });
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds chords that come this many milliseconds after one another.
    fn fed(script: &[(u64, &str)]) -> Vec<Input> {
        let mut join = Join::default();
        let mut now = Instant::now();
        let mut out = Vec::new();
        for (after, text) in script {
            now += Duration::from_millis(*after);
            if join.until().is_some_and(|until| until < now) {
                out.extend(join.late());
            }
            for chord in Chord::script(text).unwrap() {
                out.extend(join.feed(chord, now));
            }
        }
        out.extend(join.late());
        out
    }

    fn keys(script: &[(u64, &str)]) -> String {
        let name = |input| if let Input::Key(chord) = input { chord.to_string() } else { format!("{input:?}") };
        fed(script).into_iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_arrow_key_that_was_split_is_joined() {
        assert_eq!(keys(&[(0, "<esc>"), (5, "["), (5, "B")]), "down");
        assert_eq!(keys(&[(0, "<esc>"), (0, "OA"), (0, "j")]), "up j");
        assert_eq!(keys(&[(0, "<esc>[1;5C"), (0, "<esc>[6~")]), "right pagedown");
    }

    #[test]
    fn a_lone_escape_is_an_escape_and_what_is_typed_later_is_not_lost() {
        assert_eq!(keys(&[(0, "<esc>")]), "esc");
        assert_eq!(keys(&[(0, "<esc>"), (50, "[")]), "esc [");
        assert_eq!(keys(&[(0, "<esc>"), (5, "j")]), "esc j");
        assert_eq!(keys(&[(0, "<esc><esc>")]), "esc esc");
        assert_eq!(keys(&[(0, "<esc>["), (50, "x")]), "esc [ x");
        assert_eq!(keys(&[(0, "<esc>[x")]), "esc [ x");
    }

    #[test]
    fn an_answer_about_the_background_types_nothing() {
        let white = [Input::Background([255, 255, 255])];
        assert_eq!(fed(&[(0, "<alt-]>11;rgb:ffff/ffff/ffff<alt-\\>")]), white);
        assert_eq!(fed(&[(0, "<esc>"), (5, "]11;rgb:ff/ff/ff<ctrl-g>")]), white);
        assert_eq!(fed(&[(0, "<alt-]>11;rgb:1e1e/0000/f<esc>\\")]), [Input::Background([30, 0, 255])]);
        assert_eq!(keys(&[(0, "<alt-]>52;c;nonsense<ctrl-g>j")]), "j");
        assert_eq!(keys(&[(0, "<alt-]>11;rgb:"), (500, "j")]), "j");
    }
}
