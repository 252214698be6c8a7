//! What comes from the keyboard, as chords: one form for keys that terminals send in several.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};

use super::ASKED;
use super::join::Join;
use crate::app::{Chord, Held, Key};

/// Something from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Key(Chord),
    /// Text from the clipboard, as it came.
    Paste(String),
    /// Columns and rows.
    Resized(u16, u16),
    /// The background's colour (red, green, blue): the answer to `ask_background`.
    Background([u8; 3]),
}

/// All input in order. Reading blocks, so it wants a thread of its own.
#[derive(Default)]
pub struct Keys {
    join: Join,
    ready: VecDeque<Input>,
}

impl Keys {
    /// Waits for the next input.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn wait(&mut self) -> io::Result<Input> {
        loop {
            if let Some(input) = self.ready.pop_front() {
                if matches!(input, Input::Background(_)) {
                    ASKED.store(false, std::sync::atomic::Ordering::Relaxed);
                }
                return Ok(input);
            }
            match self.join.until() {
                Some(until) if !poll(until.saturating_duration_since(Instant::now()))? => self.ready.extend(self.join.late()),
                _ => self.event(read()?),
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Key(key) => self.ready.extend(chord(key).into_iter().flat_map(|chord| self.join.feed(chord, Instant::now()))),
            Event::Paste(text) => self.ready.push_back(Input::Paste(text)),
            Event::Resize(width, height) => self.ready.push_back(Input::Resized(width, height)),
            Event::FocusGained | Event::FocusLost | Event::Mouse(_) => {}
        }
    }
}

/// The chord of a key event; none for a key that is released or that we do not know.
fn chord(event: KeyEvent) -> Option<Chord> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let held = match (event.modifiers.contains(KeyModifiers::CONTROL), event.modifiers.contains(KeyModifiers::ALT)) {
        (false, false) => Held::Nothing,
        (true, false) => Held::Ctrl,
        (false, true) => Held::Alt,
        // AltGr on some keyboards: the character is what counts.
        (true, true) => return char_of(event.code).filter(|c| !c.is_ascii_alphabetic()).map(Chord::char),
    };
    match (char_of(event.code), event.code) {
        (Some(c), _) => Some(char_chord(c, held, event.modifiers)),
        (None, KeyCode::Tab) if event.modifiers.contains(KeyModifiers::SHIFT) => Some(Chord { key: Key::BackTab, held }),
        (None, KeyCode::F(n)) => Some(Chord { key: Key::F(n), held }),
        (None, code) => CODES.iter().find(|(known, _)| *known == code).map(|(_, key)| Chord { key: *key, held }),
    }
}

const CODES: [(KeyCode, Key); 14] = [
    (KeyCode::BackTab, Key::BackTab),
    (KeyCode::Tab, Key::Tab),
    (KeyCode::Enter, Key::Enter),
    (KeyCode::Esc, Key::Esc),
    (KeyCode::Backspace, Key::Backspace),
    (KeyCode::Delete, Key::Delete),
    (KeyCode::Up, Key::Up),
    (KeyCode::Down, Key::Down),
    (KeyCode::Left, Key::Left),
    (KeyCode::Right, Key::Right),
    (KeyCode::Home, Key::Home),
    (KeyCode::End, Key::End),
    (KeyCode::PageUp, Key::PageUp),
    (KeyCode::PageDown, Key::PageDown),
];

fn char_of(code: KeyCode) -> Option<char> {
    if let KeyCode::Char(c) = code { Some(c) } else { None }
}

/// Ctrl-H, ctrl-I, ctrl-M and ctrl-J are the bytes of backspace, tab and enter: no terminal tells them apart for sure.
fn char_chord(c: char, held: Held, modifiers: KeyModifiers) -> Chord {
    match (held, c.to_ascii_lowercase()) {
        (Held::Ctrl, 'h') => Chord::key(Key::Backspace),
        (Held::Ctrl, 'i') => Chord::key(Key::Tab),
        (Held::Ctrl, 'm' | 'j') => Chord::key(Key::Enter),
        (Held::Ctrl, lower) => Chord::ctrl(lower),
        (Held::Alt, _) => Chord::alt(Key::Char(c)),
        // Terminals that report shift apart may send the plain letter with it.
        (Held::Nothing, _) if modifiers.contains(KeyModifiers::SHIFT) && c.is_lowercase() => {
            Chord::char(c.to_uppercase().next().unwrap_or(c))
        }
        (Held::Nothing, _) => Chord::char(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(code: KeyCode, modifiers: KeyModifiers) -> Option<String> {
        chord(KeyEvent::new(code, modifiers)).map(|chord| chord.to_string())
    }

    #[test]
    fn keys_with_two_encodings_are_one_chord() {
        let ctrl = |c| name(KeyCode::Char(c), KeyModifiers::CONTROL).unwrap();
        assert_eq!(
            ["h", "i", "m", "j", "d", "D"].map(|c| ctrl(c.chars().next().unwrap())),
            ["backspace", "tab", "enter", "enter", "ctrl-d", "ctrl-d"]
        );
        assert_eq!(name(KeyCode::BackTab, KeyModifiers::SHIFT).unwrap(), "shift-tab");
        assert_eq!(name(KeyCode::Tab, KeyModifiers::SHIFT).unwrap(), "shift-tab");
    }

    #[test]
    fn shifted_punctuation_is_the_character_that_results() {
        assert_eq!(name(KeyCode::Char('?'), KeyModifiers::SHIFT).unwrap(), "?");
        assert_eq!(name(KeyCode::Char('G'), KeyModifiers::SHIFT).unwrap(), "G");
        assert_eq!(name(KeyCode::Char('g'), KeyModifiers::SHIFT).unwrap(), "G");
        assert_eq!(name(KeyCode::Char('['), KeyModifiers::CONTROL | KeyModifiers::ALT).unwrap(), "[");
        assert_eq!(name(KeyCode::Backspace, KeyModifiers::ALT).unwrap(), "alt-backspace");
        assert_eq!(name(KeyCode::CapsLock, KeyModifiers::NONE), None);
    }
}
