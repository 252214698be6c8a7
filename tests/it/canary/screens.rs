//! The dashboard over the planted set: every page that a key opens, and everything it ever wrote to the terminal.

use std::time::Duration;

use serde_json::json;

use super::planted::objects;
use super::{folder, holds_none, holdup};
use crate::terminal::Terminal;

const SOON: Duration = Duration::from_secs(60);

/// Keys, and what the page shows when it is there.
const PAGES: &[(&str, &str)] = &[
    ("\r", "Evidence"),
    ("y", "yaml"),
    ("e", "events"),
    ("d", "diff"),
    ("z", "diff"),
    ("\r", "diff"),
    ("X", "diff"),
    ("l", "logs"),
    ("w", "drift"),
    ("H", "drift"),
    ("C", "What is seen"),
    ("?", "Keys that work here"),
];

#[test]
fn no_page_shows_a_secret() {
    let folder = folder("screens");
    let file = folder.join("cluster.json").display().to_string();
    std::fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": objects()}).to_string()).unwrap();
    for (columns, rows) in [(80, 24), (200, 60)] {
        let mut terminal = Terminal::sized(&holdup(&folder, &["--from", &file]), columns, rows);
        terminal.wait_for(SOON, "BLOCKED");
        for (keys, text) in PAGES {
            terminal.press(keys);
            terminal.wait_for(SOON, text);
            holds_none(&format!("the page behind {keys:?} at {columns}×{rows}"), terminal.screen().as_bytes());
        }
        terminal.press("q");
        terminal.await_end(SOON);
        holds_none("everything that was written to the terminal", &terminal.written());
    }
}
