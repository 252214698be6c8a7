//! Texts: patterns over messages, compiled when first met. Matching is loose; a message only adds facts.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub use regex_lite::Captures;
use regex_lite::Regex;

thread_local! {
    static COMPILED: RefCell<HashMap<&'static str, Option<Rc<Regex>>>> = RefCell::new(HashMap::new());
}

/// The groups of `pattern` in `text`; `.` matches newlines too. A pattern that cannot be compiled never matches.
pub fn captures<'t>(pattern: &'static str, text: &'t str) -> Option<Captures<'t>> {
    compiled(pattern)?.captures(text)
}

/// The first group of `pattern` in `text`.
pub fn capture<'t>(pattern: &'static str, text: &'t str) -> Option<&'t str> {
    captures(pattern, text)?.get(1).map(|m| m.as_str())
}

pub fn matches(pattern: &'static str, text: &str) -> bool {
    compiled(pattern).is_some_and(|r| r.is_match(text))
}

/// The text after the last `rpc error: code = X desc = `, and the innermost code: nested errors repeat the prefix.
pub fn rpc(text: &str) -> (Option<&str>, &str) {
    let Some(at) = text.rfind("rpc error: code = ") else { return (None, text) };
    let rest = &text[at + "rpc error: code = ".len()..];
    rest.split_once(" desc = ").map_or((None, text), |(code, desc)| (Some(code), desc))
}

fn compiled(pattern: &'static str) -> Option<Rc<Regex>> {
    COMPILED.with(|map| map.borrow_mut().entry(pattern).or_insert_with(|| Regex::new(&format!("(?s){pattern}")).ok().map(Rc::new)).clone())
}
