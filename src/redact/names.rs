//! Which names of variables, fields and flags look as if their value were a secret.

/// Parts that mark a name wherever they stand in it, also glued to others as in `PGPASSWORD`.
const ANYWHERE: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "connectionstring",
    "bearer",
];

/// Words that mark a name only when they stand alone: `auth` is not in `author`, `salt` not in `saltstack`.
const WORDS: &[&str] = &["pass", "pwd", "private", "auth", "dsn", "cookie", "cookies", "session", "sessions", "salt"];

/// Last words of names whose value says where a secret is, not what it is.
const REFERENCES: &[&str] = &["name", "names", "ref", "refs", "file", "path", "dir"];

/// Whether a literal value under this name is taken for a secret.
pub fn looks_secret(name: &str) -> bool {
    let words = words(name);
    if words.rsplit(' ').next().is_some_and(|last| REFERENCES.contains(&last)) {
        return false;
    }
    ANYWHERE.iter().any(|part| holds(&words, part)) || words.split(' ').any(|word| WORDS.contains(&word))
}

/// Whether the words hold a part that leaves no doubt, and not only one that also stands in names of settings, as `auth` and `cookie`.
pub(super) fn is_plainly_secret(words: &str) -> bool {
    ANYWHERE.iter().any(|part| holds(words, part)) || words.split(' ').any(|word| matches!(word, "pass" | "pwd" | "private" | "salt"))
}

/// Whether this counts secrets, as a quota does (`secrets=5`) or a language model (`MAX_TOKENS=4096`).
pub(super) fn is_count(name: &str, value: &str) -> bool {
    let words = words(name);
    let last = words.rsplit(' ').next().unwrap_or_default();
    matches!(last, "secrets" | "tokens") && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit())
}

/// Whether even a short, ordinary looking word after this name and a colon is taken for a secret in free text.
pub(super) fn is_strong(name: &str) -> bool {
    let glued = glued(&words(name));
    ["password", "passwd", "passphrase", "apikey", "accesskey", "secretkey", "privatekey", "clientsecret"]
        .iter()
        .any(|part| glued.ends_with(part))
}

/// Whether a string field of this name, anywhere in an object, holds a secret itself and is no reference to one.
///
/// Narrower than [`looks_secret`]: `secretName`, `tokenSecretRef`, `sessionAffinity` and `key` name things.
pub(super) fn is_secret_field(name: &str) -> bool {
    const ENDS: [&str; 11] = [
        "password",
        "passwd",
        "passphrase",
        "token",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "clientsecret",
        "connectionstring",
        "dsn",
    ];
    ENDS.iter().any(|end| ends_with(name, end))
}

/// Whether a name ends so, whatever its case and whatever stands between its letters. Every field is asked this: nothing is built for it.
fn ends_with(name: &str, end: &str) -> bool {
    if name.is_ascii() {
        let mut letters = name.bytes().rev().filter(u8::is_ascii_alphanumeric);
        return end.bytes().rev().all(|expected| letters.next().is_some_and(|letter| letter.to_ascii_lowercase() == expected));
    }
    let mut letters = name.chars().rev().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    end.chars().rev().all(|expected| letters.next() == Some(expected))
}

/// The lower-case words of a name, a blank between them: parted at everything that is no letter or digit, and where camel case says so.
pub(super) fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if starts && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        before = c;
    }
    words.truncate(words.trim_end().len());
    words
}

/// Whether the words hold this part, blanks left out. Most letters begin no part: searching for each part in turn would look at all.
fn holds(words: &str, part: &str) -> bool {
    let (words, first) = (words.as_bytes(), part.as_bytes()[0]);
    let begins = |at: usize| {
        let mut letters = words[at..].iter().filter(|letter| **letter != b' ');
        part.bytes().all(|expected| letters.next() == Some(&expected))
    };
    words.iter().enumerate().any(|(at, letter)| *letter == first && begins(at))
}

/// The same without blanks.
fn glued(words: &str) -> String {
    words.replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_secret() {
        for name in [
            "DB_PASSWORD",
            "PGPASSWORD",
            "dbPassword",
            "API_KEY",
            "apiKey",
            "AWS_ACCESS_KEY_ID",
            "BASIC_AUTH",
            "SENTRY_DSN",
            "CONNECTION_STRING",
            "session-id",
            "Cookie",
            "PASSWORD_SALT",
            "BEARER",
            "tls.private",
            "REDIS_PASS",
        ] {
            assert!(looks_secret(name), "{name}");
        }
    }

    #[test]
    fn names_that_do_not() {
        for name in ["AUTHOR", "PATH", "SALTSTACK", "COMPASS", "KEY", "LOG_LEVEL", "OBSESSION", "HOST"] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
