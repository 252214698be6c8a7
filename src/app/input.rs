//! A line that is being typed, and how keys change it.

use super::chord::{Chord, Held, Key};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    pub text: String,
    /// Counted in characters.
    pub cursor: usize,
}

impl Input {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { cursor: text.chars().count(), text }
    }

    /// Inserts what was pasted; a line has no control characters.
    pub fn insert(&mut self, pasted: &str) {
        let at = self.byte(self.cursor);
        let line: String = pasted.trim_end().chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !c.is_control()).collect();
        self.cursor += line.chars().count();
        self.text.insert_str(at, &line);
    }

    /// Whether the chord edits, and what it did.
    pub fn edit(&mut self, chord: Chord) -> Edited {
        let before = self.text.len();
        match (chord.held, chord.key) {
            (Held::Nothing, Key::Char(c)) => self.insert_char(c),
            (Held::Nothing, Key::Backspace) => self.delete(self.cursor.saturating_sub(1)),
            (Held::Nothing, Key::Delete) if self.cursor < self.len() => {
                self.cursor += 1;
                self.delete(self.cursor - 1);
            }
            (Held::Nothing, Key::Left) => self.cursor = self.cursor.saturating_sub(1),
            (Held::Nothing, Key::Right) => self.cursor = (self.cursor + 1).min(self.len()),
            (Held::Nothing, Key::Home) | (Held::Ctrl, Key::Char('a')) => self.cursor = 0,
            (Held::Nothing, Key::End) | (Held::Ctrl, Key::Char('e')) => self.cursor = self.len(),
            (Held::Ctrl, Key::Char('w')) | (Held::Alt, Key::Backspace) => self.delete(self.word()),
            (Held::Ctrl, Key::Char('u')) => self.delete(0),
            _ => return Edited::Not,
        }
        if self.text.len() == before { Edited::Moved } else { Edited::Text }
    }

    fn insert_char(&mut self, c: char) {
        self.text.insert(self.byte(self.cursor), c);
        self.cursor += 1;
    }

    /// Deletes from there to the cursor.
    fn delete(&mut self, from: usize) {
        let range = self.byte(from)..self.byte(self.cursor);
        self.text.replace_range(range, "");
        self.cursor = from.min(self.cursor);
    }

    /// Where the word before the cursor begins.
    fn word(&self) -> usize {
        let before: Vec<char> = self.text.chars().take(self.cursor).collect();
        let end = before.iter().rposition(|c| *c != ' ').map_or(0, |at| at + 1);
        before[..end].iter().rposition(|c| " /:".contains(*c)).map_or(0, |at| if at + 1 == end { at } else { at + 1 })
    }

    fn len(&self) -> usize {
        self.text.chars().count()
    }

    fn byte(&self, at: usize) -> usize {
        self.text.char_indices().nth(at).map_or(self.text.len(), |(byte, _)| byte)
    }
}

/// What a chord did to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    Text,
    Moved,
    /// The chord is not for editing.
    Not,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(script: &str) -> (String, usize) {
        let mut input = Input::default();
        for chord in Chord::script(script).unwrap() {
            input.edit(chord);
        }
        (input.text, input.cursor)
    }

    #[test]
    fn lines_are_edited_by_characters() {
        assert_eq!(typed("ab<left>é<backspace>c"), ("acb".into(), 2));
        assert_eq!(typed("日本<home><delete>x"), ("x本".into(), 1));
        assert_eq!(typed("abc<ctrl-u>"), (String::new(), 0));
        assert_eq!(typed("<backspace><delete><left>"), (String::new(), 0));
    }

    #[test]
    fn words_end_at_spaces_slashes_and_colons() {
        assert_eq!(typed("ns:shop cart<ctrl-w>"), ("ns:shop ".into(), 8));
        assert_eq!(typed("ns:shop cart <ctrl-w><ctrl-w>"), ("ns:".into(), 3));
        assert_eq!(typed("a/b<alt-backspace><alt-backspace>"), ("a".into(), 1));
    }

    #[test]
    fn chords_that_mean_nothing_do_not_type() {
        assert_eq!(typed("a<ctrl-x><alt-x><f5>"), ("a".into(), 1));
    }

    #[test]
    fn what_is_pasted_is_one_line() {
        let mut input = Input::new("a");
        input.insert("b\nc\x1b[31m\n");
        assert_eq!((input.text.as_str(), input.cursor), ("ab c[31m", 8));
    }
}
