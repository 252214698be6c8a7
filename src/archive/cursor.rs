//! A pull reader over JSON that is too large for memory: sees a window of a source, and knows where in it every byte lies.

use memchr::{memchr, memchr3};

use super::source::Source;

/// How much is read at once.
const WINDOW: usize = 256 << 10;
/// Deeper than this nobody goes down, whatever is in the file.
const DEEPEST: usize = 200;

/// Bytes that are not what JSON wants at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

pub(super) type Parsed<T> = Result<T, Broken>;

/// Reads forward between two places of a source.
pub(super) struct Cursor<'a> {
    source: &'a Source,
    window: Vec<u8>,
    /// Where the window begins in the source, and where reading ends.
    base: u64,
    end: u64,
    at: usize,
    depth: usize,
    /// The deepest place since somebody asked.
    deepest: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source, start: u64, end: u64) -> Self {
        Self { source, window: Vec::new(), base: start, end, at: 0, depth: 0, deepest: 0 }
    }

    /// Where the next byte lies in the source.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Goes on from another place, outside of any value.
    pub(super) fn seek(&mut self, offset: u64) {
        self.depth = 0;
        let inside = offset.checked_sub(self.base).and_then(|at| usize::try_from(at).ok()).filter(|at| *at <= self.window.len());
        if let Some(at) = inside {
            self.at = at;
        } else {
            self.window.clear();
            (self.base, self.at) = (offset, 0);
        }
    }

    /// The next byte, without taking it; `None` at the end, and where the file can no longer be read.
    pub(super) fn peek(&mut self) -> Option<u8> {
        if self.at == self.window.len() && !self.fill() {
            return None;
        }
        self.window.get(self.at).copied()
    }

    fn fill(&mut self) -> bool {
        self.base += self.window.len() as u64;
        self.at = 0;
        let length = usize::try_from(self.end.saturating_sub(self.base)).unwrap_or(WINDOW).min(WINDOW);
        self.window.resize(length, 0);
        let read = self.source.read_at(&mut self.window, self.base).unwrap_or(0);
        self.window.truncate(read);
        read > 0
    }

    pub(super) fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            let byte = self.peek()?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Takes the rest of the line, without its end.
    pub(super) fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'\n' {
                break;
            }
            line.push(byte);
        }
        line.truncate(line.trim_ascii_end().len());
        line
    }

    fn take(&mut self, wanted: u8) -> Parsed<()> {
        if self.skip_blanks() != Some(wanted) {
            return Err(Broken);
        }
        self.at += 1;
        Ok(())
    }

    fn took(&mut self, wanted: u8) -> bool {
        let is = self.skip_blanks() == Some(wanted);
        self.at += usize::from(is);
        is
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        if self.depth > DEEPEST { Err(Broken) } else { Ok(()) }
    }

    /// From here on the levels of a value are counted.
    pub(super) fn count_levels(&mut self) -> usize {
        self.deepest = self.depth;
        self.depth
    }

    /// So many levels lie below what `count_levels` answered.
    pub(super) fn levels(&self, above: usize) -> usize {
        self.deepest.saturating_sub(above)
    }

    /// Calls `field` for each field of the object that comes next; `field` must take the value.
    pub(super) fn fields(&mut self, mut field: impl FnMut(&mut Self, &str) -> Parsed<()>) -> Parsed<()> {
        self.take(b'{')?;
        self.enter()?;
        let (mut key, mut raw) = (String::new(), Vec::new());
        if !self.took(b'}') {
            loop {
                self.text_into(&mut key, &mut raw)?;
                self.take(b':')?;
                field(self, &key)?;
                if self.took(b'}') {
                    break;
                }
                self.take(b',')?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Calls `item` for each item of the array that comes next; `item` must take it.
    pub(super) fn items(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.take(b'[')?;
        self.enter()?;
        if !self.took(b']') {
            loop {
                item(self)?;
                if self.took(b']') {
                    break;
                }
                self.take(b',')?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// The text that comes next; any other value is skipped and gives `None`.
    pub(super) fn text(&mut self) -> Parsed<Option<String>> {
        if self.skip_blanks() != Some(b'"') {
            self.skip()?;
            return Ok(None);
        }
        let mut text = String::new();
        self.text_into(&mut text, &mut Vec::new())?;
        Ok(Some(text))
    }

    fn text_into(&mut self, text: &mut String, raw: &mut Vec<u8>) -> Parsed<()> {
        raw.clear();
        text.clear();
        self.raw_text(Some(raw))?;
        if raw.contains(&b'\\') {
            raw.insert(0, b'"');
            raw.push(b'"');
            *text = serde_json::from_slice(raw).map_err(|_| Broken)?;
        } else {
            text.push_str(&String::from_utf8_lossy(raw));
        }
        Ok(())
    }

    /// Takes a text with its quotes; a line break inside means that a quote is missing.
    fn raw_text(&mut self, mut into: Option<&mut Vec<u8>>) -> Parsed<()> {
        self.take(b'"')?;
        loop {
            if self.peek().is_none() {
                return Err(Broken);
            }
            let rest = &self.window[self.at..];
            let length = memchr3(b'"', b'\\', b'\n', rest);
            if let Some(into) = into.as_deref_mut() {
                into.extend_from_slice(&rest[..length.unwrap_or(rest.len())]);
            }
            let Some(length) = length else {
                self.at = self.window.len();
                continue;
            };
            let found = rest[length];
            self.at += length + 1;
            match found {
                b'"' => return Ok(()),
                b'\\' => {
                    let escaped = self.peek().ok_or(Broken)?;
                    self.at += 1;
                    if let Some(into) = into.as_deref_mut() {
                        into.extend_from_slice(&[b'\\', escaped]);
                    }
                }
                _ => return Err(Broken),
            }
        }
    }

    /// Takes whatever value comes next.
    pub(super) fn skip(&mut self) -> Parsed<()> {
        match self.skip_blanks().ok_or(Broken)? {
            b'"' => self.raw_text(None),
            b'{' | b'[' => self.skip_nested(),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.word();
                Ok(())
            }
            _ => Err(Broken),
        }
    }

    /// Only braces, brackets and quotes are looked at: most of a file is skipped, so this must be fast. One thing is checked
    /// besides: an object begins after a colon, a comma or a bracket, else the line before it broke off.
    fn skip_nested(&mut self) -> Parsed<()> {
        let (mut open, mut before) = (0_usize, b':');
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.raw_text(None)?;
                    before = b'"';
                    continue;
                }
                b'{' | b'[' if matches!(before, b':' | b',' | b'[') => open += 1,
                b'{' | b'[' => return Err(Broken),
                b'}' | b']' => open -= 1,
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            self.at += 1;
            self.deepest = self.deepest.max(self.depth + open);
            if open == 0 {
                return Ok(());
            }
        }
        Err(Broken)
    }

    /// Takes a number, `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Vec<u8> {
        let mut word = Vec::new();
        while let Some(byte) = self.peek().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.')) {
            word.push(byte);
            self.at += 1;
        }
        word
    }

    /// Goes on at the next line that begins with `{`, after `offset`; `false` if there is none.
    pub(super) fn resume_after(&mut self, offset: u64) -> bool {
        self.seek(offset);
        loop {
            if self.peek().is_none() {
                return false;
            }
            match memchr(b'\n', &self.window[self.at..]) {
                None => self.at = self.window.len(),
                Some(length) => {
                    self.at += length + 1;
                    if self.peek() == Some(b'{') {
                        return true;
                    }
                }
            }
        }
    }
}
