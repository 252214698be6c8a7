//! Clean: text from the cluster without anything that a terminal would obey. The one place for what is printed; `ui` has its own for the screen.

use std::borrow::Cow;

/// Escapes control characters, bidirectional controls and invisible characters; line breaks and tabs become spaces.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_dangerous(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The same for every string in a value.
pub(super) fn clean_all(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            if let Cow::Owned(harmless) = clean(text) {
                *text = harmless;
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(clean_all),
        serde_json::Value::Object(map) => map.values_mut().for_each(clean_all),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

pub(super) fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn escape_sequences_are_shown_and_not_sent() {
        assert_eq!(clean("a\u{1b}[31mred\u{202e}\0"), r"a\u{1b}[31mred\u{202e}\u{0}");
        assert_eq!(clean("two\nlines"), "two lines");
        assert_eq!(clean("plain ü 漢"), "plain ü 漢");
    }
}
