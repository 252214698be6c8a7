//! Pictures for the README: frames of the demo as SVG, made anew with HOLDUP_BLESS=1.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use holdup::model::Time;
use holdup::ui::{Colours, Theme, draw};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use serde_json::Value;

use crate::picture;
use crate::stage::Stage;

/// Cells in pixels.
const CELL: (u32, u32) = (9, 19);
const MARGIN: u32 = 14;
const GROUND: &str = "#12161c";
const INK: &str = "#d5dbe3";

/// The demo's dashboard so many seconds after its start.
pub fn demo(seconds: i64) -> Stage {
    let mut text = String::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/demo.jsonl.gz");
    GzDecoder::new(std::fs::File::open(path).expect("the demo")).read_to_string(&mut text).expect("the demo");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let time = |event: &Value| event["at"].as_str().and_then(Time::parse).expect("a time");
    let now = time(&events[0]).plus(seconds);
    let mut objects: BTreeMap<String, Value> = BTreeMap::new();
    for event in events.iter().filter(|event| time(event) <= now) {
        let object = &event["object"];
        let key = format!("{} {} {}", object["kind"], object["metadata"]["namespace"], object["metadata"]["name"]);
        match event["type"].as_str() {
            Some("ADDED" | "MODIFIED") => drop(objects.insert(key, object.clone())),
            Some("DELETED") => drop(objects.remove(&key)),
            _ => {}
        }
    }
    let cluster = picture::of(&objects.into_values().collect::<Vec<_>>(), &[]);
    let report = picture::judge(&cluster, &now.rfc3339());
    let mut stage = Stage::new(cluster, report, now);
    stage.status.context = "demo".into();
    stage.status.link = holdup::screen::Link::Live { changed: Some(now.plus(-2)) };
    stage
}

/// The frame as a picture: a rectangle for each ground, a text for each run of one style, placed cell by cell where that matters.
fn svg(stage: &mut Stage) -> String {
    stage.frame();
    let (width, height) = stage.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(&mut buffer, &stage.page(), &Theme { colours: Colours::True, ..Theme::default() });
    let (w, h) = (u32::from(width) * CELL.0 + 2 * MARGIN, u32::from(height) * CELL.1 + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"15\">\n<rect width=\"{w}\" height=\"{h}\" rx=\"8\" fill=\"{GROUND}\"/>\n"
    );
    for y in 0..height {
        row(&mut svg, &buffer, y);
    }
    svg.push_str("</svg>\n");
    svg
}

fn row(svg: &mut String, buffer: &Buffer, y: u16) {
    let width = buffer.area.width;
    let mut x = 0;
    while x < width {
        let cell = &buffer[(x, y)];
        let mut end = x + 1;
        while end < width && same(cell, &buffer[(end, y)]) {
            end += 1;
        }
        let text: String = (x..end).map(|x| buffer[(x, y)].symbol()).collect();
        run(svg, cell, &text, (x, end, y));
        x = end;
    }
}

fn same(one: &Cell, other: &Cell) -> bool {
    (one.fg, one.bg, one.modifier) == (other.fg, other.bg, other.modifier)
}

fn run(svg: &mut String, cell: &Cell, text: &str, (x, end, y): (u16, u16, u16)) {
    let (left, top) = (MARGIN + u32::from(x) * CELL.0, MARGIN + u32::from(y) * CELL.1);
    let length = u32::from(end - x) * CELL.0;
    if let Some(ground) = hex(cell.bg) {
        write!(svg, "<rect x=\"{left}\" y=\"{top}\" width=\"{length}\" height=\"{}\" fill=\"{ground}\"/>", CELL.1).expect("text");
    }
    if text.trim().is_empty() {
        return;
    }
    let ink = hex(cell.fg).unwrap_or_else(|| INK.to_owned());
    let bold = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let base = top + CELL.1 - 5;
    writeln!(svg, "<text x=\"{left}\" y=\"{base}\" fill=\"{ink}\"{bold} textLength=\"{length}\" xml:space=\"preserve\">{escaped}</text>")
        .expect("text");
}

fn hex(colour: Color) -> Option<String> {
    if let Color::Rgb(red, green, blue) = colour { Some(format!("#{red:02x}{green:02x}{blue:02x}")) } else { None }
}

/// Makes the picture, and checks that the one in the project shows the same screen.
fn picture_of(name: &str, stage: &mut Stage, shows: &[&str]) {
    let made = svg(stage);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
    if std::env::var_os("HOLDUP_BLESS").is_some() {
        std::fs::write(&path, &made).expect("the picture is written");
    }
    let kept = std::fs::read_to_string(&path).expect("a picture; HOLDUP_BLESS=1 cargo test --test it poster makes it");
    for text in shows {
        assert!(made.contains(text), "{name} would not show {text}");
        assert!(kept.contains(text), "{name} does not show {text}; HOLDUP_BLESS=1 cargo test --test it poster makes it anew");
    }
}

#[test]
fn the_readme_s_pictures_show_the_demo_as_it_looks_now() {
    let mut triage = demo(170);
    picture_of("triage.svg", triage.resize(120, 34), &["Holding things up", "Layers", "BLOCKED", "Next"]);
    picture_of("blocker.svg", triage.keys("<enter>").resize(120, 30), &["Nodes: what each lacks", "Evidence", "Worth waiting?"]);
    picture_of("object.svg", triage.keys("<enter>").resize(120, 24), &["Chain", "manifest applied", "■ scheduling"]);
}
