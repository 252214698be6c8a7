//! The one redactor of the product: takes secrets out of objects and free text; never reads a file, a clock or its own key.
//!
//! What goes: Secret data and every last-applied-like copy of it, tokens, literal values under names that look secret,
//! URL user-info, `Bearer …`, JWT- and PEM-shaped text. In its place stands a tag, an HMAC of the value under a key that
//! belongs to the user: equal values have equal tags in all of this user's files, so one can see *that* a value changed;
//! without the key a tag says nothing, not even how long the value was. Redacting twice is the same as redacting once.

mod names;
mod notes;
mod object;
mod tag;
mod text;

use std::borrow::Cow;

use ring::hmac;
use serde_json::Value;

pub use names::looks_secret;
pub use tag::hide as hide_tags;

/// Replaces secrets by tags.
#[derive(Clone)]
pub struct Redactor {
    key: hmac::Key,
}

/// Each pass hides more, so that few are ever needed.
const MOST_PASSES: usize = 8;

impl Redactor {
    /// A redactor whose tags are made with this key.
    pub fn new(key: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    /// Redacts an object, or a list of them, in place.
    pub fn object(&self, object: &mut Value) {
        object::redact(self, object);
    }

    /// The redacted bytes of one object; `None` if they are no JSON, since then nobody can say what in them is secret.
    pub fn object_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut object: Value = serde_json::from_slice(bytes).ok()?;
        self.object(&mut object);
        serde_json::to_vec(&object).ok()
    }

    /// Redacts free text: a message, a line of a log, a page of YAML.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = text::redact(self, text);
        if matches!(redacted, Cow::Borrowed(_)) {
            return redacted;
        }
        // What was taken out may leave a name beside a value that it was not beside before.
        for _ in 0..MOST_PASSES {
            match text::redact(self, &redacted) {
                Cow::Owned(again) if again != *redacted => redacted = Cow::Owned(again),
                Cow::Owned(_) | Cow::Borrowed(_) => break,
            }
        }
        redacted
    }

    /// A name for the key: two redactors with the same name give equal values equal tags.
    pub fn fingerprint(&self) -> String {
        tag::in_text(self, "the key that made the tags")
    }

    /// The tag that stands for this value in text.
    pub fn tag(&self, value: &str) -> String {
        tag::in_text(self, value)
    }
}
