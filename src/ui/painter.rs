//! Keeps what is on the screen and sends only what changed, each frame in one write between synchronised-output marks.

use std::io::{self, Write};

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::clean::{clean, clusters};
use super::draw;
use super::theme::Theme;
use crate::page::{Page, Shown};

/// Synchronised output (DEC private mode 2026): the terminal shows the frame when it is complete. Others ignore it.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";
const CLEAR: &[u8] = b"\x1b[0m\x1b[2J";
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";
const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
/// A title longer than this says nothing more.
const TITLE: usize = 80;

/// Draws pages on a terminal of some size.
pub struct Painter<W: Write> {
    out: W,
    theme: Theme,
    /// What the terminal shows; none after anything else may have written there.
    screen: Option<OnScreen>,
    next: Buffer,
    bytes: Vec<u8>,
}

struct OnScreen {
    page: Page,
    shown: Shown,
    buffer: Buffer,
    cursor: Option<Position>,
}

/// What painting did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub shown: Shown,
    /// How many bytes went to the terminal: none if nothing changed.
    pub bytes: usize,
}

impl<W: Write> Painter<W> {
    pub fn new(out: W, theme: Theme) -> Self {
        Self { out, theme, screen: None, next: Buffer::empty(Rect::ZERO), bytes: Vec::new() }
    }

    /// The same terminal with another theme.
    pub fn themed(self, theme: Theme) -> Self {
        Self { theme, screen: None, ..self }
    }

    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// Something else has written to the terminal: the next frame is sent whole.
    pub fn forget(&mut self) {
        self.screen = None;
    }

    /// Brings the page onto a terminal of that size (columns, rows).
    ///
    /// # Errors
    /// The terminal could not be written to. The next frame is sent whole then.
    pub fn paint(&mut self, page: &Page, (width, height): (u16, u16)) -> io::Result<Output> {
        let area = Rect { x: 0, y: 0, width, height };
        if let Some(screen) = self.screen.as_ref().filter(|screen| screen.buffer.area == area && screen.page == *page) {
            return Ok(Output { shown: screen.shown.clone(), bytes: 0 });
        }
        self.next.resize(area);
        self.next.reset();
        let (shown, cursor) = draw(&mut self.next, page, &self.theme);
        self.bytes.clear();
        self.compose(page, cursor)?;
        if !self.bytes.is_empty() {
            self.send()?;
        }
        let old = self.screen.take().map(|screen| screen.buffer);
        let buffer = std::mem::replace(&mut self.next, old.unwrap_or_else(|| Buffer::empty(area)));
        self.screen = Some(OnScreen { page: page.clone(), shown: shown.clone(), buffer, cursor });
        Ok(Output { shown, bytes: self.bytes.len() })
    }

    /// Puts the difference to the screen into `bytes`.
    fn compose(&mut self, page: &Page, cursor: Option<Position>) -> io::Result<()> {
        let before = self.screen.as_ref().filter(|screen| screen.buffer.area == self.next.area);
        let blank = Buffer::empty(self.next.area);
        let changed = before.map_or(&blank, |screen| &screen.buffer).diff(&self.next);
        let moved = before.is_none_or(|screen| screen.cursor != cursor);
        if !changed.is_empty() || moved {
            self.bytes.extend(BEGIN);
            if before.is_none() {
                self.bytes.extend(CLEAR);
            }
            // Moving over the screen would show the cursor on its way.
            if before.is_none_or(|screen| screen.cursor.is_some()) {
                self.bytes.extend(HIDE_CURSOR);
            }
            let mut backend = CrosstermBackend::new(&mut self.bytes);
            if !changed.is_empty() {
                backend.draw(changed.into_iter())?;
            }
            if let Some(position) = cursor {
                backend.set_cursor_position(position)?;
                self.bytes.extend(SHOW_CURSOR);
            }
            self.bytes.extend(END);
        }
        if self.screen.as_ref().is_none_or(|screen| screen.page.title != page.title) {
            self.title(&page.title);
        }
        Ok(())
    }

    /// The title of the window: letters of our choosing only, whatever the cluster's name holds.
    fn title(&mut self, title: &str) {
        self.bytes.extend(b"\x1b]2;");
        let clean = clean(title, TITLE);
        self.bytes.extend(clusters(&clean).flat_map(|(cluster, _)| cluster.bytes()));
        self.bytes.push(0x07);
    }

    fn send(&mut self) -> io::Result<()> {
        let sent = self.out.write_all(&self.bytes).and_then(|()| self.out.flush());
        if sent.is_err() {
            self.screen = None;
            // A terminal left inside a frame would show nothing more; that this fails too is likely and changes nothing.
            let _ = self.out.write_all(END).and_then(|()| self.out.flush());
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Header, Line, Part};

    fn page(text: &'static str) -> Page {
        let header = Header { left: vec![Part::new(0, Line::from(text))], right: Vec::new() };
        Page { title: "holdup: 4 \x1bblocked".into(), header, ..Page::default() }
    }

    #[test]
    fn a_frame_is_sent_once_and_only_what_changed() {
        let mut out = Vec::new();
        let mut painter = Painter::new(&mut out, Theme::default());
        let first = painter.paint(&page("4 blocked"), (80, 24)).unwrap();
        let same = painter.paint(&page("4 blocked"), (80, 24)).unwrap();
        let next = painter.paint(&page("5 blocked"), (80, 24)).unwrap();
        assert!(first.bytes > 0);
        assert_eq!(same.bytes, 0);
        assert!(next.bytes > 0 && next.bytes < 60, "{}", next.bytes);
        drop(painter);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("\x1b[?2026h").count(), 2);
        assert_eq!(text.matches("\x1b[?2026l").count(), 2);
        assert_eq!(text.matches("\x1b]2;holdup: 4 \\x1bblocked\x07").count(), 1);
    }

    struct Fails(Vec<u8>, usize);

    impl Write for Fails {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 == 0 {
                self.0.extend(bytes);
                return Ok(bytes.len());
            }
            self.1 -= 1;
            Err(io::Error::other("gone"))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_frame_that_cannot_be_sent_is_closed_and_sent_whole_later() {
        let mut out = Fails(Vec::new(), 1);
        let mut painter = Painter::new(&mut out, Theme::default());
        assert!(painter.paint(&page("4 blocked"), (80, 24)).is_err());
        assert!(painter.paint(&page("4 blocked"), (80, 24)).unwrap().bytes > 0);
        drop(painter);
        assert!(out.0.starts_with(END));
    }
}
