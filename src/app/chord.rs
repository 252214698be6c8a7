//! A key with its modifiers, as text and from text; it knows no terminal.

use std::fmt;

/// What is pressed at once. Shift is in the character (`G`, `?`, `:`), as keyboards differ in where these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chord {
    pub key: Key,
    pub held: Held,
}

/// The modifier that is held. Both at once is no chord of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Held {
    #[default]
    Nothing,
    Ctrl,
    Alt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

/// Keys with names, as they are written.
const NAMES: [(&str, Key); 16] = [
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("shift-tab", Key::BackTab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("home", Key::Home),
    ("end", Key::End),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("space", Key::Char(' ')),
    ("less", Key::Char('<')),
];

impl Chord {
    pub const fn key(key: Key) -> Self {
        Self { key, held: Held::Nothing }
    }

    pub const fn char(c: char) -> Self {
        Self::key(Key::Char(c))
    }

    pub const fn ctrl(c: char) -> Self {
        Self { key: Key::Char(c), held: Held::Ctrl }
    }

    pub const fn alt(key: Key) -> Self {
        Self { key, held: Held::Alt }
    }

    /// Reads `j`, `G`, `ctrl-d`, `alt-backspace`, `shift-tab`, `f5`, `space`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("ctrl-") {
            return Some(Self { key: key(rest)?, held: Held::Ctrl });
        }
        if let Some(rest) = text.strip_prefix("alt-") {
            return Some(Self { key: key(rest)?, held: Held::Alt });
        }
        key(text).map(Self::key)
    }

    /// The chords of a script such as `jjl/err<enter>`: characters, and names between `<` and `>` (`<less>` is the character itself).
    pub fn script(text: &str) -> Option<Vec<Self>> {
        let mut rest = text;
        let mut chords = Vec::new();
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|inner| inner.split_once('>'));
            let (chord, after) = match named {
                Some((name, after)) => (Self::parse(name)?, after),
                None => (Self::char(c), &rest[c.len_utf8()..]),
            };
            chords.push(chord);
            rest = after;
        }
        Some(chords)
    }

    /// The character that it types into a prompt.
    pub fn typed(self) -> Option<char> {
        self.key.char().filter(|_| self.held == Held::Nothing)
    }
}

impl Key {
    pub fn char(self) -> Option<char> {
        if let Self::Char(c) = self { Some(c) } else { None }
    }
}

fn key(name: &str) -> Option<Key> {
    if let Some((_, key)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*key);
    }
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Some(Key::Char(c)),
        (Some('f'), Some(_)) => name[1..].parse().ok().map(Key::F),
        _ => None,
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.held {
            Held::Nothing => "",
            Held::Ctrl => "ctrl-",
            Held::Alt => "alt-",
        })?;
        let named = NAMES.iter().find(|(name, key)| *key == self.key && *name != "less");
        match (named, self.key) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Key::Char(c)) => write!(f, "{c}"),
            (None, Key::F(n)) => write!(f, "f{n}"),
            (None, other) => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chord_reads_back_what_it_writes() {
        for text in ["j", "G", "ctrl-d", "alt-backspace", "shift-tab", "f5", "space", "?", "enter", "<", "-", "ctrl--"] {
            assert_eq!(Chord::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Chord::parse("nonsense"), None);
        assert_eq!(Chord::parse(""), None);
    }

    #[test]
    fn a_script_is_characters_and_names() {
        let chords = Chord::script("j/a<enter><ctrl-d>é<less>").unwrap();
        let names: Vec<_> = chords.iter().map(Chord::to_string).collect();
        assert_eq!(names, ["j", "/", "a", "enter", "ctrl-d", "é", "<"]);
        assert_eq!(Chord::script("<no-such-key>"), None);
    }
}
