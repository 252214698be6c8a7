//! A dashboard without a terminal: keys go in as a script, frames come out as text.

use std::collections::BTreeSet;
use std::time::Duration;

use holdup::app::{App, Chord, Effect, Msg, update};
use holdup::diagnose::scheduling::NodeFit;
use holdup::diagnose::{Report, Settled, settle};
use holdup::model::{Cluster, Time};
use holdup::page::Page;
use holdup::screen::{Link, Scene, Status, fits, page};
use holdup::ui::{Theme, draw};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub struct Stage {
    pub cluster: Cluster,
    pub settled: Settled,
    pub app: App,
    pub status: Status,
    pub now: Time,
    pub fresh: BTreeSet<String>,
    pub size: (u16, u16),
    pub fits: Vec<NodeFit>,
    pub effects: Vec<Effect>,
    pub elapsed: Duration,
}

impl Stage {
    /// A dashboard that has read everything, at 120×40.
    pub fn new(cluster: Cluster, report: Report, now: Time) -> Self {
        let settled = settle(&Settled::default(), report, now);
        let status = Status { context: "prod-eu".into(), link: Link::Live { changed: Some(now.plus(-40)) }, ..Status::default() };
        let mut stage = Self {
            cluster,
            settled,
            app: App::new("prod-eu"),
            status,
            now,
            fresh: BTreeSet::new(),
            size: (120, 40),
            fits: Vec::new(),
            effects: Vec::new(),
            elapsed: Duration::ZERO,
        };
        stage.draw();
        stage
    }

    /// The page that would be drawn now.
    pub fn page(&self) -> Page {
        page(&self.scene())
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            app: &self.app,
            cluster: &self.cluster,
            settled: &self.settled,
            fresh: &self.fresh,
            status: &self.status,
            fits: &self.fits,
            now: self.now,
            size: self.size,
        }
    }

    /// Another report, as time or the cluster brings it.
    pub fn settle(&mut self, report: Report) -> &mut Self {
        self.settled = settle(&self.settled, report, self.now);
        self.draw();
        self
    }

    pub fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.size = (width, height);
        self.draw();
        self.draw();
        self
    }

    /// Presses keys one after another, a second apart, each on the page before it.
    pub fn keys(&mut self, script: &str) -> &mut Self {
        for chord in Chord::script(script).expect("a script of keys") {
            self.elapsed += Duration::from_secs(1);
            let page = self.page();
            self.effects.extend(update(&mut self.app, Msg::Key { chord, at: self.elapsed }, &page));
            self.draw();
        }
        self
    }

    pub fn send(&mut self, msg: Msg) -> &mut Self {
        let page = self.page();
        self.effects.extend(update(&mut self.app, msg, &page));
        self.draw();
        self
    }

    fn draw(&mut self) {
        self.fits = fits(&self.scene());
        let page = self.page();
        let (shown, _) = draw(&mut self.buffer(), &page, &Theme::default());
        update(&mut self.app, Msg::Drawn(shown), &page);
    }

    fn buffer(&self) -> Buffer {
        Buffer::empty(Rect::new(0, 0, self.size.0, self.size.1))
    }

    /// What is on the screen.
    pub fn frame(&mut self) -> String {
        self.draw();
        text(&self.page(), self.size, &Theme::default())
    }
}

/// The text of a frame, without the spaces at the ends of its lines.
pub fn text(page: &Page, (width, height): (u16, u16), theme: &Theme) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(&mut buffer, page, theme);
    let mut text = String::new();
    for y in 0..height {
        let mut line = String::new();
        let mut x = 0;
        while x < width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += if unicode_width::UnicodeWidthStr::width(symbol) == 2 { 2 } else { 1 };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
